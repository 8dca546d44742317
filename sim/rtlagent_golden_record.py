"""Record what a golden model drives and expects, as plain data.

The model's functions are called here and nowhere else. Whatever they do wrong becomes a
GoldenProblem with the line of golden.py to blame.
"""

from __future__ import annotations

import ast
import itertools
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import rtlagent_golden_stimulus as stimulus

GOLDEN_PATH = "golden.py"


class GoldenProblem(Exception):
    """Something the author of golden.py has to mend."""

    def __init__(self, code: str, message: str, line: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line
        self.hint = hint


class DeadlineReached(BaseException):
    """Raised by the alarm; no `except Exception` of a model catches it."""


@dataclass
class Design:
    """The ports as the recorder sees them."""

    inputs: dict[str, int]
    """Width of each input that the stimulus drives; clocks are not among them."""
    outputs: dict[str, int]
    clock: str | None
    reset: str | None = None
    reset_active: int = 1
    reset_synchronous: bool = True
    random_cycles: int = 1000
    max_directed_cycles: int = 50_000
    seed: int = 1


@dataclass
class Place:
    """Where the recorder is, for messages."""

    scenario: str = ""
    cycle: int | None = None
    inputs: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        cycle = "" if self.cycle is None else f", cycle {self.cycle}"
        inputs = ", ".join(f"{k}={v}" for k, v in list(self.inputs.items())[:12])
        return f"scenario `{self.scenario}`{cycle}" + (f", inputs {inputs}" if inputs else "")


class GoldenFile:
    """golden.py, loaded: its functions, their lines, and calls into it."""

    def __init__(self, text: str) -> None:
        self.place = Place()
        self.names: dict[str, Any] = {}
        self.lines = self._assignment_lines(text)
        module = types.ModuleType("golden")
        module.__file__ = GOLDEN_PATH
        # Dataclasses look their module up by name.
        sys.modules["golden"] = module
        with self.blame("while it was loaded"):
            exec(compile(text, GOLDEN_PATH, "exec"), module.__dict__)
        self.names = module.__dict__

    @staticmethod
    def _assignment_lines(text: str) -> dict[str, int]:
        try:
            tree = ast.parse(text, GOLDEN_PATH)
        except SyntaxError as error:
            raise GoldenProblem("GOLDEN_SYNTAX", f"not Python: {error.msg}", error.lineno or 0) from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise GoldenProblem("GOLDEN_SYNTAX", f"not Python: {type(error).__name__}") from None
        lines: dict[str, int] = {}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                lines[node.name] = node.lineno
            elif isinstance(node, ast.Assign):
                lines.update({t.id: node.lineno for t in node.targets if isinstance(t, ast.Name)})
            if isinstance(node, ast.ClassDef):
                inner = (n for n in node.body if isinstance(n, ast.FunctionDef))
                lines.update({f"{node.name}.{n.name}": n.lineno for n in inner})
        return lines

    def problem(self, code: str, message: str, *, at: str, hint: str = "") -> GoldenProblem:
        """Return a problem at the definition of `at`."""
        return GoldenProblem(code, message, self.lines.get(at, 0), hint)

    def blame(self, doing: str) -> _Blame:
        """Return a context that turns what the model raises into a GoldenProblem."""
        return _Blame(self, doing)

    def function(self, name: str) -> Callable[..., Any] | None:
        """Return the module's function `name`, or None when there is none."""
        found = self.names.get(name)
        if found is not None and not callable(found):
            raise self.problem("GOLDEN_PROTOCOL", f"`{name}` must be a function", at=name)
        return found

    def integer(self, name: str) -> int | None:
        """Return the module's positive number `name`, or None when there is none."""
        found = self.names.get(name)
        if found is not None and (not isinstance(found, int) or found < 1):
            raise self.problem("GOLDEN_PROTOCOL", f"`{name}` must be a positive int", at=name)
        return None if found is None else int(found)

    def checked_values(
        self, given: object, widths: Mapping[str, int], *, at: str, what: str, ignored: Iterable[str] = ()
    ) -> dict[str, int]:
        """Return `given` as port values, or raise the problem with it."""
        if not isinstance(given, Mapping):
            raise self.problem("GOLDEN_TYPE", f"{what} must be a dict, not {_kind(given)} ({self.place})", at=at)
        result: dict[str, int] = {}
        for name, value in given.items():
            width = widths.get(name) if isinstance(name, str) else None
            if width is None:
                if name in ignored:
                    continue
                known = ", ".join(widths) or "none"
                message = f"{what}: unknown port {_short(name)} ({self.place})"
                raise self.problem("GOLDEN_UNKNOWN_PORT", message, at=at, hint=f"the ports here are: {known}")
            if value is None:
                continue
            if not isinstance(value, int):
                message = f"{what}: {name} must be an int, not {_kind(value)} ({self.place})"
                raise self.problem("GOLDEN_TYPE", message, at=at)
            if value < 0 or value >> width:
                message = f"{what}: {name} = {_short(value)} does not fit {width} bit{'s'[: width != 1]} ({self.place})"
                hint = f"values are unsigned: mask with & {(1 << width) - 1:#x}"
                raise self.problem("GOLDEN_RANGE", message, at=at, hint=hint)
            result[name] = int(value)
        return result


class _Blame:
    """Turns whatever the model's code raises into a GoldenProblem at its line."""

    def __init__(self, golden: GoldenFile, doing: str) -> None:
        self.golden = golden
        self.doing = doing

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, GoldenProblem):
            return
        where = f" ({self.golden.place})" if self.golden.place.scenario else ""
        innermost, function_line = 0, 0
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == GOLDEN_PATH:
                innermost = trace.tb_lineno
                function_line = function_line or trace.tb_frame.f_code.co_firstlineno
            trace = trace.tb_next
        if isinstance(error, DeadlineReached):
            # The very line at which an endless loop was cut differs from run to run.
            raise GoldenProblem(
                "GOLDEN_TIMEOUT", f"did not end in time, {self.doing}", function_line, "look for an endless loop"
            ) from None
        if isinstance(error, SystemExit):
            message = f"the model ended the program {self.doing}{where}"
            raise GoldenProblem("GOLDEN_EXIT", message, innermost) from None
        text = re.sub(r" at 0x[0-9a-f]+", "", str(error))[:300]
        message = f"{type(error).__name__}: {text} {self.doing}{where}"
        raise GoldenProblem("GOLDEN_RAISED", message, innermost or getattr(error, "lineno", 0) or 0) from None


