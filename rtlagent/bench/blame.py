"""Find out whether a failure is the answer's or the benchmark's: does the benchmark's own design pass?"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from rtlagent.bench.problem import BENCHMARK_DEFECT, DESIGN, Score
from rtlagent.config import ToolConfig
from rtlagent.types import SourceFile, Status, digest

_CACHE_FOLDER = "bench-goldens"
_VERSION = 2
"""Of the rules: a higher one makes what older versions found out count for nothing."""
_known: dict[str, tuple[bool, str]] = {}


def blamed(
    score: Score,
    answer: Sequence[SourceFile],
    golden: Sequence[SourceFile] | None,
    *,
    key: object,
    judge: Callable[[Sequence[SourceFile]], Score],
    config: ToolConfig,
) -> Score:
    """Return `score`, with the benchmark as the one to blame if its golden design does not pass either.

    Args:
        score: Of the answer.
        answer: The answer.
        golden: The benchmark's own design; None: it has none, and the answer is to blame.
        key: Everything that the golden's verdict depends on beside the golden, JSON-like.
        judge: Scores a design as the answer was.
        config: Where verdicts on goldens are kept.
    """
    if score.status is Status.PASS or score.failure_class != DESIGN or golden is None:
        return score
    if [f.text for f in answer] == [f.text for f in golden]:
        return _of_benchmark(score, "the benchmark's own design does not pass its test")
    if score.syntax is not True and score.simulation is False:
        return score  # refused for what it holds
    passes, message = _golden_passes(golden, digest([_VERSION, key, [(f.path, f.text) for f in golden]]), judge, config)
    return score if passes else _of_benchmark(score, f"the benchmark's own design does not pass either ({message})")


def _of_benchmark(score: Score, reason: str) -> Score:
    return replace(score, failure_class=BENCHMARK_DEFECT, message=f"{reason}\n{score.message}".strip())


def _golden_passes(
    golden: Sequence[SourceFile], sha: str, judge: Callable[[Sequence[SourceFile]], Score], config: ToolConfig
) -> tuple[bool, str]:
    if sha not in _known:
        path = config.cache_dir / _CACHE_FOLDER / f"{sha}.json"
        found = _read(path)
        if found is None:
            score = judge(golden)
            found = score.status is Status.PASS, (score.message.splitlines() or [""])[0][:200]
            if score.status in (Status.PASS, Status.FAIL):  # the others may pass tomorrow
                _write(path, found)
        _known[sha] = found
    return _known[sha]


def _read(path: Path) -> tuple[bool, str] | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        data = json.loads(path.read_text())
        return data["passes"] is True, str(data["message"])
    return None


def _write(path: Path, found: tuple[bool, str]) -> None:
    """Keep a verdict; a cache that cannot be written is only slower."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(f".{os.getpid()}-{secrets.token_hex(4)}")
        new.write_text(json.dumps({"passes": found[0], "message": found[1]}))
        new.replace(path)
