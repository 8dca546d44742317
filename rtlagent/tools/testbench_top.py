"""Find the root module of a testbench or a design from its text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rtlagent.errors import UsageError
from rtlagent.types import SourceFile, TestFile

_NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.S)
_MODULE = re.compile(r"\b(?:module|program)\s+(?:automatic\s+|static\s+)?([A-Za-z_]\w*)")


def find_top(test: TestFile, files: Sequence[SourceFile]) -> str:
    """Return `test.top`, or the only module of the testbench that nobody instantiates.

    Raises:
        UsageError: there is none, or more than one.
    """
    if test.top is not None:
        return test.top
    tops = top_modules([test.source], [*test.support, *files])
    if len(tops) == 1:
        return tops[0]
    what = f"has several top modules: {', '.join(tops)}" if tops else "has no module that nobody instantiates"
    raise UsageError(f"{test.source.path} {what}", hint="name the testbench's top module")


def top_modules(files: Sequence[SourceFile], others: Sequence[SourceFile] = ()) -> list[str]:
    """Return the modules declared in `files` that nobody instantiates, neither there nor in `others`."""
    texts = [" ".join(_NOISE.sub(" ", f.text).split()) for f in (*files, *others)]
    declared = dict.fromkeys(name for text in texts[: len(files)] for name in _MODULE.findall(text))
    return [name for name in declared if not any(_instance(name).search(text) for text in texts)]


def _instance(name: str) -> re.Pattern[str]:
    start = rf"(?<![\w$.])(?<!module )(?<!program ){re.escape(name)}"
    return re.compile(rf"{start} [A-Za-z_\\][\w$]* ?[\[(]|{start} ?# ?\(")
