"""Hidden test of cdc_handshake: every word once, and both directions' latency in edges, at several clock ratios."""

import random

import cocotb
from cocotb.triggers import Timer


class Bench:
    """Both clocks and the one word that may be on its way.

    Source edges are at even times and destination edges at odd ones, so that they never meet.
    """

    def __init__(self, dut):
        self.dut = dut
        self.clear()

    def clear(self):
        self.accepted = self.delivered = 0
        self.word = None
        self.ready, self.valid = 1, 0
        self.src_edges = self.dst_edges = 0  # since the other side's last event

    async def reset(self):
        dut = self.dut
        dut.src_clk.value = dut.dst_clk.value = 0
        dut.src_valid.value = dut.dst_ready.value = 1
        dut.src_data.value = 0x9999
        # From 1, because Verilator's inputs are 0 from the start: no edge, no asynchronous reset.
        dut.src_rst_n.value = dut.dst_rst_n.value = 1
        await Timer(1, unit="ns")
        dut.src_rst_n.value = dut.dst_rst_n.value = 0
        self.clear()
        for clk in (0, 1, 0):
            dut.src_clk.value = dut.dst_clk.value = clk
            await Timer(2, unit="ns")
            seen = tuple(int(p.value) for p in (dut.src_ready, dut.dst_valid, dut.src_count, dut.dst_count))
            assert seen == (1, 0, 0, 0), f"src_ready, dst_valid, src_count, dst_count {seen} in reset"
        dut.src_valid.value = dut.dst_ready.value = 0
        dut.src_rst_n.value = dut.dst_rst_n.value = 1
        await Timer(2, unit="ns")

    async def src_cycle(self, half, word):
        """One cycle of the source that ends with its edge."""
        dut = self.dut
        dut.src_clk.value = 0
        dut.src_valid.value = int(word is not None)
        dut.src_data.value = 0x5AA5 if word is None else word
        await Timer(half, unit="ns")
        ready = int(dut.src_ready.value)
        idle = self.accepted == self.delivered
        if not self.ready:
            soonest, latest = idle and self.src_edges >= 2, idle and self.src_edges >= 4
            assert latest <= ready <= soonest, f"src_ready {ready}, {self.src_edges} edges after a delivery: {idle}"
        else:
            assert ready, "src_ready fell without a word"
        self.ready = ready
        assert int(dut.src_count.value) == self.accepted % 256, f"src_count is not {self.accepted} mod 256"
        self.src_edges += 1
        if word is not None and ready:
            self.accepted += 1
            self.word, self.ready, self.dst_edges = word, 0, 0
        dut.src_clk.value = 1
        await Timer(half, unit="ns")

    async def dst_cycle(self, half, take):
        """One cycle of the destination that ends with its edge."""
        dut = self.dut
        dut.dst_clk.value = 0
        dut.dst_ready.value = int(take)
        await Timer(half, unit="ns")
        valid = int(dut.dst_valid.value)
        under_way = self.accepted != self.delivered
        if not self.valid:
            soonest, latest = under_way and self.dst_edges >= 2, under_way and self.dst_edges >= 4
            assert latest <= valid <= soonest, f"dst_valid {valid}, {self.dst_edges} edges after: {under_way}"
        else:
            assert valid, "dst_valid fell before the word was delivered"
        self.valid = valid
        if valid:
            assert int(dut.dst_data.value) == self.word, f"dst_data is not {self.word:04x}"
        assert int(dut.dst_count.value) == self.delivered % 256, f"dst_count is not {self.delivered} mod 256"
        self.dst_edges += 1
        if valid and take:
            self.delivered += 1
            self.valid, self.src_edges = 0, 0
        dut.dst_clk.value = 1
        await Timer(half, unit="ns")

    async def run(self, src_half, dst_half, words, takes):
        """Run both sides; the lists say for each cycle which word is offered (or None), and whether one is taken."""

        async def source():
            for word in words:
                await self.src_cycle(src_half, word)
            self.dut.src_valid.value = 0

        async def destination():
            await Timer(1, unit="ns")
            for take in takes:
                await self.dst_cycle(dst_half, take)
            self.dut.dst_ready.value = 0

        side = cocotb.start_soon(source())
        await destination()
        await side
        # Back to even times for the next run, with both clocks low.
        await Timer(1, unit="ns")
        self.dut.src_clk.value = self.dut.dst_clk.value = 0
        await Timer(2, unit="ns")


