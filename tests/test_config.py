"""Settings come from flags, environment, file and defaults, in this order, and mistakes are named."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from rtlagent.config import BudgetConfig, Config, ModelConfig, ToolConfig, load_config
from rtlagent.errors import ConfigError


def load(
    folder: Path, toml: str | None = None, *, env: dict[str, str] | None = None, flags: dict[str, object] | None = None
) -> Config:
    if toml is not None:
        (folder / "rtlagent.toml").write_text(toml)
    return load_config(flags=flags or {}, env=env or {}, start=folder)


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    config = load(tmp_path)
    assert config == Config()
    assert (config.candidates, config.seed, config.simulator, config.random_cycles) == (1, None, "auto", 600)
    assert (config.runs_dir, config.out, config.ask) == (Path("runs"), None, False)


def test_config_cannot_be_changed(tmp_path: Path) -> None:
    with pytest.raises(FrozenInstanceError):
        load(tmp_path).candidates = 3  # type: ignore[misc]


def test_flags_win_over_environment_over_file_over_default(tmp_path: Path) -> None:
    toml = "seed = 1\nrandom_cycles = 10\nask = true\n[budget]\nmax_tokens = 100\n[tools]\nsandbox = 'none'\n"
    env = {"RTLAGENT_RANDOM_CYCLES": "20", "RTLAGENT_MAX_TOKENS": "200", "OTHER": "x", "RTLAGENT_SEED": " "}
    config = load(tmp_path, toml, env=env, flags={"max_tokens": 300, "seed": None, "model": "openai:m"})
    assert (config.seed, config.random_cycles, config.ask) == (1, 20, True)
    assert config.budget == BudgetConfig(max_tokens=300)
    assert config.tools.sandbox == "none"
    assert config.model == ModelConfig(name="openai:m")
    assert config.candidates == 1


def test_every_table_of_the_file(tmp_path: Path) -> None:
    toml = """
        candidates = 3
        simulator = "icarus"
        runs_dir = "out/runs"
        [tools.limits]
        wall_s = 5
        memory_mb = 1024
        [model]
        name = "ollama:x"
        temperature = 0
        stream = false
        [budget]
        max_iterations = "none"
        max_cost_usd = 1.5
    """
    config = load(tmp_path, toml)
    assert (config.candidates, config.simulator, config.runs_dir) == (3, "icarus", tmp_path / "out/runs")
    assert (config.tools.limits.wall_s, config.tools.limits.memory_mb) == (5.0, 1024)
    assert isinstance(config.tools.limits.wall_s, float)
    assert (config.model.temperature, config.model.stream) == (0.0, False)
    assert config.budget == BudgetConfig(max_iterations=None, max_cost_usd=1.5)


def test_the_file_is_found_upwards(tmp_path: Path) -> None:
    (tmp_path / "rtlagent.toml").write_text("seed = 7\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert load(inner).seed == 7
    assert load(inner, "seed = 8\n").seed == 8


@pytest.mark.parametrize(
    ("toml", "where", "message", "hint"),
    [
        ("sed = 1", "rtlagent.toml:1", "unknown setting 'sed'", "did you mean 'seed'?"),
        ("\n[budget]\nmax_token = 1", "rtlagent.toml:3", "unknown setting 'budget.max_token'", "'max_tokens'"),
        ("max_tokens = 1", "rtlagent.toml:1", "unknown setting 'max_tokens'", "did you mean budget.max_tokens?"),
        ("seed = 1\n[budgets]", "rtlagent.toml:2", "unknown setting 'budgets'", "did you mean 'budget'?"),
        ("[tools.limit]\nwall_s = 1", "rtlagent.toml:1", "unknown setting 'tools.limit'", "'limits'"),
        ("budget = 5", "rtlagent.toml:1", "budget is a table of settings", "write [budget]"),
        ("seed = true", "rtlagent.toml:1", "seed must be a whole number, not True", ""),
        ("seed = 1.5", "rtlagent.toml:1", "seed must be a whole number, not 1.5", ""),
        ("ask = 1", "rtlagent.toml:1", "ask must be true or false, not 1", ""),
        ("out = 5", "rtlagent.toml:1", "out must be a path, not 5", ""),
        ("out = '~nobody_here/x'", "rtlagent.toml:1", "out must be a path", ""),
        ("candidates = 0", "rtlagent.toml:1", "candidates must be above 0, not 0", ""),
        ("seed = -1", "rtlagent.toml:1", "seed must be 0 or more, not -1", ""),
        ("simulator = 'verilater'", "rtlagent.toml:1", "unknown simulator 'verilater'", "'verilator'"),
        ("[tools]\nsandbox = 'off'", "rtlagent.toml:2", "unknown tools.sandbox 'off'", "bwrap, none"),
        ("[budget]\nmax_cost_usd = nan", "rtlagent.toml:2", "budget.max_cost_usd must be a number", ""),
        ("[budget]\nmax_cost_usd = inf", "rtlagent.toml:2", "budget.max_cost_usd must be a number", ""),
        ("[model]\nname = ''", "rtlagent.toml:2", "model.name must be text, not ''", ""),
        ("seed = ", "rtlagent.toml", "not TOML", ""),
        ("seed = 1\nseed = 2", "rtlagent.toml", "not TOML", ""),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_place(
    tmp_path: Path, toml: str, where: str, message: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, toml)
    assert caught.value.where.startswith(f"{tmp_path}/{where}")
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.exit_code == 2


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "rtlagent.toml").write_bytes(b"seed = '\xff'")
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("env", "message", "hint"),
    [
        ({"RTLAGENT_MODLE": "x"}, "the environment: unknown setting 'RTLAGENT_MODLE'", "'RTLAGENT_MODEL'"),
        ({"RTLAGENT_SEED": "x"}, "RTLAGENT_SEED: seed must be a whole number, not 'x'", ""),
        ({"RTLAGENT_ASK": "maybe"}, "RTLAGENT_ASK: ask must be true or false", ""),
        ({"RTLAGENT_MAX_TIME": "soon"}, "RTLAGENT_MAX_TIME: budget.max_time_s must be a number", ""),
        ({"RTLAGENT_MAX_TIME": "-1"}, "budget.max_time_s must be above 0, not -1", ""),
    ],
)
def test_a_mistake_in_the_environment(tmp_path: Path, env: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, env=env)
    assert message in str(caught.value)
    assert hint in caught.value.hint


def test_the_environment_reads_every_kind(tmp_path: Path) -> None:
    env = {
        "RTLAGENT_MODEL": "openai:m",
        "RTLAGENT_SANDBOX": "none",
        "RTLAGENT_LIMIT_WALL_S": "2.5",
        "RTLAGENT_ASK": "on",
        "RTLAGENT_OUT": "/tmp/x",
        "RTLAGENT_MAX_COST": "0.5",
        "RTLAGENT_MAX_ITERATIONS": "none",
        "RTLAGENT_CACHE_DIR": "/tmp/cache",
        "RTLAGENT_DEBUG": "1",
        "RTLAGENT_API_KEY": "secret",
    }
    config = load(tmp_path, env=env)
    assert config.model.name == "openai:m"
    assert (config.tools.sandbox, config.tools.limits.wall_s) == ("none", 2.5)
    assert (config.ask, config.out) == (True, Path("/tmp/x"))
    assert (config.budget.max_iterations, config.budget.max_cost_usd) == (None, 0.5)
    assert config.tools.cache_dir == Path("/tmp/cache")


def test_a_mistake_in_a_flag(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"--max-tokens: budget\.max_tokens must be above 0, not 0"):
        load(tmp_path, flags={"max_tokens": 0})
    with pytest.raises(ConfigError, match="unknown setting 'max_token'"):
        load(tmp_path, flags={"max_token": 1})


def test_the_digest_tells_settings_apart_but_not_machines_or_secrets() -> None:
    base = Config(model=ModelConfig(name="http://host/v1#m"))
    assert base.sha256 == replace(base, runs_dir=Path("/x"), out=Path("/y")).sha256
    assert base.sha256 == replace(base, tools=ToolConfig(cache_dir=Path("/z"))).sha256
    assert base.sha256 == replace(base, model=ModelConfig(name="http://me:secret@host/v1#m")).sha256
    others = [
        replace(base, seed=1),
        replace(base, model=ModelConfig(name="http://host/v1#n")),
        replace(base, budget=BudgetConfig(max_tokens=1)),
        replace(base, tools=ToolConfig(sandbox="none")),
    ]
    assert len({c.sha256 for c in (base, *others)}) == 5
