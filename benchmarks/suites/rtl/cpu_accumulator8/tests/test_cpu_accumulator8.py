"""Hidden test of cpu_accumulator8: programs, directed and random, compared with a model in every cycle."""

import random

import cocotb
from cocotb.triggers import Timer

NOP, LOAD, STORE, ADD, ADC, SUB, AND, OR, XOR, RCR, RCL, JMP, JZ, JC, OUT, HALT = range(16)
I = 16  # noqa: E741 (the immediate bit, as in an assembler)


async def edge(dut):
    dut.clk.value = 1
    await Timer(4, unit="ns")
    dut.clk.value = 0


class Machine:
    """The model, with its memory."""

    def __init__(self, program):
        self.memory = [*program, *[0] * (256 - len(program))]
        self.pc = self.a = self.c = self.out = self.out_valid = self.halted = 0
        self.z = 1
        self.cycle = 1
        self.op = self.arg = 0

    def address(self):
        """Return mem_addr."""
        return self.arg if self.cycle == 3 else self.pc

    def writes(self):
        """Return mem_we."""
        return int(not self.halted and self.cycle == 3 and self.op & 15 == STORE)

    def clock(self):
        """Take an edge with en = 1."""
        self.out_valid = 0
        if self.halted:
            return
        if self.cycle == 3:
            self.execute(self.op & 15, self.arg if self.op & I else self.memory[self.arg])
            self.cycle = 1
            return
        byte = self.memory[self.pc]
        if self.cycle == 1:
            self.op = byte
        else:
            self.arg = byte
        self.pc = (self.pc + 1) & 255
        self.cycle += 1

    def execute(self, op, v):
        """Carry an instruction out."""
        a, c = self.a, self.c
        results = {
            LOAD: (v, c),
            ADD: ((a + v) & 255, (a + v) >> 8),
            ADC: ((a + v + c) & 255, (a + v + c) >> 8),
            SUB: ((a - v) & 255, int(v > a)),
            AND: (a & v, c),
            OR: (a | v, c),
            XOR: (a ^ v, c),
            RCR: (c << 7 | a >> 1, a & 1),
            RCL: ((a << 1 | c) & 255, a >> 7),
        }
        if op in results:
            self.a, self.c = results[op]
            self.z = int(self.a == 0)
        elif op == STORE:
            self.memory[self.arg] = a
        elif op == JMP or (op == JZ and self.z) or (op == JC and c):
            self.pc = self.arg
        elif op == OUT:
            self.out, self.out_valid = a, 1
        elif op == HALT:
            self.halted = 1


async def reset(dut, en):
    dut.clk.value = 0
    dut.rst_n.value = 0
    dut.en.value = en
    dut.mem_rdata.value = 0xFF
    for _ in range(2):
        await Timer(4, unit="ns")
        await edge(dut)
    dut.rst_n.value = 1


async def run(dut, program, rng, cycles, *, speed=100):
    """Reset, run a program for some cycles (8 more after a halt), and return all that OUT gave."""
    await reset(dut, en=int(speed == 100))
    model = Machine(program)
    memory = list(model.memory)  # the design's own
    shown, beyond = [], 0
    for _ in range(cycles):
        enabled = int(rng.randrange(100) < speed)
        dut.en.value = enabled
        if model.halted:
            dut.mem_rdata.value = rng.randrange(256)
            beyond += 1
        else:
            dut.mem_rdata.value = memory[model.address()]
        await Timer(4, unit="ns")
        where = f"pc {model.pc:#x}, op {model.op:#x}, cycle {model.cycle}"
        if not model.halted:
            assert int(dut.mem_addr.value) == model.address(), f"mem_addr, {where}"
        assert int(dut.mem_we.value) == model.writes(), f"mem_we, {where}"
        if model.writes():
            assert int(dut.mem_wdata.value) == model.a, f"mem_wdata, {where}"
            if enabled:
                memory[model.arg] = int(dut.mem_wdata.value)
        seen = int(dut.out_data.value), int(dut.out_valid.value), int(dut.halted.value)
        assert seen == (model.out, model.out_valid, model.halted), f"out_data, out_valid, halted {seen}, {where}"
        if enabled and model.out_valid:
            shown.append(model.out)
        if beyond == 8:
            break
        if enabled:
            model.clock()
        await edge(dut)
    return shown


