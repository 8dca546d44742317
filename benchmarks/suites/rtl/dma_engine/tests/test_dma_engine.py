"""Hidden test of dma_engine: every cycle compared with a model of the engine, the memory's contents at the end."""

import random

import cocotb
from cocotb.triggers import Timer

STATE = ("busy", "done", "error", "canceled", "left", "m_valid")


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


class Engine:
    """The model: outputs of the present cycle, and the access under way."""

    def __init__(self):
        self.busy = self.done = self.error = self.canceled = self.left = self.m_valid = 0
        self.write = self.addr = self.data = 0
        self.stop = False
        self.job = None

    def clock(self, job, cancel, ready, response):
        """Take an edge; job is (src, dst, count, src_fixed, dst_fixed) or None, response (error, data) or None."""
        self.done = 0
        if self.m_valid and ready:
            self.m_valid = 0
        if not self.busy:
            if job is not None:
                self.begin(*job)
            return
        self.stop = self.stop or bool(cancel)
        if response is not None:
            self.respond(*response)

    def begin(self, src, dst, count, src_fixed, dst_fixed):
        """Start a job."""
        self.error = self.canceled = 0
        self.left = count
        self.done, self.busy, self.m_valid = int(not count), int(bool(count)), int(bool(count))
        self.job = [src & ~3, dst & ~3, 0 if src_fixed else 4, 0 if dst_fixed else 4]
        self.write, self.addr, self.stop = 0, self.job[0], False

    def respond(self, error, data):
        """Take the response of the access under way."""
        copied = self.write and not error
        if copied:
            self.left -= 1
            self.job[0] = (self.job[0] + self.job[2]) & 0xFFFF
            self.job[1] = (self.job[1] + self.job[3]) & 0xFFFF
        finished = copied and not self.left
        if error or finished or self.stop:
            self.busy, self.done = 0, 1
            self.error, self.canceled = int(error), int(not error and not finished)
        else:
            self.m_valid = 1
            if self.write:
                self.write, self.addr = 0, self.job[0]
            else:
                self.write, self.addr, self.data = 1, self.job[1], data


class Bench:
    """Drives the jobs and the memory."""

    def __init__(self, dut, seed):
        self.dut = dut
        self.rng = random.Random(seed)
        self.memory = {}
        self.engine = Engine()
        self.waits = None  # cycles until the response of the access taken
        self.speed = 100
        self.failing = 0

    async def reset(self):
        """Reset asynchronously, and see the outputs at once."""
        dut = self.dut
        dut.clk.value = 0
        dut.rst_n.value = 0
        for port in (dut.cancel, dut.m_resp, dut.m_error, dut.m_rdata, dut.m_ready):
            port.value = 0
        for port in (dut.src, dut.dst, dut.count, dut.src_fixed, dut.dst_fixed, dut.start):
            port.value = 1
        await Timer(4, unit="ns")
        assert [int(getattr(dut, name).value) for name in STATE] == [0] * 6, "outputs in reset"
        await edge(dut)
        self.engine = Engine()
        self.waits = None
        dut.rst_n.value = 1

    async def cycle(self, job=None, cancel=0):
        """Drive one cycle, compare, clock."""
        dut, rng, engine = self.dut, self.rng, self.engine
        dut.start.value = int(job is not None)
        values = job or (
            rng.getrandbits(16),
            rng.getrandbits(16),
            rng.getrandbits(8),
            rng.randrange(2),
            rng.randrange(2),
        )
        for port, value in zip((dut.src, dut.dst, dut.count, dut.src_fixed, dut.dst_fixed), values, strict=True):
            port.value = value
        dut.cancel.value = cancel
        ready = int(rng.randrange(100) < self.speed)
        response = None
        if self.waits == 0:
            response = (int(rng.randrange(100) < self.failing), self.memory.get(engine.addr, engine.addr * 0x10001))
            self.waits = None
            if engine.write and not response[0]:
                self.memory[engine.addr] = engine.data
        elif self.waits is not None:
            self.waits -= 1
        dut.m_ready.value = ready
        dut.m_resp.value = int(response is not None)
        dut.m_error.value = response[0] if response else rng.randrange(2)
        dut.m_rdata.value = response[1] if response and not engine.write else rng.getrandbits(32)
        await Timer(4, unit="ns")
        self.compare()
        if engine.m_valid and ready:
            self.waits = 0 if self.speed == 100 else rng.choice([0, 0, 1, 3])
        engine.clock(job, cancel, ready, response)
        await edge(dut)

    def compare(self):
        """Compare all outputs that have a defined value."""
        dut, engine = self.dut, self.engine
        seen = [int(getattr(dut, name).value) for name in STATE]
        right = [getattr(engine, name) for name in STATE]
        assert seen == right, f"{STATE} are {seen}, not {right}"
        if engine.m_valid:
            access = [int(dut.m_write.value), int(dut.m_addr.value)]
            assert access == [engine.write, engine.addr], f"m_write, m_addr are {access}"
            if engine.write:
                assert int(dut.m_wdata.value) == engine.data, "m_wdata"

    async def run(self, job, *, cancels=0, busy_starts=30, pause=0):
        """Run one job to its end; cancels in percent of cycles."""
        rng = self.rng
        await self.cycle(job, cancel=int(rng.randrange(100) < 30))
        while self.engine.busy:
            other = (8, 16, 5, 0, 0) if rng.randrange(100) < busy_starts else None
            if self.engine.busy:
                await self.cycle(other, cancel=int(rng.randrange(100) < cancels))
        for _ in range(pause):
            await self.cycle(cancel=rng.randrange(2))


