"""`rtlagent init`: the first spec of a project, after four questions."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

_RESETS = {
    "high": "reset: {port: rst, active: high, synchronous: true}\n",
    "low": "reset: {port: rst_n, active: low, synchronous: false}\n",
    "none": "",
}
_PORTS = {"high": "input rst, ", "low": "input rst_n, ", "none": ""}


@dataclass(frozen=True)
class Answers:
    """What the four questions are about."""

    top: str = "blinker"
    purpose: str = "Toggle an output every four clock cycles while it is enabled."
    reset: str = "high"
    """`high` (synchronous rst), `low` (asynchronous rst_n) or `none`."""
    target: str = "ice40"


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the spec goes; made if missing.")] = Path(),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing; take what the options say.")] = False,
    top: Annotated[str | None, typer.Option("--top", help="Top module.", show_default=False)] = None,
    purpose: Annotated[str | None, typer.Option("--purpose", help="What it does.", show_default=False)] = None,
    reset: Annotated[str | None, typer.Option("--reset", help="high, low or none.", show_default=False)] = None,
    target: Annotated[
        str | None, typer.Option("--target", help="generic, ice40, ecp5 or xc7.", show_default=False)
    ] = None,
) -> None:
    """Write the first spec of a project, after four questions.

    Asks for the module's name, what it does, its reset and its target, and writes NAME.md, ready for
    `rtlagent generate`. An existing file is never overwritten.

    Exit codes: 0 written, 2 wrong answer, or the file exists.
    """
    from rtlagent.errors import RunError, UsageError
    from rtlagent.spec import load_spec

    given = {"top": top, "purpose": purpose, "reset": reset, "target": target}
    answers = replace(Answers(), **{k: v for k, v in given.items() if v is not None})
    check(answers)
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("there is nobody to ask", hint="add --yes, with --top, --purpose, --reset and --target")
        answers = _ask(answers, {k for k, v in given.items() if v is not None})
    path = folder / f"{answers.top}.md"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(template(answers))
    except FileExistsError:
        what = "exists already" if folder.is_dir() else "is not a folder"
        raise UsageError(what, where=str(path if folder.is_dir() else folder), hint="choose another --top") from None
    except OSError as error:
        raise RunError(f"cannot be written: {error.strerror}", where=str(path)) from error
    load_spec(path)  # what is written must be what `generate` takes
    print(f"{path}: written\n\nSay in it what the design does, then:\n  rtlagent generate {path}")


def check(answers: Answers) -> None:
    """Refuse an answer that no spec can have.

    Raises:
        UsageError: one.
    """
    from rtlagent.errors import UsageError, suggestion
    from rtlagent.spec import TARGETS
    from rtlagent.spec.names import why_not_identifier

    problem = why_not_identifier(answers.top)
    if problem:
        raise UsageError(f"{answers.top!r} {problem}", where="--top", hint="letters, digits and _, a letter first")
    if not answers.purpose.strip() or answers.purpose.strip().startswith("---"):
        raise UsageError("says nothing", where="--purpose")
    if answers.reset not in _RESETS:
        raise UsageError(f"unknown reset {answers.reset!r}", where="--reset", hint=suggestion(answers.reset, _RESETS))
    if answers.target not in TARGETS:
        raise UsageError(
            f"unknown target {answers.target!r}", where="--target", hint=suggestion(answers.target, TARGETS)
        )


def template(answers: Answers) -> str:
    """Return the spec's text."""
    reset = {"high": "While `rst` is 1 at a rising edge", "low": "While `rst_n` is 0", "none": "At power-up"}
    return f"""---
top: {answers.top}
ports: [input clk, {_PORTS[answers.reset]}input en, output q]   # also "input [7:0] data"
clock: clk
{_RESETS[answers.reset]}target: {answers.target}
# requirements: {{max_luts: 200, min_fmax_mhz: 100}}   # a frequency needs ice40 or ecp5
# tests: [tests/test_{answers.top}.py]                 # your own cocotb tests, protected by hash
# context: [rtl/]                                      # existing files to extend
---
# {answers.top}

{answers.purpose.strip()}

- Everything happens at the rising edge of `clk`.
- {reset[answers.reset]}, `q` is 0.
- Say for each output in which cycle it changes, and what happens at the limits: full, empty, both requests at once.
- Say what is not specified, so that nobody has to guess.
"""


def _ask(answers: Answers, known: set[str]) -> Answers:
    """Put the questions that the options left open; a wrong answer is asked again."""
    from rtlagent.errors import UsageError

    questions = (
        ("top", "Name of the module"),
        ("purpose", "What does it do, in a sentence"),
        ("reset", "Reset: high (synchronous rst), low (asynchronous rst_n) or none"),
        ("target", "Target: generic, ice40, ecp5 or xc7"),
    )
    for name, question in questions:
        while name not in known:
            said = typer.prompt(question, default=getattr(answers, name))
            try:
                changed = replace(answers, **{name: str(said).strip()})
                check(changed)
            except UsageError as error:
                print(f"{error.message}\n{error.hint}".strip())
                continue
            answers = changed
            known = known | {name}
    return answers
