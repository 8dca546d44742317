from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rtlagent.config import ModelConfig
from rtlagent.errors import ModelConfigError, ModelReplyError
from rtlagent.models import local, names, price_of, resolve
from rtlagent.models.local import is_loopback, ollama_url
from rtlagent.models.price import FREE
from rtlagent.models.redaction import redact
from rtlagent.types import Message

ASK = [Message("user", "# Task: generate\nan inverter")]
RECORDING = '{"request": {"messages": [{"role": "user", "content": "# Task: generate"}]}, "reply": {"content": "R"}}\n'


def ask(name: str | None, config: ModelConfig | None = None) -> Any:
    return resolve(name, config or ModelConfig()).complete(ASK, purpose="generate")


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no local server be found."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setattr(local, "USUAL_PORTS", {"vLLM": free.getsockname()[1]})


def test_openai_with_key_and_base_url(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-openai")
    endpoint.say("ok")
    provider = resolve("openai:some-model", ModelConfig(context_tokens=4096))
    assert provider.complete(ASK, purpose="generate").text == "ok"
    assert endpoint.requests[0]["model"] == "some-model"
    assert endpoint.headers[0]["authorization"] == "Bearer key-for-openai"
    assert (provider.name, provider.context_tokens) == ("openai:some-model", 4096)
    assert price_of(provider) == FREE


def test_a_local_base_url_needs_no_key(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url + "/")
    endpoint.say("ok")
    assert ask("openai:m").text == "ok"


def test_a_distant_endpoint_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelConfigError, match=r"OPENAI_API_KEY is not set, which openai:gpt-4\.1 needs"):
        resolve("openai:gpt-4.1", ModelConfig())
    monkeypatch.setenv("OPENAI_BASE_URL", "http://10.1.2.3:8000/v1")
    with pytest.raises(ModelConfigError, match=r"openai:m at http://10\.1\.2\.3:8000/v1 needs") as caught:
        resolve("openai:m", ModelConfig())
    assert "http://10.1.2.3:8000/v1#NAME" in caught.value.hint


def test_only_the_official_endpoint_has_the_official_price(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)
    official = price_of(resolve("openai:gpt-4.1", ModelConfig()))
    assert official is not None and official.in_usd == 2.0
    monkeypatch.setenv("OPENAI_BASE_URL", "https://llm.example/v1")
    assert price_of(resolve("openai:gpt-4.1", ModelConfig())) is None


