from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from cosim_designs import ACCUMULATE, GCD, POINTER, STREAM, VECTOR_ADD, Pair, array, memory

from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.hls.interface import ArrayPort, Interface
from rtlagent.tools import cosim_run
from rtlagent.tools.cosim import cosimulate, estimated_timeout
from rtlagent.tools.cosim_bench import make_bench
from rtlagent.tools.cosim_report import parse_report
from rtlagent.tools.csim import record_calls
from rtlagent.tools.csim_record import Call, CallRecord
from rtlagent.types import SourceFile, Status, StepResult

ICARUS = ("icarus",)
BOTH = ("verilator", "icarus")


@cache
def calls_of(pair: Pair, config: ToolConfig) -> CallRecord:
    return record_calls(
        SourceFile("f.c", pair.c),
        top="f",
        language="c++" if pair.interface.streams else "c",
        arguments=pair.interface.arguments,
        result_width=pair.interface.result_width,
        result_signed=pair.interface.result_signed,
        config=config,
    )


def judge(
    pair: Pair, config: ToolConfig, *edit: str, simulators: tuple[str, ...] = ICARUS, **settings: object
) -> StepResult:
    """Co-simulate a pair whose Verilog has `edit[0]` replaced by `edit[1]`, and so on."""
    text = pair.verilog
    for old, new in zip(edit[::2], edit[1::2], strict=True):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return cosimulate(
        SourceFile("f.v", text), pair.interface, calls_of(pair, config), config=config,
        simulators=simulators, **settings,  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize(
    "pair",
    [VECTOR_ADD, GCD, ACCUMULATE, POINTER, STREAM],
    ids=["vadd", "gcd", "accumulate", "pointer", "stream"],
)
def test_right_designs_pass_under_both_simulators(pair: Pair, tool_config: ToolConfig) -> None:
    step = judge(pair, tool_config, simulators=BOTH)
    assert step.status is Status.PASS, step.detail
    calls = calls_of(pair, tool_config).calls
    # Calls that are alike are evidence once.
    mask = (1 << pair.interface.result_width) - 1
    count = len({(c.before, c.read, c.after, c.result & mask) for c in calls})
    assert [t.name for t in step.tests] == ["verilator", "icarus"]
    assert all((t.checked_cycles or 0) >= count for t in step.tests)
    assert len({t.checked_cycles for t in step.tests}) == 1
    assert f"{len(calls)}/{len(calls)}" in step.detail
    assert step.diagnostics == ()


def test_latency_is_counted_from_start_to_done(tool_config: ToolConfig) -> None:
    step = judge(VECTOR_ADD, tool_config)
    assert step.metrics.latency_cycles == 13
    assert judge(POINTER, tool_config).metrics.latency_cycles == 1
    assert judge(GCD, tool_config).detail.splitlines()[1].split() == [
        "simulator", "status", "calls", "outputs", "latency", "min", "max", "total", "cycles",
    ]  # fmt: skip


def test_a_wrong_element_is_named_with_call_expected_and_got(tool_config: ToolConfig) -> None:
    step = judge(VECTOR_ADD, tool_config, "b_d1 = a_q0 + b_q0", "b_d1 = a_q0 + b_q0 + (i == 7)", simulators=BOTH)
    assert step.status is Status.FAIL
    first = step.tests[0].mismatches[0]
    assert first.signal == "b[1][3]"
    assert step.tests[0].mismatches == step.tests[1].mismatches
    number = int(first.scenario.removeprefix("call "))
    wanted = int.from_bytes(calls_of(VECTOR_ADD, tool_config).calls[number].after[2][28:32], "little", signed=True)
    assert first.expected == f"{wanted} (0x{wanted & 0xFFFFFFFF:08x})"
    assert f"verilator, icarus: call {number}: b[1][3] = " in step.detail
    assert step.metrics.latency_cycles is None
    assert {d.code for d in step.diagnostics} == {"COSIM_MISMATCH"}


@pytest.mark.parametrize(
    ("pair", "edit", "message"),
    [
        (VECTOR_ADD, ("$signed({1'b0, i}) <", "$signed({1'b0, i}) + 1 <"), "b[0][0] ="),  # the last one is left out
        (VECTOR_ADD, ("ap_return = ap_done ? n : kept", "ap_return = n + 1"), "return value ="),
        (VECTOR_ADD, ("ap_return = ap_done ? n : kept", "ap_return = n"), "does not hold until the next ap_start"),
        (VECTOR_ADD, ("ap_done = busy && i == 12", "ap_done = busy && i == 6"), "expected"),
        (VECTOR_ADD, ("next < 12;", "next < 13;"), "a_address0 is 12, beyond the 12 elements"),
        (VECTOR_ADD, ("next[3:0], b_ce0 = read, b_we0 = 0", "i[3:0], b_ce0 = b_ce1, b_we0 = b_ce1"), "write at once"),
        (VECTOR_ADD, ("b_address0 = next[3:0]", "b_address0 = i[3:0]"), "expected"),
        (VECTOR_ADD, ("b_address1 = i[3:0]", "b_address1 = {4{1'bx}}"), "b_address1 is unknown (x or z)"),
        (VECTOR_ADD, ("if (ap_rst) busy <= 0;\n    else", ""), "before call 0: ap_idle does not become 1"),
        (VECTOR_ADD, ("else if (ap_done) busy <= 0", ""), "ap_idle does not become 1"),
        (VECTOR_ADD, ("ap_ready = ap_done", "ap_ready = busy"), "ap_ready differs from ap_done"),
        (VECTOR_ADD, ("b_ce1 = busy && i < 12", "b_ce1 = i < 12"), "b is written outside a call"),
        (GCD, ("ap_done = busy && y == 0", "ap_done = 0"), "call 0: no ap_done within 500 cycles"),
        (GCD, ("ap_done = busy && y == 0", "ap_done = 1"), "ap_done is not 0 outside a call"),
        (GCD, ("ap_done = busy && y == 0", "ap_done = busy"), "return value"),
        (GCD, ("x <= a; y <= b;", "x <= a;"), "ap_done is unknown"),
        (GCD, ("ap_return = x", "ap_return = {x[31:1], 1'bx}"), "return value = unknown (0x"),
        (GCD, ("always @* ap_return = x;", "always @* ap_return = x ^ (b ^ b);"), "does not hold"),
        (ACCUMULATE, ("initial total = 100;", ""), "return value = unknown (0xxxxxxxxx)"),
        (ACCUMULATE, ("total <= total + a", "total <= 100 + a"), "call 1: return value"),
        (POINTER, ("sum_o_ap_vld = busy", "sum_o_ap_vld = 0"), "*sum ="),
        (POINTER, ("sum_o_ap_vld = busy", "sum_o_ap_vld = 1"), "sum is written outside a call"),
        (POINTER, ("sum_o_ap_vld = busy", "sum_o_ap_vld = busy ? 1'bx : 0"), "sum_o_ap_vld is unknown"),
        (POINTER, ("busy && !a[15] && a != 0", "busy"), "*negated ="),
        (STREAM, ("in_dout + i", "in_dout + i + (i == 3)"), "call 0: item 3 of out = -37 (0xffffffdb), expected -38"),
        (STREAM, ("out_write = more && in_empty_n", "out_write = more"), "items written to out = "),
        (STREAM, ("busy && i != n", "busy && i != n - (n == 30)"), "no ap_done within 500 cycles"),
        (STREAM, ("in_read = more && out_full_n", "in_read = more && out_full_n && i != 2"), "items read from in"),
        (STREAM, ("in_dout + i", "in_dout + {i[31:1], 1'bx}"), "item 0 of out = unknown"),
    ],
)
def test_wrong_designs_fail_with_the_reason(
    tool_config: ToolConfig, pair: Pair, edit: tuple[str, ...], message: str
) -> None:
    step = judge(pair, tool_config, *edit, timeout_cycles=500)
    assert step.status is Status.FAIL, step.detail
    assert message in step.detail


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (("ap_return = ap_done ? n : kept", "ap_return = n"), "does not hold"),
        (("b_d1 = a_q0 + b_q0", "b_d1 = a_q0 + b_q1"), "b[0][0] ="),
    ],
    ids=["scalar after the call", "q without ce"],
)
def test_what_nobody_may_read_is_random_under_verilator(
    tool_config: ToolConfig, edit: tuple[str, str], message: str
) -> None:
    step = judge(VECTOR_ADD, tool_config, *edit, simulators=("verilator",))
    assert step.status is Status.FAIL
    assert message in step.detail


