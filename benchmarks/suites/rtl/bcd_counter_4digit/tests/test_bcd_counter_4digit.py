"""Hidden test of bcd_counter_4digit: carries at every digit, every load, random controls."""

import random

import cocotb
from cocotb.triggers import Timer


def packed(number):
    return int(f"{number:04d}", 16)


def limited(load_digits):
    return int("".join(str(min(int(d, 16), 9)) for d in f"{load_digits:04x}"))


class Bench:
    """The design beside a number of our own."""

    def __init__(self, dut):
        self.dut = dut
        self.number = 0

    async def cycle(self, en=0, up=0, load=0, load_digits=0, clear=0):
        dut = self.dut
        dut.en.value = en
        dut.up.value = up
        dut.load.value = load
        dut.load_digits.value = load_digits
        dut.clear.value = clear
        await Timer(5, unit="ns")
        self.check(en and not load and not clear and self.number == (9999 if up else 0))
        if clear:
            self.number = 0
        elif load:
            self.number = limited(load_digits)
        elif en:
            self.number = (self.number + (1 if up else -1)) % 10000
        dut.clk.value = 1
        await Timer(5, unit="ns")
        dut.clk.value = 0

    def check(self, carry):
        seen = f"{int(self.dut.digits.value):04x}", int(self.dut.carry.value), int(self.dut.at_zero.value)
        expected = f"{self.number:04d}", int(carry), int(self.number == 0)
        assert seen == expected, f"digits, carry, at_zero {seen}, not {expected}"

    async def reset(self):
        """Reset in the middle of a cycle; an edge in reset changes nothing."""
        dut = self.dut
        # From 1, because Verilator's inputs are 0 from the start: no edge, no asynchronous reset.
        dut.clk.value = 0
        dut.rst_n.value = 1
        await Timer(1, unit="ns")
        dut.rst_n.value = 0
        dut.en.value = 1
        dut.up.value = 1
        dut.load.value = 1
        dut.load_digits.value = 0x1234
        dut.clear.value = 0
        for clk in (0, 1, 0):
            dut.clk.value = clk
            await Timer(2, unit="ns")
            self.number = 0
            self.check(0)
        dut.load.value = 0
        dut.up.value = 0
        await Timer(2, unit="ns")
        self.check(1)
        dut.rst_n.value = 1


async def started(dut):
    bench = Bench(dut)
    await bench.reset()
    return bench


@cocotb.test()
async def carries(dut):
    """Over every boundary of a digit, up and down, with pauses."""
    bench = await started(dut)
    for number in (8, 9, 98, 99, 998, 999, 9998, 9999, 4999, 1899, 8099, 1989, 5555, 0):
        await bench.cycle(load=1, load_digits=packed(number), en=1, up=1)
        for up in (1, 1, 1, 0, 0, 0, 0, 1):
            await bench.cycle(en=1, up=up)
            await bench.cycle(en=0, up=up)
    await bench.cycle(load=1, load_digits=packed(9985), en=1, up=1)
    for up in [1] * 130 + [0] * 160:
        await bench.cycle(en=1, up=up)


@cocotb.test()
async def loads(dut):
    """Digits above 9 in each place; clear wins over load, and load over en."""
    bench = await started(dut)
    for place in range(4):
        for digit in range(16):
            await bench.cycle(load=1, load_digits=(0x2222 ^ 2 << 4 * place) | digit << 4 * place, en=digit & 1, up=1)
    for number in (0, 9999):
        for controls in range(16):
            await bench.cycle(load=1, load_digits=packed(number))
            en, up, load, clear = (controls >> k & 1 for k in range(4))
            await bench.cycle(en, up, load, 0xFA37, clear)
            await bench.cycle()


@cocotb.test()
async def reset_at_any_time(dut):
    """Reset is asynchronous."""
    bench = await started(dut)
    for number in (9999, 1, 8000):
        await bench.cycle(load=1, load_digits=packed(number))
        await bench.cycle(en=1, up=0)
        await bench.reset()
        await bench.cycle(en=1, up=1)


@cocotb.test()
async def random_controls(dut):
    """All controls at random."""
    rng = random.Random(1)
    bench = await started(dut)
    for _ in range(1200):
        load_digits = rng.choice((rng.getrandbits(16), 0x9999, 0x0000, 0x0999, 0x9990, 0xFFFF, 0x0001))
        await bench.cycle(rng.random() < 0.8, rng.random() < 0.5, rng.random() < 0.1, load_digits, rng.random() < 0.02)
