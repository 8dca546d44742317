"""Make Verilator schedule the non-blocking assignments of a testbench's `initial` blocks.

Verilator before 5.050 executes `<=` in an `initial` block (and in the tasks that it calls) as `=`,
with a mere warning (INITIALDLY). A testbench that drives the design after `@(posedge clk)` then
races with it and judges right designs wrong. In an `always` block `<=` is scheduled as it should:

    initial begin @(posedge clk); d <= 1; end
    always begin begin @(posedge clk); d <= 1; end wait (0); end
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|\\\S+|`?\b(?P<word>initial|begin|end)\b(?![\w$])|<=|[A-Za-z_$][\w$]*",
    re.S,
)
_LABEL = re.compile(r"\s*:\s*[A-Za-z_]\w*")
_START = re.compile(r"\s*begin\b")


def schedule_assignments(text: str) -> str:
    """Return `text` with every `initial begin ... end` as an `always` block that runs once.

    Text without `<=` comes back unchanged, and so do `initial` blocks of one statement. Lines keep
    their numbers.
    """
    if "<=" not in text:
        return text
    edits: list[tuple[int, int, str]] = []
    depth = 0
    opened: int | None = None
    for token in _TOKEN.finditer(text):
        word = token["word"]
        if token.group().startswith("`"):
            continue
        if word == "initial" and opened is None and _START.match(text, token.end()):
            opened, depth = token.start(), 0
        elif word == "begin" and opened is not None:
            depth += 1
        elif word == "end" and opened is not None:
            depth -= 1
            if depth == 0:
                label = _LABEL.match(text, token.end())
                end = label.end() if label else token.end()
                edits += [(opened, opened + len("initial"), "always begin"), (end, end, " wait (0); end")]
                opened = None
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    return text
