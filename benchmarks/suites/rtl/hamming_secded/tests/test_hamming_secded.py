"""Hidden test of hamming_secded: all single errors, pairs and triples, against a model by positions."""

import itertools
import random

import cocotb
from cocotb.triggers import Timer

DATA = [p for p in range(1, 39) if p & (p - 1)]


def encode(data):
    word = sum(((data >> k) & 1) << p for k, p in enumerate(DATA))
    for i in range(6):
        ones = sum((word >> p) & 1 for p in range(1, 39) if (p >> i) & 1)
        word |= (ones & 1) << (1 << i)
    return word | (word.bit_count() & 1)


def decode(word):
    """Return data, single, double, position."""
    s = 0
    for p in range(1, 39):
        s ^= p if (word >> p) & 1 else 0
    single = int(word.bit_count() & 1 and s <= 38)
    double = int(not single and (word.bit_count() & 1 or s != 0))
    right = word ^ (1 << s) if single else word
    return sum(((right >> p) & 1) << k for k, p in enumerate(DATA)), single, double, s if single else 0


async def check(dut, data, word):
    dut.enc_data.value = data
    dut.dec_code.value = word
    await Timer(1, unit="ns")
    assert int(dut.enc_code.value) == encode(data), f"code of {data:08x}"
    seen = tuple(int(p.value) for p in (dut.dec_data, dut.dec_single, dut.dec_double, dut.dec_position))
    assert seen == decode(word), f"decoding {word:010x}: {seen}, expected {decode(word)}"


@cocotb.test()
async def clean_and_single(dut):
    """Each single error is corrected in words of all kinds."""
    rng = random.Random(1)
    for data in (0, 0xFFFFFFFF, *(1 << k for k in range(32)), *(rng.getrandbits(32) for _ in range(6))):
        await check(dut, data, encode(data))
    for data in (0, 0xFFFFFFFF, rng.getrandbits(32)):
        for k in range(39):
            await check(dut, rng.getrandbits(32), encode(data) ^ (1 << k))


@cocotb.test()
async def pairs(dut):
    """Each pair of errors is seen, and the data stay as they came."""
    rng = random.Random(2)
    for j, k in itertools.combinations(range(39), 2):
        data = rng.getrandbits(32)
        await check(dut, rng.getrandbits(32), encode(data) ^ (1 << j) ^ (1 << k))


@cocotb.test()
async def more_errors(dut):
    """Triples, some of which point outside of the word, and arbitrary words."""
    rng = random.Random(3)
    for _ in range(400):
        flips = rng.sample(range(39), 3)
        await check(dut, rng.getrandbits(32), encode(rng.getrandbits(32)) ^ sum(1 << k for k in flips))
    for _ in range(300):
        await check(dut, rng.getrandbits(32), rng.getrandbits(39))
