"""cocotb's results.xml and tracebacks -> TestResult and Diagnostic."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import PurePosixPath

from rtlagent.tools.staging import Staged
from rtlagent.types import Diagnostic, Severity, Status, TestResult

_FRAME = re.compile(r'^\s*File "(?P<path>[^"\n]+)", line (?P<line>\d+)', re.M)
_CYCLE = re.compile(r"\bcycle[ =:#]*(\d+)", re.I)
_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}")
_MAX_MESSAGE = 4000
_RUNNING = re.compile(r"cocotb\.regression\s+running (\S+) \(\d+/\d+\)")
_NO_TEST = re.compile(r"^RuntimeError: No tests were discovered in any module: ", re.M)
ENDED_EARLY = "simulation ended before the tests did"


class UnreadableResultsError(Exception):
    """The report is missing, not XML, not cocotb's, or holds no test."""


@dataclass(frozen=True)
class Place:
    """A line of a staged file."""

    path: str
    line: int


def parse(xml_text: str | None, staged: Staged, *, seed: int, ended: bool = True) -> tuple[TestResult, ...]:
    """Read results.xml; one TestResult a testcase.

    Args:
        xml_text: The report; None: there is none.
        staged: The files of the job; only its Python modules can have tests.
        seed: Of the run.
        ended: Whether cocotb came to its own end after writing the report.

    Raises:
        UnreadableResultsError: there is nothing in it to go by.
    """
    if xml_text is None and ended:
        raise UnreadableResultsError("the simulation left no results.xml")
    if not ended or xml_text is None:
        said = ", and no results.xml" if xml_text is None else "; the results.xml that was left counts for nothing"
        raise UnreadableResultsError(f"the simulator ended before cocotb did (a crash, or os._exit in a test){said}")
    if "<!DOCTYPE" in xml_text or "<!ENTITY" in xml_text:
        raise UnreadableResultsError("results.xml is not cocotb's")
    try:
        root = ET.fromstring(xml_text)
    except ET.ParseError as error:
        raise UnreadableResultsError(f"results.xml cannot be read: {error}") from error
    cases = list(root.iter("testcase"))
    if root.tag != "testsuites" or not cases:
        raise UnreadableResultsError("results.xml holds no test")
    strangers = sorted({c.get("classname", "") for c in cases} - _modules(staged))
    if strangers:
        raise UnreadableResultsError(f"results.xml names tests of modules that were not given: {', '.join(strangers)}")
    return tuple(_result(case, staged, seed) for case in cases)


def _modules(staged: Staged) -> set[str]:
    """Return every name under which a test can import the Python files."""
    found = set()
    for path in map(PurePosixPath, staged.paths):
        if path.suffix == ".py":
            parts = path.parent.parts if path.stem == "__init__" else path.with_suffix("").parts
            found |= {".".join(parts[k:]) for k in range(len(parts))}
    return found


def _result(case: ET.Element, staged: Staged, seed: int) -> TestResult:
    name = f"{case.get('classname', '')}.{case.get('name', '')}".strip(".")
    bad = next((child for tag in ("failure", "error") for child in case.findall(tag)), None)
    if bad is None:
        status = Status.SKIPPED if case.find("skipped") is not None else Status.PASS
        return TestResult(name, status, seed=seed)
    text = _ADDRESS.sub("", _message(bad, staged))
    if len(text) > _MAX_MESSAGE:
        text = f"{text[:_MAX_MESSAGE]}... ({len(text)} characters)"
    if text != ENDED_EARLY:
        text += _time(case)
    found = _CYCLE.search(bad.get("message", ""))
    return TestResult(name, Status.FAIL, cycle=int(found[1]) if found else None, seed=seed, message=text)


def _message(bad: ET.Element, staged: Staged) -> str:
    kind, message = bad.get("type", ""), bad.get("message", "").strip()
    if kind == "SimFailure":
        return ENDED_EARLY
    place = deepest_place(bad.text or "", staged)
    where = f"{staged.originals[place.path]}:{place.line}: " if place else ""
    said = f"{kind}: {message}" if kind and message else kind or message
    source = _source_line(bad.text or "") if kind == "AssertionError" and "assert " not in message else ""
    return where + said + (f"\n{source}" if source else "")


def _time(case: ET.Element) -> str:
    values = {p.get("name"): p.get("value") for p in case.iter("property")}
    try:
        return f" (at {float(values['sim_time_stop'] or ''):g} ns)"
    except (KeyError, ValueError):
        return ""


def failure_time_ns(xml_text: str | None) -> float | None:
    """Return when the first failing test ended, in simulation time."""
    if xml_text is None:
        return None
    try:
        root = ET.fromstring(xml_text)
    except ET.ParseError:
        return None
    for case in root.iter("testcase"):
        if case.find("failure") is not None:
            value = next((p.get("value") for p in case.iter("property") if p.get("name") == "sim_time_stop"), None)
            return float(value) if value and re.fullmatch(r"[\d.]+(e\+?\d+)?", value) else None
    return None


def _source_line(traceback: str) -> str:
    lines = traceback.splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip().startswith("assert ")), "")


def deepest_place(traceback: str, staged: Staged) -> Place | None:
    """Return the innermost frame that lies in a staged file."""
    place = None
    for frame in _FRAME.finditer(traceback):
        path = frame["path"].removeprefix("/work/").removeprefix(f"{staged.folder}/").removeprefix("./")
        if path in staged.originals:
            place = Place(path, int(frame["line"]))
    return place


def start_failure(output: str, staged: Staged) -> Diagnostic | None:
    """Return why a test module could not be loaded, if its own text is to blame."""
    _, found, traceback = output.rpartition("Traceback (most recent call last):")
    place = deepest_place(traceback, staged) if found else None
    if place is None:
        return None
    last = next((line for line in reversed(traceback.splitlines()) if re.match(r"[A-Za-z_][\w.]*(:|$)", line)), "")
    kind, _, message = last.partition(":")
    if not kind:
        return None
    return Diagnostic(
        "cocotb", Severity.ERROR, kind.strip(), message.strip() or kind, staged.originals[place.path], place.line
    )


def holds_no_test(output: str) -> bool:
    """Say whether cocotb found the test module empty."""
    return _NO_TEST.search(output) is not None


def running_test(output: str) -> str | None:
    """Return the test that was running when the output was cut off."""
    names = _RUNNING.findall(output)
    return names[-1] if names else None
