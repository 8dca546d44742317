"""The part of inspect that runs inside the sandbox: a job as JSON from standard input, an answer as JSON to standard output."""  # noqa: E501

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

from rtlagent.tools.lint_macros import oversized_macro
from rtlagent.tools.lint_worker import foreign_includes, read_texts
from rtlagent.types import to_json
from rtlagent.verilog import DesignInfo, Places, parse, read_design


@dataclass(frozen=True)
class InspectJob:
    """What the worker is asked; paths are relative to its current folder."""

    sources: tuple[str, ...]
    """Files to compile, in order."""
    given: tuple[str, ...]
    """All files that were given."""
    include_dirs: tuple[str, ...]
    top: str | None


@dataclass(frozen=True)
class InspectAnswer:
    """What the worker found: a design, or why not."""

    design: DesignInfo | None = None
    refusal: str = ""
    where: str = ""


def main() -> None:
    """Answer the job on standard input."""
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in json.load(sys.stdin).items()}
    json.dump(to_json(_answer(InspectJob(**fields))), sys.stdout)


def _answer(job: InspectJob) -> InspectAnswer:
    if bomb := oversized_macro(read_texts(job.given)):
        return InspectAnswer(refusal=bomb.message, where=f"{bomb.path}:{bomb.line}:{bomb.column}")
    parsed = parse(job.sources, include_dirs=job.include_dirs)
    foreign = foreign_includes(parsed, Places(parsed.sources), job.given)
    if foreign:
        first = foreign[0]
        return InspectAnswer(refusal=first.message, where=f"{first.path or job.sources[0]}:{first.line}:{first.column}")
    design = read_design(parsed, given=job.given, top=job.top)
    return InspectAnswer(design)


if __name__ == "__main__":
    main()
