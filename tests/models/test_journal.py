from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from rtlagent.config import BudgetConfig
from rtlagent.errors import LimitError, ModelReplyError, RunError
from rtlagent.models import Budget, JournaledModel, ModelEvent, for_run
from rtlagent.models.price import Price
from rtlagent.models.recording import format_line, request_key
from rtlagent.models.replay import ReplayModel
from rtlagent.types import Message, ModelReply, Usage

ASK = [Message("user", "# Task: generate\nan inverter — ±1 ns")]
OTHER = [Message("user", "# Task: repair\nit fails")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.jsonl"


def test_each_reply_is_on_disk_before_it_is_returned(endpoint: Any, path: Path) -> None:
    endpoint.say("assign y = ~a; // ±")
    with JournaledModel(endpoint.provider(price=Price(1.0, 1.0, 1.0)), path) as model:
        reply = model.complete(ASK, purpose="generate")
        (line,) = path.read_bytes().splitlines()
    record = json.loads(line)
    assert record["key"] == request_key(ASK)
    assert record["request"] == {"messages": [{"role": "user", "content": ASK[0].content}]}
    assert record["reply"] == {"content": reply.text}
    assert (record["purpose"], record["model"], record["finish_reason"]) == ("generate", "scripted", "stop")
    assert record["usage"]["tokens_in"] == 10
    assert record["wall_s"] >= 0


def test_resume_asks_nothing_twice_and_keeps_the_order(endpoint: Any, path: Path) -> None:
    for text in ("one", "other", "two"):
        endpoint.say(text)
    with JournaledModel(endpoint.provider(), path) as model:
        first = model.complete(ASK, purpose="generate")
        model.complete(OTHER, purpose="repair")
        assert model.complete(ASK, purpose="generate").text == "two"
    events: list[ModelEvent] = []
    endpoint.say("three")
    with JournaledModel(endpoint.provider(), path, on_event=events.append) as model:
        assert model.recorded_usage == Usage(30, 0, 15, 0.0)
        assert model.complete(ASK, purpose="generate") == first
        assert model.complete(ASK, purpose="generate").text == "two"
        assert len(endpoint.requests) == 3
        assert model.complete(ASK, purpose="generate").text == "three"
        assert model.complete(OTHER, purpose="repair").text == "other"
    assert [e.kind for e in events] == ["reused"] * 3
    assert len(path.read_bytes().splitlines()) == 4


def test_a_failed_call_is_not_recorded(endpoint: Any, path: Path) -> None:
    endpoint.say(None, refusal="no")
    endpoint.say("ok")
    with JournaledModel(endpoint.provider(), path) as model:
        with pytest.raises(Exception, match="declined"):
            model.complete(ASK, purpose="generate")
        assert path.read_bytes() == b""
        assert model.complete(ASK, purpose="generate").text == "ok"


def written(text: str, messages: list[Message] = ASK) -> bytes:
    purpose = "repair" if messages is OTHER else "generate"
    return format_line(messages, ModelReply(text, Usage(1, 0, 1, 0.0), "m"), purpose=purpose, wall_s=0.1)


@pytest.mark.parametrize("keep", [1, 20, 100, -2])
def test_a_truncated_last_line_is_dropped(endpoint: Any, path: Path, keep: int) -> None:
    path.write_bytes(written("one") + written("two")[:keep])
    events: list[ModelEvent] = []
    endpoint.say("asked again")
    with JournaledModel(endpoint.provider(), path, on_event=events.append) as model:
        assert path.read_bytes() == written("one")
        assert model.complete(ASK, purpose="generate").text == "one"
        assert model.complete(ASK, purpose="generate").text == "asked again"
    assert [e.kind for e in events] == ["repaired", "reused"]
    assert len(path.read_bytes().splitlines()) == 2
    with JournaledModel(endpoint.provider(), path) as model:
        assert [model.complete(ASK, purpose="generate").text for _ in range(2)] == ["one", "asked again"]


def test_a_last_line_that_lacks_only_its_end_is_kept(endpoint: Any, path: Path) -> None:
    path.write_bytes(written("one") + written("two")[:-1])
    with JournaledModel(endpoint.provider(), path) as model:
        assert [model.complete(ASK, purpose="generate").text for _ in range(2)] == ["one", "two"]
    assert path.read_bytes() == written("one") + written("two")


def test_damage_before_the_last_line_is_an_error(endpoint: Any, path: Path) -> None:
    path.write_bytes(written("one") + b'{"key": tru\n' + written("two"))
    before = path.read_bytes()
    with pytest.raises(RunError) as caught:
        JournaledModel(endpoint.provider(), path)
    assert caught.value.where == f"{path}:2"
    assert path.read_bytes() == before


def test_a_second_writer_is_refused(endpoint: Any, path: Path) -> None:
    with JournaledModel(endpoint.provider(), path):
        script = (
            "import sys, pathlib\n"
            "from rtlagent.errors import RunError\n"
            "from rtlagent.models import JournaledModel\n"
            "try: JournaledModel(None, pathlib.Path(sys.argv[1]))\n"
            "except RunError as error: sys.exit(f'refused: {error.message}')\n"
        )
        other = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False)
        assert other.returncode == 1
        assert f"refused: another process is writing {path}" in other.stderr
        with pytest.raises(RunError, match="another process"):
            JournaledModel(endpoint.provider(), path)
    JournaledModel(endpoint.provider(), path).close()


