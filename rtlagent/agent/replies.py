"""Read the blocks that a model's answer is made of: JSON, FILE and EDIT."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from rtlagent.agent.edits import Edit
from rtlagent.types import SourceFile

_FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})(?P<tag>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.M | re.S)
_FILE = re.compile(r"^[#*\s/]*FILE:\s*`?(?P<path>[^\s`*]+)`?\**\s*$", re.M)
_EDIT = re.compile(r"^[#*\s/]*EDIT:\s*`?(?P<path>[^\s`*]+)`?\**\s*$", re.M)
_CHANGE = re.compile(r"^<{5,} ?SEARCH[ \t]*\n(?P<old>.*?)^={5,}[ \t]*\n(?P<new>.*?)^>{5,} ?REPLACE[ \t]*$", re.M | re.S)
_MARK = re.compile(r"^[*\s]*(?P<word>DISPUTE|INFEASIBLE):\s*(?P<reason>\S.*)", re.M | re.S)
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
    blocks = [m["body"] for m in _FENCE.finditer(text) if m["tag"].strip().lower() in ("json", "")]
    first, last = text.find("{"), text.rfind("}")
    if 0 <= first < last:
        blocks.append(text[first : last + 1])
    problem = "it has no JSON block"
    for block in blocks:
        try:
            value = json.loads(block)
        except json.JSONDecodeError as error:
            problem = f"its JSON is malformed: {error.msg} at line {error.lineno} column {error.colno}"
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
    blocks = [m["body"] for m in _FENCE.finditer(text) if m["tag"].strip().lower() in ("python", "py", "python3", "")]
    if len(blocks) > 1:
        named = [f.text for f in _named_files(text) if f.path.endswith(".py")]
        blocks = named or blocks
    if len(blocks) != 1:
        raise UnusableReplyError(f"it has {len(blocks)} Python files; exactly one is needed, `FILE: {path}`")
    return SourceFile(path, blocks[0])


def read_design(text: str, *, default_path: str) -> DesignReply:
    """Return the files and edits of an answer, or its dispute.

    A lone code block without a FILE line becomes `default_path`: small local models often forget it.

    Raises:
        UnusableReplyError: nothing usable, unsafe or repeated paths, or an EDIT without a block.
    """
    outside = _FENCE.sub("", text)
    mark = _MARK.search(outside)
    edits = _read_edits(text)
    files = _named_files(text)
    if not files and not edits and not mark:
        blocks = [m["body"] for m in _FENCE.finditer(text) if m["tag"].strip().lower() in _CODE_TAGS]
        modules = [b for b in blocks if re.search(r"^\s*module\b", b, re.M)]
        if len(modules) == 1:
            files = (SourceFile(default_path, modules[0]),)
        elif modules:
            raise UnusableReplyError("it has several code blocks without `FILE: path` lines")
    paths = [f.path for f in files]
    if len(set(paths)) != len(paths):
        raise UnusableReplyError(f"it gives the same file twice: {', '.join(sorted(paths))}")
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
    bad = pure.is_absolute() or any(p.startswith(".") for p in pure.parts) or not re.fullmatch(r"[\w./+-]+", path)
    if bad or len(path) > 200 or not pure.parts:
        raise UnusableReplyError(f"the path {path!r} is not allowed: use a plain relative path such as rtl/name.v")
    if pure.suffix not in _SUFFIX:
        raise UnusableReplyError(f"the path {path!r} has an unexpected suffix; use one of {' '.join(sorted(_SUFFIX))}")
    return str(pure)


def _named_files(text: str) -> tuple[SourceFile, ...]:
    found = []
    for name in _FILE.finditer(text):
        block = _FENCE.search(text, name.end())
        if block is None or text[name.end() : block.start()].strip():
            raise UnusableReplyError(f"`FILE: {name['path']}` is not followed by a fenced block")
        found.append(SourceFile(check_path(name["path"]), block["body"]))
    return tuple(found)


def _read_edits(text: str) -> tuple[Edit, ...]:
    heads = list(_EDIT.finditer(text))
    edits = []
    ends = [*(h.start() for h in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=False):
        section = text[head.end() : end]
        changes = [Edit(check_path(head["path"]), m["old"], m["new"]) for m in _CHANGE.finditer(section)]
        if not changes:
            raise UnusableReplyError(f"`EDIT: {head['path']}` has no SEARCH/REPLACE block")
        edits.extend(changes)
    return tuple(edits)


def _first_prose(text: str) -> str:
    cut = re.split(r"^(?:[#*\s/]*(?:FILE|EDIT):|`{3,}|<{5,} ?SEARCH)", text, maxsplit=1, flags=re.M)[0]
    return " ".join(cut.split())[:400]
