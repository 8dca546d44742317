"""Hidden test of barrel_shifter32: every operation by every amount."""

import random

import cocotb
from cocotb.triggers import Timer

ONES = 0xFFFFFFFF


def shifted(data, n, op):
    """Give result and carry, bit by bit from the definition."""
    bits = [data >> i & 1 for i in range(32)]
    sign = bits[31] if op == 2 else 0
    if op == 0:
        out = [bits[i - n] if i >= n else 0 for i in range(32)]
    elif op in (1, 2):
        out = [bits[i + n] if i + n < 32 else sign for i in range(32)]
    elif op == 3:
        out = [bits[(i - n) % 32] for i in range(32)]
    elif op == 4:
        out = [bits[(i + n) % 32] for i in range(32)]
    else:
        out = bits[::-1] if op == 5 else bits
    carry = 0
    if n and op < 5:
        carry = bits[32 - n] if op in (0, 3) else bits[n - 1]
    return sum(bit << i for i, bit in enumerate(out)), carry


async def check(dut, data, amount, op):
    dut.data.value = data
    dut.amount.value = amount
    dut.op.value = op
    await Timer(1, unit="ns")
    result, carry = shifted(data, amount, op)
    where = f"data {data:08x}, amount {amount}, op {op}"
    assert int(dut.result.value) == result, f"result {int(dut.result.value):08x}, not {result:08x}: {where}"
    flags = int(dut.carry.value), int(dut.zero.value), int(dut.negative.value)
    expected = carry, int(result == 0), result >> 31
    assert flags == expected, f"carry, zero, negative {flags}, not {expected}: {where}"


@cocotb.test()
async def every_amount(dut):
    """Each operation by each amount, on words that show where each bit went."""
    rng = random.Random(1)
    for op in range(8):
        for amount in range(32):
            for data in (0x80000001, 0x7FFFFFFE, rng.getrandbits(32), rng.getrandbits(32) | 1 << 31):
                await check(dut, data, amount, op)


@cocotb.test()
async def corners(dut):
    """Zero, all ones, single bits, and results that become zero."""
    for op in range(8):
        for data in (0, ONES, 1, 1 << 31, 1 << 16, 0x55555555):
            for amount in (0, 1, 2, 15, 16, 17, 30, 31):
                await check(dut, data, amount, op)


@cocotb.test()
async def random_words(dut):
    """Everything at random."""
    rng = random.Random(2)
    for _ in range(600):
        await check(dut, rng.getrandbits(32), rng.randrange(32), rng.randrange(8))
