"""Read a spec: Markdown with optional YAML front matter, or a C file.

A Markdown file is a C spec if its front matter names a C file (`source:`), or if it has a C code block that
defines the function `top` (any function, if neither `top` nor `ports` is given).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TypeVar

from rtlagent.errors import SpecError, UsageError
from rtlagent.spec.c_source import C_SUFFIXES, code_blocks, defined_functions, included_files
from rtlagent.spec.clock_period import CLOCK_FORMS, period_ns
from rtlagent.spec.fields import choice, entries, identifier, integer, positive_number, text
from rtlagent.spec.files import SpecFiles, read_text_file
from rtlagent.spec.front_matter import Mapping, Node, Scalar, parse, split
from rtlagent.spec.interface import check_driven, read_clock, read_reset
from rtlagent.spec.names import is_slug, slug
from rtlagent.spec.parameters import defaults, read_parameters
from rtlagent.spec.ports import read_ports
from rtlagent.spec.problems import Place, Problems
from rtlagent.types import Requirements, SourceFile, Spec, digest

__all__ = ["LANGUAGES", "ROUTED_TARGETS", "TARGETS", "Asked", "load_spec"]

LANGUAGES = ("verilog", "systemverilog")
TARGETS = ("generic", "ice40", "ecp5", "xc7")
ROUTED_TARGETS = ("ice40", "ecp5")
"""Targets with place and route, hence with a measured frequency."""

DEFAULT_C_TARGET = "ecp5"
"""Of a C spec that names none: it has place and route."""

_RTL_SUFFIXES = frozenset({".v", ".sv", ".vh", ".svh", ".vhd", ".vhdl"})
_KEYS = (
    *("name", "top", "parameters", "ports", "clock", "reset", "language"),
    *("target", "requirements", "tests", "context", "source"),
)
_NOT_OF_C = dict.fromkeys(
    ("parameters", "ports", "reset", "language"), "the module and its ports are made from the C function; drop it"
)
# Zero is a requirement that people mean where it says "none of these"; elsewhere nothing could meet it.
_LOWEST = {"max_luts": 1, "max_ffs": 0, "max_brams": 0, "max_dsps": 0, "max_latency_cycles": 0, "max_ii": 1}
_T = TypeVar("_T")
_MOST = 1_000_000_000
_REQUIREMENTS = (*_LOWEST, "min_fmax_mhz")


@dataclass(frozen=True)
class Asked:
    """What the command line says beyond the spec; None: nothing."""

    top: str | None = None
    target: str | None = None
    clock_ns: float | None = None
    """Only for a C spec."""
    files: Sequence[Path] = ()
    """Further C files (a testbench) and data files for the native run of a C spec."""


def load_spec(path: Path, asked: Asked = Asked()) -> Spec:
    """Read the spec at `path`, with all the files that it names.

    Raises:
        SpecError: something is wrong with it; the message lists everything found, each with its
            place (`spec.md:LINE:COL`), so that nothing is spent on a spec that cannot work.
        UsageError: what was asked beside it does not go with it.
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
    spec = _from_c(path, content) if suffix in C_SUFFIXES else _from_markdown(path, content, asked.top)
    spec = _with_asked(spec, path, asked)
    if spec.c_source is not None:
        spec = _with_period(_rooted(_with_includes(spec, path.parent), path.parent))
    return replace(spec, sha256=digest(spec))


def _from_c(path: Path, content: str) -> Spec:
    if not content.strip():
        raise SpecError("the C file is empty", where=str(path))
    return Spec(
        name=slug(path.stem),
        text="",
        c_source=SourceFile(path.name, content),
        c_language=C_SUFFIXES[path.suffix.lower()],
        requirements=Requirements(target=DEFAULT_C_TARGET),
    )


def _from_markdown(path: Path, content: str, top: str | None) -> Spec:
    problems = Problems(str(path))
    document = split(content, problems)
    problems.check()
    root = parse(document.yaml, problems) if document.yaml is not None else None
    spec = Spec(name=_default_name(path), text=document.prose)
    block, language = code_blocks("\n".join(content.split("\n")[document.prose_line - 1 :]), document.prose_line)
    named = top or _plain_text(root, "top")
    if _is_c(root, block, named):
        source = SourceFile(path.name, block) if block.strip() else None
        needs = Requirements(target=DEFAULT_C_TARGET)
        spec = replace(spec, c_source=source, c_language=language, requirements=needs)
    if not document.prose and (root is None or root.get("source") is None):
        hint = "say below the front matter what the design does"
        problems.add(Place(document.prose_line, 1), "the spec has no text", hint)
    if root is not None:
        hints = dict.fromkeys(_REQUIREMENTS, "put it under requirements:")
        keys = entries(root, "the front matter", _KEYS, problems, hints=hints)
        spec = _Reader(keys, path.parent, problems).read(spec)
    problems.check()
    return spec


def _is_c(root: Mapping | None, block: str, top: str | None) -> bool:
    if root is not None and root.get("source") is not None:
        return True
    if root is not None and root.get("ports") is not None:
        return False
    functions = defined_functions(block)
    return top in functions if top else bool(functions)


def _plain_text(root: Mapping | None, key: str) -> str | None:
    node = root.get(key) if root is not None else None
    return node.text.strip() if isinstance(node, Scalar) else None


