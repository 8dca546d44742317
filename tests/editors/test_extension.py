"""The VS Code extension: its manifest fits its code and the command line; it is built, tested and packaged by npm."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import click
import pytest
import typer.main
from extension_scene import BROWSERS, lay_out, run_host_tests, server

from rtlagent.cli import app
from rtlagent.spec import TARGETS

REPOSITORY = Path(__file__).parents[2]
EXTENSION = REPOSITORY / "editors/vscode"
HOST = Path(__file__).with_name("vscode_host")
MANIFEST: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text())
SETTINGS: dict[str, Any] = MANIFEST["contributes"]["configuration"]["properties"]
SOURCES = {p.name: p.read_text() for p in sorted((EXTENSION / "src").glob("*.ts"))}
SECONDS_OF_NPM = 400


def test_declared_commands_are_those_that_are_registered() -> None:
    declared = {c["command"] for c in MANIFEST["contributes"]["commands"]}
    assert declared == set(re.findall(r'\bon\("(rtlagent\.\w+)"', SOURCES["extension.ts"]))
    assert all(c["category"] == "rtlagent" and c["title"] for c in MANIFEST["contributes"]["commands"])
    used = set(re.findall(r'"(rtlagent\.\w+)"', "".join(SOURCES.values())))
    assert used - declared <= {"rtlagent.executable", "rtlagent.run", "rtlagent.report"}
    runs_the_tool = {"rtlagent.lint", "rtlagent.simulate", "rtlagent.synthesize"}
    enabled = {c["command"] for c in MANIFEST["contributes"]["commands"] if c.get("enablement") == "isWorkspaceTrusted"}
    assert enabled == runs_the_tool


def test_declared_settings_are_those_that_are_read() -> None:
    text = SOURCES["settings.ts"]
    read = set(re.findall(r'\.(?:get|inspect)<\w+>\("(\w+)"\)', text))
    read |= {
        f"{c}Arguments"
        for c in re.findall(r'"(\w+)"', text[text.index("furtherArguments(command:") :].split("scope")[0])
    }
    assert {f"rtlagent.{name}" for name in read} == set(SETTINGS)
    assert not [n for n, s in SOURCES.items() if "getConfiguration" in s and n != "settings.ts"]
    said = (EXTENSION / "README.md").read_text()
    assert [n for n in SETTINGS if n not in said and n.removeprefix("rtlagent.") not in said] == []


def test_a_workspace_cannot_choose_the_program_and_untrusted_ones_are_restricted() -> None:
    assert SETTINGS["rtlagent.executable"]["scope"] == "machine"
    trust = MANIFEST["capabilities"]["untrustedWorkspaces"]
    assert trust["supported"] == "limited"
    harmless = {"rtlagent.executable", "rtlagent.runsFolder"}
    assert set(trust["restrictedConfigurations"]) == set(SETTINGS) - harmless


def test_flags_and_targets_are_those_of_the_command_line() -> None:
    text = SOURCES["commandLine.ts"]
    group = typer.main.get_command(app)
    assert isinstance(group, click.core.Group) or hasattr(group, "get_command")
    context = click.Context(click.Command("rtlagent"))
    for command, body in re.findall(r'"(lint|sim|synth|report)",(.*?)\n}', text, re.S):
        known = {o for p in group.get_command(context, command).params for o in p.opts}  # type: ignore[attr-defined]
        flags = set(re.findall(r'["`](--[a-z]+)', f'"{command}",{body}'))
        assert "--json" in flags, command
        assert flags <= known, command
    assert len(re.findall(r'"(?:lint|sim|synth|report)",', text)) == 4
    assert tuple(SETTINGS["rtlagent.target"]["enum"]) == tuple(TARGETS)
    assert re.findall(r'"(\w+)"', text.split("export type Target =")[1].split(";")[0]) == list(TARGETS)


def test_no_shell_and_no_script_in_the_panel() -> None:
    text = "".join(SOURCES.values())
    assert set(re.findall(r"\b(exec|execSync|execFileSync|spawnSync|fork|eval)\(", text.replace(".exec(", ""))) == set()
    assert re.findall(r"shell: (\w+)", text) == ["false"]
    assert re.findall(r"enableScripts: (\w+)", text) == ["false"]
    assert "localResourceRoots: []" in text


def test_the_lock_file_names_no_host_and_every_package_by_hash() -> None:
    lock = json.loads((EXTENSION / "package-lock.json").read_text())
    packages = {name: p for name, p in lock["packages"].items() if name}
    assert [n for n, p in packages.items() if "resolved" in p or not p.get("integrity")] == []
    assert lock["packages"][""]["devDependencies"] == MANIFEST["devDependencies"]
    assert "dependencies" not in MANIFEST


def node_is_missing() -> str:
    if shutil.which("node") is None or shutil.which("npm") is None:
        return "Node is not installed (apt-get install nodejs npm)"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return (
        "" if int(version.removeprefix("v").split(".")[0]) >= 20 else f"the extension needs Node 20, this is {version}"
    )


def npm(
    folder: Path, *args: str, seconds: int = SECONDS_OF_NPM, check: bool = True
) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "EXTENSION_TEST_REPOSITORY": str(REPOSITORY), "EXTENSION_TEST_RTLAGENT": rtlagent()}
    done = subprocess.run(
        ["npm", *args], cwd=folder, env=env, capture_output=True, text=True, timeout=seconds, check=False
    )
    if check:
        assert done.returncode == 0, f"npm {' '.join(args)}:\n{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
    return done


def rtlagent() -> str:
    """Return the command of this environment."""
    return str(Path(sys.executable).with_name("rtlagent"))


def fetch(folder: Path, *args: str) -> None:
    done = npm(folder, *args, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", check=False)
    if done.returncode and re.search(r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|network", done.stderr):
        pytest.skip(f"npm cannot fetch packages: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the extension, compiled, in a folder with a blank in its name."""
    reason = node_is_missing()
    if reason:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("extension") / "the extension"
    shutil.copytree(EXTENSION, folder, ignore=shutil.ignore_patterns("node_modules", "out", "*.vsix"))
    fetch(folder, "ci")
    npm(folder, "run", "build")
    return folder


