"""Hidden test of priority_encoder16: all pairs of requests, and random ones of every density."""

import random

import cocotb
from cocotb.triggers import Timer


async def check(dut, req, mask, low_first):
    dut.req.value = req
    dut.mask.value = mask
    dut.low_first.value = low_first
    await Timer(1, unit="ns")
    active = [k for k in range(16) if req >> k & 1 and not mask >> k & 1]
    winner = (min(active) if low_first else max(active)) if active else None
    expected = (winner, 1 << winner, 1, len(active) - 1) if winner is not None else (0, 0, 0, 0)
    seen = tuple(int(p.value) for p in (dut.index, dut.grant, dut.valid, dut.others))
    where = f"req {req:016b}, mask {mask:016b}, low_first {low_first}"
    assert seen == expected, f"index, grant, valid, others {seen}, not {expected}: {where}"


@cocotb.test()
async def nothing_is_active(dut):
    """No request, and requests that are all masked."""
    for low_first in (0, 1):
        await check(dut, 0, 0, low_first)
        await check(dut, 0, 0xFFFF, low_first)
        await check(dut, 0xFFFF, 0xFFFF, low_first)
        await check(dut, 0xA5A5, 0xA5A5, low_first)
        await check(dut, 0xFFFF, 0, low_first)


@cocotb.test()
async def one_or_two_are_active(dut):
    """Each request alone and each pair, by the requests and by the mask."""
    for low_first in (0, 1):
        for a in range(16):
            for b in range(a, 16):
                pair = 1 << a | 1 << b
                await check(dut, pair, 0, low_first)
                await check(dut, 0xFFFF, 0xFFFF ^ pair, low_first)


@cocotb.test()
async def random_requests(dut):
    """Few and many requests, with and without a mask."""
    rng = random.Random(1)
    for _ in range(1200):
        req, mask = rng.getrandbits(16), rng.getrandbits(16)
        if rng.randrange(2):
            req |= rng.getrandbits(16)
        if rng.randrange(2):
            mask &= rng.getrandbits(16)
        await check(dut, req, mask, rng.randrange(2))
