"""Hidden test of crc32_framer: packets through both handshakes, against binascii's CRC."""

import binascii
import random

import cocotb
from cocotb.triggers import Timer


async def start(dut):
    dut.clk.value = 0
    dut.rst.value = 1
    for port in (dut.in_valid, dut.in_data, dut.in_last, dut.in_abort, dut.out_ready):
        port.value = 0
    for _ in range(2):
        await settle()
        await edge(dut)
    dut.rst.value = 0


async def settle():
    """Give the outputs of this cycle time; the inputs have been set."""
    await Timer(4, unit="ns")


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


def framed(packet, abort):
    crc = binascii.crc32(bytes(packet))
    check = (~crc if abort else crc) & 0xFFFFFFFF
    return [(b, 0) for b in packet] + [((check >> 8 * k) & 0xFF, int(k == 3)) for k in range(4)]


def beats(packet, abort, rng):
    """Return (data, last, abort) of each byte, with a meaningless abort before the last."""
    *first, last = packet
    return [(b, 0, rng.randrange(2)) for b in first] + [(last, 1, int(abort))]


async def exchange(dut, packets, rng, *, valid, ready, gapless=False):
    """Send packets and check all that comes out; valid and ready in percent."""
    todo = [beat for packet, abort in packets for beat in beats(packet, abort, rng)]
    expected = [byte for packet, abort in packets for byte in framed(packet, abort)]
    offered, held, got, waited, since = False, None, 0, 0, None
    while got < len(expected):
        offered = offered or (bool(todo) and rng.randrange(100) < valid)
        data, last, abort = todo[0] if offered else (rng.randrange(256), rng.randrange(2), rng.randrange(2))
        takes = rng.randrange(100) < ready
        dut.in_valid.value = int(offered)
        dut.in_data.value = data
        dut.in_last.value = last
        dut.in_abort.value = abort
        dut.out_ready.value = int(takes)
        await settle()
        sends = int(dut.out_valid.value)
        if sends:
            seen = (int(dut.out_data.value), int(dut.out_last.value))
            assert seen == expected[got], f"byte {got}: {seen}, expected {expected[got]}"
        else:
            assert held is None, "out_valid fell before the transfer"
        if gapless and got:
            assert sends, f"a gap before byte {got}"
        if since is not None and not sends:
            since += 1
            assert since <= 4, "a byte takes too long"
        held = seen if sends and not takes else None
        if sends and takes:
            got += 1
            since = None
        if offered and int(dut.in_ready.value):
            todo.pop(0)
            offered = False
            since = 0 if since is None and not sends else since
        waited = waited + 1 if not (sends and takes) else 0
        assert waited < 200, "nothing comes out any more"
        await edge(dut)
    dut.in_valid.value = 0
    dut.out_ready.value = 1
    for _ in range(6):
        await settle()
        assert int(dut.out_valid.value) == 0, "an additional byte"
        await edge(dut)


def some_packets(rng, count, longest):
    sizes = [rng.choice([1, 1, 2, 3, 4, 5, rng.randint(1, longest)]) for _ in range(count)]
    return [([rng.choice([0, 255, rng.randrange(256)]) for _ in range(n)], rng.randrange(3) == 0) for n in sizes]


@cocotb.test()
async def known_example(dut):
    """The spec's example, with and without abort."""
    await start(dut)
    await exchange(
        dut, [(list(b"123456789"), False), (list(b"123456789"), True)], random.Random(1), valid=100, ready=100
    )


@cocotb.test()
async def full_speed(dut):
    """Nothing but bytes while both sides are ready."""
    rng = random.Random(2)
    await start(dut)
    await exchange(dut, some_packets(rng, 40, 20), rng, valid=100, ready=100, gapless=True)


@cocotb.test()
async def stalls(dut):
    """Both sides pause at random."""
    rng = random.Random(3)
    await start(dut)
    for valid, ready in ((100, 40), (40, 100), (60, 60), (20, 20)):
        await exchange(dut, some_packets(rng, 15, 30), rng, valid=valid, ready=ready)


@cocotb.test()
async def reset_forgets(dut):
    """A reset in a packet, and in a check sequence, leaves nothing behind."""
    rng = random.Random(4)
    for bytes_before, last in ((3, 0), (1, 0), (2, 1), (1, 1)):
        for run_on in range(1, 6):
            await start(dut)
            dut.in_valid.value = 1
            dut.out_ready.value = 1
            left = bytes_before
            for _ in range(20):
                dut.in_data.value = 0x50 + left
                dut.in_last.value = int(left == 1 and last)
                await settle()
                left -= int(dut.in_ready.value)
                await edge(dut)
                if not left:
                    break
            dut.in_valid.value = 0
            dut.out_ready.value = 0
            for _ in range(run_on if last else 1):
                dut.out_ready.value = 1
                await settle()
                await edge(dut)
            dut.rst.value = 1
            dut.in_valid.value = 1
            await settle()
            await edge(dut)
            dut.rst.value = 0
            dut.in_valid.value = 0
            await settle()
            assert int(dut.out_valid.value) == 0, "out_valid after reset"
            await exchange(dut, some_packets(rng, 2, 4), rng, valid=100, ready=100)
