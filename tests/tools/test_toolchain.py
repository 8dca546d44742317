"""The tools are found with their versions, and what is missing comes with the line that installs it."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rtlagent.cli import app
from rtlagent.config import ToolConfig
from rtlagent.tools import toolchain
from rtlagent.tools.toolchain import Tool, find_tools, tool_versions

ROOT = Path(__file__).resolve().parents[2]


def by_name(tools: tuple[Tool, ...]) -> dict[str, Tool]:
    return {t.name: t for t in tools}


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_everything_required_is_found_here(tool_config: ToolConfig) -> None:
    tools = by_name(find_tools(tool_config))
    assert [t.name for t in tools.values() if t.required and not t.usable] == []
    assert tools["Python"].version == sys.version.split()[0]
    assert all(t.version and re.match(r"\d+\.\d+", t.version) for t in tools.values() if t.usable)
    assert all(t.purpose and t.install for t in tools.values())


def test_without_programs_on_the_path(tool_config: ToolConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    tools = by_name(find_tools(tool_config))
    for name, install in {"g++": "g++", "iverilog": "iverilog", "bwrap": "bubblewrap"}.items():
        assert (tools[name].version, tools[name].usable) == (None, False)
        assert tools[name].install == f"apt-get install {install}"
    assert tools["verilator"].usable


@pytest.mark.parametrize(
    ("script", "version", "problem"),
    [
        ("echo 'Icarus Verilog version 12.0 (stable) ()'", "12.0", ""),
        ("echo 'Icarus Verilog version 10.3 (stable) ()'", "10.3", "11.0 or newer is needed"),
        ("echo broken >&2; exit 3", "unknown", "ended with code 3: broken"),
        ("echo no number", "unknown", ""),
    ],
)
def test_a_programs_answer_is_judged(
    tool_config: ToolConfig,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    version: str,
    problem: str,
) -> None:
    program(tmp_path, "iverilog", script)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    tool = by_name(find_tools(tool_config))["iverilog"]
    assert (tool.version, tool.problem, tool.usable) == (version, problem, problem == "")


def test_a_program_that_hangs_or_cannot_start(
    tool_config: ToolConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "_ANSWER_S", 0.3)
    program(tmp_path, "g++", "exec sleep 30")
    (tmp_path / "make").write_text("#!/nowhere/at/all\n")
    (tmp_path / "make").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    tools = by_name(find_tools(tool_config))
    assert tools["g++"].problem == "no answer within 0.3 s"
    assert tools["make"].problem.startswith("cannot be started")


def test_a_sandbox_that_the_kernel_refuses(
    tool_config: ToolConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(
        tmp_path,
        "bwrap",
        '[ "$1" = --version ] && { echo bubblewrap 0.8.0; exit; }\n'
        "echo 'bwrap: No permissions to create new namespace' >&2; exit 1",
    )
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    tool = by_name(find_tools(tool_config))["bwrap"]
    assert (tool.version, tool.usable) == ("0.8.0", False)
    assert "No permissions to create new namespace" in tool.problem


def test_minimums_agree_with_the_package_requirements() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = dict(re.match(r"([\w-]+)(?:>=([\d.]+))?", d).groups() for d in project["dependencies"])  # type: ignore[union-attr]
    for package in toolchain._PACKAGES:
        assert package.distribution in wanted
        assert (wanted[package.distribution] or "") == package.minimum, package.name


def test_doctor_prints_a_table_and_succeeds() -> None:
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["tool", "found", "version", "needed", "used", "for", "installed", "by"]
    assert any(re.match(r"bwrap +yes +\d", line) for line in lines)
    assert lines[-1] == "everything required is there"


def test_doctor_names_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 4
    assert "iverilog: not found\n    apt-get install iverilog\n" in result.stdout
    assert "4 of the required tools are missing or unusable" in result.stdout
    answer = CliRunner().invoke(app, ["doctor", "--json"])
    assert answer.exit_code == 4
    parsed = json.loads(answer.stdout)
    assert parsed["ok"] is False
    assert {t["name"] for t in parsed["tools"] if t["required"] and not t["usable"]} == {
        "iverilog",
        "g++",
        "gcc",
        "bwrap",
    }


def test_doctor_warms_the_caches(tool_config: ToolConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTLAGENT_CACHE_DIR", str(tool_config.cache_dir))
    result = CliRunner().invoke(app, ["doctor", "--warm", "--json"])
    assert result.exit_code == 0, result.output
    warmed = json.loads(result.stdout)["warmed"]
    assert [w["name"] for w in warmed] == ["Verilator's runtime", "nextpnr-ice40", "nextpnr-ecp5"]
    assert all(w["problem"] == "" for w in warmed)
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("RTLAGENT_CACHE_DIR", str(blocked))
    result = CliRunner().invoke(app, ["doctor", "--warm"])
    assert result.exit_code == 4
    assert "Verilator's runtime: cannot write to the cache" in result.stdout


def test_every_judging_tool_has_its_version_in_the_fingerprint(tool_config: ToolConfig) -> None:
    found = dict(v.rsplit(" ", 1) for v in tool_versions())
    usable = {t.name: t.version for t in find_tools(tool_config)}
    assert set(found) >= {"verilator", "pyslang", "pyosys", "cocotb", "nextpnr-ice40", "nextpnr-ecp5", "iverilog"}
    assert all(found[name] == usable[name] for name in found)
