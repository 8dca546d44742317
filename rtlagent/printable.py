"""Keep what a model or a file says from steering the terminal it is printed on."""

from __future__ import annotations

import re

# Escape sequences, signs that turn the direction of the text, and halves of surrogate pairs.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Return `text` with each character that steers a terminal, or that none can show, spelt out as in Python."""
    return _STEERING.sub(lambda m: m[0].encode("unicode_escape", "surrogatepass").decode(), text)
