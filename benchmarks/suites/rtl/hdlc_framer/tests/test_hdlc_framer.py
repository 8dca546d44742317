"""Hidden test of hdlc_framer: every cycle compared with a model that makes the line from whole frames."""

import random

import cocotb
from cocotb.triggers import Timer


async def start(dut):
    dut.clk.value = 0
    dut.rst_n.value = 0
    for port in (dut.tick, dut.in_valid, dut.in_data, dut.in_last):
        port.value = 0
    await Timer(4, unit="ns")
    await edge(dut)
    dut.rst_n.value = 1


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


class Line:
    """The model: `pending` are bits already decided; when it is empty the next step decides."""

    def __init__(self):
        self.pending = []
        self.phase = "idle"
        self.ones = 0
        self.tx = 1
        self.busy = 0

    def asks(self):
        """Say whether the next step asks for a byte."""
        return not self.pending and self.phase in ("flag", "more", "discard")

    def flag(self):
        """Queue a flag."""
        self.pending = [0, 1, 1, 1, 1, 1, 1, 0]
        self.phase = "flag"
        self.ones = 0

    def byte(self, data, last):
        """Queue a byte with its inserted zeros."""
        for k in range(8):
            bit = (data >> k) & 1
            self.pending.append(bit)
            self.ones = self.ones + 1 if bit else 0
            if self.ones == 5:
                self.pending.append(0)
                self.ones = 0
        self.phase = "end" if last else "more"

    def step(self, valid, data, last):
        """Put the next bit on the line."""
        if not self.pending:
            if self.phase == "discard":
                self.tx, self.busy = 1, 0
                self.phase = "idle" if valid and last else "discard"
                return
            if self.phase == "end" or (self.phase == "idle" and valid):
                self.flag()
            elif self.phase in ("flag", "more") and valid:
                self.byte(data, last)
            elif self.phase == "more":
                self.pending = [1] * 8
                self.phase = "discard"
            else:
                self.phase = "idle"
                self.tx, self.busy = 1, 0
                return
        self.tx, self.busy = self.pending.pop(0), 1


async def run(dut, line, rng, cycles, *, tick, valid, values, last):
    """Drive for a number of cycles; tick, valid, last in percent."""
    current = None
    for cycle in range(cycles):
        steps = int(rng.randrange(100) < tick)
        if current is None:
            current = (rng.choice(values), int(rng.randrange(100) < last))
        offers = int(rng.randrange(100) < valid)
        data, final = current if offers else (rng.randrange(256), rng.randrange(2))
        dut.tick.value = steps
        dut.in_valid.value = offers
        dut.in_data.value = data
        dut.in_last.value = final
        await Timer(4, unit="ns")
        where = f"cycle {cycle}, {line.phase}"
        assert int(dut.tx.value) == line.tx, f"tx, {where}"
        assert int(dut.busy.value) == line.busy, f"busy, {where}"
        asks = int(bool(steps and line.asks()))
        assert int(dut.in_ready.value) == asks, f"in_ready, {where}"
        if asks and offers:
            current = None
        if steps:
            line.step(offers, data, final)
        await edge(dut)


@cocotb.test()
async def frames(dut):
    """Frames that follow each other, with many ones."""
    await start(dut)
    line = Line()
    rng = random.Random(1)
    values = [0xFF, 0x1F, 0xF8, 0xF0, 0x0F, 0x7E, 0x00, 0xFE, 0x3F, 0xA5]
    await run(dut, line, rng, 2000, tick=100, valid=100, values=values, last=30)
    await run(dut, line, rng, 500, tick=100, valid=100, values=[0xFF], last=30)
    await run(dut, line, rng, 500, tick=100, valid=100, values=[0x1F, 0xF8], last=50)


@cocotb.test()
async def gaps(dut):
    """Idle times, underruns, discarded frames, and steps with pauses."""
    await start(dut)
    line = Line()
    rng = random.Random(2)
    await run(dut, line, rng, 1500, tick=100, valid=70, values=range(256), last=40)
    await run(dut, line, rng, 1500, tick=60, valid=80, values=range(256), last=20)
    await run(dut, line, rng, 300, tick=100, valid=5, values=range(256), last=50)
    await run(dut, line, rng, 100, tick=100, valid=0, values=[0], last=50)


@cocotb.test()
async def asynchronous_reset(dut):
    """Reset acts without a clock edge, from wherever the line is."""
    rng = random.Random(3)
    for cycles in (3, 9, 12, 14, 23, 40, 47):
        await start(dut)
        await run(dut, Line(), rng, cycles, tick=100, valid=100, values=[0xFF, 0], last=20)
        dut.tick.value = 0
        dut.rst_n.value = 0
        await Timer(2, unit="ns")
        assert int(dut.tx.value) == 1, "tx in reset"
        assert int(dut.busy.value) == 0, "busy in reset"
        dut.tick.value = 1
        dut.in_valid.value = 1
        await Timer(2, unit="ns")
        await edge(dut)
        dut.rst_n.value = 1
        await run(dut, Line(), rng, 60, tick=100, valid=90, values=[0xFF, 0x55], last=50)
