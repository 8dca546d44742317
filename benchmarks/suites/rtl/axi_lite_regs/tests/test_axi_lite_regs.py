"""Hidden test of axi_lite_regs: a manager with independent channels, and a model that follows the responses."""

import random

import cocotb
from cocotb.triggers import Timer

LIMIT = 8
WRITABLE = (0x04, 0x0C, 0x10, 0x14)
OKAY, SLVERR = 0, 2


async def edge(dut):
    dut.aclk.value = 1
    await Timer(4, unit="ns")
    dut.aclk.value = 0


class Registers:
    """The model's registers."""

    def __init__(self):
        self.control, self.pending, self.mask, self.scratch, self.count = 0xF, 0, 0, 0, 0

    def read(self, addr, status):
        """Return data and response."""
        values = (0x52544C31, self.control, status, self.pending, self.mask, self.scratch, self.count)
        return (values[addr >> 2], OKAY) if addr >> 2 < len(values) else (0, SLVERR)

    def write(self, addr, data, strobes):
        """Write, and return the response."""
        bits = sum(0xFF << 8 * k for k in range(4) if (strobes >> k) & 1)
        addr &= ~3
        if addr not in WRITABLE:
            return SLVERR
        self.count = (self.count + 1) & 0xFFFF
        if addr == 0x04:
            self.control = (self.control & ~bits) | (data & bits)
        elif addr == 0x0C:
            self.pending &= ~(data & bits)
        elif addr == 0x10:
            self.mask = ((self.mask & ~bits) | (data & bits)) & 0xFF
        else:
            self.scratch = (self.scratch & ~bits) | (data & bits)
        return OKAY


class Channel:
    """One request channel: offers what is in its queue, after a pause."""

    def __init__(self, rng):
        self.rng = rng
        self.queue = []
        self.offered = False
        self.pace = 100

    def drive(self):
        """Say whether the first of the queue is offered in this cycle."""
        self.offered = self.offered or (bool(self.queue) and self.rng.randrange(100) < self.pace)
        return self.offered

    def transfer(self):
        """Take the first of the queue off."""
        self.offered = False
        return self.queue.pop(0)


class Bench:
    """Drives one cycle after the other."""

    def __init__(self, dut, seed):
        self.dut = dut
        self.rng = random.Random(seed)
        self.forget()
        self.answering = 100
        self.event_rate = 20

    def forget(self):
        """Start again, as after a reset."""
        self.regs = Registers()
        self.aw, self.w, self.ar = Channel(self.rng), Channel(self.rng), Channel(self.rng)
        self.addresses, self.datas, self.reads = [], [], []
        self.b_open = self.r_open = None  # the response on the channel, not yet handed over
        self.write_age = self.read_age = 0
        self.events = self.status = 0

    async def reset(self):
        """Reset, with requests and events on the inputs that must not count."""
        dut = self.dut
        dut.aclk.value = 0
        dut.aresetn.value = 0
        for port in (dut.awvalid, dut.wvalid, dut.arvalid, dut.bready, dut.rready):
            port.value = 1
        dut.awaddr.value = 0x14
        dut.araddr.value = 0x14
        dut.wdata.value = 0x77
        dut.wstrb.value = 15
        dut.events.value = 0xFF
        dut.hw_status.value = 0
        for _ in range(2):
            await Timer(4, unit="ns")
            await edge(dut)
        dut.aresetn.value = 1
        self.forget()

    async def cycle(self, events=None):
        """Drive, look, clock."""
        dut, rng = self.dut, self.rng
        offers = self.aw.drive(), self.w.drive(), self.ar.drive()
        dut.awvalid.value, dut.wvalid.value, dut.arvalid.value = map(int, offers)
        dut.awaddr.value = self.aw.queue[0] if offers[0] else rng.getrandbits(8)
        data, strobes = self.w.queue[0] if offers[1] else (rng.getrandbits(32), rng.getrandbits(4))
        dut.wdata.value = data
        dut.wstrb.value = strobes
        dut.araddr.value = self.ar.queue[0] if offers[2] else rng.getrandbits(8)
        takes_b, takes_r = (int(rng.randrange(100) < self.answering) for _ in range(2))
        dut.bready.value = takes_b
        dut.rready.value = takes_r
        if events is None:
            events = rng.getrandbits(8) & rng.getrandbits(8) if rng.randrange(100) < self.event_rate else 0
        dut.events.value = events
        status = rng.getrandbits(32)
        dut.hw_status.value = status
        await Timer(4, unit="ns")
        # What happened at the last edge shows in the responses that are new.
        self.look_at_read()
        self.look_at_write()
        self.regs.pending |= self.events
        assert int(dut.control.value) == self.regs.control, "control"
        assert int(dut.irq.value) == int(bool(self.regs.pending & self.regs.mask)), "irq"
        if self.b_open is not None and takes_b:
            self.b_open = None
        if self.r_open is not None and takes_r:
            self.r_open = None
        if offers[0] and int(dut.awready.value):
            self.addresses.append(self.aw.transfer())
        if offers[1] and int(dut.wready.value):
            self.datas.append(self.w.transfer())
        if offers[2] and int(dut.arready.value):
            self.reads.append(self.ar.transfer())
        self.events, self.status = events, status
        await edge(dut)

    def look_at_write(self):
        """Follow the write response; a new one has just taken effect."""
        dut = self.dut
        valid = int(dut.bvalid.value)
        if self.b_open is not None:
            assert valid, "bvalid fell before the transfer"
        elif valid:
            assert self.addresses and self.datas, "a write response without a write"
            self.b_open = self.regs.write(self.addresses.pop(0), *self.datas.pop(0))
            self.write_age = 0
        elif (self.addresses or self.aw.offered) and (self.datas or self.w.offered):
            self.write_age += 1
            assert self.write_age <= LIMIT, "no write response"
        if valid:
            assert int(dut.bresp.value) == self.b_open, "bresp"

    def look_at_read(self):
        """Follow the read response; the registers are still those of the cycle before."""
        dut = self.dut
        valid = int(dut.rvalid.value)
        if self.r_open is not None:
            assert valid, "rvalid fell before the transfer"
        elif valid:
            assert self.reads, "a read response without a read"
            self.r_open = self.regs.read(self.reads.pop(0), self.status)
            self.read_age = 0
        elif self.reads or self.ar.offered:
            self.read_age += 1
            assert self.read_age <= LIMIT, "no read response"
        if valid:
            seen = int(dut.rdata.value), int(dut.rresp.value)
            assert seen == self.r_open, f"rdata, rresp are {seen}, not {self.r_open}"

    def write(self, addr, data, strobes=15):
        """Queue a write."""
        self.aw.queue.append(addr)
        self.w.queue.append((data, strobes))

    async def drain(self, events=None):
        """Run until everything is answered, and one cycle more."""
        channels = (self.aw, self.w, self.ar)
        while any(c.queue for c in channels) or self.addresses or self.datas or self.reads:
            await self.cycle(events)
        while self.b_open is not None or self.r_open is not None:
            await self.cycle(events)
        for _ in range(2):
            await self.cycle(events)


