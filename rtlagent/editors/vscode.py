"""What VS Code gets: tasks with a problem matcher, recommended extensions and the MCP server.

`merge_*` take the text of an existing file and return the new one. What is there is kept to the letter; a task of ours
is known by its label, and one that the user has changed stays changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rtlagent.editors import jsonc
from rtlagent.errors import UsageError

DIAGNOSTIC = r"^(.+?):(\d+):(\d+): (error|warning|note): (.*?)(?: \[([^\[\]\s]+)\])?$"
"""JavaScript's and Python's reading of our diagnostics: path, line, column, severity, message, code."""
BEGINS = r"^watch: begin$"
ENDS = r"^watch: end( |$)"
"""What `rtlagent watch` prints around each round."""
EXTENSIONS = ("mshr-h.veriloghdl", "ms-python.python")
"""Published ones; ours is installed from its .vsix."""


@dataclass(frozen=True)
class Layout:
    """Which files of the folder the tasks are about, relative to it, `/` between parts."""

    rtl: tuple[str, ...] = ("rtl/*.v",)
    """Paths, or globs that the shell expands."""
    tests: tuple[str, ...] = ()
    """cocotb tests; empty: the file that is open."""
    target: str = "ice40"


def matcher(*, background: bool = False) -> dict[str, Any]:
    """Return the problem matcher for every diagnostic of ours; VS Code shows a `note` as information."""
    found: dict[str, Any] = {
        "owner": "rtlagent",
        "source": "rtlagent",
        "fileLocation": ["autoDetect", "${workspaceFolder}"],
        "pattern": {
            "regexp": DIAGNOSTIC,
            "file": 1,
            "line": 2,
            "column": 3,
            "severity": 4,
            "message": 5,
            "code": 6,
        },
    }
    if background:
        found["background"] = {"activeOnStart": True, "beginsPattern": BEGINS, "endsPattern": ENDS}
    return found


def tasks(layout: Layout) -> list[dict[str, Any]]:
    """Return the tasks, in the order of their use."""
    files = " ".join(layout.rtl)
    tests = " ".join(f"--test {t}" for t in layout.tests or ("${relativeFile}",))
    watched = " ".join(f"--test {t}" for t in layout.tests)
    return [
        _task(
            "generate", "rtlagent generate ${relativeFile} --plain", "build", "Judged Verilog from the open spec or C"
        ),
        _task("lint", f"rtlagent lint {files}", "build", "Check the RTL without running it"),
        _task("sim", f"rtlagent sim {files} {tests} --keep runs/sim", "test", "Run the cocotb tests"),
        _task("synth", f"rtlagent synth {files} --target {layout.target}", "build", "Count LUT, FF, BRAM and DSP"),
        _task("bench", "rtlagent bench --help", "test", "Benchmark suites: put your own bench command here"),
        {
            **_task("watch", f"rtlagent watch {files} {watched}".rstrip(), "build", "Lint and simulate on every save"),
            "isBackground": True,
            "problemMatcher": matcher(background=True),
        },
    ]


def merge_tasks(text: str | None, layout: Layout, where: str) -> str:
    """Return tasks.json with our tasks in it; one that is there already, as the user has it, stays.

    Raises:
        UsageError: the text is not JSON with comments, or its `tasks` is no list.
    """
    text = text if text and text.strip() else '{\n  "version": "2.0.0",\n  "tasks": []\n}\n'
    root = _object(text, where)
    if "version" not in root.members:
        text = jsonc.add_member(text, root, "version", "2.0.0")
    text = _with_list(text, "tasks", where)
    for task in tasks(layout):
        array = jsonc.parse(text).members["tasks"]
        labels = [t.get("label", t.get("taskName")) for t in array.value if isinstance(t, dict)]
        if task["label"] not in labels:
            text = jsonc.add_item(text, array, task)
    return text


def merge_extensions(text: str | None, where: str) -> str:
    """Return extensions.json with our recommendations in it; those that the user does not want stay away.

    Raises:
        UsageError: the text is not JSON with comments, or a list in it is none.
    """
    text = _with_list(text if text and text.strip() else "{}\n", "recommendations", where)
    for name in EXTENSIONS:
        root = jsonc.parse(text)
        unwanted = root.members.get("unwantedRecommendations")
        known = [*root.members["recommendations"].value, *(unwanted.value if unwanted else [])]
        if name.lower() not in [str(k).lower() for k in known]:
            text = jsonc.add_item(text, root.members["recommendations"], name)
    return text


def merge_mcp(text: str | None, where: str) -> str:
    """Return mcp.json with our server in it; one of that name stays.

    Raises:
        UsageError: the text is not JSON with comments, or its `servers` is no object.
    """
    text = text if text and text.strip() else "{}\n"
    root = _object(text, where)
    if "servers" not in root.members:
        text = jsonc.add_member(text, root, "servers", {})
    servers = jsonc.parse(text).members["servers"]
    if not isinstance(servers.value, dict):
        raise UsageError("`servers` is not an object", where=where, hint="mend the file by hand first")
    if "rtlagent" in servers.members:
        return text
    server = {"type": "stdio", "command": "rtlagent", "args": ["mcp", "--root", "${workspaceFolder}"]}
    return jsonc.add_member(text, servers, "rtlagent", server)


def _task(name: str, command: str, group: str, detail: str) -> dict[str, Any]:
    return {
        "label": f"rtlagent: {name}",
        "type": "shell",
        "command": command,
        "detail": detail,
        "group": group,
        "problemMatcher": matcher(),
        "presentation": {"reveal": "silent", "panel": "dedicated"},
    }


def _object(text: str, where: str) -> jsonc.Node:
    try:
        root = jsonc.parse(text)
    except jsonc.JsoncError as error:
        place = f"{where}:{error.line}:{error.column}"
        raise UsageError(f"not JSON with comments: {error}", where=place, hint="mend it; nothing was changed") from None
    if not isinstance(root.value, dict):
        raise UsageError("is not an object", where=where, hint="mend the file by hand; nothing was changed")
    return root


def _with_list(text: str, name: str, where: str) -> str:
    root = _object(text, where)
    if name not in root.members:
        return jsonc.add_member(text, root, name, [])
    if not isinstance(root.members[name].value, list):
        raise UsageError(f"`{name}` is not a list", where=where, hint="mend the file by hand; nothing was changed")
    return text
