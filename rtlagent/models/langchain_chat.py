"""Any chat model that langchain knows, under the same policy as our own endpoint."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rtlagent.config import ModelConfig
from rtlagent.errors import ModelConfigError, ModelError, PromptTooLongError
from rtlagent.models.dialogue import Answer, Dialogue
from rtlagent.models.events import EventSink, ignore
from rtlagent.models.faults import TransientFault, fault_of, retry_after_s
from rtlagent.models.local import is_loopback, ollama_url
from rtlagent.models.price import Price, find_price
from rtlagent.models.redaction import redact
from rtlagent.types import Message, ModelReply, Usage

_FINISH = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "max_output_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "spii": "content_filter",
}
"""The providers' words for an answer that did not end by itself, in lower case."""

_LIMIT_FIELD = {"ollama": "num_predict", "google_genai": "max_output_tokens", "google_vertexai": "max_output_tokens"}
_SAYS_HOW_IT_ENDED = frozenset(
    {
        "openai",
        "azure_openai",
        "anthropic",
        "google_genai",
        "google_vertexai",
        "ollama",
        "mistralai",
        "groq",
        "deepseek",
    }
    | {"xai", "openrouter", "together", "fireworks"}
)
"""From these, a stream without a finish reason is a broken one."""

_PASSING = ("timeout", "connection", "connecterror", "remoteprotocol", "readerror", "unavailable", "incompleteread")