@pytest.mark.parametrize(
    "cheat",
    [
        'initial begin : cheat integer fd; fd = $fopen("rtlagent_report.txt", "w"); end',
        "initial #100 $finish;",
        'always @(posedge ap_clk) if (ap_done) $fdisplay(32\'h8000_0003, "0 X 0 0 0 end");',
        'initial if ($test$plusargs("seed")) busy = 1;',
    ],
)
def test_system_tasks_that_could_forge_a_result_are_refused(tool_config: ToolConfig, cheat: str) -> None:
    step = judge(GCD, tool_config, "reg busy;", f"reg busy;\n  {cheat}")
    assert step.status is Status.FAIL
    (found,) = step.diagnostics
    assert (found.code, found.path, found.line) == ("COSIM_SYSTEM_TASK", "f.v", 3)


def test_a_report_without_the_number_or_out_of_order_is_no_result() -> None:
    good = "7 C 0 3 10 ff\n7 W 1 2 0x\n7 C 1 3 20 fe\n7 X 2 0 30 end\n"
    report = parse_report(good, "7")
    assert (len(report.calls), report.end, report.forged) == (2, "end", "")
    assert report.calls[0].written == {(1, 2): "0x"}
    assert parse_report(good.replace("7 C 1", "8 C 1"), "7").forged == "8 C 1 3 20 fe"
    assert parse_report(good.replace("7 C 1", "7 C 2"), "7").forged
    assert parse_report(good + "7 C 2 3 40 fd\n", "7").forged
    assert parse_report(good.replace("7 X 2 0 30 end\n", ""), "7").end == ""
    assert parse_report(good[:-1], "7").end == ""


