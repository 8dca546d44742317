"""Run emitted Verilog under Icarus and compare it, call by call, with the IR it came from."""

from __future__ import annotations

import random

from rtlagent.config import ToolConfig
from rtlagent.hls.bind import bind
from rtlagent.hls.emit import Emitted, emit
from rtlagent.hls.interface import ArrayPort, Interface
from rtlagent.hls.interpret import Interpreter, InterpretError, State
from rtlagent.hls.ir import MemoryKind, Module
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.schedule import schedule
from rtlagent.hls.schedule.storage import storage_of
from rtlagent.hls.text import dump, parse
from rtlagent.hls.transform import run_all
from rtlagent.tools.simulate import simulate
from rtlagent.types import SourceFile, StepResult, TestFile, TestKind

_TIMEOUT = 20_000


def compile_ir(module: Module, options: HlsOptions | None = None) -> Emitted:
    """Run the passes, schedule, bind and emit."""
    options = options or HlsOptions(top=module.top.name)
    remarks = Remarks()
    run_all(module, options, remarks)
    plans = schedule(module, options, remarks)
    return emit(module, plans, bind(module, plans), storage={m: storage_of(m) for m in module.memories})


def compare(reference: Module, emitted: Emitted, *, seed: int = 0, calls: int = 4) -> StepResult | None:
    """Simulate some calls with random inputs; None if the program is undefined on the first of them."""
    rng = random.Random(seed)
    interpreter, state = Interpreter(reference), State()
    body: list[str] = []
    for number in range(calls):
        scalars = {
            p.name: rng.choice([0, 1, (1 << p.width) - 1, rng.getrandbits(p.width)]) for p in reference.top.params
        }
        memories = {
            m.name: [rng.getrandbits(m.width) for _ in range(m.depth)]
            for m in reference.memories
            if m.kind is MemoryKind.PARAM
        }
        before = {name: list(values) for name, values in memories.items()}
        try:
            result = interpreter.call(scalars, memories, state=state, max_steps=50_000)
        except InterpretError:
            break
        body += _call(number, emitted.interface, scalars, before, memories, result)
    if not body:
        return None
    bench = TestFile(SourceFile("tb.sv", _bench(emitted.interface, body)), TestKind.SYSTEMVERILOG, top="tb")
    design = SourceFile("dut.v", emitted.verilog)
    return simulate([design], [bench], top=emitted.interface.module, simulator="icarus", config=ToolConfig())


def compare_ir(text: str, *, seed: int = 0, options: HlsOptions | None = None) -> StepResult | None:
    """Compile IR text and compare."""
    return compare(parse(text), compile_ir(parse(text), options), seed=seed)


def copy_of(module: Module) -> Module:
    """Return a module that passes may change."""
    return parse(dump(module))


def _call(
    number: int,
    interface: Interface,
    scalars: dict[str, int],
    before: dict[str, list[int]],
    after: dict[str, list[int]],
    result: int | None,
) -> list[str]:
    lines = [f"{s.name} = {s.width}'d{scalars[s.argument]};" for s in interface.scalars]
    for port in interface.arrays:
        lines += [f"{port.name}_mem[{i}] = {port.width}'d{v};" for i, v in enumerate(_elements(port, before))]
    lines += [
        "ap_start = 1; cycles = 0; #1;",
        f"while (!ap_done && cycles < {_TIMEOUT}) begin @(posedge ap_clk); #1 cycles = cycles + 1; end",
        f'if (cycles >= {_TIMEOUT}) begin bad = bad + 1; $display("call {number} hangs"); end',
    ]
    if interface.result_width:
        lines.append(f'expect_equal(ap_return === {interface.result_width}\'d{result}, {number}, "result");')
    lines.append("@(posedge ap_clk); #1 ap_start = 0; #1;")
    for port in interface.arrays:
        for i, value in enumerate(_elements(port, after)):
            lines.append(
                f'expect_equal({port.name}_mem[{i}] === {port.width}\'d{value}, {number}, "{port.name}[{i}]");'
            )
    return [*lines, "#20;"]