class LangchainChat:
    """A model behind langchain's init_chat_model."""

    def __init__(
        self,
        vendor: str,
        model: str,
        chat: Any,
        config: ModelConfig,
        price: Price | None,
        *,
        on_event: EventSink = ignore,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Wrap a chat model whose own retries are off; see `open_chat`."""
        self.name = f"langchain:{vendor}:{model}"
        self.context_tokens = config.context_tokens
        self.price = price
        request = LangchainRequest(vendor, model, chat, stream=config.stream)
        self._dialogue = Dialogue(request, config, price, on_event=on_event, sleep=sleep, jitter=jitter)

    def __repr__(self) -> str:
        return f"LangchainChat({self.name!r})"

    def complete(
        self, messages: Sequence[Message], *, purpose: str, max_output_tokens: int | None = None
    ) -> ModelReply:
        """Answer the conversation; see ModelProvider.complete."""
        return self._dialogue.complete(messages, purpose=purpose, max_output_tokens=max_output_tokens)


def open_chat(
    vendor: str,
    model: str,
    config: ModelConfig,
    *,
    on_event: EventSink = ignore,
    sleep: Callable[[float], None] = time.sleep,
    jitter: Callable[[], float] = random.random,
) -> LangchainChat:
    """Return the provider for `langchain:VENDOR:MODEL`.

    Raises:
        ModelConfigError: langchain does not know the vendor, its package is not installed, or its
            key is missing.
    """
    from langchain.chat_models import init_chat_model

    options: dict[str, Any] = {"max_retries": 0, "timeout": config.request_timeout_s}
    if vendor == "ollama":
        options = {"client_kwargs": {"timeout": config.request_timeout_s}, "base_url": ollama_url().removesuffix("/v1")}
    if vendor == "openai":
        options["stream_usage"] = True
    if config.temperature is not None:
        options["temperature"] = config.temperature
    name = f"langchain:{vendor}:{model}"
    try:
        chat = init_chat_model(model, model_provider=vendor, **options)
    except ImportError as error:
        raise ModelConfigError(f"{name} needs a package that is not installed", hint=_install_line(error)) from None
    except Exception as error:
        # Each provider has its own way to say that its key is missing; all of them say it here.
        told = redact(" ".join(str(error).split())[:500])
        raise ModelConfigError(f"{name} cannot be opened: {told}", hint=f"is {_key_name(vendor)} set?") from None
    price = find_price(_price_vendor(vendor), model, config)
    return LangchainChat(vendor, model, chat, config, price, on_event=on_event, sleep=sleep, jitter=jitter)


class LangchainRequest:
    """Sends one request through a langchain chat model."""

    def __init__(self, vendor: str, model: str, chat: Any, *, stream: bool) -> None:
        self._vendor = vendor
        self._model = model
        self._chat = chat
        self._stream = stream
        self._was_empty = False

    def __repr__(self) -> str:
        return f"LangchainRequest({self._vendor}:{self._model})"

    def send(self, messages: Sequence[Message], max_output_tokens: int | None, purpose: str) -> Answer:
        """Return the answer."""
        conversation = [(m.role, m.content) for m in messages]
        options = {} if max_output_tokens is None else {_LIMIT_FIELD.get(self._vendor, "max_tokens"): max_output_tokens}
        parts: list[str] = []
        try:
            answer = self._read(self._parts(conversation, options), parts)
            self._was_empty = not answer.text
            return answer
        except (TransientFault, ModelError):
            raise
        except Exception as error:
            # Whatever class of whichever SDK it is, its status and words decide.
            fault = self._fault(error)
            if isinstance(fault, TransientFault):
                fault.partial_text = "".join(parts)
            raise fault from None

    def _parts(self, conversation: list[tuple[str, str]], options: dict[str, Any]) -> Iterator[Any]:
        # langchain-openai 1.7 drops a streamed refusal, so what came empty is asked again in one piece.
        if self._stream and not self._was_empty:
            yield from self._chat.stream(conversation, **options)
        else:
            yield self._chat.invoke(conversation, **options)

    def _read(self, chunks: Iterator[Any], parts: list[str]) -> Answer:
        finish, model, refusal, usage = "", self._model, "", None
        for chunk in chunks:
            parts.append(_text_of(chunk.content))
            refusal += str(chunk.additional_kwargs.get("refusal") or "")
            metadata = chunk.response_metadata
            ended = metadata.get("finish_reason") or metadata.get("stop_reason") or metadata.get("done_reason")
            finish = str(ended) if ended else finish
            model = str(metadata.get("model_name") or metadata.get("model") or model)
            counted = _usage_of(getattr(chunk, "usage_metadata", None))
            usage = usage + counted if usage is not None and counted is not None else counted or usage
        text = "".join(parts)
        if not finish and usage is None and self._vendor in _SAYS_HOW_IT_ENDED:
            raise TransientFault("the stream ended before the reply was complete", partial_text=text)
        return Answer(text, _FINISH.get(finish.lower(), "stop"), model, usage, refusal)

    def _fault(self, error: Exception) -> TransientFault | ModelError:
        from langchain_core import exceptions

        message = redact(" ".join(str(error).split())[:1000])
        told = f"{type(error).__name__}: {message}"
        overflow = getattr(exceptions, "ContextOverflowError", None)  # langchain-core 1.2 and later
        if overflow is not None and isinstance(error, overflow):
            return PromptTooLongError(f"the prompt is too long for the model ({message})")
        response = getattr(error, "response", None)
        status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
        body = getattr(error, "body", None)
        code = str((body.get("code") or body.get("type") or "") if isinstance(body, dict) else "")
        if isinstance(status, int):
            headers = getattr(response, "headers", None) or {}
            return fault_of(
                status,
                message,
                code=code,
                retry_after_s=retry_after_s(headers),
                key_hint=f"check {_key_name(self._vendor)}",
            )
        passing = isinstance(error, OSError | ValueError) or any(p in type(error).__name__.lower() for p in _PASSING)
        fault = fault_of(None, told, code=code)
        if isinstance(fault, ModelError) or passing or body is not None:
            return fault
        return fault_of(400, told)


def _text_of(content: Any) -> str:
    """Return the text among an answer's blocks, without thoughts and tool calls."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = (
        b if isinstance(b, str) else b.get("text") for b in blocks if isinstance(b, str) or b.get("type") == "text"
    )
    return "".join(t for t in texts if isinstance(t, str))


def _usage_of(metadata: Any) -> Usage | None:
    if not metadata or not (metadata.get("input_tokens") or metadata.get("output_tokens")):
        return None
    cached = (metadata.get("input_token_details") or {}).get("cache_read") or 0
    return Usage(metadata.get("input_tokens") or 0, cached, metadata.get("output_tokens") or 0, None)


def _price_vendor(vendor: str) -> str | None:
    """Return whose price list counts: none if the usual endpoint has been replaced by another."""
    if vendor == "ollama":
        return "local" if is_loopback(ollama_url()) else None
    replaced = os.environ.get(f"{vendor.upper()}_BASE_URL") or os.environ.get(f"{vendor.upper()}_API_BASE")
    if replaced:
        return "local" if is_loopback(replaced) else None
    return vendor


def _key_name(vendor: str) -> str:
    return {
        "google_genai": "GOOGLE_API_KEY",
        "mistralai": "MISTRAL_API_KEY",
        "azure_openai": "AZURE_OPENAI_API_KEY",
    }.get(vendor, f"{vendor.upper()}_API_KEY")


def _install_line(error: ImportError) -> str:
    """Take the install line from langchain's message, which knows each provider's package."""
    text = str(error)
    _, found, rest = text.partition("pip install")
    return found + rest.partition("`")[0] if found else text
