"""Hidden test of edge_debouncer: every output in every cycle, from clean steps to noise."""

import random

import cocotb
from cocotb.triggers import Timer


class Bench:
    """The design beside a model of the rules."""

    def __init__(self, dut):
        self.dut = dut
        self.clear()

    def clear(self):
        self.pipe = [0, 0]
        self.level = self.rose = self.fell = self.count = self.bounces = 0

    def check(self):
        dut = self.dut
        seen = tuple(int(p.value) for p in (dut.level, dut.rose, dut.fell, dut.settling, dut.bounces))
        expected = self.level, self.rose, self.fell, int(self.pipe[1] != self.level), self.bounces
        assert seen == expected, f"level, rose, fell, settling, bounces {seen}, not {expected}"

    async def cycle(self, noisy, limit):
        dut = self.dut
        dut.noisy.value = noisy
        dut.limit.value = limit
        await Timer(5, unit="ns")
        self.check()
        s, self.rose, self.fell = self.pipe[1], 0, 0
        if s == self.level:
            if self.count and self.bounces < 255:
                self.bounces += 1
            self.count = 0
        elif self.count < limit:
            self.count += 1
        else:
            self.level, self.count = s, 0
            self.rose, self.fell = s, 1 - s
        self.pipe = [noisy, self.pipe[0]]
        dut.clk.value = 1
        await Timer(5, unit="ns")
        dut.clk.value = 0

    async def reset(self, noisy=1):
        dut = self.dut
        # From 1, because Verilator's inputs are 0 from the start: no edge, no asynchronous reset.
        dut.clk.value = 0
        dut.rst_n.value = 1
        await Timer(1, unit="ns")
        dut.rst_n.value = 0
        dut.noisy.value = noisy
        dut.limit.value = 0
        for clk in (0, 1, 0):
            dut.clk.value = clk
            await Timer(2, unit="ns")
            self.clear()
            self.check()
        dut.rst_n.value = 1


async def started(dut):
    bench = Bench(dut)
    await bench.reset()
    return bench


@cocotb.test()
async def clean_steps(dut):
    """One step up and one down for several limits, just long enough and one cycle too short."""
    bench = await started(dut)
    for _ in range(5):
        await bench.cycle(0, 3)
    for limit in (0, 1, 2, 3, 7, 20):
        for noisy in (1, 0):
            for length in (limit, limit + 1):
                for _ in range(length):
                    await bench.cycle(noisy, limit)
                for _ in range(limit + 6):
                    await bench.cycle(noisy if length > limit else 1 - noisy, limit)


@cocotb.test()
async def longest_limit(dut):
    """256 cycles in a row for a limit of 255, not 255."""
    bench = await started(dut)
    for noisy, cycles in ((0, 4), (1, 255), (0, 5), (1, 264), (0, 255), (1, 5), (0, 264)):
        for _ in range(cycles):
            await bench.cycle(noisy, 255)


@cocotb.test()
async def limit_changes(dut):
    """A limit that drops below the counter in the middle, and one that rises."""
    bench = await started(dut)
    for limits in ([9] * 8 + [3] * 5, [2] * 4 + [12] * 16, [9] * 8 + [6] + [9] * 12, [5] * 6 + [0] + [5] * 9):
        noisy = 1 - bench.level
        for limit in limits:
            await bench.cycle(noisy, limit)


@cocotb.test()
async def bounce_counter_stops(dut):
    """More than 255 bounces; the count stays at 255."""
    bench = await started(dut)
    for _ in range(262):
        await bench.cycle(1, 4)
        await bench.cycle(0, 4)
    await bench.cycle(0, 4)
    assert bench.bounces == 255


@cocotb.test()
async def reset_at_any_time(dut):
    """In each stage of a change, with the input high and low."""
    bench = await started(dut)
    for cycles in range(1, 12):
        for _ in range(cycles):
            await bench.cycle(1, 3)
        await bench.cycle(0, 3)
        await bench.cycle(1, 3)
        await bench.reset(noisy=cycles & 1)
        for _ in range(3):
            await bench.cycle(0, 0)


@cocotb.test()
async def noise(dut):
    """Bursts of random lengths, with a limit that is mostly steady."""
    rng = random.Random(1)
    bench = await started(dut)
    noisy = limit = 0
    for _ in range(250):
        if rng.random() < 0.1:
            limit = rng.choice((0, 1, 2, 3, 5))
        noisy ^= 1
        for _ in range(rng.choice((1, 1, 2, 3, 4, 6, 9))):
            await bench.cycle(noisy, limit)
