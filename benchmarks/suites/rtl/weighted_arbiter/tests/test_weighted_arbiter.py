"""Hidden test of weighted_arbiter: grants and turns in every cycle beside the rules."""

import random

import cocotb
from cocotb.triggers import Timer


class Bench:
    """The design beside a model of the rules."""

    def __init__(self, dut):
        self.dut = dut
        self.owner = self.left = None

    def rule(self, req, weights):
        """Give the winner, and the turn's rest if the grant is accepted."""
        if self.left and req >> self.owner & 1:
            return self.owner, self.left - 1
        for k in range(1, 5):
            place = (self.owner + k) % 4
            if req >> place & 1 and weights[place]:
                return place, weights[place] - 1
        return None, None

    async def look(self, req, weights, accept=0, rst=0):
        dut = self.dut
        dut.req.value = req
        dut.weights.value = sum(weight << 4 * k for k, weight in enumerate(weights))
        dut.accept.value = accept
        dut.rst.value = rst
        await Timer(2, unit="ns")
        if self.owner is None:
            return
        winner, _ = self.rule(req, weights)
        seen = tuple(int(p.value) for p in (dut.grant, dut.grant_valid, dut.owner, dut.left))
        expected = 0 if winner is None else 1 << winner, int(winner is not None), self.owner, self.left
        assert seen == expected, f"grant, valid, owner, left {seen}, not {expected}: {req:04b}, {weights}"

    async def cycle(self, req, weights, accept=1, rst=0):
        await self.look(req, weights, accept, rst)
        if rst:
            self.owner, self.left = 3, 0
        elif accept:
            winner, left = self.rule(req, weights)
            if winner is not None:
                self.owner, self.left = winner, left
        self.dut.clk.value = 1
        await Timer(5, unit="ns")
        self.dut.clk.value = 0


async def started(dut):
    bench = Bench(dut)
    dut.clk.value = 0
    await bench.cycle(0b0001, [5, 5, 5, 5], rst=1)
    return bench


@cocotb.test()
async def shares(dut):
    """All request always: each gets as many grants in a row as it weighs."""
    bench = await started(dut)
    for weights in ([1, 1, 1, 1], [4, 1, 2, 3], [15, 0, 1, 0], [0, 2, 0, 15], [0, 0, 0, 1], [0, 0, 0, 0]):
        for _ in range(36):
            await bench.cycle(0b1111, weights)
        await bench.cycle(0b1111, weights, accept=0)
        await bench.cycle(0b0101, weights, rst=1)


@cocotb.test()
async def turn_cut_short(dut):
    """The owner pauses: its turn waits, unless another's grant is accepted meanwhile."""
    bench = await started(dut)
    weights = [5, 3, 4, 2]
    for k in range(4):
        for other in range(4):
            await bench.cycle(0, weights, rst=1)
            await bench.cycle(1 << k, weights)
            await bench.cycle(0, weights)
            await bench.cycle(1 << other & ~(1 << k), weights, accept=0)
            await bench.cycle(1 << k | 1 << other, weights, accept=0)
            await bench.cycle(1 << k | 1 << other, weights)
            await bench.cycle(1 << other & ~(1 << k), weights)
            for _ in range(8):
                await bench.cycle(1 << k | 1 << other, weights)


@cocotb.test()
async def weights_change(dut):
    """A weight that becomes 0 in a turn does not end it; a new one counts from the next turn on."""
    bench = await started(dut)
    for k in range(4):
        await bench.cycle(0, [3] * 4, rst=1)
        await bench.cycle(1 << k, [3] * 4)
        off = [0 if j == k else 2 for j in range(4)]
        for _ in range(12):
            await bench.cycle(0b1111, off)
        for _ in range(5):
            await bench.cycle(1 << k, off)
        await bench.cycle(1 << k, [9] * 4)
        await bench.cycle(1 << k, [9] * 4)


@cocotb.test()
async def every_state(dut):
    """Each owner, with and without a rest of its turn: every set of requests by every set of nonzero weights."""
    bench = await started(dut)
    for owner in range(4):
        for weight in (1, 2):
            await bench.cycle(0, [1] * 4, rst=1)
            await bench.cycle(1 << owner, [weight] * 4)
            for req in range(16):
                for some in range(0, 16, 1 if weight == 1 else 3):
                    await bench.look(req, [some >> k & 1 and 8 >> k for k in range(4)])


@cocotb.test()
async def random_requests(dut):
    """Everything at random."""
    rng = random.Random(1)
    bench = await started(dut)
    weights = [1] * 4
    for _ in range(1200):
        if rng.random() < 0.1:
            weights = [rng.choice((0, 1, 2, 3, 7, 8, 15)) for _ in range(4)]
        req = rng.getrandbits(4) | rng.getrandbits(4)
        await bench.cycle(req, weights, rng.random() < 0.8, rng.random() < 0.01)
