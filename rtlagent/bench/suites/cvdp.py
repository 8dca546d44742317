"""CVDP, agentic and not: JSONL records with a prompt, context files and a harness of cocotb tests.

Only records with a harness are problems: the others are judged by a language model in the original.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from rtlagent.bench.blame import blamed
from rtlagent.bench.cvdp_record import Record, read_records
from rtlagent.bench.problem import Problem, Score
from rtlagent.bench.suites.testbench_suite import unknown_problem
from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.types import SourceFile, digest


class Cvdp:
    """The path is a JSONL file, or a folder of them."""

    name = "cvdp"

    def problems(self, path: Path) -> tuple[Problem, ...]:
        """Return the records that have a harness."""
        return tuple(self._problem(r) for r in self._records(path).values())

    def golden(self, path: Path, name: str) -> tuple[SourceFile, ...] | None:
        """Return the solution, which the published data mostly lack."""
        return self._record(path, name).solution

    def score(
        self,
        path: Path,
        name: str,
        files: Sequence[SourceFile],
        *,
        config: ToolConfig,
        simulator: str = "auto",
        keep_dir: Path | None = None,
    ) -> Score:
        """Run the harness; it names its simulator itself."""
        from rtlagent.bench.cvdp_harness import run_harness

        record = self._record(path, name)

        def judge(design: Sequence[SourceFile]) -> Score:
            return run_harness(record, design, config=config)

        score = run_harness(record, files, config=config, keep_dir=keep_dir)
        key = digest([(f.path, f.sha256) for f in (*record.context, *record.harness)])
        return blamed(score, files, record.solution, key=key, judge=judge, config=config)

    def harness(self, path: Path, name: str) -> tuple[SourceFile, ...]:
        """Return the files of a problem's hidden tests."""
        return self._record(path, name).harness

    def data_sha256(self, path: Path) -> str:
        """Return a digest of the JSONL files."""
        parts = [hashlib.sha256(f.read_bytes()).digest() for f in _data_files(path)]
        return hashlib.sha256(b"".join(parts)).hexdigest()

    def completed(self, path: Path, name: str, text: str) -> tuple[SourceFile, ...]:
        """Take JSON that maps paths to texts for files, anything else for the first file that is asked for."""
        record = self._record(path, name)
        try:
            data = json.loads(text)
        except ValueError:
            data = None
        if isinstance(data, dict) and data and all(isinstance(v, str) for v in data.values()):
            return tuple(SourceFile(str(p), t) for p, t in data.items())
        return (SourceFile(record.targets[0] if record.targets else f"rtl/{name}.sv", text),)

    def _problem(self, record: Record) -> Problem:
        wanted = "".join(f"- `{t}`\n" for t in record.targets)
        text = record.prompt.rstrip() + (f"\n\nFiles to write:\n{wanted}" if wanted else "\n")
        return Problem(self.name, record.name, text, language="systemverilog",
                       category="/".join(record.categories), context=record.context)  # fmt: skip

    def _record(self, path: Path, name: str) -> Record:
        records = self._records(path)
        if name not in records:
            raise unknown_problem(self.name, path, name, records)
        return records[name]

    def _records(self, path: Path) -> dict[str, Record]:
        found = read_records(tuple((str(f), f.stat().st_mtime_ns) for f in _data_files(path)))
        return {n: r for n, r in found.items() if any(f.path.startswith("docker-compose") for f in r.harness)}


def _data_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    found = sorted(path.glob("*.jsonl")) if path.is_dir() else []
    if not found:
        raise UsageError(f"{path} holds no JSONL file", hint="give --path a JSONL file of CVDP, or their folder")
    return found
