"""Render a template into one file: autoescaped, with a policy under which nothing is fetched and no script runs."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from rtlagent.printable import printable
from rtlagent.report import text


@cache
def _environment() -> Environment:
    # finalize sees every value before it is escaped, so that no template can forget it.
    env = Environment(
        loader=PackageLoader("rtlagent.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=text.shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters.update(
        clip=text.clip, one_line=text.one_line, duration=text.duration, bytes=text.size, command=text.command_line,
        link=text.place_in_run, plain=printable,
    )  # fmt: skip
    return env


def render(template: str, **values: Any) -> str:
    """Return the page that a template makes of `values`."""
    env = _environment()
    style = _style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return env.get_template(template).render(style=style, policy=policy, **values)


@cache
def _style() -> str:
    """Return the style sheet; it is ours and holds no `<`, so that it cannot end its element."""
    loader = _environment().loader
    assert loader is not None
    source, *_ = loader.get_source(_environment(), "report.css")
    return source.strip()
