"""Read the blocks that a model's answer is made of: JSON, FILE and EDIT."""

from __future__ import annotations

import ast
import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from rtlagent.agent.edits import Edit
from rtlagent.agent.fences import blocks
from rtlagent.spec.names import is_plain_path
from rtlagent.types import SourceFile

# Blanks but no line ends: through them a page of empty lines would be read once for each of its lines.
_FILE = re.compile(r"^[#* \t/]*FILE:[ \t]*`?(?P<path>[^\s`*]+)`?\**[ \t\r]*$", re.M)
_EDIT = re.compile(r"^[#* \t/]*EDIT:[ \t]*`?(?P<path>[^\s`*]+)`?\**[ \t\r]*$", re.M)
_SEARCH, _DIVIDER, _REPLACE = (re.compile(p + r"[ \t]*") for p in ("<{5,} ?SEARCH", "={5,}", ">{5,} ?REPLACE"))
_MARK = re.compile(r"^[* \t]*(?P<word>DISPUTE|INFEASIBLE):\s*(?P<reason>\S.*)", re.M | re.S)
_CODE_TAGS = {"verilog", "systemverilog", "v", "sv", ""}
_SUFFIX = {".v", ".sv", ".vh", ".svh", ".py", ".mem", ".hex"}


class UnusableReplyError(Exception):
    """The answer does not have the form that the task asked for; the text says why, for the model."""


@dataclass(frozen=True)
class DesignReply:
    """What a generate or repair answer holds."""

    files: tuple[SourceFile, ...] = ()
    edits: tuple[Edit, ...] = ()
    dispute: str = ""
    infeasible: str = ""
    note: str = ""
    """The prose before the first block: the cause, in the model's words."""


def read_json(text: str) -> Mapping[str, Any]:
    """Return the object in the answer's JSON block.

    Raises:
        UnusableReplyError: there is none, or it is not an object.
    """
    candidates = [b.body for b in blocks(text) if b.tag in ("json", "")]
    first, last = text.find("{"), text.rfind("}")
    if 0 <= first < last:
        candidates.append(text[first : last + 1])
    problem = "it has no JSON block"
    for block in candidates:
        try:
            value = json.loads(block)
            # A text such as "\\ud800" has half a surrogate pair, which no file and no terminal takes.
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        except json.JSONDecodeError as error:
            problem = f"its JSON is malformed: {error.msg} at line {error.lineno} column {error.colno}"
            continue
        except (ValueError, RecursionError):
            problem = "its JSON has a number that is too long, or is nested too deeply"
            continue
        if isinstance(value, dict):
            return value
        problem = "its JSON is not an object"
    raise UnusableReplyError(problem)


def read_python(text: str, path: str) -> SourceFile:
    """Return the one Python file of the answer, named `path` whatever the model called it.

    Raises:
        UnusableReplyError: there is none or there are several, or it does not compile.
    """
    found = [b.body for b in blocks(text) if b.tag in ("python", "py", "python3", "")]
    if len(found) > 1:
        named = [f.text for f in _named_files(text) if f.path.endswith(".py")]
        found = named or found
    if len(found) != 1:
        raise UnusableReplyError(f"it has {len(found)} Python files; exactly one is needed, `FILE: {path}`")
    try:
        ast.parse(found[0])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # MemoryError: nested too deeply
        said = getattr(error, "msg", "") or str(error) or "nested too deeply"
        raise UnusableReplyError(f"{path} line {getattr(error, 'lineno', None)}: {said}") from error
    return SourceFile(path, found[0])


