"""AXI4-Lite registers around a core, from the C to the co-simulation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from emitted import compile_ir

from rtlagent.config import ToolConfig
from rtlagent.hls import HlsOptions, HlsResult, compile_c
from rtlagent.hls.emit import Emitted
from rtlagent.hls.emit.axilite import register_map
from rtlagent.hls.interface import Interface, Register, ScalarPort
from rtlagent.hls.text import parse
from rtlagent.tools.clang import emit_llvm
from rtlagent.tools.cosim import cosimulate
from rtlagent.tools.csim import record_calls
from rtlagent.tools.csim_record import CallRecord
from rtlagent.tools.lint import lint
from rtlagent.tools.simulate import simulate
from rtlagent.tools.synthesize import synthesize
from rtlagent.types import Severity, SourceFile, Status, StepResult, TestFile, TestKind

SUM = """\
#include <stdint.h>
int sum(const int a[16], int n, int64_t base, uint8_t step) {
#pragma HLS interface s_axilite port=return
#pragma HLS interface s_axilite port=n
#pragma HLS interface mode=s_axilite port=base bundle=control
    int64_t total = base;
    for (int i = 0; i < n && i < 16; i++) total += a[i] * step;
    return (int)(total ^ (total >> 32));
}
int main(void) {
    int a[16];
    unsigned x = 1, failed = 0;
    for (int call = 0; call < 30; call++) {
        for (int i = 0; i < 16; i++) a[i] = (int)((x = x * 1664525u + 1013904223u) >> 12);
        int n = (int)(x >> 8) % 17;
        int64_t start = ((int64_t)x << 20) - call;
        int64_t total = start;
        for (int i = 0; i < n; i++) total += a[i] * (uint8_t)(x >> 3);
        failed += sum(a, n, start, (uint8_t)(x >> 3)) != (int)(total ^ (total >> 32));
    }
    return failed != 0;
}
"""


def compile_text(text: str, top: str) -> HlsResult:
    def clang(text: str, language: str, arguments: tuple[str, ...]) -> str:
        return emit_llvm(text, language, arguments, path="f.c", config=ToolConfig())

    return compile_c(SourceFile("f.c", text), HlsOptions(top=top), clang)


def judge(text: str, result: HlsResult, *edit: str, simulators: tuple[str, ...] = ("icarus",)) -> StepResult:
    verilog = result.design.text
    for old, new in zip(edit[::2], edit[1::2], strict=True):
        assert verilog.count(old) == 1, old
        verilog = verilog.replace(old, new)
    design, interface = SourceFile(result.design.path, verilog), result.interface
    record = calls_of(text, interface)
    return cosimulate([design], interface, record, simulators=simulators, timeout_cycles=2000, config=ToolConfig())


@cache
def calls_of(text: str, interface: Interface) -> CallRecord:
    record = record_calls(
        SourceFile("f.c", text), top=interface.module, arguments=interface.arguments,
        result_width=interface.result_width, result_signed=interface.result_signed, config=ToolConfig(),
    )  # fmt: skip
    assert record.status is Status.PASS, record.problem
    return record


@cache
def compiled_sum() -> HlsResult:
    return compile_text(SUM, "sum")


def test_a_function_on_the_bus_agrees_with_the_c() -> None:
    result = compiled_sum()
    assert result.interface.control == "s_axilite"
    assert {r.name: r.offset for r in result.interface.registers} == {
        "AP_CTRL": 0, "GIE": 4, "IER": 8, "ISR": 12, "ap_return": 0x10, "n": 0x18, "base": 0x20,
    }  # fmt: skip
    assert [s.protocol for s in result.interface.scalars] == ["s_axilite", "s_axilite", "ap_none"]
    step = judge(SUM, result, simulators=("verilator", "icarus"))
    assert step.status is Status.PASS, step.detail


def test_latency_is_that_of_the_core() -> None:
    plain_text = "\n".join(line for line in SUM.splitlines() if "#pragma" not in line)
    plain = compile_text(plain_text, "sum")
    assert plain.interface.registers == ()
    expected = judge(plain_text, plain).metrics.latency_cycles
    assert expected is not None
    assert judge(SUM, compiled_sum()).metrics.latency_cycles == expected


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (("result <= core_return", "result <= core_return ^ (core_return == 0 ? 1 : core_return)"), "return value ="),
        (("[31:0] <= (register_base[31:0] & ~write_mask) |", "[31:0] <= "), "return value = "),
        (("4'd9) register_base[63:32]", "4'd10) register_base[63:32]"), "does not read as it should"),
        (("else if (read_control) was_done <= 1'd0;", ""), "does not clear ap_done"),
        (("else if (core_ready) start <= auto_restart;", ""), "AP_CTRL does not"),
        (("isr_done <= ~isr_done", "isr_done <= 1'd1"), "`interrupt` is 1 though ISR was cleared"),
        (("assign interrupt = gie & (isr_done | isr_ready)", "assign interrupt = 1'd0"), "not 1"),
        (("else if (core_done) was_done <= 1'd1;", ""), "AP_CTRL does not say ap_done"),
        (
            ("assign s_axi_control_AWREADY = ~have_address", "assign s_axi_control_AWREADY = 1'd0"),
            "before it has taken it",
        ),
        (("assign s_axi_control_RVALID = have_answer", "assign s_axi_control_RVALID = 1'd0"), "does not answer"),
        (("assign s_axi_control_BVALID = have_reply", "assign s_axi_control_BVALID = 1'd0"), "does not answer"),
        (("assign s_axi_control_RVALID = have_answer", "assign s_axi_control_RVALID = 1'd1"), "before it has taken it"),
        (("assign s_axi_control_BRESP = 2'd0", "assign s_axi_control_BRESP = 2'd2"), "with an error"),
        (("assign s_axi_control_RRESP = 2'd0", "assign s_axi_control_RRESP = 2'd2"), "with an error"),
        (("if (~have_answer & s_axi_control_ARVALID) read_data", "read_data"), "changes before RREADY"),
        (("if (~have_data) begin", "begin"), "call 0"),
        (("if (~have_address) write_word <=", "write_word <="), "call "),
    ],
)
def test_a_wrong_bus_is_noticed(edit: tuple[str, str], message: str) -> None:
    step = judge(SUM, compiled_sum(), *edit)
    assert step.status is Status.FAIL, step.detail
    assert message in step.detail, step.detail


def test_a_wrong_core_is_noticed_by_both_simulators() -> None:
    result = compiled_sum()
    # The core does not see the last bit of n.
    wrong = (".n(register_n)", ".n({register_n[31:1], 1'b0})")
    step = judge(SUM, result, *wrong, simulators=("verilator", "icarus"))
    assert step.status is Status.FAIL
    assert [t.status for t in step.tests] == [Status.FAIL, Status.FAIL]
    assert "return value = " in step.detail


SCALE = """\
void scale(int a[8], int64_t by, char sign) {
    PRAGMAS
    for (int i = 0; i < 8; i++) a[i] = (int)(sign < 0 ? -a[i] * by : a[i] * by);
}
"""


@pytest.mark.parametrize(
    ("ports", "names"),
    [
        (("return",), ["AP_CTRL", "GIE", "IER", "ISR"]),
        (("by", "sign"), ["by", "sign"]),
        (("sign",), ["sign"]),
        (("return", "sign"), ["AP_CTRL", "GIE", "IER", "ISR", "sign"]),
    ],
    ids=["control", "scalars", "one scalar", "control and a scalar"],
)
def test_control_and_scalars_may_be_on_the_bus_or_not(ports: tuple[str, ...], names: list[str]) -> None:
    pragmas = "\n".join(f"#pragma HLS interface s_axilite port={p}" for p in ports)
    text = "#include <stdint.h>\n" + SCALE.replace("    PRAGMAS", pragmas)
    result = compile_text(text, "scale")
    assert [r.name for r in result.interface.registers] == names
    assert ("output wire interrupt" in result.design.text) == ("return" in ports)
    assert ("output wire ap_done" in result.design.text.split("endmodule")[0]) == ("return" not in ports)
    step = judge(text, result)
    assert step.status is Status.PASS, step.detail
    if "sign" in ports:
        step = judge(text, result, ".sign(register_sign)", ".sign(8'd1)")
        assert step.status is Status.FAIL


def test_a_result_with_two_words_and_names_that_the_bus_needs() -> None:
    text = """\
