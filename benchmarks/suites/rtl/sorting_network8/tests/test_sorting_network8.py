"""Hidden test of sorting_network8: a stream of sets against sorted(), at whatever constant latency."""

import itertools
import random

import cocotb
from cocotb.triggers import Timer

MAX_LATENCY = 8


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


def packed(values, width):
    return sum(value << width * k for k, value in enumerate(values))


def result(values, descending):
    """Return out_values and out_lanes; sorted() is stable, also with reverse."""
    order = sorted(range(8), key=lambda k: values[k], reverse=bool(descending))
    return packed([values[k] for k in order], 8), packed(order, 3)


class Bench:
    """Drives sets and compares what comes out, cycle by cycle."""

    def __init__(self, dut):
        self.dut = dut
        self.rng = random.Random(7)
        self.cycle = 0
        self.latency = None
        self.inside = []

    async def step(self, values=None, descending=None, rst=0):
        """Run one cycle, with a set or without."""
        dut, rng = self.dut, self.rng
        offered = values is not None
        values = values if offered else [rng.randrange(256) for _ in range(8)]
        descending = rng.randrange(2) if descending is None else descending
        dut.rst.value = rst
        dut.in_valid.value = int(offered)
        dut.descending.value = descending
        dut.in_values.value = packed(values, 8)
        await Timer(4, unit="ns")
        if self.cycle:
            self.look()
        if rst:
            self.inside = []
        elif offered:
            self.inside.append((self.cycle, values, descending))
        await edge(dut)
        self.cycle += 1

    def look(self):
        """Compare the outputs of this cycle."""
        dut = self.dut
        valid = int(dut.out_valid.value)
        if self.latency is None and valid:
            assert self.inside, "out_valid without a set"
            self.latency = self.cycle - self.inside[0][0]
            assert 1 <= self.latency <= MAX_LATENCY, f"a latency of {self.latency}"
        due = bool(self.inside) and self.cycle - self.inside[0][0] == (self.latency or MAX_LATENCY)
        assert valid == int(due), f"out_valid is {valid} in cycle {self.cycle}"
        if due:
            _, values, descending = self.inside.pop(0)
            seen = int(dut.out_values.value), int(dut.out_lanes.value)
            assert seen == result(values, descending), f"{values}, descending={descending}: {seen}"


async def started(dut):
    dut.clk.value = 0
    bench = Bench(dut)
    await bench.step([1, 2, 3, 4, 5, 6, 7, 8], 0, rst=1)
    await bench.step([1, 2, 3, 4, 5, 6, 7, 8], 0, rst=1)
    for _ in range(MAX_LATENCY + 1):
        await bench.step()
    await bench.step([3, 1, 3, 0, 255, 3, 1, 200], 0)
    for _ in range(MAX_LATENCY + 1):
        await bench.step()
    assert bench.latency is not None, "nothing came out"
    return bench


@cocotb.test()
async def all_zero_one_sets(dut):
    """All sets of two values: a network that sorts them sorts everything; stability shows in the lanes."""
    bench = await started(dut)
    for bits in itertools.product((0, 1), repeat=8):
        low, high = sorted(bench.rng.sample(range(256), 2))
        await bench.step([high if b else low for b in bits], bench.rng.randrange(2))
    for _ in range(MAX_LATENCY):
        await bench.step()


@cocotb.test()
async def random_sets(dut):
    """Random sets with few and many equal values, ordered ones, pauses."""
    bench = await started(dut)
    rng = bench.rng
    for _ in range(600):
        top = rng.choice([2, 4, 16, 256, 256])
        values = [rng.randrange(top) for _ in range(8)]
        kind = rng.randrange(6)
        values = sorted(values) if kind == 0 else sorted(values, reverse=True) if kind == 1 else values
        await bench.step(values if rng.randrange(5) else None)
    for _ in range(MAX_LATENCY):
        await bench.step()


@cocotb.test()
async def reset_forgets(dut):
    """A reset while sets are inside."""
    bench = await started(dut)
    for sets in range(1, 10):
        for _ in range(sets):
            await bench.step([bench.rng.randrange(256) for _ in range(8)])
        await bench.step([9] * 8, rst=1)
        for _ in range(sets):
            await bench.step()
        await bench.step([bench.rng.randrange(256) for _ in range(8)])
        for _ in range(MAX_LATENCY):
            await bench.step()
