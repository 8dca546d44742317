"""The design as it stands: a schematic where one can be drawn and read, and its modules and cells as a table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from rtlagent.config import ToolConfig
from rtlagent.errors import RtlagentError
from rtlagent.printable import printable
from rtlagent.report.folder import RunFolder
from rtlagent.report.page import render
from rtlagent.report.story import Story
from rtlagent.tools.netlist import declared_name
from rtlagent.tools.netlistsvg import Drawing, draw, find_netlistsvg, take_shapes
from rtlagent.tools.scratch import scratch_folder
from rtlagent.tools.staging import stage
from rtlagent.tools.yosys import Stage, read_command, require_identifier, run_script
from rtlagent.types import SourceFile, digest
from rtlagent.workspace import write_atomic

_MOST_CELLS = 120
"""Of a drawing: more cannot be read."""
_MOST_DRAWINGS = 6
_MOST_BYTES = 16_000_000
_MOST_MODULES = 60
_WITHOUT_NODE = "A schematic needs Node and netlistsvg (npm install -g netlistsvg); the tables stand in for it."
_KINDS = (
    ("registers", ("$dff", "$adff", "$sdff", "$aldff", "$ff", "$dlatch", "$adlatch", "$sr")),
    ("memories", ("$mem",)),
    ("arithmetic", ("$add", "$sub", "$mul", "$macc", "$alu", "$div", "$mod", "$neg", "$pow", "$shl", "$shr", "$sshl")),
    ("comparisons", ("$eq", "$ne", "$lt", "$le", "$gt", "$ge")),
    ("multiplexers", ("$mux", "$pmux", "$bmux")),
)


@dataclass(frozen=True)
class ModuleView:
    """A module of the design."""

    name: str
    place: str
    ports: tuple[tuple[str, str, str], ...]
    """Name, direction, bits."""
    instances: tuple[tuple[str, str, str], ...]
    """Name, module, place."""
    cells: tuple[tuple[str, str, str], ...]
    """Kind, how many, where."""
    size: int
    """Cells."""
    drawing: Markup | None = None


@dataclass(frozen=True)
class Structure:
    """All modules, the top first."""

    modules: tuple[ModuleView, ...]
    left_out: int
    note: str
    """Why there is no schematic, or not of each module."""


def structure_html(
    folder: RunFolder, story: Story, files: Sequence[SourceFile], *, draws: bool, config: ToolConfig
) -> Markup:
    """Return the section's content.

    Args:
        folder: The run.
        story: Its story.
        files: Of the best candidate.
        draws: Yosys may be started, once for a design; False: only what an earlier report kept is shown.
        config: How it is run.
    """
    structure, why = None, "There is no design to show."
    if files and story.best is not None:
        try:
            netlist = _netlist(folder, story, files, draws=draws, config=config)
            sheets = _Sheets(folder, story.best.sha, draws, config)
            structure = _structure(netlist, story.top, sheets) if netlist else None
            why = "It was not drawn when this report was made; rtlagent report RUN draws it."
        except (RtlagentError, OSError) as error:
            why = f"It could not be drawn: {error.message if isinstance(error, RtlagentError) else error}"
    return Markup(render("structure.html.j2", structure=structure, why=why))


def _netlist(
    folder: RunFolder, story: Story, files: Sequence[SourceFile], *, draws: bool, config: ToolConfig
) -> Mapping[str, Any] | None:
    """Return the design as Yosys reads it, before any mapping; kept in the run's store."""
    assert story.best is not None
    name = f"store/structure-{story.best.sha}.json"
    kept = folder.json_of(name)
    if isinstance(kept, dict) or not draws:
        return kept if isinstance(kept, dict) else None
    top = require_identifier(story.top, "the top module")
    with scratch_folder() as work:
        staged = stage(files, work)
        stages = [
            Stage("read", read_command(files, staged)),
            Stage("hierarchy", f"hierarchy -top {top}"),
            Stage("proc", "proc"),
            Stage("clean", "opt_clean -purge"),
            Stage("memory", "memory_collect"),
            Stage("write", "write_json out.json"),
        ]
        done = run_script(stages, work=work, config=config)
        made = work / "out.json"
        if done.failed is not None or not made.is_file():
            raise RtlagentError(done.error.removeprefix("ERROR: ")[:300] or "Yosys left no netlist")
        if made.stat().st_size > _MOST_BYTES:
            raise RtlagentError(f"the design is larger than {_MOST_BYTES // 1_000_000} MB as a netlist")
        text = made.read_text(errors="replace")
    found = json.loads(text)
    if (folder.path / "store").is_dir():
        write_atomic(folder.path / name, text)
    return found if isinstance(found, dict) else None


