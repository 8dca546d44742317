"""The one policy over every endpoint: retries, empty replies, replies cut at their length limit."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rtlagent.config import ModelConfig, resource_dir
from rtlagent.errors import ModelError, ModelRefusalError, ModelReplyError, ModelUnavailableError
from rtlagent.models.events import EventKind, EventSink, ModelEvent, ignore
from rtlagent.models.faults import TransientFault
from rtlagent.models.price import Price
from rtlagent.models.recording import estimate_tokens, estimate_usage, without_surrogates
from rtlagent.types import Message, ModelReply, Usage

FIRST_DELAY_S = 1.0
LONGEST_DELAY_S = 60.0
LONGEST_RETRY_AFTER_S = 300.0
EMPTY_RETRIES = 2

_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>\s*|\Z)", re.DOTALL)
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_NEW_FENCE = re.compile(r"\A\s*(?:```|~~~)[A-Za-z][\w+-]*[ \t]*\n")
_SHORTEST_OVERLAP = 20
_LONGEST_OVERLAP = 400


@dataclass(frozen=True)
class Answer:
    """What one request brought, before any judgement."""

    text: str
    finish_reason: str
    """`stop`, `length`, `content_filter`, or another word of the server's."""
    model: str
    usage: Usage | None
    """Tokens as the server counted them, cost not filled in; None: it did not say."""
    refusal: str = ""


class Endpoint(Protocol):
    """Sends one request, once."""

    def send(self, messages: Sequence[Message], max_output_tokens: int | None, purpose: str) -> Answer:
        """Return the answer.

        Raises:
            TransientFault: sending it again may help.
            ModelError: it will not.
        """


@dataclass
class _Exchange:
    """One `complete` call under way."""

    purpose: str
    usage: Usage


