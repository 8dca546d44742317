"""Render the templates in prompts/; every word that the model is told comes from there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import jinja2

from rtlagent.config import resource_dir
from rtlagent.errors import ConfigError
from rtlagent.types import Requirements, SourceFile, Spec, digest

MAX_CONTEXT_CHARS = 120_000
"""Existing files are shown up to this many characters in all; further ones are only named."""


@dataclass(frozen=True)
class Prompts:
    """The templates: the project's own folder first, then the shipped ones."""

    override: Path | None = None

    @cached_property
    def _environment(self) -> jinja2.Environment:
        folders = [f for f in (self.override, resource_dir("prompts")) if f is not None]
        return jinja2.Environment(
            loader=jinja2.FileSystemLoader(folders),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,  # prompts are plain text
        )

    def render(self, name: str, **values: object) -> str:
        """Render prompts/NAME.md.j2.

        Raises:
            ConfigError: the template is missing or broken (a project's own one).
        """
        try:
            return self._environment.get_template(f"{name}.md.j2").render(**values).strip() + "\n"
        except jinja2.TemplateError as error:
            raise ConfigError(f"the prompt cannot be rendered: {error}", where=f"prompts/{name}.md.j2") from error

    def sha256(self) -> str:
        """Hex digest over all templates in use, for the run's record."""
        names = self._environment.list_templates(extensions=["j2"])
        loader = self._environment.loader
        assert loader is not None
        return digest([[n, loader.get_source(self._environment, n)[0]] for n in names])


def spec_prompt(prompts: Prompts, spec: Spec, decisions: Sequence[tuple[str, str]]) -> str:
    """Render the specification with everything that the user fixed."""
    shown, omitted = _fit(spec.context_files)
    return prompts.render(
        "spec",
        spec=spec,
        fixed=_fixed_lines(spec),
        decisions=[{"question": q, "answer": a} for q, a in decisions],
        context_files=shown,
        omitted=omitted,
        test_names=[t.source.path for t in spec.tests],
    )


def requirement_text(needs: Requirements) -> str:
    """Spell the requirements out in one line."""
    parts = [
        f"at most {value} {unit}"
        for value, unit in (
            (needs.max_luts, "LUTs"),
            (needs.max_ffs, "flip-flops"),
            (needs.max_brams, "block RAMs"),
            (needs.max_dsps, "DSP blocks"),
            (needs.max_latency_cycles, "cycles of latency"),
        )
        if value is not None
    ]
    if needs.min_fmax_mhz is not None:
        parts.append(f"at least {needs.min_fmax_mhz:g} MHz after place-and-route")
    return ", ".join(parts)


def _fixed_lines(spec: Spec) -> list[str]:
    lines = [f"top module: {spec.top}"] if spec.top else []
    lines += [f"parameter {p.name}, default {p.default}" for p in spec.parameters]
    for port in spec.ports:
        size = "" if port.width == 1 else f" [{port.width} bits]" if port.width else " [width from a parameter]"
        signed = " signed" if port.signed else ""
        about = f": {port.description}" if port.description else ""
        lines.append(f"{port.direction}{signed}{size} {port.name}{about}")
    if spec.clock:
        lines.append(f"clock: {spec.clock.port}, {spec.clock.edge}")
    if spec.reset:
        kind = "synchronous" if spec.reset.synchronous else "asynchronous"
        lines.append(f"reset: {spec.reset.port}, active {spec.reset.active}, {kind}")
    lines.append(f"language: {language_name(spec.language)}")
    needs = requirement_text(spec.requirements)
    if needs:
        lines.append(f"required on {spec.requirements.target}: {needs}")
    return lines


def language_name(language: str) -> str:
    """Name the language as an engineer would."""
    return "SystemVerilog (IEEE 1800-2017)" if language == "systemverilog" else "Verilog-2005"


def _fit(files: Sequence[SourceFile]) -> tuple[list[SourceFile], list[str]]:
    shown: list[SourceFile] = []
    omitted: list[str] = []
    left = MAX_CONTEXT_CHARS
    for file in files:
        if len(file.text) <= left:
            shown.append(file)
            left -= len(file.text)
        else:
            omitted.append(f"{file.path} ({len(file.text)} characters)")
    return shown, omitted
