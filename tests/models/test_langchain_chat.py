"""Langchain's own openai provider against a real local server."""

from __future__ import annotations

from typing import Any

import pytest

from rtlagent.config import ModelConfig
from rtlagent.errors import (
    ModelConfigError,
    ModelRefusalError,
    ModelReplyError,
    ModelUnavailableError,
    PromptTooLongError,
)
from rtlagent.models import price_of
from rtlagent.models.langchain_chat import open_chat
from rtlagent.models.price import FREE
from rtlagent.types import Message, Usage

pytest.importorskip("langchain_openai")

KEY = "sk-test-0123456789abcdefSECRET"
ASK = [Message("system", "You write Verilog."), Message("user", "# Task: generate\nAn inverter, please.")]


@pytest.fixture
def chat(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)

    def open_it(config: ModelConfig | None = None) -> Any:
        return open_chat(
            "openai",
            "scripted",
            config or ModelConfig(),
            on_event=endpoint.events.append,
            sleep=endpoint.slept.append,
            jitter=lambda: 1.0,
        )

    return open_it


def ask(provider: Any, bound: int | None = None) -> Any:
    return provider.complete(ASK, purpose="generate", max_output_tokens=bound)


@pytest.mark.parametrize("stream", [True, False])
def test_answer_with_usage(endpoint: Any, chat: Any, stream: bool) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 40, "total_tokens": 140}
    endpoint.say("module inv; endmodule", usage={**usage, "prompt_tokens_details": {"cached_tokens": 80}})
    provider = chat(ModelConfig(stream=stream, temperature=0.3))
    reply = ask(provider, 77)
    assert reply.text == "module inv; endmodule"
    assert reply.model == "scripted"
    assert reply.usage == Usage(100, 80, 40, 0.0)
    sent = endpoint.requests[0]
    assert [(m["role"], m["content"]) for m in sent["messages"]] == [(m.role, m.content) for m in ASK]
    assert bool(sent.get("stream")) is stream
    assert sent["temperature"] == 0.3
    assert 77 in (sent.get("max_tokens"), sent.get("max_completion_tokens"))
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"
    assert provider.name == "langchain:openai:scripted"
    assert price_of(provider) == FREE


def test_missing_usage_is_estimated(endpoint: Any, chat: Any) -> None:
    endpoint.say("x" * 40, usage={})
    assert ask(chat()).usage.estimated


def test_retries(endpoint: Any, chat: Any) -> None:
    endpoint.fail(429, Retry_After="3")
    endpoint.fail(500)
    endpoint.reset()
    endpoint.stop_midway("half")
    endpoint.stop_midway("half", hard=True)
    endpoint.say("whole")
    assert ask(chat()).text == "whole"
    assert endpoint.slept == [3.0, 2.0, 4.0, 8.0, 16.0]
    assert endpoint.kinds() == ["retry"] * 5


def test_retries_end(endpoint: Any, chat: Any) -> None:
    endpoint.fail(503)
    endpoint.fail(503)
    with pytest.raises(ModelUnavailableError, match=r"HTTP 503.*after 2 tries"):
        ask(chat(ModelConfig(retries=1)))
    assert len(endpoint.requests) == 2


def test_silence_is_a_timeout(endpoint: Any, chat: Any) -> None:
    endpoint.hang(0.6)
    endpoint.say("ok")
    assert ask(chat(ModelConfig(request_timeout_s=0.2))).text == "ok"
    assert endpoint.kinds() == ["retry"]


@pytest.mark.parametrize("stream", [True, False])
def test_refusal_and_filter(endpoint: Any, chat: Any, stream: bool) -> None:
    for _ in range(2 if stream else 1):  # a streamed refusal comes empty, and is asked again
        endpoint.say(None, refusal="I cannot help with weapons.")
    with pytest.raises(ModelRefusalError, match="weapons"):
        ask(chat(ModelConfig(stream=stream)))
    endpoint.say("module", finish="content_filter")
    with pytest.raises(ModelRefusalError, match="content filter"):
        ask(chat(ModelConfig(stream=stream)))


def test_empty_then_good(endpoint: Any, chat: Any) -> None:
    endpoint.say("")
    endpoint.say("ok")
    assert ask(chat()).text == "ok"
    assert endpoint.kinds() == ["empty"]


@pytest.mark.parametrize("stream", [True, False])
def test_cut_and_continued(endpoint: Any, chat: Any, stream: bool) -> None:
    endpoint.say("assign y", finish="length")
    endpoint.say(" = ~a;")
    assert ask(chat(ModelConfig(stream=stream))).text == "assign y = ~a;"
    assert endpoint.requests[1]["messages"][2] == {"role": "assistant", "content": "assign y"}


def test_cut_for_good(endpoint: Any, chat: Any) -> None:
    endpoint.say("assign y", finish="length")
    with pytest.raises(ModelReplyError) as caught:
        ask(chat(ModelConfig(continuations=0)))
    assert caught.value.partial_text == "assign y"


def test_prompt_too_long(endpoint: Any, chat: Any) -> None:
    for message, code in (
        ("too many tokens", "context_length_exceeded"),
        ("request exceeds the available context size", None),
    ):
        endpoint.reject(message, code)
        with pytest.raises(PromptTooLongError):
            ask(chat())
    assert len(endpoint.requests) == 2


def test_the_key_is_never_shown(endpoint: Any, chat: Any) -> None:
    endpoint.reject(f"Incorrect API key provided: {KEY}", "invalid_api_key", 401)
    provider = chat()
    with pytest.raises(ModelConfigError, match=r"does not accept the key .*\[key\]") as caught:
        ask(provider)
    assert KEY not in f"{caught.value} {caught.value!r} {provider!r} {provider._dialogue._endpoint!r} {endpoint.events}"
    assert caught.value.hint == "check OPENAI_API_KEY"


def test_other_rejections_fail_at_once(endpoint: Any, chat: Any) -> None:
    endpoint.reject("messages: what is this?")
    with pytest.raises(ModelUnavailableError, match="what is this"):
        ask(chat())
    assert len(endpoint.requests) == 1
