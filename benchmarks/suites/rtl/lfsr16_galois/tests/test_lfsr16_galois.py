"""Hidden test of lfsr16_galois: every cycle against single steps in Python."""

import random

import cocotb
from cocotb.triggers import Timer


def step(state):
    return state >> 1 ^ (0xB400 if state & 1 else 0)


class Bench:
    """The design beside a register of our own."""

    def __init__(self, dut):
        self.dut = dut
        self.state = None
        self.seed = 1
        self.bits = 0
        self.valid = 0

    async def cycle(self, rst=0, en=0, speed=0, load=0, seed=0):
        dut = self.dut
        dut.rst.value = rst
        dut.en.value = en
        dut.speed.value = speed
        dut.load.value = load
        dut.seed.value = seed
        await Timer(5, unit="ns")
        if self.state is not None:
            seen = tuple(int(p.value) for p in (dut.state, dut.out_bits, dut.out_valid, dut.at_seed))
            expected = self.state, self.bits, self.valid, int(self.state == self.seed)
            assert seen == expected, f"state, out_bits, out_valid, at_seed {seen}, not {expected}"
        self.follow(rst, en, speed, load, seed)
        dut.clk.value = 1
        await Timer(5, unit="ns")
        dut.clk.value = 0

    def follow(self, rst, en, speed, load, seed):
        self.bits = self.valid = 0
        if rst:
            self.state = self.seed = 1
        elif load:
            self.state = self.seed = seed or 1
        elif en:
            self.valid = 1
            for k in range(1 << speed):
                self.bits |= (self.state & 1) << k
                self.state = step(self.state)


async def started(dut):
    bench = Bench(dut)
    dut.clk.value = 0
    await bench.cycle(rst=1, en=1, speed=3, load=1, seed=0xFFFF)
    return bench


@cocotb.test()
async def each_speed(dut):
    """A stretch at each speed, from several seeds."""
    bench = await started(dut)
    for _ in range(20):
        await bench.cycle(en=1)
    for speed in (0, 1, 2, 3):
        for seed in (0x8000, 0xFFFF, 0x0002, 0xACE1):
            await bench.cycle(load=1, seed=seed, en=1, speed=speed)
            for _ in range(20):
                await bench.cycle(en=1, speed=speed)
            await bench.cycle(speed=speed)
            await bench.cycle(speed=speed)


@cocotb.test()
async def seeds(dut):
    """A seed of 0; the seed is met again only where it should be."""
    bench = await started(dut)
    await bench.cycle()
    await bench.cycle(en=1, speed=2)
    await bench.cycle(load=1, seed=0)
    await bench.cycle()
    await bench.cycle(en=1, speed=1)
    for bit in range(16):
        await bench.cycle(load=1, seed=1 << bit)
        await bench.cycle(en=1)
        await bench.cycle()
    # Into a state whose neighbours are at one bit's distance from the seed.
    await bench.cycle(load=1, seed=0x1234)
    await bench.cycle(rst=1, load=1, seed=0x1234)
    await bench.cycle()
    await bench.cycle(load=1, seed=0xFFFF, en=1)
    await bench.cycle(rst=1, en=1)
    await bench.cycle()


@cocotb.test()
async def whole_period(dut):
    """After 65535 steps, and not before, the seed comes back."""
    bench = await started(dut)
    for _ in range(65535 // 8):
        await bench.cycle(en=1, speed=3)
    for speed in (2, 1, 0, 0, 0):
        await bench.cycle(en=1, speed=speed)
    await bench.cycle()


@cocotb.test()
async def random_controls(dut):
    """All controls at random."""
    rng = random.Random(1)
    bench = await started(dut)
    for _ in range(1000):
        seed = rng.choice((0, 1, rng.getrandbits(16)))
        await bench.cycle(rng.random() < 0.02, rng.random() < 0.7, rng.randrange(4), rng.random() < 0.1, seed)
