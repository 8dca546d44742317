"""Hidden test of i2c_target: a controller that looks at the target's side of SDA in every cycle."""

import random

import cocotb
from cocotb.triggers import Timer

SETTLES = 6


class Bus:
    """A controller on the bus, beside the registers as they should be."""

    def __init__(self, dut, address=0x42):
        self.dut = dut
        self.address = address
        self.scl = self.sda = 1
        self.idle = True
        self.low = self.pulled = 0
        self.regs = [0xA0 + k for k in range(8)]
        self.pointer = 0

    async def clocks(self, cycles, checked=True):
        """Let cycles pass; SDA is low if either side pulls it."""
        dut, clk, sda_in, sda_low = self.dut, self.dut.clk, self.dut.sda_in, self.dut.sda_low
        dut.scl_in.value = self.scl
        for _ in range(cycles):
            sda_in.value = self.sda & (1 - self.pulled)
            await Timer(5, unit="ns")
            clk.value = 1
            await Timer(5, unit="ns")
            self.pulled = int(sda_low.value)
            assert not checked or self.pulled == self.low, f"sda_low is not {self.low}"
            clk.value = 0
        if checked:
            regs = sum(value << 8 * k for k, value in enumerate(self.regs))
            assert int(dut.regs.value) == regs, f"regs {int(dut.regs.value):016x}, not {regs:016x}"

    async def reset(self):
        dut = self.dut
        dut.clk.value = 0
        dut.address.value = self.address
        dut.scl_in.value = dut.sda_in.value = 1
        # From 1, because Verilator's inputs are 0 from the start: no edge, no asynchronous reset.
        dut.rst_n.value = 1
        await Timer(1, unit="ns")
        dut.rst_n.value = 0
        self.scl = self.sda = 1
        self.idle = True
        self.low = self.pulled = self.pointer = 0
        self.regs = [0xA0 + k for k in range(8)]
        await Timer(2, unit="ns")
        seen = int(dut.sda_low.value), f"{int(dut.regs.value):016x}"
        assert seen == (0, "a7a6a5a4a3a2a1a0"), f"sda_low, regs {seen} in reset"
        await self.clocks(2)
        dut.rst_n.value = 1
        await self.clocks(10)

    async def fall(self, low):
        """SCL falls, and the target takes its side of SDA for the next clock."""
        self.scl, self.low = 0, low
        await self.clocks(SETTLES - 1, checked=False)
        await self.clocks(1)

    async def bit(self, value, low=0):
        """One clock, from the fall before it to the end of its high level; give the level of SDA."""
        await self.fall(low)
        self.sda = value
        await self.clocks(5)
        self.scl = 1
        await self.clocks(10)
        return self.sda & (1 - low)

    async def start(self):
        """START, or repeated START if there was no STOP."""
        if not self.idle:
            await self.fall(0)
            self.sda = 1
            await self.clocks(5)
            self.scl = 1
            await self.clocks(5)
        self.sda = 0
        self.idle = False
        await self.clocks(5)

    async def stop(self, low=0):
        await self.fall(low)
        self.sda = 0
        await self.clocks(5)
        self.scl = 1
        await self.clocks(5)
        self.sda = 1
        self.idle = True
        await self.clocks(10)

    async def send(self, byte, answered=True, ended=lambda: None):
        """Send a byte; `ended` says what it does to the registers when its eighth bit is over."""
        for k in range(7, -1, -1):
            await self.bit(byte >> k & 1)
        ended()
        await self.bit(1, low=int(answered))

    async def select(self, read, address=None):
        address = self.address if address is None else address
        await self.start()
        await self.send(address << 1 | read, address == self.address)

    async def write(self, first, data=()):
        """Select for a write, set the pointer, write the data; no STOP."""

        def point():
            self.pointer = first & 7

        def store():
            self.regs[self.pointer] = byte
            self.pointer = (self.pointer + 1) % 8

        await self.select(0)
        await self.send(first, ended=point)
        for byte in data:
            await self.send(byte, ended=store)

    async def read(self, count, last_ack=1):
        """Select for a read and take some bytes; the last one is answered with `last_ack`."""
        await self.select(1)
        for n in range(count):
            byte = self.regs[self.pointer]
            for k in range(7, -1, -1):
                value = await self.bit(1, low=1 - (byte >> k & 1))
                assert value == byte >> k & 1
            self.pointer = (self.pointer + 1) % 8
            await self.bit(last_ack if n == count - 1 else 0)


async def started(dut, address=0x42):
    bus = Bus(dut, address)
    await bus.reset()
    return bus


