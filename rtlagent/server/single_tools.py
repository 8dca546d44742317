"""Carry out the requests that run one tool."""

from __future__ import annotations

from rtlagent.errors import UsageError
from rtlagent.server import replies, requests
from rtlagent.server.replies import Reply
from rtlagent.server.site import Site
from rtlagent.server.workspace import choose_top, split_data
from rtlagent.types import Requirements, Reset, StepResult, TestKind

_MAX_SIGNALS = 200
_MAX_PORTS = 64


def lint(request: requests.Lint, site: Site) -> Reply:
    """Check Verilog without running it."""
    from rtlagent.tools.lint import lint as run

    sources = site.workspace.read(request.files)
    result = run(
        sources, top=request.top, language=request.language, policy=request.policy, config=site.config.tools
    )  # fmt: skip
    return replies.of_step(result)


def simulate(request: requests.Simulate, site: Site) -> Reply:
    """Run tests on a design."""
    from rtlagent.tools.simulate import simulate as run

    tests = site.workspace.read_tests(request.tests, request.support)
    if not tests:
        raise UsageError("there is no test to run", hint="name a cocotb module (.py) or a testbench in `tests`")
    sources, data = split_data(site.workspace.read(request.files))
    # Only cocotb drives the design's own top; a testbench names what it wants.
    drives = request.top or any(t.kind is TestKind.COCOTB for t in tests)
    result = run(
        sources,
        tests,
        top=choose_top(sources, request.top, site.config.tools) if drives else "",
        simulator=_choice("simulator", request.simulator, ("auto", "icarus", "verilator")),
        seed=request.seed,
        keep_dir=site.keep_dir,
        data_files=data,
        defines=request.defines,
        parameters=request.parameters,
        config=site.config.tools,
    )
    return _kept(result, site)


def synthesize(request: requests.Synthesize, site: Site) -> Reply:
    """Map a design and count its cells."""
    from rtlagent.conformance import find_unmet
    from rtlagent.tools.synthesize import synthesize as run

    sources = site.workspace.read(request.files)
    top = choose_top(sources, request.top, site.config.tools)
    result = run(sources, top=top, target=request.target, keep_dir=site.keep_dir, config=site.config.tools)
    needs = Requirements(
        request.target,
        max_luts=request.max_luts,
        max_ffs=request.max_ffs,
        max_brams=request.max_brams,
        max_dsps=request.max_dsps,
    )
    unmet = find_unmet(needs, result.metrics) if result.passed else ()
    files = site.workspace.written(site.folder)
    return replies.of_step(result, unmet=unmet, files=files)


def place_and_route(request: requests.PlaceAndRoute, site: Site) -> Reply:
    """Place and route a design."""
    from rtlagent.tools.place_and_route import place_and_route as run

    sources = site.workspace.read(request.files)
    result = run(
        sources,
        top=choose_top(sources, request.top, site.config.tools),
        target=request.target,
        min_fmax_mhz=request.min_fmax_mhz,
        device=request.device,
        package=request.package,
        seed=request.seed,
        keep_dir=site.keep_dir,
        config=site.config.tools,
    )
    return _kept(result, site)


def equiv(request: requests.Equiv, site: Site) -> Reply:
    """Compare two versions of a module."""
    from rtlagent.spec.names import is_active_low
    from rtlagent.tools.formal import equiv as run

    gold, gate = site.workspace.read(request.gold), site.workspace.read(request.gate)
    reset = Reset(request.reset, "low" if is_active_low(request.reset) else "high") if request.reset else None
    top = choose_top(gold, request.top, site.config.tools)
    result = run(
        gold, gate, top=top, reset=reset, depth=request.depth, keep_dir=site.keep_dir, config=site.config.tools
    )  # fmt: skip
    return _kept(result, site)


def waveform_window(request: requests.WaveformWindow, site: Site) -> Reply:
    """Cut a window out of a waveform, or list its signals."""
    from rtlagent.waveform import list_signals, window

    path = site.workspace.path(request.waveform)
    if not path.is_file():
        hint = "`simulate` names the waveform of a failing test"
        raise UsageError("there is no such waveform", where=request.waveform, hint=hint)
    if not request.signals:
        signals = list_signals(path)
        listed = "\n".join(f"{s.name} [{s.width}]" for s in signals[:_MAX_SIGNALS])
        return Reply("waveform_window", "DONE", f"{len(signals)} signals; name some of them", detail=listed)
    table = window(
        path,
        request.signals,
        around_ns=request.around_ns,
        cycles=request.cycles,
        clock=request.clock,
        edge=request.edge,
        radix=request.radix,
    )
    return Reply("waveform_window", "DONE", f"around {request.around_ns:g} ns", detail=replies.clip(table, 8000))


def hierarchy(request: requests.Hierarchy, site: Site) -> Reply:
    """Read modules, ports, parameters and instances."""
    from rtlagent.tools.inspect import inspect

    design = inspect(site.workspace.read(request.files), top=request.top, config=site.config.tools)
    lines = []
    for module in design.modules:
        lines.append(f"{module.name} ({module.path}:{module.line}){' top' if module.name in design.tops else ''}")
        lines += [f"  parameter {p.name} = {p.value}" for p in module.parameters[:_MAX_PORTS]]
        lines += [
            f"  {p.direction} {'signed ' if p.signed else ''}{p.name} [{p.width}]" for p in module.ports[:_MAX_PORTS]
        ]
        lines += [f"  instance {i.name} of {i.module} ({i.path}:{i.line})" for i in module.instances[:_MAX_PORTS]]
    complete = "" if design.complete else "; the files have errors, so something may be missing (see lint)"
    summary = f"{len(design.modules)} modules, top {', '.join(design.tops) or 'none'}{complete}"
    return Reply("hierarchy", "DONE", summary, detail=replies.clip("\n".join(lines), 8000))


def _kept(result: StepResult, site: Site) -> Reply:
    site.workspace.written(site.folder)
    return replies.of_step(result, folder=site.folder)


def _choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise UsageError(f"unknown {name} {value!r}", hint=f"choose from {', '.join(choices)}")
    return value
