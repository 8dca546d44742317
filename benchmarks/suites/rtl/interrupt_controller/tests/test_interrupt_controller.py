"""Hidden test of interrupt_controller: every cycle compared with a model; all registers read through the bus."""

import random

import cocotb
from cocotb.triggers import Timer

ENABLE, EDGE, PENDING, ACTIVE, THRESHOLD, CLAIM, PRIORITY = 0, 1, 2, 3, 4, 5, 8


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


class Controller:
    """The model; sources are sets of numbers where that is simpler."""

    def __init__(self):
        self.enable = self.edges = self.sample = self.captured = self.active = self.threshold = 0
        self.priorities = [0] * 8

    def pending(self):
        """Return PENDING."""
        return (self.captured & self.edges) | (self.sample & ~self.edges)

    def best(self):
        """Return the source requested, or None."""
        running = [p for k, p in enumerate(self.priorities) if (self.active >> k) & 1]
        least = max([self.threshold, *running])
        able = self.pending() & self.enable & ~self.active
        found = [k for k in range(8) if (able >> k) & 1 and self.priorities[k] > least]
        return max(found, key=lambda k: (self.priorities[k], -k), default=None)

    def read(self, addr):
        """Return rdata."""
        if addr >= PRIORITY:
            return self.priorities[addr - PRIORITY]
        best = self.best()
        claim = 0 if best is None else best + 1
        return (self.enable, self.edges, self.pending(), self.active, self.threshold, claim, 0, 0)[addr]

    def clock(self, sources, we, re, addr, wdata):
        """Take an edge."""
        best = self.best()
        rising = sources & ~self.sample & self.edges
        if we and addr == PENDING:
            self.captured &= ~wdata
        if re and addr == CLAIM and best is not None:
            self.active |= 1 << best
            self.captured &= ~(1 << best)
        self.captured = (self.captured & self.edges) | rising
        self.sample = sources
        if we:
            self.store(addr, wdata)

    def store(self, addr, wdata):
        """Write a register other than PENDING."""
        if addr == ENABLE:
            self.enable = wdata
        elif addr == EDGE:
            self.edges = wdata
        elif addr == THRESHOLD:
            self.threshold = wdata & 7
        elif addr == CLAIM and 1 <= wdata <= 8:
            self.active &= ~(1 << (wdata - 1))
        elif addr >= PRIORITY:
            self.priorities[addr - PRIORITY] = wdata & 7


async def reset(dut):
    dut.clk.value = 0
    dut.rst.value = 1
    dut.sources.value = 0xFF
    dut.we.value = 1
    dut.re.value = 1
    dut.addr.value = 9
    dut.wdata.value = 0xFF
    for _ in range(2):
        await Timer(4, unit="ns")
        await edge(dut)
    dut.rst.value = 0
    return Controller()


async def cycle(dut, model, sources, *, we=0, re=0, addr=0, wdata=0):
    dut.sources.value = sources
    dut.we.value = we
    dut.re.value = re
    dut.addr.value = addr
    dut.wdata.value = wdata
    await Timer(4, unit="ns")
    best = model.best()
    where = f"pending {model.pending():#x}, active {model.active:#x}, priorities {model.priorities}"
    seen = int(dut.irq.value), int(dut.irq_id.value)
    assert seen == (int(best is not None), best or 0), f"irq, irq_id {seen}, {where}"
    assert int(dut.rdata.value) == model.read(addr), f"rdata at {addr} is {int(dut.rdata.value)}, {where}"
    model.clock(sources, we, re, addr, wdata)
    await edge(dut)


async def look(dut, model, sources):
    """Read every register, without re but for CLAIM's neighbours."""
    for addr in range(16):
        await cycle(dut, model, sources, re=int(addr != CLAIM), addr=addr, wdata=0xFF)


@cocotb.test()
async def registers(dut):
    """Reset values; each register keeps what is written, and only the bits it has."""
    rng = random.Random(1)
    model = await reset(dut)
    await look(dut, model, 0)
    for _ in range(3):
        for addr in range(16):
            await cycle(dut, model, 0, we=1, addr=addr, wdata=rng.choice([0xFF, rng.randrange(256)]))
        await look(dut, model, 0)
        await look(dut, model, 0xA5)
    model = await reset(dut)
    await look(dut, model, 0)


@cocotb.test()
async def edges_and_levels(dut):
    """Edges are captured once, cleared and set at the same edge; levels follow their source."""
    model = await reset(dut)
    for k in range(8):
        await cycle(dut, model, 0, we=1, addr=PRIORITY + k, wdata=k // 2 + 1)
    for edges in (0x00, 0xFF, 0x5A):
        await cycle(dut, model, 0, we=1, addr=EDGE, wdata=edges)
        await cycle(dut, model, 0, we=1, addr=ENABLE, wdata=0xFF)
        for k in range(8):
            await cycle(dut, model, 1 << k, addr=PENDING)
            await cycle(dut, model, 1 << k, we=1, addr=PENDING, wdata=1 << k)
            await cycle(dut, model, 0, addr=PENDING)
            await cycle(dut, model, 1 << k, we=1, addr=PENDING, wdata=1 << k)
            await cycle(dut, model, 0, re=1, addr=CLAIM)
            await cycle(dut, model, 1 << k, re=1, addr=CLAIM)
            await cycle(dut, model, 1 << k, re=0, addr=CLAIM)
            await look(dut, model, 0)
            for n in (0, 9, 16, k + 9, k + 129, k + 1):
                await cycle(dut, model, 0, we=1, addr=CLAIM, wdata=n)
            await cycle(dut, model, 0, we=1, addr=PENDING, wdata=0xFF)
    # A captured edge is gone when its source becomes level-triggered.
    await cycle(dut, model, 0xFF, we=1, addr=EDGE, wdata=0)
    await cycle(dut, model, 0xFF, we=1, addr=EDGE, wdata=0xFF)
    await look(dut, model, 0xFF)


@cocotb.test()
async def random_operation(dut):
    """Random sources and accesses, with claims and completions as software makes them."""
    rng = random.Random(3)
    for _ in range(6):
        model = await reset(dut)
        await cycle(dut, model, 0, we=1, addr=ENABLE, wdata=0xFF)
        await cycle(dut, model, 0, we=1, addr=EDGE, wdata=rng.randrange(256))
        for k in range(8):
            await cycle(dut, model, 0, we=1, addr=PRIORITY + k, wdata=rng.randrange(1, 8))
        for _ in range(350):
            sources = rng.getrandbits(8) & rng.getrandbits(8)
            kind = rng.randrange(12)
            addr, we, re, wdata = rng.randrange(16), 0, rng.randrange(2), rng.randrange(256)
            if kind < 3:
                addr, re = CLAIM, 1
            elif kind < 6:
                active = [k + 1 for k in range(8) if (model.active >> k) & 1]
                addr, we, wdata = CLAIM, 1, rng.choice([*active, *active, rng.randrange(12)])
            elif kind == 6:
                addr = rng.choice([PRIORITY + rng.randrange(8), PENDING, PENDING])
                we = 1
            elif kind == 7 and rng.randrange(3) == 0:
                addr = rng.choice([ENABLE, EDGE, THRESHOLD])
                we, wdata = 1, rng.choice([wdata, wdata | 0xF0]) if addr != THRESHOLD else rng.choice([0, 1, 2, 8])
            await cycle(dut, model, sources, we=we, re=re, addr=addr, wdata=wdata)
