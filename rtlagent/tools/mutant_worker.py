"""Make mutants of a design, inside the sandbox: job as JSON on standard input, mutants as JSON on standard output."""

from __future__ import annotations

import json
import sys
import tempfile
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

from rtlagent.tools.mutation_operators import Change, Operators
from rtlagent.verilog import Parsed, parse

LineOf = Callable[[Change], tuple[int, int]]
"""Gives a change's buffer and line."""

_TRIES_PER_MUTANT = 4
_MAX_CHANGES = 20_000
# What slang only warns of, but what makes a mutant nobody would write.
_UNWANTED = frozenset(
    f"DiagCode({name})" for name in ("IndexOOB", "RangeOOB", "RangeWidthOOB", "VectorLiteralOverflow", "BadShift")
)


@dataclass(frozen=True)
class MutantJob:
    """What the worker is asked; paths are relative to its current folder."""

    sources: tuple[str, ...]
    """Files to compile, in order."""
    include_dirs: tuple[str, ...]
    top: str
    limit: int
    seed: int


@dataclass(frozen=True)
class RawMutant:
    """A mutant as the worker finds it."""

    path: str
    line: int
    column: int
    kind: str
    original: str
    mutated: str


def main() -> None:
    """Run the job on standard input."""
    fields: dict[str, Any] = json.load(sys.stdin)
    lists: dict[str, Any] = {k: tuple(v) for k, v in fields.items() if isinstance(v, list)}
    job = MutantJob(**{**fields, **lists})
    json.dump([asdict(m) for m in make(job)], sys.stdout)


def make(job: MutantJob) -> list[RawMutant]:
    """Return at most `job.limit` mutants that parse and elaborate, spread over kinds and lines."""
    language = "systemverilog"
    parsed = _parse(job, language, Path())
    if any(d.isError() for d in parsed.tree.diagnostics):
        # An old design may use a word that has become a keyword.
        language = "verilog"
        parsed = _parse(job, language, Path())
    texts = {path: Path(path).read_text(encoding="utf-8").encode() for path in job.sources}
    paths = {buffer.id.id: path for path, buffer in parsed.buffers.items()}
    rng = Random(job.seed)
    operators = Operators({i: texts[p] for i, p in paths.items()}, modules_of(parsed), rng)
    usual = complaints(parsed)
    chosen: list[RawMutant] = []
    spread = spread_out(_distinct(operators.changes(parsed.tree.root)), rng, _line_finder(paths, texts))
    with tempfile.TemporaryDirectory() as folder:
        trial = _Trial(job, language, Path(folder), texts)
        for tried, change in enumerate(spread):
            if len(chosen) >= job.limit or tried >= _TRIES_PER_MUTANT * job.limit:
                break
            path = paths[change.buffer]
            if not trial.complaints(path, change) - usual:
                chosen.append(_raw(path, texts[path], change))
    return sorted(chosen, key=lambda m: (m.path, m.line, m.column, m.kind, m.mutated))


def modules_of(parsed: Parsed) -> frozenset[str] | None:
    """Return the names of the modules that are instantiated below the top; None if that is not known."""
    found: set[str] = set()

    def note(symbol: Any) -> None:
        if type(symbol).__name__ == "InstanceSymbol":
            found.add(symbol.definition.name)

    # Not the root itself: below it slang also keeps every module that nobody uses.
    for instance in parsed.compilation.getRoot().topInstances:
        instance.visit(note)
    return frozenset(found) or None


def complaints(parsed: Parsed) -> Counter[str]:
    """Count what speaks against a design, by code."""
    everything = parsed.compilation.getAllDiagnostics()
    return Counter(str(d.code) for d in everything if d.isError() or str(d.code) in _UNWANTED)


def spread_out(changes: Iterable[Change], rng: Random, line_of: LineOf) -> Iterator[Change]:
    """Yield all changes, one kind after the other, lines that were not touched yet first."""
    kinds: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        kinds[change.kind].append(change)
    for group in kinds.values():
        rng.shuffle(group)
    touched: Counter[tuple[int, int]] = Counter()
    order = sorted(kinds)
    while order:
        for kind in tuple(order):
            group = kinds[kind]
            best = min(range(len(group)), key=lambda k: touched[line_of(group[k])])
            change = group.pop(best)
            touched[line_of(change)] += 1
            yield change
            if not group:
                order.remove(kind)


@dataclass(frozen=True)
class _Trial:
    """Parses the design with one change."""

    job: MutantJob
    language: str
    folder: Path
    texts: dict[str, bytes]

    def complaints(self, path: str, change: Change) -> Counter[str]:
        for name, data in self.texts.items():
            place = self.folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(applied(data, change) if name == path else data)
        return complaints(_parse(self.job, self.language, self.folder))


def applied(data: bytes, change: Change) -> bytes:
    """Return the text with the change made."""
    return data[: change.start] + change.text.encode() + data[change.end :]


def _parse(job: MutantJob, language: str, root: Path) -> Parsed:
    # Headers are not mutated: they are read from where the design lies.
    folders = [str(Path(folder).absolute()) for folder in job.include_dirs]
    return parse(job.sources, top=job.top, language=language, include_dirs=folders, root=root)


def _distinct(changes: Iterable[Change]) -> Iterator[Change]:
    seen: set[tuple[int, int, int, str]] = set()
    for change in changes:
        key = (change.buffer, change.start, change.end, change.text)
        if key not in seen:
            seen.add(key)
            yield change
        if len(seen) >= _MAX_CHANGES:
            return


def _line_finder(paths: dict[int, str], texts: dict[str, bytes]) -> LineOf:
    starts = {i: [0, *(k + 1 for k, b in enumerate(texts[p]) if b == 10)] for i, p in paths.items()}

    def line_of(change: Change) -> tuple[int, int]:
        return change.buffer, bisect_right(starts[change.buffer], change.start)

    return line_of


def _raw(path: str, data: bytes, change: Change) -> RawMutant:
    before = data[: change.start]
    start_of_line = before.rfind(b"\n") + 1
    return RawMutant(
        path=path,
        line=before.count(b"\n") + 1,
        column=len(before[start_of_line:].decode("utf-8", "replace")) + 1,
        kind=change.kind,
        original=data[change.start : change.end].decode("utf-8", "replace"),
        mutated=change.text,
    )


if __name__ == "__main__":
    main()
