"""What tokens cost, where that is known. Unknown is None, never 0."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from rtlagent.config import ModelConfig
from rtlagent.errors import ModelConfigError
from rtlagent.types import Usage

PRICES_AS_OF = "2026-11"
"""Month in which the table was checked; override it in rtlagent.toml where it has aged."""

_PER = 1_000_000


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens. Surcharges for writing to a cache are not counted."""

    in_usd: float
    cached_usd: float
    out_usd: float
    prompt_limit_tokens: int | None = None
    """Longer prompts have another, higher price that is not in the table; None: there is none."""

    def cost(self, usage: Usage) -> float | None:
        """Return the cost of one request; cached tokens are part of `tokens_in`. None: unknown."""
        if self.prompt_limit_tokens is not None and usage.tokens_in > self.prompt_limit_tokens:
            return None
        fresh = max(0, usage.tokens_in - usage.tokens_cached)
        dollars = fresh * self.in_usd + usage.tokens_cached * self.cached_usd + usage.tokens_out * self.out_usd
        return dollars / _PER


FREE = Price(0.0, 0.0, 0.0)

_TABLE: dict[str, dict[str, Price]] = {
    "openai": {
        "gpt-6.1-sol": Price(2.0, 0.10, 10.0, 272_000),
        "gpt-6-sol": Price(2.0, 0.20, 10.0, 272_000),
        "gpt-6-luna": Price(0.10, 0.01, 0.50, 272_000),
        "gpt-5.4": Price(2.50, 0.25, 15.0, 272_000),
        "gpt-5.4-mini": Price(0.75, 0.075, 4.50),
        "gpt-5.1": Price(1.25, 0.125, 10.0),
        "gpt-5": Price(1.25, 0.125, 10.0),
        "gpt-5-mini": Price(0.25, 0.025, 2.0),
        "gpt-5-nano": Price(0.05, 0.005, 0.40),
        "gpt-4.1": Price(2.0, 0.50, 8.0),
        "gpt-4.1-mini": Price(0.40, 0.10, 1.60),
        "gpt-4.1-nano": Price(0.10, 0.025, 0.40),
        "gpt-4o": Price(2.50, 1.25, 10.0),
        "gpt-4o-mini": Price(0.15, 0.075, 0.60),
        "o3": Price(2.0, 0.50, 8.0),
        "o4-mini": Price(1.10, 0.275, 4.40),
    },
    "anthropic": {
        "claude-opus-5-5": Price(4.0, 0.20, 20.0),
        "claude-opus-5": Price(5.0, 0.50, 25.0),
        "claude-opus-4-8": Price(5.0, 0.50, 25.0),
        "claude-opus-4-7": Price(5.0, 0.50, 25.0),
        "claude-opus-4-6": Price(5.0, 0.50, 25.0),
        "claude-opus-4-5": Price(5.0, 0.50, 25.0),
        "claude-sonnet-5-5": Price(2.0, 0.10, 10.0),
        "claude-sonnet-5": Price(2.0, 0.20, 10.0),
        "claude-sonnet-4-6": Price(3.0, 0.30, 15.0),
        "claude-sonnet-4-5": Price(3.0, 0.30, 15.0, 200_000),
        "claude-haiku-5-5": Price(0.10, 0.01, 0.50, 100_000),
        "claude-haiku-4-5": Price(1.0, 0.10, 5.0),
    },
    "google_genai": {
        "gemini-2.5-pro": Price(1.25, 0.125, 10.0, 200_000),
        "gemini-2.5-flash": Price(0.30, 0.03, 2.50),
        "gemini-2.5-flash-lite": Price(0.10, 0.01, 0.40),
    },
}

# A dated snapshot costs what its family does; `gpt-5-pro` or `gpt-5.5` is another model.
_SNAPSHOT = re.compile(r"[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")


@runtime_checkable
class Priced(Protocol):
    """A provider that knows what its tokens cost."""

    @property
    def price(self) -> Price | None:
        """None: unknown."""


def price_of(provider: object) -> Price | None:
    """Return a provider's price; None if it is unknown."""
    return provider.price if isinstance(provider, Priced) else None


def find_price(vendor: str | None, model: str, config: ModelConfig) -> Price | None:
    """Return the price of a model: the user's figures, else the table's.

    Args:
        vendor: `openai`, `anthropic`, `google_genai`; `local` for a server on this machine, which
            costs nothing; None for an endpoint whose prices nobody here knows.
        model: The model's name at that vendor.
        config: May override the figures.

    Raises:
        ModelConfigError: an override lacks the other direction's price.
    """
    known = FREE if vendor == "local" else _TABLE.get(vendor or "", {}).get(_SNAPSHOT.sub("", model))
    given = (config.price_in_usd, config.price_cached_usd, config.price_out_usd)
    if given == (None, None, None):
        return known
    if any(p is not None and not 0 <= p < float("inf") for p in given):
        raise ModelConfigError("a price per million tokens is a number of dollars that is not negative")
    price_in, cached, price_out = config.price_in_usd, config.price_cached_usd, config.price_out_usd
    if known is not None:
        # Where no discount is known, none is assumed: a budget must not be overrun by a guess.
        cached = known.cached_usd if cached is None and price_in is None else cached
        price_in = known.in_usd if price_in is None else price_in
        price_out = known.out_usd if price_out is None else price_out
    if price_in is None or price_out is None:
        raise ModelConfigError(
            f"the price of {model} is known in one direction only", hint="set both price_in_usd and price_out_usd"
        )
    return Price(price_in, price_in if cached is None else cached, price_out)
