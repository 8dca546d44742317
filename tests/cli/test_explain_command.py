from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rtlagent.cli.explain import find, load_explanations
from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.tools import lint_rules, policy, policy_text
from rtlagent.tools.lint import lint
from rtlagent.types import SourceFile

PACKAGE = Path(__file__).resolve().parents[2] / "rtlagent"
MAKERS = {"Diagnostic", "_error", "_diagnostic", "warn", "note", "problem", "_at"}
CODE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*|[a-z]+-[a-z]+")


def _rtlagent(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from rtlagent.cli import main; main()", "explain", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _emitted() -> set[str]:
    """Find the codes that our own source gives to diagnostics."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            values = [*node.args, *(k.value for k in node.keywords if k.arg == "code")] if name in MAKERS else []
            texts = [v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str)]
            found |= {t for t in texts if len(t) > 3 and CODE.fullmatch(t)}
    return found


def test_every_code_of_ours_is_explained() -> None:
    emitted = _emitted()
    assert len(emitted) > 50
    own = {*lint_rules.CANONICAL.values(), *lint_rules.HINTS, *lint_rules.ERRORS, *policy.HINTS, *policy_text.CODES}
    assert (emitted | own) - set(load_explanations()) == set()


def test_explanations_are_whole() -> None:
    for entry in load_explanations().values():
        assert entry.means.endswith(".") and entry.fix.endswith("."), entry.code
        assert bool(entry.wrong) == bool(entry.right), entry.code


@pytest.mark.parametrize("code", ["MULTIDRIVEN", "LATCH", "BLKSEQ", "CASEX"])
def test_examples_show_their_defect(code: str, tool_config: ToolConfig) -> None:
    entry = load_explanations()[code]
    for text, shown in ((entry.wrong, True), (entry.right, False)):
        ports = "input clk, input en, input a, input b, input d, input [3:0] op, output reg q, output reg y"
        design = SourceFile("m.v", f"module m({ports});\n{_in_block(text)}\nendmodule\n")
        found = {d.code for d in lint([design], config=tool_config).diagnostics}
        assert (code in found) is shown, (code, text, found)


def _in_block(text: str) -> str:
    return f"always @* begin y = 0; {text} end" if text.startswith("case") else text


@pytest.mark.parametrize(
    "asked", ["latch", "LATCH", "%Warning-LATCH", "InferredLatch", "a.v:1:2: error: inferred latch for 'y[1]' [LATCH]"]
)
def test_codes_are_found_however_they_are_written(asked: str) -> None:
    assert find(asked, load_explanations()).code == "LATCH"


def test_unknown_code_says_so() -> None:
    with pytest.raises(UsageError, match="no explanation for 'LACH'") as caught:
        find("LACH", load_explanations())
    assert "did you mean 'LATCH'?" in caught.value.hint


def test_command() -> None:
    shown = _rtlagent("MULTIDRIVEN")
    assert shown.returncode == 0
    assert "short circuit" in shown.stdout and "instead of:" in shown.stdout
    assert json.loads(_rtlagent("LATCH", "--json").stdout)["code"] == "LATCH"
    assert len(_rtlagent("--list").stdout.splitlines()) > 100
    assert _rtlagent("nonsense").returncode == 2
    assert _rtlagent("").returncode == 2
