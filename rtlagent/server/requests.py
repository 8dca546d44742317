"""What a client may ask of a worker: one frozen dataclass a tool.

Every path is one that the client wrote; the worker reads it inside the workspace only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

from rtlagent.errors import UsageError, suggestion
from rtlagent.types import from_json


@dataclass(frozen=True)
class Lint:
    """Check Verilog without running it."""

    tool: ClassVar[str] = "lint"
    files: tuple[str, ...]
    top: str | None = None
    language: str = "systemverilog"
    policy: bool = False
    """Apply the rules for model-written text, too."""


@dataclass(frozen=True)
class Simulate:
    """Run cocotb tests or testbenches on a design."""

    tool: ClassVar[str] = "simulate"
    files: tuple[str, ...]
    tests: tuple[str, ...]
    """.py: cocotb, else a testbench."""
    support: tuple[str, ...] = ()
    top: str | None = None
    simulator: str = "auto"
    seed: int | None = None
    defines: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Synthesize:
    """Map a design and count its cells."""

    tool: ClassVar[str] = "synthesize"
    files: tuple[str, ...]
    top: str | None = None
    target: str = "generic"
    max_luts: int | None = None
    max_ffs: int | None = None
    max_brams: int | None = None
    max_dsps: int | None = None


@dataclass(frozen=True)
class PlaceAndRoute:
    """Place and route a design."""

    tool: ClassVar[str] = "place_and_route"
    files: tuple[str, ...]
    target: str
    top: str | None = None
    min_fmax_mhz: float | None = None
    device: str | None = None
    package: str | None = None
    seed: int = 1


@dataclass(frozen=True)
class Equiv:
    """Compare two versions of a module."""

    tool: ClassVar[str] = "equiv"
    gold: tuple[str, ...]
    gate: tuple[str, ...]
    top: str | None = None
    reset: str | None = None
    depth: int = 20


@dataclass(frozen=True)
class Grade:
    """Measure tests by the wrong designs that they catch."""

    tool: ClassVar[str] = "grade"
    files: tuple[str, ...]
    tests: tuple[str, ...] = ()
    support: tuple[str, ...] = ()
    top: str | None = None
    mutants: int = 16
    seed: int = 1


@dataclass(frozen=True)
class Verify:
    """Put a design through every gate of its spec."""

    tool: ClassVar[str] = "verify"
    spec: str
    files: tuple[str, ...]
    golden: str | None = None
    """A golden model in Python; None: the spec's own tests judge."""
    mutants: int = 16
    random_cycles: int = 600


@dataclass(frozen=True)
class CompileC:
    """Compile a C function to Verilog."""

    tool: ClassVar[str] = "compile_c"
    file: str
    top: str | None = None
    target: str | None = None
    clock: str | None = None
    out: str | None = None
    """Folder in the workspace for the Verilog; None: the call's own folder."""
    use_pragmas: bool = True


@dataclass(frozen=True)
class WaveformWindow:
    """Cut a window out of a waveform."""

    tool: ClassVar[str] = "waveform_window"
    waveform: str
    signals: tuple[str, ...] = ()
    """Empty: list the signals."""
    around_ns: float = 0.0
    clock: str | None = None
    cycles: int = 12
    edge: str = "posedge"
    radix: str = "hex"


@dataclass(frozen=True)
class Hierarchy:
    """Read modules, ports and instances."""

    tool: ClassVar[str] = "hierarchy"
    files: tuple[str, ...]
    top: str | None = None


@dataclass(frozen=True)
class Generate:
    """A whole run of rtlagent: a spec in prose with the server's model, or C without any."""

    tool: ClassVar[str] = "generate"
    spec: str
    top: str | None = None
    target: str | None = None
    clock: str | None = None
    max_iterations: int | None = None
    max_cost_usd: float | None = None
    max_time_s: float | None = None


Request = (
    Lint
    | Simulate
    | Synthesize
    | PlaceAndRoute
    | Equiv
    | Grade
    | Verify
    | CompileC
    | WaveformWindow
    | Hierarchy
    | Generate
)
KINDS: Mapping[str, type[Any]] = {kind.tool: kind for kind in get_args(Request)}


def read_request(tool: str, arguments: Mapping[str, Any]) -> Request:
    """Build the request of a tool from what a client sent.

    Raises:
        UsageError: there is no such tool, or an argument is unknown, missing or of the wrong type.
    """
    kind = KINDS.get(tool)
    if kind is None:
        raise UsageError(f"there is no tool {tool!r}", hint=suggestion(tool, KINDS))
    known = {f.name: f.default is MISSING for f in fields(kind)}
    for name in arguments:
        if name not in known:
            raise UsageError(f"{tool} takes no argument {name!r}", hint=suggestion(name, known))
    missing = [name for name, needed in known.items() if needed and name not in arguments]
    if missing:
        raise UsageError(f"{tool} lacks the argument {missing[0]!r}", hint=f"it takes {', '.join(known)}")
    for name, hint in get_type_hints(kind).items():
        if get_origin(hint) is tuple and name in arguments and not isinstance(arguments[name], list | tuple):
            raise UsageError(f"{tool}: {name!r} must be a list of text")
    try:
        request: Request = from_json(kind, arguments)
    except ValueError as error:
        raise UsageError(f"{tool}: {error}") from None
    return request
