"""Turn a failing verdict into the few lines that a model needs to repair the design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rtlagent.types import Candidate, Diagnostic, Severity, Status, StepResult, TestResult, Unmet, Verdict

MAX_DIAGNOSTICS = 8
MAX_TESTS = 6
MAX_DETAIL_CHARS = 6_000
SHORT_FILE_LINES = 150
"""A file up to this length may be rewritten whole; a longer one is edited."""


def diagnostics_text(step: StepResult, candidate: Candidate) -> str:
    """List the worst diagnostics, each with its source line."""
    order = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}
    kept = [d for d in step.diagnostics if d.severity is not Severity.NOTE]
    if any(d.severity is Severity.ERROR for d in kept):
        kept = [d for d in kept if d.severity is Severity.ERROR]
    kept.sort(key=lambda d: order[d.severity])
    lines = [_with_source(d, candidate) for d in kept[:MAX_DIAGNOSTICS]]
    if len(kept) > MAX_DIAGNOSTICS:
        lines.append(f"(and {len(kept) - MAX_DIAGNOSTICS} more)")
    return "\n".join(lines)


def _with_source(diagnostic: Diagnostic, candidate: Candidate) -> str:
    text = str(diagnostic)
    source = candidate.text_of(diagnostic.path)
    lines = source.splitlines() if source else []
    if 0 < diagnostic.line <= len(lines):
        text += f"\n    {lines[diagnostic.line - 1].strip()[:160]}"
    if diagnostic.hint:
        text += f"\n    hint: {diagnostic.hint}"
    return text


def tests_text(step: StepResult) -> str:
    """Name the failing tests, first the earliest."""
    failing = [t for t in step.tests if t.status is not Status.PASS]
    if not step.tests or not failing:
        return ""
    lines = [_test_line(t) for t in failing[:MAX_TESTS]]
    if len(failing) > MAX_TESTS:
        lines.append(f"- (and {len(failing) - MAX_TESTS} more)")
    passed = len(step.tests) - len(failing)
    return "\n".join([*lines, f"{passed} of {len(step.tests)} tests pass."])


def _test_line(test: TestResult) -> str:
    place = f", first at cycle {test.cycle}" if test.cycle is not None else ""
    return f"- {test.name}: {test.status}{place}. {test.message}".rstrip()


def detail_text(step: StepResult) -> str:
    """Return the step's own table or excerpt, cut in the middle if long."""
    text = step.detail.rstrip()
    if len(text) <= MAX_DETAIL_CHARS:
        return text
    half = MAX_DETAIL_CHARS // 2
    return f"{text[:half]}\n... (cut) ...\n{text[-half:]}"


def unmet_text(unmet: Unmet) -> str:
    """Say one requirement with its measured value."""
    unit = f" {unmet.unit}" if unmet.unit else ""
    measured = "not measured" if unmet.measured is None else f"measured {unmet.measured:g}{unit}"
    return f"{unmet.name} = {unmet.limit:g}{unit}: {measured}"


def wrong_signals(verdict: Verdict) -> tuple[str, ...]:
    """Return the outputs that differed, in order of their first mismatch, each once."""
    step = verdict.failing
    if step is None:
        return ()
    found: dict[str, None] = {}
    for test in step.tests:
        for mismatch in test.mismatches:
            found.setdefault(mismatch.signal)
    return tuple(found)[:4]


def long_files(candidate: Candidate) -> bool:
    """Tell whether any file is too long to be rewritten for a small repair."""
    return any(f.text.count("\n") > SHORT_FILE_LINES for f in candidate.files)


def attempt_lines(attempts: Sequence[Mapping[str, object]], latest: int) -> list[str]:
    """Say in one line each what earlier attempts changed and where they failed."""
    return [
        f"attempt {a['iteration']}: {a['note'] or 'first version'} -> failed at {a['step']}"
        for a in attempts[max(0, latest - 6) : latest]
    ]