def _structure(netlist: Mapping[str, Any], top: str, sheets: _Sheets) -> Structure:
    modules = netlist.get("modules")
    modules = modules if isinstance(modules, dict) else {}
    own = {n: m for n, m in modules.items() if isinstance(m, dict) and not _is_library(m)}
    names = sorted(own, key=lambda n: (n != top, -len(own[n].get("cells", {})), n))
    views: list[ModuleView] = []
    notes: list[str] = []
    for name in names[:_MOST_MODULES]:
        drawing, note = sheets.sheet(netlist, name) if len(views) < _MOST_DRAWINGS else (None, "")
        views.append(_view(name, own[name], own, drawing))
        notes += [note] if note else []
    return Structure(tuple(views), max(0, len(names) - _MOST_MODULES), " ".join(dict.fromkeys(notes)))


def _is_library(module: Mapping[str, Any]) -> bool:
    return bool({"blackbox", "whitebox"} & set(module.get("attributes", {})))


@dataclass(frozen=True)
class _Sheets:
    """Draws modules; each drawing is kept in the run's store."""

    folder: RunFolder
    sha: str
    draws: bool
    config: ToolConfig

    def sheet(self, netlist: Mapping[str, Any], name: str) -> tuple[Markup | None, str]:
        """Return the picture of a module, or why there is none."""
        cells = len(netlist["modules"][name].get("cells", {}))
        if not cells:
            return None, ""
        if cells > _MOST_CELLS:
            return None, f"{_plain(name)} has {cells} cells, too many for a picture that can be read."
        place = f"store/schematic-{self.sha}-{digest(name)[:10]}.svg"
        kept = self.folder.bytes_of(place)
        if kept is None and find_netlistsvg() is None:
            return None, _WITHOUT_NODE
        if kept is None and not self.draws:
            return None, ""
        try:
            text = kept.decode(errors="replace") if kept is not None else self._drawn(netlist, name, place)
            return _svg(take_shapes(text), name), ""
        except RtlagentError as error:
            return None, f"{_plain(name)} was not drawn: {error.message}."

    def _drawn(self, netlist: Mapping[str, Any], name: str, place: str) -> str:
        chosen = {n: _only_top(m, n == name) for n, m in netlist["modules"].items()}
        text = draw({"modules": chosen}, config=self.config)
        if (self.folder.path / "store").is_dir():
            write_atomic(self.folder.path / place, text)
        return text


def _svg(made: Drawing, name: str) -> Markup:
    size = f'viewBox="0 0 {made.width:g} {made.height:g}" width="{made.width:g}" height="{made.height:g}"'
    label = Markup.escape(printable(f"Schematic of {_plain(name)}"))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="sheet" {size} role="img" aria-label="{label}">'
    return Markup(f"{head}{made.markup}</svg>")


def _only_top(module: Mapping[str, Any], is_top: bool) -> dict[str, Any]:
    """Return the module with the attribute by which netlistsvg finds what to draw, or without."""
    attributes = {k: v for k, v in module.get("attributes", {}).items() if k != "top"}
    return {**module, "attributes": {**attributes, **({"top": 1} if is_top else {})}}


def _view(name: str, module: Mapping[str, Any], own: Mapping[str, Any], drawing: Markup | None) -> ModuleView:
    cells = [c for c in module.get("cells", {}).values() if isinstance(c, dict)]
    instances = [(n, c) for n, c in module.get("cells", {}).items() if isinstance(c, dict) and c.get("type") in own]
    ports = module.get("ports", {})
    return ModuleView(
        name=_plain(name),
        place=_place(module),
        ports=tuple((n, str(p.get("direction", "")), str(len(p.get("bits", ())))) for n, p in ports.items()),
        instances=tuple((_plain(n), _plain(str(c.get("type"))), _place(c)) for n, c in instances),
        cells=tuple(_cell_rows([c for c in cells if c.get("type") not in own])),
        size=len(cells),
        drawing=drawing,
    )


def _cell_rows(cells: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    """Yield kind, how many, and the lines they come from."""
    counts: Counter[str] = Counter()
    lines: dict[str, list[str]] = {}
    for cell in cells:
        kind = _kind(str(cell.get("type", "")))
        counts[kind] += 1
        place = _place(cell)
        if place and place not in lines.setdefault(kind, []):
            lines[kind].append(place)
    for kind, count in counts.most_common():
        places = sorted(lines.get(kind, []), key=_in_order)
        more = f" and {len(places) - 12} lines more" if len(places) > 12 else ""
        yield kind, str(count), ", ".join(places[:12]) + more


def _in_order(place: str) -> tuple[str, int]:
    path, _, line = place.rpartition(":")
    return path, int(line) if line.isdecimal() else 0


def _kind(cell: str) -> str:
    return next((k for k, heads in _KINDS if any(cell.startswith(h) for h in heads)), "logic")


def _place(item: Mapping[str, Any]) -> str:
    """Return `a.v:3` of the first of its places, such as `a.v:3.1-3.9|b.v:7.2-7.5`."""
    source = str(item.get("attributes", {}).get("src", "")).partition("|")[0]
    path, colon, span = source.rpartition(":")
    return f"{path}:{span.partition('.')[0]}" if colon else source


def _plain(name: str) -> str:
    """Return a module's or instance's name as a user knows it."""
    return declared_name(name).strip("\\")
