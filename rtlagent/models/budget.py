"""What a run may spend, and has spent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rtlagent.config import BudgetConfig
from rtlagent.errors import ConfigError, LimitError, ModelError
from rtlagent.models.price import Price, price_of
from rtlagent.models.recording import estimate_tokens
from rtlagent.types import Message, ModelReply, Usage

if TYPE_CHECKING:
    from rtlagent.models import ModelProvider

_LEAST_OUTPUT_TOKENS = 64
"""A call that could not even be answered in this many tokens is not started."""


class Budget:
    """Counts tokens, money and time against a run's limits. Safe to share between threads."""

    def __init__(
        self, config: BudgetConfig, clock: Callable[[], float] = time.monotonic, *, elapsed_s: float = 0.0
    ) -> None:
        """Start the clock.

        Args:
            config: The limits.
            clock: Seconds from any start.
            elapsed_s: What earlier sessions of a resumed run took.

        Raises:
            ConfigError: a limit is not a positive number.
        """
        for field, flag in (
            ("max_tokens", "--max-tokens"),
            ("max_cost_usd", "--max-cost"),
            ("max_iterations", "--max-iterations"),
            ("max_time_s", "--max-time"),
        ):
            limit = getattr(config, field)
            if limit is not None and not limit > 0:
                raise ConfigError(f"{flag} must be more than 0, not {limit}", where=field)
        self.config = config
        self._clock = clock
        self._started = clock() - elapsed_s
        self._spent = Usage()
        self._lock = threading.Lock()

    @property
    def spent(self) -> Usage:
        """Everything charged so far."""
        return self._spent

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run began, earlier sessions included."""
        return self._clock() - self._started

    def charge(self, usage: Usage) -> None:
        """Count what a call spent."""
        with self._lock:
            self._spent += usage

    def check(self, *, iterations: int | None = None) -> None:
        """Do nothing while every limit has something left.

        Args:
            iterations: How many are done already, if the next one is about to start.

        Raises:
            LimitError: names the limit and the figures.
        """
        limits = self.config
        if iterations is not None and limits.max_iterations is not None and iterations >= limits.max_iterations:
            raise _reached("iteration", f"{iterations} of {limits.max_iterations} iterations done", "--max-iterations")
        if limits.max_time_s is not None and self.elapsed_s >= limits.max_time_s:
            raise _reached("time", f"{self.elapsed_s:.0f} s of {limits.max_time_s:.0f} s passed", "--max-time")
        self.room(0, None)

    def room(self, tokens_in: int, price: Price | None) -> int | None:
        """Return how many tokens an answer may have; None: as many as it likes.

        Args:
            tokens_in: Estimated size of the prompt.
            price: The model's; matters only if the cost is limited.

        Raises:
            LimitError: a limit is used up, or the prompt alone would exceed it.
        """
        limits, spent = self.config, self._spent
        least = _LEAST_OUTPUT_TOKENS if tokens_in else 1
        rooms = []
        if limits.max_tokens is not None:
            used = spent.tokens_in + spent.tokens_out
            room = limits.max_tokens - used - tokens_in
            if room < least:
                needs = f"; the next prompt needs about {tokens_in}" if tokens_in and used < limits.max_tokens else ""
                raise _reached("token", f"{used} of {limits.max_tokens} tokens used{needs}", "--max-tokens")
            rooms.append(room)
        if limits.max_cost_usd is not None:
            rooms.extend(self._room_for_money(tokens_in, price, least, limits.max_cost_usd))
        return min(rooms, default=None)

    def _room_for_money(self, tokens_in: int, price: Price | None, least: int, limit: float) -> list[int]:
        if self._spent.cost_usd is None:
            raise LimitError(
                "cost limit cannot be kept any longer: the price of an earlier call is unknown (--max-cost)",
                hint="set price_in_usd and price_out_usd in rtlagent.toml, or limit --max-tokens instead",
            )
        left = limit - self._spent.cost_usd
        if price is not None:
            left -= tokens_in * price.in_usd / 1e6
        short = left < least * price.out_usd / 1e6 if price is not None else False
        if left <= 0 or short:
            next_call = (
                f"; the next call needs about ${limit - self._spent.cost_usd - left:.4f}"
                if left > 0 or tokens_in
                else ""
            )
            raise _reached("cost", f"${self._spent.cost_usd:.4f} of ${limit:.4f} spent{next_call}", "--max-cost")
        return [int(left / price.out_usd * 1e6)] if price is not None and price.out_usd > 0 else []


class BudgetedModel:
    """Asks a provider only within a budget, and charges what it spends, failed calls included."""

    def __init__(self, provider: ModelProvider, budget: Budget) -> None:
        """Check that the budget can be kept.

        Raises:
            ConfigError: the budget limits the cost, and the model's price is unknown.
        """
        self._provider = provider
        self._budget = budget
        self.price = price_of(provider)
        if budget.config.max_cost_usd is not None and self.price is None:
            raise _unknown_price(provider.name)

    def __repr__(self) -> str:
        return f"BudgetedModel({self._provider!r})"

    @property
    def name(self) -> str:
        """The provider's name."""
        return self._provider.name

    @property
    def context_tokens(self) -> int | None:
        """The provider's context window."""
        return self._provider.context_tokens

    def complete(
        self, messages: Sequence[Message], *, purpose: str, max_output_tokens: int | None = None
    ) -> ModelReply:
        """Ask, unless a limit is used up; the answer is kept short enough for what is left.

        Raises:
            LimitError: a limit was used up before the call, or cut the answer short.
        """
        self._budget.check()
        room = self._budget.room(estimate_tokens(*(m.content for m in messages)), self.price)
        bounds = [b for b in (room, max_output_tokens) if b is not None]
        try:
            reply = self._provider.complete(messages, purpose=purpose, max_output_tokens=min(bounds, default=None))
        except ModelError as error:
            if isinstance(error.usage, Usage):
                self._budget.charge(error.usage)
                self._budget.check()
            raise
        self._budget.charge(reply.usage)
        return reply

    def skip(self, messages: Sequence[Message], *, purpose: str) -> None:
        """Tell the provider that an answer was given from elsewhere."""
        # The protocol is journal's; importing it here would be a circle.
        skip = getattr(self._provider, "skip", None)
        if skip is not None:
            skip(messages, purpose=purpose)


def _reached(name: str, figures: str, flag: str) -> LimitError:
    return LimitError(f"{name} limit reached: {figures} ({flag})", hint=f"raise {flag} and resume the run")


def _unknown_price(what: str) -> ConfigError:
    return ConfigError(
        f"--max-cost cannot be kept: the price of {what} is unknown",
        hint="set price_in_usd and price_out_usd (per million tokens) in rtlagent.toml, or limit --max-tokens",
    )
