"""What a compilation is asked for, and what it collects on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rtlagent.types import Diagnostic, Severity

from .ir import Place

Clang = Callable[[str, str, tuple[str, ...]], str]
"""(source text, language `c` or `c++`, further arguments) -> LLVM IR text; raises CSourceError for a compile error."""


@dataclass(frozen=True)
class HlsOptions:
    """The settings of one compilation."""

    top: str
    clock_ns: float = 10.0
    clock_margin: float = 0.2
    """Part of the period that the scheduler leaves free for routing and set-up."""
    target: str = "ecp5"
    """`generic`, `ice40`, `ecp5` or `xc7`: which delays and DSPs."""
    use_pragmas: bool = True
    auto_pipeline: bool = True
    """Pipeline innermost loops that no pragma speaks about."""
    auto_unroll: bool = True
    dataflow: bool = True
    """Let the parts of a dataflow region run at the same time, where a pragma asks for it."""
    dump_after: str = ""
    """Name of a pass whose IR is wanted."""


@dataclass
class Remarks:
    """Warnings and notes collected by the passes, in order; each is shown once."""

    diagnostics: list[Diagnostic] = field(default_factory=list)

    def warn(self, code: str, message: str, place: Place | None = None, *, hint: str = "") -> None:
        """Add a warning, such as a pragma that cannot be honoured."""
        self._add(Severity.WARNING, code, message, place, hint)

    def note(self, code: str, message: str, place: Place | None = None, *, hint: str = "") -> None:
        """Add a note."""
        self._add(Severity.NOTE, code, message, place, hint)

    def spoke_of(self, code: str, place: Place | None) -> bool:
        """Tell whether there is a remark of a kind about a place."""
        at = (place.path, place.line) if place else ("", 0)
        return any(d.code == code and (d.path, d.line) == at for d in self.diagnostics)

    def _add(self, severity: Severity, code: str, message: str, place: Place | None, hint: str) -> None:
        path, line, column = (place.path, place.line, place.column) if place else ("", 0, 0)
        entry = Diagnostic("hls", severity, code, message, path, line, column, hint)
        if entry not in self.diagnostics:
            self.diagnostics.append(entry)
