"""Hidden test of cdc_async_fifo: order, capacity, how soon each side hears of the other, at several clock ratios."""

import random

import cocotb
from cocotb.triggers import Timer


class Bench:
    """Both clocks, and what has been written and read.

    Write edges are at even times and read edges at odd ones, so that they never meet.
    """

    def __init__(self, dut):
        self.dut = dut
        self.words = []
        self.reads = 0
        # How much the other side had done before each of this side's edges, the oldest first.
        self.reads_before = []
        self.writes_before = []

    async def reset(self):
        dut = self.dut
        dut.wclk.value = dut.rclk.value = 0
        dut.winc.value = dut.rinc.value = 1
        dut.wdata.value = 0x99
        # From 1, because Verilator's inputs are 0 from the start: no edge, no asynchronous reset.
        dut.wrst_n.value = dut.rrst_n.value = 1
        await Timer(1, unit="ns")
        dut.wrst_n.value = dut.rrst_n.value = 0
        self.words, self.reads = [], 0
        self.reads_before, self.writes_before = [], []
        for clk in (0, 1, 0):
            dut.wclk.value = dut.rclk.value = clk
            await Timer(2, unit="ns")
            seen = tuple(int(p.value) for p in (dut.wfull, dut.whalf, dut.rempty, dut.rhalf))
            assert seen == (0, 0, 1, 0), f"wfull, whalf, rempty, rhalf {seen} in reset"
        dut.winc.value = dut.rinc.value = 0
        dut.wrst_n.value = dut.rrst_n.value = 1
        await Timer(2, unit="ns")

    async def write_cycle(self, half, offers):
        """One cycle of `wclk` that ends with its edge."""
        dut, word = self.dut, random_word(len(self.words))
        dut.wclk.value = 0
        dut.winc.value = int(offers)
        dut.wdata.value = word if offers else word ^ 0xFF
        await Timer(half, unit="ns")
        full, half_full = int(dut.wfull.value), int(dut.whalf.value)
        heard = [len(self.words) - known(self.reads_before, edges) for edges in (4, 2)]
        within(full, [level >= 16 for level in heard], f"wfull with {heard}")
        within(half_full, [level >= 8 for level in heard], f"whalf with {heard}")
        self.reads_before.append(self.reads)
        if offers and not full:
            self.words.append(word)
        dut.wclk.value = 1
        await Timer(half, unit="ns")

    async def read_cycle(self, half, takes):
        """One cycle of `rclk` that ends with its edge."""
        dut = self.dut
        dut.rclk.value = 0
        dut.rinc.value = int(takes)
        await Timer(half, unit="ns")
        empty, half_full = int(dut.rempty.value), int(dut.rhalf.value)
        heard = [known(self.writes_before, edges) - self.reads for edges in (4, 2)]
        within(empty, [level <= 0 for level in heard], f"rempty with {heard}")
        within(half_full, [level >= 8 for level in heard], f"rhalf with {heard}")
        if not empty:
            word = self.words[self.reads]
            assert int(dut.rdata.value) == word, f"rdata {int(dut.rdata.value):02x} is not {word:02x}"
        self.writes_before.append(len(self.words))
        if takes and not empty:
            self.reads += 1
        dut.rclk.value = 1
        await Timer(half, unit="ns")

    async def run(self, whalf, rhalf, writes, reads):
        """Run both sides; `writes` and `reads` are lists that say for each cycle whether it asks."""

        async def write_side():
            for offers in writes:
                await self.write_cycle(whalf, offers)
            self.dut.winc.value = 0

        async def read_side():
            await Timer(1, unit="ns")
            for takes in reads:
                await self.read_cycle(rhalf, takes)
            self.dut.rinc.value = 0

        side = cocotb.start_soon(write_side())
        await read_side()
        await side
        # Back to even times for the next run, with both clocks low.
        await Timer(1, unit="ns")
        self.dut.wclk.value = self.dut.rclk.value = 0
        await Timer(2, unit="ns")


