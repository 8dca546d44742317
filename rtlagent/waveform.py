"""Cut a readable window out of a VCD.

The file was written by a simulation of text that may be hostile, and it is read here on the host:
every size is bounded, names are stripped of what a terminal could obey, and nothing is executed
or allocated on the file's word. One value change a line, as Icarus and Verilator write it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import BinaryIO

from rtlagent.errors import ToolError, UsageError

_CHUNK = 1 << 20
_MAX_HEADER = 64 << 20
_MAX_BODY = 1 << 30
_MAX_SIGNALS = 500_000
_MAX_DEPTH = 200
_MAX_NAME = 400
_MAX_WIDTH = 1 << 16
_SHOWN_DIGITS = 64
_NS_PER_UNIT = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0, "ps": 1e-3, "fs": 1e-6}
_TIMESCALE = re.compile(r"(1|10|100)\s*(s|ms|us|ns|ps|fs)\Z")


@dataclass(frozen=True)
class Signal:
    """A variable of a dump."""

    name: str
    """Hierarchical, such as `tb.dut.count`."""
    width: int
    """Bits."""
    kind: str
    """As declared: `wire`, `reg`, `integer`, `parameter`, `real`, ..."""
    code: str = ""
    """The dump's short name; two signals that are one net share it."""

    @property
    def depth(self) -> int:
        """Levels of hierarchy above it."""
        return self.name.count(".")


@dataclass(frozen=True)
class Samples:
    """Values of signals at clock edges around a time, as a dump has them."""

    signals: tuple[Signal, ...]
    times_ns: tuple[float, ...]
    bits: tuple[tuple[str, ...], ...]
    """A row an edge, a column a signal: the value just before it, most significant bit first; empty: none yet."""
    mark: int
    """The row nearest to the time asked for."""
    ends_ns: float
    """Up to where the dump was read."""


@dataclass(frozen=True)
class _Header:
    signals: tuple[Signal, ...]
    ns_per_tick: float
    rest: bytes
    """What was read of the body already."""


@dataclass(frozen=True)
class _Row:
    ticks: int
    values: tuple[str, ...]
    """Bits of each column, as the dump has them; empty before the first value."""


def list_signals(vcd_path: Path) -> tuple[Signal, ...]:
    """Return the signals of a dump, in its order.

    Raises:
        ToolError: the file is missing or not a VCD.
    """
    with _open(vcd_path) as stream:
        return _read_header(stream, vcd_path.name).signals


def window(
    vcd_path: Path,
    signals: Sequence[str],
    *,
    around_ns: float,
    cycles: int = 12,
    clock: str | None,
    edge: str = "posedge",
    radix: str = "hex",
) -> str:
    """Return a table of `signals`, one row for each active clock edge around a time.

    A row has the values just before its edge: what the flip-flops see there. The row nearest to
    `around_ns` is marked with `>` and numbered 0; three quarters of the rows come before it.

    Args:
        vcd_path: The dump.
        signals: Hierarchical names, or the end of one (`count`, `dut.count`); of several signals
            with that end, the one highest in the hierarchy is meant.
        around_ns: Simulation time.
        cycles: How many rows.
        clock: Name of the clock; None: a row for each time at which one of the signals changes.
        edge: `posedge` or `negedge`.
        radix: `hex` or `dec`.

    Raises:
        UsageError: a signal is not in the dump, or an argument makes no sense.
        ToolError: the file is missing or not a VCD, or has no row to show.
    """
    if radix not in ("hex", "dec"):
        raise UsageError(f"not a radix: {radix}")
    cut = samples(vcd_path, signals, around_ns=around_ns, cycles=cycles, clock=clock, edge=edge)
    title = f"values just before each {edge} of {clock}" if clock is not None else "values after each change"
    ended = f"\n(the dump ends at {_ns(cut.ends_ns)} ns)" if cut.ends_ns < around_ns else ""
    return f"{title}\n{_table(cut, radix)}{ended}"


