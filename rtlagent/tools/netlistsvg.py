"""Draw a netlist with netlistsvg, where Node and it are installed, and take only shapes over from what it made."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from rtlagent.config import ToolConfig
from rtlagent.errors import ToolError
from rtlagent.printable import printable
from rtlagent.tools.sandbox import run
from rtlagent.tools.scratch import scratch_folder

OVERRIDE = "RTLAGENT_NETLISTSVG"
"""Environment variable: path of netlistsvg, where it is not on the PATH."""
_MAX_SVG = 4_000_000
_WALL_S, _CPU_S = 60.0, 60
_SVG = "{http://www.w3.org/2000/svg}"
_SHAPES = frozenset({"g", "line", "path", "rect", "circle", "ellipse", "polyline", "polygon", "text"})
_COORDINATES = frozenset(
    {"x", "y", "x1", "x2", "y1", "y2", "r", "rx", "ry", "cx", "cy", "d", "points", "width", "height", "transform"}
)
_PLAIN = re.compile(r"[\w\s.,()+-]*\Z")
_ANCHORS = {"nodelabel": "middle", "inputPortLabel": "end"}


@dataclass(frozen=True)
class Drawing:
    """A schematic as markup of plain shapes: every text is escaped, and there is no style, script or link."""

    width: float
    height: float
    markup: str
    """What goes inside of the `svg` element."""


def find_netlistsvg() -> tuple[str, Path] | None:
    """Return netlistsvg's script and the folder that holds it and all it needs; None: it or Node is missing."""
    named = os.environ.get(OVERRIDE, "").strip() or shutil.which("netlistsvg")
    if not named or shutil.which("node") is None:
        return None
    script = Path(named).resolve()
    modules = next((p for p in script.parents if p.name == "node_modules"), None)
    return (str(script), modules) if modules is not None and script.is_file() else None


def draw(netlist: Mapping[str, Any], *, config: ToolConfig) -> str:
    """Return the SVG of the top module of a netlist that Yosys's `write_json` wrote; see `take_shapes`.

    Raises:
        ToolError: netlistsvg is not there, broke, or took too long.
        SandboxError: nothing could be run.
    """
    found = find_netlistsvg()
    if found is None:
        raise ToolError("netlistsvg is not installed", hint="npm install -g netlistsvg")
    script, modules = found
    limits = replace(config.limits, wall_s=min(config.limits.wall_s, _WALL_S), cpu_s=min(config.limits.cpu_s, _CPU_S))
    with scratch_folder() as work:
        (work / "netlist.json").write_text(json.dumps(netlist))
        argv = ["node", script, "netlist.json", "-o", "out.svg"]
        process = run(argv, work=work, config=config, limits=limits, readonly=(modules,))
        made = work / "out.svg"
        if process.limit or not made.is_file():
            last = process.stderr.strip().splitlines()[-1:] or [f"it ended with code {process.returncode}"]
            why = f"it was stopped at its {process.limit} limit" if process.limit else last[0][:200]
            raise ToolError(f"netlistsvg drew nothing: {why}")
        if made.stat().st_size > _MAX_SVG:
            raise ToolError(f"netlistsvg's drawing is larger than {_MAX_SVG // 1_000_000} MB")
        return made.read_text(errors="replace")


def take_shapes(svg: str) -> Drawing:
    """Return the shapes of an SVG whose names come from a design that may be hostile.

    Raises:
        ToolError: it is not such a drawing.
    """
    if "<!DOCTYPE" in svg or "<!ENTITY" in svg:
        raise ToolError("the drawing declares entities")
    try:
        root = ElementTree.fromstring(svg)
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
    except (ElementTree.ParseError, KeyError, ValueError, RecursionError) as error:
        raise ToolError(f"the drawing is unreadable: {type(error).__name__}") from error
    return Drawing(width, height, "".join(_shape(child) for child in root))


def _shape(node: ElementTree.Element) -> str:
    tag = str(node.tag).removeprefix(_SVG)
    if tag not in _SHAPES:
        return ""
    attributes = "".join(f' {name}="{value}"' for name, value in _attributes(node, tag))
    text = escape(printable(node.text.strip()[:80])) if tag == "text" and node.text else ""
    inside = text + "".join(_shape(child) for child in node)
    return f"<{tag}{attributes}>{inside}</{tag}>"


def _attributes(node: ElementTree.Element, tag: str) -> Iterator[tuple[str, str]]:
    classes = node.attrib.get("class", "").split()
    for name, value in node.attrib.items():
        if name in _COORDINATES and _PLAIN.match(value):
            yield name, value
    if tag == "text":
        anchor = next((_ANCHORS[c] for c in classes if c in _ANCHORS), "")
        if anchor:
            yield "text-anchor", anchor
    elif tag != "g":
        is_net = any(c.startswith("net_") for c in classes)
        body = "dot" if "splitjoinBody" in classes or (is_net and tag == "circle") else "net" if is_net else "shape"
        yield "class", body
