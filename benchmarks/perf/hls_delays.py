"""The scheduler's delay model against what nextpnr says of small registered modules.

    python benchmarks/perf/hls_delays.py [ecp5 | ice40] [--only NAME] [--seeds 2]

Each case is a few operations of the IR between registers, or a memory. It is synthesized by Yosys and routed by
nextpnr; the least period over some placements is printed beside the model's (clock-to-q, the chained operations,
set-up), with the ratio. The constants in `rtlagent/hls/schedule/technology.py` are chosen such that the model is
seldom below the measurement; routing in a full design is what `clock_margin` is for. The whole run takes ten minutes a
target.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass

from rtlagent.config import Limits, ToolConfig
from rtlagent.hls.emit.expressions import expression, literal, vector
from rtlagent.hls.ir import Const, Memory, MemoryKind, Op, Opcode, Return, Value
from rtlagent.hls.options import HlsOptions
from rtlagent.hls.schedule.delays import Delays
from rtlagent.hls.schedule.multiplier import partial_products
from rtlagent.hls.text import parse
from rtlagent.tools.place_and_route import place_and_route
from rtlagent.types import SourceFile

FREQUENCY_MHZ = 150.0
CONFIG = ToolConfig(limits=Limits(wall_s=900, cpu_s=900))
SLOW_CLOCK_NS = 1000.0
"""Of the model: nothing is split over cycles."""


@dataclass(frozen=True)
class Case:
    """Something between registers, and the period that the model expects."""

    name: str
    verilog: str
    model_ns: float


def shell(inputs: dict[str, int], width: int, body: str, extra: str = "") -> str:
    """Return a module with two pins: `inputs` are registers filled serially, `y` is registered and shifted out."""
    total = sum(inputs.values())
    fields = ", ".join(inputs)
    declarations = " ".join(f"reg {vector(w)}{name};" for name, w in inputs.items())
    shift = f"{{s[{total - 2}:0], si}}" if total > 1 else "si"
    return f"""module dut (input wire clk, input wire si, input wire load, output wire so);
  reg {vector(total)}s; {declarations} reg ld; reg {vector(width)}r; reg {vector(width)}o;
  {body}
  always @(posedge clk) begin
    s <= {shift};
    ld <= load;
    if (ld) {{{fields}}} <= s;
    r <= y;
    if (ld) o <= r; else o <= o >> 1;
    {extra}
  end
  assign so = o[0];
