"""Options and fixtures that every test shares."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from process_search import processes_with

from rtlagent.config import ToolConfig


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="also run the tests marked slow")
    parser.addoption("--cache-dir", type=Path, help="folder for compiled runtimes (default: the user's own)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        return
    skip = pytest.mark.skip(reason="slow; give --full to run it")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def tool_config(pytestconfig: pytest.Config) -> ToolConfig:
    """Return the default configuration with the real cache, which stays warm between runs."""
    cache_dir = pytestconfig.getoption("--cache-dir")
    return ToolConfig() if cache_dir is None else ToolConfig(cache_dir=cache_dir)


@pytest.fixture
def marker() -> Iterator[str]:
    """Return a number of seconds for `sleep` that no other process has as its argument."""
    name = f"600.{os.getpid()}{os.urandom(4).hex().translate(str.maketrans('abcdef', '012345'))}"
    yield name
    for process in processes_with(name):
        os.kill(process, 9)
