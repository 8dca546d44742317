"""The public functions: what the commands do, from Python.

Every function that runs a tool runs it in the sandbox, and reads `rtlagent.toml` and the environment as the commands
do. What is wrong with the input raises a `UsageError` with what, where and a hint; a tool that breaks, a `ToolError`.
A design that does not pass is a result, never an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtlagent.errors import UsageError
from rtlagent.types import SourceFile

if TYPE_CHECKING:
    from rtlagent.agent import RunReport
    from rtlagent.config import Config
    from rtlagent.hls import HlsResult
    from rtlagent.types import Spec, StepResult, TestFile, Verdict

File = Path | str | SourceFile
"""A path, or a file's path and text."""
_RANDOM_CYCLES = 200
_SEED = 1


@dataclass(frozen=True)
class Generated:
    """What became of a request for a design."""

    report: RunReport
    """Verdict, attempts, requirements, assumptions and costs."""
    folder: Path
    """The run's folder; `rtl/` in it holds the best candidate, also of a run that failed."""
    files: tuple[Path, ...]
    """What was written to `out`: the design, if it passed."""

    @property
    def passed(self) -> bool:
        """Whether every gate passed and every requirement is met."""
        return self.report.passed


def generate(
    spec: Path | str,
    *,
    model: str | None = None,
    out: Path | str | None = None,
    top: str | None = None,
    target: str | None = None,
    clock: str | None = None,
    testbench: Sequence[Path | str] = (),
    use_pragmas: bool = True,
    on_event: Callable[[Mapping[str, Any]], None] | None = None,
    **settings: object,
) -> Generated:
    """Turn a specification, or C, into Verilog that real tools have judged.

    Args:
        spec: A Markdown spec, or a C or C++ file (compiled without any model).
        model: As `--model`: `openai:NAME`, `ollama:NAME`, `http://host:port/v1`, `replay:LOG`. None: as configured.
        out: Folder for the design, written on a pass only.
        top: The C function, or the module.
        target: `generic`, `ice40`, `ecp5` or `xc7`.
        clock: For C: the clock to reach, such as `10ns` or `100MHz`.
        testbench: For C: further C files or data.
        use_pragmas: For C: follow `#pragma HLS`.
        on_event: Called with each event as it happens, as in the run's events.jsonl.
        **settings: Any setting of rtlagent.toml's first level, such as `max_iterations=4`, `candidates=2`,
            `seed=7`, `mutants=16`, `max_cost=2.0`, `runs_dir="runs"`.

    Returns:
        The report, the run's folder and the written files. A design that does not pass is a result, too.

    Raises:
        UsageError: the spec, the C or a setting is wrong.
        ModelConfigError: no model can be asked.
        ToolError: a tool broke before anything was judged.

    Example:
        >>> result = generate("fir.c", top="fir", target="ecp5", clock="10ns")  # doctest: +SKIP
        >>> result.passed, result.report.verdict.metrics.luts  # doctest: +SKIP
        (True, 240)
    """
    from rtlagent.agent import Continuation, export, start_run
    from rtlagent.agent.from_c import CRun, compile_spec, start_c_run
    from rtlagent.cli.c_options import asked, shown_from, with_top
    from rtlagent.models import resolve
    from rtlagent.spec import load_spec

    path = Path(spec)
    config = _config({**settings, "model": model, "out": out})
    loaded = load_spec(path, asked(top, target, clock, [Path(t) for t in testbench]))
    listeners = [on_event] if on_event is not None else []
    if loaded.c_source is not None:
        with shown_from(path):
            loaded = with_top(loaded, config.tools)
            compiled = compile_spec(loaded, config.tools, use_pragmas=use_pragmas)
        run = start_c_run(loaded, config, use_pragmas=use_pragmas)
        report = CRun(run, config, compiled, listeners).go()
    else:
        resolve(config.model.name, config.model)
        run = start_run(loaded, config)
        report = Continuation(run, config, None, listeners).go()
    copied = export(run, config.out) if report.passed and config.out else ()
    return Generated(report, run.folder, copied)


