"""Hidden test of fixed_point_mac: every cycle, against exact integers and fractions."""

import random
from fractions import Fraction

import cocotb
from cocotb.triggers import Timer

TOP, BOTTOM = 2**35 - 1, -(2**35)
ENDS = (-32768, -32767, -1, 0, 1, 2, 32766, 32767, 16384, -16384, 128, -128, 256, 181)


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


async def reset(dut):
    dut.clk.value = 0
    dut.rst.value = 1
    dut.en.value = 1
    dut.op.value = 0
    dut.a.value = 300
    dut.b.value = 300
    for _ in range(2):
        await Timer(4, unit="ns")
        await edge(dut)
    dut.rst.value = 0


def step(state, op, a, b):
    """Return accumulator and overflow after an operation."""
    acc, overflow = state
    if op in (0, 3):
        return (a * b if op == 0 else 0), 0
    exact = acc + a * b if op == 1 else acc - a * b
    kept = max(BOTTOM, min(TOP, exact))
    return kept, int(overflow or kept != exact)


def converted(acc):
    """Return q as 16 bits, and whether it was saturated; round() of a Fraction takes ties to even."""
    exact = round(Fraction(acc, 2**15))
    kept = max(-32768, min(32767, exact))
    return kept & 0xFFFF, int(kept != exact)


async def run(dut, state, steps):
    """Drive (en, op, a, b), comparing all outputs before each edge and once after the last."""
    for en, op, a, b in [*steps, (0, 0, 1, 1)]:
        dut.en.value = en
        dut.op.value = op
        dut.a.value = a & 0xFFFF
        dut.b.value = b & 0xFFFF
        await Timer(4, unit="ns")
        assert int(dut.acc.value) == state[0] & (2**36 - 1), f"acc {int(dut.acc.value):#x}, not {state[0]}"
        assert int(dut.acc_overflow.value) == state[1], "acc_overflow"
        seen = int(dut.q.value), int(dut.q_saturated.value)
        assert seen == converted(state[0]), f"q, q_saturated {seen} of acc {state[0]}"
        await edge(dut)
        state = step(state, op, a, b) if en else state
    return state


@cocotb.test()
async def rounding(dut):
    """Values around ties, of either sign, around every small multiple."""
    await reset(dut)
    steps = []
    for whole in (0, 1, 2, 3, -1, -2, -3, 32767, -32768, 32766):
        for half in (16383, 16384, 16385, 0, 1, 8192):
            first = (1, 0, whole, 16384), (1, 1, whole, 16384)  # whole * 2^15
            steps += [*first, (1, 1, half, 1)]
            steps += [*first, (1, 2, half, 1)]
    await run(dut, (0, 0), steps)


@cocotb.test()
async def saturation(dut):
    """Both ends of the accumulator, the sticky flag and how it is cleared."""
    await reset(dut)
    state = (0, 0)
    for op, a, b in ((1, -32768, -32768), (2, -32768, -32768), (1, -32768, 32767), (2, -32768, 32767)):
        state = await run(
            dut, state, [(1, 0, 0, 0)] + [(1, op, a, b)] * 34 + [(1, 3 - op, a, b)] * 2 + [(0, 3, 5, 5), (0, 0, 1, 1)]
        )
        state = await run(dut, state, [(1, 3, 7, 7), (1, 1, 100, 100)])
    # Exactly to the ends, and one beyond.
    up = [(1, 3, 0, 0)] + [(1, 1, -32768, -32768)] * 31 + [(1, 1, 32767, 32767), (1, 1, 32767, 2)]
    state = await run(dut, state, [*up, (1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1), (1, 2, 3, 3)])
    down = [(1, 0, 0, 0)] + [(1, 2, -32768, -32768)] * 32
    state = await run(dut, state, [*down, (1, 1, 0, 5), (1, 1, 1, -1), (1, 0, 2, 2)])


@cocotb.test()
async def random_operations(dut):
    """Random operations on operands of all sizes, resets between."""
    rng = random.Random(3)

    def operand():
        return rng.choice([rng.choice(ENDS), rng.randint(-32768, 32767), rng.randint(-300, 300)])

    for _ in range(4):
        await reset(dut)
        ops = [rng.choices((0, 1, 2, 3), (1, 8, 8, 1))[0] for _ in range(300)]
        await run(dut, (0, 0), [(int(rng.randrange(8) > 0), op, operand(), operand()) for op in ops])
