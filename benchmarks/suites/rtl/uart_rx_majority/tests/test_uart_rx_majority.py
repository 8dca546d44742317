"""Hidden test of uart_rx_majority: reports to the cycle, with flipped samples, glitches, breaks and resets."""

import random

import cocotb
from cocotb.triggers import Timer


class Receiver:
    """A model of the rules: for each cycle, the outputs; then the edge."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.pipe = [1, 1]
        self.state, self.since, self.d = "idle", 0, 0
        self.samples = {}
        self.data = 0
        self.report = (0, 0, 0, 0)

    def outputs(self):
        return self.data, *self.report, int(self.state == "receiving")

    def edge(self, rxd, div):
        line = self.pipe[1]
        self.pipe = [rxd, self.pipe[0]]
        self.report = (0, 0, 0, 0)
        if self.state == "waiting" and line:
            self.state = "idle"
        elif self.state == "idle" and not line:
            self.state, self.since, self.d, self.samples = "receiving", 0, div, {}
        elif self.state == "receiving":
            self.since += 1
            if self.since % (self.d + 1) == 0:
                self.sample(self.since // (self.d + 1), line)

    def sample(self, k, line):
        self.samples[k] = line
        if k == 5 and self.bit(0):
            self.state = "idle"
        elif k == 77:
            bits = [self.bit(n) for n in range(10)]
            noise = int(any(self.ones(n) in (1, 2) for n in range(10)))
            byte = sum(bit << i for i, bit in enumerate(bits[1:9]))
            if bits[9]:
                self.data, self.report, self.state = byte, (1, 0, 0, noise), "idle"
            else:
                self.report, self.state = (0, 1, int(byte == 0), noise), "waiting"

    def ones(self, n):
        return sum(self.samples[8 * n + k] for k in (3, 4, 5))

    def bit(self, n):
        return int(self.ones(n) >= 2)


class Bench:
    """The design beside the model."""

    def __init__(self, dut):
        self.dut = dut
        self.model = Receiver()
        self.checked = False
        self.reports = 0

    async def cycle(self, rxd, div, rst=0):
        dut = self.dut
        dut.rxd.value = rxd
        dut.div.value = div
        dut.rst.value = rst
        await Timer(5, unit="ns")
        if self.checked:
            ports = dut.data, dut.valid, dut.frame_error, dut.break_detect, dut.noise, dut.receiving
            seen, expected = tuple(int(p.value) for p in ports), self.model.outputs()
            names = "data, valid, frame_error, break_detect, noise, receiving"
            assert seen == expected, f"{names} {seen}, not {expected}"
            self.reports += seen[1] + seen[2]
        if rst:
            self.model.reset()
            self.checked = True
        else:
            self.model.edge(rxd, div)
        dut.clk.value = 1
        await Timer(5, unit="ns")
        dut.clk.value = 0

    async def idle(self, cycles, div=0):
        for _ in range(cycles):
            await self.cycle(1, div)

    async def frame(self, byte, d, stop=1, flips=(), idle=4):
        """Send a frame in samples of d + 1 cycles; `flips` are numbers of samples that are inverted.

        The design's `div` is d in the one cycle in which it counts, and another number in all others.
        """
        bits = [0, *(byte >> k & 1 for k in range(8)), stop]
        for k in range(80):
            for _ in range(d + 1):
                counts = self.model.state == "idle" and not self.model.pipe[1]
                await self.cycle(bits[k // 8] ^ int(k in flips), d if counts else d ^ 5)
        for _ in range(idle):
            counts = self.model.state == "idle" and not self.model.pipe[1]
            await self.cycle(1, d if counts else d ^ 5)


async def started(dut):
    bench = Bench(dut)
    dut.clk.value = 0
    await bench.cycle(0, 0, rst=1)
    await bench.cycle(0, 0, rst=1)
    return bench


@cocotb.test()
async def bytes_at_all_speeds(dut):
    """Bytes with and without pauses; the slowest speed, too."""
    rng = random.Random(1)
    bench = await started(dut)
    await bench.idle(5)
    for d in (0, 1, 4):
        for byte in (0x00, 0xFF, 0x55, 0x81, rng.getrandbits(8)):
            await bench.frame(byte, d, idle=rng.choice((0, 0, 1, 9)))
    await bench.frame(0x3C, 15)
    await bench.frame(0x96, 8)
    assert bench.reports == 17


@cocotb.test()
async def flipped_samples(dut):
    """One wrong sample in any place is outvoted, and reported if it is one that counts; two are not outvoted."""
    rng = random.Random(2)
    bench = await started(dut)
    await bench.idle(5)
    for k in range(1, 80):
        await bench.frame(rng.getrandbits(8), 0, flips=(k,), idle=rng.choice((0, 2, 5)) if k < 76 else 15)
    for n in range(10):
        for flips in ((3, 4), (3, 5), (4, 5), (3, 4, 5)):
            await bench.frame(rng.getrandbits(8), 0, flips=[8 * n + k for k in flips], idle=4)
            await bench.idle(80 if n in (0, 9) else 0)


@cocotb.test()
async def glitches(dut):
    """Zeros on an idle line that are too short, of each length, at two speeds."""
    bench = await started(dut)
    await bench.idle(5)
    for d in (0, 2):
        for length in range(1, 5 * (d + 1)):
            for _ in range(length):
                await bench.cycle(0, d)
            await bench.idle(100 * (d + 1) if length > 4 * (d + 1) else 20, d)
    # In the very cycle in which a glitch is over, the next frame begins.
    for pause in range(1, 8):
        await bench.cycle(0, 0)
        await bench.idle(pause)
        await bench.frame(0x4B, 0, idle=12)
        await bench.idle(60)


@cocotb.test()
async def breaks_and_framing(dut):
    """A missing stop bit: no new frame until the line has been 1."""
    bench = await started(dut)
    await bench.idle(5)
    await bench.frame(0xA7, 0)
    for byte in (0x00, 0x80, 0x01):
        for zeros in (0, 1, 90):
            await bench.frame(byte, 0, stop=0, idle=0)
            for _ in range(zeros):
                await bench.cycle(0, 0)
            await bench.idle(1)
            await bench.frame(0x69, 0)
            await bench.frame(0x00, 0, idle=0)
    await bench.frame(0x00, 0, stop=0, flips=(75,))


@cocotb.test()
async def resets(dut):
    """A reset in the middle of a frame, with the line at either level, and while waiting after a break."""
    bench = await started(dut)
    await bench.idle(4)
    await bench.frame(0xD2, 0)
    for cycles in (1, 2, 3, 20, 78, 79, 80, 81, 85):
        for rxd in (0, 1):
            for k in range(cycles):
                await bench.cycle(0 if k < 8 else rxd, 0)
            await bench.cycle(rxd, 0, rst=1)
            await bench.idle(9)
            await bench.frame(0x2E, 0)


@cocotb.test()
async def random_line(dut):
    """A line of random runs, at changing speeds."""
    rng = random.Random(3)
    bench = await started(dut)
    rxd = 1
    for _ in range(450):
        rxd ^= 1
        div = rng.choice((0, 0, 0, 1))
        for _ in range(rng.choice((1, 1, 2, 3, 8, 8, 16, 24))):
            await bench.cycle(rxd, div)
