# ruff: noqa: E501  the servers' own words, uncut
from __future__ import annotations

from dataclasses import replace
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
from rtlagent.models.price import Price
from rtlagent.types import Message, Usage

ASK = [Message("system", "You write Verilog."), Message("user", "# Task: generate\nAn inverter, please.")]
KEY = "sk-proj-0123456789abcdefSECRET"


def ask(endpoint: Any, config: ModelConfig | None = None, **options: Any) -> Any:
    return endpoint.provider(config, **options).complete(ASK, purpose="generate")


@pytest.mark.parametrize("stream", [True, False])
def test_answer_with_usage(endpoint: Any, stream: bool) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 40, "prompt_tokens_details": {"cached_tokens": 80}}
    endpoint.say("module inv; endmodule", usage=usage)
    reply = ask(endpoint, ModelConfig(stream=stream), price=Price(10.0, 1.0, 100.0))
    assert reply.text == "module inv; endmodule"
    assert reply.model == "scripted"
    cost = (20 * 10 + 80 * 1 + 40 * 100) / 1e6
    assert reply.usage == Usage(100, 80, 40, pytest.approx(cost), estimated=False)
    assert [m["content"] for m in endpoint.requests[0]["messages"]] == [m.content for m in ASK]
    assert endpoint.requests[0].get("stream", False) is stream
    assert "temperature" not in endpoint.requests[0]
    assert "max_tokens" not in endpoint.requests[0]


def test_settings_are_sent(endpoint: Any) -> None:
    endpoint.say("ok")
    provider = endpoint.provider(ModelConfig(temperature=0.2, max_output_tokens=500))
    provider.complete(ASK, purpose="generate", max_output_tokens=300)
    assert endpoint.requests[0]["temperature"] == 0.2
    assert endpoint.requests[0]["max_tokens"] == 300


