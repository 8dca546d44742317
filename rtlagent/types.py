"""The frozen dataclasses that flow through everything.

Nothing here runs anything or imports anything of rtlagent. None means "not measured" or "not
known"; it never means 0.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

_T = TypeVar("_T")


class Status(StrEnum):
    """How a step or a test ended. FAIL is the design's fault, ERROR is a tool's."""

    PASS = "PASS"
    FAIL = "FAIL"
    ERROR = "ERROR"
    TIMEOUT = "TIMEOUT"
    SKIPPED = "SKIPPED"
    UNPROVEN = "UNPROVEN"


class Severity(StrEnum):
    """How bad a diagnostic is; the order of the names is from worst to least."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class SourceFile:
    """A text file that travels by value, so that nobody can change it behind our back."""

    path: str
    """POSIX path relative to the design's root, such as `rtl/fifo.v`."""
    text: str

    @property
    def sha256(self) -> str:
        """Hex digest of the text as UTF-8."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Port:
    """A port of a module."""

    name: str
    direction: str
    """`input`, `output` or `inout`."""
    width: int | None = 1
    """Bits; None when it depends on a parameter."""
    signed: bool = False
    description: str = ""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a module."""

    name: str
    default: str = ""
    """As Verilog text, such as `8` or `2'b01`; empty when the spec gives none."""
    description: str = ""


@dataclass(frozen=True)
class Clock:
    """The clock that a bench drives."""

    port: str
    edge: str = "posedge"
    """`posedge` or `negedge`: the edge at which the design's state changes."""
    period_ns: float = 10.0


@dataclass(frozen=True)
class Reset:
    """The reset that a bench drives."""

    port: str
    active: str = "high"
    """`high` or `low`."""
    synchronous: bool = True


@dataclass(frozen=True)
class Requirements:
    """What the implementation must meet; None means no requirement."""

    target: str = "generic"
    """`generic`, `ice40`, `ecp5` or `xc7`."""
    max_luts: int | None = None
    max_ffs: int | None = None
    max_brams: int | None = None
    max_dsps: int | None = None
    min_fmax_mhz: float | None = None
    max_latency_cycles: int | None = None
    max_ii: int | None = None


class TestKind(StrEnum):
    """What runs a test."""

    __test__ = False  # not a pytest class
    COCOTB = "cocotb"
    SYSTEMVERILOG = "systemverilog"


@dataclass(frozen=True)
class TestFile:
    """A test of the user's own (or our bench), protected by its hash."""

    __test__ = False  # not a pytest class
    source: SourceFile
    kind: TestKind
    top: str | None = None
    """Top module of a SystemVerilog testbench; None: the only module that nobody instantiates."""
    support: tuple[SourceFile, ...] = ()
    """Further Python modules, includes and data files that the test reads."""


@dataclass(frozen=True)
class Spec:
    """What the user asked for."""

    name: str
    text: str
    """The prose, without the front matter."""
    top: str | None = None
    ports: tuple[Port, ...] = ()
    """Empty: the spec names none and the model has to find them in the prose."""
    clock: Clock | None = None
    reset: Reset | None = None
    language: str = "verilog"
    """`verilog` (Verilog-2005) or `systemverilog`."""
    requirements: Requirements = field(default_factory=Requirements)
    tests: tuple[TestFile, ...] = ()
    context_files: tuple[SourceFile, ...] = ()
    c_source: SourceFile | None = None
    """The C file whose function `top` becomes hardware; `context_files` has what it includes. None: the prose rules."""
    sha256: str = ""
    """Hex digest of everything else, files included."""
    parameters: tuple[Parameter, ...] = ()
    c_language: str = "c"
    """Of `c_source`: `c` or `c++`."""
    clock_ns: float | None = None
    """Period asked for with a C source; None: none was."""


@dataclass(frozen=True)
class Candidate:
    """One attempt at the design."""

    files: tuple[SourceFile, ...]
    iteration: int = 0
    parent_sha: str | None = None
    origin: str = "model"
    """`model` or `hls`."""
    pragmas: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """Hex digest over paths and texts, independent of their order."""
        return digest(sorted((f.path, f.text) for f in self.files))

    def text_of(self, path: str) -> str | None:
        """Return the text of the file at `path`, or None."""
        return next((f.text for f in self.files if f.path == path), None)


@dataclass(frozen=True)
class Diagnostic:
    """One message of a tool, in the one format that all tools share."""

    tool: str
    severity: Severity
    code: str
    """Stable short name such as `LATCH` or `UndeclaredIdentifier`; empty if the tool has none."""
    message: str
    path: str = ""
    line: int = 0
    """From 1; 0 when unknown."""
    column: int = 0
    """From 1; 0 when unknown."""
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.path or '-'}:{self.line}:{self.column}"
        code = f" [{self.code}]" if self.code else ""
        return f"{place}: {self.severity}: {self.message}{code}"


