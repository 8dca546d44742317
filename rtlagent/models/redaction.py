"""Keep keys out of every text that leaves models/."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

_SHORTEST_SECRET = 8
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)S?$")
_KEY_SHAPE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|AIza|hf|or)[-_][A-Za-z0-9_\-*]{8,}")
_BEARER = re.compile(r"(?i)(bearer\s+)[A-Za-z0-9._~+/=\-]{8,}")


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace keys by `[key]`: the given ones, the environment's, and whatever looks like one.

    Servers echo the key that they reject, and not all of them mask it.
    """
    known = [v for k, v in os.environ.items() if _SECRET_NAME.search(k)]
    for secret in sorted({*known, *secrets}, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "[key]")
    return _BEARER.sub(r"\1[key]", _KEY_SHAPE.sub("[key]", text))