def _kind(value: object) -> str:
    return type(value).__name__


def _short(value: object) -> str:
    text = re.sub(r" at 0x[0-9a-f]+", "", repr(value))
    return text if len(text) <= 60 else text[:57] + "..."


def scenario_name(name: object) -> str:
    """Return a scenario's name in the letters that reports and files can carry."""
    return re.sub(r"[^\w.+-]+", "_", str(name))[:60] or "unnamed"


class CycleRecorder:
    """Runs class Golden over every cycle-style scenario."""

    def __init__(self, golden: GoldenFile, design: Design) -> None:
        self.golden = golden
        self.design = design
        self.idle = read_idle(golden, design)
        self.model = self._new_model()
        self.scenarios: list[dict[str, Any]] = []
        clocks = [design.clock] if design.clock else []
        self.ignored = tuple(clocks)

    def _new_model(self) -> Any:
        make = self.golden.names["Golden"]
        needed = ["outputs"] + (["clock"] if self.design.clock else []) + (["reset"] if self.design.reset else [])
        for method in needed:
            if not callable(getattr(make, method, None)):
                raise self.golden.problem("GOLDEN_PROTOCOL", f"class Golden has no method `{method}`", at="Golden")
        with self.golden.blame("in Golden()"):
            model = make()
        if not self.design.reset and callable(getattr(model, "reset", None)):
            with self.golden.blame("in reset() at power-up"):
                model.reset()
        return model

    def record(self) -> list[dict[str, Any]]:
        """Return every scenario: directed, idle, random, resets in activity, exhaustive."""
        design = self.design
        directed = self._directed()
        for name, steps in directed.items():
            self._run(name, iter(steps), at="directed")
        combinational = design.clock is None
        bits = sum(design.inputs.values())
        if combinational and bits <= 12:
            self._run("exhaustive", stimulus.exhaustive(design.inputs), at="Golden.outputs")
            return self.scenarios
        if not combinational:
            self._run("idle", iter([{}] * 16), at="Golden.outputs")
        self._run("random", self._random("random", resets=True)(design.random_cycles), at="random_inputs")
        if design.reset and not combinational:
            rng = Random(f"{design.seed}:resets")
            source = self._random("reset_in_activity", resets=False)
            reset = (design.reset, design.reset_active)
            activity = stimulus.with_resets(source, max(60, design.random_cycles // 5), rng, reset)
            self._run("reset_in_activity", activity, at="random_inputs")
        return self.scenarios

    def _directed(self) -> dict[str, list[Any]]:
        function = self.golden.function("directed")
        if function is None:
            raise self.golden.problem("GOLDEN_PROTOCOL", "no function `directed`", at="Golden")
        with self.golden.blame("in directed()"):
            given = function()
            if not isinstance(given, Mapping):
                message = f"directed() must return a dict, not {_kind(given)}"
                raise self.golden.problem("GOLDEN_TYPE", message, at="directed")
            left = self.design.max_directed_cycles
            scenarios: dict[str, list[Any]] = {}
            for name, steps in given.items():
                taken = self._take(steps, left)
                left -= len(taken)
                if taken:
                    scenarios[scenario_name(name)] = taken
        if not scenarios:
            raise self.golden.problem("GOLDEN_EMPTY", "directed() gives no cycle", at="directed")
        return scenarios

    def _take(self, steps: Any, most: int) -> list[Any]:
        taken: list[Any] = []
        if isinstance(steps, Mapping | str):
            message = f"directed(): a scenario must be a list of dicts, not {_kind(steps)}"
            raise self.golden.problem("GOLDEN_TYPE", message, at="directed")
        for step in steps:
            if len(taken) >= most:
                limit = self.design.max_directed_cycles
                message = f"directed() gives more than {limit} cycles in all"
                raise self.golden.problem("GOLDEN_TOO_LONG", message, at="directed")
            taken.append(step)
        return taken

    def _random(self, name: str, *, resets: bool) -> Callable[[int], Iterator[Any]]:
        """Return what starts a random stimulus of n cycles: the model's, or ours if it has none."""
        design, function = self.design, self.golden.function("random_inputs")
        rng = Random(f"{design.seed}:{name}")
        if function is not None:
            return lambda n: itertools.islice(function(rng, self.model, n), n)
        widths = {n: w for n, w in design.inputs.items() if n != design.reset}
        reset = (design.reset, design.reset_active) if design.reset and resets else None
        return lambda n: stimulus.constrained_random(rng, widths, n, reset)

    def _run(self, name: str, steps: Iterator[Any], *, at: str) -> None:
        """Record one scenario; each step is asked for only after the model has seen the one before."""
        if any(s["name"] == name for s in self.scenarios):
            name = f"{name}_{len(self.scenarios)}"
        design, model, place = self.design, self.model, self.golden.place
        place.scenario, place.cycle, place.inputs = name, None, {}
        inputs: list[dict[str, int]] = []
        expected: list[dict[str, int]] = []
        values = dict(self.idle)
        with self.golden.blame("at reset"):
            if design.reset:
                model.reset()
        with self.golden.blame("in the stimulus or the model"):
            for cycle, step in enumerate(steps):
                place.cycle, place.inputs = cycle, {}
                before = dict(values) if inputs else {}
                if design.reset:
                    values[design.reset] = 1 - design.reset_active
                given = self.golden.checked_values(step, design.inputs, at=at, what="stimulus", ignored=self.ignored)
                values.update(given)
                place.inputs = values
                in_reset = design.reset is not None and values[design.reset] == design.reset_active
                expected.append(self._step(model, values, in_reset))
                inputs.append({n: v for n, v in values.items() if before.get(n) != v})
        place.scenario = ""
        if inputs:
            reset_first = design.reset is not None
            self.scenarios.append({"name": name, "inputs": inputs, "expected": expected, "reset_first": reset_first})

    def _step(self, model: Any, values: Mapping[str, int], in_reset: bool) -> dict[str, int]:
        if in_reset and not self.design.reset_synchronous:
            model.reset()
        wanted = self.golden.checked_values(
            model.outputs(dict(values)), self.design.outputs, at="Golden.outputs", what="outputs()"
        )
        if in_reset and self.design.reset_synchronous:
            model.reset()
        elif not in_reset and self.design.clock:
            model.clock(dict(values))
        return wanted


def read_idle(golden: GoldenFile, design: Design) -> dict[str, int]:
    """Return the inputs' values during reset and at a scenario's start: IDLE_INPUTS, else 0."""
    values = dict.fromkeys(design.inputs, 0)
    if design.reset:
        values[design.reset] = 1 - design.reset_active
    for name, level in read_resets(golden, design).items():
        values[name] = 1 if level == "low" else 0
    given = golden.names.get("IDLE_INPUTS")
    if given is not None:
        ignored = [n for n in (design.clock,) if n]
        name = "IDLE_INPUTS"
        values.update(golden.checked_values(given, design.inputs, at=name, what=name, ignored=ignored))
    return values


def read_resets(golden: GoldenFile, design: Design) -> dict[str, str]:
    """Return RESETS: further reset ports and their active levels."""
    given = golden.names.get("RESETS", {})
    message = 'RESETS must be a dict such as {"rd_rst_n": "low"}'
    if not isinstance(given, Mapping):
        raise golden.problem("GOLDEN_TYPE", message, at="RESETS")
    for name, level in given.items():
        if name not in design.inputs or level not in ("high", "low"):
            raise golden.problem("GOLDEN_PROTOCOL", f"{message}, of input ports", at="RESETS")
    return {n: level for n, level in given.items() if n != design.reset}
