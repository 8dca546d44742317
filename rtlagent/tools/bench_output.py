r"""Judge a SystemVerilog testbench by what it printed.

Testbenches have no report format, so this is a convention, and it is conservative. In order:

1. FAIL: the simulator reported `$error`, `$fatal`, a failed assertion or a missing $readmem file.
2. FAIL: a line speaks of failure: a word such as `FAIL`, `failed`, `ERROR`, `mismatch`, `wrong`,
   `timeout` in any case (VerilogEval's `Mismatches: 3 in 200 samples`, RTLLM's `===Error===`).
   Not so: a count of zero (`0 errors`, `Mismatches: 0 in 200 samples`, `no mismatches`); a line
   whose verdict is a pass (`Test 3 (overflow error): PASS`) without a count above zero; a line
   that only announces (`Testing error injection`); a signal's value (`error=1`).
3. FAIL: the simulation exited with something else than 0.
4. UNPROVEN: no line has a pass word (`PASS`, `passed`, `Your Design Passed`, `success`) or a
   summary with a count of zero. A silent testbench proves nothing.
5. UNPROVEN: a line says that nothing was tested (`0 tests PASSED`, `0 passed, 0 failed`, `Tests run: 0`,
   `Mismatches: 0 in 0 samples`) and none counts a test that was.
6. UNPROVEN: the design itself could have printed that, or ended the simulation.
7. PASS.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rtlagent.types import SourceFile, Status

_COUNTED = r"(?:errors|mismatch(?:es|ed)?|fail(?:s|ed|ures)?)"
_ZERO = re.compile(
    rf"\b(?:0|no|zero)\s+(?:\w+\s+){{0,2}}?(?:{_COUNTED}|error|failure)\b"
    rf"|\b{_COUNTED}(?:\s+\w+){{0,2}}?\s*(?:[:=]|\bis\b|\bare\b)\s*0+(?![\w.])",
    re.I,
)
_NONZERO = re.compile(
    rf"\b0*[1-9]\d*\s+(?:\w+\s+)?(?:{_COUNTED}|error)\b"
    rf"|\b(?:{_COUNTED}|error)(?:\s+\w+){{0,2}}?\s*(?:[:=]|\bis\b|\bare\b)\s*0*[1-9]",
    re.I,
)
_EDGE = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_WEAK_BAD = re.compile(rf"{_EDGE[0]}(?:errors?|incorrect|wrong|timed?[ -]?out){_EDGE[1]}", re.I)
_BAD = re.compile(rf"{_EDGE[0]}(?:fail(?:s|ed|ures?|ing)?|mismatch(?:es|ed)?|unsuccessful){_EDGE[1]}", re.I)
_GOOD = re.compile(rf"{_EDGE[0]}(?:pass(?:ed|es)?|success(?:ful|fully)?){_EDGE[1]}", re.I)
_NOT_GOOD = re.compile(r"\b(?:not|never|didn't|doesn't|no)\s+(?:\w+\s+)?(?:pass|success)", re.I)
_NONE_PASSED = re.compile(r"\b0+\s*(?:/|of|out of)\s*[1-9]\d*\b|\bpass(?:ed)?\s*[:=]\s*0+\b", re.I)
_TESTED = r"(?:tests?|(?:test ?)?cases?|checks?|vectors?|samples?|comparisons?|transactions?)"
_NOTHING_TESTED = re.compile(
    # Not the number of a test (`Test 0 passed`, `vector #0 passed`): what comes before the 0 tells.
    rf"(?:^|[^\w\s#\[.=]\s*|\b(?:ran|run|executed|performed|only|total|all|with|and|of|pass|passed)\s+)(?:0+|zero)\s+"
    rf"(?:\w+\s+){{0,2}}?(?:{_TESTED}|pass(?:ed|es)?)\b"
    r"|\b(?:tests|cases|checks|vectors|samples|comparisons|transactions)(?:\s+\w+){0,2}?\s*(?:[:=]|\bis\b|\bare\b)"
    r"\s*0+(?![\w.])"
    r"|\bno\s+(?:tests|checks|test ?cases|vectors|samples)\s+(?:(?:were|have been)\s+)?(?:run|ran|executed|found)\b",
    re.I,
)
_NONE_OF_NONE = re.compile(r"\b0+\s*(?:/|of|out of|in)\s*0+(?![\w.])", re.I)
_SOME_TESTED = re.compile(
    rf"\b0*[1-9]\d*\s+(?:\w+\s+){{0,2}}?(?:{_TESTED}|pass(?:ed|es)?)\b|\b(?:/|of|in)\s*0*[1-9]\d*\s+{_TESTED}\b"
    r"|\bpass(?:ed|es)?\s*[:=]\s*0*[1-9]",
    re.I,
)
_VERDICT_IS_PASS = re.compile(
    r"(?:[:>=)\]-]|\.\.)\s*\[?(?:pass(?:ed)?|success|ok)\]?[\s.!=*]*$|^\W*(?:pass(?:ed)?|ok)\b\W", re.I
)
_ANNOUNCES = re.compile(
    r"^\W*(?:info|note|test(?:s|ing)?|check(?:s|ing)?|start(?:s|ing)?|begin(?:ning)?|scenario|phase|running|inject\w*|case)\b",
    re.I,
)
_SIGNAL = re.compile(r"\b\w*(?:error|err|fail|pass|mismatch|timeout|wrong)\w*\s*=\s*(?:[01xz]|\d+'\w+)(?!\w)", re.I)
_PLURAL_COUNT = re.compile(r"\b(?:errors|failures|mismatches|failed)\w*\s*=", re.I)
_SEVERITY = re.compile(
    r"(?:ERROR|FATAL): (?P<icarus>\S+:\d+: ?.*)"
    r"|\[\d+\] %(?:Error|Fatal): (?P<assertion>\S+:\d+: ?.*)"
    r"|%(?:Error|Warning)(?:-[A-Z]+)?: (?P<verilator>[^\s:]+:\d+: (?!Verilog \$stop).*)"
)
# Lines of the simulators themselves.
_OWN = re.compile(
    r"- .*Verilog \$finish$|%Error: \S+ Verilog \$stop$|-Info: |VCD info: |\S+:\d+: \$(?:finish|stop) called"
)
_MAX_LINE = 500
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_PRINT = re.compile(r'\$f?(?:display|write|strobe|monitor)[bho]?\b\s*(?:\(\s*"(?P<format>(?:[^"\\\n]|\\.)*)")?')
_END = re.compile(r"\$(?:finish|stop|exit)\b")
_REACHES_OUT = re.compile(r"\$(?:root|system|fopen)\b|\$\s*``|``\s*\$")
_RISKY_FORMAT = re.compile(r"%\d*[smcpuz]|\\[0-7x]|pass|succe|mism|(?<!%)\b0|errors|fail", re.I)


@dataclass(frozen=True)
class Judgement:
    """A verdict and the lines it rests on."""

    status: Status
    message: str


def judge(output: str, returncode: int | None, design: Sequence[SourceFile]) -> Judgement:
    """Say how a finished testbench ended; the module's docstring has the rules."""
    reports = severity_reports(output)
    if reports:
        return Judgement(Status.FAIL, "\n".join(reports[:5]))
    lines = [line.strip()[:_MAX_LINE] for line in output.splitlines() if line.strip() and not _OWN.match(line)]
    bad = [line for line in lines if speaks_of_failure(line)]
    if bad:
        return Judgement(Status.FAIL, "\n".join(bad[:5]))
    if returncode != 0:
        last = f": {lines[-1]}" if lines else ""
        return Judgement(Status.FAIL, f"the simulation exited with {returncode}{last}")
    good = [line for line in lines if speaks_of_success(line)]
    if not good:
        said = "printed neither a pass nor a failure" if lines else "printed nothing"
        return Judgement(Status.UNPROVEN, f"the testbench {said}")
    empty = [line for line in lines if says_nothing_was_tested(line)]
    if empty and not any(_SOME_TESTED.search(line) for line in lines):
        return Judgement(Status.UNPROVEN, f"the testbench tested nothing: {empty[0]}")
    forger = possible_forger(design)
    if forger:
        return Judgement(Status.UNPROVEN, f"{forger}, so that what the testbench printed proves nothing")
    return Judgement(Status.PASS, good[-1])