def samples(
    vcd_path: Path,
    signals: Sequence[str],
    *,
    around_ns: float,
    cycles: int = 12,
    clock: str | None,
    edge: str = "posedge",
) -> Samples:
    """Return what `window` shows, as values.

    Raises:
        UsageError: a signal is not in the dump, or an argument makes no sense.
        ToolError: the file is missing or not a VCD, or has no row to show.
    """
    if cycles < 1 or edge not in ("posedge", "negedge"):
        raise UsageError(f"not a window: {cycles} cycles, {edge}")
    with _open(vcd_path) as stream:
        header = _read_header(stream, vcd_path.name)
        columns = [find_signal(header.signals, name) for name in signals]
        clock_signal = find_signal(header.signals, clock) if clock is not None else None
        if clock_signal is not None and clock_signal.width != 1:
            raise UsageError(f"{clock_signal.name} has {clock_signal.width} bits and cannot be the clock")
        target = round(around_ns / header.ns_per_tick)
        body = _body(stream, header.rest, vcd_path.name)
        times = _times(body, {s.code for s in [*columns, *([clock_signal] if clock_signal else [])]}, vcd_path.name)
        wanted = "1" if edge == "posedge" else "0"
        rows, last = _rows_around(times, columns, clock_signal, wanted, target, cycles)
    if not rows:
        what = f"no {edge} of {clock}" if clock is not None else "no change of these signals"
        raise ToolError(f"{vcd_path.name} has {what} (it ends at {_ns(last * header.ns_per_tick)} ns)")
    mark = min(range(len(rows)), key=lambda i: abs(rows[i].ticks - target))
    first = max(0, min(mark - cycles * 3 // 4, len(rows) - cycles))
    shown = rows[first : first + cycles]
    return Samples(
        signals=tuple(columns),
        times_ns=tuple(r.ticks * header.ns_per_tick for r in shown),
        bits=tuple(r.values for r in shown),
        mark=mark - first,
        ends_ns=last * header.ns_per_tick,
    )


def find_signal(signals: Sequence[Signal], name: str) -> Signal:
    """Return the signal called `name`, or the highest one whose name ends with it.

    Raises:
        UsageError: there is none.
    """
    wanted = name.strip().replace("/", ".")
    found = [s for s in signals if s.name == wanted or s.name.endswith(f".{wanted}")]
    if found:
        return min(found, key=lambda s: (s.name != wanted, s.depth))
    tails = list(dict.fromkeys(s.name.rpartition(".")[2] for s in signals[:10_000]))
    near = get_close_matches(wanted.rpartition(".")[2], tails, n=3)
    raise UsageError(
        f"no signal {name!r} in the waveform", hint=f"there is {', '.join(near)}" if near else "list the signals first"
    )


def format_value(bits: str, width: int, radix: str = "hex") -> str:
    """Write the bits of a value, most significant first, for people.

    A bit is itself. Known vectors are `0x1f` or `31`; unknown digits are `x` or `z`, and `X` where
    only some of a hex digit's bits are unknown.
    """
    if not bits or bits[0] in "rs":
        return re.sub(r"[^\x21-\x7e]", "?", bits[1:])[:_SHOWN_DIGITS] or "-"
    bits = bits.lower()
    if len(bits) < width:
        bits = (bits[0] if bits[0] in "xz" else "0") * (width - len(bits)) + bits
    if width == 1:
        return bits
    if radix == "dec" and not set(bits) & set("xz"):
        return str(int(bits, 2)) if len(bits) <= 1024 else "(too wide)"
    padded = bits.rjust(-(-len(bits) // 4) * 4, bits[0] if bits[0] in "xz" else "0")
    digits = "".join(_hex_digit(padded[i : i + 4]) for i in range(0, len(padded), 4))
    return "0x" + (digits if len(digits) <= _SHOWN_DIGITS else f"...{digits[-_SHOWN_DIGITS:]}")


def _hex_digit(nibble: str) -> str:
    if not set(nibble) & set("xz"):
        return f"{int(nibble, 2):x}"
    return nibble[0] if len(set(nibble)) == 1 else "X"


def _open(path: Path) -> BinaryIO:
    if path.is_symlink() or not path.is_file():
        raise ToolError(f"no waveform file {path.name}")
    return path.open("rb")


def _read_header(stream: BinaryIO, name: str) -> _Header:
    data = bytearray()
    end = -1
    while end < 0:
        chunk = stream.read(_CHUNK)
        if not chunk or len(data) > _MAX_HEADER or b"\0" in chunk[:4096]:
            raise ToolError(f"{name} is not a VCD, or is cut off in its header")
        start = max(0, len(data) - 20)
        data += chunk
        end = data.find(b"$enddefinitions", start)
    data += stream.read(4096)
    after = data.find(b"$end", end + len(b"$enddefinitions"))
    if after < 0:
        raise ToolError(f"{name} is not a VCD, or is cut off in its header")
    return _parse_header(data[:end].decode("latin-1"), bytes(data[after + 4 :]), name)


def _parse_header(text: str, rest: bytes, name: str) -> _Header:
    scopes: list[str] = []
    signals: list[Signal] = []
    ns_per_tick = 1.0
    for section in text.split("$end"):
        words = section.split()
        match words:
            case ["$scope", _, *parts]:
                if len(scopes) >= _MAX_DEPTH:
                    raise ToolError(f"{name} nests scopes more than {_MAX_DEPTH} deep")
                scopes.append(_clean("".join(parts)))
            case ["$upscope"]:
                del scopes[-1:]
            case ["$var", _, _, _, _, *_]:
                if len(signals) >= _MAX_SIGNALS:
                    raise ToolError(f"{name} declares more than {_MAX_SIGNALS} signals")
                signals.append(_signal(words[1:], scopes, name))
            case ["$timescale", *parts]:
                found = _TIMESCALE.match(" ".join(parts))
                if found is None:
                    raise ToolError(f"{name} has an unreadable timescale: {_clean(' '.join(parts))[:40]}")
                ns_per_tick = int(found[1]) * _NS_PER_UNIT[found[2]]
    if not signals:
        raise ToolError(f"{name} declares no signal")
    return _Header(tuple(signals), ns_per_tick, rest)


def _signal(words: Sequence[str], scopes: Sequence[str], name: str) -> Signal:
    kind, width, code, *parts = words
    if not re.fullmatch(r"[0-9]{1,9}", width) or int(width) > _MAX_WIDTH or len(code) > 32:
        raise ToolError(f"{name} declares a signal that cannot be: {_clean(' '.join(words))[:80]}")
    # The range (`[7:0]`) is left out of the name; the width says it.
    tail = parts[:-1] if len(parts) > 1 and parts[-1].startswith("[") else parts
    path = ".".join([*(s for s in scopes if s), re.sub(r"\[\d+:\d+\]\Z", "", _clean("".join(tail)))])
    return Signal(path[-4 * _MAX_NAME :], int(width), _clean(kind), code)


def _clean(text: str) -> str:
    return re.sub(r"[^\x21-\x7e]", "?", text)[:_MAX_NAME]


def _body(stream: BinaryIO, rest: bytes, name: str) -> Iterator[bytes]:
    """Yield pieces that end at a line's end."""
    total = 0
    while True:
        chunk = stream.read(_CHUNK)
        total += len(chunk)
        if total > _MAX_BODY:
            raise ToolError(f"{name} is larger than {_MAX_BODY >> 30} GiB")
        cut = chunk.rfind(b"\n") + 1
        if not chunk:
            # What follows the last line's end was cut off in the middle of a change.
            yield rest[: rest.rfind(b"\n") + 1]
            return
        if cut:
            yield rest + chunk[:cut]
            rest = chunk[cut:]
        elif len(rest) > 2 * _CHUNK:
            raise ToolError(f"{name} is not a VCD: it has a line of more than {_CHUNK} bytes")
        else:
            rest += chunk


def _times(body: Iterator[bytes], codes: set[str], name: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each time with the changes of `codes` at it, in order.

    One regular expression finds the few lines that matter, so that a large dump costs no Python
    code per line.
    """
    # latin-1 keeps bytes one to one: codes were decoded in the same way.
    some = b"|".join(re.escape(c.encode("latin-1")) for c in sorted(codes))
    wanted = re.compile(
        rb"^(?:#(\d+)|(?:([01xXzZ])|[bB]([01xXzZ]+)[ \t]+|([rs]\S*)[ \t]+)(%b))[ \t\r]*$" % some, re.MULTILINE
    )
    now = 0
    changes: dict[str, str] = {}
    for piece in body:
        for time, bit, vector, other, code in wanted.findall(piece):
            if time:
                moment = int(time[:20])
                if moment < now:
                    raise ToolError(f"{name} is not a VCD: time runs backwards at #{moment}")
                if moment > now:
                    yield now, changes
                    now, changes = moment, {}
            else:
                changes[code.decode("latin-1")] = (bit or vector or other)[-_MAX_WIDTH:].decode("latin-1")
    yield now, changes


def _rows_around(
    times: Iterator[tuple[int, dict[str, str]]],
    columns: Sequence[Signal],
    clock: Signal | None,
    wanted: str,
    target: int,
    cycles: int,
) -> tuple[list[_Row], int]:
    """Return up to `cycles` rows before and after `target`, and the last time that was read."""
    current: dict[str, str] = {}
    before: deque[_Row] = deque(maxlen=cycles)
    after: list[_Row] = []
    now = 0
    for now, changes in times:
        row = None
        if clock is None:
            current.update(changes)
            if any(s.code in changes for s in columns):
                row = _Row(now, tuple(current.get(s.code, "") for s in columns))
        else:
            old, new = current.get(clock.code), changes.get(clock.code)
            if old is not None and new == wanted and old != wanted:
                row = _Row(now, tuple(current.get(s.code, "") for s in columns))
            current.update(changes)
        if row is not None:
            (before if now <= target else after).append(row)
        if len(after) >= cycles:
            break
    return [*before, *after], now


def _table(cut: Samples, radix: str) -> str:
    lines = [["", "time_ns", "cycle", *_short_names(cut.signals)]]
    for index, (time_ns, row) in enumerate(zip(cut.times_ns, cut.bits, strict=True)):
        offset = index - cut.mark
        values = [format_value(v, s.width, radix) for v, s in zip(row, cut.signals, strict=True)]
        lines.append([">" if offset == 0 else "", _ns(time_ns), f"{offset:+d}" if offset else "0", *values])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def _short_names(columns: Sequence[Signal]) -> list[str]:
    """Leave out the scopes that all have in common."""
    paths = [s.name.split(".") for s in columns]
    common = 0
    while all(len(p) > common + 1 for p in paths) and len({p[common] for p in paths}) == 1:
        common += 1
    names = [".".join(p[common:]) for p in paths]
    return [f"{n}[{s.width - 1}:0]" if s.width > 1 else n for n, s in zip(names, columns, strict=True)]


def _ns(time_ns: float) -> str:
    return f"{time_ns:.3f}".rstrip("0").rstrip(".")
