"""Any endpoint that speaks OpenAI's chat completions, through the openai SDK."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rtlagent.config import ModelConfig
from rtlagent.errors import ModelError
from rtlagent.models.dialogue import Answer, Dialogue, clipped
from rtlagent.models.events import EventKind, EventSink, ModelEvent, ignore
from rtlagent.models.faults import TransientFault, fault_of, output_room, retry_after_s
from rtlagent.models.price import Price
from rtlagent.models.redaction import redact
from rtlagent.types import Message, ModelReply, Usage

_CONNECT_TIMEOUT_S = 10.0


class OpenAIChat:
    """A model behind a chat completions endpoint."""

    def __init__(
        self,
        name: str,
        *,
        model: str,
        base_url: str,
        api_key: str,
        config: ModelConfig,
        price: Price | None,
        context_tokens: int | None = None,
        loopback: bool = False,
        key_hint: str = "",
        on_event: EventSink = ignore,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Take the settings; nothing is sent yet.

        Args:
            name: As the user would write it.
            model: As the endpoint calls it.
            base_url: Usually ends in `/v1`.
            api_key: Any text where the endpoint wants none.
            config: Temperature, limits, retries.
            price: None: unknown.
            context_tokens: None: unknown.
            loopback: The endpoint is on this machine, so no proxy leads there.
            key_hint: How to give a key, should the endpoint refuse this one.
            on_event: Told about retries and the like.
            sleep: Waits between retries.
            jitter: Gives a number from 0 to 1.
        """
        self.name = name
        self.context_tokens = context_tokens
        self.price = price
        request = ChatRequest(model, base_url, api_key, config, loopback=loopback, key_hint=key_hint, on_event=on_event)
        self._dialogue = Dialogue(request, config, price, on_event=on_event, sleep=sleep, jitter=jitter)

    def __repr__(self) -> str:
        return f"OpenAIChat({self.name!r})"

    def complete(
        self, messages: Sequence[Message], *, purpose: str, max_output_tokens: int | None = None
    ) -> ModelReply:
        """Answer the conversation; see ModelProvider.complete."""
        return self._dialogue.complete(messages, purpose=purpose, max_output_tokens=max_output_tokens)