@pytest.mark.parametrize("stream", [True, False])
def test_missing_usage_is_estimated_and_unknown_price_stays_unknown(endpoint: Any, stream: bool) -> None:
    endpoint.say("x" * 400, usage={})
    reply = ask(endpoint, ModelConfig(stream=stream), price=None)
    assert reply.usage == Usage(len(ASK[0].content + ASK[1].content) // 4 + 1, 0, 100, None, estimated=True)


def test_429_waits_as_told_and_500s_back_off(endpoint: Any) -> None:
    endpoint.fail(429, Retry_After="7")
    endpoint.fail(500)
    endpoint.fail(503)
    endpoint.fail(408)
    endpoint.fail(409, retry_after_ms="1500")
    endpoint.say("ok")
    assert ask(endpoint).text == "ok"
    assert endpoint.slept == [7.0, 2.0, 4.0, 8.0, 1.5]
    assert endpoint.kinds() == ["retry"] * 5
    assert "429" in endpoint.events[0].message
    assert endpoint.events[0].delay_s == 7.0
    assert endpoint.events[0].purpose == "generate"


def test_retries_end(endpoint: Any) -> None:
    for _ in range(3):
        endpoint.fail(500)
    with pytest.raises(ModelUnavailableError, match=r"HTTP 500: scripted 500 \(after 3 tries\)"):
        ask(endpoint, ModelConfig(retries=2))
    assert len(endpoint.requests) == 3


def test_a_long_retry_after_is_not_slept_through(endpoint: Any) -> None:
    endpoint.fail(429, Retry_After="86400")
    with pytest.raises(ModelUnavailableError, match="asks to wait 86400 s"):
        ask(endpoint)
    assert endpoint.slept == []


def test_no_credit_is_not_retried(endpoint: Any) -> None:
    endpoint.reject("You exceeded your current quota", "insufficient_quota", 429)
    with pytest.raises(ModelUnavailableError, match="exceeded your current quota"):
        ask(endpoint)
    assert len(endpoint.requests) == 1


def test_connection_reset(endpoint: Any) -> None:
    endpoint.reset()
    endpoint.say("ok")
    assert ask(endpoint).text == "ok"
    assert endpoint.kinds() == ["retry"]


def test_nobody_listens(endpoint: Any) -> None:
    provider = endpoint.provider(ModelConfig(retries=1))
    endpoint.server.server_close()
    with pytest.raises(
        ModelUnavailableError, match=r"connection to http://127.0.0.1:\d+/v1 failed: .* \(after 2 tries\)"
    ):
        provider.complete(ASK, purpose="generate")


@pytest.mark.parametrize("hard", [False, True])
def test_stream_broken_midway(endpoint: Any, hard: bool) -> None:
    endpoint.stop_midway("half of an ans", hard=hard)
    endpoint.say("a whole answer")
    reply = ask(endpoint, price=Price(1.0, 1.0, 1.0))
    assert reply.text == "a whole answer"
    assert endpoint.kinds() == ["retry"]
    # What broke off has been paid for: its prompt and its text count too.
    assert reply.usage.tokens_out == 5 + 4
    assert reply.usage.tokens_in > 10
    assert reply.usage.estimated


def test_stream_with_unreadable_chunk(endpoint: Any) -> None:
    endpoint.stream_raw('{"choices": [{"ind')
    endpoint.say("ok")
    assert ask(endpoint).text == "ok"
    assert endpoint.kinds() == ["retry"]


def test_error_inside_a_stream(endpoint: Any) -> None:
    endpoint.stream_raw('{"error": {"message": "the engine died", "code": 500}}')
    endpoint.stream_raw('{"error": {"message": "the request exceeds the available context size", "code": 400}}')
    with pytest.raises(PromptTooLongError):
        ask(endpoint)
    assert "the engine died" in endpoint.events[0].message


@pytest.mark.parametrize(
    ("body", "content_type"),
    [(b"{not json", "application/json"), (b"<html>gateway</html>", "text/html"), (b"[]", "application/json")],
)
@pytest.mark.parametrize("stream", [True, False])
def test_unreadable_reply_is_retried(endpoint: Any, body: bytes, content_type: str, stream: bool) -> None:
    endpoint.raw(body, content_type)
    endpoint.say("ok")
    assert ask(endpoint, ModelConfig(stream=stream)).text == "ok"
    assert endpoint.kinds() == ["retry"]


def test_error_in_a_200_reply(endpoint: Any) -> None:
    endpoint.raw(b'{"error": {"message": "upstream is busy", "code": 502}}')
    endpoint.say("ok")
    assert ask(endpoint, ModelConfig(stream=False)).text == "ok"
    assert "upstream is busy" in endpoint.events[0].message


def test_server_that_does_not_stream(endpoint: Any) -> None:
    endpoint.raw(b'{"choices": [{"message": {"content": "plain"}, "finish_reason": "stop"}]}')
    assert ask(endpoint).text == "plain"


def test_silence_is_a_timeout(endpoint: Any) -> None:
    endpoint.hang(0.6)
    endpoint.say("ok")
    assert ask(endpoint, ModelConfig(request_timeout_s=0.2)).text == "ok"
    assert "no answer within 0.2 s" in endpoint.events[0].message


@pytest.mark.parametrize("stream", [True, False])
def test_refusal(endpoint: Any, stream: bool) -> None:
    endpoint.say(None, refusal="I cannot help with weapons.")
    with pytest.raises(ModelRefusalError, match="I cannot help with weapons") as caught:
        ask(endpoint, ModelConfig(stream=stream))
    assert caught.value.usage == Usage(10, 0, 5, 0.0)


def test_content_filter(endpoint: Any) -> None:
    endpoint.say("module", finish="content_filter")
    with pytest.raises(ModelRefusalError, match="content filter"):
        ask(endpoint)
    endpoint.reject("The response was filtered due to the content management policy.", "content_filter")
    with pytest.raises(ModelRefusalError, match="content filter"):
        ask(endpoint)
    assert len(endpoint.requests) == 2


def test_empty_reply_is_asked_again(endpoint: Any) -> None:
    endpoint.say("")
    endpoint.say("ok")
    reply = ask(endpoint)
    assert reply.text == "ok"
    assert reply.usage.tokens_out == 10
    assert endpoint.kinds() == ["empty"]


def test_empty_for_good(endpoint: Any) -> None:
    for _ in range(3):
        endpoint.say("")
    with pytest.raises(ModelReplyError, match="empty, 3 times") as caught:
        ask(endpoint)
    assert caught.value.usage == Usage(30, 0, 15, 0.0)


def test_thoughts_are_no_answer(endpoint: Any) -> None:
    endpoint.say("<think>an inverter negates</think>\n\nassign y = ~a;")
    assert ask(endpoint).text == "assign y = ~a;"
    for _ in range(3):
        endpoint.say("<think>an inverter negates, so", finish="length")
    with pytest.raises(ModelReplyError, match="used up its output tokens"):
        ask(endpoint)


def test_cut_reply_is_continued(endpoint: Any) -> None:
    endpoint.say("```verilog\nmodule inv(input a, out", finish="length")
    endpoint.say("put y);\nassign y", finish="length")
    endpoint.say(" = ~a;\nendmodule\n```\n")
    reply = ask(endpoint, ModelConfig(max_output_tokens=64))
    assert reply.text == "```verilog\nmodule inv(input a, output y);\nassign y = ~a;\nendmodule\n```\n"
    assert reply.finish_reason == "stop"
    assert reply.usage == Usage(30, 0, 15, 0.0)
    assert endpoint.kinds() == ["continue", "continue"]
    third = endpoint.requests[2]["messages"]
    assert third[:2] == endpoint.requests[0]["messages"]
    assert third[2] == {"role": "assistant", "content": "```verilog\nmodule inv(input a, output y);\nassign y"}
    assert third[3]["role"] == "user"
    assert "{" not in third[3]["content"]


def test_cut_for_good_keeps_the_partial_text(endpoint: Any) -> None:
    for part in ("one ", "two ", "three "):
        endpoint.say(part, finish="length")
    with pytest.raises(ModelReplyError, match="after 2 continuations") as caught:
        ask(endpoint, ModelConfig(continuations=2))
    assert caught.value.partial_text == "one two three "


def test_bound_on_the_whole_answer(endpoint: Any) -> None:
    endpoint.say("one ", finish="length")
    endpoint.say("two ", finish="length")
    with pytest.raises(ModelReplyError, match="bound of 9 tokens") as caught:
        endpoint.provider().complete(ASK, purpose="generate", max_output_tokens=9)
    assert [r["max_tokens"] for r in endpoint.requests] == [9, 4]
    assert caught.value.partial_text == "one two "


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (
            400,
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
            "context_length_exceeded",
        ),
        (400, "Your input exceeds the context window of this model.", None),
        (
            400,
            "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
            None,
        ),
        (400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096.", None),
        (400, "the request exceeds the available context size, try increasing it", "exceed_context_size_error"),
        (400, "request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it", None),
        (500, "Context size has been exceeded.", None),
        (500, "context shift is disabled", None),
        (400, "the input length exceeds the context length", None),
        (400, "prompt too long; exceeded max context length by 12 tokens", None),
        (400, "Trying to keep the first 5000 tokens when context the overflows.", None),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", None),
        (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", None),
        (400, "The input (5000 tokens) is longer than the model's context length (4096 tokens).", None),
        (413, "Payload too large", None),
        (
            429,
            "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000.",
            "rate_limit_exceeded",
        ),
    ],
)
def test_prompt_too_long(endpoint: Any, status: int, message: str, code: str | None) -> None:
    endpoint.reject(message, code, status)
    with pytest.raises(PromptTooLongError):
        ask(endpoint, ModelConfig(max_output_tokens=1000))
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("message", "limit"),
    [
        (
            "This model's maximum context length is 4096 tokens. However, you requested 5100 tokens (100 in the messages, 5000 in the completion).",
            3996,
        ),
        (
            "'max_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 1096 input tokens",
            3000,
        ),
        (
            "max_tokens is too large: 5000. This model supports at most 4000 completion tokens, whereas you provided 5000.",
            4000,
        ),
    ],
)
def test_output_limit_too_large_is_lowered(endpoint: Any, message: str, limit: int) -> None:
    endpoint.reject(message)
    endpoint.say("ok")
    assert ask(endpoint, ModelConfig(max_output_tokens=5000)).text == "ok"
    assert [r["max_tokens"] for r in endpoint.requests] == [5000, limit]


