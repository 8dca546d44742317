"""Run a C function natively and record its calls: the golden results of co-simulation.

The user's own `main()` is the testbench if it calls the function. Otherwise stimuli are generated; each
is first tried under gcc's sanitizers, so that hardware is never judged by undefined behaviour.
"""

from __future__ import annotations

import signal
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtlagent.config import ToolConfig
from rtlagent.errors import CSourceError, ToolError
from rtlagent.tools import csim_symbols, csim_undefined
from rtlagent.tools.csim_build import BUILDS, Execution, Program, Run, compile_program, execute
from rtlagent.tools.csim_layout import Bounds, check, layout_source
from rtlagent.tools.csim_record import Call, CallRecord, Recording, read_recording
from rtlagent.tools.csim_stimuli import Budget, generate, numbers_in
from rtlagent.types import Diagnostic, Severity, SourceFile, Status, StepResult

if TYPE_CHECKING:
    from rtlagent.hls.interface import Argument

_TRIAL_S = 40.0
_BROKEN = 78
_TIMED_OUT, _KILLED = 124, 137
_BODY = "rtlagent_body_of_top"
_USER_MAIN = "rtlagent_main_of_user"


def record_calls(
    source: SourceFile,
    *,
    top: str,
    arguments: tuple[Argument, ...],
    result_width: int,
    result_signed: bool,
    config: ToolConfig,
    extra_files: Sequence[SourceFile] = (),
    max_calls: int = 200,
    seed: int = 1,
    language: str = "c",
    include_dirs: Sequence[Path] = (),
    budget: Budget | None = None,
    time_limit_s: float = 20.0,
) -> CallRecord:
    """Record the calls of `top`, in order from the first.

    Args:
        source: The file that defines `top`.
        top: The function; `main` itself is recorded as one call, of which the result and globals count. It ends by
            `exit`, too.
        arguments: In the order of the C declaration, then the globals that are the module's ports.
        result_width: Bits of the result; 0 for void.
        result_signed: Whether the result is signed.
        config: Sandbox and limits.
        extra_files: Headers, further C files and data files.
        max_calls: Recording stops after so many (hardware with static state must see the first ones).
        seed: Of generated stimuli.
        language: `c` or `c++`.
        include_dirs: Further host folders with headers.
        budget: How many stimuli are generated, and how much work they may be.
        time_limit_s: Of the C program's run.

    Raises:
        CSourceError: the C does not compile or link, does not define `top`, or leaves every generated
            stimulus undefined.
        ToolError: gcc broke.
    """
    start = time.monotonic()
    if top == "main":
        arguments = tuple(a for a in arguments if a.is_global)
    check(arguments)
    with tempfile.TemporaryDirectory(prefix="rtlagent-") as name:
        builds = BUILDS[:1] if top == "main" else BUILDS
        program = compile_program(
            [source, *extra_files],
            Path(name),
            language=language,
            builds=builds,
            config=config,
            include_dirs=include_dirs,
        )
        subject = _Subject(program, top, arguments, result_width, Bounds(max_calls), time_limit_s, config)
        record = None
        if top == "main" or subject.has_main:
            record = _run_testbench(subject)
        if record is None:
            record = _run_generated(subject, seed, budget or Budget(wanted=min(Budget.wanted, max_calls)))
            if subject.has_main:
                text = f"main() does not call {top}(), so calls are generated"
                unused = Diagnostic("csim", Severity.WARNING, "CSIM_UNCALLED", text, subject.path)
                record = replace(record, diagnostics=(unused, *record.diagnostics))
    mask = (1 << result_width) - 1
    calls = tuple(replace(c, result=c.result & mask) for c in record.calls)
    wall_s = time.monotonic() - start
    return replace(record, calls=calls, result_width=result_width, result_signed=result_signed, wall_s=wall_s)


def csim_step(record: CallRecord) -> StepResult:
    """Say how the C itself fared, as a step named `csim`."""
    lines = [summary(record)]
    if record.problem:
        lines.append(record.problem)
        lines += [f"  | {line}" for line in record.log.splitlines()[-10:]]
    return StepResult(
        "csim", record.status, record.diagnostics, wall_s=record.wall_s, returncode=record.exit_status,
        detail="\n".join(lines),
    )  # fmt: skip


