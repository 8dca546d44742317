"""Hidden test of gray_counter: full rounds both ways, loads of every code, random controls."""

import random

import cocotb
from cocotb.triggers import Timer


def gray_of(number):
    return number ^ number >> 1


NUMBER_OF = {gray_of(n): n for n in range(256)}


class Bench:
    """The design beside a count of our own."""

    def __init__(self, dut):
        self.dut = dut
        self.count = None
        self.wrapped = 0

    async def cycle(self, rst=0, en=0, up=0, load=0, load_gray=0):
        dut = self.dut
        dut.rst.value = rst
        dut.en.value = en
        dut.up.value = up
        dut.load.value = load
        dut.load_gray.value = load_gray
        await Timer(5, unit="ns")
        if self.count is not None:
            seen = int(dut.binary.value), int(dut.gray.value), int(dut.wrapped.value)
            expected = self.count, gray_of(self.count), self.wrapped
            assert seen == expected, f"binary, gray, wrapped {seen}, not {expected}"
        self.follow(rst, en, up, load, load_gray)
        dut.clk.value = 1
        await Timer(5, unit="ns")
        dut.clk.value = 0

    def follow(self, rst, en, up, load, load_gray):
        before, self.wrapped = self.count, 0
        if rst:
            self.count = 0
        elif load:
            self.count = NUMBER_OF[load_gray]
        elif en:
            self.count = (before + (1 if up else -1)) % 256
            self.wrapped = int((before, self.count) in ((255, 0), (0, 255)))


async def started(dut):
    bench = Bench(dut)
    dut.clk.value = 0
    await bench.cycle(rst=1, en=1, up=1, load=1, load_gray=77)
    await bench.cycle(rst=1, en=1, up=0, load=1, load_gray=77)
    return bench


@cocotb.test()
async def rounds(dut):
    """A full round up, one down, and to and fro over the ends."""
    bench = await started(dut)
    await bench.cycle()
    for _ in range(260):
        await bench.cycle(en=1, up=1)
    for _ in range(266):
        await bench.cycle(en=1, up=0)
    for up in (1, 1, 0, 0, 1, 0, 1, 1, 0) * 2:
        await bench.cycle(en=1, up=up)
        await bench.cycle(en=0, up=up)
    for up in (1, 0):
        await bench.cycle(rst=1)
        await bench.cycle(en=0, up=up)
        await bench.cycle(en=1, up=0)
        await bench.cycle(en=0, up=1)


@cocotb.test()
async def loads(dut):
    """Every code, with and without `en`; a load at the ends does not wrap."""
    bench = await started(dut)
    for code in range(256):
        await bench.cycle(load=1, load_gray=code, en=code & 1, up=code >> 1 & 1)
    for up in (0, 1):
        for en in (0, 1):
            await bench.cycle(load=1, load_gray=gray_of(255 if up else 0))
            await bench.cycle(load=1, load_gray=gray_of(0 if up else 255), en=en, up=up)
            await bench.cycle(rst=1, en=en, up=up)
            await bench.cycle(load=1, load_gray=gray_of(255 if up else 0))
            await bench.cycle(rst=1, en=1, up=up)
            await bench.cycle(en=en, up=up)
    await bench.cycle()


@cocotb.test()
async def random_controls(dut):
    """All controls at random, mostly near the ends."""
    rng = random.Random(1)
    bench = await started(dut)
    for _ in range(1500):
        near = rng.choice((254, 255, 0, 1, rng.randrange(256)))
        load = rng.random() < 0.15
        await bench.cycle(rng.random() < 0.02, rng.random() < 0.7, rng.randrange(2), load, gray_of(near))
