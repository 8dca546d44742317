"""Hidden test of vga_timing: every cycle of small and large rasters, whose timing changes in the middle of frames."""

import random

import cocotb
from cocotb.triggers import Timer

INPUTS = (
    "h_active",
    "h_front",
    "h_sync",
    "h_back",
    "v_active",
    "v_front",
    "v_sync",
    "v_back",
    "h_positive",
    "v_positive",
)
OUTPUTS = ("hsync", "vsync", "visible", "x", "y", "line_start", "frame_start")


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


class Raster:
    """The model: outputs of the present cycle from position and stored timing."""

    def __init__(self):
        self.timing = None
        self.running = False
        self.h = self.v = 0

    def clock(self, rst, en, timing):
        """Take an edge."""
        if rst or not en:
            self.running, self.h, self.v = False, 0, 0
        elif not self.running:
            self.running, self.h, self.v = True, 0, 0
        else:
            self.h = (self.h + 1) % sum(self.timing[0:4])
            if self.h == 0:
                self.v = (self.v + 1) % sum(self.timing[4:8])
        if (self.h, self.v) == (0, 0):
            self.timing = timing

    def outputs(self):
        """Return what OUTPUTS names."""
        h_active, h_front, h_sync, _, v_active, v_front, v_sync, _, h_positive, v_positive = self.timing
        h_on = self.running and 0 <= self.h - h_active - h_front < h_sync
        v_on = self.running and 0 <= self.v - v_active - v_front < v_sync
        lines = self.running and self.v < v_active
        visible = lines and self.h < h_active
        return (
            int(h_on == bool(h_positive)),
            int(v_on == bool(v_positive)),
            int(visible),
            self.h if visible else 0,
            self.v if visible else 0,
            int(lines and self.h == 0),
            int(self.running and (self.h, self.v) == (0, 0)),
        )


class Bench:
    """Drives the inputs only when they change, for the long rasters' sake."""

    def __init__(self, dut):
        self.dut = dut
        self.model = Raster()
        self.driven = None
        self.outputs = [getattr(dut, name) for name in OUTPUTS]

    async def cycle(self, timing, en=1, rst=0):
        """Drive, compare, clock."""
        dut = self.dut
        if self.driven != (timing, en, rst):
            for name, value in zip(INPUTS, timing, strict=True):
                getattr(dut, name).value = value
            dut.en.value = en
            dut.rst.value = rst
            self.driven = (timing, en, rst)
        await Timer(4, unit="ns")
        if self.model.timing is not None:
            seen = tuple(int(port.value) for port in self.outputs)
            right = self.model.outputs()
            where = f"h {self.model.h}, v {self.model.v}, timing {self.model.timing}"
            assert seen == right, f"{OUTPUTS} are {seen}, not {right}, {where}"
        self.model.clock(rst, en, timing)
        await edge(dut)

    async def reset(self, timing):
        """Reset for two cycles, with en = 1."""
        self.dut.clk.value = 0
        await self.cycle(timing, rst=1)
        await self.cycle(timing, rst=1)


def some_timing(rng, longest=6):
    return (*(rng.randint(1, longest) for _ in range(8)), rng.randrange(2), rng.randrange(2))


@cocotb.test()
async def whole_frames(dut):
    """Frames of several timings and all polarities, one after the other."""
    rng = random.Random(1)
    bench = Bench(dut)
    timings = [(5, 1, 2, 3, 3, 1, 2, 2, k & 1, k >> 1) for k in range(4)] + [(1,) * 8 + (0, 1)]
    await bench.reset(timings[0])
    for timing in (*timings, *(some_timing(rng, 5) for _ in range(6))):
        for _ in range(sum(timing[0:4]) * sum(timing[4:8])):
            await bench.cycle(timing)


@cocotb.test()
async def changes_and_stops(dut):
    """The inputs change at any time, and en and rst stop the generator at any time."""
    rng = random.Random(2)
    bench = Bench(dut)
    await bench.reset(some_timing(rng))
    timing = some_timing(rng)
    for k in range(3000):
        if rng.randrange(3) == 0:
            timing = some_timing(rng, 3)
        stops = rng.randrange(400) == 0 or (k > 2500 and rng.randrange(5) == 0)
        await bench.cycle(timing, en=int(not stops), rst=int(rng.randrange(500) == 0))


@cocotb.test()
async def long_lines(dut):
    """The largest horizontal lengths, over a line's end."""
    bench = Bench(dut)
    timing = (2047, 255, 255, 255, 1, 1, 1, 1, 1, 0)
    await bench.reset(timing)
    for _ in range(2900):
        await bench.cycle(timing)


@cocotb.test()
async def many_lines(dut):
    """Large vertical lengths, over a frame's end."""
    bench = Bench(dut)
    timing = (1, 1, 1, 1, 1030, 10, 20, 10, 0, 1)
    await bench.reset(timing)
    for _ in range(4 * 1070 + 12):
        await bench.cycle(timing)