@pytest.mark.slow
@pytest.mark.net
@pytest.mark.timeout(1200)
def test_the_extension_is_clean_tested_and_packaged(built: Path) -> None:
    npm(built, "run", "lint")
    tested = npm(built, "test", seconds=600)
    figures = dict(re.findall(r"^\S (\w+) (\d+)$", tested.stdout, re.M))
    assert int(figures["pass"]) >= 30, tested.stdout[-2000:]
    assert (figures["fail"], figures["skipped"], figures["cancelled"]) == ("0", "0", "0")
    (built / "out/src/stale.js").touch()
    npm(built, "run", "package")
    with zipfile.ZipFile(built / "rtlagent.vsix") as package:
        names = package.namelist()
        assert json.loads(package.read("extension/package.json"))["main"] == "./out/src/extension.js"
    code = {n for n in names if n.startswith("extension/out/")}
    assert code == {f"extension/out/src/{n.removesuffix('.ts')}.js" for n in SOURCES}
    others = {Path(n).name.lower() for n in names if n.startswith("extension/")} - {Path(n).name.lower() for n in code}
    assert others == {"package.json", "readme.md", "changelog.md", "license.txt"}
    npm(built, "run", "build")


@pytest.fixture(scope="module")
def vscode_server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which npm has put a VS Code server."""
    reason = node_is_missing()
    if reason:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("server")
    shutil.copy(HOST / "package.json", folder)
    fetch(folder, "install", "--no-package-lock")
    # Not `ci`: its lock file lacks packages that its own package.json asks for.
    fetch(folder / "node_modules/code-server/lib/vscode", "install", "--omit=dev")
    return folder


@pytest.fixture(scope="module")
def a_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a runs folder with a finished run in it."""
    folder = tmp_path_factory.mktemp("made")
    example = REPOSITORY / "examples/sync_fifo"
    command = [
        rtlagent(),
        "generate",
        str(example / "spec.md"),
        "--model",
        f"replay:{example / 'replies.jsonl'}",
        "--plain",
    ]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=280)
    return folder / "runs"


@pytest.mark.slow
@pytest.mark.net
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("trusting", [True, False])
def test_in_a_real_extension_host(
    built: Path, vscode_server: Path, a_run: Path, tmp_path: Path, *, trusting: bool
) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (pip install playwright)")
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no chromium is installed (apt-get install chromium)")
    workspace = tmp_path / "work space"
    lay_out(workspace, a_run)
    (tmp_path / "data").mkdir()
    with (
        server(vscode_server, tmp_path / "data", rtlagent(), trusting=trusting) as port,
        sync_api.sync_playwright() as play,
    ):
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        session = run_host_tests(browser, port, workspace, built, limit_s=400)
        browser.close()
    told = [line.partition("host: ")[2] for line in session.log if "host: " in line]
    assert session.exit_code == 0, "\n".join(told or session.log[-20:])
    count = "11 of 11" if trusting else "2 of 2"
    assert f"{count} passed" in told
    assert session.status == "sync_fifo: PASS (strong)"
    assert not (workspace / "owned").exists()
    # Lenses are drawn, and the report in its panel, in a trusted workspace only; its link opens a file.
    assert any("lint" in text and "synthesize" in text for text in session.lenses) is trusting
    if trusting:
        assert "Every gate passed." in session.report
        assert session.opened