class Dialogue:
    """Gets a complete answer out of an endpoint."""

    def __init__(
        self,
        endpoint: Endpoint,
        config: ModelConfig,
        price: Price | None,
        *,
        on_event: EventSink = ignore,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Take the parts; nothing is sent yet.

        Args:
            endpoint: Sends single requests.
            config: Retries, continuations and output limit.
            price: What tokens cost; None: unknown.
            on_event: Told about retries and continuations.
            sleep: Waits between retries.
            jitter: Gives a number from 0 to 1, so that clients do not retry in step.
        """
        self._endpoint = endpoint
        self._config = config
        self._price = price
        self._on_event = on_event
        self._sleep = sleep
        self._jitter = jitter

    def complete(self, messages: Sequence[Message], *, purpose: str, max_output_tokens: int | None) -> ModelReply:
        """Return a whole, non-empty answer; see ModelProvider.complete."""
        exchange = _Exchange(purpose, Usage())
        try:
            return self._converse(exchange, messages, max_output_tokens)
        except ModelError as error:
            if exchange.usage != Usage():
                error.usage = exchange.usage
            raise

    def _converse(self, exchange: _Exchange, messages: Sequence[Message], bound: int | None) -> ModelReply:
        text = ""
        out_before = exchange.usage.tokens_out
        for round_ in range(self._config.continuations + 1):
            left = None if bound is None else bound - (exchange.usage.tokens_out - out_before)
            if left is not None and left <= 0:
                raise _cut(text, f"the reply was cut at its bound of {bound} tokens")
            limits = [n for n in (left, self._config.max_output_tokens) if n is not None]
            asked = messages if not text else [*messages, *_continuation(text)]
            answer = self._ask(exchange, asked, min(limits, default=None), may_be_empty=bool(text))
            text = join(text, answer.text)
            if answer.finish_reason != "length":
                return ModelReply(without_surrogates(text), exchange.usage, answer.model, answer.finish_reason)
            if not answer.text:
                break
            if round_ < self._config.continuations:
                self._tell(exchange, EventKind.CONTINUE, f"the reply was cut after {len(text)} characters", round_ + 1)
        raise _cut(
            text, f"the reply was still cut at its length limit after {self._config.continuations} continuations"
        )

    def _ask(
        self, exchange: _Exchange, messages: Sequence[Message], limit: int | None, *, may_be_empty: bool
    ) -> Answer:
        """Send until there is some text."""
        for attempt in range(1, EMPTY_RETRIES + 2):
            answer = self._send(exchange, messages, limit)
            if answer.refusal:
                raise ModelRefusalError(f"the model declined to answer: {answer.refusal[:500]}")
            if answer.finish_reason == "content_filter":
                raise ModelRefusalError("the provider's content filter stopped the reply")
            if answer.text or may_be_empty:
                return answer
            if attempt <= EMPTY_RETRIES:
                self._tell(exchange, EventKind.EMPTY, "the reply is empty", attempt)
        if answer.finish_reason == "length":
            raise ModelReplyError(
                "the model used up its output tokens before it wrote an answer",
                hint="raise max_output_tokens: a reasoning model's thoughts count as output",
            )
        raise ModelReplyError(
            f"the reply is empty, {EMPTY_RETRIES + 1} times in a row",
            hint="some servers answer nothing when the prompt exceeds the context they were started with",
        )

    def _send(self, exchange: _Exchange, messages: Sequence[Message], limit: int | None) -> Answer:
        """Send until the endpoint answers, and count what it cost."""
        for attempt in range(1, self._config.retries + 2):
            try:
                answer = self._endpoint.send(messages, limit, exchange.purpose)
            except TransientFault as fault:
                if fault.partial_text:
                    exchange.usage += self._priced(estimate_usage(messages, fault.partial_text))
                delay_s = self._delay_s(fault, attempt)
                if attempt > self._config.retries or delay_s > LONGEST_RETRY_AFTER_S:
                    raise _gave_up(fault, attempt, delay_s) from None
                self._tell(exchange, EventKind.RETRY, fault.message, attempt, delay_s)
                self._sleep(delay_s)
                continue
            exchange.usage += self._priced(answer.usage or estimate_usage(messages, answer.text))
            return Answer(
                _THOUGHT.sub("", answer.text) if answer.text else "",
                answer.finish_reason,
                answer.model,
                answer.usage,
                answer.refusal,
            )
        raise AssertionError("the loop above returns or raises")

    def _delay_s(self, fault: TransientFault, attempt: int) -> float:
        if fault.retry_after_s is not None:
            return fault.retry_after_s
        return float(min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** (attempt - 1)) * (0.5 + 0.5 * self._jitter()))

    def _priced(self, usage: Usage) -> Usage:
        cost = None if self._price is None else self._price.cost(usage)
        return Usage(usage.tokens_in, usage.tokens_cached, usage.tokens_out, cost, usage.estimated)

    def _tell(self, exchange: _Exchange, kind: EventKind, message: str, attempt: int = 0, delay_s: float = 0.0) -> None:
        self._on_event(ModelEvent(kind, message, exchange.purpose, attempt, delay_s))


def join(text: str, rest: str) -> str:
    """Append a continuation, without what models add to one although they are told not to.

    A code fence that is opened again inside an open one goes, and so does a repeated end of the text,
    unless that end occurs more than once before: then it may be the text's own repetition.
    """
    if not text:
        return rest
    if len(_FENCE.findall(text)) % 2:
        rest = _NEW_FENCE.sub("", rest)
    for length in range(min(_LONGEST_OVERLAP, len(text), len(rest)), _SHORTEST_OVERLAP - 1, -1):
        if text.endswith(rest[:length]):
            return text + (rest if text.count(rest[:length]) > 1 else rest[length:])
    return text + rest


def _continuation(text: str) -> list[Message]:
    prompt = (resource_dir("prompts") / "continue.md.j2").read_text(encoding="utf-8").strip()
    return [Message("assistant", text), Message("user", prompt)]


def _cut(text: str, message: str) -> ModelReplyError:
    error = ModelReplyError(message, hint="raise max_output_tokens, or use a model that writes longer answers")
    error.partial_text = text
    return error


def _gave_up(fault: TransientFault, attempts: int, delay_s: float) -> ModelUnavailableError:
    if delay_s > LONGEST_RETRY_AFTER_S:
        return ModelUnavailableError(f"{fault.message}; it asks to wait {delay_s:.0f} s", hint="resume the run later")
    tries = f"{attempts} tries" if attempts > 1 else "1 try"
    return ModelUnavailableError(f"{fault.message} (after {tries})", hint="resume the run when the endpoint is back")


def clipped(messages: Sequence[Message], usage: Usage) -> bool:
    """Tell whether a server read much less than it was sent: Ollama cuts long prompts silently."""
    sent = estimate_tokens(*(m.content for m in messages))
    return not usage.estimated and usage.tokens_in > 0 and sent > 2 * usage.tokens_in and sent > 1000
