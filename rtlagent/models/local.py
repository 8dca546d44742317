"""Find a model server on this machine, and ask any endpoint which models it has."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from rtlagent.errors import ModelUnavailableError
from rtlagent.models.redaction import redact

PROBE_TIMEOUT_S = 0.3
LIST_TIMEOUT_S = 10.0
USUAL_PORTS = {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080, "vLLM": 8000}
_LARGEST_LIST = 4_000_000


@dataclass(frozen=True)
class ListedModel:
    """A model that an endpoint offers."""

    name: str
    context_tokens: int | None = None


def is_loopback(url: str) -> bool:
    """Tell whether a URL leads to this machine, without asking a name server."""
    import ipaddress

    host = (urlsplit(url).hostname or "").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def ollama_url() -> str:
    """Return Ollama's base URL; OLLAMA_HOST is read as Ollama itself reads it."""
    named = os.environ.get("OLLAMA_HOST", "").strip().strip("'\"")
    scheme, found, rest = named.partition("://")
    if not found:
        scheme, rest = "http", named
    port = {"http": 80, "https": 443}[scheme] if found and scheme in ("http", "https") else 11434
    parts = urlsplit(f"//{rest.rstrip('/')}")
    host = parts.hostname or "127.0.0.1"
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # a server's address, not a client's
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}:{parts.port or port}{parts.path.rstrip('/')}/v1"


def find_server() -> tuple[str, str, ListedModel] | None:
    """Return the program's usual name, the base URL and the first model of a server on this machine."""
    for program, port in USUAL_PORTS.items():
        url = ollama_url() if program == "Ollama" else f"http://127.0.0.1:{port}/v1"
        if not is_loopback(url):
            continue
        try:
            models = list_models(url, timeout_s=PROBE_TIMEOUT_S)
        except ModelUnavailableError:
            continue
        if models:
            return program, url, models[0]
    return None


def list_models(base_url: str, *, api_key: str = "", timeout_s: float = LIST_TIMEOUT_S) -> list[ListedModel]:
    """Return what GET /models lists; embedding models are left out.

    Raises:
        ModelUnavailableError: no server, no such page, or not a list of models.
    """
    import http.client
    import urllib.request

    url = f"{base_url.rstrip('/')}/models"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {api_key}"} if api_key else {})
    proxies = [urllib.request.ProxyHandler({})] if is_loopback(base_url) else []
    try:
        with urllib.request.build_opener(*proxies).open(request, timeout=timeout_s) as reply:
            listed = json.loads(reply.read(_LARGEST_LIST))
            rows = listed["data"] or []
            models = [ListedModel(str(row["id"]), _context_of(row)) for row in rows]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
        told = redact(f"{type(error).__name__}: {error}", [api_key])
        raise ModelUnavailableError(f"{url} lists no models ({told})") from None
    return [m for m in models if "embed" not in m.name.lower()]


def _context_of(row: dict[str, Any]) -> int | None:
    """Read the context window that vLLM, llama.cpp, LM Studio and several hosts put into the list."""
    meta = row.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    for size in (row.get("max_model_len"), row.get("context_length"), row.get("context_window"), meta.get("n_ctx")):
        if isinstance(size, int) and size > 0:
            return size
    return None
