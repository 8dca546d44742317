"""Hidden test of sequence_detector_programmable: all lengths, don't-cares, both ways of overlap."""

import random

import cocotb
from cocotb.triggers import Timer


class Bench:
    """The design beside a list of the bits received."""

    def __init__(self, dut):
        self.dut = dut
        self.running = False
        self.bits = []
        self.match = self.count = 0
        self.program = (0, 0xFF, 7, 1)

    async def cycle(self, bit=None, load=None, rst=0, junk=(0, 0, 0, 0)):
        """Present a bit (or none, then its level is 1), and the program `load` or else `junk`."""
        dut = self.dut
        dut.rst.value = rst
        dut.load.value = int(load is not None)
        for port, value in zip((dut.pattern, dut.care, dut.last_index, dut.overlap), load or junk, strict=True):
            port.value = value
        dut.in_valid.value = int(bit is not None)
        dut.in_bit.value = 1 if bit is None else bit
        await Timer(5, unit="ns")
        if self.running:
            armed = int(len(self.bits) >= self.program[2])
            seen = int(dut.match.value), int(dut.count.value), int(dut.armed.value)
            expected = self.match, self.count, armed
            assert seen == expected, f"match, count, armed {seen}, not {expected}; program {self.program}"
        self.follow(bit, load, rst)
        dut.clk.value = 1
        await Timer(5, unit="ns")
        dut.clk.value = 0

    def follow(self, bit, load, rst):
        self.match = 0
        if rst or load is not None:
            self.program = (0, 0xFF, 7, 1) if rst else load
            self.bits, self.count, self.running = [], 0, True
        elif bit is not None:
            self.bits.append(bit)
            pattern, care, last, overlap = self.program
            recent = self.bits[::-1][: last + 1]
            if len(recent) == last + 1 and all(
                not care >> k & 1 or pattern >> k & 1 == recent[k] for k in range(last + 1)
            ):
                self.match, self.count = 1, min(255, self.count + 1)
                if not overlap:
                    self.bits = []


async def started(dut):
    bench = Bench(dut)
    dut.clk.value = 0
    await bench.cycle(rst=1, bit=1, load=(1, 1, 0, 0))
    return bench


@cocotb.test()
async def program_after_reset(dut):
    """Eight zeros, overlapping."""
    bench = await started(dut)
    for bit in [0] * 7 + [1] + [0] * 10 + [1] + [0] * 8 + [1, 0, 0]:
        await bench.cycle(bit)
    await bench.cycle(load=(1, 1, 0, 0))
    await bench.cycle(1)
    await bench.cycle(1)
    await bench.cycle(1, rst=1)
    for bit in [0] * 10:
        await bench.cycle(bit)


@cocotb.test()
async def all_lengths(dut):
    """Each length with and without overlap, on streams that are full of the pattern."""
    rng = random.Random(1)
    bench = await started(dut)
    for last in range(8):
        for overlap in (0, 1):
            for pattern in (0xFF, 0x00, 0x55, rng.getrandbits(8)):
                await bench.cycle(load=(pattern, 0xFF, last, overlap), bit=pattern & 1)
                word = [pattern >> k & 1 for k in range(last, -1, -1)]
                for bit in word + word + word[1:] + [1 - word[0]] + word + [1 - word[-1]] + word:
                    if rng.random() < 0.2:
                        await bench.cycle()
                    await bench.cycle(bit, junk=(pattern ^ 0xFF, 0, 7 - last, 1 - overlap))


@cocotb.test()
async def one_wrong_bit(dut):
    """A wrong bit in any place that matters prevents a match; elsewhere it does not."""
    rng = random.Random(2)
    bench = await started(dut)
    for last in (7, 4, 1):
        for care in (0xFF, 0xA6, 0x00):
            pattern = rng.getrandbits(8)
            for place in range(last + 1):
                await bench.cycle(load=(pattern, care, last, 1))
                for k in range(last, -1, -1):
                    await bench.cycle(pattern >> k & 1 ^ int(k == place))
                await bench.cycle()


@cocotb.test()
async def count_stops(dut):
    """260 matches of one bit, counted up to 255; a load clears the count."""
    bench = await started(dut)
    await bench.cycle(load=(1, 1, 0, 0))
    for _ in range(260):
        await bench.cycle(1)
    assert bench.count == 255
    await bench.cycle(1, load=(1, 1, 0, 1))
    await bench.cycle(1)
    await bench.cycle()


@cocotb.test()
async def random_streams(dut):
    """Random programs, bits and pauses; loads and resets just after a match, too."""
    rng = random.Random(3)
    bench = await started(dut)
    for _ in range(1800):
        last = rng.choice((0, 1, 2, 2, 3, 4, 7))
        care = rng.choice((0xFF, 0xFF, rng.getrandbits(8)))
        junk = (rng.getrandbits(8), care, last, rng.randrange(2))
        load = junk if rng.random() < 0.03 else None
        bit = rng.randrange(2) if rng.random() < 0.8 else None
        await bench.cycle(bit, load, int(rng.random() < 0.003), junk)
