"""Recorded questions and answers as JSON lines: the format of replay logs and run journals.

One line is `{"key": ..., "request": {"messages": [...]}, "reply": {"content": ...}}`, where the key
is a hash of what decides a reply; `purpose`, `usage`, `model`, `finish_reason` and `wall_s` may be
added. Lines without a text reply (tool calls, say) are kept out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rtlagent.errors import RunError
from rtlagent.types import Message, ModelReply, Usage, to_json

CHARACTERS_PER_TOKEN = 4
_TASK = "# Task:"


@dataclass(frozen=True)
class Recording:
    """One answered request."""

    key: str
    purpose: str
    """Empty if the log does not tell and the prompt has no task line."""
    text: str
    usage: Usage
    model: str = ""
    finish_reason: str = "stop"


def request_key(messages: Sequence[Message]) -> str:
    """Return the hash of what decides a reply: the messages (we send no tools and no format)."""
    return _key_of({"messages": _plain(messages)})


def purpose_of(messages: Sequence[Message]) -> str:
    """Return the purpose on the first line of the last user message, `# Task: generate`, or ``."""
    return _purpose_in(_plain(messages))


def estimate_tokens(*texts: str) -> int:
    """Guess the tokens of some texts: four characters each, and at least one if there is any text."""
    return -(-sum(len(t) for t in texts) // CHARACTERS_PER_TOKEN)


def estimate_usage(messages: Sequence[Message], text: str, cost_usd: float | None = 0.0) -> Usage:
    """Guess the usage of an exchange from the length of its texts."""
    tokens_in = estimate_tokens(*(m.content for m in messages))
    return Usage(tokens_in, 0, estimate_tokens(text), cost_usd, estimated=True)


def format_line(messages: Sequence[Message], reply: ModelReply, *, purpose: str, wall_s: float) -> bytes:
    """Return one line of a log, with its line end."""
    record = {
        "key": request_key(messages),
        "request": {"messages": _plain(messages)},
        "reply": {"content": reply.text},
        "purpose": purpose,
        "model": reply.model,
        "finish_reason": reply.finish_reason,
        "usage": to_json(reply.usage),
        "wall_s": round(wall_s, 3),
    }
    return json.dumps(record).encode() + b"\n"


def parse_log(data: bytes, *, where: str) -> list[Recording]:
    """Read a log's lines; those without a text reply are left out.

    Raises:
        RunError: a line is damaged; the error names it.
    """
    recordings = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            recording = parse_line(line)
        except (RecursionError, ValueError) as error:
            why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
            hint = "mend the line, or take it out: the model is then asked again"
            message = f"this is not a recorded model reply: {why}"
            raise RunError(message, where=f"{where}:{number}", hint=hint) from None
        if recording is not None:
            recordings.append(recording)
    return recordings


def parse_line(line: bytes) -> Recording | None:
    """Read one line; None if it has no text reply.

    Raises:
        ValueError: it is no JSON object with `key` (or `request`) and `reply`.
    """
    record = json.loads(line)
    if not isinstance(record, dict) or not isinstance(record.get("reply"), dict):
        raise ValueError('it has no "reply" object')
    request = record.get("request")
    request = request if isinstance(request, dict) else {}
    key = record.get("key") or (_key_of(request) if request else None)
    if not isinstance(key, str):
        raise ValueError('it has neither "key" nor "request"')
    text = record["reply"].get("content")
    if not isinstance(text, str) or not text.strip():
        return None
    messages = request.get("messages")
    purpose = record.get("purpose") or _purpose_in(messages if isinstance(messages, list) else [])
    return Recording(
        key=key,
        purpose=without_surrogates(str(purpose)),
        text=without_surrogates(text),
        usage=_usage_of(record.get("usage")),
        model=str(record.get("model") or request.get("model") or ""),
        finish_reason=str(record.get("finish_reason") or "stop"),
    )


def without_surrogates(text: str) -> str:
    """Return `text` with a `?` for each half of a surrogate pair: JSON can hold one, no file or terminal can."""
    return text.encode("utf-8", "replace").decode()


def _key_of(request: Mapping[str, Any]) -> str:
    kept = {k: request.get(k) for k in ("messages", "tools", "response_format")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def _plain(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": m.role, "content": m.content} for m in messages]


def _purpose_in(messages: Sequence[object]) -> str:
    for message in reversed(messages):
        if isinstance(message, dict) and message.get("role") == "user":
            content = message.get("content")
            first = content.lstrip().split("\n", 1)[0] if isinstance(content, str) else ""
            return first.removeprefix(_TASK).strip() if first.startswith(_TASK) else ""
    return ""


def _usage_of(value: object) -> Usage:
    if not isinstance(value, dict):
        return Usage(cost_usd=None, estimated=True)
    numbers = [value.get(k) or 0 for k in ("tokens_in", "tokens_cached", "tokens_out")]
    cost = value.get("cost_usd")
    if not all(isinstance(n, int) for n in numbers) or not isinstance(cost, int | float | None):
        raise ValueError('its "usage" is no set of numbers')
    return Usage(numbers[0], numbers[1], numbers[2], cost, estimated=bool(value.get("estimated")))
