"""rtlagent.toml, environment and flags, merged once into an immutable Config."""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import platformdirs

from rtlagent.errors import ConfigError, suggestion
from rtlagent.types import digest

FILE_NAME = "rtlagent.toml"
_PREFIX = "RTLAGENT_"
_OTHER_VARIABLES = frozenset(
    {"RTLAGENT_DEBUG", "RTLAGENT_NETLISTSVG", "RTLAGENT_API_KEY", "RTLAGENT_MCP_TOKEN", "RTLAGENT_REPLAY_STRICT"}
)
"""Variables that are read elsewhere because they are secrets or not settings."""


def default_cache_dir() -> Path:
    """Return the user's cache folder for rtlagent (RTLAGENT_CACHE_DIR overrides it)."""
    named = os.environ.get("RTLAGENT_CACHE_DIR")
    return Path(named) if named else platformdirs.user_cache_path("rtlagent")


@dataclass(frozen=True)
class Limits:
    """What one tool process (and all its children) may use."""

    wall_s: float = 120.0
    cpu_s: int = 240
    memory_mb: int = 4096
    """Resident memory of the whole process tree, and of any one process."""
    processes: int = 128
    output_mb: float = 8.0
    """Standard output and standard error, each."""
    work_mb: int = 512
    """Size of the work folder, all files together."""
    source_mb: float = 2.0
    """Verilog that a tool is given, all files together; of more, the readers alone take minutes."""


@dataclass(frozen=True)
class ToolConfig:
    """How tools are run."""

    sandbox: str = "bwrap"
    """`bwrap`, or `none` to run model-written text unconfined, knowingly."""
    cache_dir: Path = field(default_factory=default_cache_dir)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class ModelConfig:
    """Which model is asked, and how."""

    name: str | None = None
    """Such as `openai:gpt-4.1` or `replay:run/model.jsonl`; None: whatever is found (see models.resolve)."""
    temperature: float | None = None
    """None: the provider's own default; several current models accept no other."""
    max_output_tokens: int | None = None
    """Of one request; None: the provider's own default."""
    context_tokens: int | None = None
    """Size of the context window where the provider cannot be asked for it; None: unknown."""
    request_timeout_s: float = 600.0
    """Longest silence of the endpoint, not the length of the whole reply."""
    retries: int = 5
    """Further tries after a connection error, a broken stream, 408, 409, 429 or 5xx."""
    continuations: int = 4
    """How often a reply that was cut at its length limit is continued."""
    stream: bool = True
    price_in_usd: float | None = None
    """Per million tokens, as the other two; None: the built-in table's figure."""
    price_cached_usd: float | None = None
    price_out_usd: float | None = None


@dataclass(frozen=True)
class BudgetConfig:
    """What a run may spend; None means no limit."""

    max_tokens: int | None = None
    """Tokens in and out together, cached ones included."""
    max_cost_usd: float | None = None
    max_iterations: int | None = 8
    max_time_s: float | None = None


