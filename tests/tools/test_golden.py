"""Recording golden models: good ones, wrong ones, and hostile ones."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from designs.catalog import DESIGNS

from rtlagent.config import Limits, ToolConfig
from rtlagent.errors import ToolError, UsageError
from rtlagent.tools.golden import MAX_DIRECTED_CYCLES, record_trace
from rtlagent.tools.trace import measure_coverage, trace_from_json, trace_to_json
from rtlagent.types import Clock, Port, Reset, SourceFile, Status, StepResult, Trace, to_json

PORTS = DESIGNS["edge_detector"].ports
CLOCK = DESIGNS["edge_detector"].clock
RESET = DESIGNS["edge_detector"].reset
GOOD = DESIGNS["edge_detector"].golden_file.text
STREAM = DESIGNS["squarer"].golden_file.text


def record(
    text: str,
    *,
    ports: tuple[Port, ...] = PORTS,
    clock: Clock | None = CLOCK,
    reset: Reset | None = RESET,
    seed: int = 1,
    random_cycles: int = 100,
    wall_s: float = 60,
) -> tuple[StepResult, Trace | None]:
    return record_trace(
        SourceFile("tb/golden.py", text),
        ports=ports,
        clock=clock,
        reset=reset,
        seed=seed,
        random_cycles=random_cycles,
        config=ToolConfig(limits=Limits(wall_s=wall_s)),
    )


def recorded(text: str = GOOD, **settings: object) -> Trace:
    step, trace = record(text, **settings)  # type: ignore[arg-type]
    assert step.status is Status.PASS, step.diagnostics
    assert trace is not None
    return trace


def stream(text: str) -> tuple[StepResult, Trace | None]:
    return record(text, ports=DESIGNS["squarer"].ports)


def failure(text: str, *, line: int | None = None, status: Status = Status.FAIL, wall_s: float = 60) -> tuple[str, str]:
    """Return code and message of the one diagnostic of a golden model that must fail."""
    step, trace = record(text, wall_s=wall_s)
    assert step.status is status, step
    assert trace is None
    (found,) = step.diagnostics
    assert found.path == "tb/golden.py"
    if line is not None:
        assert found.line == line, found
    return found.code, found.message


def test_trace_holds_inputs_and_expectations() -> None:
    trace = recorded()
    assert [s.name for s in trace.cycles] == ["rise_and_fall", "idle", "random", "reset_in_activity"]
    first = trace.cycles[0]
    assert first.reset_first
    assert first.inputs[:5] == ({"rst": 0, "a": 0}, {"a": 1}, {}, {"a": 0}, {"a": 255})
    assert [e["pulse"] for e in first.expected] == [0, 0, 1, 0, 0, 255, 0, 0, 0xF0]
    assert len(trace.cycles[2].inputs) == 100


def test_reset_is_inactive_where_a_cycle_does_not_name_it() -> None:
    trace = recorded(GOOD + "\ndef directed(): return {'mid': [{'a': 1}, {'rst': 1}, {'a': 2}, {}]}\n")
    assert trace.cycles[0].inputs == ({"rst": 0, "a": 1}, {"rst": 1}, {"rst": 0, "a": 2}, {})
    # The reset of cycle 1 is synchronous: it is seen in cycle 2, and `previous` is 0 then.
    assert [e["pulse"] for e in trace.cycles[0].expected] == [0, 1, 0, 2]


def test_asynchronous_reset_is_seen_in_its_own_cycle() -> None:
    trace = recorded(
        GOOD + "\ndef directed(): return {'mid': [{'a': 1}, {'rst': 1}, {'a': 2}, {}]}\n",
        reset=Reset("rst", "high", synchronous=False),
    )
    assert [e["pulse"] for e in trace.cycles[0].expected] == [0, 0, 0, 2]


def test_random_stimulus_sees_the_live_model() -> None:
    text = DESIGNS["fifo"].golden_file.text + (
        "\ndef random_inputs(rng, golden, n):\n"
        "    while True:\n"
        "        yield {'wr_en': int(len(golden.items) < 4), 'wr_data': len(golden.items), 'rd_en': 0}\n"
    )
    design = DESIGNS["fifo"]
    trace = recorded(text, ports=design.ports, reset=design.reset, random_cycles=20)
    steps = next(s for s in trace.cycles if s.name == "random")
    assert [e["full"] for e in steps.expected] == [0] * 4 + [1] * 16


def test_stimulus_follows_the_seed() -> None:
    assert recorded(seed=1) == recorded(seed=1)
    assert recorded(seed=1).cycles[2] != recorded(seed=2).cycles[2]


def test_resets_in_activity_are_recorded() -> None:
    scenario = next(s for s in recorded(random_cycles=500).cycles if s.name == "reset_in_activity")
    assert 2 <= sum(step.get("rst") == 1 for step in scenario.inputs) <= 30


def test_small_combinational_design_is_exhaustive() -> None:
    design = DESIGNS["majority"]
    trace = recorded(design.golden_file.text, ports=design.ports, clock=None, reset=None)
    assert [(s.name, len(s.inputs), s.reset_first) for s in trace.cycles] == [
        ("none", 1, False),
        ("exhaustive", 32, False),
    ]


def test_idle_values_and_further_resets_reach_the_trace() -> None:
    ports = (*PORTS, Port("rd_rst_n", "input"))
    trace = recorded(GOOD + "\nIDLE_INPUTS = {'a': 7}\nRESETS = {'rd_rst_n': 'low'}\n", ports=ports)
    assert trace.idle == {"rst": 0, "a": 7, "rd_rst_n": 1}
    assert trace.resets == (Reset("rd_rst_n", "low"),)
    assert trace.cycles[1].inputs[0] == {"rst": 0, "a": 7, "rd_rst_n": 1}


def test_state_constants_of_a_model_do_not_collide() -> None:
    assert recorded("IDLE, START, STOP = range(3)\nRESET = 0\n" + GOOD) == recorded(GOOD)


def test_stream_items_are_recorded_at_several_rates() -> None:
    step, trace = stream(STREAM)
    assert step.status is Status.PASS, step.diagnostics
    assert trace is not None
    assert trace.max_latency_cycles == 4
    assert [(s.name, s.gap_percent) for s in trace.streams] == [
        ("corners@0", 0),
        ("corners@40", 40),
        ("random_items@0", 0),
        ("random_items@30", 30),
        ("random_items@80", 80),
    ]
    assert trace.streams[0].inputs["in"][2] == {"in_data": 255}
    assert trace.streams[0].expected["out"][2] == {"out_data": 65025}


def test_further_clocks_are_not_harmonic() -> None:
    design = DESIGNS["async_fifo"]
    trace = recorded(design.golden_file.text, ports=design.ports, clock=design.clock, reset=design.reset)
    assert trace.clocks == (Clock("rd_clk", "posedge", 13.7),)
    assert "rd_clk" not in trace.idle


def test_detail_tells_what_the_trace_covers() -> None:
    step, _ = record(GOOD)
    assert "  random: 100 cycles\n" in step.detail
    assert "  a: 8 of 8 bits toggled\n" in step.detail
    assert "  pulse: 185 values compared, " in step.detail


def test_weak_oracle_is_warned_about() -> None:
    ports = (*PORTS, Port("never", "output"), Port("same", "output"))
    step, trace = record(GOOD.replace('{"pulse": self.pulse}', '{"pulse": self.pulse, "same": 1}'), ports=ports)
    assert trace is not None
    assert [(d.code, d.message) for d in step.diagnostics] == [
        ("GOLDEN_UNCHECKED_OUTPUT", "output never is never compared"),
        ("GOLDEN_CONSTANT_OUTPUT", "output same is always expected to have the same value"),
    ]


def test_syntax_error_has_its_line() -> None:
    assert failure("class Golden:\n    def reset(self:\n", line=2)[0] == "GOLDEN_SYNTAX"


def test_missing_parts_are_named() -> None:
    assert failure("x = 1\n") == ("GOLDEN_PROTOCOL", "neither class Golden nor STREAMS")
    assert failure(GOOD.replace("def clock", "def tick"), line=1)[1] == "class Golden has no method `clock`"
    assert failure(GOOD.replace("def directed", "def guided"))[1] == "no function `directed`"
    assert failure(GOOD + "\ndef directed(): return {}\n") == ("GOLDEN_EMPTY", "directed() gives no cycle")


def test_exception_is_reported_at_its_line_with_the_case() -> None:
    code, message = failure(GOOD.replace('i["a"] & ~self.previous', 'i["b"]'), line=10)
    assert code == "GOLDEN_RAISED"
    assert (
        message == "KeyError: 'b' in the stimulus or the model (scenario `rise_and_fall`, cycle 0, inputs rst=0, a=0)"
    )


def test_wrong_values_are_reported() -> None:
    outputs = '{"pulse": self.pulse}'
    for answer, code, part in (
        ('{"pulse": 256}', "GOLDEN_RANGE", "outputs(): pulse = 256 does not fit 8 bits"),
        ('{"pulse": -1}', "GOLDEN_RANGE", "outputs(): pulse = -1 does not fit 8 bits"),
        ('{"pulse": 1.0}', "GOLDEN_TYPE", "outputs(): pulse must be an int, not float"),
        ('{"puls": 1}', "GOLDEN_UNKNOWN_PORT", "outputs(): unknown port 'puls'"),
        ("[1]", "GOLDEN_TYPE", "outputs() must be a dict, not list"),
    ):
        found, message = failure(GOOD.replace(outputs, answer), line=6)
        assert found == code
        assert part in message
    code, message = failure(GOOD.replace('{"a": 0xFF}', '{"a": 0x100}'), line=14)
    assert (code, message.partition(" (")[0]) == ("GOLDEN_RANGE", "stimulus: a = 256 does not fit 8 bits")


def test_wrong_streams_are_reported() -> None:
    for old, new, part in (
        ('"valid": "in_valid"', '"valid": "in_val"', "valid 'in_val' is no input port"),
        ('"valid": "in_valid"', '"valid": "in_data"', "valid in_data is 8 bits wide, not 1"),
        ('"direction": "output"', '"direction": "out"', "`out`: direction must be"),
        ('{"out": [', '{"up": [', "transact() gives nothing for output stream `out`"),
        ('x["in_data"] ** 2', 'x["in_data"] ** 3', "out_data = 16581375 does not fit 16 bits"),
        ('{"in": [0,', '{"im": [0,', "`im` is no input stream"),
        ("def transact", "def transform", "STREAMS without a function `transact`"),
    ):
        assert old in STREAM
        step, trace = stream(STREAM.replace(old, new))
        assert step.status is Status.FAIL, new
        assert trace is None
        assert part in step.diagnostics[0].message


def test_nondeterminism_is_found() -> None:
    for source in ("import os; NOISE = os.urandom(1)[0]", "import time; NOISE = time.perf_counter_ns() & 255"):
        text = GOOD.replace('{"a": 0xFF}', '{"a": NOISE}, {"a": 0}, *[{"a": NOISE ^ k} for k in range(9)]')
        # One byte may agree by chance; three runs may not.
        codes = {record(f"{source}\n{text}")[0].diagnostics for _ in range(3)}
        assert any(d and d[0].code == "GOLDEN_NONDETERMINISTIC" for d in codes)
    # The order of a set is repeatable, and so is no failure.
    recorded("ORDER = list({'x', 'y', 'z', 'w'}).index('x')\n" + GOOD.replace('{"a": 0xFF}', '{"a": ORDER}'))


def test_nothing_compared_fails() -> None:
    assert failure(GOOD.replace('{"pulse": self.pulse}', "{}"))[0] == "GOLDEN_NO_CHECKS"


def test_too_many_cycles_fail() -> None:
    text = GOOD + "\nimport itertools\ndef directed(): return {'long': itertools.repeat({'a': 1})}\n"
    code, message = failure(text)
    assert (code, message) == ("GOLDEN_TOO_LONG", f"directed() gives more than {MAX_DIRECTED_CYCLES} cycles in all")


def test_endless_loop_is_a_timeout_in_the_guilty_function() -> None:
    text = GOOD.replace('self.pulse = i["a"]', 'while True: self.pulse = i["a"]')
    code, message = failure(text, line=9, status=Status.TIMEOUT, wall_s=6)
    assert (code, message) == ("GOLDEN_TIMEOUT", "did not end in time, in the stimulus or the model")
    # A model that swallows the alarm is killed.
    stubborn = "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n"
    assert failure(stubborn, status=Status.TIMEOUT, wall_s=6)[0] == "GOLDEN_TIMEOUT"


def test_model_cannot_end_the_recorder() -> None:
    assert failure(GOOD + "\nimport sys\nsys.exit(0)\n", line=18)[0] == "GOLDEN_EXIT"
    assert failure(GOOD + "\nimport os\nos._exit(0)\n")[0] == "GOLDEN_EXIT"
    assert failure(GOOD + "\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")[0] == "GOLDEN_EXIT"


def test_prints_and_files_change_nothing() -> None:
    noisy = (
        "import sys, os, json\n"
        "print('{\"trace\": 1}' * 1000)\n"
        "sys.stderr.write('x' * 100000)\n"
        "open('result.json', 'w').write('{\"trace\": {}}')\n"
    )
    assert recorded(noisy + GOOD) == recorded(GOOD)


def test_monkeypatched_tools_cannot_forge_a_trace_that_does_not_fit() -> None:
    forged = to_json(recorded())
    forged["cycles"][0]["expected"][0]["pulse"] = 1000
    text = f"FORGED = {forged!r}['cycles']\n"
    text += "import rtlagent_golden_record as r\nr.CycleRecorder.record = lambda self: FORGED\n"
    code, message = failure(text + GOOD)
    assert code == "GOLDEN_TAMPERED"
    assert "a value that does not fit port pulse" in message


def test_link_in_place_of_the_result_is_not_followed() -> None:
    link = "import os\nif not os.path.lexists('result.json'): os.symlink('/etc/passwd', 'result.json')\n"
    assert recorded(link + GOOD) == recorded(GOOD)


def test_json_round_trip() -> None:
    for name in ("edge_detector", "squarer", "async_fifo", "shifter"):
        design = DESIGNS[name]
        trace = recorded(design.golden_file.text, ports=design.ports, clock=design.clock, reset=design.reset)
        assert trace_from_json(trace_to_json(trace), ports=design.ports) == trace


def test_damaged_json_is_refused() -> None:
    trace = recorded()
    good = to_json(trace)

    def broken(change: str) -> str:
        data = json.loads(json.dumps(good))
        scenario = data["cycles"][0]
        if change == "port":
            scenario["inputs"][0]["nope"] = 1
        elif change == "range":
            scenario["expected"][0]["pulse"] = 256
        elif change == "bool":
            scenario["expected"][0]["pulse"] = True
        elif change == "length":
            scenario["inputs"].pop()
        elif change == "name":
            scenario["name"] = "../x y"
        elif change == "shape":
            data["cycles"] = {"a": 1}
        elif change == "missing":
            del data["seed"]
        return json.dumps(data)

    for change in ("port", "range", "bool", "length", "name", "shape", "missing"):
        with pytest.raises(ToolError):
            trace_from_json(broken(change), ports=PORTS)
    for text in ("", "[]", "null", "[" * 100_000):
        with pytest.raises(ToolError):
            trace_from_json(text, ports=PORTS)


def test_coverage_counts_toggles_and_values() -> None:
    coverage = measure_coverage(recorded(), ports=PORTS)
    assert [(i.port, i.width, i.bits_toggled) for i in coverage.inputs] == [("rst", 1, 1), ("a", 8, 8)]
    (pulse,) = coverage.outputs
    assert pulse.compared == coverage.compared == 185
    assert 10 < pulse.distinct < 185


def test_unusable_ports_are_a_usage_error() -> None:
    unknown = (*PORTS[:3], replace(PORTS[3], width=None))
    with pytest.raises(UsageError, match="the width of port pulse must be known"):
        record(GOOD, ports=unknown)
    with pytest.raises(UsageError, match="the clock clock is not an input port"):
        record(GOOD, clock=Clock("clock"))
    with pytest.raises(UsageError, match="no output port"):
        record(GOOD, ports=PORTS[:3])
