"""Hidden test of manchester_codec: the transmitter's line cycle by cycle, the receiver under jitter and noise."""

import random

import cocotb
from cocotb.triggers import Timer


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


async def reset(dut):
    dut.clk.value = 0
    dut.rst.value = 1
    dut.tx_valid.value = 1
    dut.tx_data.value = 0x5A
    dut.rx_line.value = 1
    for _ in range(2):
        await Timer(4, unit="ns")
        await edge(dut)
    dut.rst.value = 0
    dut.tx_valid.value = 0


def halves(data):
    """Return the line's value for each half bit of start bit and byte."""
    bits = [1] + [(data >> k) & 1 for k in range(7, -1, -1)]
    return [half for bit in bits for half in (1 - bit, bit)]


class Receiver:
    """The model, straight from the text; its outputs are those of the cycle after the last sample."""

    def __init__(self):
        self.state, self.zeros, self.before, self.cycle, self.middle = "deaf", 0, 0, 0, 0
        self.bits = []
        self.valid = self.error = self.data = 0

    def sample(self, line):
        """Take the line's value in one cycle."""
        self.valid = self.error = 0
        if self.state == "deaf":
            self.zeros = 0 if line else self.zeros + 1
            self.state = "waiting" if self.zeros == 8 else "deaf"
        elif self.state == "waiting":
            if line:
                self.state, self.middle, self.bits = "receiving", self.cycle, []
        elif self.cycle - self.middle >= 6 and line != self.before:
            self.middle = self.cycle
            self.bits.append(line)
            if len(self.bits) == 8:
                self.valid, self.data = 1, int("".join(map(str, self.bits)), 2)
                self.state, self.zeros = "deaf", 0
        elif self.cycle - self.middle == 10:
            self.error, self.state, self.zeros = 1, "deaf", 0
        self.before = line
        self.cycle += 1


async def receive(dut, line, *, model=None):
    """Drive the line and compare each cycle; return how many bytes and errors there were."""
    model = model or Receiver()
    valid = errors = 0
    for value in line:
        dut.rx_line.value = value
        await Timer(4, unit="ns")
        seen = (int(dut.rx_valid.value), int(dut.rx_error.value), int(dut.rx_data.value))
        expected = (model.valid, model.error, model.data)
        assert seen == expected, f"valid, error, data are {seen}, not {expected}, in cycle {model.cycle}"
        valid, errors = valid + model.valid, errors + model.error
        model.sample(value)
        await edge(dut)
    return valid, errors


@cocotb.test()
async def transmitter(dut):
    """Every cycle of several bytes, back to back and with pauses."""
    rng = random.Random(1)
    await reset(dut)
    dut.rx_line.value = 0
    for data in (0xA5, 0x00, 0xFF, 0x01, 0x80, *(rng.randrange(256) for _ in range(6))):
        for _ in range(rng.choice([0, 0, 3])):
            dut.tx_valid.value = 0
            dut.tx_data.value = rng.randrange(256)
            await Timer(4, unit="ns")
            assert int(dut.tx_ready.value) == 1, "not ready when idle"
            assert int(dut.tx_line.value) == 0, "the idle line is not 0"
            await edge(dut)
        dut.tx_valid.value = 1
        dut.tx_data.value = data
        await Timer(4, unit="ns")
        assert int(dut.tx_ready.value) == 1, "not ready for a byte"
        assert int(dut.tx_line.value) == 0, "the line is not 0 before a byte"
        await edge(dut)
        line = [half for half in halves(data) for _ in range(4)] + [0] * 16
        for cycle, value in enumerate(line, 1):
            dut.tx_valid.value = rng.randrange(2)
            dut.tx_data.value = rng.randrange(256)
            await Timer(4, unit="ns")
            assert int(dut.tx_line.value) == value, f"the line in cycle A+{cycle} of {data:#04x}"
            assert int(dut.tx_ready.value) == 0, f"ready in cycle A+{cycle}"
            await edge(dut)


