"""Acceptance tests of the board team: duty cycles measured over whole periods."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge


async def start(dut, div):
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    dut.rst.value = 1
    for port in (dut.enable, dut.div, dut.wr, dut.wr_channel, dut.wr_duty):
        port.value = 0
    for _ in range(3):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    dut.div.value = div
    await RisingEdge(dut.clk)


async def write(dut, channel, duty):
    dut.wr.value = 1
    dut.wr_channel.value = channel
    dut.wr_duty.value = duty
    await RisingEdge(dut.clk)
    dut.wr.value = 0


async def high_cycles(dut, channel, cycles):
    high = 0
    for _ in range(cycles):
        await RisingEdge(dut.clk)
        high += (int(dut.pwm.value) >> channel) & 1
    return high


@cocotb.test()
async def duty_over_one_period(dut):
    """Each channel is high for exactly `duty` steps of every period of 255."""
    await start(dut, div=0)
    for channel, duty in enumerate((0, 100, 255)):
        await write(dut, channel, duty)
    dut.enable.value = 1
    for _ in range(2 * 255 + 4):
        await RisingEdge(dut.clk)
    for channel, duty in enumerate((0, 100, 255)):
        assert await high_cycles(dut, channel, 255) == duty, f"channel {channel}"


@cocotb.test()
async def prescaled_period(dut):
    """With div = 3 a period takes 4 * 255 cycles."""
    await start(dut, div=3)
    await write(dut, 2, 10)
    dut.enable.value = 1
    for _ in range(4 * 255 + 8):
        await RisingEdge(dut.clk)
    assert await high_cycles(dut, 2, 4 * 255) == 40