endmodule
"""


def chain(name: str, inputs: dict[str, int], ops: str, delays: Delays) -> Case:
    """Return the case of some pure operations in IR text; the last one is the result."""
    params = ", ".join(f"%{n} {w}" for n, w in inputs.items())
    last = ops.strip().splitlines()[-1].split()
    text = f"function f({params}) {last[3]} {{\nentry:\n{ops}\n  return {last[0]}\n}}"
    function = parse(text).top
    block = function.entry
    end: dict[Value, float] = {}
    names: dict[Value, str] = {p: p.name for p in function.params}
    lines = []
    for number, op in enumerate(block.ops):
        timing = delays.timing(op, tail_ns=delays.technology.setup)
        arrivals = [end[v] + delays.edge(v, op, at) for at, v in enumerate(op.args) if isinstance(v, Op)]
        end[op] = max([delays.start_ns, *arrivals]) + timing.out_ns
        texts = [literal(v.value, v.width) if isinstance(v, Const) else names[v] for v in op.args]
        names[op] = f"n{number}"
        lines.append(f"wire {vector(op.width)}n{number} = {expression(op, texts)};")
    result = block.terminator
    assert isinstance(result, Return) and result.value is not None
    lines.append(f"wire {vector(result.value.width)}y = {names[result.value]};")
    model = end[result.value] + delays.technology.setup
    return Case(name, shell(inputs, result.value.width, "\n  ".join(lines)), model)


def arithmetic(delays: Delays) -> Iterator[Case]:
    """Yield sums, comparisons, logic and shifts, alone and chained."""
    for w in (8, 16, 32, 64):
        ab = {"a": w, "b": w}
        yield chain(f"add{w}", ab, f"  %r = add {w} %a, %b", delays)
        yield chain(f"slt{w}", ab, "  %r = slt 1 %a, %b", delays)
        yield chain(f"eq{w}", ab, "  %r = eq 1 %a, %b", delays)
        yield chain(f"shl{w}", {"a": w, "b": (w - 1).bit_length()}, f"  %r = shl {w} %a, %b", delays)
        yield chain(f"eq_constant{w}", {"a": w}, "  %r = eq 1 %a, 77", delays)
    ab = {"a": 32, "b": 32}
    abc = {"a": 32, "b": 32, "c": 32}
    yield chain("xor", ab, "  %r = xor 32 %a, %b", delays)
    yield chain("add_add", abc, "  %s = add 32 %a, %b\n  %r = add 32 %s, %c", delays)
    yield chain("add_add_add", abc, "  %s = add 32 %a, %b\n  %t = add 32 %s, %c\n  %r = add 32 %t, %b", delays)
    yield chain("add_ult", abc, "  %s = add 32 %a, %b\n  %r = ult 1 %s, %c", delays)
    yield chain("add_slt", abc, "  %s = add 32 %a, %b\n  %r = slt 1 %s, %c", delays)
    yield chain("slt_select", ab, "  %s = slt 1 %a, %b\n  %r = select 32 %s, %a, %b", delays)
    yield chain("eq_select", abc, "  %s = eq 1 %a, %b\n  %r = select 32 %s, %a, %c", delays)
    rotated = "  %s = add 32 %a, %b\n  %h = lshr 32 %s, 7\n  %l = shl 32 %s, 25\n  %x = or 32 %h, %l\n"
    yield chain("add_rotate_add", abc, f"{rotated}  %r = add 32 %x, %c", delays)
    yield chain("add_rotate_xor_add", abc, f"{rotated}  %y = xor 32 %x, %b\n  %r = add 32 %y, %c", delays)
    for count in (2, 4, 8):
        text = "".join(
            f"  %h{n} = lshr 32 {'%a' if not n else f'%x{n - 1}'}, {n + 1}\n"
            f"  %x{n} = {('xor', 'and', 'or')[n % 3]} 32 %h{n}, {('%b', '%c')[n % 2]}\n"
            for n in range(count)
        )
        yield chain(f"logic{count}", abc, text.rstrip(), delays)


def products(delays: Delays) -> Iterator[Case]:
    """Yield multiplications, and the sums of split ones."""
    # Of lookup tables, wider ones take minutes to route.
    for w in (8, 16, 18, 24, 32, 48) if delays.technology.dsp else (8, 16, 24):
        yield chain(f"mul{w}", {"a": w, "b": w}, f"  %r = mul {w} %a, %b", delays)
    ext = "  %x = sext 32 %a\n  %y = sext 32 %b\n  %r = mul 32 %x, %y"
    yield chain("mul16x16", {"a": 16, "b": 16}, ext, delays)
    yield chain("mul16x16_add", {"a": 16, "b": 16, "c": 32}, f"{ext}\n  %s = add 32 %r, %c", delays)
    limb = max(4, (delays.technology.dsp_bits[1] or 9) - 1)
    for w in (32, 64):
        parts = partial_products(w, limb)
        names = {f"p{n}": p.left_width + p.right_width for n, p in enumerate(parts)}
        terms = []
        for n, part in enumerate(parts):
            kept = min(names[f"p{n}"], w - part.shift)
            low = f", {part.shift}'d0" if part.shift else ""
            terms.append(f"{{{w - part.shift - kept}'d0, p{n}[{kept - 1}:0]{low}}}".replace("{0'd0, ", "{"))
        body = f"wire {vector(w)}y = {' + '.join(terms)};"
        model = delays.start_ns + delays.sum_ns(w, limb) + delays.technology.setup
        yield Case(f"limb_sum{w}", shell(names, w, body), model)


def memories(delays: Delays, target: str) -> Iterator[Case]:
    """Yield reads of block RAM and lookup-table RAM, and multiplexers in front of a register."""
    t = delays.technology
    ram = Memory("m", 32, (2048,), MemoryKind.LOCAL, storage="bram")
    load = delays.timing(Op(Opcode.LOAD, 32, [Value(11)], memory=ram), tail_ns=t.setup)
    write = "if (ld) m[b] <= a;"
    body = "reg [31:0] m [0:2047]; reg [31:0] q;"
    for name, use, delay in (("xor", "q ^ a", t.logic), ("add", "q + a", t.add + 32 * t.carry)):
        text = shell({"a": 32, "b": 11}, 32, f"{body} wire [31:0] y = {use};", f"{write} q <= m[b];")
        yield Case(f"ram_{name}", text, load.out_ns + delay + t.setup)
    text = shell({"a": 32, "b": 11, "c": 11}, 1, f"{body} wire y = q[0];", "if (ld) m[b] <= a; q <= m[b + c];")
    model = max(delays.start_ns + t.add + 11 * t.carry + load.need_ns, load.out_ns + t.setup)
    yield Case("add_ram", text, model)
    if target != "ice40":
        for depth, width in ((16, 32), (32, 32), (64, 16)):
            bits = (depth - 1).bit_length()
            table = Memory("m", width, (depth,), MemoryKind.LOCAL, storage="lutram")
            op = Op(Opcode.LOAD, width, [Value(bits)], memory=table)
            read = delays.timing(op, tail_ns=t.setup)
            body = f"reg {vector(width)}m [0:{depth - 1}]; wire {vector(width)}y = m[b];"
            text = shell({"a": width, "b": bits}, width, body, write)
            yield Case(f"lutram{depth}x{width}", text, delays.start_ns + read.need_ns)
    for count in (2, 4, 8, 16):
        terms = " | ".join(f"({{16{{c[{i}]}}}} & a[{16 * i + 15}:{16 * i}])" for i in range(count))
        text = shell({"a": 16 * count, "c": count}, 16, f"wire [15:0] y = {terms};")
        yield Case(f"select{count}", text, delays.start_ns + delays.select_from(count) + t.setup)


def measured_ns(case: Case, target: str, seeds: int) -> float:
    """Return the least period over some placements."""
    best = math.inf
    for seed in range(1, seeds + 1):
        result = place_and_route(
            [SourceFile("dut.v", case.verilog)],
            top="dut",
            target=target,
            min_fmax_mhz=FREQUENCY_MHZ,
            seed=seed,
            config=CONFIG,
        )
        if result.metrics.fmax_mhz is None:
            raise SystemExit(f"{case.name}: {result.status}\n" + "\n".join(map(str, result.diagnostics)))
        best = min(best, 1000 / result.metrics.fmax_mhz)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", default="ecp5", choices=("ecp5", "ice40"))
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    delays = Delays(HlsOptions("f", target=options.target, clock_ns=SLOW_CLOCK_NS))
    ratios = []
    print(f"{'case':<20} {'measured':>9} {'model':>7}  model / measured")
    for case in [*arithmetic(delays), *products(delays), *memories(delays, options.target)]:
        if options.only not in case.name:
            continue
        measured = measured_ns(case, options.target, options.seeds)
        ratios.append(case.model_ns / measured)
        print(f"{case.name:<20} {measured:>6.2f} ns {case.model_ns:>4.2f} ns  {ratios[-1]:.2f}", flush=True)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{len(ratios)} cases: geometric mean {mean:.2f}, from {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    main()