def compile_c(
    source: Path | str,
    *,
    top: str | None = None,
    target: str = "ecp5",
    clock: str | None = None,
    use_pragmas: bool = True,
) -> HlsResult:
    """Compile a C function to Verilog; nothing is simulated or synthesized.

    Args:
        source: A C or C++ file, or a Markdown spec with C.
        top: The function; None: the only one that no other calls.
        target: `generic`, `ice40`, `ecp5` or `xc7`: whose delays and blocks.
        clock: Such as `10ns` or `100MHz`; None: 10 ns.
        use_pragmas: Follow `#pragma HLS`.

    Returns:
        The design, a row for each loop, latencies in cycles, the estimated area, and warnings with source lines.

    Raises:
        CSourceError: the C does not compile, or cannot become hardware; it says where and what to change.
        UsageError: the file cannot be read, or the top cannot be told.
    """
    from rtlagent.agent.from_c import compile_spec
    from rtlagent.cli.c_options import load_c_spec, shown_from

    path = Path(source)
    tools = _config({}).tools
    with shown_from(path):
        spec = load_c_spec(path, tools, top=top, target=target, clock=clock, files=[])
        return compile_spec(spec, tools, use_pragmas=use_pragmas)


def verify(
    spec: Path | str,
    files: Sequence[File],
    *,
    golden: File | None = None,
    mutants: int = 16,
    simulator: str = "auto",
    logs: Path | str | None = None,
) -> Verdict:
    """Judge a design by a spec: lint, elaborate, simulate, synthesize, and place and route if a clock is required.

    Args:
        spec: A Markdown spec with its top and ports.
        files: The design.
        golden: A golden model with stimulus in Python (see the docs); None: the spec's own `tests:` judge.
        mutants: Wrong versions of a passing design by which the tests are graded; 0: not graded.
        simulator: `auto`, `icarus` or `verilator`.
        logs: Folder for logs and waveforms; None: they are not kept.

    Returns:
        Whether it passed, each gate's result, unmet requirements, and how strong the evidence is.

    Raises:
        UsageError: the spec or a file is wrong, the golden model does not run, or nothing judges the function.
        ToolError: a tool is missing.
    """
    from rtlagent.gates import Bench, Verifier
    from rtlagent.spec import load_spec
    from rtlagent.tools.scratch import scratch_folder
    from rtlagent.types import Candidate

    loaded = load_spec(Path(spec))
    if loaded.top is None or not loaded.ports:
        hint = "give `top:` and `ports:` in the front matter"
        raise UsageError("the spec does not say what the module looks like", where=str(spec), hint=hint)
    if golden is None and not loaded.tests:
        hint = "give a golden model, or name `tests:` in the spec"
        raise UsageError("nothing judges what the design does", where=str(spec), hint=hint)
    tools = _config({}).tools
    trace = _trace(loaded, golden) if golden is not None else None
    with scratch_folder() as place:
        (place / "store").mkdir()
        verifier = Verifier(
            tools,
            Bench(trace, simulator=simulator, mutants=mutants),
            store=place / "store",
            logs=Path(logs) if logs is not None else place / "logs",
        )
        return verifier(Candidate(_files(files)), loaded)


def lint(
    files: Sequence[File], *, top: str | None = None, language: str = "systemverilog", policy: bool = False
) -> StepResult:
    """Check Verilog without running it, by pyslang and Verilator.

    Args:
        files: The design.
        top: Its top module; None: every module that nobody instantiates.
        language: `verilog` or `systemverilog`: which words are keywords.
        policy: Apply the rules for model-written text, too.

    Returns:
        PASS or FAIL with diagnostics (path, line, column, code, hint); ERROR if a linter broke.

    Raises:
        UsageError: a file cannot be read.

    Example:
        >>> lint([SourceFile("inv.v", "module inv(input a, output y); assign y = ~a; endmodule")]).passed
        True
    """
    from rtlagent.tools.lint import lint as run_lint

    return run_lint(_files(files), top=top, language=language, policy=policy, config=_config({}).tools)


