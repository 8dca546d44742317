"""Record the trace of a model-written golden.py: `python rtlagent_golden.py`, run in the sandbox.

Reads request.json and golden.py from the current folder and writes result.json: `{"trace": ...}`,
`{"problem": {code, message, line, hint}}`, or `{"error": text}` for a fault of ours. golden.py runs in a forked child,
twice, so that it can neither end the recorder nor differ from run to run unnoticed; what the
children say is only ever data.
"""

from __future__ import annotations

import json
import os
import select
import signal
import struct
import sys
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

from rtlagent_golden_record import (
    CycleRecorder,
    DeadlineReached,
    Design,
    GoldenFile,
    GoldenProblem,
    read_idle,
    read_resets,
)
from rtlagent_golden_streams import StreamRecorder

MAX_RESULT_BYTES = 128 << 20


def record(text: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the trace of the golden model in `text`, in the form of `types.Trace`.

    Raises:
        GoldenProblem: the model breaks the protocol, or itself.
    """
    clock, reset, design = request["clock"], request["reset"], _design(request)
    golden = GoldenFile(text)
    has_streams = golden.names.get("STREAMS") is not None
    if not has_streams and not isinstance(golden.names.get("Golden"), type):
        hint = "define class Golden and directed(), or STREAMS and transact()"
        raise GoldenProblem("GOLDEN_PROTOCOL", "neither class Golden nor STREAMS", 0, hint)
    trace: dict[str, Any] = {"seed": design.seed, "cycles": [], "streams": [], "stream_ports": [], "clocks": []}
    if has_streams:
        streams = StreamRecorder(golden, design, clock["period_ns"] if clock else 10.0)
        for name in streams.clock_names:
            # A clock is no stimulus.
            del design.inputs[name]
        trace |= {"stream_ports": streams.ports, "clocks": streams.clocks(), "streams": streams.record()}
    if isinstance(golden.names.get("Golden"), type):
        if trace["clocks"]:
            message = "class Golden is for one clock, but STREAMS names several"
            raise golden.problem("GOLDEN_PROTOCOL", message, at="Golden", hint="leave class Golden out")
        trace["cycles"] = CycleRecorder(golden, design).record()
    trace["idle"] = read_idle(golden, design)
    synchronous = reset["synchronous"] if reset else False
    further = read_resets(golden, design).items()
    trace["resets"] = [{"port": n, "active": level, "synchronous": synchronous} for n, level in further]
    trace["max_latency_cycles"] = golden.integer("MAX_LATENCY")
    quiet = golden.integer("TIMEOUT_CYCLES") or max(1000, 4 * (trace["max_latency_cycles"] or 0))
    trace["timeout_cycles"] = min(quiet, 100_000)
    return trace


def _design(request: dict[str, Any]) -> Design:
    clock, reset = request["clock"], request["reset"]
    ports = request["ports"]
    return Design(
        inputs={
            p["name"]: p["width"]
            for p in ports
            if p["direction"] == "input" and not (clock and p["name"] == clock["port"])
        },
        outputs={p["name"]: p["width"] for p in ports if p["direction"] == "output"},
        clock=clock["port"] if clock else None,
        reset=reset["port"] if reset else None,
        reset_active=1 if not reset or reset["active"] == "high" else 0,
        reset_synchronous=bool(reset and reset["synchronous"]),
        random_cycles=request["random_cycles"],
        max_directed_cycles=request["max_directed_cycles"],
        seed=request["seed"],
    )


def _child(text: str, request: dict[str, Any], pipe: int) -> None:
    """Record in this process and send the answer, framed by its length."""
    # Bound before the model's code runs, which might replace them.
    dumps, write, leave, pack = json.dumps, os.write, os._exit, struct.pack
    sink = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(sink, descriptor)

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise DeadlineReached

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, request["deadline_s"])
    answer: dict[str, Any]
    try:
        answer = {"trace": record(text, request)}
        signal.setitimer(signal.ITIMER_REAL, 0)
    except GoldenProblem as problem:
        answer = {
            "problem": {
                "code": problem.code,
                "message": problem.message,
                "line": problem.line,
                "hint": problem.hint,
            }
        }
    except DeadlineReached:
        answer = _timed_out()
    except Exception:
        answer = {"error": traceback.format_exc()}
    body = dumps(answer, separators=(",", ":")).encode()
    body = pack(">Q", len(body)) + body
    while body:
        body = body[write(pipe, body) :]
    leave(0)


def _timed_out() -> dict[str, Any]:
    return _problem("GOLDEN_TIMEOUT", "did not end in time", "look for an endless loop")


def _problem(code: str, message: str, hint: str = "") -> dict[str, Any]:
    return {"problem": {"code": code, "message": message, "line": 0, "hint": hint}}


def run_child(text: str, request: dict[str, Any]) -> dict[str, Any]:
    """Run golden.py in a child of its own and return what it answered."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            _child(text, request, writer)
        finally:
            os._exit(1)
    os.close(writer)
    deadline = time.monotonic() + request["deadline_s"] + 2
    received, timed_out = bytearray(), False
    while not _complete(received):
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            timed_out = True
            break
        chunk = os.read(reader, 1 << 20)
        if not chunk or len(received) > MAX_RESULT_BYTES:
            break
        received += chunk
    os.close(reader)
    # The model may have forked, or may still be busy: its answer is complete, or never will be.
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if timed_out:
        return _timed_out()
    if not _complete(received):
        return _problem("GOLDEN_EXIT", "the process ended before the recording was complete", "no os._exit, no kill")
    try:
        answer = json.loads(received[8:])
    except (ValueError, RecursionError):
        answer = None
    return answer if isinstance(answer, dict) else _problem("GOLDEN_EXIT", "the recording is damaged")


def _complete(received: bytearray) -> bool:
    return len(received) >= 8 and len(received) - 8 >= struct.unpack(">Q", received[:8])[0]


def difference(first: dict[str, Any], second: dict[str, Any]) -> str:
    """Return where two recordings differ first, in words; empty if they do not."""
    if first == second:
        return ""
    if "trace" not in first or "trace" not in second:
        return "one run failed"
    for kind in ("cycles", "streams"):
        for one, two in zip(first["trace"][kind], second["trace"][kind], strict=False):
            if one != two:
                return f"scenario `{one['name']}` differs"
    return "the scenarios differ"


def main() -> int:
    """Record twice, compare, and write result.json."""
    work = Path.cwd()
    request = json.loads((work / "request.json").read_text())
    text = (work / "golden.py").read_text()
    answer = run_child(text, request)
    if "trace" in answer:
        where = difference(answer, run_child(text, request))
        if where:
            hint = "draw every random value from `rng`; use no time, no urandom, no id()"
            answer = _problem("GOLDEN_NONDETERMINISTIC", f"two runs with the same seed: {where}", hint)
    result = work / "result.json"
    if result.is_symlink() or result.is_file():
        result.unlink()
    result.write_text(json.dumps(answer, separators=(",", ":")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
