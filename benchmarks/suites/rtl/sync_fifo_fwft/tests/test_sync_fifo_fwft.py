"""Hidden test of sync_fifo_fwft: every output in every cycle beside a Python list."""

import random

import cocotb
from cocotb.triggers import Timer


class Bench:
    """The design beside a list of words."""

    def __init__(self, dut):
        self.dut = dut
        self.words = None
        self.peak = 0

    def check(self, threshold):
        dut, level = self.dut, len(self.words)
        ports = dut.level, dut.in_ready, dut.out_valid, dut.almost_full, dut.peak
        seen = tuple(int(p.value) for p in ports)
        expected = level, int(level < 16), int(level > 0), int(level >= threshold), self.peak
        assert seen == expected, f"level, in_ready, out_valid, almost_full, peak {seen}, not {expected}"
        if level:
            assert int(dut.out_data.value) == self.words[0], f"out_data is not the oldest of {self.words}"

    async def cycle(self, word=None, take=0, flush=0, rst=0, threshold=16):
        dut = self.dut
        dut.in_valid.value = int(word is not None)
        dut.in_data.value = 0xEE if word is None else word
        dut.out_ready.value = take
        dut.flush.value = flush
        dut.rst.value = rst
        dut.threshold.value = threshold
        await Timer(5, unit="ns")
        if self.words is not None:
            self.check(threshold)
        self.follow(word, take, flush or rst)
        dut.clk.value = 1
        await Timer(5, unit="ns")
        dut.clk.value = 0

    def follow(self, word, take, emptied):
        if emptied:
            self.words, self.peak = [], 0
            return
        room = len(self.words) < 16
        if take and self.words:
            self.words.pop(0)
        if word is not None and room:
            self.words.append(word)
        self.peak = max(self.peak, len(self.words))


async def started(dut):
    bench = Bench(dut)
    dut.clk.value = 0
    await bench.cycle(word=1, take=1, rst=1)
    return bench


@cocotb.test()
async def fill_and_drain(dut):
    """Past full and past empty, several times around, with each threshold at each level."""
    bench = await started(dut)
    word = 0
    for _ in range(2):
        for take in (0, 1):
            for _ in range(19):
                for threshold in (0, len(bench.words), len(bench.words) + 1, 31):
                    await bench.cycle(threshold=threshold)
                word += 1
                await bench.cycle(None if take else word % 256, take)


@cocotb.test()
async def both_at_once(dut):
    """A read and a write at the same edge, on an empty, a half-full and a full FIFO."""
    rng = random.Random(1)
    bench = await started(dut)
    for fill in (0, 1, 7, 15, 16):
        while len(bench.words) < fill:
            await bench.cycle(rng.randrange(256))
        for _ in range(20):
            await bench.cycle(rng.randrange(256), take=1)
        while bench.words:
            await bench.cycle(take=1)


@cocotb.test()
async def flushes(dut):
    """Flush and reset at several levels, with and without a word, with and without a read."""
    rng = random.Random(2)
    bench = await started(dut)
    for fill in (0, 1, 5, 16):
        for controls in range(12):
            while len(bench.words) < fill:
                await bench.cycle(rng.randrange(256))
            await bench.cycle()
            word = 0x5A if controls & 1 else None
            await bench.cycle(word, controls >> 1 & 1, flush=controls < 8, rst=controls >= 4)
            await bench.cycle()
            await bench.cycle(0xC3)
            await bench.cycle()


@cocotb.test()
async def random_traffic(dut):
    """Phases of more writes, more reads, and both."""
    rng = random.Random(3)
    bench = await started(dut)
    for phase in range(30):
        writes, reads = ((0.9, 0.2), (0.2, 0.9), (0.8, 0.8))[phase % 3]
        for _ in range(45):
            word = rng.randrange(256) if rng.random() < writes else None
            flush, rst = rng.random() < 0.01, rng.random() < 0.004
            await bench.cycle(word, rng.random() < reads, flush, rst, rng.randrange(20))
