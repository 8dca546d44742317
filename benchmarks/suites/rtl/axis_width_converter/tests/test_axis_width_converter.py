"""Hidden test of axis_width_converter: every cycle, against a queue of words."""

import random

import cocotb
from cocotb.triggers import Timer


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


class Packer:
    """The model: complete words as (data, keep, last, user), and the bytes of the incomplete one."""

    def __init__(self):
        self.words = []
        self.bytes = []

    def take(self, data, last, user):
        """Add a byte."""
        self.bytes.append((data, user))
        if last or len(self.bytes) == 4:
            word = sum(b << 8 * k for k, (b, _) in enumerate(self.bytes))
            self.words.append((word, (1 << len(self.bytes)) - 1, last, int(any(u for _, u in self.bytes))))
            self.bytes = []


async def reset(dut):
    dut.clk.value = 0
    dut.rst_n.value = 0
    for port in (dut.s_tvalid, dut.s_tdata, dut.s_tlast, dut.s_tuser, dut.m_tready):
        port.value = 1
    for _ in range(2):
        await Timer(4, unit="ns")
        await edge(dut)
    dut.rst_n.value = 1
    return Packer()


async def run(dut, model, rng, cycles, *, valid, ready, last):
    """Drive for a number of cycles; valid, ready, last in percent."""
    byte = None
    for _ in range(cycles):
        if byte is None:
            byte = (rng.randrange(256), int(rng.randrange(100) < last), int(rng.randrange(6) == 0))
            offered = False
        offered = offered or rng.randrange(100) < valid
        driven = byte if offered else (rng.randrange(256), rng.randrange(2), rng.randrange(2))
        takes = int(rng.randrange(100) < ready)
        dut.s_tvalid.value = int(offered)
        dut.s_tdata.value, dut.s_tlast.value, dut.s_tuser.value = driven
        dut.m_tready.value = takes
        await Timer(4, unit="ns")
        accepts = int(len(model.words) < 2 or takes)
        assert int(dut.s_tready.value) == accepts, f"s_tready with {len(model.words)} words inside"
        assert int(dut.m_tvalid.value) == int(bool(model.words)), f"m_tvalid with {len(model.words)} words inside"
        if model.words:
            seen = tuple(int(p.value) for p in (dut.m_tdata, dut.m_tkeep, dut.m_tlast, dut.m_tuser))
            assert seen == model.words[0], f"data, keep, last, user: {seen}, not {model.words[0]}"
            if takes:
                model.words.pop(0)
        if offered and accepts:
            model.take(*byte)
            byte = None
        await edge(dut)


@cocotb.test()
async def full_speed(dut):
    """No pauses; packets of all lengths."""
    rng = random.Random(1)
    model = await reset(dut)
    for last in (0, 10, 30, 60, 100):
        await run(dut, model, rng, 150, valid=100, ready=100, last=last)


@cocotb.test()
async def pauses(dut):
    """Pauses on both sides, so that zero, one and two words wait."""
    rng = random.Random(2)
    model = await reset(dut)
    for valid, ready, last in ((100, 20, 20), (100, 30, 70), (100, 50, 100), (50, 50, 30), (30, 90, 30), (90, 5, 30)):
        await run(dut, model, rng, 200, valid=valid, ready=ready, last=last)


@cocotb.test()
async def reset_forgets(dut):
    """A reset with every number of bytes and words inside."""
    rng = random.Random(3)
    for cycles in range(1, 14):
        model = await reset(dut)
        await run(dut, model, rng, cycles, valid=100, ready=0, last=10)
        model = await reset(dut)
        await run(dut, model, rng, 12, valid=80, ready=80, last=20)