def summary(record: CallRecord) -> str:
    """Say in one line where the calls come from and how many there are."""
    count = len(record.calls)
    if record.origin == "main":
        return f"main() ran natively and {'returned' if count else 'did not return'}"
    if record.origin == "testbench":
        more = f", the first {count} of {record.calls_made}" if record.calls_made > count else ""
        return f"{count} calls of {record.top}() recorded from main(){more}"
    dropped = f"; {len(record.dropped)} dropped ({_reasons(record.dropped)})" if record.dropped else ""
    return f"{count} generated calls of {record.top}(){dropped}"


class _Subject:
    """The program and the function in it."""

    def __init__(
        self,
        program: Program,
        top: str,
        arguments: tuple[Argument, ...],
        result_width: int,
        bounds: Bounds,
        time_limit_s: float,
        config: ToolConfig,
    ) -> None:
        self.program, self.top, self.arguments, self.result_width = program, top, arguments, result_width
        self.time_limit_s, self.config = time_limit_s, config
        self.path = program.staged.originals[program.staged.paths[0]]
        plain = program.assembly["plain"]
        self.unit, self.symbol = self._find_top(plain)
        joined = "\n".join(plain)
        self.has_main = "main" in csim_symbols.functions(joined)
        self.globals: dict[str, str] = {}
        for a in arguments:
            if a.is_global:
                found = csim_symbols.matching(a.name, csim_symbols.objects(joined))
                if len(found) != 1:
                    raise CSourceError(f"the global {a.name} is not defined in the C files given", where=self.path)
                self.globals[a.name] = found[0]
        constant = {n for n, s in self.globals.items() if any(csim_symbols.is_constant(t, s) for t in plain)}
        self.layout = layout_source(
            arguments, top=self.symbol, symbols=self.globals, writable=frozenset(self.globals) - constant, bounds=bounds
        )

    def _find_top(self, texts: Sequence[str]) -> tuple[int, str]:
        for index, text in enumerate(texts):
            symbol = csim_symbols.find_function(self.top, text)
            if symbol is not None:
                return index, symbol
        raise CSourceError(f"there is no function {self.top}", where=self.path)

    def edited(self, build: str, *, driven: bool) -> tuple[str, ...]:
        """Return the assembly with the function's definition renamed, and main's if drive.c has its own."""
        texts = list(self.program.assembly[build])
        texts[self.unit] = csim_symbols.rename_definition(texts[self.unit], self.symbol, _BODY) + f"\t.globl\t{_BODY}\n"
        if driven:
            texts = [csim_symbols.rename_definition(t, "main", _USER_MAIN) for t in texts]
        for index, text in enumerate(texts):
            here = csim_symbols.objects(text)
            texts[index] = csim_symbols.export(text, [s for s in self.globals.values() if s in here])
        return tuple(texts)

    def run(self, runs: Sequence[tuple[str, tuple[str, ...], float]], *, driven: bool, stimuli: bytes = b"") -> _Ran:
        """Run builds: (build, arguments, seconds)."""
        made = execute(
            self.program,
            [Run(build, self.edited(build, driven=driven), argv, wall_s) for build, argv, wall_s in runs],
            layout=self.layout,
            defines={
                "RTLAGENT_TOP": self.symbol,
                "RTLAGENT_BODY": _BODY,
                "RTLAGENT_IS_MAIN": str(int(self.top == "main")),
            },
            driven=driven,
            stimuli=stimuli,
            halt=driven,
            config=self.config,
        )
        recordings: dict[str, Recording] = {}
        for build, execution in made.items():
            if execution.returncode == _BROKEN:
                raise ToolError(f"recording the C program's calls failed: {execution.log.strip()[-200:]}")
            recordings[build] = read_recording(execution.record, len(self.arguments), counted=build == "checked")
        return _Ran(made, recordings)


@dataclass(frozen=True)
class _Ran:
    executions: dict[str, Execution]
    recordings: dict[str, Recording]