long pick(long interrupt, int start, short commit) {
    #pragma HLS interface s_axilite port=return
    #pragma HLS interface s_axilite port=interrupt
    #pragma HLS interface s_axilite port=start
    return interrupt * 3 - start + commit;
}
"""
    result = compile_text(text, "pick")
    assert [(r.argument, r.offset) for r in result.interface.registers[4:]] == [
        ("", 0x10), ("interrupt", 0x1C), ("start", 0x28),
    ]  # fmt: skip
    step = judge(text, result)
    assert step.status is Status.PASS, step.detail


def test_the_register_map_reserves_a_word_after_each_register() -> None:
    scalars = [ScalarPort(f"s{w}", w, False, f"s{w}") for w in (1, 32, 33, 64, 96)]
    found = register_map(scalars, 0, control=False)
    assert [(r.name, r.offset) for r in found] == [
        ("s1", 0x10), ("s32", 0x18), ("s33", 0x20), ("s64", 0x2C), ("s96", 0x38),
    ]  # fmt: skip
    assert register_map((), 33, control=True)[-1] == Register("ap_return", 0x10, 33)


ADD = """\
module top=add

function add(%n 8, %m 40) 40 {
entry:
  %p = zext 40 %n
  %q = add 40 %m, %p
  return %q
}
"""


@cache
def emitted_add() -> Emitted:
    module = parse(ADD)
    module.control = "s_axilite"
    module.scalar_interfaces = {"n": "s_axilite", "m": "s_axilite"}
    return compile_ir(module)


BENCH = """\
module tb;
  reg clk = 0, rst = 1;
  reg [5:0] awaddr = 0, araddr = 0;
  reg awvalid = 0, wvalid = 0, bready = 0, arvalid = 0, rready = 0;
  reg [31:0] wdata = 0, got;
  reg [3:0] wstrb = 0;
  wire awready, wready, bvalid, arready, rvalid, interrupt;
  wire [1:0] bresp, rresp;
  wire [31:0] rdata;
  integer bad = 0, taken, cycles;
  always #5 clk = ~clk;
  add dut(.ap_clk(clk), .ap_rst(rst), .interrupt(interrupt),
    .s_axi_control_AWADDR(awaddr), .s_axi_control_AWVALID(awvalid), .s_axi_control_AWREADY(awready),
    .s_axi_control_WDATA(wdata), .s_axi_control_WSTRB(wstrb), .s_axi_control_WVALID(wvalid),
    .s_axi_control_WREADY(wready), .s_axi_control_BRESP(bresp), .s_axi_control_BVALID(bvalid),
    .s_axi_control_BREADY(bready), .s_axi_control_ARADDR(araddr), .s_axi_control_ARVALID(arvalid),
    .s_axi_control_ARREADY(arready), .s_axi_control_RDATA(rdata), .s_axi_control_RRESP(rresp),
    .s_axi_control_RVALID(rvalid), .s_axi_control_RREADY(rready));
  task check(input ok, input [8*40-1:0] what);
    if (ok !== 1) begin bad = bad + 1; $display("wrong: %0s", what); end
  endtask
  // Everything changes shortly after the rising edge.
  task step; begin @(posedge clk); #1; end endtask
  task write(input [5:0] address, input [31:0] data, input [3:0] strobes);
    begin
      awaddr = address; awvalid = 1; wdata = data; wstrb = strobes; wvalid = 1; bready = 1;
      #1; while (!awready || !wready) step;
      step; awvalid = 0; wvalid = 0; awaddr = 'bx; wdata = 'bx; wstrb = 'bx;
      #1; while (!bvalid) step;
      check(bresp === 0, "bresp"); step; bready = 0;
    end
  endtask
  task read(input [5:0] address);
    begin
      araddr = address; arvalid = 1; rready = 1;
      #1; while (!arready) step;
      step; arvalid = 0; araddr = 'bx;
      #1; while (!rvalid) step;
      check(rresp === 0, "rresp"); got = rdata; step; rready = 0;
    end
  endtask
  initial begin
    #22 rst = 0; step;
    @BODY@
    if (bad == 0) $display("TEST PASSED"); else $display("TEST FAILED"); $finish;
  end
  initial #100000 begin $display("TEST FAILED"); $finish; end
