"""From a model's name to the provider that answers: `openai:gpt-4.1`, `ollama:qwen3`, `replay:LOG`."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from rtlagent.config import ModelConfig
from rtlagent.errors import ModelConfigError, ModelUnavailableError
from rtlagent.models.events import EventSink, ignore
from rtlagent.models.local import ListedModel, find_server, is_loopback, list_models, ollama_url
from rtlagent.models.price import find_price
from rtlagent.models.replay import ReplayModel

if TYPE_CHECKING:
    from rtlagent.models import ModelProvider

OPENAI_URL = "https://api.openai.com/v1"
STRICT_REPLAY = "RTLAGENT_REPLAY_STRICT"
URL_KEY = "RTLAGENT_API_KEY"

_NO_KEY = "none"
"""Sent where no key is wanted: the SDK insists on some text."""

_PREFERRED = ("gpt-6.1-sol", "gpt-6-sol", "gpt-5.4", "gpt-5.1", "gpt-5", "gpt-4.1", "gpt-4o")
"""The first of these that the key may use is asked when the user names no model."""

_LANGCHAIN_KEYS = (
    ("ANTHROPIC_API_KEY", "anthropic", "claude-sonnet-5-5", "langchain_anthropic"),
    ("GOOGLE_API_KEY", "google_genai", "gemini-2.5-pro", "langchain_google_genai"),
    ("MISTRAL_API_KEY", "mistralai", "devstral-medium-latest", "langchain_mistralai"),
    ("DEEPSEEK_API_KEY", "deepseek", "deepseek-chat", "langchain_deepseek"),
    ("XAI_API_KEY", "xai", "grok-4", "langchain_xai"),
    ("GROQ_API_KEY", "groq", "openai/gpt-oss-120b", "langchain_groq"),
)

CHOICES = """name a model with --model, such as
  openai:gpt-4.1                       with OPENAI_API_KEY; OPENAI_BASE_URL for another endpoint
  ollama:qwen2.5-coder:32b             a local Ollama; OLLAMA_HOST if it is elsewhere
  http://localhost:8000/v1#NAME        any OpenAI-compatible server; NAME may be left out
  langchain:anthropic:claude-sonnet-5-5  with ANTHROPIC_API_KEY and `pip install langchain-anthropic`
  replay:run/model.jsonl               recorded replies"""


def resolve(name: str | None, config: ModelConfig, *, on_event: EventSink = ignore) -> ModelProvider:
    """Return the provider that a name stands for.

    Args:
        name: Overrides `config.name`. Neither: the first configured key, else a server found on its
            usual port of this machine.
        config: Settings of the requests.
        on_event: Told about retries and the like.

    Raises:
        ModelConfigError: the name has an unknown scheme, or lacks its key, package, file or model.
    """
    named = name or config.name
    _check(config)
    if not named:
        return _discover(config, on_event)
    scheme, separator, rest = named.partition(":")
    if named.startswith(("http://", "https://")):
        return _from_url(named, config, on_event)
    if scheme == "openai" and separator:
        return _openai(rest, config, on_event)
    if scheme == "ollama" and separator:
        url = ollama_url()
        return _chat(f"ollama:{rest}", rest, url=url, key=_NO_KEY, config=config, on_event=on_event)
    if scheme == "langchain" and separator:
        vendor, _, model = rest.partition(":")
        return _langchain(vendor, model, config, on_event)
    if scheme == "replay" and separator:
        return _replay(rest, on_event)
    raise ModelConfigError(f"cannot tell whom {named!r} names", hint=CHOICES)


def _check(config: ModelConfig) -> None:
    for field, least in (("max_output_tokens", 1), ("context_tokens", 1), ("retries", 0), ("continuations", 0)):
        value = getattr(config, field)
        if value is not None and value < least:
            raise ModelConfigError(f"{field} must be at least {least}, not {value}")
    if not config.request_timeout_s > 0:
        raise ModelConfigError(f"request_timeout_s must be more than 0, not {config.request_timeout_s}")


def _discover(config: ModelConfig, on_event: EventSink) -> ModelProvider:
    if os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL"):
        return _openai("", config, on_event)
    for variable, vendor, model, package in _LANGCHAIN_KEYS:
        if os.environ.get(variable) and importlib.util.find_spec(package):
            return _langchain(vendor, model, config, on_event)
    found = find_server()
    if found is not None:
        program, url, model_listed = found
        name = f"ollama:{model_listed.name}" if program == "Ollama" else f"{url}#{model_listed.name}"
        return _chat(
            name, model_listed.name, url=url, key=_NO_KEY, config=_with_context(config, model_listed), on_event=on_event
        )
    unusable = [
        f"{v} is set, but {p.replace('_', '-')} is not installed" for v, _, _, p in _LANGCHAIN_KEYS if os.environ.get(v)
    ]
    found_nothing = "; ".join(unusable) or "no API key is set"
    raise ModelConfigError(
        f"no model is named and none was found ({found_nothing}; no local server answers)", hint=CHOICES
    )


def _openai(model: str, config: ModelConfig, on_event: EventSink) -> ModelProvider:
    url = (os.environ.get("OPENAI_BASE_URL") or OPENAI_URL).rstrip("/")
    _refuse_password(url, "OPENAI_BASE_URL")
    key = os.environ.get("OPENAI_API_KEY", "")
    if not key and not is_loopback(url):
        where = f"at {url} " if url != OPENAI_URL else ""
        raise ModelConfigError(
            f"OPENAI_API_KEY is not set, which openai:{model or 'NAME'} {where}needs",
            hint=f"set it, or use a server that wants no key as {url if where else 'http://host:port/v1'}#NAME",
        )
    if not model and url == OPENAI_URL:
        model = _preferred(url, key)
    return _chat(
        f"openai:{model}",
        model,
        url=url,
        key=key or _NO_KEY,
        config=config,
        on_event=on_event,
        key_hint="check OPENAI_API_KEY",
    )


def _preferred(url: str, key: str) -> str:
    try:
        listed = {m.name for m in list_models(url, api_key=key)}
    except ModelUnavailableError as error:
        raise ModelConfigError(f"no model is named, and {error.message}", hint=CHOICES) from None
    chosen = next((m for m in _PREFERRED if m in listed), None)
    if chosen is None:
        raise ModelConfigError("OPENAI_API_KEY may use none of the models that we know", hint=CHOICES)
    return chosen


def _from_url(named: str, config: ModelConfig, on_event: EventSink) -> ModelProvider:
    url, _, model = named.partition("#")
    try:
        parts = urlsplit(url)
        valid = bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if not valid:
        raise ModelConfigError(f"{url} is no address of a server", hint="write it as http://host:port/v1#NAME")
    _refuse_password(url, "--model")
    if parts.path in ("", "/"):
        url = url.rstrip("/") + "/v1"
    # Never OPENAI_API_KEY: the user has not said that this host may see it.
    key = os.environ.get(URL_KEY) or _NO_KEY
    hint = f"set {URL_KEY}, or give this address as OPENAI_BASE_URL, its key as OPENAI_API_KEY, and name openai:NAME"
    return _chat(
        f"{url.rstrip('/')}#{model}",
        model,
        url=url.rstrip("/"),
        key=key,
        config=config,
        on_event=on_event,
        key_hint=hint,
    )


def _refuse_password(url: str, where: str) -> None:
    if "@" in urlsplit(url).netloc:
        raise ModelConfigError(
            f"the address in {where} contains a user name or password", hint=f"put the key into {URL_KEY} instead"
        )


def _chat(
    name: str, model: str, *, url: str, key: str, config: ModelConfig, on_event: EventSink, key_hint: str = ""
) -> ModelProvider:
    from rtlagent.models.openai_api import OpenAIChat

    if not model:
        listed = _first_model(name, url, "" if key == _NO_KEY else key)
        model, name, config = listed.name, name + listed.name, _with_context(config, listed)
    loopback = is_loopback(url)
    vendor = "local" if loopback else "openai" if url == OPENAI_URL else None
    return OpenAIChat(
        name,
        model=model,
        base_url=url,
        api_key=key,
        config=config,
        price=find_price(vendor, model, config),
        context_tokens=config.context_tokens,
        loopback=loopback,
        key_hint=key_hint,
        on_event=on_event,
    )


def _first_model(name: str, url: str, key: str) -> ListedModel:
    try:
        models = list_models(url, api_key=key)
    except ModelUnavailableError as error:
        raise ModelConfigError(
            f"{name} names no model, and {error.message}", hint="start the server, or name a model"
        ) from None
    if not models:
        raise ModelConfigError(f"{name} names no model, and {url}/models lists none", hint="load a model, or name one")
    return models[0]


def _with_context(config: ModelConfig, listed: ListedModel) -> ModelConfig:
    return config if config.context_tokens else replace(config, context_tokens=listed.context_tokens)


def _langchain(vendor: str, model: str, config: ModelConfig, on_event: EventSink) -> ModelProvider:
    from rtlagent.models.langchain_chat import open_chat

    if not vendor or not model:
        raise ModelConfigError(f"langchain:{vendor} names no model", hint="write it as langchain:PROVIDER:NAME")
    return open_chat(vendor, model, config, on_event=on_event)


def _replay(rest: str, on_event: EventSink) -> ModelProvider:
    strict = os.environ.get(STRICT_REPLAY, "") not in ("", "0")
    path, mark, query = rest.rpartition("?")
    if not mark or Path(rest).exists():
        path = rest
    else:
        options = parse_qs(query, keep_blank_values=True)
        if set(options) != {"strict"} or options["strict"][-1] not in ("0", "1"):
            raise ModelConfigError(f"replay knows no option {query!r}", hint="write replay:LOG or replay:LOG?strict=1")
        strict = options["strict"][-1] == "1"
    if not path:
        raise ModelConfigError("replay: names no log", hint="write it as replay:run/model.jsonl")
    return ReplayModel(Path(path), strict=strict, on_event=on_event)