def _elements(port: ArrayPort, contents: dict[str, list[int]]) -> list[int]:
    return contents[port.argument]


def _bench(interface: Interface, body: list[str]) -> str:
    lines = [
        "module tb; reg ap_clk = 0, ap_rst = 1, ap_start = 0; wire ap_done, ap_idle, ap_ready;",
        "integer cycles, bad = 0;",
        "always #5 ap_clk = ~ap_clk;",
        "task expect_equal(input ok, input integer call, input [8*24-1:0] what);",
        '  if (ok !== 1) begin bad = bad + 1; $display("call %0d: %0s is wrong", call, what); end',
        "endtask",
    ]
    pins = ["ap_clk", "ap_rst", "ap_start", "ap_done", "ap_idle", "ap_ready"]
    if interface.result_width:
        lines.append(f"wire [{interface.result_width - 1}:0] ap_return;")
        pins.append("ap_return")
    for scalar in interface.scalars:
        lines.append(f"reg [{scalar.width - 1}:0] {scalar.name};")
        pins.append(scalar.name)
    for port in interface.arrays:
        lines.append(f"reg [{port.width - 1}:0] {port.name}_mem [0:{port.depth - 1}];")
        lines += _pointer(port, pins) if port.protocol == "ap_vld" else _memory(port, pins)
    connections = ", ".join(f".{p}({p})" for p in pins)
    lines.append(f"{interface.module} dut ({connections});")
    lines += ["initial begin #22 ap_rst = 0; @(posedge ap_clk); #1;", *body]
    lines += ['if (bad == 0) $display("TEST PASSED"); else $display("TEST FAILED"); $finish; end', "endmodule"]
    return "\n".join(lines)


def _pointer(port: ArrayPort, pins: list[str]) -> list[str]:
    n, lines = port.name, []
    if port.reads:
        lines.append(f"wire [{port.width - 1}:0] {n}_i = {n}_mem[0];")
        pins.append(f"{n}_i")
    if port.writes:
        lines.append(f"wire [{port.width - 1}:0] {n}_o; wire {n}_o_ap_vld;")
        # Written after the call: the input must stay as it was.
        lines.append(f"always @(posedge ap_clk) if ({n}_o_ap_vld) {n}_next = {n}_o;")
        lines.append(f"reg [{port.width - 1}:0] {n}_next; reg {n}_new = 0;")
        lines.append(f"always @(posedge ap_clk) if ({n}_o_ap_vld) {n}_new = 1;")
        lines.append(f"always @(negedge ap_start) if ({n}_new) begin {n}_mem[0] = {n}_next; {n}_new = 0; end")
        pins += [f"{n}_o", f"{n}_o_ap_vld"]
    return lines


def _memory(port: ArrayPort, pins: list[str]) -> list[str]:
    n, lines = port.name, []
    for p in range(port.ports):
        lines.append(f"wire [{port.address_width - 1}:0] {n}_address{p}; wire {n}_ce{p};")
        pins += [f"{n}_address{p}", f"{n}_ce{p}"]
        if port.reads:
            lines.append(f"reg [{port.width - 1}:0] {n}_q{p};")
            lines.append(f"always @(posedge ap_clk) {n}_q{p} <= {n}_ce{p} ? {n}_mem[{n}_address{p}] : 'bx;")
            pins.append(f"{n}_q{p}")
        if port.writes:
            lines.append(f"wire {n}_we{p}; wire [{port.width - 1}:0] {n}_d{p};")
            lines.append(f"always @(posedge ap_clk) if ({n}_ce{p} & {n}_we{p}) {n}_mem[{n}_address{p}] <= {n}_d{p};")
            pins += [f"{n}_we{p}", f"{n}_d{p}"]
    return lines
