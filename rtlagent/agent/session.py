"""What the loop's steps work with, and how they ask the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from rtlagent.agent.prompts import Prompts
from rtlagent.agent.replies import UnusableReplyError
from rtlagent.agent.understanding import Assumption
from rtlagent.config import ToolConfig
from rtlagent.errors import LimitError, ModelReplyError
from rtlagent.models import ModelProvider
from rtlagent.types import Message, Spec
from rtlagent.workspace import Run

_T = TypeVar("_T")
MAX_FORMAT_RETRIES = 2

Talk = list[list[str]]
"""Messages as [role, content], the form that a checkpoint keeps."""


class AskUser(Protocol):
    """Puts an assumption to the user and returns what they decide (empty: as assumed)."""

    def __call__(self, assumption: Assumption) -> str:
        """Return the user's words."""
        ...


@dataclass(frozen=True)
class Settings:
    """How the loop behaves; fixed when the run starts, but for the limits."""

    candidates: int = 1
    max_iterations: int | None = 8
    random_cycles: int = 600
    mutants: int = 16
    seed: int = 1
    simulator: str = "auto"


@dataclass(frozen=True)
class Session:
    """Everything that the steps of one run share."""

    run: Run
    spec: Spec
    model: ModelProvider
    prompts: Prompts
    settings: Settings
    tools: ToolConfig = field(default_factory=ToolConfig)
    ask_user: AskUser | None = None

    def ask(self, talk: Talk, purpose: str, parse: Callable[[str], _T]) -> tuple[_T, Talk]:
        """Ask the model, and again with the reason if the answer has the wrong form.

        Returns:
            What `parse` made of the answer, and the talk with the question's last answer added. Unusable
            answers and the reproof are left out of it, so that the prefix stays short.

        Raises:
            ModelReplyError: the answer kept being unusable.
        """
        current = list(talk)
        problem = ""
        for _ in range(1 + MAX_FORMAT_RETRIES):
            messages = [Message(role, content) for role, content in current]
            self.run.emit("model_call", purpose=purpose)
            reply = self.model.complete(messages, purpose=purpose)
            self.run.emit("model_reply", purpose=purpose, usage=reply.usage, model=reply.model)
            try:
                return parse(reply.text), [*talk, ["assistant", reply.text]]
            except UnusableReplyError as error:
                problem = str(error)
                self.run.emit("unusable_reply", purpose=purpose, problem=problem)
                again = self.prompts.render("reply_fix", purpose=purpose, problem=problem)
                current = [*current, ["assistant", reply.text], ["user", again]]
        raise ModelReplyError(
            f"the model's answer to {purpose!r} could not be used {1 + MAX_FORMAT_RETRIES} times: {problem}",
            hint="try a stronger model; the answers are in the run's model.jsonl",
        )

    def check_iterations(self, done: int) -> None:
        """Stop before a further attempt if the user's limit is reached.

        Raises:
            LimitError: it is.
        """
        limit = self.settings.max_iterations
        if limit is not None and done >= limit:
            raise LimitError(
                f"the limit of {limit} iterations is reached", hint="resume with a higher --max-iterations"
            )

    def with_decisions(self, decisions: Sequence[Sequence[str]]) -> Session:
        """Return the session whose spec carries the user's decisions in its prose."""
        if not decisions:
            return self
        lines = "\n".join(f"- {question} {answer}" for question, answer in decisions)
        return replace(self, spec=replace(self.spec, text=f"{self.spec.text}\n\nDecided by the user:\n{lines}\n"))