class ChatRequest:
    """Sends one request, in the dialect that this server has shown to understand."""

    def __init__(
        self,
        model: str,
        base_url: str,
        api_key: str,
        config: ModelConfig,
        *,
        loopback: bool,
        key_hint: str,
        on_event: EventSink,
    ) -> None:
        self._model = model
        self._base_url = base_url
        self._api_key = api_key
        self._config = config
        self._loopback = loopback
        self._key_hint = key_hint
        self._on_event = on_event
        self._stream = config.stream
        self._limit_field = "max_completion_tokens" if "api.openai.com" in base_url else "max_tokens"
        self._largest_limit: int | None = None
        self._left_out: set[str] = set()
        self._changes: set[str] = set()

    def __repr__(self) -> str:
        return f"ChatRequest({self._model!r} at {self._base_url})"

    def send(self, messages: Sequence[Message], max_output_tokens: int | None, purpose: str) -> Answer:
        """Return the answer; a parameter that the server rejects is changed and sent again at once."""
        import openai

        while True:
            try:
                with self._client() as client:
                    answer = self._exchange(client, self._parameters(messages, max_output_tokens))
            except openai.APIStatusError as error:
                if error.status_code in (400, 422) and self._adapt(self._clean(error), purpose):
                    continue
                raise self._fault(error) from None
            except openai.APIError as error:
                raise self._fault(error) from None
            except ValueError as error:
                raise TransientFault(f"the endpoint's reply cannot be read: {self._redact(str(error))}") from None
            if answer.usage and clipped(messages, answer.usage):
                told = (
                    f"the server read only {answer.usage.tokens_in} tokens of a longer prompt: raise its context size"
                )
                self._on_event(ModelEvent(EventKind.CLIPPED, told, purpose))
            return answer

    def _client(self) -> Any:
        import openai

        return openai.OpenAI(
            api_key=self._api_key,
            base_url=self._base_url,
            max_retries=0,
            timeout=openai.Timeout(self._config.request_timeout_s, connect=_CONNECT_TIMEOUT_S),
            # A proxy cannot lead to this machine, whatever the environment says.
            http_client=openai.DefaultHttpxClient(trust_env=False) if self._loopback else None,
        )

    def _parameters(self, messages: Sequence[Message], max_output_tokens: int | None) -> dict[str, Any]:
        parameters: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": m.role, "content": m.content} for m in messages],
        }
        if self._config.temperature is not None:
            parameters["temperature"] = self._config.temperature
        limits = [n for n in (max_output_tokens, self._largest_limit) if n is not None]
        if max_output_tokens is not None:
            parameters[self._limit_field] = min(limits)
        if self._stream:
            parameters |= {"stream": True, "stream_options": {"include_usage": True}}
        return {k: v for k, v in parameters.items() if k not in self._left_out}

    def _exchange(self, client: Any, parameters: Mapping[str, Any]) -> Answer:
        if not parameters.get("stream"):
            raw = client.chat.completions.with_raw_response.create(**parameters)
            return self._read_completion(raw.http_response.content)
        with client.chat.completions.create(**parameters) as stream:
            if "application/json" in stream.response.headers.get("content-type", ""):
                return self._read_completion(stream.response.read())
            return self._read_stream(stream)

    def _read_stream(self, stream: Any) -> Answer:
        import openai

        text, refusal, finish, model, usage = "", "", "", "", None
        try:
            for chunk in stream:
                model = getattr(chunk, "model", None) or model
                usage = _usage_of(getattr(chunk, "usage", None)) or usage
                for choice in (getattr(chunk, "choices", None) or [])[:1]:
                    delta = getattr(choice, "delta", None)
                    text += getattr(delta, "content", None) or ""
                    refusal += getattr(delta, "refusal", None) or ""
                    finish = getattr(choice, "finish_reason", None) or finish
        except openai.APIStatusError:
            raise
        except (openai.APIError, ValueError) as error:
            fault = self._fault(error) if isinstance(error, openai.APIError) else None
            if isinstance(fault, ModelError):
                raise fault from None
            told = fault.message if fault else f"it cannot be read: {self._redact(str(error))}"
            raise TransientFault(f"the stream broke: {told}", partial_text=text) from None
        if not finish and usage is None:
            raise TransientFault("the stream ended before the reply was complete", partial_text=text)
        return Answer(text, finish or "stop", model or self._model, usage, refusal)

    def _read_completion(self, body: bytes) -> Answer:
        reply = json.loads(body)
        error = reply.get("error") if isinstance(reply, dict) else None
        if error:
            message = error.get("message") if isinstance(error, dict) else error
            code = error.get("code") if isinstance(error, dict) else ""
            raise fault_of(None, self._redact(str(message)), code=str(code or ""), key_hint=self._key_hint)
        try:
            choice = reply["choices"][0]
            message = choice["message"]
            text, refusal = message.get("content") or "", message.get("refusal") or ""
        except (KeyError, IndexError, TypeError, AttributeError):
            raise ValueError("it is no chat completion") from None
        model = str(reply.get("model") or self._model)
        return Answer(text, choice.get("finish_reason") or "stop", model, _usage_of(reply.get("usage")), refusal)

    def _adapt(self, message: str, purpose: str) -> bool:
        """Change what the server complains about; False if that is nothing we can change."""
        room = output_room(message)
        other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}[self._limit_field]
        change = ""
        if room is not None:
            change, self._largest_limit = f"{self._limit_field}: at most {room}", room
        elif "context" in message.lower():
            return False
        elif "stream_options" in message:
            change = "stream_options: left out"
            self._left_out.add("stream_options")
        elif self._limit_field in message:
            change, self._limit_field = f"{self._limit_field}: sent as {other}", other
        elif "temperature" in message:
            change = "temperature: left out"
            self._left_out.add("temperature")
        elif "stream" in message.lower() and self._stream:
            change, self._stream = "stream: off", False
        # The same change again means that it did not help.
        if not change or change in self._changes:
            return False
        self._changes.add(change)
        self._on_event(ModelEvent(EventKind.PARAMETER, change, purpose))
        return True

    def _fault(self, error: Any) -> TransientFault | ModelError:
        import openai

        if isinstance(error, openai.APITimeoutError):
            return TransientFault(f"no answer within {self._config.request_timeout_s:g} s")
        if isinstance(error, openai.APIConnectionError):
            cause = error.__cause__
            told = f"{type(cause).__name__}: {cause}" if cause is not None else "connection error"
            return TransientFault(f"connection to {self._base_url} failed: {self._redact(told)}")
        message = self._clean(error)
        code = str(error.code or error.type or "")
        if not isinstance(error, openai.APIStatusError):
            return fault_of(None, message, code=code, key_hint=self._key_hint)
        wait_s = retry_after_s(error.response.headers)
        return fault_of(error.status_code, message, code=code, retry_after_s=wait_s, key_hint=self._key_hint)

    def _clean(self, error: Any) -> str:
        """Return the server's own words in one line."""
        body = error.body
        message = body.get("message") or body.get("detail") if isinstance(body, dict) else body
        text = message if isinstance(message, str) and message else str(message or error.message)
        return self._redact(" ".join(text.split())[:1000])

    def _redact(self, text: str) -> str:
        return redact(text, [self._api_key])


def _usage_of(usage: object) -> Usage | None:
    """Read the counts of an SDK object or a parsed reply; None if there are none."""
    if usage is None:
        return None

    def get(source: object, field: str) -> Any:
        return source.get(field) if isinstance(source, Mapping) else getattr(source, field, None)

    counted_in, counted_out = get(usage, "prompt_tokens"), get(usage, "completion_tokens")
    if not isinstance(counted_in, int) or not isinstance(counted_out, int) or counted_in + counted_out == 0:
        return None
    cached = get(get(usage, "prompt_tokens_details"), "cached_tokens")
    return Usage(counted_in, cached if isinstance(cached, int) else 0, counted_out, None)
