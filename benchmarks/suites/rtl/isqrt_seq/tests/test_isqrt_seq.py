"""Hidden test of isqrt_seq: every cycle of every calculation, against math.isqrt."""

import math
import random

import cocotb
from cocotb.triggers import Timer


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


async def reset(dut):
    dut.clk.value = 0
    dut.rst_n.value = 0
    dut.start.value = 1
    dut.nearest.value = 1
    dut.radicand.value = 3
    await Timer(4, unit="ns")
    outputs = [int(p.value) for p in (dut.ready, dut.done, dut.root, dut.remainder)]
    assert outputs == [1, 0, 0, 0], f"in reset, before any edge: {outputs}"
    await edge(dut)
    dut.start.value = 0
    dut.rst_n.value = 1


def result(radicand, nearest):
    f = math.isqrt(radicand)
    up = nearest and 4 * radicand > (2 * f + 1) ** 2
    return f + int(up), radicand - f * f


async def cycle(dut, ready, done, expected, where):
    await Timer(4, unit="ns")
    assert int(dut.ready.value) == ready, f"ready, {where}"
    assert int(dut.done.value) == done, f"done, {where}"
    if expected is not None:
        seen = int(dut.root.value), int(dut.remainder.value)
        assert seen == expected, f"root, remainder {seen}, not {expected}, {where}"
    await edge(dut)


async def calculate(dut, rng, operands, pauses):
    """Do the calculations one after the other, from the state after reset."""
    expected, done = (0, 0), 0
    for radicand, nearest in operands:
        for _ in range(rng.choice(pauses)):
            dut.start.value = 0
            dut.radicand.value = rng.getrandbits(32)
            dut.nearest.value = rng.randrange(2)
            await cycle(dut, 1, done, expected, "idle")
            done = 0
        dut.start.value = 1
        dut.radicand.value = radicand
        dut.nearest.value = nearest
        await cycle(dut, 1, done, expected, "cycle A")
        for k in range(1, 17):
            dut.start.value = rng.randrange(2)
            dut.radicand.value = rng.getrandbits(32)
            dut.nearest.value = rng.randrange(2)
            await cycle(dut, 0, 0, None, f"cycle A+{k}")
        expected, done = result(radicand, nearest), 1
    dut.start.value = 0
    await cycle(dut, 1, done, expected, "at the end")
    await cycle(dut, 1, 0, expected, "after the end")


@cocotb.test()
async def corners(dut):
    """Around squares and halves, and the ends of the range."""
    rng = random.Random(1)
    some = [0, 1, 2, 3, 4, 5, 6, 7, 0xFFFFFFFF, 0xFFFF0000, 0xFFFF0001, 0x80000000, 0x7FFFFFFF, 0x40000000]
    for f in (255, 256, 46340, 65534, 65535, rng.getrandbits(16), rng.getrandbits(12)):
        some += [f * f - 1, f * f, f * f + f, f * f + f + 1]
    await reset(dut)
    await calculate(dut, rng, [(r, n) for r in some for n in (0, 1)], pauses=(0,))


@cocotb.test()
async def random_roots(dut):
    """Radicands of all sizes, with pauses."""
    rng = random.Random(2)
    await reset(dut)
    some = [(rng.getrandbits(rng.randint(1, 32)), rng.randrange(2)) for _ in range(60)]
    await calculate(dut, rng, some, pauses=(0, 1, 2))


@cocotb.test()
async def reset_forgets(dut):
    """A reset at any time of a calculation."""
    rng = random.Random(3)
    for cycles in (1, 2, 8, 16, 17, 18):
        await reset(dut)
        dut.start.value = 1
        dut.nearest.value = 1
        dut.radicand.value = 0xFFFFFFFF
        for _ in range(cycles):
            await Timer(4, unit="ns")
            await edge(dut)
            dut.start.value = 0
        await reset(dut)
        for k in range(18):
            await cycle(dut, 1, 0, (0, 0), f"{k} cycles after reset")
        await reset(dut)
        await calculate(dut, rng, [(rng.getrandbits(32), 1)], pauses=(0,))