@dataclass(frozen=True)
class Config:
    """Every setting of a run, merged."""

    tools: ToolConfig = field(default_factory=ToolConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    candidates: int = 1
    """How many candidates may be asked for when the first one fails."""
    seed: int | None = None
    """Of the random stimulus; None: 1."""
    runs_dir: Path = Path("runs")
    out: Path | None = None
    """Where the final files are put; None: they stay in the run's folder."""
    ask: bool = False
    """Ask the user about what the spec leaves open, instead of assuming."""
    simulator: str = "auto"
    """`auto`, `icarus` or `verilator`."""
    mutants: int = 16
    """Wrong versions of a passing design that grade its tests; 0: none, and the grade stays moderate at best."""
    random_cycles: int = 600
    """Cycles of constrained-random stimulus."""

    @property
    def sha256(self) -> str:
        """Hex digest of what can change a run's outcome: neither places on this machine nor secrets."""
        kept = asdict(replace(self, runs_dir=Path(), out=None))
        del kept["runs_dir"], kept["out"], kept["tools"]["cache_dir"]
        if self.model.name:
            # A URL may carry a user's name and password.
            kept["model"]["name"] = re.sub(r"//[^/@]*@", "//", self.model.name)
        return digest(kept)


@dataclass(frozen=True)
class _Setting:
    """One leaf of Config, and what may be written for it."""

    path: tuple[str, ...]
    kind: type
    optional: bool

    @property
    def flag(self) -> str:
        """Name as a flag and, in capitals after RTLAGENT_, as a variable."""
        if self.path in _SHORT_FLAGS:
            return _SHORT_FLAGS[self.path]
        return "limit_" + self.path[-1] if "limits" in self.path else self.path[-1]


_SHORT_FLAGS = {
    ("model", "name"): "model",
    ("budget", "max_cost_usd"): "max_cost",
    ("budget", "max_time_s"): "max_time",
}
_CHOICES = {"sandbox": ("bwrap", "none"), "simulator": ("auto", "icarus", "verilator")}
_MAY_BE_ZERO = frozenset(
    {"temperature", "retries", "continuations", "price_in_usd", "price_cached_usd", "price_out_usd", "seed", "mutants"}
)
_YES_NO = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def load_config(
    *, flags: Mapping[str, object] | None = None, env: Mapping[str, str] | None = None, start: Path | None = None
) -> Config:
    """Merge flags over environment over rtlagent.toml over the defaults.

    Args:
        flags: name -> value, the names being those of the settings (`max_tokens`, `sandbox`; the
            model's is `model`, a tool limit's begins with `limit_`, and `max_cost` and `max_time` go
            without a unit); None means not given.
        env: the environment; None: this process's own. `RTLAGENT_MAX_TOKENS` sets `max_tokens`.
        start: folder from which rtlagent.toml is looked for, upwards; None: the current one.

    Raises:
        ConfigError: an unknown setting, or a value that is none of its kind.
    """
    known = {s.flag: s for s in _settings(Config)}
    values: dict[tuple[str, ...], object] = {}
    file = find_config_file(start or Path.cwd())
    if file is not None:
        values |= _from_file(file, list(known.values()))
    values |= _from_environment(os.environ if env is None else env, known)
    for name, value in (flags or {}).items():
        if value is not None:
            setting = _known(name, known, "the flags")
            values[setting.path] = _checked(setting, value, f"--{name.replace('_', '-')}")
    merged: Config = _build(Config, values, ())
    return merged


@dataclass(frozen=True)
class Origin:
    """A setting, and where its value came from."""

    name: str
    """As in rtlagent.toml, tables before a dot: `model.retries`."""
    value: object
    source: str
    """`default`, the file with its line, or the variable."""
    variable: str
    """Which variable sets it."""


def setting_origins(*, env: Mapping[str, str] | None = None, start: Path | None = None) -> tuple[Origin, ...]:
    """Tell of each setting what it is and what set it, as `load_config` merges them.

    Raises:
        ConfigError: as for `load_config`.
    """
    settings = _settings(Config)
    known = {s.flag: s for s in settings}
    file = find_config_file(start or Path.cwd())
    written = _from_file(file, settings) if file is not None else {}
    variables = _from_environment(os.environ if env is None else env, known)
    toml = _TomlFile(file, file.read_text(encoding="utf-8")) if file is not None else None
    merged = load_config(env=env, start=start)
    found = []
    for setting in settings:
        variable = _PREFIX + setting.flag.upper()
        source = "default"
        if setting.path in variables:
            source = variable
        elif setting.path in written and toml is not None:
            source = toml.place(setting.path[-1])
        elif setting.path[-1] == "cache_dir" and "RTLAGENT_CACHE_DIR" in os.environ:
            source = "RTLAGENT_CACHE_DIR"
        value: Any = merged
        for part in setting.path:
            value = getattr(value, part)
        found.append(Origin(".".join(setting.path), value, source, variable))
    return tuple(found)


def find_config_file(start: Path) -> Path | None:
    """Return the nearest rtlagent.toml in `start` or a folder above it."""
    here = start.resolve()
    return next((f for d in (here, *here.parents) if (f := d / FILE_NAME).is_file()), None)


def _settings(node: Any, path: tuple[str, ...] = ()) -> list[_Setting]:
    """List the leaves of a tree of dataclasses."""
    found: list[_Setting] = []
    hints = get_type_hints(node)
    for item in fields(node):
        kind = hints[item.name]
        if is_dataclass(kind):
            found += _settings(kind, (*path, item.name))
            continue
        kinds = [k for k in get_args(kind) if k is not NoneType] or [kind]
        found.append(_Setting((*path, item.name), kinds[0], NoneType in get_args(kind)))
    return found


def _build(node: Any, values: Mapping[tuple[str, ...], object], path: tuple[str, ...]) -> Any:
    hints = get_type_hints(node)
    given: dict[str, object] = {}
    for item in fields(node):
        here = (*path, item.name)
        if is_dataclass(hints[item.name]):
            given[item.name] = _build(hints[item.name], values, here)
        elif here in values:
            given[item.name] = values[here]
    return node(**given)


def _known(name: str, known: Mapping[str, _Setting], where: str) -> _Setting:
    if name not in known:
        raise ConfigError(f"unknown setting {name!r}", where=where, hint=suggestion(name, known))
    return known[name]


def _from_environment(env: Mapping[str, str], known: Mapping[str, _Setting]) -> dict[tuple[str, ...], object]:
    values: dict[tuple[str, ...], object] = {}
    variables = {_PREFIX + name.upper(): setting for name, setting in known.items()}
    for name in sorted(env):
        if not name.startswith(_PREFIX) or name in _OTHER_VARIABLES or not env[name].strip():
            continue
        setting = _known(name, variables, "the environment")
        values[setting.path] = _checked(setting, env[name].strip(), name)
    return values


def _from_file(file: Path, settings: list[_Setting]) -> dict[tuple[str, ...], object]:
    try:
        text = file.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said, _, place = str(error).partition(" (at line ")
        line = re.match(r"(\d+), column (\d+)", place)
        where = f"{file}:{line[1]}:{line[2]}" if line else str(file)
        raise ConfigError(f"not TOML: {said}", where=where) from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot be read: {error}", where=str(file)) from None
    return _from_table(table, (), {s.path: s for s in settings}, _TomlFile(file, text))


@dataclass(frozen=True)
class _TomlFile:
    path: Path
    text: str

    def place(self, key: str) -> str:
        """Find the line of a key or table; tomllib does not say."""
        pattern = re.compile(rf"\s*(?:\[\s*(?:[\w.]*\.)?)?[\"']?{re.escape(key)}[\"']?\s*[\].=]")
        lines = enumerate(self.text.splitlines(), 1)
        return next((f"{self.path}:{i}" for i, line in lines if pattern.match(line)), str(self.path))


def _from_table(
    table: Mapping[str, object], path: tuple[str, ...], settings: Mapping[tuple[str, ...], _Setting], file: _TomlFile
) -> dict[tuple[str, ...], object]:
    values: dict[tuple[str, ...], object] = {}
    here = list(dict.fromkeys(p[len(path)] for p in settings if p[: len(path)] == path and len(p) > len(path)))
    for key, value in table.items():
        inner = (*path, key)
        name = ".".join(inner)
        if key not in here:
            elsewhere = [".".join(p) for p in settings if p[-1] == key]
            hint = f"did you mean {elsewhere[0]}?" if elsewhere else suggestion(key, here)
            raise ConfigError(f"unknown setting {name!r}", where=file.place(key), hint=hint)
        if inner in settings:
            checked = _checked(settings[inner], value, file.place(key))
            # A path in a file means the same from wherever the program is started.
            values[inner] = file.path.parent / checked if isinstance(checked, Path) else checked
        elif isinstance(value, Mapping):
            values |= _from_table(value, inner, settings, file)
        else:
            raise ConfigError(f"{name} is a table of settings", where=file.place(key), hint=f"write [{name}]")
    return values


def _checked(setting: _Setting, value: object, where: str) -> object:
    """Turn a written value into one of the setting's kind."""
    name = ".".join(setting.path)
    if setting.optional and isinstance(value, str) and value.lower() == "none":
        return None
    converted = _converted(setting.kind, value)
    if converted is None:
        kinds = {int: "a whole number", float: "a number", bool: "true or false", str: "text", Path: "a path"}
        raise ConfigError(f"{name} must be {kinds[setting.kind]}, not {value!r}", where=where)
    choices = _CHOICES.get(setting.path[-1])
    if choices and converted not in choices:
        raise ConfigError(f"unknown {name} {value!r}", where=where, hint=suggestion(str(value), choices))
    if isinstance(converted, int | float) and not isinstance(converted, bool):
        zero = setting.path[-1] in _MAY_BE_ZERO
        if converted < 0 or (converted == 0 and not zero):
            raise ConfigError(f"{name} must be {'0 or more' if zero else 'above 0'}, not {value}", where=where)
    return converted


def _converted(kind: type, value: object) -> object | None:
    """Return `value` as a `kind`, from TOML's types, a flag's or a variable's text; None if it is none."""
    text = value.strip() if isinstance(value, str) else None
    if kind is bool:
        return value if isinstance(value, bool) else _YES_NO.get((text or "").lower())
    if kind is int:
        if text is not None:
            return int(text) if re.fullmatch(r"[+-]?\d(_?\d){0,17}", text) else None
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    if kind is float:
        return _as_float(value)
    if kind is Path:
        return value if isinstance(value, Path) else _as_path(text)
    return text or None


def _as_path(text: str | None) -> Path | None:
    if not text or "\0" in text:
        return None
    try:
        return Path(text).expanduser()
    except RuntimeError:  # ~ of a user that does not exist
        return None


def _as_float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def resource_dir(name: str) -> Path:
    """Return the folder `prompts` or `sim`: the wheel's copy, or the checkout's.

    Raises:
        FileNotFoundError: the installation is damaged.
    """
    package = Path(__file__).resolve().parent
    for folder in (package / "_data" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"rtlagent's own folder {name!r} is missing from {package}")
