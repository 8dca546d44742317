"""Hidden test of cordic_rotator: bit-exact against the procedure, through both handshakes."""

import math
import random

import cocotb
from cocotb.triggers import Timer

LATENCY = 18
READY_AFTER = 2
STEPS = 14
GAIN = math.prod(math.sqrt(1 + 4.0**-i) for i in range(STEPS))
ANGLES = [8192, 4836, 2555, 1297, 651, 326, 163, 81, 41, 20, 10, 5, 3, 1]


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


async def reset(dut):
    dut.clk.value = 0
    dut.rst.value = 1
    dut.in_valid.value = 1
    dut.in_x.value = 5
    dut.in_y.value = 5
    dut.in_angle.value = 5
    dut.out_ready.value = 0
    for _ in range(2):
        await Timer(4, unit="ns")
        await edge(dut)
    dut.rst.value = 0
    dut.in_valid.value = 0
    await Timer(4, unit="ns")
    assert int(dut.out_valid.value) == 0, "out_valid after reset"


def rotated(x, y, angle):
    z = angle - 65536 if angle >= 32768 else angle
    if angle >> 14 == 1:
        x, y, z = -y, x, z - 16384
    elif angle >> 14 == 2:
        x, y, z = y, -x, z + 16384
    for i, step in enumerate(ANGLES):
        if z >= 0:
            x, y, z = x - (y >> i), y + (x >> i), z - step
        else:
            x, y, z = x + (y >> i), y - (x >> i), z + step
    return x, y


async def rotate(dut, vectors, rng, *, valid, ready):
    """Send vectors and check the results; valid and ready in percent."""
    todo, inside = list(vectors), []
    offered, held, age, idle, done = False, False, 0, 0, 0
    while done < len(vectors):
        offered = offered or (bool(todo) and rng.randrange(100) < valid)
        x, y, angle = todo[0] if offered else (rng.getrandbits(14), rng.getrandbits(14), rng.getrandbits(16))
        takes = rng.randrange(100) < ready
        dut.in_valid.value = int(offered)
        dut.in_x.value = x & 0xFFFF
        dut.in_y.value = y & 0xFFFF
        dut.in_angle.value = angle
        dut.out_ready.value = int(takes)
        await Timer(4, unit="ns")
        sends, accepts = int(dut.out_valid.value), int(dut.in_ready.value)
        idle = 0 if inside else idle + 1
        assert accepts or idle < READY_AFTER, "not ready although nothing is inside"
        if sends:
            assert inside, "a result that nobody asked for"
            seen = int(dut.out_x.value), int(dut.out_y.value)
            right = tuple(v & 0x3FFFF for v in rotated(*inside[0][:3]))
            assert seen == right, f"{inside[0][:3]} gave {seen}, not {right}"
        else:
            assert not held, "out_valid fell before the transfer"
            age += 1
            oldest = inside[0][3] if inside else 0
            late = min(age, oldest)
            assert late < LATENCY, "a result takes too long"
        held = bool(sends and not takes)
        if sends and takes:
            inside.pop(0)
            done, age = done + 1, 0
        for vector in inside:
            vector[3] += 1
        if offered and accepts:
            inside.append([*todo.pop(0), 1])
            offered = False
        await edge(dut)
    dut.in_valid.value = 0
    dut.out_ready.value = 1
    for cycle in range(LATENCY + 4):
        await Timer(4, unit="ns")
        assert int(dut.out_valid.value) == 0, "an additional result"
        assert cycle < READY_AFTER - 1 or int(dut.in_ready.value), "not ready when empty"
        await edge(dut)


@cocotb.test()
async def quadrants(dut):
    """All quadrants and their borders, and the ends of the range."""
    angles = [q * 16384 + d for q in range(4) for d in (0, 1, 8192, 16383)]
    vectors = [(10000, 0, 8192), (0, 0, 12345)]
    for k, angle in enumerate(angles):
        vectors.append([(32000, 32000), (-32000, 32000), (32000, -32000), (-32000, -32000)][k % 4] + (angle,))
        vectors.append((12345, -23456, angle))
    assert rotated(10000, 0, 8192) == (11645, 11645)  # the spec's example
    for x, y, angle in vectors:  # the model itself turns as it should
        c, s = math.cos(angle * math.tau / 65536), math.sin(angle * math.tau / 65536)
        seen = rotated(x, y, angle)
        assert math.dist(seen, (GAIN * (c * x - s * y), GAIN * (s * x + c * y))) < 40
    await reset(dut)
    await rotate(dut, vectors, random.Random(1), valid=100, ready=100)


@cocotb.test()
async def random_vectors(dut):
    """Random vectors and angles, with pauses on both sides."""
    rng = random.Random(2)
    await reset(dut)
    for valid, ready in ((100, 100), (100, 30), (30, 60)):
        some = [(rng.randint(-32000, 32000), rng.randint(-32000, 32000), rng.getrandbits(16)) for _ in range(30)]
        await rotate(dut, some, rng, valid=valid, ready=ready)


@cocotb.test()
async def reset_forgets(dut):
    """A reset at any time of a rotation leaves nothing behind."""
    rng = random.Random(3)
    for cycles in (1, 2, 9, 14, 15, 16, 17, 18):
        await reset(dut)
        dut.in_x.value = 1000
        dut.in_y.value = 2000
        dut.in_angle.value = 3000
        dut.in_valid.value = 1
        for _ in range(cycles):
            await Timer(4, unit="ns")
            await edge(dut)
        await reset(dut)
        await rotate(dut, [(cycles * 100, -7, 40000)], rng, valid=100, ready=100)
