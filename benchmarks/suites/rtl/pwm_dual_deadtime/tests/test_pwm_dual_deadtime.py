"""Hidden test of pwm_dual_deadtime: both sides in every cycle beside the rules."""

import random

import cocotb
from cocotb.triggers import Timer


class Bench:
    """The design beside a model of the rules."""

    def __init__(self, dut):
        self.dut = dut
        self.settings = (9, 4, 1)
        self.clear()

    def clear(self):
        self.count = self.run = self.high = self.low = self.tripped = 0
        self.p = self.w = self.t = 0
        self.wanted = None

    def check(self, enable):
        dut = self.dut
        seen = tuple(int(v.value) for v in (dut.high_side, dut.low_side, dut.period_end, dut.tripped))
        expected = self.high, self.low, int(enable and self.count == self.p), self.tripped
        state = f"count {self.count}, P, W, T {self.p, self.w, self.t}, run {self.run}"
        assert seen == expected, f"high_side, low_side, period_end, tripped {seen}, not {expected}: {state}"

    async def cycle(self, enable=1, fault=0, clear=0):
        dut = self.dut
        dut.enable.value = enable
        dut.period.value, dut.duty.value, dut.dead.value = self.settings
        dut.fault.value = fault
        dut.fault_clear.value = clear
        await Timer(5, unit="ns")
        self.check(enable)
        wanted = None if not enable else "high" if self.count < self.w else "low"
        self.run = 0 if wanted is None else self.run + 1 if wanted == self.wanted else 1
        self.wanted = wanted
        self.tripped = int(fault or (self.tripped and not clear))
        on = self.run > self.t and not self.tripped
        self.high, self.low = int(on and wanted == "high"), int(on and wanted == "low")
        if not enable or self.count == self.p:
            self.count, (self.p, self.w, self.t) = 0, self.settings
        else:
            self.count += 1
        dut.clk.value = 1
        await Timer(5, unit="ns")
        dut.clk.value = 0

    async def reset(self):
        dut = self.dut
        # From 1, because Verilator's inputs are 0 from the start: no edge, no asynchronous reset.
        dut.clk.value = 0
        dut.rst_n.value = 1
        await Timer(1, unit="ns")
        dut.rst_n.value = 0
        dut.enable.value = 0
        dut.period.value, dut.duty.value, dut.dead.value = 7, 7, 7
        dut.fault.value = 1
        dut.fault_clear.value = 0
        for clk in (0, 1, 0):
            dut.clk.value = clk
            await Timer(2, unit="ns")
            self.clear()
            self.check(0)
        dut.enable.value = 1
        await Timer(2, unit="ns")
        self.check(1)
        dut.rst_n.value = 1


async def started(dut):
    bench = Bench(dut)
    await bench.reset()
    return bench


@cocotb.test()
async def dead_times(dut):
    """Each dead time, with runs that are longer, as long, and shorter."""
    bench = await started(dut)
    for dead in range(16):
        for duty in (dead, dead + 1, 20):
            bench.settings = (dead + 21, duty, dead)
            await bench.cycle(enable=0)
            for _ in range(2 * (dead + 22) + 3):
                await bench.cycle()


@cocotb.test()
async def ends_of_the_duty(dut):
    """Never high, always high, and one cycle away from either; a period of one cycle."""
    bench = await started(dut)
    for period, dead in ((9, 0), (9, 2), (0, 0), (0, 3), (1, 0)):
        for duty in (0, 1, period, period + 1, 255):
            bench.settings = (period, duty, dead)
            for _ in range(3 * (period + 1) + 5):
                await bench.cycle()


@cocotb.test()
async def longest_period(dut):
    """256 cycles, with a run that is far longer than any dead time."""
    bench = await started(dut)
    for settings in ((255, 128, 15), (255, 255, 0), (200, 255, 15)):
        bench.settings = settings
        await bench.cycle(enable=0)
        for _ in range(530):
            await bench.cycle()


@cocotb.test()
async def straight_from_reset(dut):
    """Enabled at once: P, W and T are 0, so that the first cycle is low and a period of its own."""
    bench = await started(dut)
    bench.settings = (3, 2, 0)
    for _ in range(3):
        for _ in range(10):
            await bench.cycle()
        await bench.reset()
    for cycles in range(1, 8):
        bench.settings = (5, 3, 1)
        for _ in range(cycles + 2):
            await bench.cycle()
        await bench.reset()


@cocotb.test()
async def faults(dut):
    """A fault and its clearing in each cycle of a period; clearing while the fault lasts does not help."""
    bench = await started(dut)
    bench.settings = (11, 6, 2)
    await bench.cycle(enable=0)
    for when in range(12):
        for length, wait in ((1, 1), (3, 7)):
            for k in range(24):
                fault = when <= k < when + length
                await bench.cycle(fault=fault, clear=(fault and k != when) or k == when + length + wait)


@cocotb.test()
async def enable_drops(dut):
    """Switched off and on again at each point of a period: no run survives it."""
    bench = await started(dut)
    bench.settings = (9, 5, 3)
    for when in range(1, 14):
        for _ in range(when):
            await bench.cycle()
        for _ in range(1 + when % 2):
            await bench.cycle(enable=0, fault=when == 7, clear=when == 8)
    await bench.cycle(clear=1)


@cocotb.test()
async def random_settings(dut):
    """Settings that change in the middle of periods, faults and pauses."""
    rng = random.Random(1)
    bench = await started(dut)
    for _ in range(1500):
        if rng.random() < 0.2:
            bench.settings = (rng.choice((0, 3, 8, 20)), rng.choice((0, 1, 2, 5, 9, 15, 30)), rng.choice((0, 1, 2, 6)))
        await bench.cycle(rng.random() < 0.97, rng.random() < 0.02, rng.random() < 0.2)
