from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from rtlagent.config import load_config, setting_origins


def _config(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from rtlagent.cli import main; main()", "config", *arguments]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), **variables}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)


def test_each_value_comes_with_its_source(tmp_path: Path) -> None:
    (tmp_path / "rtlagent.toml").write_text("mutants = 4\n\n[model]\nretries = 2\nname = 'ollama:x'\n")
    inner = tmp_path / "a/b"
    inner.mkdir(parents=True)
    shown = json.loads(_config(inner, "--json", RTLAGENT_RETRIES="7").stdout)
    assert shown["file"] == str(tmp_path / "rtlagent.toml")
    settings = shown["settings"]
    assert settings["mutants"] == {
        "value": 4,
        "source": f"{tmp_path}/rtlagent.toml:1",
        "variable": "RTLAGENT_MUTANTS",
    }
    assert (settings["model.retries"]["value"], settings["model.retries"]["source"]) == (7, "RTLAGENT_RETRIES")
    assert settings["model.name"]["source"] == f"{tmp_path}/rtlagent.toml:5"
    assert settings["seed"] == {"value": None, "source": "default", "variable": "RTLAGENT_SEED"}


def test_every_setting_is_there_with_the_value_that_is_used(tmp_path: Path) -> None:
    environment = {"RTLAGENT_MAX_COST": "2.5"}
    origins = {o.name: o for o in setting_origins(env=environment, start=tmp_path)}
    merged = load_config(env=environment, start=tmp_path)
    assert origins["budget.max_cost_usd"].value == merged.budget.max_cost_usd == 2.5
    assert origins["tools.limits.wall_s"].value == merged.tools.limits.wall_s
    assert len(origins) > 25


def test_passwords_in_addresses_are_not_shown(tmp_path: Path) -> None:
    shown = _config(tmp_path, RTLAGENT_MODEL="http://me:secret@host:1/v1", RTLAGENT_API_KEY="hidden")
    assert shown.returncode == 0
    assert "secret" not in shown.stdout and "hidden" not in shown.stdout
    assert "http://...@host:1/v1" in shown.stdout


def test_text_form_filter_and_errors(tmp_path: Path) -> None:
    shown = _config(tmp_path, "limits")
    assert "tools.limits.memory_mb" in shown.stdout and "model.retries" not in shown.stdout
    wrong = _config(tmp_path, "retrys")
    assert wrong.returncode == 2 and "did you mean 'retries'?" in wrong.stderr
    (tmp_path / "rtlagent.toml").write_text("mutants = 'many'\n")
    broken = _config(tmp_path)
    assert broken.returncode == 2 and "rtlagent.toml:1" in broken.stderr
