"""Hidden test of divider_signed: every cycle of every division."""

import random

import cocotb
from cocotb.triggers import Timer

RESULTS = ("quotient", "remainder", "by_zero", "overflow")
CORNERS = (0, 1, 2, 3, -1, -2, -3, 7, -7, 32767, 32766, -32767, -32768, 16384, -16384)


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


async def reset(dut):
    dut.clk.value = 0
    dut.rst_n.value = 0
    dut.start.value = 1
    dut.floored.value = 0
    dut.dividend.value = 1
    dut.divisor.value = 1
    for _ in range(2):
        await Timer(4, unit="ns")
        await edge(dut)
    dut.rst_n.value = 1


def divided(a, b, floored):
    """Return quotient, remainder (both as 16 bits), by_zero, overflow."""
    if b == 0:
        q, r = (0x7FFF if a >= 0 else 0x8000), a
    elif floored:
        q, r = a // b, a % b
    else:
        q = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        r = a - q * b
    return q & 0xFFFF, r & 0xFFFF, int(b == 0), int(b == -1 and a == -32768)


async def cycle(dut, expected, busy, done, where):
    """Let a cycle settle, compare all outputs, and clock."""
    await Timer(4, unit="ns")
    assert (int(dut.busy.value), int(dut.done.value)) == (busy, done), f"busy, done {where}"
    seen = tuple(int(getattr(dut, name).value) for name in RESULTS)
    assert seen == expected, f"{RESULTS} {where}: {seen}, not {expected}"
    await edge(dut)


async def divide(dut, rng, operands, pauses):
    """Do the divisions one after the other, from idle with results 0."""
    result, done = (0, 0, 0, 0), 0
    for a, b, floored in operands:
        for _ in range(rng.choice(pauses)):
            dut.start.value = 0
            dut.dividend.value = rng.getrandbits(16)
            dut.divisor.value = rng.getrandbits(16)
            await cycle(dut, result, 0, done, "when idle")
            done = 0
        dut.start.value = 1
        dut.floored.value = floored
        dut.dividend.value = a & 0xFFFF
        dut.divisor.value = b & 0xFFFF
        await cycle(dut, result, 0, done, "in cycle A")
        done = 1
        for k in range(1, 18):
            dut.start.value = rng.randrange(2)
            dut.floored.value = rng.randrange(2)
            dut.dividend.value = rng.getrandbits(16)
            dut.divisor.value = rng.getrandbits(16)
            await cycle(dut, result, 1, 0, f"in cycle A+{k}")
        dut.start.value = 0
        result = divided(a, b, floored)
    dut.start.value = 0
    await cycle(dut, result, 0, done, "at the end")
    await cycle(dut, result, 0, 0, "after the end")


@cocotb.test()
async def corners(dut):
    """Pairs from the ends of the range, in both roundings."""
    rng = random.Random(1)
    pairs = [(a, b, f) for a in CORNERS for b in CORNERS for f in (0, 1)]
    must = [(-32768, -1, 0), (-32768, -1, 1), (5, 0, 1), (-5, 0, 1), (0, 0, 1), (-32768, 0, 1), (-32768, 1, 1)]
    await reset(dut)
    await divide(dut, rng, must + rng.sample(pairs, 60), pauses=(0,))


@cocotb.test()
async def random_divisions(dut):
    """Operands of all sizes, with pauses."""
    rng = random.Random(2)

    def operand():
        return rng.choice((1, -1)) * rng.getrandbits(rng.randint(1, 15))

    await reset(dut)
    await divide(dut, rng, [(operand(), operand(), rng.randrange(2)) for _ in range(60)], pauses=(0, 1, 2))


@cocotb.test()
async def reset_forgets(dut):
    """A reset at any time of a division."""
    rng = random.Random(3)
    for cycles in (1, 2, 5, 16, 17, 18, 19):
        await reset(dut)
        await divide(dut, rng, [(-4321, 17, 1), (77, 0, 0)], pauses=(0,))
        dut.start.value = 1
        for _ in range(cycles):
            await Timer(4, unit="ns")
            await edge(dut)
        await reset(dut)
        dut.start.value = 0
        for k in range(20 if cycles == 5 else 2):
            await cycle(dut, (0, 0, 0, 0), 0, 0, f"{k} cycles after reset")