@cocotb.test()
async def plain_copies(dut):
    """Lengths from 0 on, fixed addresses, addresses that wrap, and the copied memory."""
    bench = Bench(dut, 1)
    await bench.reset()
    for k, count in enumerate((1, 0, 2, 3, 0, 0, 7)):
        src, dst = 0x100 + 64 * k, 0x2003 + 64 * k
        await bench.run((src, dst, count, 0, 0), pause=k % 3)
        for w in range(count):
            assert bench.memory[(dst & ~3) + 4 * w] == (src + 4 * w) * 0x10001, "the word in memory"
    await bench.run((0x1234, 0x4000, 3, 1, 0))
    await bench.run((0x1235, 0x4002, 3, 0, 1))
    await bench.run((0xFFF9, 0xFFF4, 5, 0, 0))
    await bench.run((0x0003, 0x8000, 2, 1, 1), pause=2)
    await bench.run((0, 0x1000, 255, 0, 0), pause=1)


@cocotb.test()
async def slow_memory(dut):
    """Random jobs with waits on both halves of an access."""
    bench = Bench(dut, 2)
    rng = bench.rng
    await bench.reset()
    bench.speed = 50
    for _ in range(40):
        job = (rng.getrandbits(16), rng.getrandbits(16), rng.randrange(6), rng.randrange(2), rng.randrange(2))
        await bench.run(job, pause=rng.choice([0, 0, 2]))


@cocotb.test()
async def errors_and_cancels(dut):
    """Failing accesses, cancels at any time, and both together."""
    bench = Bench(dut, 3)
    rng = bench.rng
    await bench.reset()
    for k in range(150):
        bench.speed = (100, 60)[k % 2]
        bench.failing = (0, 15, 30)[k % 3]
        job = (rng.getrandbits(16), rng.getrandbits(16), rng.choice([0, 1, 1, 2, 3, 5]), rng.randrange(2), 0)
        await bench.run(job, cancels=(0, 5, 30)[k // 3 % 3], pause=rng.choice([0, 0, 0, 1]))


@cocotb.test()
async def asynchronous_reset(dut):
    """A reset at several times; the next job is not touched by what was before."""
    bench = Bench(dut, 4)
    for cycles in range(1, 14):
        await bench.reset()
        await bench.cycle((0x40, 0x80, 3, 0, 0))
        for k in range(cycles):
            await bench.cycle(cancel=int(k == 2))
        while bench.waits is not None:
            await bench.cycle()
        await bench.reset()
        for _ in range(3):
            await bench.cycle()
        await bench.run((0x11, 0x91, 2, 0, 0))
    await bench.reset()
    bench.failing = 100
    await bench.run((0x11, 0x91, 2, 0, 0))
    await bench.reset()
    await bench.cycle()
