"""Hidden test of cache_direct_mapped: responses, hits' timing and the exact memory traffic, against a model."""

import random

import cocotb
from cocotb.triggers import Timer

IDLE_LIMIT = 4
RESET_LIMIT = 16


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


class Model:
    """The cache and its memory; `access` says what one request reads and which memory accesses it causes."""

    def __init__(self, memory):
        self.memory = memory
        self.lines = {}

    def access(self, write, addr, data, strobes):
        """Return the word read, and the list of (write, address, data or None)."""
        index, tag = (addr >> 2) & 7, addr >> 5
        line = self.lines.get(index)
        traffic = []
        if line is None or line["tag"] != tag:
            if line is not None and line["dirty"]:
                base = line["tag"] << 5 | index << 2
                traffic += [(1, base + k, line["words"][k]) for k in range(4)]
                self.memory[base : base + 4] = line["words"]
            base = addr & ~3
            traffic += [(0, base + k, None) for k in range(4)]
            line = self.lines[index] = {"tag": tag, "dirty": False, "words": self.memory[base : base + 4]}
        read = line["words"][addr & 3]
        if write:
            mask = sum(0xFF << 8 * k for k in range(4) if (strobes >> k) & 1)
            line["words"][addr & 3] = (read & ~mask) | (data & mask)
            line["dirty"] = True
        return read, traffic


class Bench:
    """Runs one cycle after the other: requester and memory drive, everything is compared."""

    def __init__(self, dut, seed):
        self.dut = dut
        self.rng = random.Random(seed)
        self.memory = [self.rng.getrandbits(32) for _ in range(1024)]
        self.model = Model(list(self.memory))
        self.todo = []
        self.offered = False
        self.traffic = []  # still expected of the miss under way
        self.due = None  # (expected word or None, may come now, must come now)
        self.reading = None  # the address of the read whose data are owed
        self.wait = 0
        self.held = None
        self.idle = 0
        self.rested = False
        self.speed = 100

    async def reset(self):
        """Reset the design; the memory keeps its words."""
        dut = self.dut
        dut.clk.value = 0
        dut.rst.value = 1
        for port in (dut.req_write, dut.req_addr, dut.req_wdata, dut.req_wstrb, dut.mem_rdata):
            port.value = 0
        dut.req_valid.value = 1
        dut.mem_ready.value = 1
        dut.mem_rvalid.value = 0
        for k in range(2):
            await Timer(4, unit="ns")
            if k:
                assert int(dut.resp_valid.value) == 0, "resp_valid in reset"
                assert int(dut.mem_valid.value) == 0, "mem_valid in reset"
            await edge(dut)
        dut.rst.value = 0
        dut.req_valid.value = 0
        for k in range(RESET_LIMIT + 1):
            await Timer(4, unit="ns")
            assert int(dut.resp_valid.value) == 0, "resp_valid after reset"
            assert int(dut.mem_valid.value) == 0, "mem_valid after reset"
            if int(dut.req_ready.value):
                break
            assert k < RESET_LIMIT, "not ready after reset"
            await edge(dut)
        self.model = Model(list(self.memory))
        self.traffic, self.due, self.reading, self.held, self.offered = [], None, None, None, False
        self.rested = True

    async def run(self, requests, *, pace=100, speed=100, cycles=None):
        """Send requests (write, addr, data, strobes) until all are answered; pace and speed in percent."""
        self.todo = list(requests)
        self.speed = speed
        while self.todo or self.due:
            await self.cycle(pace)
            if cycles is not None:
                cycles -= 1
                if cycles <= 0 and self.reading is None:
                    return
        for _ in range(3):
            await self.cycle(pace)

    async def cycle(self, pace):
        """Drive, look, clock."""
        dut, rng = self.dut, self.rng
        self.offered = self.offered or (bool(self.todo) and rng.randrange(100) < pace)
        garbage = (rng.randrange(2), rng.getrandbits(10), rng.getrandbits(32), rng.getrandbits(4))
        request = self.todo[0] if self.offered else garbage
        dut.req_valid.value = int(self.offered)
        for port, value in zip((dut.req_write, dut.req_addr, dut.req_wdata, dut.req_wstrb), request, strict=True):
            port.value = value
        ready = int(rng.randrange(100) < self.speed)
        dut.mem_ready.value = ready
        answers = self.reading is not None and self.wait == 0
        self.wait = max(0, self.wait - 1)
        dut.mem_rvalid.value = int(answers)
        dut.mem_rdata.value = self.memory[self.reading] if answers else rng.getrandbits(32)
        await Timer(4, unit="ns")
        responded = self.look_at_response()
        accepts = int(dut.req_ready.value)
        if self.rested:
            assert accepts, "req_ready fell although nothing is under way"
        if self.due is not None and not responded:
            assert not accepts, "req_ready is 1 in a miss"
        self.rested = self.due is None or responded
        self.look_at_memory(ready, answers)
        if responded:
            self.due = None
        if self.offered and accepts:
            self.offered = False
            self.accept(self.todo.pop(0))
        await edge(dut)

    def look_at_response(self):
        """Compare the response; return whether there was one."""
        dut = self.dut
        responded = int(dut.resp_valid.value)
        if responded:
            assert self.due is not None, "a response to nothing"
            assert not self.traffic and self.reading is None, "a response before the miss is over"
            expected, _ = self.due
            if expected is not None:
                seen = int(dut.resp_rdata.value)
                assert seen == expected, f"read {seen:#x}, not {expected:#x}"
        elif self.due is not None:
            assert not self.due[1], "a hit without a response in the next cycle"
        return responded

    def look_at_memory(self, ready, answers):
        """Compare the access offered; `answers`: this cycle carries the data of a read."""
        dut = self.dut
        offers = int(dut.mem_valid.value)
        if self.reading is not None:
            assert not offers, "an access while a read's data are owed"
        if answers:
            self.reading = None
            self.idle = 0
        elif offers:
            assert self.traffic, "an access that should not be"
            write, addr, data = self.traffic[0]
            seen = (int(dut.mem_write.value), int(dut.mem_addr.value), int(dut.mem_wdata.value) if write else None)
            assert seen == (write, addr, data), f"access {seen}, not {self.traffic[0]}"
            self.idle = 0
            if ready:
                self.transfer(write, addr, data)
        else:
            assert not self.held, "mem_valid fell before the transfer"
            if self.reading is None and self.due is not None and not int(dut.resp_valid.value):
                self.idle += 1
                assert self.idle <= IDLE_LIMIT, "the miss does not go on"
        self.held = offers and not ready

    def transfer(self, write, addr, data):
        """Let the memory take an access."""
        self.traffic.pop(0)
        if write:
            self.memory[addr] = data
        else:
            self.reading = addr
            self.wait = 0 if self.speed == 100 else self.rng.randrange(5)

    def accept(self, request):
        """Note what has to follow from a request."""
        write, addr, data, strobes = request
        read, self.traffic = self.model.access(write, addr, data, strobes)
        hit = not self.traffic
        self.due = (None if write else read, hit)
        self.rested = hit
        self.idle = 0


