"""`rtlagent explain`: what a diagnostic's code means, and how to fix it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from rtlagent.cli.completion import codes

CATALOGUE = Path(__file__).with_name("explanations.toml")


@dataclass(frozen=True)
class Explanation:
    """What one code means."""

    code: str
    tool: str
    means: str
    fix: str
    wrong: str = ""
    """An example of the defect; empty: none helps."""
    right: str = ""


def explain(
    diagnostic: Annotated[
        str | None,
        typer.Argument(
            metavar="CODE",
            help="Such as LATCH, or the whole line of a diagnostic.",
            show_default=False,
            autocompletion=codes,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    all_codes: Annotated[bool, typer.Option("--list", help="List all codes that are known.")] = False,
) -> None:
    """Say what a diagnostic's code means and how to fix it.

    Exit codes: 0 known, 2 unknown.

    Such as:

      rtlagent explain LATCH

      rtlagent explain "fifo.v:12:5: error: inferred latch for 'y' [LATCH]"
    """
    from rtlagent.errors import UsageError
    from rtlagent.types import to_json

    known = load_explanations()
    if all_codes:
        print("\n".join(f"{e.code:30} {e.tool}" for e in known.values()))
        return
    if diagnostic is None:
        raise UsageError("no code was given", hint="name one, or list all with --list")
    found = find(diagnostic, known)
    if as_json:
        print(json.dumps(to_json(found)))
        return
    print(f"{found.code} ({found.tool})\n\n{found.means}\n\nfix: {found.fix}")
    for title, example in (("instead of", found.wrong), ("write", found.right)):
        if example:
            print(f"\n{title}:\n" + "\n".join(f"    {line}" for line in example.splitlines()))


def load_explanations() -> dict[str, Explanation]:
    """Read the catalogue, in its order."""
    table: Mapping[str, Mapping[str, str]] = tomllib.loads(CATALOGUE.read_text(encoding="utf-8"))
    return {code: Explanation(code, **entry) for code, entry in table.items()}


def find(asked: str, known: Mapping[str, Explanation]) -> Explanation:
    """Return the explanation of a code, written in any case, or of a diagnostic's whole line.

    pyslang's and Verilator's names for one defect lead to the same entry.

    Raises:
        UsageError: it is not known.
    """
    from rtlagent.errors import UsageError, suggestion
    from rtlagent.tools.lint_rules import CANONICAL

    line = re.search(r"\[([^\[\]\s]+)\]\s*$", asked)
    word = re.sub(r"^%?(?:Error|Warning)-", "", line[1] if line else asked.strip())
    folded = {code.casefold(): code for code in known}
    aliases = {name.casefold(): code.casefold() for name, code in CANONICAL.items()}
    code = folded.get(aliases.get(word.casefold(), word.casefold()))
    if code is None:
        close = suggestion(word, [*known, *CANONICAL])
        tools = "a code of Verilator is explained in its own manual, under Errors and Warnings; --list shows ours"
        raise UsageError(f"no explanation for {word!r}", hint=f"{close} {tools}" if close else tools)
    return known[code]
