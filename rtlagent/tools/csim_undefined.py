"""What gcc's sanitizers say of a C program, and which results depend on what C leaves undefined."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import replace

from rtlagent.tools.csim_record import Call
from rtlagent.tools.staging import Staged
from rtlagent.types import Diagnostic, Severity

_TOO_LONG = 77
_SIGNALLED = 256
_MAX_WARNINGS = 5
_REPORT = re.compile(
    r"^(?P<path>[^\s:][^:\n]*):(?P<line>\d+):(?P<column>\d+): runtime error: (?P<undefined>.*)$"
    r"|^==\d+==ERROR: AddressSanitizer: (?P<address>[\w-]+)(?P<rest>.*)$",
    re.M,
)
_FRAME = re.compile(r"^\s*#\d+ 0x[0-9a-f]+ in \S+ (?P<path>[^\s:()]+):(?P<line>\d+)", re.M)
_KINDS = (
    ("integer overflow", "signed overflow"),
    ("shift", "shift out of range"),
    ("division by zero", "division by zero"),
    ("out of bounds", "index out of bounds"),
    ("null pointer", "null pointer"),
    ("negation", "signed overflow"),
    ("misaligned", "misaligned access"),
    ("not a valid value", "invalid value of a bool or enum"),
    ("variable length array", "size of a variable length array"),
    ("outside the range", "conversion out of range"),
)


def warnings(log: str, staged: Staged) -> tuple[Diagnostic, ...]:
    """Turn the sanitizers' reports into warnings, the first few, each place once."""
    found: dict[tuple[str, int], Diagnostic] = {}
    for report in _REPORT.finditer(log):
        if report["undefined"]:
            path, line, column = report["path"], int(report["line"]), int(report["column"])
            text = report["undefined"]
        else:
            frame = next((f for f in _FRAME.finditer(log, report.end()) if _known(f["path"], staged)), None)
            path, line, column = (frame["path"], int(frame["line"]), 0) if frame else (staged.paths[0], 0, 0)
            text = report["address"].replace("-", " ")
        name = staged.originals.get(path.removeprefix("/work/").removeprefix("./"), path.rpartition("/")[2])
        message = f"undefined behaviour in C: {_without_addresses(text)}"
        found.setdefault(
            (name, line), Diagnostic("csim", Severity.WARNING, "CSIM_UNDEFINED", message, name, line, column)
        )
    return tuple(found.values())[:_MAX_WARNINGS]


def drop_reasons(dropped: Sequence[tuple[int, int]], log: str) -> tuple[str, ...]:
    """Say why each dropped stimulus was: the n-th report belongs to the n-th that a sanitizer ended."""
    reports = [_kind(r) for r in _REPORT.finditer(log)]
    reasons: list[str] = []
    for _, code in dropped:
        if code == _TOO_LONG or code == _SIGNALLED + signal.SIGALRM:
            reasons.append("too long")
        elif code == _SIGNALLED + signal.SIGILL:
            reasons.append("undefined behaviour")  # clang's sanitizer without a runtime
        elif code > _SIGNALLED:
            reasons.append(f"crash ({signal.Signals(code - _SIGNALLED).name})")
        elif code == 1:
            reasons.append(reports.pop(0) if reports else "undefined behaviour")
        else:
            reasons.append("call of exit()")
    return tuple(reasons)


def compare_builds(golden: Sequence[Call], other: Sequence[Call], result_width: int) -> tuple[Call, ...]:
    """Add to the golden calls what the checked build knows: sizes, work, and which bytes came out otherwise."""
    merged = list(golden)
    mask = (1 << result_width) - 1
    for index, (a, b) in enumerate(zip(golden, other, strict=False)):
        unstable = tuple(
            _differing(before, after, second.before[n], second.after[n])
            for n, (before, after, second) in enumerate(zip(a.before, a.after, [b] * len(a.before), strict=True))
        )
        merged[index] = replace(
            a,
            usable=b.usable,
            blocks=b.blocks,
            unstable=unstable,
            unstable_result=(a.result ^ b.result) & mask != 0,
        )
    return tuple(merged)


def _differing(before: bytes, after: bytes, other_before: bytes, other_after: bytes) -> frozenset[int]:
    if after == other_after:
        return frozenset()
    # A byte that neither build changed holds whatever the caller had there.
    return frozenset(
        i for i, (x, y) in enumerate(zip(after, other_after, strict=True))
        if x != y and not (x == before[i] and y == other_before[i])
    )  # fmt: skip


def _kind(report: re.Match[str]) -> str:
    if report["address"]:
        return "null or wild pointer" if report["address"] == "SEGV" else report["address"].replace("-", " ")
    return next((name for words, name in _KINDS if words in report["undefined"]), "undefined behaviour")


def _known(path: str, staged: Staged) -> bool:
    return path.removeprefix("/work/").removeprefix("./") in staged.originals


def _without_addresses(text: str) -> str:
    return re.sub(r"0x[0-9a-f]{6,}", "an address", text)[:200]
