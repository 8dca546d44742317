"""Hidden test of pulse_stretcher: pulses of every kind, triggers in each of their cycles."""

import random

import cocotb
from cocotb.triggers import Timer


class Bench:
    """The design beside a model of the rules."""

    def __init__(self, dut):
        self.dut = dut
        self.remaining = self.missed = 0

    def check(self):
        dut, r = self.dut, self.remaining
        seen = tuple(int(p.value) for p in (dut.pulse, dut.last, dut.remaining, dut.missed))
        expected = int(r > 0), int(r == 1), r, self.missed
        assert seen == expected, f"pulse, last, remaining, missed {seen}, not {expected}"

    async def cycle(self, trigger=0, length=0, extend=0, cancel=0):
        dut = self.dut
        dut.trigger.value = trigger
        dut.length.value = length
        dut.extend.value = extend
        dut.cancel.value = cancel
        await Timer(5, unit="ns")
        self.check()
        if cancel:
            self.remaining = 0
        elif trigger and (extend or not self.remaining):
            self.remaining = length
        elif self.remaining:
            self.remaining -= 1
            self.missed = min(15, self.missed + int(trigger))
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
        dut.trigger.value = 1
        dut.length.value = 9
        dut.extend.value = 1
        dut.cancel.value = 0
        for clk in (0, 1, 0):
            dut.clk.value = clk
            await Timer(2, unit="ns")
            self.remaining = self.missed = 0
            self.check()
        dut.rst_n.value = 1


async def started(dut):
    bench = Bench(dut)
    await bench.reset()
    return bench


@cocotb.test()
async def lengths(dut):
    """Pulses of several lengths, up to 255."""
    bench = await started(dut)
    await bench.cycle()
    for length in (1, 2, 3, 0, 8, 255, 128, 64):
        await bench.cycle(trigger=1, length=length)
        for _ in range(length + 2):
            await bench.cycle(length=5)


@cocotb.test()
async def second_trigger(dut):
    """A second trigger in each cycle of a pulse and around it, extending or not, with and without cancel."""
    bench = await started(dut)
    for extend in (0, 1):
        for cancel in (0, 1):
            for when in range(6):
                for length in (0, 1, 3):
                    await bench.cycle(trigger=1, length=4, extend=extend)
                    for k in range(9):
                        await bench.cycle(k == when, length, extend, cancel and k == when)
        await bench.reset()


@cocotb.test()
async def lost_triggers(dut):
    """Seventeen are lost, fifteen are counted; a cancel neither counts nor clears."""
    bench = await started(dut)
    await bench.cycle(trigger=1, length=30)
    for k in range(17):
        await bench.cycle(trigger=1, length=9)
        await bench.cycle(trigger=0, length=9)
        if k == 5:
            await bench.cycle(trigger=1, length=9, cancel=1)
            await bench.cycle(trigger=1, length=60)
    assert bench.missed == 15
    await bench.cycle(cancel=1)
    await bench.cycle()
    await bench.reset()
    await bench.cycle()


@cocotb.test()
async def held_trigger(dut):
    """A level of 1 gives pulse after pulse."""
    bench = await started(dut)
    for extend in (0, 1):
        for length in (1, 2, 5):
            for _ in range(14):
                await bench.cycle(trigger=1, length=length, extend=extend)
            for _ in range(6):
                await bench.cycle()


@cocotb.test()
async def random_controls(dut):
    """All controls at random, with a reset now and then."""
    rng = random.Random(1)
    bench = await started(dut)
    for _ in range(1500):
        if rng.random() < 0.01:
            await bench.reset()
        length = rng.choice((0, 1, 2, 3, 4, 6, 255))
        await bench.cycle(rng.random() < 0.3, length, rng.randrange(2), rng.random() < 0.05)
