"""Language models behind one protocol: names, retries, recordings, budgets.

A run is wired up as

```python
provider = resolve(name, config.model, on_event=log)      # whom to ask
model = for_run(provider, journal=run / "model.jsonl", budget=Budget(config.budget), on_event=log)
reply = model.complete(messages, purpose="generate")
```

so that an answer in the journal costs nothing again, and whatever is asked anew stays within the
budget. SDKs are imported only when a model is asked: importing this package is quick.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rtlagent.models.budget import Budget, BudgetedModel
from rtlagent.models.events import EventKind, EventSink, ModelEvent
from rtlagent.models.journal import JournaledModel, for_run
from rtlagent.models.names import resolve
from rtlagent.models.price import Price, price_of
from rtlagent.types import Message, ModelReply

__all__ = [
    "Budget",
    "BudgetedModel",
    "EventKind",
    "EventSink",
    "JournaledModel",
    "ModelEvent",
    "ModelProvider",
    "Price",
    "for_run",
    "price_of",
    "resolve",
]


class ModelProvider(Protocol):
    """Whoever answers a conversation."""

    @property
    def name(self) -> str:
        """As a user would write it, such as `openai:gpt-4.1`; holds no secret."""

    @property
    def context_tokens(self) -> int | None:
        """Size of the context window; None: unknown."""

    def complete(
        self, messages: Sequence[Message], *, purpose: str, max_output_tokens: int | None = None
    ) -> ModelReply:
        """Answer the conversation with a complete, non-empty text.

        Args:
            messages: The conversation; the last one is the user's.
            purpose: What the answer is for: `understand`, `oracle`, `generate`, `repair`, `arbitrate`.
            max_output_tokens: Bound on the whole answer. None: no bound but ModelConfig's, which holds
                for one request; an answer that reaches that one is continued.

        Raises:
            ModelUnavailableError: the endpoint failed for good.
            ModelRefusalError: the model declined.
            ModelReplyError: the answer stayed empty or cut.
            PromptTooLongError: the conversation does not fit the context window.
            ModelConfigError: the key or the model's name is not accepted.
        """
