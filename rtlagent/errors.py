"""Every failure that rtlagent expects, as one tree.

```
RtlagentError                  exit code  meaning
├── UsageError                     2      the user's input is wrong; nothing was spent
│   ├── SpecError                  2      a spec file is wrong (has a line)
│   ├── CSourceError               2      C that does not compile, or cannot become hardware (has a line)
│   ├── ConfigError                2      rtlagent.toml, environment or flags are wrong
│   └── BaselineError              2      the design that another is compared with is wrong
├── LimitError                     3      a budget was reached; the best candidate is kept
├── ToolError                      4      a tool is missing, broke, or printed nonsense
│   ├── ToolMissingError           4      not installed; the message has the install line
│   └── SandboxError               4      bubblewrap missing or refused by the kernel
├── ModelError                     4      the model endpoint failed for good
│   ├── ModelConfigError           2      no model named, unknown scheme, missing key
│   ├── ModelUnavailableError      4      connection, 408/429/5xx after all retries
│   ├── ModelRefusalError          4      the model declined to answer
│   ├── ModelReplyError            4      empty, cut or unusable reply after all retries
│   └── PromptTooLongError         4      the prompt exceeds the context window
└── RunError                       2      a run folder is missing, locked or damaged
```

A wrong *design* is not an error: it is a verdict (exit code 1).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

EXIT_PASS = 0
EXIT_FAIL = 1
EXIT_USAGE = 2
EXIT_LIMIT = 3
EXIT_TOOL = 4
EXIT_INTERRUPTED = 130


class RtlagentError(Exception):
    """An expected failure with a message that a user can act on.

    Attributes:
        message: What failed, in one line.
        where: The place, such as `spec.md:4:1`, or an empty string.
        hint: What to do about it, or an empty string.
    """

    exit_code = EXIT_TOOL

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}\n\nhint: {self.hint}" if self.hint else text


class UsageError(RtlagentError):
    """The user's input is wrong; nothing was run and nothing was spent."""

    exit_code = EXIT_USAGE


class SpecError(UsageError):
    """A spec file cannot be understood; `where` names its line."""


class CSourceError(UsageError):
    """C source that does not compile or cannot become hardware; `where` names its line, `hint` what to change."""


class ConfigError(UsageError):
    """rtlagent.toml, an environment variable or a flag has a wrong value."""


class BaselineError(UsageError):
    """The reference of a comparison cannot be elaborated.

    Attributes:
        diagnostics: Everything that is wrong with it, as types.Diagnostic.
    """

    def __init__(self, message: str, *, diagnostics: tuple[Any, ...], where: str = "", hint: str = "") -> None:
        super().__init__(message, where=where, hint=hint)
        self.diagnostics = diagnostics


class LimitError(RtlagentError):
    """A budget (tokens, money, iterations, time) is used up."""

    exit_code = EXIT_LIMIT


class ToolError(RtlagentError):
    """A tool broke: it crashed, or its report is missing or unreadable."""


class ToolMissingError(ToolError):
    """A tool is not installed; the hint is the line that installs it."""


class SandboxError(ToolError):
    """The sandbox cannot be set up, so nothing was run."""


class ModelError(RtlagentError):
    """The model endpoint failed for good.

    Attributes:
        usage: A types.Usage with what the failed call spent, or None if it spent nothing.
    """

    usage: object | None = None


class ModelConfigError(ModelError):
    """No model is named, its name has an unknown scheme, or its key is missing."""

    exit_code = EXIT_USAGE


class ModelUnavailableError(ModelError):
    """The endpoint could not be reached, or kept failing after all retries."""


class ModelRefusalError(ModelError):
    """The model declined to answer."""


class ModelReplyError(ModelError):
    """The reply is empty, cut at its length limit, or unusable after all retries.

    Attributes:
        partial_text: What had arrived of a cut reply.
    """

    partial_text: str = ""


class PromptTooLongError(ModelError):
    """The prompt does not fit the model's context window."""


class RunError(UsageError):
    """A run folder is missing, in use by another process, or damaged."""


def suggestion(word: str, choices: Iterable[str]) -> str:
    """Return the hint `did you mean 'X'?` for the closest of `choices`, else the list of them."""
    import difflib

    known = list(choices)
    folded = {c.casefold(): c for c in reversed(known)}
    close = difflib.get_close_matches(word.casefold(), list(folded), n=1, cutoff=0.6)
    if close:
        return f"did you mean {folded[close[0]]!r}?"
    if not known or len(known) > 20:
        return ""
    return f"choose from {', '.join(known)}" if len(known) > 1 else f"only {known[0]} is possible"