@cocotb.test()
async def transmitter_reset(dut):
    """A reset in a byte ends it at once."""
    await reset(dut)
    dut.tx_valid.value = 1
    dut.tx_data.value = 0x0F
    for cycle in range(40):
        await Timer(4, unit="ns")
        if cycle == 7:
            assert int(dut.tx_line.value) == 1, "the second half of the start bit"
        dut.rst.value = int(cycle == 7)
        if cycle >= 8:
            dut.tx_valid.value = 0
            assert int(dut.tx_line.value) == 0, "the line after reset"
            assert int(dut.tx_ready.value) == 1, "ready after reset"
        await edge(dut)


def stretched(data, rng, early, late):
    """Return a byte's line with each middle moved against the last one, by early to late cycles."""
    middle, middles = 0, []
    for _ in range(8):
        middle += 8 + rng.randint(early, late)
        middles.append(middle)
    line = [1] * middles[0]
    last = 1
    bits = [(data >> k) & 1 for k in range(7, -1, -1)]
    before = 0
    for bit, middle in zip(bits, middles, strict=True):
        if bit == last:
            for c in range(before + rng.randint(3, 5), middle):
                line[c] = 1 - bit
        line = line[:middle] + [bit] * 12
        before, last = middle, bit
    return line[:before] + [last] * 4 + [0] * rng.choice([8, 9, 12, 16])


@cocotb.test()
async def receiver_jitter(dut):
    """Bytes whose bits are early or late by up to a quarter bit."""
    rng = random.Random(2)
    await reset(dut)
    line = [0] * 8
    values = [0x00, 0xFF, 0x55, 0xAA, 0x01, 0x80] + [rng.randrange(256) for _ in range(40)]
    for data in values:
        early, late = rng.choice([(0, 0), (-2, -2), (2, 2), (-2, 2), (-1, 1)])
        line += stretched(data, rng, early, late)
    valid, errors = await receive(dut, line)
    assert (valid, errors) == (len(values), 0), "the bench's own line is wrong"


@cocotb.test()
async def receiver_faults(dut):
    """Bits that come too late or not at all, short silences, noise."""
    rng = random.Random(3)
    for quiet in (7, 8, 9):
        await reset(dut)
        await receive(dut, [0] * quiet + [1] * 4 + [0] * 30)
    await reset(dut)
    line = [1, 1] + [0] * 7 + [1] + [0] * 12
    for late in (2, 3, 4):
        line += stretched(0xC3, rng, late, late) + [0] * 12
        line += [1] * (8 + late) + [0] * 20
    for start in range(4, 13):
        line += [1] * start + [0] * 30
    byte = stretched(0xC2, rng, 0, 0)
    ends = byte[: len(byte) - byte[::-1].index(1) + 1]  # with its last middle
    for quiet in (6, 7, 8, 9):
        line += ends + [0] * quiet + [1] * 4 + [0] * 30
        line += [1] * 4 + [0] * (7 + quiet) + [1] * 4 + [0] * 30
    for run in range(5, 12):
        line += [1] * 4 + [0, 1] * run + [0] * 10
    for _ in range(120):
        line += [rng.randrange(2)] * rng.choice([1, 2, 3, 4, 5, 7, 8, 9])
    await receive(dut, line)


@cocotb.test()
async def receiver_reset(dut):
    """A reset in a byte makes the receiver deaf and its outputs 0."""
    rng = random.Random(4)
    await reset(dut)
    valid, _ = await receive(dut, [0] * 8 + stretched(0xB7, rng, 0, 0) + [0] * 8 + [1] * 4 + [0] * 4 + [1] * 4)
    assert valid == 1, "the bench's own line is wrong"
    for line in ([0] * 7 + [1] * 30 + [0] * 30, [0] * 8 + stretched(0x42, rng, 0, 0)):
        await reset(dut)
        await receive(dut, line)
    await reset(dut)
    await receive(dut, [0] * 5)
    await reset(dut)
    await receive(dut, [0] * 4 + [1] * 20 + [0] * 20)