def read_design(text: str, *, default_path: str) -> DesignReply:
    """Return the files and edits of an answer, or its dispute.

    A lone code block without a FILE line becomes `default_path`: small local models often forget it.

    Raises:
        UnusableReplyError: nothing usable, unsafe or repeated paths, or an EDIT without a block.
    """
    mark = _MARK.search(_outside(text))
    edits = _read_edits(text)
    files = _named_files(text)
    if not files and not edits and not mark:
        code = [b.body for b in blocks(text) if b.tag in _CODE_TAGS]
        modules = [b for b in code if re.search(r"^[ \t]*module\b", b, re.M)]
        if len(modules) == 1:
            files = (SourceFile(default_path, modules[0]),)
        elif modules:
            raise UnusableReplyError("it has several code blocks without `FILE: path` lines")
    paths = [f.path for f in files]
    if len(set(paths)) != len(paths):
        raise UnusableReplyError(f"it gives the same file twice: {', '.join(sorted(paths))}")
    folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    if inside := sorted(folders & set(paths)):
        raise UnusableReplyError(f"it gives a file and a folder the same name: {', '.join(inside)}")
    both = {e.path for e in edits} & set(paths)
    if both:
        raise UnusableReplyError(f"it both edits and rewrites {', '.join(sorted(both))}")
    if not files and not edits and not mark:
        raise UnusableReplyError("it has neither a FILE nor an EDIT block")
    reason = mark["reason"].strip() if mark and not files and not edits else ""
    return DesignReply(
        files=files,
        edits=edits,
        dispute=reason if mark and mark["word"] == "DISPUTE" else "",
        infeasible=reason if mark and mark["word"] == "INFEASIBLE" else "",
        note=_first_prose(text),
    )


def check_path(path: str) -> str:
    """Return a model's path if it is safe to use.

    Raises:
        UnusableReplyError: absolute, climbing, hidden, odd characters, or an unknown suffix.
    """
    pure = PurePosixPath(path)
    if not is_plain_path(path):
        raise UnusableReplyError(f"the path {path!r} is not allowed: use a plain relative path such as rtl/name.v")
    if pure.suffix not in _SUFFIX:
        raise UnusableReplyError(f"the path {path!r} has an unexpected suffix; use one of {' '.join(sorted(_SUFFIX))}")
    return str(pure)


def _named_files(text: str) -> tuple[SourceFile, ...]:
    found = []
    fenced = list(blocks(text))
    starts = [b.start for b in fenced]
    for name in _FILE.finditer(text):
        after = bisect_left(starts, name.end())
        if after and name.start() < fenced[after - 1].end:
            continue  # a comment such as `// FILE: rtl/a.v` inside a block
        if after == len(fenced) or text[name.end() : starts[after]].strip():
            raise UnusableReplyError(f"`FILE: {name['path']}` is not followed by a fenced block")
        found.append(SourceFile(check_path(name["path"]), fenced[after].body))
    return tuple(found)


def _outside(text: str) -> str:
    kept, at = [], 0
    for block in blocks(text):
        kept.append(text[at : block.start])
        at = block.end
    return "".join([*kept, text[at:]])


def _read_edits(text: str) -> tuple[Edit, ...]:
    heads = list(_EDIT.finditer(text))
    edits = []
    ends = [*(h.start() for h in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=False):
        section = text[head.end() : end]
        changes = [Edit(check_path(head["path"]), old, new) for old, new in _changes(section)]
        if not changes:
            raise UnusableReplyError(f"`EDIT: {head['path']}` has no SEARCH/REPLACE block")
        edits.extend(changes)
    return tuple(edits)


def _changes(section: str) -> Iterator[tuple[str, str]]:
    """Yield the old and the new text of each complete SEARCH/REPLACE block."""
    parts: list[list[str]] = []
    for line in re.findall(r".*\n|.+", section):
        bare = line.removesuffix("\n")
        if not parts:
            parts = [[]] if _SEARCH.fullmatch(bare) else []
        elif len(parts) == 1 and _DIVIDER.fullmatch(bare):
            parts.append([])
        elif len(parts) == 2 and _REPLACE.fullmatch(bare):
            yield "".join(parts[0]), "".join(parts[1])
            parts = []
        else:
            parts[-1].append(line)


def _first_prose(text: str) -> str:
    cut = re.split(r"^(?:[#* \t/]*(?:FILE|EDIT):|`{3,}|<{5,} ?SEARCH)", text, maxsplit=1, flags=re.M)[0]
    return " ".join(cut.split())[:400]