def _with_asked(spec: Spec, path: Path, asked: Asked) -> Spec:
    """Let the command line's words stand over the spec's."""
    if spec.c_source is None and (asked.clock_ns is not None or asked.files):
        flag = "--tb" if asked.clock_ns is None else "--clock"
        hint = "only for C; here it is said in the front matter: requirements: {min_fmax_mhz: 100}"
        raise UsageError(f"{flag} does not go with a spec in prose", where=str(path), hint=hint)
    needs = replace(spec.requirements, target=asked.target or spec.requirements.target)
    if needs.min_fmax_mhz is not None and needs.target not in ROUTED_TARGETS:
        hint = f"use --target {' or '.join(ROUTED_TARGETS)}"
        message = f"min_fmax_mhz cannot be measured for the target {needs.target}: there is no place and route for it"
        raise SpecError(message, where=str(path), hint=hint)
    extra = []
    for file in asked.files:
        try:
            content = read_text_file(file)
        except UsageError as error:
            raise UsageError(error.message, where=str(file), hint=error.hint) from None
        extra.append(SourceFile(Path(os.path.relpath(file, path.parent)).as_posix(), content))
    context = {f.path: f for f in (*spec.context_files, *extra)}
    if spec.c_source is not None:
        context.pop(spec.c_source.path, None)
    clock_ns = asked.clock_ns or spec.clock_ns
    return replace(
        spec, top=asked.top or spec.top, requirements=needs, clock_ns=clock_ns, context_files=tuple(context.values())
    )


def _with_includes(spec: Spec, folder: Path) -> Spec:
    assert spec.c_source is not None
    known = {f.path for f in spec.context_files}
    found = [f for f in included_files([spec.c_source, *spec.context_files], folder) if f.path not in known]
    return replace(spec, context_files=(*spec.context_files, *found))


def _rooted(spec: Spec, folder: Path) -> Spec:
    """Give the files paths from a folder that holds them all, so that none climbs out with `..`."""
    assert spec.c_source is not None
    files = (spec.c_source, *spec.context_files)
    above = max(Path(f.path).parts.count("..") for f in files)
    if not above:
        return spec
    base = PurePosixPath(*folder.absolute().parts[-above:])
    placed = [replace(f, path=os.path.normpath(base / f.path)) for f in files]
    return replace(spec, c_source=placed[0], context_files=tuple(placed[1:]))


def _with_period(spec: Spec) -> Spec:
    """Make a clock that was asked for a requirement where it can be measured, and the other way round."""
    needs, period = spec.requirements, spec.clock_ns
    if period is None:
        return spec if needs.min_fmax_mhz is None else replace(spec, clock_ns=1000 / needs.min_fmax_mhz)
    if needs.target in ROUTED_TARGETS:
        needs = replace(needs, min_fmax_mhz=max(needs.min_fmax_mhz or 0.0, round(1000 / period, 6)))
    return replace(spec, requirements=needs)


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
        if spec.c_source is not None or "source" in self.keys:
            return self._read_c(spec)
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

    def _read_c(self, spec: Spec) -> Spec:
        for key, hint in _NOT_OF_C.items():
            if key in self.keys:
                self.problems.add(self.keys[key].place, f"{key} does not go with a C source", hint)
        spec = self._with_source(spec) if "source" in self.keys else spec
        return replace(
            spec,
            name=self._read("name", self._name) or spec.name,
            top=self._read("top", _function_name),
            clock_ns=self._read("clock", _period),
            requirements=self._requirements(DEFAULT_C_TARGET),
            tests=self.files.tests(self.keys["tests"]) if "tests" in self.keys else (),
            context_files=self.files.context(self.keys["context"]) if "context" in self.keys else (),
        )

    def _with_source(self, spec: Spec) -> Spec:
        node = self.keys["source"]
        file = self.files.source(node)
        if file is None:
            return spec
        language = C_SUFFIXES.get(Path(file.path).suffix.lower())
        if language is None:
            self.problems.add(node.place, f"source {file.path} is no C file", f"one of {', '.join(C_SUFFIXES)}")
            return spec
        return replace(spec, c_source=file, c_language=language)

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

    def _requirements(self, default_target: str = "generic") -> Requirements:
        target = self._read("target", lambda n, p: choice(n, "target", TARGETS, p)) or default_target
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


def _function_name(node: Node, problems: Problems) -> str | None:
    """Read the top function's name: C's identifiers may be keywords of Verilog."""
    name = text(node, "top", problems)
    if name and not name.isidentifier():
        problems.add(node.place, f"top {name[:60]!r} is not the name of a C function")
        return None
    return name


def _period(node: Node, problems: Problems) -> float | None:
    """Read `clock: 10ns` or `clock: {period_ns: 10}` of a C spec."""
    if isinstance(node, Mapping):
        keys = entries(node, "clock", ("period_ns",), problems)
        return positive_number(keys["period_ns"], "period_ns", problems) if "period_ns" in keys else None
    written = text(node, "clock", problems)
    if written is None:
        return None
    try:
        return period_ns(written)
    except ValueError as error:
        problems.add(node.place, str(error), f"of a C function, clock is its period: {CLOCK_FORMS}")
        return None
