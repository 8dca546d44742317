"""Hidden test of clock_divider_fractional: every cycle beside the rules, and the rates over whole rounds."""

import random

import cocotb
from cocotb.triggers import Timer


class Bench:
    """The design beside a model of the rules."""

    def __init__(self, dut):
        self.dut = dut
        self.n = None
        self.d = self.phase = self.tick = self.div_clk = 0

    async def cycle(self, en=1, load=None, rst=0):
        """One cycle; without `load` the divider's inputs show other numbers."""
        dut = self.dut
        dut.en.value = en
        dut.load.value = int(load is not None)
        dut.num.value, dut.den.value = load or (self.d ^ 0x55, (self.n or 0) ^ 0xFF)
        dut.rst.value = rst
        await Timer(5, unit="ns")
        if self.n is not None:
            seen = int(dut.tick.value), int(dut.div_clk.value), int(dut.phase.value)
            expected = self.tick, self.div_clk, self.phase
            assert seen == expected, f"tick, div_clk, phase {seen}, not {expected} with {self.n}/{self.d}"
        self.follow(en, load, rst)
        dut.clk.value = 1
        await Timer(5, unit="ns")
        dut.clk.value = 0

    def follow(self, en, load, rst):
        self.tick = 0
        if rst:
            self.n, self.d, self.phase, self.div_clk = 1, 2, 0, 0
        elif load is not None:
            (self.n, self.d), self.phase = load, 0
        elif en:
            self.phase += self.n
            self.tick = int(self.phase >= self.d or self.n >= self.d)
            if self.tick:
                self.phase = 0 if self.n >= self.d else self.phase - self.d
                self.div_clk ^= 1


async def started(dut):
    bench = Bench(dut)
    dut.clk.value = 0
    await bench.cycle(rst=1, load=(3, 3))
    return bench


@cocotb.test()
async def after_reset(dut):
    """Half the clock's rate; reset in both phases of the divided clock."""
    bench = await started(dut)
    for cycles in (10, 4, 5, 6, 7, 8):
        for _ in range(cycles):
            await bench.cycle()
        await bench.cycle(rst=1, load=(200, 201))
        await bench.cycle(en=0)


@cocotb.test()
async def rates(dut):
    """Whole rounds of several fractions: exactly N ticks in D cycles."""
    bench = await started(dut)
    for n, d in ((1, 3), (2, 3), (3, 7), (5, 8), (1, 255), (254, 255), (128, 255), (127, 254), (100, 199), (1, 1)):
        await bench.cycle(load=(n, d))
        ticks = 0
        for _ in range(d):
            await bench.cycle()
            ticks += bench.tick
        assert ticks == n


@cocotb.test()
async def degenerate_fractions(dut):
    """N or D of 0, N equal to D, N above D."""
    bench = await started(dut)
    for load in ((0, 1), (0, 0), (5, 0), (0, 255), (9, 9), (255, 255), (255, 254), (10, 9), (200, 3), (1, 2), (255, 0)):
        await bench.cycle(load=(3, 5))
        for _ in range(3):
            await bench.cycle()
        await bench.cycle(load=load)
        for k in range(9):
            await bench.cycle(en=int(k != 4))


@cocotb.test()
async def random_fractions(dut):
    """Random fractions, pauses, loads and resets."""
    rng = random.Random(1)
    bench = await started(dut)
    for _ in range(1800):
        load = None
        if rng.random() < 0.04:
            d = rng.choice((rng.randrange(256), rng.randrange(12), 255))
            load = rng.choice((rng.randrange(d + 1), rng.randrange(256))), d
        await bench.cycle(rng.random() < 0.85, load, rng.random() < 0.005)