def random_word(index):
    return (index * 151 + 13 ^ index >> 3) & 0xFF


def known(before, edges):
    """Give what the other side had done before the last but `edges` of this side's edges."""
    return before[-edges] if len(before) >= edges else 0


def within(flag, bounds, what):
    """Require the flag to be what it is at one of the bounds, or at a level between them."""
    assert flag in {int(b) for b in bounds}, f"{what}: {flag}"


RATIOS = ((4, 4), (2, 8), (8, 2), (4, 6), (10, 4))


@cocotb.test()
async def fill_then_drain(dut):
    """Written far past full while nobody reads, then read far past empty; three times around."""
    for whalf, rhalf in RATIOS:
        bench = Bench(dut)
        await bench.reset()
        for words in (20, 19, 7):
            await bench.run(whalf, rhalf, [1] * words, [0] * 8)
            await bench.run(whalf, rhalf, [0] * 8, [0] * 8)
            assert len(bench.words) - bench.reads == min(words, 16)
            await bench.run(whalf, rhalf, [0] * 8, [1] * (words + 6))
            # The write side hears of the last reads.
            await bench.run(whalf, rhalf, [0] * 6, [0])
            assert len(bench.words) == bench.reads


@cocotb.test()
async def one_word_at_a_time(dut):
    """Single words at every position of the memory: how soon is each known on the other side?"""
    bench = Bench(dut)
    await bench.reset()
    for k in range(40):
        whalf, rhalf = RATIOS[k % 5]
        await bench.run(whalf, rhalf, [1] + [0] * 7, [0] * 7)
        await bench.run(whalf, rhalf, [0] * 3, [0, 1, 1, 0, 0, 0])
    assert bench.reads == 40


@cocotb.test()
async def one_place_at_a_time(dut):
    """A full FIFO, from which single words are read: how soon is the room known?"""
    bench = Bench(dut)
    await bench.reset()
    await bench.run(4, 4, [1] * 16, [0] * 20)
    for k in range(36):
        whalf, rhalf = RATIOS[k % 5]
        await bench.run(whalf, rhalf, [0] * 7, [1] + [0] * 7)
        await bench.run(whalf, rhalf, [0, 1, 1, 0, 0, 0], [0] * 3)
    assert len(bench.words) - bench.reads == 16


@cocotb.test()
async def full_speed(dut):
    """Both sides ask in every cycle."""
    for whalf, rhalf in RATIOS:
        bench = Bench(dut)
        await bench.reset()
        cycles = 600 // max(whalf, rhalf)
        await bench.run(whalf, rhalf, [1] * (cycles * 4 // whalf), [1] * (cycles * 4 // rhalf))
        await bench.run(whalf, rhalf, [0] * 6, [1] * 30)
        assert len(bench.words) == bench.reads > cycles // 4


@cocotb.test()
async def reset_in_the_middle(dut):
    """Reset with words stored, and pointers anywhere: empty at once, and good as new."""
    bench = Bench(dut)
    for words in (3, 8, 11, 16, 29):
        await bench.reset()
        await bench.run(4, 6, [1] * words, [1] * (words // 2))
    await bench.reset()
    await bench.run(4, 4, [0] * 6, [1] * 6)
    await bench.run(4, 4, [1] * 5 + [0] * 8, [1] * 14)
    assert bench.reads == len(bench.words) == 5


@cocotb.test()
async def random_traffic(dut):
    """Random requests on both sides, in phases of filling and of draining."""
    rng = random.Random(1)
    for whalf, rhalf in RATIOS:
        bench = Bench(dut)
        await bench.reset()
        for writes, reads in ((0.9, 0.3), (0.3, 0.9), (0.6, 0.6), (0.9, 0.9)):
            time = 300
            offers = [rng.random() < writes for _ in range(time // whalf)]
            takes = [rng.random() < reads for _ in range(time // rhalf)]
            await bench.run(whalf, rhalf, offers, takes)
        await bench.run(whalf, rhalf, [0] * 20, [1] * 24)
        assert bench.reads == len(bench.words)
