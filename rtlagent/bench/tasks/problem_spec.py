"""From a suite's problem to the spec that the agent works on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rtlagent.bench.problem import Problem
from rtlagent.errors import UsageError
from rtlagent.spec import LANGUAGES, load_spec
from rtlagent.spec.names import is_plain_path, slug
from rtlagent.types import Requirements, Spec, digest

SPEC_FOLDER = "spec"
_C_TARGET = "ecp5"
_CPP_SUFFIXES = (".cpp", ".cc", ".cxx", ".hpp")


def spec_of(problem: Problem, folder: Path) -> Spec:
    """Return the spec of a problem; its text is laid out in `folder` only if it has front matter.

    Raises:
        UsageError: the problem's text is no spec.
    """
    text = problem.spec_text.replace("\0", "\ufffd")
    spec = Spec(name=slug(problem.name), text=text.strip(), language=_language(problem))
    if text.startswith("---\n") and problem.c_source is None:
        spec = replace(_from_front_matter(problem, text, folder), name=slug(problem.name))
    known = {f.path for f in spec.context_files}
    context = (*spec.context_files, *(f for f in problem.context if f.path not in known))
    spec = replace(spec, top=problem.top or spec.top, context_files=context, sha256="")
    if problem.c_source is not None:
        cpp = problem.c_source.path.endswith(_CPP_SUFFIXES)
        needs = Requirements(target=_C_TARGET)
        spec = replace(spec, c_source=problem.c_source, c_language="c++" if cpp else "c", requirements=needs)
    return replace(spec, sha256=digest(spec))


def _from_front_matter(problem: Problem, text: str, folder: Path) -> Spec:
    """Read the text as `rtlagent generate` would, beside the files that it may name."""
    place = folder / SPEC_FOLDER
    for file in problem.context:
        if not is_plain_path(file.path):
            raise UsageError(f"a context file cannot be called {file.path!r}", where=problem.name)
        path = place / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8")
    place.mkdir(parents=True, exist_ok=True)
    (place / "spec.md").write_text(text, encoding="utf-8")
    return load_spec(place / "spec.md")


def _language(problem: Problem) -> str:
    return problem.language if problem.language in LANGUAGES else "verilog"