@cocotb.test()
async def every_register(dut):
    """Reset values, writes and reads of every address, one at a time."""
    bench = Bench(dut, 1)
    await bench.reset()
    bench.event_rate = 0
    for addr in range(0, 0x30):
        bench.ar.queue.append(addr)
        await bench.drain()
    for addr in (*range(0, 0x24, 4), 0x40, 0x80, 0x84, 0x90, 0xFC):
        for data, strobes in (
            (0xFFFFFFFF, 15),
            (0x12345678, 15),
            (0xA5C3F00F, 0),
            *((0xFEDCBA98, 1 << k) for k in range(4)),
        ):
            bench.write(addr + bench.rng.randrange(4), data, strobes)
            await bench.drain()
            bench.ar.queue.append(addr)
            await bench.drain()
    bench.ar.queue += range(0, 0x100, 4)
    await bench.drain()


@cocotb.test()
async def events_and_clears(dut):
    """Events set, writes clear, and an event at the very edge of the clear wins."""
    bench = Bench(dut, 2)
    await bench.reset()
    bench.write(0x10, 0xFF)
    await bench.drain(0)
    for k in range(8):
        await bench.cycle(1 << k)
        bench.write(0x10, 1 << k)
        bench.ar.queue.append(0x0C)
        await bench.drain(0)
        bench.write(0x10, 0xFF ^ (1 << k))
        bench.write(0x0C, 0xFF ^ (1 << k))
        await bench.drain(0)
        bench.write(0x0C, 1 << k)
        await bench.drain(1 << k)
        bench.ar.queue.append(0x0C)
        bench.write(0x0C, 1 << k, 14)
        await bench.drain(0)
        bench.write(0x0C, 0xFFFFFFFF)
        await bench.drain(0)
    bench.event_rate = 60
    for _ in range(150):
        bench.write(bench.rng.choice([0x0C, 0x0C, 0x10]), bench.rng.getrandbits(8))
        bench.ar.queue.append(0x0C)
        await bench.drain()


@cocotb.test()
async def channels_apart(dut):
    """Address first, data first, slow answers, many requests in a row, reads beside writes."""
    bench = Bench(dut, 3)
    rng = bench.rng
    await bench.reset()
    for paces, answering in (((100, 100, 100), 100), ((100, 20, 50), 50), ((20, 100, 50), 50), ((60, 60, 60), 25)):
        bench.aw.pace, bench.w.pace, bench.ar.pace = paces
        bench.answering = answering
        for _ in range(60):
            addr = rng.choice([*WRITABLE, *WRITABLE, 0, 8, 0x18, 0x1C, rng.getrandbits(8)])
            bench.write(addr, rng.getrandbits(32), rng.choice([15, rng.getrandbits(4)]))
            bench.ar.queue.append(rng.choice([4, 8, 0xC, 0x10, 0x14, 0x18, rng.getrandbits(8)]))
        await bench.drain()


@cocotb.test()
async def count_and_reset(dut):
    """COUNT beyond one byte; a reset with responses waiting forgets everything."""
    bench = Bench(dut, 4)
    await bench.reset()
    for k in range(270):
        bench.write((0x14, 0x18)[k % 10 == 9], k)
    bench.ar.queue += [0x18] * 5
    await bench.drain()
    bench.ar.queue += [0x18, 0x14]
    await bench.drain()
    bench.answering = 0
    for stage in range(6):
        bench.write(0x04, 0x1234)
        if stage == 4:
            bench.w.queue.clear()
        if stage == 5:
            bench.aw.queue.clear()
        bench.ar.queue.append(0x04)
        for _ in range(1 + stage % 4 * 2):
            await bench.cycle(0xFF)
        await bench.reset()
        for _ in range(10):
            await bench.cycle(0)
        bench.answering = 100
        bench.ar.queue += [0x04, 0x0C, 0x10, 0x14, 0x18]
        await bench.drain(0)
        bench.write(0x10, 0xFF)
        await bench.drain(0)
        bench.answering = 0