@dataclass(frozen=True)
class Mismatch:
    """One cycle at which an output differs from what was expected."""

    scenario: str
    cycle: int
    """From 0, counted within the scenario, after reset."""
    time_ns: float
    """Simulation time of the sample, for finding it in the waveform."""
    signal: str
    expected: str
    """Decimal or hex text; `-` where anything is allowed."""
    got: str
    """The same; with x or z digits where the design drives them."""
    inputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TestResult:
    """The outcome of one test."""

    __test__ = False  # not a pytest class
    name: str
    status: Status
    cycle: int | None = None
    """First failing cycle."""
    seed: int | None = None
    message: str = ""
    wave_path: str | None = None
    checked_cycles: int | None = None
    """Cycles (or items) at which at least one output was compared."""
    mismatches: tuple[Mismatch, ...] = ()
    """The first few, in order of time."""


@dataclass(frozen=True)
class Metrics:
    """Measured figures of a candidate; None = not measured."""

    luts: int | None = None
    ffs: int | None = None
    brams: int | None = None
    dsps: int | None = None
    latches: int | None = None
    fmax_mhz: float | None = None
    wns_ns: float | None = None
    latency_cycles: int | None = None
    ii: int | None = None
    """Initiation interval of the slowest pipelined loop of a C function."""
    c_coverage_percent: float | None = None
    """Part of the C's lines that ran under the calls that were compared, of those that the function reaches."""


@dataclass(frozen=True)
class StepResult:
    """What one tool said about one candidate."""

    step: str
    """`lint`, `elaborate`, `simulate`, `synthesize`, `place_and_route`, `equiv`, `policy`."""
    status: Status
    diagnostics: tuple[Diagnostic, ...] = ()
    tests: tuple[TestResult, ...] = ()
    metrics: Metrics = field(default_factory=Metrics)
    argv: tuple[str, ...] = ()
    """The main command, for a user to repeat; paths relative to the work folder."""
    returncode: int | None = None
    log_path: str | None = None
    wall_s: float = 0.0
    tool_version: str = ""
    detail: str = ""
    """Text for people: a table, a report excerpt, a counterexample."""

    @property
    def passed(self) -> bool:
        """True only for PASS: unproven, skipped and broken are not passes."""
        return self.status is Status.PASS


@dataclass(frozen=True)
class Unmet:
    """A requirement that was measured and not met, or could not be measured."""

    name: str
    limit: float
    measured: float | None
    unit: str = ""


class Grade(StrEnum):
    """How strong the evidence behind a verdict is, strongest first."""

    STRONG = "strong"
    MODERATE = "moderate"
    WEAK = "weak"
    NONE = "none"


@dataclass(frozen=True)
class Verdict:
    """The judgement of all gates over one candidate."""

    passed: bool
    grade: Grade
    steps: tuple[StepResult, ...] = ()
    unmet: tuple[Unmet, ...] = ()
    grade_reason: str = ""
    """Why the grade is not higher."""

    @property
    def failing(self) -> StepResult | None:
        """The first step that did not pass and was not skipped."""
        return next((s for s in self.steps if s.status not in (Status.PASS, Status.SKIPPED)), None)

    @property
    def metrics(self) -> Metrics:
        """All steps' figures merged; a later step overrides an earlier one."""
        merged = {k: v for s in self.steps for k, v in asdict(s.metrics).items() if v is not None}
        return Metrics(**merged)


@dataclass(frozen=True)
class CycleScenario:
    """A named run of a cycle-accurate bench: inputs driven and outputs expected, cycle by cycle."""

    name: str
    inputs: tuple[Mapping[str, int], ...]
    """One mapping a cycle, port name -> unsigned value; a missing port keeps its value."""
    expected: tuple[Mapping[str, int | None], ...]
    """One mapping a cycle, sampled just before the active edge; None or missing: not compared."""
    reset_first: bool = True


@dataclass(frozen=True)
class StreamPort:
    """A valid/ready (or write-enable/not-full) channel of the design."""

    name: str
    direction: str
    """`input` (the bench sends) or `output` (the bench receives)."""
    data: tuple[str, ...]
    valid: str
    """Port name; a leading `!` means active low."""
    ready: str | None = None
    """Port name; a leading `!` means active low, such as `!full`. None: always ready."""
    clock: str | None = None
    """Clock port; None: the spec's clock."""
    data_delay: int = 0
    """Cycles from the transfer to the data: 1 for a FIFO with registered read data."""


@dataclass(frozen=True)
class StreamScenario:
    """A named run of a latency-insensitive bench: items sent and items expected, in order."""

    name: str
    inputs: Mapping[str, tuple[Mapping[str, int], ...]]
    """Stream name -> items, each data port -> value."""
    expected: Mapping[str, tuple[Mapping[str, int | None], ...]]
    settings: Mapping[str, int] = field(default_factory=dict)
    """Values held on the other input ports."""
    gap_percent: int = 30
    """How often the bench withholds valid or ready in a cycle."""


