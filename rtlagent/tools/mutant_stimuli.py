"""A testbench that plays random inputs on any module and prints its outputs."""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.types import Reset

CYCLES = 1500
_QUIET_CYCLES = 500
"""The first, in which inputs change seldom: what needs a steady input comes about."""
_RESET_CYCLES = 3
_WORD = 32


@dataclass(frozen=True)
class Pins:
    """The ports of a module, by what a bench does with them."""

    inputs: tuple[tuple[str, int], ...]
    """(name, width), clocks and resets included."""
    outputs: tuple[tuple[str, int], ...]
    clocks: tuple[str, ...]
    resets: tuple[Reset, ...]


def bench_text(name: str, top: str, pins: Pins, mark: str) -> str:
    """Return the Verilog of a testbench `name` whose lines `mark BITS` give the outputs before and after each edge.

    Inputs change while the clocks are low. Each is left, or becomes random, zero, ones or a small number. Resets are
    active for some cycles at the start, and now and then later. Of several clocks each ticks in half of the cycles.
    """
    number = {port: f"p{k}" for k, (port, _) in enumerate((*pins.inputs, *pins.outputs))}
    lines = [f"`timescale 1ns/1ps\nmodule {name};", "  integer cycle, seed, dice;"]
    lines += [f"  reg [{width - 1}:0] {number[port]};" for port, width in pins.inputs]
    lines += [f"  wire [{width - 1}:0] {number[port]};" for port, width in pins.outputs]
    connections = ", ".join(f".{port}({pin})" for port, pin in number.items())
    bits = ", ".join(number[port] for port, _ in pins.outputs)
    # Before a reset has come through, `if` takes an unknown for 0: that is no difference.
    when = f"if (cycle >= {_RESET_CYCLES}) " if pins.resets else ""
    shown = f'{when}$display("{mark} %b", {{{bits}}});'
    lines += [f"  {top} dut ({connections});", "  initial begin", "    seed = 1;"]
    lines += [f"    {number[port]} = 0;" for port, _ in pins.inputs]
    lines.append(f"    for (cycle = 0; cycle < {CYCLES}; cycle = cycle + 1) begin")
    resets = {r.port: r.active != "low" for r in pins.resets}
    for port, width in pins.inputs:
        if port in resets:
            active = f"(cycle < {_RESET_CYCLES} || (cycle > {_QUIET_CYCLES} && ($random(seed) & 127) == 0))"
            lines.append(f"      {number[port]} = {'' if resets[port] else '!'}{active};")
        elif port not in pins.clocks:
            lines += _change(number[port], width)
    lines.append(f"      #2 {shown}")
    if pins.clocks:
        several = len(pins.clocks) > 1
        ticks = [f"{number[c]} = {'$random(seed) & 1' if several else '1'};" for c in pins.clocks]
        lines += [f"      #2 {' '.join(ticks)}", f"      #2 {shown}"]
        lines.append(f"      #2 {' '.join(f'{number[c]} = 0;' for c in pins.clocks)}")
    return "\n".join([*lines, "    end", "    $finish;", "  end", "endmodule", ""])


def _change(pin: str, width: int) -> list[str]:
    words = ", ".join(["$random(seed)"] * ((width + _WORD - 1) // _WORD))
    ones = f"{{{width}{{1'b1}}}}"
    return [
        "      dice = $random(seed) & 15;",
        f"      if (cycle >= {_QUIET_CYCLES} || ($random(seed) & 7) == 0)",
        f"        if (dice < 9) {pin} = {{{words}}};",
        f"        else if (dice < 11) {pin} = 0;",
        f"        else if (dice == 11) {pin} = {ones};",
        f"        else if (dice == 12) {pin} = $random(seed) & 3;",
    ]
