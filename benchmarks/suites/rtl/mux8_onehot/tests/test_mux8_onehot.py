"""Hidden test of mux8_onehot: every value of the select, with several sets of data."""

import random

import cocotb
from cocotb.triggers import Timer


async def check(dut, sel, words):
    dut.sel.value = sel
    dut.data.value = sum(word << (8 * k) for k, word in enumerate(words))
    await Timer(1, unit="ns")
    asked = [word for k, word in enumerate(words) if sel >> k & 1]
    expected = (asked[0] if len(asked) == 1 else 0, int(len(asked) == 1), int(len(asked) > 1))
    seen = int(dut.y.value), int(dut.valid.value), int(dut.conflict.value)
    assert seen == expected, f"y, valid, conflict {seen}, not {expected}, with sel {sel:08b} of {words}"


@cocotb.test()
async def one_bit(dut):
    """Each byte alone, with all others 0, all others 255, and with random ones."""
    rng = random.Random(1)
    for k in range(8):
        for others in (0, 255):
            for value in (0, 1, 0x55, 0xAA, 0x80, 255):
                words = [others] * 8
                words[k] = value
                await check(dut, 1 << k, words)
        for _ in range(10):
            await check(dut, 1 << k, [rng.randrange(256) for _ in range(8)])


@cocotb.test()
async def all_selects(dut):
    """All 256 selects, in two orders."""
    rng = random.Random(2)
    selects = list(range(256))
    for words in ([255] * 8, [0] * 8, [rng.randrange(1, 256) for _ in range(8)], [1 << k for k in range(8)]):
        for sel in selects:
            await check(dut, sel, words)
        rng.shuffle(selects)


@cocotb.test()
async def data_changes_under_a_steady_select(dut):
    """The byte asked for changes while the select stays."""
    rng = random.Random(3)
    for sel in (1, 16, 128, 0, 3, 255):
        for _ in range(5):
            await check(dut, sel, [rng.randrange(256) for _ in range(8)])
