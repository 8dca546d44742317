"""Carry out one request in a process of its own: `python -m rtlagent.server.worker`.

Standard input has the order as one line of JSON, and then stays open: its end means that the server is gone, and the
worker goes, too. Standard output has a line of JSON for each progress report, and at the end one with the reply or
the error. What tools print cannot get in between: descriptor 1 is moved away first.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from rtlagent.config import load_config
from rtlagent.errors import RtlagentError
from rtlagent.server import judging, requests, single_tools
from rtlagent.server.replies import Reply
from rtlagent.server.site import Site
from rtlagent.server.workspace import workspace
from rtlagent.types import to_json

# Any: each function takes the request of its own kind.
_WORK: Mapping[type, Callable[[Any, Site], Reply]] = {
    requests.Lint: single_tools.lint,
    requests.Simulate: single_tools.simulate,
    requests.Synthesize: single_tools.synthesize,
    requests.PlaceAndRoute: single_tools.place_and_route,
    requests.Equiv: single_tools.equiv,
    requests.WaveformWindow: single_tools.waveform_window,
    requests.Hierarchy: single_tools.hierarchy,
    requests.Verify: judging.verify,
    requests.Grade: judging.grade,
    requests.CompileC: judging.compile_c,
    requests.Generate: judging.generate,
}
_WITHOUT_FOLDER = frozenset({requests.Lint, requests.WaveformWindow, requests.Hierarchy, requests.Grade})
_NO_CONFIG_FILE = Path("/")
_GRACE_S = 5.0


def main() -> None:
    """Carry out the order on standard input."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    order = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_leave_with_server, daemon=True).start()
    try:
        _say(answers, "reply", to_json(_carry_out(order, answers)))
    except RtlagentError as error:
        said = {"message": error.message, "where": error.where, "hint": error.hint, "kind": type(error).__name__}
        _say(answers, "error", said)
    except KeyboardInterrupt:
        os._exit(130)


def _carry_out(order: Mapping[str, Any], answers: IO[str]) -> Reply:
    place = workspace(Path(order["root"]))
    # No rtlagent.toml is read: whoever writes in the workspace could switch off the sandbox with one.
    config = load_config(flags=order["flags"], start=_NO_CONFIG_FILE)
    request = requests.read_request(order["tool"], order["arguments"])
    needs_folder = type(request) not in _WITHOUT_FOLDER and order["tool"] != "generate"
    folder = place.call_folder(order["tool"]) if needs_folder else ""
    try:
        return _WORK[type(request)](request, Site(place, config, folder, lambda text: _say(answers, "progress", text)))
    finally:
        if folder:
            place.written(folder)


def _say(answers: IO[str], kind: str, value: object) -> None:
    answers.write(json.dumps({kind: value}) + "\n")
    answers.flush()


def _leave_with_server() -> None:
    """End this process, as Ctrl-C would, when the server's end of the pipe is closed."""
    os.read(0, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE_S)
    os._exit(130)


if __name__ == "__main__":
    main()
