"""Hidden test of divider_radix2: directed and random divisions through both handshakes."""

import random

import cocotb
from cocotb.triggers import Timer

LATENCY = 20
READY_AFTER = 2


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


async def reset(dut):
    dut.clk.value = 0
    dut.rst.value = 1
    dut.in_valid.value = 1
    dut.dividend.value = 99
    dut.divisor.value = 7
    dut.out_ready.value = 0
    for _ in range(2):
        await Timer(4, unit="ns")
        await edge(dut)
    dut.rst.value = 0
    dut.in_valid.value = 0
    await Timer(4, unit="ns")
    assert int(dut.out_valid.value) == 0, "out_valid after reset"


def divided(a, b):
    """Return quotient, remainder, by_zero."""
    return (a // b, a % b, 0) if b else (0xFFFF, a, 1)


async def divide(dut, operands, rng, *, valid, ready):
    """Send the divisions and check the results; valid and ready in percent."""
    todo, open_results = list(operands), []
    offered, held, age, idle, done = False, None, 0, 0, 0
    while done < len(operands):
        offered = offered or (bool(todo) and rng.randrange(100) < valid)
        a, b = todo[0] if offered else (rng.getrandbits(16), rng.getrandbits(16))
        takes = rng.randrange(100) < ready
        dut.in_valid.value = int(offered)
        dut.dividend.value = a
        dut.divisor.value = b
        dut.out_ready.value = int(takes)
        await Timer(4, unit="ns")
        sends, accepts = int(dut.out_valid.value), int(dut.in_ready.value)
        idle = 0 if open_results else idle + 1
        assert accepts or idle < READY_AFTER, "not ready although nothing is under way"
        if sends:
            assert open_results, "a result that nobody asked for"
            seen = tuple(int(p.value) for p in (dut.quotient, dut.remainder, dut.by_zero))
            assert seen == divided(*open_results[0]), f"{open_results[0]} gave {seen}"
        else:
            assert held is None, "out_valid fell before the transfer"
            age = age + 1 if open_results else 0
            assert age < LATENCY, "a result takes too long"
        held = True if sends and not takes else None
        if sends and takes:
            open_results.pop(0)
            done, age = done + 1, 0
        if offered and accepts:
            open_results.append(todo.pop(0))
            offered = False
        await edge(dut)
    dut.in_valid.value = 0
    dut.out_ready.value = 1
    for cycle in range(LATENCY + 4):
        await Timer(4, unit="ns")
        assert int(dut.out_valid.value) == 0, "an additional result"
        assert cycle < READY_AFTER - 1 or int(dut.in_ready.value), "not ready when idle"
        await edge(dut)


CORNERS = (0, 1, 2, 3, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF)


@cocotb.test()
async def corners(dut):
    """All pairs of the ends of the range, zero included."""
    await reset(dut)
    await divide(dut, [(a, b) for a in CORNERS for b in CORNERS], random.Random(1), valid=100, ready=100)


@cocotb.test()
async def random_divisions(dut):
    """Divisors of all sizes, with pauses on both sides."""
    rng = random.Random(2)
    await reset(dut)
    for valid, ready in ((100, 30), (30, 100), (50, 50)):
        pairs = [(rng.getrandbits(16), rng.getrandbits(rng.randint(1, 16))) for _ in range(40)]
        await divide(dut, pairs, rng, valid=valid, ready=ready)


@cocotb.test()
async def reset_forgets(dut):
    """A reset at any time of a division leaves nothing behind."""
    rng = random.Random(3)
    for cycles in range(1, 24):
        await reset(dut)
        dut.out_ready.value = 0
        dut.dividend.value = 1000
        dut.divisor.value = 3
        accepted = 0
        for _ in range(cycles):
            dut.in_valid.value = 1 - accepted
            await Timer(4, unit="ns")
            accepted |= int(dut.in_ready.value)
            await edge(dut)
        await reset(dut)
        await divide(dut, [(50000 + cycles, 7)], rng, valid=100, ready=100)