def some_requests(rng, count, tags, indices):
    """Return requests that often meet the same lines."""
    found = []
    for _ in range(count):
        addr = rng.choice(tags) << 5 | rng.choice(indices) << 2 | rng.randrange(4)
        strobes = rng.choice([15, 15, 0, 1, 2, 4, 8, rng.getrandbits(4)])
        found.append((int(rng.randrange(5) < 2), addr, rng.getrandbits(32), strobes))
    return found


@cocotb.test()
async def every_line(dut):
    """Misses and hits in each line; dirty and clean victims, also by a write without strobes."""
    bench = Bench(dut, 1)
    await bench.reset()
    requests = []
    for index in range(8):
        base = index << 2
        requests += [(0, base + k, 0, 0) for k in (2, 0, 1, 3)]
        requests += [
            (1, base + 1, 0xA5A5A5A5, 15),
            (0, base + 1, 0, 0),
            (1, base + 1, 0x12345678, 5),
            (0, base + 1, 0, 0),
        ]
        requests += [(0, base + 32, 0, 0), (0, base, 0, 0), (0, base + 1, 0, 0)]
        requests += [
            (1, base + 64 + 3, 0xDEADBEEF, 8),
            (0, base + 64 + 3, 0, 0),
            (1, base + 96, 7, 0),
            (0, base + 992, 0, 0),
        ]
    await bench.run(requests)
    await bench.run([(0, index << 2 | tag << 5, 0, 0) for tag in range(32) for index in (0, 5)])


@cocotb.test()
async def random_requests(dut):
    """Random requests on few lines and many, with a fast and a slow memory."""
    bench = Bench(dut, 2)
    rng = bench.rng
    await bench.reset()
    await bench.run(some_requests(rng, 250, [0, 1], [3, 4]))
    await bench.run(some_requests(rng, 120, range(32), range(8)), pace=60, speed=50)
    await bench.run(some_requests(rng, 200, [1, 9, 17], [0, 7]), pace=80, speed=70)


@cocotb.test()
async def reset_forgets(dut):
    """After a reset everything misses, nothing is written back, and a miss is forgotten."""
    bench = Bench(dut, 3)
    rng = bench.rng
    await bench.reset()
    for cycles in (None, 1, 3, 6, 9, 10, 14, 20):
        await bench.run([(1, index << 2, rng.getrandbits(32), 15) for index in range(8)])
        if cycles is not None:
            await bench.run([(rng.randrange(2), 512 + (index << 2), 99, 15) for index in range(8)], cycles=cycles)
        await bench.reset()
        await bench.run([(0, index << 2, 0, 0) for index in range(8)])
