from __future__ import annotations

from typing import Any

import pytest

from rtlagent.config import BudgetConfig, ModelConfig
from rtlagent.errors import ConfigError, LimitError, ModelConfigError, ModelRefusalError, ModelReplyError
from rtlagent.models import Budget, BudgetedModel
from rtlagent.models.price import FREE, Price, find_price
from rtlagent.types import Message, Usage

ASK = [Message("user", "x" * 400)]  # about 100 tokens


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_nothing_is_limited_by_default() -> None:
    budget = Budget(BudgetConfig(max_iterations=None))
    budget.charge(Usage(10**9, 0, 10**9, None))
    budget.check(iterations=10**6)
    assert budget.room(10**9, None) is None


def test_token_limit() -> None:
    budget = Budget(BudgetConfig(max_tokens=1000))
    budget.charge(Usage(500, 400, 100, None))
    budget.check()
    assert budget.room(100, None) == 300
    with pytest.raises(LimitError, match=r"600 of 1000 tokens used; the next prompt needs about 380 \(--max-tokens\)"):
        budget.room(380, None)
    budget.charge(Usage(0, 0, 400, None))
    with pytest.raises(LimitError, match=r"token limit reached: 1000 of 1000 tokens used \(--max-tokens\)") as caught:
        budget.check()
    assert caught.value.exit_code == 3
    assert "resume" in caught.value.hint


def test_cost_limit() -> None:
    price = Price(10.0, 1.0, 100.0)
    budget = Budget(BudgetConfig(max_cost_usd=1.0))
    budget.charge(Usage(0, 0, 0, 0.4))
    # $0.60 left, less 10,000 tokens at $10 a million, buys 5,000 tokens at $100 a million.
    assert budget.room(10_000, price) == pytest.approx(5000, abs=1)
    with pytest.raises(LimitError, match=r"\$0\.4000 of \$1\.0000 spent; the next call needs about \$0\.70"):
        budget.room(70_000, price)
    budget.charge(Usage(0, 0, 0, 0.6))
    with pytest.raises(LimitError, match=r"cost limit reached: \$1\.0000 of \$1\.0000 spent \(--max-cost\)"):
        budget.check()


def test_unknown_cost_cannot_be_limited(endpoint: Any) -> None:
    limited = Budget(BudgetConfig(max_cost_usd=1.0))
    with pytest.raises(ConfigError, match="price of openai:scripted is unknown") as caught:
        BudgetedModel(endpoint.provider(price=None), limited)
    assert "price_in_usd" in caught.value.hint
    assert caught.value.exit_code == 2
    BudgetedModel(endpoint.provider(price=FREE), limited)
    limited.charge(Usage(1, 0, 1, None))
    with pytest.raises(LimitError, match="cannot be kept any longer"):
        limited.check()


def test_time_and_iteration_limits() -> None:
    clock = Clock()
    budget = Budget(BudgetConfig(max_time_s=60, max_iterations=3), clock, elapsed_s=20)
    budget.check(iterations=2)
    clock.now += 39
    budget.check()
    clock.now += 1
    with pytest.raises(LimitError, match=r"time limit reached: 60 s of 60 s passed \(--max-time\)"):
        budget.check()
    with pytest.raises(LimitError, match=r"iteration limit reached: 3 of 3 iterations done \(--max-iterations\)"):
        budget.check(iterations=3)


@pytest.mark.parametrize("field", ["max_tokens", "max_cost_usd", "max_iterations", "max_time_s"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_senseless_limits(field: str, value: float) -> None:
    with pytest.raises(ConfigError, match="must be more than 0"):
        Budget(BudgetConfig(**{field: value}))


def test_the_rest_of_the_budget_bounds_the_answer(endpoint: Any) -> None:
    budget = Budget(BudgetConfig(max_tokens=400))
    model = BudgetedModel(endpoint.provider(), budget)
    endpoint.say("ok", usage={"prompt_tokens": 110, "completion_tokens": 20})
    model.complete(ASK, purpose="generate")
    assert endpoint.requests[0]["max_tokens"] == 300
    endpoint.say("ok", usage={"prompt_tokens": 110, "completion_tokens": 20})
    model.complete(ASK, purpose="generate", max_output_tokens=90)
    assert endpoint.requests[1]["max_tokens"] == 90
    assert budget.spent == Usage(220, 0, 40, 0.0)
    with pytest.raises(LimitError, match="260 of 400 tokens used"):
        model.complete(ASK, purpose="generate")
    assert len(endpoint.requests) == 2


def test_an_answer_cut_by_the_budget_is_a_reached_limit(endpoint: Any) -> None:
    model = BudgetedModel(endpoint.provider(), Budget(BudgetConfig(max_tokens=400)))
    endpoint.say("half", finish="length", usage={"prompt_tokens": 100, "completion_tokens": 300})
    with pytest.raises(LimitError, match="400 of 400 tokens used"):
        model.complete(ASK, purpose="generate")


def test_failed_calls_are_charged(endpoint: Any) -> None:
    budget = Budget(BudgetConfig())
    model = BudgetedModel(endpoint.provider(), budget)
    endpoint.say(None, refusal="no")
    with pytest.raises(ModelRefusalError):
        model.complete(ASK, purpose="generate")
    for _ in range(3):
        endpoint.say("")
    with pytest.raises(ModelReplyError):
        model.complete(ASK, purpose="generate")
    assert budget.spent == Usage(40, 0, 20, 0.0)


def test_prices_of_snapshots_and_strangers() -> None:
    config = ModelConfig()
    assert find_price("openai", "gpt-4.1", config) == Price(2.0, 0.50, 8.0)
    assert find_price("openai", "gpt-4.1-2025-04-14", config) == find_price("openai", "gpt-4.1", config)
    assert find_price("anthropic", "claude-opus-4-5-20251101", config) == Price(5.0, 0.50, 25.0)
    assert find_price("openai", "gpt-4.1-turbo", config) is None
    assert find_price("openai", "gpt-5-pro", config) is None
    assert find_price(None, "gpt-4.1", config) is None
    assert find_price("local", "anything", config) == FREE


def test_cost_counts_cached_tokens_once() -> None:
    price = Price(10.0, 1.0, 100.0, prompt_limit_tokens=200)
    assert price.cost(Usage(100, 80, 40)) == pytest.approx((20 * 10 + 80 * 1 + 40 * 100) / 1e6)
    assert price.cost(Usage(201, 0, 40)) is None


def test_price_overrides() -> None:
    assert find_price(None, "mine", ModelConfig(price_in_usd=1.0, price_out_usd=2.0)) == Price(1.0, 1.0, 2.0)
    full = ModelConfig(price_in_usd=1.0, price_cached_usd=0.5, price_out_usd=2.0)
    assert find_price("local", "mine", full) == Price(1.0, 0.5, 2.0)
    assert find_price("openai", "gpt-4.1", ModelConfig(price_out_usd=9.0)) == Price(2.0, 0.50, 9.0)
    with pytest.raises(ModelConfigError, match="one direction only"):
        find_price(None, "mine", ModelConfig(price_in_usd=1.0))
    with pytest.raises(ModelConfigError, match="not negative"):
        find_price(None, "mine", ModelConfig(price_in_usd=-1.0, price_out_usd=2.0))