def test_a_design_that_hangs_the_simulator_is_a_timeout(tool_config: ToolConfig) -> None:
    """A loop without delay: Icarus hangs at one time step until it is stopped."""
    limits = replace(tool_config.limits, wall_s=2.0)
    step = judge(
        GCD,
        replace(tool_config, limits=limits),
        "reg busy;",
        "reg busy; reg spin; always @(busy) while (busy) spin = ~spin;",
    )
    assert step.status is Status.TIMEOUT, step.detail
    assert "after 0 of" in step.detail


def test_icarus_may_stop_after_a_prefix_when_verilator_ran_all(
    tool_config: ToolConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cosim_run, "ICARUS_S", 1.5)
    slow = "reg busy; reg [16:0] wait_; always @(posedge ap_clk) wait_ <= busy ? wait_ + 1 : 0;"
    edits = ("reg busy;", slow, "busy && y == 0", "busy && y == 0 && wait_[16]", "(y == 0)", "(wait_[16] && y == 0)")
    edits += ("else begin x <= y; y <= x % y; end", "else if (y != 0) begin x <= y; y <= x % y; end")
    step = judge(GCD, tool_config, *edits, simulators=BOTH)
    assert step.status is Status.PASS, step.detail
    verilator, icarus = step.tests
    assert verilator.message == ""
    assert icarus.message.startswith("checked the first ")
    assert 0 < (icarus.checked_cycles or 0) < (verilator.checked_cycles or 0)
    assert icarus.message in step.detail
    alone = judge(GCD, tool_config, *edits)
    assert alone.status is Status.TIMEOUT


def test_verilog_that_does_not_compile_fails_with_its_place(tool_config: ToolConfig) -> None:
    step = judge(GCD, tool_config, "reg busy;", "reg busy; oops", simulators=BOTH)
    assert step.status is Status.FAIL
    assert any(d.path == "f.v" and d.line == 2 for d in step.diagnostics)


def test_a_missing_port_fails(tool_config: ToolConfig) -> None:
    step = judge(GCD, tool_config, ", input [31:0] b)", ")", "y <= b;", "y <= 0;")
    assert step.status is Status.FAIL
    assert any("b" in d.message for d in step.diagnostics)


def test_a_waveform_of_a_failure_is_kept(tool_config: ToolConfig, tmp_path: Path) -> None:
    step = judge(GCD, tool_config, "ap_return = x", "ap_return = x + 1", simulators=BOTH, keep_dir=tmp_path)
    assert [t.wave_path for t in step.tests] == [None, "cosim.vcd"]
    assert "ap_return" in (tmp_path / "cosim.vcd").read_text() or "result" in (tmp_path / "cosim.vcd").read_text()
    assert (tmp_path / "cosim.log").is_file()


