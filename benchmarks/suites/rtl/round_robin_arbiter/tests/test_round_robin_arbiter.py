"""Hidden test of round_robin_arbiter: every cycle beside the rules, in each state of the arbiter."""

import random

import cocotb
from cocotb.triggers import Timer


class Bench:
    """The design beside a model of the rules."""

    def __init__(self, dut):
        self.dut = dut
        self.first, self.owner = 0, None

    def granted(self, req):
        order = [(self.first + k) % 8 for k in range(8)] if self.owner is None else [self.owner]
        return next((k for k in order if req >> k & 1), None)

    def check(self, req):
        k = self.granted(req)
        seen = int(self.dut.grant.value), int(self.dut.grant_index.value), int(self.dut.grant_valid.value)
        expected = (0, 0, 0) if k is None else (1 << k, k, 1)
        state = f"req {req:08b}, first {self.first}, locked to {self.owner}"
        assert seen == expected, f"grant, grant_index, grant_valid {seen}, not {expected}: {state}"

    async def look(self, req, lock=0, accept=0):
        """Drive the inputs, and check the outputs before the edge."""
        self.dut.req.value = req
        self.dut.lock.value = lock
        self.dut.accept.value = accept
        await Timer(2, unit="ns")
        self.check(req)

    async def cycle(self, req, lock=0, accept=0):
        await self.look(req, lock, accept)
        k = self.granted(req)
        if k is None:
            self.owner = None
        elif accept:
            self.first = (k + 1) % 8
            self.owner = k if lock else None
        self.dut.clk.value = 1
        await Timer(5, unit="ns")
        self.dut.clk.value = 0

    async def reset(self):
        dut = self.dut
        # From 1, because Verilator's inputs are 0 from the start: no edge, no asynchronous reset.
        dut.clk.value = 0
        dut.rst_n.value = 1
        await Timer(1, unit="ns")
        dut.rst_n.value = 0
        dut.req.value = 0xF0
        dut.lock.value = 1
        dut.accept.value = 1
        self.first, self.owner = 0, None
        for clk in (0, 1, 0):
            dut.clk.value = clk
            await Timer(2, unit="ns")
            self.check(0xF0)
        await self.look(0x81)
        dut.rst_n.value = 1


async def started(dut):
    bench = Bench(dut)
    await bench.reset()
    return bench


@cocotb.test()
async def turns(dut):
    """With all requesting, each has its turn; without accept the grant stays."""
    bench = await started(dut)
    for _ in range(20):
        await bench.cycle(0xFF, accept=0)
        await bench.cycle(0xFF, accept=1)
    for k in range(8):
        for _ in range(2):
            await bench.cycle(1 << k, accept=1)
        await bench.look(0xFF)
    await bench.cycle(0, lock=1, accept=1)
    await bench.cycle(0xFF, accept=0)


@cocotb.test()
async def each_position(dut):
    """From each position: each single request, each pair, and none."""
    bench = await started(dut)
    for first in range(8):
        await bench.cycle(1 << (first - 1) % 8, accept=1)
        await bench.look(0)
        for a in range(8):
            for b in range(a, 8):
                await bench.look(1 << a | 1 << b)


@cocotb.test()
async def locks(dut):
    """Locked to each requester: others wait, release by accept without lock, and by an idle cycle."""
    bench = await started(dut)
    for k in range(8):
        for release in range(5):
            await bench.cycle(1 << k, lock=1, accept=1)
            await bench.cycle(0xFF, lock=0, accept=0)
            await bench.cycle(0xFF, lock=1, accept=1)
            await bench.look(0xFF ^ 1 << k, lock=1, accept=1)
            if release == 0:
                await bench.cycle(0xFF, lock=0, accept=1)
            elif release < 4:
                await bench.cycle(0xFF ^ 1 << k, lock=release & 1, accept=release >> 1)
            else:
                await bench.reset()
            await bench.look(0xFF)
            await bench.look(1 << k)
            await bench.look(0xFF ^ 1 << k)
            await bench.cycle(0, accept=0)
            await bench.look(0xFF)


@cocotb.test()
async def random_requests(dut):
    """Random requests, locks and accepts; some requests are held."""
    rng = random.Random(1)
    bench = await started(dut)
    req = 0
    for _ in range(1500):
        if rng.random() < 0.6:
            req = rng.getrandbits(8) & rng.choice((0xFF, rng.getrandbits(8)))
        elif rng.random() < 0.2:
            req |= 1 << rng.randrange(8)
        await bench.cycle(req, rng.random() < 0.3, rng.random() < 0.7)
        if rng.random() < 0.01:
            await bench.reset()
