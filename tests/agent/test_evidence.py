"""What a repair is told: the wrong cycles, the lines that drive the wrong output, and its waveform."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rtlagent.agent import failure
from rtlagent.agent.evidence import collect
from rtlagent.agent.oracle import GOLDEN_PATH
from rtlagent.agent.prompts import Prompts
from rtlagent.agent.replies import read_design, read_python
from rtlagent.agent.session import Session, Settings
from rtlagent.config import ToolConfig
from rtlagent.gates import Bench, Verifier
from rtlagent.spec import load_spec
from rtlagent.tools.golden import record_trace
from rtlagent.types import Candidate, Clock, Port, Reset, Spec, Verdict
from rtlagent.workspace import Run

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "edge_detector"
PORTS = (
    Port("clk", "input"),
    Port("rst", "input"),
    Port("d", "input", 8),
    Port("clear", "input", 8),
    Port("rose", "output", 8),
    Port("fell", "output", 8),
    Port("seen", "output", 8),
    Port("any_seen", "output"),
)


def recorded(purpose: str) -> str:
    lines = (EXAMPLE / "replies.jsonl").read_text().splitlines()
    return next(r["reply"]["content"] for r in map(json.loads, lines) if r["purpose"] == purpose)


@pytest.fixture
def session(tmp_path: Path, tool_config: ToolConfig) -> Session:
    spec = load_spec(EXAMPLE / "spec.md")
    run = Run.create(tmp_path, "evidence")
    return Session(run, spec, model=None, prompts=Prompts(), settings=Settings(), tools=tool_config)  # type: ignore[arg-type]


def judge(session: Session, broken: tuple[str, str]) -> tuple[Spec, Candidate, Verdict]:
    """Judge the recorded design with a fault put in."""
    spec = replace(session.spec, ports=PORTS, clock=Clock("clk"), reset=Reset("rst"))
    (file,) = read_design(recorded("generate"), default_path="rtl/edge_detector.v").files
    assert broken[0] in file.text
    candidate = Candidate((replace(file, text=file.text.replace(*broken)),))
    step, trace = record_trace(
        read_python(recorded("oracle"), GOLDEN_PATH),
        ports=PORTS,
        clock=spec.clock,
        reset=spec.reset,
        seed=1,
        random_cycles=200,
        config=session.tools,
    )
    assert trace is not None, step
    folder = session.run.folder
    return spec, candidate, Verifier(session.tools, Bench(trace), folder / "store", folder / "logs")(candidate, spec)


def wrong_seen() -> tuple[str, str]:
    """Return an edit of the recorded design that makes `seen` ignore `clear`."""
    (file,) = read_design(recorded("generate"), default_path="x.v").files
    line = next(x for x in file.text.splitlines() if "seen" in x and "~clear" in x)
    return line, line.replace("~clear", "8'hFF")


def test_the_wrong_output_is_explained(session: Session) -> None:
    spec, candidate, verdict = judge(session, wrong_seen())
    step = verdict.failing
    assert step is not None
    assert step.step == "simulate"
    assert failure.wrong_signals(verdict)[0] in ("seen", "any_seen")
    assert "seen" in failure.tests_text(step)
    assert "expected" in failure.detail_text(step)
    drivers, waveform = collect(session, spec, verdict, candidate)
    changed = wrong_seen()[1].strip()
    assert changed in drivers
    assert "rtl/edge_detector.v:" in drivers
    assert "seen" in waveform
    assert ">" in waveform


def test_the_explanation_is_the_same_every_time(session: Session) -> None:
    spec, candidate, verdict = judge(session, wrong_seen())
    assert collect(session, spec, verdict, candidate) == collect(session, spec, verdict, candidate)
    texts = [*collect(session, spec, verdict, candidate), failure.tests_text(verdict.failing)]  # type: ignore[arg-type]
    assert not any(str(session.run.folder) in t or "/tmp" in t for t in texts)


def test_a_lint_error_comes_with_its_line(session: Session) -> None:
    line = wrong_seen()[0]
    _, candidate, verdict = judge(session, (line, line.replace("~clear", "~cleer")))
    step = verdict.failing
    assert step is not None
    assert step.step == "lint"
    text = failure.diagnostics_text(step, candidate)
    assert "cleer" in text
    assert text.startswith("rtl/edge_detector.v:")
    assert line.strip().replace("~clear", "~cleer") in text