def test_ollama_host_is_respected(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", f"0.0.0.0:{endpoint.server.server_port}")
    endpoint.say("ok")
    provider = resolve("ollama:qwen2.5-coder:32b", ModelConfig())
    assert provider.complete(ASK, purpose="generate").text == "ok"
    assert endpoint.requests[0]["model"] == "qwen2.5-coder:32b"
    assert provider.name == "ollama:qwen2.5-coder:32b"


@pytest.mark.parametrize(
    ("host", "url"),
    [
        (None, "http://127.0.0.1:11434/v1"),
        ("box", "http://box:11434/v1"),
        (":9000", "http://127.0.0.1:9000/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("[::]:9", "http://[::1]:9/v1"),
        ("http://box", "http://box:80/v1"),
        ("https://box/llm/", "https://box:443/llm/v1"),
        ('"http://box:1"', "http://box:1/v1"),
    ],
)
def test_ollama_url(host: str | None, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if host is not None:
        monkeypatch.setenv("OLLAMA_HOST", host)
    assert ollama_url() == url


def test_url_names(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-this-host")
    endpoint.models = [{"id": "nomic-embed-text"}, {"id": "org/coder", "max_model_len": 32768}]
    for _ in range(3):
        endpoint.say("ok")
    assert ask(f"{endpoint.url}#chosen").text == "ok"
    provider = resolve(endpoint.url, ModelConfig())
    assert provider.complete(ASK, purpose="generate").text == "ok"
    assert (provider.name, provider.context_tokens) == (f"{endpoint.url}#org/coder", 32768)
    monkeypatch.setenv("RTLAGENT_API_KEY", "for-this-host")
    assert ask(endpoint.url.removesuffix("/v1")).text == "ok"
    assert [r["model"] for r in endpoint.requests] == ["chosen", "org/coder", "org/coder"]
    assert [h["authorization"] for h in endpoint.headers] == ["Bearer none", "Bearer none", "Bearer for-this-host"]
    assert "Authorization" not in endpoint.list_headers[0]


@pytest.mark.parametrize("models", [[], None, [{"name": "no id"}]])
def test_url_without_a_model_to_offer(endpoint: Any, models: Any) -> None:
    endpoint.models = models
    with pytest.raises(ModelConfigError, match=r"names no model, and .*/models lists no"):
        resolve(endpoint.url, ModelConfig())


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("gpt-4.1", "cannot tell whom 'gpt-4.1' names"),
        ("closedai:gpt", "cannot tell whom"),
        ("openai", "cannot tell whom"),
        ("http://", "no address"),
        ("http://host:port/v1#m", "no address"),
        ("https://user:hunter2@host/v1#m", "contains a user name or password"),
        ("langchain:openai", "names no model"),
        ("langchain::x", "names no model"),
        ("langchain:nobody:x", "langchain:nobody:x cannot be opened"),
        ("langchain:openai:x", "OPENAI_API_KEY"),
        ("replay:", "names no log"),
        ("replay:nowhere.jsonl", "cannot read"),
        ("replay:nowhere.jsonl?fast=1", "no option 'fast=1'"),
        ("replay:nowhere.jsonl?strict=maybe", "no option"),
    ],
)
def test_wrong_names(name: str, told: str) -> None:
    with pytest.raises(ModelConfigError) as caught:
        resolve(name, ModelConfig())
    assert told in str(caught.value)
    assert caught.value.exit_code == 2
    assert "hunter2" not in str(caught.value)


def test_wrong_names_list_the_choices() -> None:
    with pytest.raises(ModelConfigError) as caught:
        resolve("gpt-4.1", ModelConfig())
    for choice in ("openai:", "ollama:", "http://localhost:8000/v1#NAME", "langchain:anthropic:", "replay:"):
        assert choice in caught.value.hint


def test_a_missing_langchain_package_has_its_install_line() -> None:
    if importlib.util.find_spec("langchain_perplexity"):
        pytest.skip("langchain-perplexity is installed")
    with pytest.raises(ModelConfigError, match="not installed") as caught:
        resolve("langchain:perplexity:sonar", ModelConfig())
    assert caught.value.hint == "pip install langchain-perplexity"


@pytest.mark.parametrize(
    "field", ["max_output_tokens", "retries", "continuations", "context_tokens", "request_timeout_s"]
)
def test_senseless_settings(field: str) -> None:
    with pytest.raises(ModelConfigError, match=field):
        resolve("openai:m", ModelConfig(**{field: -1}))


def test_replay_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(RECORDING)
    odd = tmp_path / "log?strict=1"
    odd.write_text(RECORDING)
    assert ask(f"replay:{log}").text == "R"
    assert ask(f"replay:{log}?strict=0").text == "R"
    assert ask(f"replay:{odd}").text == "R"
    with pytest.raises(ModelReplyError, match="strict"):
        ask(f"replay:{log}?strict=1")
    monkeypatch.setenv("RTLAGENT_REPLAY_STRICT", "1")
    with pytest.raises(ModelReplyError, match="strict"):
        ask(f"replay:{log}")
    assert resolve(f"replay:{log}", ModelConfig()).name == f"replay:{log}"


def test_the_argument_wins_over_the_settings(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(RECORDING)
    config = ModelConfig(name=f"replay:{log}")
    assert ask(None, config).text == "R"
    with pytest.raises(ModelConfigError, match="cannot tell"):
        resolve("nonsense", config)


def test_none_named_a_configured_base_url_comes_first(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x" * 20)
    endpoint.say("ok")
    provider = resolve(None, ModelConfig())
    assert provider.name == "openai:first"
    assert provider.complete(ASK, purpose="generate").text == "ok"


@pytest.mark.usefixtures("nobody")
def test_none_named_a_key_for_langchain_comes_next(monkeypatch: pytest.MonkeyPatch) -> None:
    table = (
        ("ANTHROPIC_API_KEY", "anthropic", "a", "package_that_is_not_there"),
        ("MISTRAL_API_KEY", "openai", "m", "langchain_openai"),
    )
    monkeypatch.setattr(names, "_LANGCHAIN_KEYS", table)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x" * 20)
    with pytest.raises(
        ModelConfigError, match="ANTHROPIC_API_KEY is set, but package-that-is-not-there is not installed"
    ):
        resolve(None, ModelConfig())
    monkeypatch.setenv("MISTRAL_API_KEY", "x" * 20)
    with pytest.raises(ModelConfigError, match="langchain:openai:m cannot be opened"):
        resolve(None, ModelConfig())


def test_none_named_a_local_server_is_found(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = free.getsockname()[1]
    monkeypatch.setattr(local, "USUAL_PORTS", {"LM Studio": closed, "vLLM": endpoint.server.server_port})
    endpoint.say("ok")
    provider = resolve(None, ModelConfig())
    assert provider.name == f"{endpoint.url}#first"
    assert provider.complete(ASK, purpose="generate").text == "ok"


@pytest.mark.usefixtures("nobody")
def test_none_named_and_none_found() -> None:
    with pytest.raises(ModelConfigError, match="no API key is set; no local server answers") as caught:
        resolve(None, ModelConfig())
    assert "openai:gpt-4.1" in caught.value.hint


def test_the_probe_stays_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "USUAL_PORTS", {"Ollama": 11434})
    monkeypatch.setenv("OLLAMA_HOST", "http://box.example:11434")
    monkeypatch.setattr(local, "list_models", lambda *a, **k: pytest.fail("asked a distant host"))
    assert local.find_server() is None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.9.9.9/v1", True),
        ("http://[::1]:1/v1", True),
        ("http://localhost.example/v1", False),
        ("http://127.0.0.1.example/v1", False),
        ("http://10.0.0.1/v1", False),
        ("https://api.openai.com/v1", False),
    ],
)
def test_is_loopback(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected


def test_redaction_by_value_and_by_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SECRET", "correct-horse")
    text = "correct-horse battery sk-abcdefgh12345 Bearer abcdef123456 staple own-key-value"
    assert redact(text, ["own-key-value"]) == "[key] battery [key] Bearer [key] staple [key]"
    assert redact("task-1 takes 12 tokens") == "task-1 takes 12 tokens"


def test_no_sdk_is_imported_with_the_package() -> None:
    script = (
        "import sys, rtlagent.models\n"
        "print([m for m in ('openai', 'langchain', 'langchain_core', 'httpx', 'pydantic', 'urllib.request') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
