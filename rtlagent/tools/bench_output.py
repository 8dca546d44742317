r"""Judge a SystemVerilog testbench by what it printed.

Testbenches have no report format, so this is a convention, and it is conservative. In order:

1. FAIL: the simulator reported `$error`, `$fatal` or a failed assertion, or a line holds a failure
   word: `FAIL`, `FAILED`, `FAILURE`, `ERROR`, `MISMATCH` in any case (VerilogEval's
   `Mismatches: 3 in 200 samples`, RTLLM's `===Error===`), unless a count of zero stands with it
   (`0 errors`, `errors: 0`, `Mismatches: 0 in 200 samples`, `no mismatches`).
2. PASS: none of these, the program exited with 0, and a line holds a pass word (`PASS`, `PASSED`,
   `Your Design Passed`, `all tests passed`, `success`) or one of the counts of zero above.
3. UNPROVEN: neither. A silent testbench proves nothing.
4. UNPROVEN as well: a pass word that the design itself could have printed, or a design that can
   end the simulation (`$finish`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rtlagent.types import SourceFile, Status

_ZERO = re.compile(
    r"\b(?:0|no|zero)\s+(?:\w+\s+){0,2}?(?:errors?|mismatch(?:es)?|fail(?:s|ed|ures?)?)\b"
    r"|\b(?:errors?|mismatch(?:es)?|fail(?:s|ed|ures?)?)(?:\s+\w+){0,2}\s*[:=]\s*0+\b(?!\.\d)",
    re.I,
)
_BAD = re.compile(
    r"(?<![A-Za-z0-9])(?:fail(?:s|ed|ures?|ing)?|errors?|mismatch(?:es|ed)?|incorrect|wrong|timed?[ -]?out)(?![A-Za-z0-9])",
    re.I,
)
_GOOD = re.compile(r"(?<![A-Za-z0-9])(?:pass(?:ed|es)?|success(?:ful|fully)?)(?![A-Za-z0-9])", re.I)
_NOT_GOOD = re.compile(
    r"\b(?:not|never|0(?:\s*/\s*\d+)?|no)\s+(?:\w+\s+)?(?:pass(?:ed)?|success(?:ful)?)\b|\bunsuccessful", re.I
)
_SEVERITY = re.compile(
    r"^(?:ERROR|FATAL): (?P<place>\S+:\d+): ?(?P<text>.*)$|^\[\d+\] %(?:Error|Fatal): (?P<vplace>[^\s:]+:\d+): ?(?P<vtext>.*)$|^%Error: (?P<wplace>\S+:\d+): (?P<wtext>.*)$",
    re.M,
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_PRINT = re.compile(
    r"\$(?:f?display|f?write|f?strobe|f?monitor)[bho]?\b\s*(?P<args>\(\s*\"(?P<format>(?:[^\"\\\n]|\\.)*)\")?"
)
_END = re.compile(r"\$(?:finish|stop|fatal|exit|root|system|fopen)\b|\$\s*``|``\s*\$")
_RISKY_FORMAT = re.compile(r"%\d*[smcpuz]|\\[0-7x]|\b\w*(?:pass|succe|mism|err|fail)", re.I)


@dataclass(frozen=True)
class Judgement:
    """A verdict and the line it rests on."""

    status: Status
    message: str


def judge(output: str, returncode: int | None, design: Sequence[SourceFile]) -> Judgement:
    """Say how a finished testbench ended; the module's docstring has the rules."""
    reports = severity_reports(output)
    if reports:
        return Judgement(Status.FAIL, "\n".join(reports[:5]))
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    bad = [line for line in lines if _BAD.search(_ZERO.sub("", line)) or _NOT_GOOD.search(line)]
    if bad:
        return Judgement(Status.FAIL, "\n".join(bad[:5]))
    if returncode != 0:
        last = lines[-1] if lines else "no output"
        return Judgement(Status.FAIL, f"the simulation exited with {returncode}: {last}")
    good = [line for line in lines if _GOOD.search(line) or _ZERO.search(line)]
    if not good:
        return Judgement(
            Status.UNPROVEN,
            "the testbench " + ("printed neither a pass nor a failure" if lines else "printed nothing"),
        )
    forger = possible_forger(design)
    if forger:
        return Judgement(Status.UNPROVEN, f"{forger}, so that what the testbench printed proves nothing")
    return Judgement(Status.PASS, good[-1])


def severity_reports(output: str) -> list[str]:
    """Return the `$error`, `$fatal` and assertion reports as `place: text`, in order."""
    found = []
    for match in _SEVERITY.finditer(output):
        place = match["place"] or match["vplace"] or match["wplace"]
        text = (match["text"] or match["vtext"] or match["wtext"] or "").strip()
        found.append(f"{place}: {text or 'assertion failed'}")
    return found


def possible_forger(design: Sequence[SourceFile]) -> str:
    """Say which place of the design could print a pass word or end the simulation, or return ''.

    A print is harmless when its first argument is a literal format without words of a verdict
    and without conversions that print text.
    """
    for file in design:
        text = _COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), file.text)
        end = _END.search(text)
        if end:
            return f"{file.path}:{_line(text, end.start())}: the design itself uses {end.group()}"
        for found in _PRINT.finditer(text):
            if found["format"] is None or _RISKY_FORMAT.search(found["format"]):
                return f"{file.path}:{_line(text, found.start())}: the design itself prints"
    return ""


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
