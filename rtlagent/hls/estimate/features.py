"""Count what a scheduled and bound module consists of."""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.hls.bind import Binding
from rtlagent.hls.bind.timing import Timing, waits
from rtlagent.hls.ir import (
    COMPARISONS,
    DIVISIONS,
    Block,
    Branch,
    Const,
    Function,
    Memory,
    MemoryKind,
    Module,
    Op,
    Opcode,
    Param,
    Phi,
    Return,
    Switch,
    Value,
)
from rtlagent.hls.schedule.plan import FunctionPlan

_BRAM_BITS = {"generic": 18432, "ice40": 4096, "ecp5": 18432, "xc7": 36864}
_DSP_WIDTH = {"generic": 18, "ice40": 16, "ecp5": 18, "xc7": 18}
_WIRES = frozenset({Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC, Opcode.COPY})
_SHIFTS = frozenset({Opcode.SHL, Opcode.LSHR, Opcode.ASHR})


@dataclass
class Features:
    """Sums over the module; bits unless said otherwise."""

    adder_bits: int = 0
    comparator_bits: int = 0
    logic_bits: int = 0
    multiplexer_bits: int = 0
    shifter_bits: int = 0
    """Width times levels."""
    multiplier_bits: int = 0
    """Width times width of those too small for a DSP block."""
    divider_bits: int = 0
    lutram_bits: int = 0
    rom_bits: int = 0
    state_bits: int = 0
    register_bits: int = 0
    brams: int = 0
    """Blocks."""
    dsps: int = 0
    """Blocks."""


def count(
    module: Module,
    plans: dict[Function, FunctionPlan],
    binding: Binding,
    storage: dict[Memory, str],
    target: str,
) -> Features:
    """Walk over operations, registers, edges and memories."""
    features = Features()
    timing = Timing(plans)
    for function in module.functions:
        for block in function.blocks:
            features.state_bits += timing.length(block)
            for op in block.ops:
                _operation(features, op, binding, target)
            _uses(timing, function, block)
            for phi in block.phis:
                features.register_bits += phi.width
                features.multiplexer_bits += phi.width * max(0, len(phi.incoming) - 1)
    for value, stages in timing.stages.items():
        features.register_bits += value.width * (stages - 1 if isinstance(value, Phi) else stages)
    features.register_bits += features.state_bits + module.top.width
    for unit in binding.multipliers:
        features.dsps += _dsps(unit.width, target)
        features.multiplexer_bits += 2 * unit.width * (len(unit.ops) - 1)
        features.register_bits += unit.width * unit.latency
    for divider in binding.dividers:
        features.divider_bits += divider.width
        features.register_bits += 3 * divider.width
        features.multiplexer_bits += 2 * divider.width * (len(divider.ops) - 1)
    for memory in module.memories:
        _memory(features, module, memory, storage[memory], target)
    return features


def _operation(features: Features, op: Op, binding: Binding, target: str) -> None:
    code, width = op.opcode, op.width
    if code in _WIRES or code in DIVISIONS or op in binding.unit_of:
        return
    if code in (Opcode.ADD, Opcode.SUB):
        features.adder_bits += width
    elif code in COMPARISONS:
        features.comparator_bits += op.args[0].width
    elif code is Opcode.SELECT:
        features.multiplexer_bits += width
    elif code in (Opcode.AND, Opcode.OR, Opcode.XOR):
        features.logic_bits += 0 if any(isinstance(a, Const) for a in op.args) else width
    elif code in _SHIFTS:
        amount = op.args[1]
        if not isinstance(amount, Const):
            features.shifter_bits += width * max(1, min(amount.width, width.bit_length()))
    elif code is Opcode.MUL:
        blocks = _dsps(_significant(op), target)
        features.dsps += blocks
        features.multiplier_bits += 0 if blocks else width * width


def _significant(op: Op) -> int:
    """Return the width of a multiplication's wider operand before extension."""
    return max(_narrowest(a) for a in op.args)


def _narrowest(value: Value) -> int:
    if isinstance(value, Op) and value.opcode in (Opcode.ZEXT, Opcode.SEXT):
        return value.args[0].width
    if isinstance(value, Const):
        return max(1, value.value.bit_length())
    return value.width


def _dsps(width: int, target: str) -> int:
    if width < 8 or target == "generic":
        return 0
    pieces = -(-width // _DSP_WIDTH[target])
    return pieces * (pieces + 1) // 2 if pieces > 1 else 1


def _uses(timing: Timing, function: Function, block: Block) -> None:
    """Let `timing` see every use, so that it knows all registers."""
    plan = timing.plan(block)
    last = timing.length(block) - 1
    for op in block.ops:
        cycle = last if waits(op, plan) else plan.slots[op].cycle
        for value in op.operands():
            _use(timing, value, block, cycle)
    end = block.terminator
    leaving = end.condition if isinstance(end, Branch) else end.value if isinstance(end, Switch | Return) else None
    if leaving is not None:
        _use(timing, leaving, block, plan.ii - 1 if plan.ii is not None and isinstance(end, Branch) else last)
    for target in block.successors():
        for phi in target.phis:
            if target is block and plan.ii is not None:
                continue
            _use(timing, phi.incoming[block], block, last)


def _use(timing: Timing, value: Value, block: Block, cycle: int) -> None:
    if not isinstance(value, Const | Param):
        timing.source(value, block, cycle)


def _memory(features: Features, module: Module, memory: Memory, storage: str, target: str) -> None:
    accesses = [op for f in module.functions for b in f.blocks for op in b.ops if op.memory is memory]
    if not accesses:
        return
    address = max(1, (memory.depth - 1).bit_length())
    stores = sum(op.opcode is Opcode.STORE for op in accesses)
    distinct = len({id(op.subscripts[0]) for op in accesses if op.subscripts})
    features.multiplexer_bits += address * max(0, distinct - 1) + memory.width * max(0, stores - 1)
    if memory.kind is MemoryKind.PARAM:
        return
    bits = memory.depth * memory.width
    if storage == "register":
        features.register_bits += bits
        loads = len(accesses) - stores
        features.multiplexer_bits += bits * loads if memory.depth > 1 else 0
    elif storage == "bram":
        features.brams += -(-bits // _BRAM_BITS[target])
    elif memory.kind is MemoryKind.ROM:
        features.rom_bits += bits
    else:
        features.lutram_bits += bits
