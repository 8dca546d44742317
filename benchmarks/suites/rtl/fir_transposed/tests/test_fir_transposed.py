"""Hidden test of fir_transposed: every cycle, against a model that remembers which coefficient each product had."""

import random

import cocotb
from cocotb.triggers import Timer

ENDS = (-128, -127, -1, 0, 1, 127)


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


class Filter:
    """The model: for each accepted sample, its eight products."""

    def __init__(self):
        self.coefs = [0] * 8
        self.products = []
        self.valid = self.result = 0

    def clock(self, write, clear, sample):
        """Take one edge; write is (index, value) or None, sample a number or None."""
        if clear:
            self.products = []
        self.valid = int(sample is not None)
        if sample is not None:
            self.products = [[c * sample for c in self.coefs], *self.products[:7]]
            self.result = sum(made[k] for k, made in enumerate(self.products))
        if write is not None:
            self.coefs[write[0]] = write[1]


async def cycle(dut, model, rng, write=None, clear=0, sample=None, rst=0):
    """Drive one cycle, compare the outputs before its edge, and clock."""
    dut.rst.value = rst
    dut.coef_write.value = int(write is not None)
    index, value = write if write is not None else (rng.randrange(8), rng.randrange(256))
    dut.coef_index.value = index
    dut.coef.value = value & 0xFF
    dut.clear.value = clear
    dut.in_valid.value = int(sample is not None)
    dut.sample.value = (rng.randrange(256) if sample is None else sample) & 0xFF
    await Timer(4, unit="ns")
    assert int(dut.out_valid.value) == model.valid, "out_valid"
    assert int(dut.result.value) == model.result & 0x7FFFF, f"result {int(dut.result.value):#x}, not {model.result}"
    await edge(dut)
    if rst:
        model.__init__()
    else:
        model.clock(write, clear, sample)


async def reset(dut):
    dut.clk.value = 0
    dut.rst.value = 1
    for port in (dut.coef_write, dut.coef_index, dut.coef, dut.clear, dut.in_valid, dut.sample):
        port.value = 1
    for _ in range(2):
        await Timer(4, unit="ns")
        await edge(dut)
    return Filter()


@cocotb.test()
async def impulse(dut):
    """Coefficients come out one after the other; the first cycles after reset give 0."""
    rng = random.Random(1)
    model = await reset(dut)
    for _ in range(9):
        await cycle(dut, model, rng, sample=rng.choice(ENDS))
    for k in range(8):
        await cycle(dut, model, rng, write=(k, 10 * k - 33))
    for sample in (1, *[0] * 9, -128, *[0] * 9):
        await cycle(dut, model, rng, sample=sample)
    await cycle(dut, model, rng)


@cocotb.test()
async def full_range(dut):
    """The largest sums of either sign."""
    rng = random.Random(2)
    for coef, sample in ((-128, -128), (-128, 127), (127, -128), (127, 127)):
        model = await reset(dut)
        for k in range(8):
            await cycle(dut, model, rng, write=(k, coef))
        for _ in range(10):
            await cycle(dut, model, rng, sample=sample)
        await cycle(dut, model, rng)


@cocotb.test()
async def changes_and_clears(dut):
    """Coefficients written between and with samples, clears with and without a sample."""
    rng = random.Random(3)
    model = await reset(dut)
    for k in range(8):
        await cycle(dut, model, rng, write=(k, rng.randint(-128, 127)))
    for k in range(1500):
        write = (rng.randrange(8), rng.choice([*ENDS, rng.randint(-128, 127)])) if rng.randrange(4) == 0 else None
        clear = int(rng.randrange(25) == 0)
        sample = (
            rng.choice([*ENDS, rng.randint(-128, 127)]) if rng.randrange(100) < (90 if k % 200 < 100 else 40) else None
        )
        await cycle(dut, model, rng, write, clear, sample, rst=int(k in (500, 501, 1000)))
