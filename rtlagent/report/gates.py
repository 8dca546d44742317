"""What a gate found, in a few words."""

from __future__ import annotations

from rtlagent.console import figure
from rtlagent.types import Severity, Status, StepResult


def gate_summary(step: StepResult) -> str:
    """Return a gate's result in a few words; `-` if there is nothing to add to its status."""
    parts = []
    if step.tests:
        good = sum(t.status is Status.PASS for t in step.tests)
        parts.append(f"{good}/{len(step.tests)} tests")
        checked = [t.checked_cycles or 0 for t in step.tests]
        if step.step == "cosim" and any(checked):
            parts.append(f"{min(checked)} values compared")  # the same ones by each simulator
        elif any(checked):
            parts.append(f"{sum(checked)} cycles checked")
        seeds = sorted({t.seed for t in step.tests if t.seed is not None})
        if seeds:
            parts.append(f"seed {', '.join(map(str, seeds))}")
    metrics = step.metrics
    for name, value in (("LUT", metrics.luts), ("FF", metrics.ffs), ("BRAM", metrics.brams), ("DSP", metrics.dsps)):
        if value is not None:
            parts.append(f"{value} {name}")
    if metrics.fmax_mhz is not None:
        parts.append(f"{figure(metrics.fmax_mhz)} MHz")
    errors = sum(d.severity is Severity.ERROR for d in step.diagnostics)
    warnings = sum(d.severity is Severity.WARNING for d in step.diagnostics)
    parts += [f"{n} {word}" for n, word in ((errors, "errors"), (warnings, "warnings")) if n]
    return ", ".join(parts) or "-"
