"""A real HTTP server that answers chat completions from a script, faults included."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from rtlagent.config import ModelConfig
from rtlagent.models.events import ModelEvent
from rtlagent.models.openai_api import OpenAIChat
from rtlagent.models.price import FREE, Price

Step = Callable[["Handler", dict[str, Any]], None]

MODEL_VARIABLES = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_API_BASE",
    "OLLAMA_HOST",
    "ANTHROPIC_API_KEY",
    "GOOGLE_API_KEY",
    "MISTRAL_API_KEY",
    "DEEPSEEK_API_KEY",
    "XAI_API_KEY",
    "GROQ_API_KEY",
    "RTLAGENT_API_KEY",
    "RTLAGENT_REPLAY_STRICT",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
)


class Handler(BaseHTTPRequestHandler):
    """Runs the next step of the script for each POST."""

    protocol_version = "HTTP/1.1"
    script: ScriptedEndpoint

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/v1/models" and self.script.models is not None:
            self.script.list_headers.append(dict(self.headers))
            self.reply(200, {"object": "list", "data": self.script.models})
        else:
            self.reply(404, {"error": {"message": "not found"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.script.requests.append(body)
        self.script.headers.append({k.lower(): v for k, v in self.headers.items()})
        if not self.script.steps:
            self.reply(418, {"error": {"message": "the script has no more steps"}})
            return
        self.script.steps.pop(0)(self, body)

    def reply(self, status: int, body: object, headers: dict[str, str] | None = None) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = True

    def start_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def chunk(self, **fields: object) -> None:
        head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        self.wfile.write(b"data: " + json.dumps({**head, **fields}).encode() + b"\n\n")
        self.wfile.flush()

    def delta(self, finish: str | None = None, **delta: object) -> None:
        self.chunk(choices=[{"index": 0, "delta": delta, "finish_reason": finish}])


class ScriptedEndpoint:
    """The server's script and what it was sent."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.list_headers: list[dict[str, str]] = []
        self.models: list[dict[str, Any]] | None = [{"id": "first"}, {"id": "second"}]
        self.events: list[ModelEvent] = []
        self.slept: list[float] = []
        handler = type("ScriptedHandler", (Handler,), {"script": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = False  # so that closing the server waits for every answer
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def provider(
        self, config: ModelConfig | None = None, *, price: Price | None = FREE, key: str = "none"
    ) -> OpenAIChat:
        return OpenAIChat(
            "openai:scripted",
            model="scripted",
            base_url=self.url,
            api_key=key,
            config=config or ModelConfig(),
            price=price,
            loopback=True,
            on_event=self.events.append,
            sleep=self.slept.append,
            jitter=lambda: 1.0,
        )

    def kinds(self) -> list[str]:
        return [str(e.kind) for e in self.events]

    # Steps

    def say(
        self,
        text: str | None,
        *,
        finish: str = "stop",
        usage: dict[str, Any] | None = None,
        refusal: str | None = None,
    ) -> None:
        """Answer well, streamed if asked to."""

        def step(handler: Handler, body: dict[str, Any]) -> None:
            counted = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15} if usage is None else usage
            if not body.get("stream"):
                message = {"role": "assistant", "content": text, "refusal": refusal}
                choice = {"index": 0, "message": message, "finish_reason": finish}
                handler.reply(200, {"id": "c1", "model": "scripted", "choices": [choice], "usage": counted or None})
                return
            handler.start_stream()
            handler.delta(role="assistant")
            for start in range(0, len(text or ""), 7):
                handler.delta(content=(text or "")[start : start + 7])
            if refusal:
                handler.delta(refusal=refusal)
            handler.delta(finish)
            if counted and body.get("stream_options", {}).get("include_usage"):
                handler.chunk(choices=[], usage=counted)
            handler.wfile.write(b"data: [DONE]\n\n")

        self.steps.append(step)

    def fail(self, status: int, body: object = None, **headers: str) -> None:
        """Answer with an HTTP error; header names with _ for -."""
        told = {"error": {"message": f"scripted {status}"}} if body is None else body
        named = {k.replace("_", "-"): v for k, v in headers.items()}
        self.steps.append(lambda handler, _: handler.reply(status, told, named))

    def reject(self, message: str, code: str | None = None, status: int = 400) -> None:
        self.fail(status, {"error": {"message": message, "type": "invalid_request_error", "code": code}})

    def reset(self) -> None:
        """Drop the connection without an answer."""

        def step(handler: Handler, _: dict[str, Any]) -> None:
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.connection.close()
            handler.close_connection = True

        self.steps.append(step)

    def stop_midway(self, text: str, *, hard: bool = False) -> None:
        """Stream some text, then end the connection: politely, or with a reset."""

        def step(handler: Handler, _: dict[str, Any]) -> None:
            handler.start_stream()
            handler.delta(content=text)
            if hard:
                time.sleep(0.05)  # let the client read what was sent: a reset discards it otherwise
                handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                handler.connection.close()

        self.steps.append(step)

    def raw(self, data: bytes, content_type: str = "application/json") -> None:
        self.steps.append(lambda handler, _: handler.reply(200, data, {"Content-Type": content_type}))

    def stream_raw(self, *lines: str) -> None:
        def step(handler: Handler, _: dict[str, Any]) -> None:
            handler.start_stream()
            for line in lines:
                handler.wfile.write(f"data: {line}\n\n".encode())

        self.steps.append(step)

    def hang(self, seconds: float) -> None:
        self.steps.append(lambda handler, _: time.sleep(seconds))


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    scripted = ScriptedEndpoint()
    scripted.server.handle_error = lambda request, address: None  # type: ignore[method-assign]
    thread = threading.Thread(target=scripted.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield scripted
    scripted.server.shutdown()
    scripted.server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def no_model_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the keys of whoever runs the tests."""
    for variable in MODEL_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
