from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from rtlagent.errors import ModelConfigError, ModelReplyError
from rtlagent.models.events import ModelEvent
from rtlagent.models.recording import parse_log, purpose_of, request_key
from rtlagent.models.replay import ReplayModel
from rtlagent.types import Message, Usage


def talk(purpose: str, text: str = "") -> list[Message]:
    return [Message("system", "You write Verilog."), Message("user", f"# Task: {purpose}\n{text}")]


def line(messages: list[Message], reply: str | None, **extra: Any) -> str:
    """One line as a recording endpoint writes it: the key covers messages, tools and format only."""
    plain = [{"role": m.role, "content": m.content} for m in messages]
    kept = {"messages": plain, "tools": None, "response_format": None}
    key = hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()
    request = {"model": "by-hand", "messages": plain, "stream": True}
    return json.dumps({"key": key, "request": request, "reply": {"content": reply}, **extra})


def open_log(tmp_path: Path, *lines: str, strict: bool = False) -> tuple[ReplayModel, list[ModelEvent]]:
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    events: list[ModelEvent] = []
    return ReplayModel(path, strict=strict, on_event=events.append), events


def test_key_is_the_recording_endpoints() -> None:
    assert json.loads(line(talk("generate"), "x"))["key"] == request_key(talk("generate"))
    assert request_key(talk("generate")) != request_key(talk("repair"))


def test_exact_keys_in_their_order_and_the_last_repeats(tmp_path: Path) -> None:
    ask = talk("generate", "an inverter")
    model, events = open_log(tmp_path, line(ask, "first"), line(talk("repair"), "other"), line(ask, "second"))
    assert [model.complete(ask, purpose="generate").text for _ in range(3)] == ["first", "second", "second"]
    assert events == []


def test_usage_is_estimated_and_free(tmp_path: Path) -> None:
    ask = talk("generate", "an inverter")
    model, _ = open_log(tmp_path, line(ask, "x" * 41, usage={"tokens_in": 9, "tokens_out": 9, "cost_usd": 3.0}))
    reply = model.complete(ask, purpose="generate")
    characters = sum(len(m.content) for m in ask)
    assert reply.usage == Usage(-(-characters // 4), 0, 11, 0.0, estimated=True)
    assert reply.model == "by-hand"


def test_inexact_takes_the_next_unused_of_the_same_purpose(tmp_path: Path) -> None:
    model, events = open_log(
        tmp_path,
        line(talk("understand", "old"), "U"),
        line(talk("repair", "old 1"), "R1"),
        line([Message("user", "no task line")], "R2", purpose="repair"),
        line(talk("repair", "old 3"), "R3"),
    )
    assert model.complete(talk("repair", "old 1"), purpose="repair").text == "R1"
    assert events == []
    assert model.complete(talk("repair", "new"), purpose="repair").text == "R2"
    assert model.complete(talk("repair", "newer"), purpose="repair").text == "R3"
    assert [e.message for e in events] == ["the prompt differs from the recording"] * 2
    assert events[0].purpose == "repair"
    with pytest.raises(ModelReplyError, match=r"for 'repair' are used up .*\(it holds: repair 3, understand 1\)"):
        model.complete(talk("repair", "newest"), purpose="repair")
    with pytest.raises(ModelReplyError, match="for 'oracle' do not exist"):
        model.complete(talk("oracle"), purpose="oracle")


def test_strict_refuses_another_prompt(tmp_path: Path) -> None:
    model, events = open_log(tmp_path, line(talk("generate", "old"), "G"), strict=True)
    with pytest.raises(ModelReplyError, match=r"prompt for 'generate' differs.*strict") as caught:
        model.complete(talk("generate", "new"), purpose="generate")
    assert "record again" in caught.value.hint
    assert events == []
    assert model.complete(talk("generate", "old"), purpose="generate").text == "G"


def test_lines_without_text_are_left_out(tmp_path: Path) -> None:
    ask = talk("generate")
    model, _ = open_log(tmp_path, line(ask, None), "", line(ask, "  "), line(ask, "text"))
    assert model.complete(ask, purpose="generate").text == "text"


@pytest.mark.parametrize(
    "bad", ["{", "[]", "42", '{"key": "a"}', '{"reply": {"content": "x"}}', '{"key": 1, "reply": {}}']
)
def test_damaged_log_names_the_line(tmp_path: Path, bad: str) -> None:
    with pytest.raises(ModelConfigError) as caught:
        open_log(tmp_path, line(talk("generate"), "x"), bad)
    assert caught.value.where.endswith("log.jsonl:2")


def test_missing_and_empty_logs(tmp_path: Path) -> None:
    with pytest.raises(ModelConfigError, match=r"cannot read .*nowhere\.jsonl: No such file"):
        ReplayModel(tmp_path / "nowhere.jsonl")
    with pytest.raises(ModelConfigError, match=r"cannot read .*: Is a directory"):
        ReplayModel(tmp_path)
    with pytest.raises(ModelConfigError, match="holds no recorded reply"):
        open_log(tmp_path)


@pytest.mark.parametrize(
    ("content", "purpose"),
    [
        ("# Task: oracle\nx", "oracle"),
        ("\n# Task:  repair \n", "repair"),
        ("Task: repair", ""),
        ("x\n# Task: repair", ""),
        ("", ""),
    ],
)
def test_purpose_of_a_prompt(content: str, purpose: str) -> None:
    messages = [Message("user", "# Task: understand"), Message("assistant", "ok"), Message("user", content)]
    assert purpose_of(messages) == purpose
    assert purpose_of([*messages, Message("assistant", "# Task: generate")]) == purpose


def test_key_is_recomputed_if_missing() -> None:
    record = json.loads(line(talk("generate"), "x"))
    del record["key"]
    (recording,) = parse_log(json.dumps(record).encode(), where="log")
    assert recording.key == request_key(talk("generate"))


def test_half_a_surrogate_pair_becomes_a_question_mark(tmp_path: Path) -> None:
    model, _ = open_log(tmp_path, line(talk("generate"), "a \ud800 b"))
    assert model.complete(talk("generate"), purpose="generate").text == "a ? b"


def test_a_line_nested_too_deeply_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelConfigError, match="nested") as caught:
        open_log(tmp_path, line(talk("generate"), "x"), "[" * 100_000)
    assert caught.value.where.endswith("log.jsonl:2")
