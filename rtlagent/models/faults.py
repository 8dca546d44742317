"""Sort an endpoint's failures: which pass by waiting, and what the others mean.

The texts are those of OpenAI, Azure, Anthropic, Google, vLLM, SGLang, llama.cpp, LM Studio, Ollama
and TGI; none of them uses the error code alone for an over-long prompt.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from rtlagent.errors import (
    ModelConfigError,
    ModelError,
    ModelRefusalError,
    ModelUnavailableError,
    PromptTooLongError,
)

_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|context window|context the overflows"
    r"|exceeds? the (?:available |model'?s? )?(?:maximum )?context|max(?:imum)? context (?:length|size)|context limit"
    r"|longer than the (?:maximum )?model(?:'s)?(?: context)? length|context shift is disabled"
    r"|prompt is too long|prompt too long|input (?:is )?too long|input token count .{0,40}exceeds"
    r"|context size has been exceeded|max_new_tokens. must be <=|request too large for|larger than the max context",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content_filter|content_policy|content management policy|responsible_ai", re.IGNORECASE)
_TRANSIENT = frozenset({408, 409, 425, 429})
_NEVER_PASSES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "access_terminated"})
_SHORTEN = "shorten the spec or its context files, or use a model with a larger context window"
_UNKNOWN_MODEL = "check the model's name and the base URL; most base URLs end in /v1"


class TransientFault(Exception):
    """A failure that may pass: the request can be sent again.

    Attributes:
        message: What failed, without secrets.
        retry_after_s: How long the server asks to wait, or None.
        partial_text: What had arrived before a stream broke.
    """

    def __init__(self, message: str, *, retry_after_s: float | None = None, partial_text: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.retry_after_s = retry_after_s
        self.partial_text = partial_text


def fault_of(
    status: int | None, message: str, *, code: str = "", retry_after_s: float | None = None, key_hint: str = ""
) -> TransientFault | ModelError:
    """Return the exception for a failed request.

    Args:
        status: HTTP status; None: the server reported the error inside a stream.
        message: The server's words, already without secrets.
        code: The server's error code, such as `context_length_exceeded`.
        retry_after_s: From the reply's headers.
        key_hint: How to give a key to this provider.
    """
    told = f"HTTP {status}: {message}" if status else f"the endpoint reported: {message}"
    words = f"{code} {message}"
    fault: TransientFault | ModelError
    if status == 413 or _TOO_LONG.search(words):
        fault = PromptTooLongError(f"the prompt is too long for the model ({told})", hint=_SHORTEN)
    elif _FILTERED.search(words):
        fault = ModelRefusalError(f"the provider's content filter stopped the request ({told})")
    elif code in _NEVER_PASSES:
        fault = ModelUnavailableError(told, hint="the account has no credit left, or is blocked; no retry helps")
    elif status is None or status in _TRANSIENT or status >= 500:
        fault = TransientFault(told, retry_after_s=retry_after_s)
    elif status in (401, 403):
        fault = ModelConfigError(f"the endpoint does not accept the key ({told})", hint=key_hint)
    elif status == 404:
        fault = ModelConfigError(f"the endpoint does not know this model or address ({told})", hint=_UNKNOWN_MODEL)
    else:
        fault = ModelUnavailableError(f"the endpoint rejects the request ({told})")
    return fault


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the wait that `retry-after-ms` or `Retry-After` (seconds or a date) asks for."""
    seconds = headers.get("retry-after") or ""
    for text, scale in ((headers.get("retry-after-ms") or "", 1e-3), (seconds, 1.0)):
        if re.fullmatch(r"-?\d+(\.\d+)?", text.strip()):
            return max(0.0, float(text) * scale)
    try:
        return max(0.0, parsedate_to_datetime(seconds).timestamp() - time.time()) if seconds else None
    except ValueError:
        return None


def output_room(message: str) -> int | None:
    """Return the output limit that would be accepted, if the limit and not the prompt is too large.

    Example: `This model's maximum context length is 4096 tokens. However, you requested 5100 tokens
    (100 in the messages, 5000 in the completion)` gives 3996.
    """
    most = re.search(r"at most (\d+) (?:completion|output) tokens", message)
    if most:
        return int(most[1])
    window = re.search(r"maximum context length is (\d+)", message)
    prompt = re.search(r"(\d+) in the messages|(?:has|contains at least) (\d+) input tokens", message)
    if not window or not prompt:
        return None
    room = int(window[1]) - int(prompt[1] or prompt[2])
    return room if room >= 256 else None
