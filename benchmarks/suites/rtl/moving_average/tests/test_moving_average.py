"""Hidden test of moving_average: every cycle, against the sum written out."""

import random

import cocotb
from cocotb.triggers import Timer

ENDS = (-2048, -2047, -1, 0, 1, 2046, 2047)


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


async def reset(dut):
    dut.clk.value = 0
    dut.rst_n.value = 0
    dut.clear.value = 0
    dut.in_valid.value = 1
    dut.sample.value = 0x7FF
    dut.window.value = 0
    for _ in range(2):
        await Timer(4, unit="ns")
        await edge(dut)
    dut.rst_n.value = 1
    return [], (0, 0, 0)


async def run(dut, rng, state, steps):
    """Drive steps of (clear, sample or None, window) and compare each cycle; state is history and outputs."""
    history, (valid, mean, complete) = state
    for clear, sample, window in [*steps, (0, None, 0)]:
        dut.clear.value = clear
        dut.in_valid.value = int(sample is not None)
        dut.sample.value = (rng.getrandbits(12) if sample is None else sample) & 0xFFF
        dut.window.value = window
        await Timer(4, unit="ns")
        seen = (int(dut.out_valid.value), int(dut.mean.value), int(dut.complete.value))
        assert seen == (valid, mean & 0xFFF, complete), f"{seen}, not {(valid, mean & 0xFFF, complete)}"
        await edge(dut)
        history = [] if clear else history
        valid = int(sample is not None)
        if sample is not None:
            history = [sample, *history[:15]]
            size = 2 << window
            mean = (sum(history[:size]) + size // 2) // size
            complete = int(len(history) >= size)
    return history, (valid, mean, complete)


@cocotb.test()
async def filling(dut):
    """From empty to more than sixteen samples, in each window."""
    rng = random.Random(1)
    for window in range(4):
        for value in (2047, -2048, None):
            state = await reset(dut)
            samples = [rng.randint(-2048, 2047) if value is None else value for _ in range(20)]
            await run(dut, rng, state, [(0, sample, window) for sample in samples])


@cocotb.test()
async def rounding(dut):
    """Small sums of either sign, around the halves."""
    rng = random.Random(2)
    for window in range(4):
        state = await reset(dut)
        await run(dut, rng, state, [(0, rng.randint(-2, 2), window) for _ in range(150)])


@cocotb.test()
async def changes(dut):
    """Windows that change, pauses, clears, a reset in between."""
    rng = random.Random(3)
    for _ in range(3):
        state = await reset(dut)
        steps = []
        for k in range(350):
            sample = rng.choice([rng.choice(ENDS), rng.randint(-2048, 2047)]) if rng.randrange(100) < 75 else None
            steps.append((int(rng.randrange(30) == 0), sample, rng.randrange(4) if k % 100 < 70 else 3))
        await run(dut, rng, state, steps)


@cocotb.test()
async def long_pause_and_clear(dut):
    """A clear without a sample keeps the outputs, forgets the samples."""
    rng = random.Random(4)
    state = await reset(dut)
    state = await run(dut, rng, state, [(0, 100 + k, 3) for k in range(17)])
    state = await run(dut, rng, state, [(0, None, 1)] * 3 + [(1, None, 2)] + [(0, None, 3)] * 2)
    state = await run(dut, rng, state, [(0, 7, 0)] * 2 + [(0, 7, 3)])
    await run(dut, rng, state, [(1, 33, 0), (0, 33, 0), (1, None, 0), (1, 5, 3), (0, 5, 1)])