def simulate(
    files: Sequence[File],
    tests: Sequence[File],
    *,
    support: Sequence[File] = (),
    top: str | None = None,
    simulator: str = "auto",
    seed: int | None = None,
    keep_dir: Path | str | None = None,
) -> StepResult:
    """Simulate a design under cocotb modules (`.py`) or testbenches (`.v`, `.sv`).

    Args:
        files: The design, and data that it reads.
        tests: What drives and checks it.
        support: What the tests import or read.
        top: The design's top module; None: the only one that nobody instantiates.
        simulator: `auto`, `icarus` or `verilator`.
        seed: Of everything random; None: by content.
        keep_dir: Folder for logs and, of a failure, a waveform; None: they are not kept.

    Returns:
        PASS, FAIL with the failing tests, UNPROVEN if no test ran, TIMEOUT, or ERROR if the simulator broke.

    Raises:
        UsageError: a file cannot be read, or there is no test.
    """
    from rtlagent.cli.inputs import find_top, split_data
    from rtlagent.tools.simulate import simulate as run_simulation
    from rtlagent.types import TestKind

    tools = _config({}).tools
    sources, data = split_data(_files(files))
    found = _tests(tests, _files(support))
    if not found:
        raise UsageError("there is no test to run", hint="give a cocotb module (.py) or a testbench (.v, .sv)")
    cocotb = any(t.kind is TestKind.COCOTB for t in found)
    return run_simulation(
        sources,
        found,
        top=find_top(sources, top, tools) if cocotb or top else "",
        simulator=simulator,
        seed=seed,
        wave="on_failure" if keep_dir is not None else "never",
        keep_dir=Path(keep_dir) if keep_dir is not None else None,
        data_files=data,
        config=tools,
    )


def synthesize(
    files: Sequence[File], *, top: str | None = None, target: str = "generic", keep_dir: Path | str | None = None
) -> StepResult:
    """Synthesize a design with Yosys and count what it takes.

    Args:
        files: The design.
        top: Its top module; None: the only one that nobody instantiates.
        target: `generic`, `ice40`, `ecp5` or `xc7`.
        keep_dir: Folder for the netlist and logs; None: they are not kept.

    Returns:
        PASS with `metrics` (luts, ffs, brams, dsps; None: not measured), or FAIL with diagnostics.

    Raises:
        UsageError: a file cannot be read, or the top cannot be told.
    """
    from rtlagent.cli.inputs import find_top
    from rtlagent.tools.synthesize import synthesize as run_synthesis

    tools = _config({}).tools
    sources = _files(files)
    chosen = find_top(sources, top, tools)
    kept = Path(keep_dir) if keep_dir is not None else None
    return run_synthesis(sources, top=chosen, target=target, keep_dir=kept, config=tools)


def _config(flags: Mapping[str, object]) -> Config:
    import os

    from rtlagent.config import load_config

    given = {k: Path(v) if k in ("out", "runs_dir") and isinstance(v, str) else v for k, v in flags.items()}
    return load_config(flags={k: v for k, v in given.items() if v is not None}, env=os.environ, start=Path.cwd())


def _files(files: Sequence[File]) -> tuple[SourceFile, ...]:
    """Read files, folders (all Verilog in them) and texts, in order."""
    from rtlagent.cli.inputs import read_design, read_files

    if isinstance(files, str | Path | SourceFile):
        raise UsageError("give a list of files", where=str(files if not isinstance(files, SourceFile) else files.path))
    found: list[SourceFile] = []
    for file in files:
        if isinstance(file, SourceFile):
            found.append(file)
        else:
            found += read_design(Path(file)) if Path(file).is_dir() else read_files([Path(file)])
    names = [f.path for f in found]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise UsageError("is given twice", where=twice)
    return tuple(found)


def _tests(tests: Sequence[File], support: tuple[SourceFile, ...]) -> tuple[TestFile, ...]:
    from rtlagent.types import TestFile, TestKind

    kinds = {".py": TestKind.COCOTB, ".v": TestKind.SYSTEMVERILOG, ".sv": TestKind.SYSTEMVERILOG}
    found = []
    for test in _files(tests):
        kind = kinds.get(Path(test.path).suffix)
        if kind is None:
            raise UsageError(
                "is not a test", where=test.path, hint="give a cocotb module (.py) or a testbench (.v, .sv)"
            )
        found.append(TestFile(test, kind, support=support))
    return tuple(found)


def _trace(spec: Spec, golden: File) -> Any:
    """Run a golden model.

    Raises:
        UsageError: it does not run.
    """
    from rtlagent.tools.golden import record_trace

    (source,) = _files([golden])
    step, trace = record_trace(
        source,
        ports=spec.ports,
        clock=spec.clock,
        reset=spec.reset,
        seed=_SEED,
        random_cycles=_RANDOM_CYCLES,
        config=_config({}).tools,
    )
    if trace is None:
        said = "; ".join(str(d) for d in step.diagnostics[:3]) or step.detail.strip()[:300]
        raise UsageError(f"the golden model cannot judge: {said}", where=source.path)
    return trace
