"""Hidden test of spi_master: every cycle of every transfer, in all modes."""

import itertools
import random

import cocotb
from cocotb.triggers import Timer


class Bench:
    """The design beside what the outputs should be in the present cycle."""

    def __init__(self, dut):
        self.dut = dut
        self.rng = random.Random(7)
        self.rx, self.sclk, self.cs_n, self.done = 0, 0, 1, 0

    async def cycle(self, ready, mosi=None, miso=None, **inputs):
        """One cycle; inputs that are not given are random, `start` 0 and `rst` 0."""
        dut, rng = self.dut, self.rng
        values = {"start": 0, "rst": 0, "tx_data": rng.getrandbits(8), "div": rng.getrandbits(4)}
        values |= {name: rng.randrange(2) for name in ("cpol", "cpha", "lsb_first", "keep")} | inputs
        for name, value in values.items():
            getattr(dut, name).value = value
        dut.miso.value = rng.randrange(2) if miso is None else miso
        await Timer(5, unit="ns")
        seen = tuple(int(p.value) for p in (dut.ready, dut.done, dut.rx_data, dut.sclk, dut.cs_n))
        expected = ready, self.done, self.rx, self.sclk, self.cs_n
        assert seen == expected, f"ready, done, rx_data, sclk, cs_n {seen}, not {expected}"
        if mosi is not None:
            assert int(dut.mosi.value) == mosi, f"mosi is not {mosi}"
        self.done = 0
        if values["rst"]:
            self.rx, self.sclk, self.cs_n = 0, 0, 1
        elif ready:
            self.sclk = values["cpol"]
        dut.clk.value = 1
        await Timer(5, unit="ns")
        dut.clk.value = 0

    async def transfer(self, tx, reply, mode, div, lsb_first=0, keep=0, phases=17):
        """Do one transfer, or its first phases only."""
        cpol, cpha = mode >> 1, mode & 1
        bits = [tx >> k & 1 for k in (range(8) if lsb_first else range(7, -1, -1))]
        back = [reply >> k & 1 for k in (range(8) if lsb_first else range(7, -1, -1))]
        options = {"div": div, "cpol": cpol, "cpha": cpha, "lsb_first": lsb_first, "keep": keep}
        await self.cycle(1, start=1, tx_data=tx, **options)
        self.cs_n = 0
        for j in range(phases):
            self.sclk = cpol ^ j & 1
            shown = (j - cpha) // 2
            sample = (j - cpha) % 2 == 0 and 0 <= shown <= 7
            for k in range(div + 1):
                mosi = bits[shown] if 0 <= shown <= 7 else None
                # The value is there only in the cycle in which it is sampled, and wrong before.
                miso = back[shown] ^ int(k != div) if sample else None
                await self.cycle(0, mosi, miso, start=self.rng.randrange(2))
        if phases == 17:
            self.done, self.rx, self.cs_n = 1, reply, 1 - keep


async def started(dut):
    """Reset, with all inputs at 1; before the first edge nothing is looked at."""
    bench = Bench(dut)
    dut.clk.value = 0
    for port in (dut.rst, dut.start, dut.cpol, dut.cpha, dut.lsb_first, dut.keep, dut.miso):
        port.value = 1
    dut.tx_data.value = 0xA5
    dut.div.value = 3
    await Timer(5, unit="ns")
    dut.clk.value = 1
    await Timer(5, unit="ns")
    dut.clk.value = 0
    return bench


@cocotb.test()
async def all_modes(dut):
    """Each mode in both bit orders, at several speeds, back to back and with pauses."""
    bench = await started(dut)
    await bench.cycle(1)
    for mode, lsb_first, div in itertools.product(range(4), (0, 1), (0, 1, 2)):
        for tx, reply in ((0x96, 0x2B), (0x01, 0x80)):
            await bench.transfer(tx, reply, mode, div, lsb_first)
        await bench.cycle(1)
        await bench.cycle(1)
    await bench.transfer(0xC5, 0x3A, 1, 15)
    await bench.transfer(0x3A, 0xC5, 2, 8)
    await bench.cycle(1)


@cocotb.test()
async def idle_clock(dut):
    """Between transfers the clock follows `cpol` one cycle later, whatever the last mode was."""
    bench = await started(dut)
    for cpol in (0, 1, 1, 0, 1, 0, 0):
        await bench.cycle(1, cpol=cpol)
    for mode in range(4):
        await bench.transfer(0xF0, 0x0F, mode, 1)
        for cpol in (1, 1, 0, 0, 1):
            await bench.cycle(1, cpol=cpol)


@cocotb.test()
async def frames(dut):
    """The chip select stays low after `keep`, until a byte without it has ended."""
    bench = await started(dut)
    for keeps in ((1, 1, 0), (0, 1, 0), (1, 0)):
        for pauses in (0, 3):
            for keep in keeps:
                await bench.transfer(bench.rng.getrandbits(8), bench.rng.getrandbits(8), 0, 0, 0, keep)
                for _ in range(pauses):
                    await bench.cycle(1)


@cocotb.test()
async def resets(dut):
    """A reset in any phase, in the cycle of a start and after a kept chip select."""
    bench = await started(dut)
    for phases in range(17):
        await bench.transfer(0xFF, 0xFF, phases % 4, phases % 2, keep=1, phases=phases)
        bench.sclk = phases % 4 >> 1 ^ phases & 1
        await bench.cycle(0, rst=1, start=1)
        for _ in range(3):
            await bench.cycle(1)
        await bench.transfer(0x5C, 0xC5, phases % 4, 0, keep=phases & 1)
        await bench.cycle(1, rst=phases & 1, start=phases & 1)
        await bench.cycle(1)


@cocotb.test()
async def random_transfers(dut):
    """Everything at random."""
    bench = await started(dut)
    rng = bench.rng
    for _ in range(60):
        tx, reply, mode, div = rng.getrandbits(8), rng.getrandbits(8), rng.randrange(4), rng.choice((0, 0, 1, 2, 5))
        await bench.transfer(tx, reply, mode, div, rng.randrange(2), rng.randrange(2))
        for _ in range(rng.choice((0, 0, 1, 4))):
            await bench.cycle(1)