endmodule
"""
STROBES = """\
    read(6'h1c); check(got === 0, "cleared by the reset");
    write(6'h24, 32'h11223344, 4'b1111); write(6'h28, 32'hffffff55, 4'b1111);
    read(6'h24); check(got === 32'h11223344, "low word");
    read(6'h28); check(got === 32'h55, "high word, 8 bits of it");
    write(6'h24, 32'haabbccdd, 4'b0101); read(6'h24); check(got === 32'h11bb33dd, "two bytes");
    write(6'h24, 32'h99999999, 4'b0000); read(6'h24); check(got === 32'h11bb33dd, "no byte");
    write(6'h24, 32'hee000000, 4'b1000); read(6'h24); check(got === 32'heebb33dd, "the highest byte");
    write(6'h1c, 32'h7f, 4'b1110); read(6'h1c); check(got === 0, "n without its byte");
    write(6'h20, 32'hffffffff, 4'b1111); read(6'h20); check(got === 0, "reserved");
    write(6'h10, 32'hffffffff, 4'b1111); read(6'h10); check(got === 0, "the result cannot be written");
    write(0, 1, 4'b1110); read(0); check(got === 4, "no start without its byte");
"""
CALL = """\
    write(6'h1c, 7, 1); write(6'h24, 32'hfffffffe, 15); write(6'h28, 3, 15);
    read(0); check(got === 4, "idle"); check(interrupt === 0, "no interrupt");
    write(0, 1, 1); repeat (20) step;
    read(0); check(got === 32'h0e, "done, idle and ready");
    read(0); check(got === 4, "cleared by the read");
    read(6'h10); check(got === 5, "result"); read(6'h14); check(got === 4, "its high word");
    write(6'h1c, 8, 1); read(6'h10); check(got === 5, "the result is kept");
    write(0, 1, 1); repeat (20) step; read(6'h10); check(got === 6, "second result");
    read(4); check(got === 0, "gie"); read(8); check(got === 0, "ier"); read(12); check(got === 0, "isr");
"""
INTERRUPTS = """\
    write(8, 1, 1); write(0, 1, 1); repeat (20) step;
    read(12); check(got === 1, "isr without gie"); check(interrupt === 0, "gie is 0");
    write(4, 1, 1); check(interrupt === 1, "gie lets it through");
    read(0); check(got === 32'h20e, "bit 9"); check(interrupt === 1, "reading AP_CTRL does not clear it");
    write(12, 1, 1); check(interrupt === 0, "toggled off"); read(12); check(got === 0, "isr");
    write(12, 1, 1); check(interrupt === 1, "toggled on");
    write(12, 2, 1); read(12); check(got === 3, "the other bit"); write(12, 3, 1); check(interrupt === 0, "both off");
    write(8, 2, 1); write(0, 1, 1); repeat (20) step; read(12); check(got === 2, "ap_ready"); write(12, 2, 1);
    write(8, 0, 1); write(0, 1, 1); repeat (20) step; read(12); check(got === 0, "no cause");
    write(8, 3, 1); write(0, 1, 1); repeat (20) step; read(12); check(got === 3, "both causes");
    check(interrupt === 1, "interrupt"); rst = 1; step; step; rst = 0; check(interrupt === 0, "reset");
    read(8); check(got === 0, "reset of ier");
"""
BACK_TO_BACK = """\
    // Ten writes of which each follows the last at once, with reads at the same time.
    cycles = 0; taken = 0; bready = 1; awvalid = 1; wvalid = 1; wstrb = 15; awaddr = 6'h24; wdata = 100;
    while (taken < 10) begin
      #1;
      if (awready !== wready) check(0, "one is taken before the other");
      if (awready) taken = taken + 1;
      step; cycles = cycles + 1; wdata = 100 + taken;
      if (taken == 10) begin awvalid = 0; wvalid = 0; end
    end
    check(cycles <= 20, "two cycles a write"); repeat (3) step; bready = 0;
    read(6'h24); check(got === 109, "the last write");
    // Data long before the address, then the address long before the data.
    wdata = 42; wvalid = 1; #1; while (!wready) step; step; wvalid = 0; wdata = 'bx; repeat (5) step;
    check(bvalid === 0, "no response without an address"); read(6'h24); check(got === 109, "nothing was written");
    awaddr = 6'h24; awvalid = 1; #1; while (!awready) step; step; awvalid = 0; awaddr = 'bx; step; step;
    check(bvalid === 1, "response"); read(6'h24); check(got === 42, "written");
    repeat (5) step; check(bvalid === 1, "the response waits");
    awaddr = 6'h1c; awvalid = 1; #1; while (!awready) step; step; awvalid = 0; awaddr = 'bx; repeat (4) step;
    wdata = 9; wvalid = 1; #1; while (!wready) step; step; wvalid = 0; wdata = 'bx; repeat (4) step;
    read(6'h1c); check(got === 0, "the second write waits for the first response");
    bready = 1; step; #1 check(bvalid === 1, "second response"); step; bready = 0; #1 check(bvalid === 0, "all over");
    read(6'h1c); check(got === 9, "second write");
    // An answer that nobody takes stays, and no second one is made.
    araddr = 6'h1c; arvalid = 1; step; arvalid = 1; araddr = 6'h24;
    repeat (5) begin #1 check(rvalid === 1 && rdata === 9 && arready === 0, "the answer stays"); step; end
    rready = 1; step; #1 check(rvalid === 0 && arready === 1, "taken"); step; arvalid = 0;
    #1 check(rvalid === 1 && rdata === 42, "the second answer"); step; rready = 0;
"""
RESTART = """\
    write(6'h24, 1, 15); write(8, 1, 1); write(0, 32'h81, 1); repeat (20) step;
    read(0); check(got[7] === 1 && got[1] === 1, "done, and started again"); repeat (5) step;
    read(0); check(got[1] === 1, "done once more");
    write(0, 0, 1); repeat (10) step; read(0); repeat (10) step;
    read(0); check(got === 4, "stopped"); read(6'h10); check(got === 1, "result");
"""


@pytest.mark.parametrize(
    "body",
    [STROBES, CALL, INTERRUPTS, BACK_TO_BACK, RESTART],
    ids=["strobes", "call", "interrupts", "back to back", "auto restart"],
)
def test_registers(body: str, tool_config: ToolConfig) -> None:
    step = run_bench(emitted_add().verilog, body, tool_config)
    assert step.status is Status.PASS, step.detail


@pytest.mark.parametrize(
    ("body", "edit"),
    [
        (STROBES, ("{8{write_strobes[1]}}", "{8{write_strobes[0]}}")),
        (CALL, ("else if (read_control) was_done <= 1'd0;", "")),
        (INTERRUPTS, ("isr_done <= ~isr_done", "isr_done <= 1'd0")),
        (BACK_TO_BACK, ("& (~have_reply | s_axi_control_BREADY)", "")),
        (RESTART, ("start <= auto_restart", "start <= 1'd0")),
    ],
    ids=["strobes", "call", "interrupts", "back to back", "auto restart"],
)
def test_wrong_registers_are_noticed(body: str, edit: tuple[str, str], tool_config: ToolConfig) -> None:
    verilog = emitted_add().verilog
    assert verilog.count(edit[0]) == 1
    assert run_bench(verilog.replace(*edit), body, tool_config).status is Status.FAIL


def run_bench(verilog: str, body: str, config: ToolConfig) -> StepResult:
    bench = SourceFile("tb.sv", BENCH.replace("@BODY@", body.strip()))
    tests = [TestFile(bench, TestKind.SYSTEMVERILOG, top="tb")]
    return simulate([SourceFile("add.v", verilog)], tests, top="add", simulator="icarus", config=config)


@pytest.mark.parametrize("design", ["add", "sum"])
def test_the_linter_accepts_the_shell_without_a_warning(design: str, tool_config: ToolConfig) -> None:
    verilog = emitted_add().verilog if design == "add" else compiled_sum().design.text
    result = lint([SourceFile(f"{design}.v", verilog)], top=design, language="verilog", config=tool_config)
    assert result.status is Status.PASS
    shell = verilog[: verilog.index("endmodule")].count("\n")
    loud = [d for d in result.diagnostics if d.severity is not Severity.NOTE]
    assert [d for d in loud if d.line is None or d.line <= shell] == []


def test_yosys_accepts_the_shell_without_a_warning(tool_config: ToolConfig) -> None:
    result = synthesize([SourceFile("add.v", emitted_add().verilog)], top="add", target="ecp5", config=tool_config)
    assert result.status is Status.PASS, result.detail
    assert result.diagnostics == ()


def test_without_such_a_pragma_nothing_is_added() -> None:
    emitted = compile_ir(parse(ADD))
    assert "s_axi" not in emitted.verilog
    assert emitted.interface.registers == ()
    assert replace(emitted.interface, registers=()) == emitted.interface