@cocotb.test()
async def multiply(dut):
    """A program that multiplies 13 by 11 by adding and shifting, with a loop."""
    data = 0x80  # the factors, the product
    program = [
        *(LOAD | I, 13, STORE, data, LOAD | I, 11, STORE, data + 1, LOAD | I, 0, STORE, data + 2),
        *(LOAD, data + 1, JZ, 40),  # 12: while the second factor is not 0
        *(ADD | I, 0, RCR, 0, STORE, data + 1, JC, 26),  # 16: its lowest bit
        *(JMP, 32),  # 24
        *(LOAD, data + 2, ADD, data, STORE, data + 2),  # 26: add the first factor
        *(LOAD, data, ADD, data, STORE, data, JMP, 12),  # 32: double the first factor
        *(LOAD, data + 2, OUT, 0, HALT, 0),  # 40
    ]
    for speed in (100, 50):
        shown = await run(dut, program, random.Random(1), 1500, speed=speed)
        assert shown == [143], f"the program gave {shown}"


@cocotb.test()
async def each_instruction(dut):
    """Each operation on the ends of the range, in both modes, with its flags shown by jumps."""
    rng = random.Random(2)
    values = (0, 1, 0x7F, 0x80, 0xFF, 0xAA, 0x55)
    for op in (LOAD, ADD, ADC, SUB, AND, OR, XOR, RCR, RCL):
        program = []
        for mode in (0, I):
            for _ in range(4):
                a, v, carry = rng.choice(values), rng.choice(values), rng.choice([0, 0xFF])
                program += [LOAD | I, carry, ADD | I, 1, LOAD | I, a, op | mode, v, OUT, 0]
                program += [JZ, len(program) + 4, OUT | I, 3, JC, len(program) + 8, OUT, 0, NOP, 0]
        await run(dut, [*program[:254], HALT, 0], rng, 330)


@cocotb.test()
async def random_programs(dut):
    """Random instructions over a random memory: code that changes itself, jumps anywhere."""
    rng = random.Random(3)
    ops = [*range(15), LOAD, ADD, ADC, SUB, OUT, OUT, JZ, JC, STORE, XOR, RCL, RCR]
    for k in range(14):
        program = [rng.randrange(256) for _ in range(256)]
        for place in range(0, 256, 2):
            program[place] = rng.choice(ops) | rng.choice([0, I]) | rng.getrandbits(3) << 5
            if rng.randrange(3) == 0:
                program[place + 1] = rng.choice([0, 1, 0xFF, 0x80])
        await run(dut, program, rng, 300, speed=(100, 60)[k % 2])


@cocotb.test()
async def halts_and_resets(dut):
    """HALT with ignored bits set; a reset from it and from any cycle; PC runs over the end."""
    rng = random.Random(4)
    await run(dut, [OUT, 0, LOAD | I, 0, HALT | 0xF0, 9], rng, 40)
    for cycles in range(1, 14):
        await run(
            dut, [LOAD | I, 0xFF, ADD | I, 2, OUT, 0, STORE, 0x30, HALT, 0], rng, cycles, speed=(100, 99)[cycles % 2]
        )
        await run(
            dut,
            [JZ, 8, OUT, 0, HALT, 0, 0, 0, JC, 2, ADC | I, 7, OUT, 0, HALT, 0],
            rng,
            30,
            speed=(100, 80)[cycles // 2 % 2],
        )
    await run(dut, [JMP, 0xFD, OUT, 0, HALT, *[0] * 248, LOAD | I, 66, JZ], rng, 30)