def speaks_of_failure(line: str) -> bool:
    """Say whether a line is evidence of failure (rule 2)."""
    line = _without_signals(line)
    if _NONZERO.search(line) or _NOT_GOOD.search(line) or (_GOOD.search(line) and _NONE_PASSED.search(line)):
        return True
    rest = _ZERO.sub("", line)
    if _VERDICT_IS_PASS.search(rest):
        return False
    return bool(_BAD.search(rest) or (_WEAK_BAD.search(rest) and not _ANNOUNCES.search(rest)))


def speaks_of_success(line: str) -> bool:
    """Say whether a line that is no evidence of failure is evidence of success (rule 4)."""
    return bool(_GOOD.search(_without_signals(line)) or _ZERO.search(line))


def says_nothing_was_tested(line: str) -> bool:
    """Say whether a line counts its tests or its passes, and there are none (rule 5)."""
    # `0 tests failed` counts failures.
    return bool(_NONE_OF_NONE.search(line) or _NOTHING_TESTED.search(_ZERO.sub("", line)))


def _without_signals(line: str) -> str:
    """Take out what prints a signal's value, unless it looks like a count."""
    return _SIGNAL.sub(lambda m: m.group() if _PLURAL_COUNT.match(m.group()) else "", line)


def severity_reports(output: str) -> list[str]:
    """Return the `$error`, `$fatal` and assertion reports as `place: text`, in order."""
    found = []
    for line in output.splitlines():
        match = _SEVERITY.match(line)
        if match and (match["verilator"] is None or not line.startswith("%Warning") or "$readmem" in line):
            text = next(g for g in match.groups() if g is not None).strip()[:_MAX_LINE]
            found.append(f"{text} assertion failed" if text.endswith(":") else text)
    return found


def end_of_simulation(design: Sequence[SourceFile]) -> str:
    """Return where the design calls `$finish` or its like, as `path:line: the design calls ...`, or ''."""
    for file in design:
        text = _without_comments(file.text)
        found = _END.search(text)
        if found:
            return f"{file.path}:{_line(text, found.start())}: the design calls {found.group()}"
    return ""


def possible_forger(design: Sequence[SourceFile]) -> str:
    """Say which place of the design could print a pass word or end the simulation, or return ''.

    A print is harmless when its first argument is a literal format without words of a verdict
    and without conversions that print text.
    """
    ends = end_of_simulation(design)
    if ends:
        return ends
    for file in design:
        text = _without_comments(file.text)
        out = _REACHES_OUT.search(text)
        if out:
            return f"{file.path}:{_line(text, out.start())}: the design uses {out.group()}"
        for found in _PRINT.finditer(text):
            if found["format"] is None or _RISKY_FORMAT.search(found["format"]):
                return f"{file.path}:{_line(text, found.start())}: the design prints"
    return ""


def _without_comments(text: str) -> str:
    return _COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