def test_killed_while_asking(endpoint: Any, path: Path) -> None:
    """SIGKILL during the second request: the first answer is kept, the second is asked again."""
    script = (
        "import sys, pathlib\n"
        "from rtlagent.config import ModelConfig\n"
        "from rtlagent.models import JournaledModel, resolve\n"
        "from rtlagent.types import Message\n"
        "model = JournaledModel(resolve(sys.argv[2], ModelConfig()), pathlib.Path(sys.argv[1]))\n"
        "for text in ('first', 'second'):\n"
        "    model.complete([Message('user', text)], purpose='generate')\n"
    )
    endpoint.say("one")
    waiting = threading.Event()
    killed = threading.Event()

    def stall(handler: Any, body: Any) -> None:
        waiting.set()
        killed.wait(20)

    endpoint.steps.append(stall)
    victim = subprocess.Popen([sys.executable, "-c", script, str(path), f"{endpoint.url}#scripted"])
    try:
        assert waiting.wait(30)
    finally:
        victim.kill()
        victim.wait()
        killed.set()
    endpoint.say("two")
    with JournaledModel(endpoint.provider(), path) as model:
        replies = [model.complete([Message("user", t)], purpose="generate").text for t in ("first", "second")]
    assert replies == ["one", "two"]
    assert [r["messages"][0]["content"] for r in endpoint.requests] == ["first", "second", "second"]


def test_a_journal_is_a_replay_log(endpoint: Any, path: Path) -> None:
    endpoint.say("one")
    endpoint.say("fixed")
    with JournaledModel(endpoint.provider(), path) as model:
        model.complete(ASK, purpose="generate")
        model.complete(OTHER, purpose="repair")
    replay = ReplayModel(path, strict=True)
    assert replay.complete(OTHER, purpose="repair").text == "fixed"
    assert replay.complete(ASK, purpose="generate").text == "one"


def test_a_resumed_replay_goes_on_where_it_stopped(tmp_path: Path, path: Path) -> None:
    """What the journal answers counts as given by the replayed log, exact or not."""
    log = tmp_path / "log.jsonl"
    log.write_bytes(written("G1") + written("G2") + written("R1", OTHER))
    changed = [Message("user", "# Task: generate\nanother prompt")]
    budget = Budget(BudgetConfig())
    with for_run(ReplayModel(log), journal=path, budget=budget) as model:
        assert model.complete(changed, purpose="generate").text == "G1"
    with for_run(ReplayModel(log), journal=path, budget=Budget(BudgetConfig())) as model:
        assert model.complete(changed, purpose="generate").text == "G1"
        assert model.complete(changed, purpose="generate").text == "G2"
        with pytest.raises(ModelReplyError, match="used up"):
            model.complete(changed, purpose="generate")


def test_what_was_spent_before_a_resume_counts(endpoint: Any, path: Path) -> None:
    limits = BudgetConfig(max_tokens=150)
    endpoint.say("one", usage={"prompt_tokens": 60, "completion_tokens": 50})
    with for_run(endpoint.provider(), journal=path, budget=Budget(limits)) as model:
        model.complete(ASK, purpose="generate")
    budget = Budget(limits)
    with for_run(endpoint.provider(), journal=path, budget=budget) as model:
        assert budget.spent == Usage(60, 0, 50, 0.0)
        assert model.complete(ASK, purpose="generate").text == "one"
        assert budget.spent == Usage(60, 0, 50, 0.0)
        with pytest.raises(LimitError, match="110 of 150 tokens used"):
            model.complete(OTHER, purpose="repair")
    assert len(endpoint.requests) == 1


def test_a_full_disk_leaves_no_half_line(endpoint: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint.say("one")
    real = os.write

    def full(fd: int, data: bytes) -> int:
        if len(data) < 100:
            raise OSError(28, "No space left on device")
        return real(fd, data[:-50])

    with JournaledModel(endpoint.provider(), path) as model:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(RunError, match=r"cannot write .*No space left"):
            model.complete(ASK, purpose="generate")
        monkeypatch.undo()
    assert path.read_bytes() == b""
