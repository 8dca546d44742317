"""Hidden test of multiplier_booth_seq: every cycle of the handshakes, all four kinds of operands."""

import random

import cocotb
from cocotb.triggers import Timer

LATENCY = 10
CORNERS = (0, 1, 2, 3, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0xFFFE, 0x5555, 0xAAAA)


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


async def reset(dut):
    dut.clk.value = 0
    dut.rst.value = 1
    for port in (dut.in_valid, dut.a, dut.b, dut.a_signed, dut.b_signed, dut.out_ready):
        port.value = 1
    for _ in range(2):
        await Timer(4, unit="ns")
        await edge(dut)
    dut.rst.value = 0


def value(bits, is_signed):
    return bits - 0x10000 if is_signed and bits >> 15 else bits


async def multiply(dut, rng, operands, *, valid, ready, idle_after=3):
    """Do the multiplications, with every cycle checked; valid and ready in percent."""
    todo, age, expected = list(operands), None, 0
    idle = 0
    while idle < idle_after:
        offered = bool(todo) and rng.randrange(100) < valid
        takes = rng.randrange(100) < ready
        a, b, a_signed, b_signed = todo[0] if offered else (rng.getrandbits(16), rng.getrandbits(16), 0, 1)
        dut.in_valid.value = int(offered)
        dut.a.value = a
        dut.b.value = b
        dut.a_signed.value = a_signed
        dut.b_signed.value = b_signed
        dut.out_ready.value = int(takes)
        await Timer(4, unit="ns")
        finished = age is not None and age >= LATENCY
        accepts = age is None or (finished and takes)
        assert int(dut.out_valid.value) == finished, f"out_valid, {age} cycles after the acceptance"
        assert int(dut.in_ready.value) == accepts, f"in_ready, {age} cycles after the acceptance"
        if finished:
            assert int(dut.product.value) == expected, f"product {int(dut.product.value):#x}, not {expected:#x}"
        idle = idle + 1 if not todo and age is None else 0
        if finished and takes:
            age = None
        if offered and accepts:
            todo.pop(0)
            age = 0
            expected = value(a, a_signed) * value(b, b_signed) & 0xFFFFFFFF
        age = None if age is None else age + 1
        await edge(dut)


@cocotb.test()
async def corners(dut):
    """Pairs from the ends of the ranges, in all four kinds."""
    rng = random.Random(1)
    pairs = [(a, b, k & 1, k >> 1) for a in CORNERS for b in CORNERS for k in range(4)]
    must = [(0x8000, 0x8000, k & 1, k >> 1) for k in range(4)] + [(0xFFFF, 0xFFFF, k & 1, k >> 1) for k in range(4)]
    await reset(dut)
    await multiply(dut, rng, must + rng.sample(pairs, 120), valid=100, ready=100)


@cocotb.test()
async def random_products(dut):
    """Random operands, with pauses on both sides."""
    rng = random.Random(2)
    await reset(dut)
    for valid, ready in ((100, 30), (30, 100), (60, 60)):
        some = [(rng.getrandbits(16), rng.getrandbits(16), rng.randrange(2), rng.randrange(2)) for _ in range(25)]
        await multiply(dut, rng, some, valid=valid, ready=ready)


@cocotb.test()
async def reset_forgets(dut):
    """A reset at any time leaves the module empty."""
    rng = random.Random(3)
    for cycles in range(1, 14):
        await reset(dut)
        dut.out_ready.value = 0
        for _ in range(cycles):
            await Timer(4, unit="ns")
            await edge(dut)
        await reset(dut)
        await multiply(dut, rng, [], valid=100, ready=100, idle_after=12 if cycles in (4, 12) else 1)
        await multiply(dut, rng, [(cycles, 1000, 0, 0)], valid=100, ready=100)
