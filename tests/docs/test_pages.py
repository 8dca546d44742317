"""The documentation's pages do what they say: their blocks are run, in order, in one folder a page."""

from __future__ import annotations

import ast
import doctest
import json
import re
import shutil
import socket
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from page_session import PythonSession, Shell, page_session
from pages import ROOT, Block, blocks, commands, inline_commands, is_ours, page_names

from rtlagent.cli import app

SLOW = ("benchmarks-on-slurm.md", "c-programmer.md", "fpga-engineer.md")
"""Pages whose blocks take more than ten seconds together."""
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_COMMAND_S = 180
_PORT = "8786"
"""Dask's own; the tests put a free one in its place."""


def _pages() -> list[object]:
    return [pytest.param(p, marks=[pytest.mark.slow] if p in SLOW else []) for p in page_names()]


@pytest.mark.parametrize("page", _pages())
def test_a_page_does_what_it_says(page: str, tmp_path: Path) -> None:
    found = blocks(page)
    for name in ("examples", "benchmarks"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    port = _free_port()
    with page_session(tmp_path) as (shell, python):
        for number, block in enumerate(found):
            after = found[number + 1] if number + 1 < len(found) else None
            _do(block, after, shell, python, tmp_path, port)


def _do(block: Block, after: Block | None, shell: Shell, python: PythonSession, folder: Path, port: int) -> None:
    if block.note == "excerpt of":
        text = (folder / block.about).read_text(encoding="utf-8")
        assert _matches(f"^ ...\n{block.text}... $", f"^ ^\n{text}\n$ $"), (
            f"{block.place}: {block.about} has no such lines"
        )
    elif block.title:
        (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
        (folder / block.title).write_text(block.text, encoding="utf-8")
    elif block.is_run and block.language == "python":
        said, error = python.run(block.text, block.place)
        assert not error, f"{block.place}: {error}"
        if after is not None and after.language == "text" and not after.note:
            assert _matches(after.text, said), f"{after.place}: it printed\n{said}"
    elif block.is_run:
        _run_commands(block, shell, port)


def _run_commands(block: Block, shell: Shell, port: int) -> None:
    wanted = commands(block)
    for number, command in enumerate(wanted):
        said, code = shell.run(command.text.replace(_PORT, str(port)), limit_s=_COMMAND_S)
        place = f"docs/{block.page}:{command.line}: {command.text}"
        if command.expected is not None:
            assert _matches(command.expected.replace(_PORT, str(port)), said), f"{place}\nprinted\n{said}"
        asked = number + 1 < len(wanted) and wanted[number + 1].text == "echo $?"
        assert code == 0 or asked, f"{place}\nended with {code}:\n{said}"


def _matches(expected: str, said: str) -> bool:
    return doctest.OutputChecker().check_output(expected, said, _FLAGS)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.parametrize("page", page_names())
def test_every_block_is_checked(page: str) -> None:
    """What is not run has a reason, and is right as far as that can be told without running it."""
    before: Block | None = None
    for block in blocks(page):
        expected = block.language == "text" and before is not None and before.is_run and before.language == "python"
        assert block.language, f"{block.place}: which language is it?"
        assert block.note or block.title or block.is_run or expected, f"{block.place}: is neither run nor marked"
        if block.language == "json":
            json.loads(block.text)
        elif block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "python":
            ast.parse(block.text)
        elif block.language in ("sh", "console"):
            for command in commands(block):
                _check_command(command.text, f"docs/{page}:{command.line}")
                subprocess.run(["bash", "-n"], input=command.text, text=True, check=True)
        before = block


@pytest.mark.parametrize("page", page_names())
def test_commands_in_the_prose_exist(page: str) -> None:
    for command in inline_commands(page):
        _check_command(command, f"docs/{page}")


def test_a_wrong_page_is_noticed(tmp_path: Path) -> None:
    """The tests above can fail."""
    with page_session(tmp_path) as (shell, python):
        wrong = Block("x.md", 1, "console", "$ echo one\ntwo\n")
        with pytest.raises(AssertionError, match=r"printed\s+one"):
            _run_commands(wrong, shell, 1)
        with pytest.raises(AssertionError, match=r"ended with 2"):
            _run_commands(Block("x.md", 1, "sh", "rtlagent lint nothing.v\n"), shell, 1)
        _run_commands(Block("x.md", 1, "console", "$ (exit 3)\n$ echo $?\n3\n"), shell, 1)
        with pytest.raises(AssertionError, match="ZeroDivisionError"):
            _do(Block("x.md", 1, "python", "1 / 0\n"), None, shell, python, tmp_path, 1)
        printed = Block("x.md", 5, "text", "2\n")
        with pytest.raises(AssertionError, match=r"x\.md:5"):
            _do(Block("x.md", 1, "python", "print(1)\n"), printed, shell, python, tmp_path, 1)
        with pytest.raises(TimeoutError):
            shell.run("sleep 5", limit_s=0.2)
    for command in ("rtlagent lint x.v --no-such", "rtlagent linty x.v", "A=b rtlagent bench run --nope"):
        with pytest.raises(AssertionError, match=r"rtlagent"):
            _check_command(command, "x.md")
    _check_command("RTLAGENT_RETRIES=2 rtlagent bench run folder --path p -n 3 --no-blind", "x.md")


def _check_command(text: str, place: str) -> None:
    """Hold a command line's subcommand and options against the program's own."""
    words = [w for w in re.split(r"[\s\\]+", re.split(r"[#|]", text, maxsplit=1)[0]) if w]
    if not is_ours(" ".join(words)):
        return
    words = words[words.index("rtlagent") + 1 :]
    command: Any = typer.main.get_command(app)
    context = command.make_context("rtlagent", ["--help"], resilient_parsing=True)
    while hasattr(command, "get_command") and words and not words[0].startswith("-"):
        inner = command.get_command(context, words[0])
        assert inner is not None, f"{place}: there is no `rtlagent {words[0]}`"
        command, context = inner, inner.make_context(words.pop(0), ["--help"], parent=context, resilient_parsing=True)
    known = _options(command, context)
    for word in words:
        if re.match(r"-{1,2}[A-Za-z]", word):
            assert word.split("=")[0] in known, f"{place}: `rtlagent ... {command.name}` has no option {word}"


def _options(command: Any, context: Any) -> Sequence[str]:
    named = [o for p in command.get_params(context) for o in (*p.opts, *p.secondary_opts)]
    return [*named, "--help"]