def test_renamed_output_limit_and_refused_parameters(endpoint: Any) -> None:
    endpoint.reject(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    endpoint.reject("Unsupported value: 'temperature' does not support 0.5 with this model.")
    endpoint.reject("Unknown field: stream_options", status=422)
    endpoint.say("ok")
    endpoint.say("again")
    provider = endpoint.provider(ModelConfig(temperature=0.5, max_output_tokens=100))
    assert provider.complete(ASK, purpose="generate").text == "ok"
    assert provider.complete(ASK, purpose="generate").text == "again"
    last = endpoint.requests[-1]
    assert last["max_completion_tokens"] == 100
    assert not {"max_tokens", "temperature", "stream_options"} & set(last)
    assert endpoint.kinds() == ["parameter"] * 3
    assert endpoint.slept == []


def test_the_same_complaint_twice_fails(endpoint: Any) -> None:
    endpoint.reject("max_tokens: bad")
    endpoint.reject("max_completion_tokens: bad")
    endpoint.reject("max_tokens: bad")
    with pytest.raises(ModelUnavailableError, match="HTTP 400: max_tokens: bad"):
        ask(endpoint, ModelConfig(max_output_tokens=100))


def test_other_rejections_fail_at_once(endpoint: Any) -> None:
    endpoint.reject("messages: role 'system' is not known")
    with pytest.raises(ModelUnavailableError, match="HTTP 400: messages: role 'system' is not known"):
        ask(endpoint)
    endpoint.fail(404, {"detail": "no such model"})
    with pytest.raises(ModelConfigError, match="no such model"):
        ask(endpoint)
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize("stream", [True, False])
def test_the_key_is_sent_and_never_shown(endpoint: Any, stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "another-secret-value")
    endpoint.reject(f"Incorrect API key provided: {KEY}; not another-secret-value either", "invalid_api_key", 401)
    provider = endpoint.provider(replace(ModelConfig(), stream=stream), key=KEY)
    with pytest.raises(ModelConfigError, match="Incorrect API key provided: \\[key\\]") as caught:
        provider.complete(ASK, purpose="generate")
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"
    shown = f"{caught.value} {caught.value!r} {provider!r} {provider._dialogue._endpoint!r} {endpoint.events}"
    assert KEY not in shown
    assert "another-secret-value" not in shown
    assert caught.value.__cause__ is None


def test_a_clipped_prompt_is_reported(endpoint: Any) -> None:
    endpoint.say("ok", usage={"prompt_tokens": 2050, "completion_tokens": 5})
    endpoint.provider().complete([Message("user", "word " * 8000)], purpose="generate")
    assert endpoint.kinds() == ["clipped"]
