"""Hidden test of skid_buffer: every cycle beside a list, and no path from input to output."""

import random

import cocotb
from cocotb.triggers import Timer


class Bench:
    """The design beside a list of at most two beats."""

    def __init__(self, dut):
        self.dut = dut
        self.beats = []

    def check(self):
        dut, held = self.dut, len(self.beats)
        seen = int(dut.held.value), int(dut.in_ready.value), int(dut.out_valid.value)
        expected = held, int(held < 2), int(held > 0)
        assert seen == expected, f"held, in_ready, out_valid {seen}, not {expected}"
        if held:
            beat = int(dut.out_data.value), int(dut.out_last.value)
            assert beat == self.beats[0], f"out_data, out_last {beat}, not {self.beats[0]}"

    async def cycle(self, beat=None, take=0, flicker=False):
        """One cycle; with `flicker` the inputs are first set the other way, and seen to have no effect at once."""
        dut = self.dut
        if flicker:
            dut.in_valid.value = int(beat is None)
            dut.in_data.value = 0x1234
            dut.in_last.value = 1
            dut.out_ready.value = 1 - take
            await Timer(2, unit="ns")
            self.check()
        dut.in_valid.value = int(beat is not None)
        dut.in_data.value, dut.in_last.value = beat or (0xEEEE, 0)
        dut.out_ready.value = take
        await Timer(3, unit="ns")
        self.check()
        room = len(self.beats) < 2
        if take and self.beats:
            self.beats.pop(0)
        if beat is not None and room:
            self.beats.append(beat)
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
        dut.in_valid.value = 1
        dut.in_data.value = 0x7777
        dut.in_last.value = 1
        dut.out_ready.value = 0
        for clk in (0, 1, 0):
            dut.clk.value = clk
            await Timer(2, unit="ns")
            self.beats = []
            self.check()
        dut.rst_n.value = 1


def beats_of(rng):
    return rng.getrandbits(16), rng.randrange(2)


async def started(dut):
    bench = Bench(dut)
    await bench.reset()
    return bench


@cocotb.test()
async def all_moves(dut):
    """Each number of beats held, with each pair of handshakes, seen from the next cycles on."""
    rng = random.Random(1)
    bench = await started(dut)
    await bench.cycle()
    for held in (0, 1, 2):
        for offered in (0, 1):
            for take in (0, 1):
                for _ in range(3):
                    while len(bench.beats) < held:
                        await bench.cycle(beats_of(rng))
                    await bench.cycle(beats_of(rng) if offered else None, take, flicker=True)
                    await bench.cycle()
                    while bench.beats:
                        await bench.cycle(take=1)


@cocotb.test()
async def full_rate(dut):
    """A beat in every cycle, then a stop on either side."""
    rng = random.Random(2)
    bench = await started(dut)
    for stop in range(5):
        for _ in range(30):
            await bench.cycle(beats_of(rng), take=1)
        for _ in range(stop):
            await bench.cycle(beats_of(rng), take=0)
        for _ in range(4):
            await bench.cycle(beats_of(rng), take=1)
        for _ in range(stop):
            await bench.cycle(None, take=1)


@cocotb.test()
async def reset_at_any_time(dut):
    """Reset with 0, 1 and 2 beats stored: they are gone."""
    rng = random.Random(3)
    bench = await started(dut)
    for held in (0, 1, 2, 2, 1):
        while len(bench.beats) < held:
            await bench.cycle(beats_of(rng))
        await bench.reset()
        await bench.cycle(None, take=1)
        await bench.cycle(beats_of(rng))
        await bench.cycle()
        await bench.cycle(None, take=1)


@cocotb.test()
async def random_traffic(dut):
    """Random handshakes in several proportions."""
    rng = random.Random(4)
    bench = await started(dut)
    for phase in range(24):
        offers, takes = ((0.9, 0.3), (0.3, 0.9), (0.7, 0.7))[phase % 3]
        for _ in range(40):
            beat = beats_of(rng) if rng.random() < offers else None
            await bench.cycle(beat, rng.random() < takes, flicker=rng.random() < 0.2)
