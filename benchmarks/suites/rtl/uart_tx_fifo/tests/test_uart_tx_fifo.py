"""Hidden test of uart_tx_fifo: the line and the FIFO's outputs in every cycle."""

import itertools
import random

import cocotb
from cocotb.triggers import Timer


def frame_of(byte, parity, two_stop):
    bits = [0] + [byte >> k & 1 for k in range(8)]
    if parity:
        ones = sum(bits)
        bits.append((1 - ones % 2, ones % 2, 1)[parity - 1])
    return bits + [1] * (1 + two_stop)


class Bench:
    """The design beside a list of bytes and the line's future."""

    def __init__(self, dut):
        self.dut = dut
        self.rng = random.Random(5)
        self.stored = None
        self.line = []
        self.settings = (2, 0, 0)

    async def cycle(self, byte=None, hold=0, rst=0):
        dut, rng = self.dut, self.rng
        div, parity, two_stop = self.settings
        takes = self.stored is not None and len(self.line) <= 1 and self.stored and not hold
        if not takes:
            # Settings count only when a byte is taken.
            div, parity, two_stop = rng.getrandbits(8), rng.getrandbits(2), rng.getrandbits(1)
        dut.div.value = div
        dut.parity.value = parity
        dut.two_stop.value = two_stop
        dut.hold.value = hold
        dut.in_valid.value = int(byte is not None)
        dut.in_data.value = 0xE7 if byte is None else byte
        dut.rst.value = rst
        await Timer(5, unit="ns")
        if self.stored is not None:
            level = len(self.stored)
            seen = tuple(int(p.value) for p in (dut.txd, dut.busy, dut.level, dut.in_ready))
            expected = self.line[0] if self.line else 1, int(bool(self.line)), level, int(level != 8)
            assert seen == expected, f"txd, busy, level, in_ready {seen}, not {expected}"
        self.follow(byte, takes, rst)
        dut.clk.value = 1
        await Timer(5, unit="ns")
        dut.clk.value = 0

    def follow(self, byte, takes, rst):
        if rst:
            self.stored, self.line = [], []
            return
        room = len(self.stored) < 8
        self.line = self.line[1:]
        if takes:
            div, parity, two_stop = self.settings
            bits = frame_of(self.stored.pop(0), parity, two_stop)
            self.line = [bit for bit in bits for _ in range(div + 1)]
        if byte is not None and room:
            self.stored.append(byte)

    async def drain(self, after=2):
        while self.stored or self.line:
            await self.cycle()
        for _ in range(after):
            await self.cycle()


async def started(dut):
    bench = Bench(dut)
    dut.clk.value = 0
    await bench.cycle(byte=1, rst=1)
    return bench


@cocotb.test()
async def formats(dut):
    """Each parity with one and two stop bits, alone and back to back."""
    bench = await started(dut)
    for parity, two_stop in itertools.product(range(4), (0, 1)):
        for div, data in ((0, (0x00, 0xFF, 0x5A, 0x01, 0x80)), (1, (0x37, 0xC4)), (4, (0x62,))):
            bench.settings = (div, parity, two_stop)
            for byte in data:
                await bench.cycle(byte)
            await bench.drain()


@cocotb.test()
async def slowest(dut):
    """256 cycles for each bit, and faster again after it."""
    bench = await started(dut)
    for div in (255, 128, 0):
        bench.settings = (div, 2, 0)
        await bench.cycle(0x29)
        await bench.drain()


@cocotb.test()
async def fifo(dut):
    """Filled past the end while the line is held, then sent; twice around."""
    bench = await started(dut)
    bench.settings = (0, 0, 0)
    for base in (0x10, 0x80):
        for k in range(10):
            await bench.cycle(base + k, hold=1)
        await bench.cycle(hold=1)
        # Writes go on while the full FIFO begins to empty.
        for k in range(25):
            await bench.cycle(base + 0x20 + k)
        await bench.drain()


@cocotb.test()
async def holds(dut):
    """A hold in each cycle around the end of a frame."""
    bench = await started(dut)
    bench.settings = (1, 1, 1)
    for when in range(18, 28):
        for length in (1, 3):
            await bench.cycle(0xA3)
            await bench.cycle(0x4D)
            for k in range(30):
                await bench.cycle(hold=int(when <= k < when + length))
            await bench.drain()


@cocotb.test()
async def resets(dut):
    """A reset in the middle of frames: the line is idle, the FIFO empty."""
    bench = await started(dut)
    bench.settings = (1, 2, 0)
    for when in (1, 2, 3, 4, 9, 20, 23, 24, 25):
        for byte in (0x00, 0x00, 0x11):
            await bench.cycle(byte)
        for _ in range(when):
            await bench.cycle()
        await bench.cycle(byte=0x22, rst=1)
        for _ in range(5):
            await bench.cycle()


@cocotb.test()
async def random_traffic(dut):
    """Bytes, formats and holds at random."""
    bench = await started(dut)
    rng = bench.rng
    for phase in range(16):
        for _ in range(120):
            bench.settings = (rng.choice((0, 0, 1, 2)), rng.randrange(4), rng.randrange(2))
            offers = (0.5, 0.05)[phase % 2]
            byte = rng.getrandbits(8) if rng.random() < offers else None
            await bench.cycle(byte, rng.random() < 0.15, rng.random() < 0.002)
    await bench.drain()
