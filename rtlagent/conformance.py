"""Hold a design against what its specification demands beside the function: ports, figures, files left alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rtlagent.types import Candidate, Diagnostic, Metrics, Port, Requirements, Severity, Spec, StepResult, Unmet

if TYPE_CHECKING:
    from rtlagent.verilog import ModuleInfo


def interface_problems(module: ModuleInfo, ports: Sequence[Port]) -> tuple[Diagnostic, ...]:
    """Compare the top module's ports with the specified ones: names, directions and widths.

    An extra port is a problem too: whoever instantiates the module would leave it open.
    """
    found = {p.name: p for p in module.ports}
    wanted = {p.name: p for p in ports}

    def problem(code: str, message: str) -> Diagnostic:
        return Diagnostic("rtlagent", Severity.ERROR, code, message, module.path, module.line, 1)

    problems = [
        problem("PORT_MISSING", f"{module.name} lacks the port {p.direction} {p.name}")
        for n, p in wanted.items()
        if n not in found
    ]
    problems += [
        problem("PORT_EXTRA", f"{module.name} has a port that the specification does not have: {n}")
        for n in found
        if n not in wanted
    ]
    for name in (n for n in wanted if n in found):
        want, got = wanted[name], found[name]
        if want.direction != got.direction:
            text = f"port {name} is an {got.direction}; the specification wants an {want.direction}"
            problems.append(problem("PORT_DIRECTION", text))
        if want.width is not None and got.width is not None and want.width != got.width:
            text = f"port {name} has {got.width} bits; the specification wants {want.width}"
            problems.append(problem("PORT_WIDTH", text))
    return tuple(problems)


def find_unmet(needs: Requirements, metrics: Metrics) -> tuple[Unmet, ...]:
    """List the requirements that the figures miss; an unmeasured one is missed with `measured` None."""
    upper = [
        ("max_luts", needs.max_luts, metrics.luts, ""),
        ("max_ffs", needs.max_ffs, metrics.ffs, ""),
        ("max_brams", needs.max_brams, metrics.brams, ""),
        ("max_dsps", needs.max_dsps, metrics.dsps, ""),
        ("max_latency_cycles", needs.max_latency_cycles, metrics.latency_cycles, "cycles"),
        ("max_ii", needs.max_ii, metrics.ii, "cycles"),
    ]
    unmet = [
        Unmet(name, float(limit), None if got is None else float(got), unit)
        for name, limit, got, unit in upper
        if limit is not None and (got is None or got > limit)
    ]
    limit_mhz, got_mhz = needs.min_fmax_mhz, metrics.fmax_mhz
    if limit_mhz is not None and (got_mhz is None or got_mhz < limit_mhz):
        unmet.append(Unmet("min_fmax_mhz", limit_mhz, got_mhz, "MHz"))
    return tuple(unmet)


def unmet_by_steps(needs: Requirements, metrics: Metrics, steps: Sequence[StepResult]) -> tuple[Unmet, ...]:
    """List the requirements that a judged candidate misses; none while it has not been synthesized.

    A design without a register-to-register path has no fmax; there place-and-route has held the
    frequency against the slowest path of any kind, and its status is the answer.
    """
    if not any(s.step == "synthesize" and s.passed for s in steps):
        return ()
    routed = any(s.step == "place_and_route" and s.passed for s in steps)
    by_path = routed and metrics.fmax_mhz is None
    return tuple(u for u in find_unmet(needs, metrics) if not (by_path and u.name == "min_fmax_mhz"))


def paths_of_tests(spec: Spec) -> list[str]:
    """Return the paths of the user's tests and of what they need."""
    return [f.path for t in spec.tests for f in (t.source, *t.support)]


def protected_paths(candidate: Candidate, spec: Spec) -> tuple[Diagnostic, ...]:
    """Name the candidate's files that would stand in for one of the user's tests, or for what a test includes."""
    protected = set(paths_of_tests(spec))
    names = {PurePosixPath(p).name for p in protected}
    # The user's own files may share a name; the folders are searched for an include in the order that they had.
    given = {f.path for f in spec.context_files}
    return tuple(
        Diagnostic("rtlagent", Severity.ERROR, "PROTECTED_TEST", "a design may not replace a test file", f.path)
        for f in candidate.files
        if f.path in protected or (PurePosixPath(f.path).name in names and f.path not in given)
    )
