"""Hidden test of axis_packet_fifo: every cycle, against lists of packets."""

import random

import cocotb
from cocotb.triggers import Timer

ROOM = 16


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


class Fifo:
    """The model: complete packets as lists of bytes, and the packet that arrives."""

    def __init__(self):
        self.complete = []
        self.arriving = []
        self.ignoring = False
        self.dropped = 0

    def level(self):
        """Return the number of bytes inside."""
        return sum(map(len, self.complete)) + len(self.arriving)

    def clock(self, byte, takes):
        """Take an edge; byte is (data, last, bad) or None."""
        full = self.level() == ROOM
        if self.complete and takes:
            self.complete[0].pop(0)
            if not self.complete[0]:
                self.complete.pop(0)
        self.dropped = 0
        if byte is None:
            return
        data, last, bad = byte
        self.ignoring = self.ignoring or full
        self.arriving = [] if self.ignoring else [*self.arriving, data]
        if last:
            self.dropped = int(self.ignoring or bad)
            if not self.dropped:
                self.complete.append(self.arriving)
            self.arriving, self.ignoring = [], False


async def reset(dut):
    dut.clk.value = 0
    dut.rst.value = 1
    for port in (dut.s_valid, dut.s_data, dut.s_last, dut.s_bad, dut.m_ready):
        port.value = 1
    for _ in range(2):
        await Timer(4, unit="ns")
        await edge(dut)
    dut.rst.value = 0
    return Fifo()


async def cycle(dut, model, rng, byte, takes):
    data, last, bad = byte or (rng.randrange(256), rng.randrange(2), rng.randrange(2))
    dut.s_valid.value = int(byte is not None)
    dut.s_data.value = data
    dut.s_last.value = last
    dut.s_bad.value = bad
    dut.m_ready.value = takes
    await Timer(4, unit="ns")
    where = f"with {[len(p) for p in model.complete]} complete and {len(model.arriving)} arriving"
    assert int(dut.dropped.value) == model.dropped, f"dropped, {where}"
    assert int(dut.packets.value) == len(model.complete), f"packets, {where}"
    assert int(dut.m_valid.value) == int(bool(model.complete)), f"m_valid, {where}"
    if model.complete:
        seen = int(dut.m_data.value), int(dut.m_last.value)
        right = model.complete[0][0], int(len(model.complete[0]) == 1)
        assert seen == right, f"m_data, m_last are {seen}, not {right}, {where}"
    model.clock(byte, takes)
    await edge(dut)


async def arrive(dut, model, rng, length, bad=0, takes=0):
    """Let one packet arrive without a pause."""
    for k in range(length):
        last = int(k == length - 1)
        await cycle(dut, model, rng, (rng.randrange(256), last, bad if last else rng.randrange(2)), takes)


@cocotb.test()
async def exactly_full(dut):
    """Sixteen bytes fit, however they are divided; the seventeenth drops its packet only."""
    rng = random.Random(1)
    for lengths in (
        [16],
        [1] * 16,
        [5, 11],
        [15, 1],
        [8, 8],
        [17],
        [20],
        [10, 7],
        [10, 8, 6],
        [16, 1],
        [16, 3, 2],
        [3, 14, 13],
    ):
        model = await reset(dut)
        for length in lengths:
            await arrive(dut, model, rng, length)
        for _ in range(2):
            await cycle(dut, model, rng, None, 0)
        for _ in range(18):
            await cycle(dut, model, rng, None, 1)
        await arrive(dut, model, rng, 16)
        for _ in range(17):
            await cycle(dut, model, rng, None, 1)


@cocotb.test()
async def full_and_handing_over(dut):
    """A byte handed over at the same edge does not make room for the one that arrives."""
    rng = random.Random(2)
    model = await reset(dut)
    for first, takes in ((14, 1), (15, 1), (16, 1), (16, 0), (4, 1)):
        await arrive(dut, model, rng, first)
        await arrive(dut, model, rng, 6, takes=takes)
        await arrive(dut, model, rng, 2, bad=1, takes=takes)
        await arrive(dut, model, rng, 3, takes=takes)
        for _ in range(20):
            await cycle(dut, model, rng, None, 1)


@cocotb.test()
async def random_traffic(dut):
    """Random packets, good, bad and too long, against a reader of changing speed."""
    rng = random.Random(3)
    model = await reset(dut)
    for valid, ready, last in (
        (100, 100, 20),
        (80, 60, 30),
        (60, 60, 60),
        (100, 50, 70),
        (50, 40, 15),
        (90, 30, 95),
        (90, 90, 6),
    ):
        for _ in range(300):
            byte = None
            if rng.randrange(100) < valid:
                byte = (rng.randrange(256), int(rng.randrange(100) < last), int(rng.randrange(4) == 0))
            await cycle(dut, model, rng, byte, int(rng.randrange(100) < ready))


@cocotb.test()
async def reset_forgets(dut):
    """A reset with complete packets, a part of one, and one that is being ignored."""
    rng = random.Random(4)
    for lengths, part in (([3, 2], 2), ([], 5), ([], 20), ([10], 9), ([1], 0)):
        model = await reset(dut)
        for length in lengths:
            await arrive(dut, model, rng, length)
        for _ in range(part):
            await cycle(dut, model, rng, (7, 0, 0), 0)
        model = await reset(dut)
        await arrive(dut, model, rng, 4)
        for _ in range(6):
            await cycle(dut, model, rng, None, 1)
    model = await reset(dut)
    await arrive(dut, model, rng, 2, bad=1)
    await reset(dut)
    await cycle(dut, Fifo(), rng, None, 1)