def _run_testbench(subject: _Subject) -> CallRecord | None:
    """Run the user's main; None if it went well and never called the function."""
    is_main = subject.top == "main"
    builds = BUILDS[:1] if is_main else BUILDS
    ran = subject.run([(b, (), subject.time_limit_s) for b in builds], driven=False)
    recording, execution = ran.recordings["plain"], ran.executions["plain"]
    status, problem = _how_it_ended(recording, execution, subject)
    if is_main and recording.calls:
        status, problem = Status.PASS, ""
    elif is_main:
        problem = problem or "main() did not return"
        status = Status.FAIL if status is Status.PASS else status
    elif recording.begun == 0 and not problem:
        return None
    calls = recording.calls
    diagnostics: list[Diagnostic] = []
    if "checked" in ran.recordings:
        calls = csim_undefined.compare_builds(calls, ran.recordings["checked"].calls, subject.result_width)
        diagnostics += csim_undefined.warnings(ran.executions["checked"].log, subject.program.staged)
    for missing in recording.missing_files:
        text = f"the program could not open {missing}: it runs in a folder that holds only the files given"
        diagnostics.append(Diagnostic("csim", Severity.WARNING, "CSIM_FILE", text, subject.path))
        problem += f"; it could not open {missing}" if problem else ""
    return CallRecord(
        subject.top, subject.arguments, 0, False, calls, "main" if is_main else "testbench", status, problem,
        recording.begun, (), recording.exit_status, tuple(diagnostics), execution.log,
    )  # fmt: skip


def _how_it_ended(recording: Recording, execution: Execution, subject: _Subject) -> tuple[Status, str]:
    code = execution.returncode
    inside = f" in call {recording.begun} of {subject.top}()" if recording.begun > recording.ended else ""
    if recording.exit_status is not None:
        code = recording.exit_status
    elif code == _TIMED_OUT or (code == _KILLED and execution.wall_s >= int(subject.time_limit_s)):
        return Status.TIMEOUT, f"the C program did not end within {subject.time_limit_s:g} s{inside}"
    elif code > 128:
        why = " (it used too much memory, or killed itself)" if code == _KILLED else ""
        return Status.FAIL, f"the C program was ended by {_signal_name(code - 128)}{why}{inside}"
    if code != 0:
        return Status.FAIL, f"the C program's own test failed: main() returned {code}"
    return Status.PASS, ""


def _run_generated(subject: _Subject, seed: int, budget: Budget) -> CallRecord:
    texts = [(subject.program.staged.folder / path).read_text() for path in subject.program.units]
    stimuli = generate(subject.arguments, seed=seed, budget=budget, numbers=numbers_in(texts))
    files = ("rtlagent_stimuli", "rtlagent_used")
    ran = subject.run(
        [("checked", ("trial", *files), _TRIAL_S), ("plain", ("replay", *files), subject.time_limit_s)],
        driven=True,
        stimuli=stimuli.data,
    )
    tried, golden = ran.recordings["checked"], ran.recordings["plain"]
    log = ran.executions["checked"].log
    dropped = csim_undefined.drop_reasons(tried.dropped, log)
    calls: tuple[Call, ...] = golden.calls[: len(tried.calls)]
    if not calls:
        if not dropped:
            raise ToolError(f"no generated stimulus could be run: {log.strip()[-300:]}")
        message = f"every generated stimulus of {subject.top}() is undefined in C: {_reasons(dropped)}"
        found = csim_undefined.warnings(log, subject.program.staged)
        where = f"{found[0].path}:{found[0].line}" if found and found[0].line else subject.path
        raise CSourceError(message, where=where, hint=f"write a main() that calls {subject.top}() with valid arguments")
    calls = csim_undefined.compare_builds(calls, tried.calls, subject.result_width)
    return CallRecord(
        subject.top, subject.arguments, 0, False, calls, "generated", calls_made=len(calls), dropped=dropped, log=log
    )


def _reasons(dropped: Sequence[str]) -> str:
    counts: dict[str, int] = {}
    for reason in dropped:
        counts[reason] = counts.get(reason, 0) + 1
    shown = sorted(counts.items(), key=lambda item: -item[1])[:3]
    return ", ".join(f"{n} {reason}" for reason, n in shown)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