@dataclass(frozen=True)
class Trace:
    """What an oracle asks and expects, computed without sight of any RTL."""

    seed: int
    cycles: tuple[CycleScenario, ...] = ()
    streams: tuple[StreamScenario, ...] = ()
    stream_ports: tuple[StreamPort, ...] = ()
    clocks: tuple[Clock, ...] = ()
    """Further clocks, beside the spec's."""
    resets: tuple[Reset, ...] = ()
    """Further resets, beside the spec's; the bench drives them together."""
    idle: Mapping[str, int] = field(default_factory=dict)
    """Values of the inputs during reset and at a scenario's start; a missing port is 0."""
    max_latency_cycles: int | None = None
    """Bound on the cycles from an item's acceptance to its result; None: none."""
    timeout_cycles: int = 1000
    """Cycles without any transfer after which a stream scenario has hung."""


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    role: str
    """`system`, `user` or `assistant`."""
    content: str


@dataclass(frozen=True)
class Usage:
    """Tokens and money; cost None means that the price is unknown."""

    tokens_in: int = 0
    tokens_cached: int = 0
    """Part of tokens_in that the provider served from its cache."""
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    estimated: bool = False
    """True if some of the tokens were counted by text length, because the endpoint told no number."""

    def __add__(self, other: Usage) -> Usage:
        cost = None if self.cost_usd is None or other.cost_usd is None else self.cost_usd + other.cost_usd
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_cached + other.tokens_cached,
            self.tokens_out + other.tokens_out,
            cost,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True)
class ModelReply:
    """A usable answer of a model."""

    text: str
    usage: Usage
    model: str
    finish_reason: str = "stop"


@dataclass(frozen=True)
class LoopReport:
    """What became of one loop of a C function."""

    label: str
    """The C label, else `loop_LINE`."""
    line: int
    """In the source; 0: unknown."""
    trip_count: int | None
    """None: not known."""
    ii: int | None
    """Cycles between two iterations; None: not pipelined."""
    target_ii: int | None
    """Wanted; None: nothing was asked."""
    depth: int
    """Cycles of one iteration."""
    latency_cycles: int | None
    """Of the whole loop; None: not bounded."""
    limited_by: str = ""
    """Why the II is not smaller, in the user's words; empty: nothing stands against it."""


@dataclass(frozen=True)
class ScheduledOp:
    """Equal operations of one line that run at the same time, relative to their iteration's start."""

    what: str
    """Such as `mul` or `load x`."""
    line: int
    """Of the C; 0: unknown."""
    cycle: int
    """In which they begin."""
    latency: int
    """Cycles until the result can be used: 0 combinational."""
    start_ns: float
    """Within `cycle`, after the clock edge."""
    end_ns: float
    """Within cycle + latency."""
    count: int = 1


@dataclass(frozen=True)
class LoopSchedule:
    """When the operations of a loop's iteration run."""

    label: str
    line: int
    ii: int | None
    """None: not pipelined."""
    depth: int
    """Cycles of an iteration."""
    clock_ns: float
    ops: tuple[ScheduledOp, ...]
    """By cycle and start."""
    left_out: int = 0
    """Operations beyond those listed."""


@dataclass(frozen=True)
class RunRecord:
    """A whole run, as written to report.json."""

    id: str
    spec_sha: str
    config_sha: str
    seed: int
    iterations: int
    usage: Usage
    exit_reason: str
    """`pass`, `fail`, `limit`, `tool`, `model` or `interrupted`."""


def digest(value: object) -> str:
    """Return a hex SHA-256 of any JSON-like value or dataclass, independent of key order."""
    return hashlib.sha256(json.dumps(to_json(value), sort_keys=True).encode()).hexdigest()


def to_json(value: object) -> Any:
    """Turn dataclasses, enums, tuples and mappings into what `json.dumps` takes.

    Raises:
        TypeError: for anything else, rather than writing its repr.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {k: to_json(getattr(value, k)) for k in value.__dataclass_fields__}
    if isinstance(value, StrEnum):
        return value.value
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, Iterable):
        return [to_json(v) for v in value]
    raise TypeError(f"not JSON-like: {type(value).__name__}")


def from_json(kind: type[_T], value: Any) -> _T:
    """Rebuild a dataclass of this module from what `to_json` made of it.

    Raises:
        ValueError: the value does not have the type's form.
    """
    try:
        result: _T = _decode(kind, value)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a {kind.__name__}: {error}") from error
    return result


@cache
def _hints_of(kind: type) -> Mapping[str, Any]:
    """Return a dataclass's annotations, evaluated once: that takes longer than everything else here."""
    return get_type_hints(kind)


def _decode(kind: Any, value: Any) -> Any:
    origin, args = get_origin(kind), get_args(kind)
    if origin is UnionType:
        if value is None and NoneType in args:
            return None
        return _decode(next(a for a in args if a is not NoneType), value)
    if origin is tuple:
        return tuple(_decode(args[0], v) for v in value)
    if origin is Mapping:
        return {k: _decode(args[1], v) for k, v in value.items()}
    if is_dataclass(kind) and isinstance(kind, type):
        hints = _hints_of(kind)
        return kind(**{k: _decode(hints[k], v) for k, v in value.items() if k in hints})
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(value)
    if kind is float and isinstance(value, int):
        return float(value)
    if isinstance(kind, type) and not isinstance(value, kind):
        raise TypeError(f"{value!r} is not a {kind.__name__}")
    return value