@cocotb.test()
async def write_and_read_back(dut):
    """All registers at once, over the end, and one by one."""
    bus = await started(dut)
    await bus.write(6, [0x11, 0xEE, 0x35, 0xCA])
    await bus.stop()
    # After a STOP, clocks mean nothing.
    for _ in range(18):
        await bus.bit(1)
    await bus.read(3)
    await bus.stop()
    await bus.write(0xFD, [0x96])
    await bus.start()
    await bus.stop()
    await bus.write(0x05)
    await bus.read(5)
    await bus.stop()


@cocotb.test()
async def other_addresses(dut):
    """Each single bit of the address wrong, in both directions, then all data ignored until a START."""
    bus = await started(dut, 0x2D)
    await bus.write(3, [0x00])
    await bus.stop()
    for k in range(7):
        await bus.select(k & 1, 0x2D ^ 1 << k)
        if k in (2, 5):
            for byte in (0x2D << 1, 0x00):
                await bus.send(byte, answered=False)
        if k & 2:
            await bus.stop()
    await bus.read(1)
    await bus.stop()
    # After a STOP, clocks mean nothing.
    for value in (0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1):
        await bus.fall(0)
        bus.sda = value
        await bus.clocks(5)
        bus.scl = 1
        await bus.clocks(10)
    await bus.fall(0)
    bus.sda = 1
    await bus.clocks(5)
    bus.scl = 1
    await bus.clocks(10)


@cocotb.test()
async def extreme_addresses(dut):
    """Addresses 0 and 127 are like any other; another target's traffic with our address in its data."""
    for address in (0x00, 0x7F):
        bus = await started(dut, address)
        await bus.select(0, address ^ 0x7F)
        await bus.send(address << 1, answered=False)
        await bus.write(2, [0x47])
        await bus.write(2)
        await bus.read(1)
        await bus.stop()


@cocotb.test()
async def interrupted_writes(dut):
    """A byte that is cut off by START or STOP has no effect; one that has its eighth bit over, has."""
    bus = await started(dut)
    await bus.write(4, [0x12, 0x34])
    for bits in (0, 1, 7):
        await bus.write(4)
        for k in range(bits):
            await bus.bit(k & 1)
        if bits & 1:
            await bus.stop()
        await bus.read(1)
        await bus.stop()
        # The same for the pointer, with the bits of 7.
        await bus.select(0)
        for _ in range(bits):
            await bus.bit(1)
        if not bits & 1:
            await bus.stop()
        await bus.read(1)
        await bus.stop()
    # The address itself, cut off in two places.
    for bits in (3, 7):
        await bus.start()
        for k in range(bits):
            await bus.bit(bus.address >> 6 - k & 1)
        await bus.stop()
    await bus.read(1)
    await bus.stop()


@cocotb.test()
async def interrupted_reads(dut):
    """A byte of ones that is cut off leaves the pointer; acknowledged or not, a whole byte moves it."""
    bus = await started(dut)
    await bus.write(1, [0xFF, 0x5A, 0xFF, 0xC3])
    for bits in (0, 4, 7):
        await bus.write(1)
        await bus.select(1)
        for _ in range(bits):
            await bus.bit(1)
        if bits & 1:
            await bus.stop()
        await bus.read(2)
        await bus.start()
        await bus.stop()
    # Acknowledged, and then the controller goes away before the byte is over.
    await bus.write(2)
    await bus.read(1, last_ack=0)
    await bus.bit(1)
    await bus.stop()
    await bus.read(1)
    # Not acknowledged: the target is silent, whatever is clocked.
    for _ in range(12):
        await bus.bit(1)
    await bus.stop()
    await bus.read(1)
    await bus.stop()


@cocotb.test()
async def resets(dut):
    """Reset while the target pulls SDA low, acknowledging and sending, and in the middle of a byte."""
    bus = await started(dut)
    await bus.write(0, [0x88, 0x77])
    await bus.reset()
    await bus.read(1)
    for _ in range(3):
        await bus.bit(1, low=0)
    await bus.reset()
    await bus.select(1)
    await bus.bit(1, low=0)
    await bus.bit(1, low=1)
    await bus.reset()
    await bus.write(0, [0x5B])
    await bus.reset()
    # Reset while SDA is 1: nobody sends a STOP, but the transfer is over, and these clocks are nobody's.
    for read in (0, 1):
        await bus.select(read)
        await bus.bit(1)
        await bus.reset()
        for _ in range(18):
            await bus.bit(1)
        await bus.stop()
    await bus.write(3, [0x10])
    await bus.write(3)
    await bus.read(1)
    await bus.stop()


@cocotb.test()
async def random_transfers(dut):
    """Reads and writes of random lengths, with and without STOP between them."""
    rng = random.Random(1)
    bus = await started(dut)
    for _ in range(9):
        if rng.randrange(2):
            await bus.write(rng.getrandbits(8), [rng.getrandbits(8) for _ in range(rng.randrange(4))])
        else:
            await bus.read(rng.randrange(1, 4))
        if rng.randrange(2):
            await bus.stop()