RATIOS = ((4, 4), (2, 10), (10, 2), (4, 6), (6, 4))


@cocotb.test()
async def always_ready(dut):
    """New words are offered all the time and taken at once."""
    rng = random.Random(1)
    for src_half, dst_half in RATIOS:
        bench = Bench(dut)
        await bench.reset()
        time = 1000
        words = [rng.getrandbits(16) for _ in range(time // src_half)]
        await bench.run(src_half, dst_half, words, [1] * (time // dst_half))
        # A word takes at most five cycles of either clock each way.
        assert bench.delivered >= time // (10 * src_half + 10 * dst_half)


@cocotb.test()
async def waiting_destination(dut):
    """The destination is ready early, then not for long: the word waits, and the source with it."""
    rng = random.Random(2)
    for src_half, dst_half in RATIOS:
        bench = Bench(dut)
        await bench.reset()
        for wait in (0, 1, 2, 5, 12):
            before = bench.delivered
            words = [rng.getrandbits(16) for _ in range((wait + 18) * dst_half // src_half + 12)]
            # Time for two cycles of the source and the word's way, then the wait.
            closed = 6 + 4 * src_half // dst_half + wait
            await bench.run(src_half, dst_half, [None, *words], [1] + [0] * closed + [1] + [0] * 12)
            assert bench.delivered == before + 1
            await bench.run(src_half, dst_half, [None] * 20, [1] * 20)


@cocotb.test()
async def single_words(dut):
    """Words with long pauses; all bits of the data, both levels of the handshake."""
    bench = Bench(dut)
    await bench.reset()
    for k in range(18):
        src_half, dst_half = RATIOS[k % 5]
        word = 1 << k if k < 16 else 0xFFFF * (k & 1)
        cycles = 60 // min(src_half, dst_half)
        await bench.run(src_half, dst_half, [word] + [None] * cycles, [1] * cycles)
        await bench.run(src_half, dst_half, [None] * cycles, [1] * cycles)
    assert bench.delivered == 18


@cocotb.test()
async def counts_wrap(dut):
    """More than 256 words."""
    bench = Bench(dut)
    await bench.reset()
    await bench.run(4, 4, [k * 257 % 65536 for k in range(2700)], [1] * 2700)
    assert bench.delivered > 260


@cocotb.test()
async def resets(dut):
    """A reset in every stage of a word's way, for both levels of the handshake."""
    bench = Bench(dut)
    for cycles in range(1, 14):
        for first in (0, 1):
            await bench.reset()
            if first:
                await bench.run(4, 4, [0x1111] + [None] * 11, [1] * 12)
            await bench.run(4, 4, [0x7777] + [None] * cycles, [0, 0, 0, 1, 1, 1, 1][: cycles // 2])
            await bench.reset()
            await bench.run(4, 4, [None] * 6, [1] * 6)
            await bench.run(4, 4, [0x2468] + [None] * 11, [1] * 12)
            assert bench.delivered == 1


@cocotb.test()
async def random_traffic(dut):
    """Random offers and random readiness."""
    rng = random.Random(3)
    for src_half, dst_half in RATIOS:
        bench = Bench(dut)
        await bench.reset()
        words = [rng.getrandbits(16) if rng.random() < 0.5 else None for _ in range(1600 // src_half)]
        takes = [rng.random() < 0.4 for _ in range(1600 // dst_half)]
        await bench.run(src_half, dst_half, words, takes)
        await bench.run(src_half, dst_half, [None] * 30, [1] * 30)
        assert bench.delivered == bench.accepted