def test_nothing_to_compare_is_unproven(tool_config: ToolConfig) -> None:
    pair = Pair("void f(int a) { (void)a; }", ACCUMULATE.verilog, replace(ACCUMULATE.interface, result_width=0))
    assert judge(pair, tool_config).status is Status.UNPROVEN


def test_a_failed_testbench_is_never_a_pass(tool_config: ToolConfig) -> None:
    pair = replace(ACCUMULATE, c=ACCUMULATE.c + " int main(void) { return f(1) != 0; }")
    step = judge(pair, tool_config)
    assert step.status is Status.FAIL
    assert "main() returned 1" in step.detail


def test_what_the_c_changes_without_a_port_is_a_mismatch(tool_config: ToolConfig) -> None:
    interface = replace(ACCUMULATE.interface, arguments=(*ACCUMULATE.interface.arguments, array("out", 4)))
    pair = Pair(
        ACCUMULATE.c.replace("int a)", "int a, int *out)").replace("return", "out[2] = a; return"),
        ACCUMULATE.verilog,
        interface,
    )
    step = judge(pair, tool_config)
    assert step.status is Status.FAIL
    assert "out[2] (the module has no port for it)" in step.detail


def test_overlapping_arguments_are_pointed_out(tool_config: ToolConfig) -> None:
    pair = replace(
        VECTOR_ADD, c=VECTOR_ADD.c + " int main(void) { int v[12] = {1, 2, 3}; f(12, (void *)v, (void *)v); return 0; }"
    )
    wrong = judge(pair, tool_config)
    assert wrong.status is Status.FAIL
    assert "a and b overlap" in wrong.detail


def test_elements_beyond_the_callers_array_are_unknown_and_not_compared(tool_config: ToolConfig) -> None:
    main = """ int main(void) { static int a[8], b[8]; for (int i = 0; i < 8; i++) a[i] = i;
                                return f(8, (void *)a, (void *)b) != 8; }"""
    pair = replace(VECTOR_ADD, c=VECTOR_ADD.c + main)
    assert calls_of(pair, tool_config).calls[0].usable == (4, 32, 32)
    assert judge(pair, tool_config, simulators=BOTH).status is Status.PASS
    beyond = judge(pair, tool_config, "$signed({1'b0, i}) < $signed(n)", "$signed({1'b0, i}) <= $signed(n)")
    assert beyond.status is Status.FAIL
    assert "b[2][0] = unknown (0xxxxxxxxx), expected not written: beyond the caller's object" in beyond.detail


def test_fields_partitions_and_bit_fields_are_mapped_to_their_bytes() -> None:
    call = Call((bytes(range(16)),), (bytes(range(16)),), 0, (4096,), (16,))
    ports = (
        ArrayPort("even", 32, 2, True, True, "a", (0, 8)),
        ArrayPort("odd", 32, 2, True, True, "a", (4, 12)),
        ArrayPort("bits", 5, 2, True, False, "a", (1, 9), bit_offset=6),
    )
    interface = Interface("f", arrays=ports)
    record = CallRecord("f", (array("a", 4),), 0, False, (call,), "testbench")
    bench = make_bench(interface, record, nonce="n", timeout_cycles=1, clock_ns=10.0, seed=1)
    files = {f.path: f.text.split() for f in bench.data}
    assert files["m0_0.hex"] == ["03020100", "0b0a0908"]
    assert files["m1_0.hex"] == ["07060504", "0f0e0d0c"]
    assert files["m2_0.hex"] == [f"{(0x0201 >> 6) & 31:02x}", f"{(0x0A09 >> 6) & 31:02x}"]
    assert files["m0_files.hex"] == ["0"]


def test_interfaces_that_cannot_be_driven_are_refused(tool_config: ToolConfig) -> None:
    record = calls_of(GCD, tool_config)
    for interface in (
        replace(GCD.interface, control="s_axilite"),
        replace(GCD.interface, arrays=(memory("nobody", 4, writes=True),)),
    ):
        with pytest.raises(UsageError):
            cosimulate(SourceFile("f.v", GCD.verilog), interface, record, config=tool_config)


def test_the_timeout_follows_the_work_of_the_c(tool_config: ToolConfig) -> None:
    record = calls_of(GCD, tool_config)
    assert estimated_timeout(record) == 100_000
    longer = replace(record, calls=(*record.calls, replace(record.calls[0], blocks=10_000)))
    assert estimated_timeout(longer) == 4_000_000
