"""Read a spec: Markdown with optional YAML front matter, or a C file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from rtlagent.errors import SpecError, UsageError
from rtlagent.spec.fields import choice, entries, identifier, integer, positive_number, text
from rtlagent.spec.files import SpecFiles, read_text_file
from rtlagent.spec.front_matter import Node, parse, split
from rtlagent.spec.interface import check_driven, read_clock, read_reset
from rtlagent.spec.names import is_slug, slug
from rtlagent.spec.parameters import defaults, read_parameters
from rtlagent.spec.ports import read_ports
from rtlagent.spec.problems import Place, Problems
from rtlagent.types import Requirements, SourceFile, Spec, digest

__all__ = ["LANGUAGES", "TARGETS", "load_spec"]

LANGUAGES = ("verilog", "systemverilog")
TARGETS = ("generic", "ice40", "ecp5", "xc7")
ROUTED_TARGETS = ("ice40", "ecp5")
"""Targets with place and route, hence with a measured frequency."""

_C_SUFFIXES = frozenset({".c", ".cc", ".cpp", ".cxx"})
_RTL_SUFFIXES = frozenset({".v", ".sv", ".vh", ".svh", ".vhd", ".vhdl"})
_KEYS = (
    *("name", "top", "parameters", "ports", "clock", "reset", "language"),
    *("target", "requirements", "tests", "context"),
)
# Zero is a requirement that people mean where it says "none of these"; elsewhere nothing could meet it.
_LOWEST = {"max_luts": 1, "max_ffs": 0, "max_brams": 0, "max_dsps": 0, "max_latency_cycles": 0, "max_ii": 1}
_T = TypeVar("_T")
_MOST = 1_000_000_000
_REQUIREMENTS = (*_LOWEST, "min_fmax_mhz")


def load_spec(path: Path) -> Spec:
    """Read the spec at `path`, with all the files that it names.

    Raises:
        SpecError: something is wrong with it; the message lists everything found, each with its
            place (`spec.md:LINE:COL`), so that nothing is spent on a spec that cannot work.
    """
    try:
        content = read_text_file(path)
    except UsageError as error:
        hint = error.hint
        if "is a folder" in error.message:
            hint = f"did you mean {path / 'spec.md'}?" if (path / "spec.md").is_file() else "name the spec file in it"
        raise SpecError(f"the spec {error.message}", where=str(path), hint=hint) from None
    suffix = path.suffix.lower()
    if suffix in _RTL_SUFFIXES:
        hint = f"write a spec.md that says what to do, with `context: [{path.name}]` in its front matter"
        raise SpecError("this is RTL, not a spec", where=str(path), hint=hint)
    spec = _from_c(path, content) if suffix in _C_SUFFIXES else _from_markdown(path, content)
    return replace(spec, sha256=digest(spec))


def _from_c(path: Path, content: str) -> Spec:
    if not content.strip():
        raise SpecError("the C file is empty", where=str(path))
    return Spec(name=slug(path.stem), text="", c_source=SourceFile(path.name, content))


def _from_markdown(path: Path, content: str) -> Spec:
    problems = Problems(str(path))
    document = split(content, problems)
    problems.check()
    if not document.prose:
        hint = "say below the front matter what the design does"
        problems.add(Place(document.prose_line, 1), "the spec has no text", hint)
    root = parse(document.yaml, problems) if document.yaml is not None else None
    spec = Spec(name=_default_name(path), text=document.prose)
    if root is not None:
        hints = dict.fromkeys(_REQUIREMENTS, "put it under requirements:")
        keys = entries(root, "the front matter", _KEYS, problems, hints=hints)
        spec = _Reader(keys, path.parent, problems).read(spec)
    problems.check()
    return spec


def _default_name(path: Path) -> str:
    return slug(path.resolve().parent.name if path.stem.lower() == "spec" else path.stem)


class _Reader:
    """Fills a Spec from the front matter's keys."""

    def __init__(self, keys: dict[str, Node], folder: Path, problems: Problems) -> None:
        self.keys = keys
        self.problems = problems
        self.files = SpecFiles(folder, problems)

    def read(self, spec: Spec) -> Spec:
        """Return `spec` with everything that the keys say."""
        parameters = self._read("parameters", read_parameters) or ()
        before = len(self.problems)
        ports = self._read("ports", lambda n, p: read_ports(n, defaults(parameters), p)) or ()
        ports_are_known = bool(ports) and len(self.problems) == before
        clock, clock_place = self._read("clock", read_clock) or (None, None)
        reset, reset_place = self._read("reset", read_reset) or (None, None)
        if clock and clock_place and ports_are_known:
            check_driven("clock", clock.port, clock_place, ports, self.problems)
        if reset and reset_place and ports_are_known:
            check_driven("reset", reset.port, reset_place, ports, self.problems)
        if clock and reset and reset_place and clock.port == reset.port:
            self.problems.add(reset_place, f"{reset.port!r} cannot be both clock and reset")
        return replace(
            spec,
            name=self._read("name", self._name) or spec.name,
            top=self._read("top", lambda n, p: identifier(n, "top", p)),
            parameters=parameters,
            ports=ports,
            clock=clock,
            reset=reset,
            language=self._read("language", lambda n, p: choice(n, "language", LANGUAGES, p)) or spec.language,
            requirements=self._requirements(),
            tests=self.files.tests(self.keys["tests"]) if "tests" in self.keys else (),
            context_files=self.files.context(self.keys["context"]) if "context" in self.keys else (),
        )

    def _read(self, key: str, reader: Callable[[Node, Problems], _T | None]) -> _T | None:
        node = self.keys.get(key)
        return None if node is None else reader(node, self.problems)

    def _name(self, node: Node, problems: Problems) -> str | None:
        name = text(node, "name", problems)
        if name and not is_slug(name):
            problems.add(
                node.place, f"name {name[:60]!r} cannot be part of a folder's name", f"for example {slug(name)}"
            )
        return name

    def _requirements(self) -> Requirements:
        target = self._read("target", lambda n, p: choice(n, "target", TARGETS, p)) or "generic"
        node = self.keys.get("requirements")
        if node is None:
            return Requirements(target=target)
        hints = {"target": "target: stands at the top level, beside requirements:"}
        keys = entries(node, "requirements", _REQUIREMENTS, self.problems, hints=hints)
        limits = {
            key: integer(keys[key], key, self.problems, low=low, high=_MOST)
            for key, low in _LOWEST.items()
            if key in keys
        }
        fmax = positive_number(keys["min_fmax_mhz"], "min_fmax_mhz", self.problems) if "min_fmax_mhz" in keys else None
        if fmax is not None and target not in ROUTED_TARGETS:
            message = f"min_fmax_mhz cannot be measured for the target {target}: there is no place and route for it"
            self.problems.add(keys["min_fmax_mhz"].place, message, f"use target: {' or '.join(ROUTED_TARGETS)}")
        return Requirements(target=target, min_fmax_mhz=fmax, **limits)
