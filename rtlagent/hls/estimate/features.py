"""Count what a scheduled and bound module consists of."""

from __future__ import annotations

from dataclasses import dataclass, fields

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
from rtlagent.hls.schedule.multiplier import operand_bits, partial_products
from rtlagent.hls.schedule.plan import FunctionPlan

_BRAM_BITS = {"generic": 18432, "ice40": 4096, "ecp5": 18432, "xc7": 36864}
_LEAST_BRAM_BITS = 1024
_DSP_LIMB = {"generic": 0, "ice40": 0, "ecp5": 17, "xc7": 17}
"""Bits of an unsigned limb that a DSP block multiplies; 0: products are made of LUTs."""
_REGISTERED_DSP = frozenset({"xc7"})
"""Targets whose DSP blocks take the registers around a product in."""
_LUT_LIMB = 2
"""Factors of up to so many bits are not worth a block."""
_SHIFTED_SUM_BITS = 4
"""Constants of up to so many bits are multiplied with by shifting and adding."""
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
    """Width times width of those that no DSP block makes."""
    divider_bits: int = 0
    lutram_bits: int = 0
    rom_bits: int = 0
    state_bits: int = 0
    register_bits: int = 0
    brams: int = 0
    """Blocks."""
    dsps: int = 0
    """Blocks."""

    def __add__(self, other: Features) -> Features:
        """Return the features of two modules side by side."""
        return Features(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(Features)})

    def add_storage(self, copies: int, depth: int, width: int, target: str) -> None:
        """Add memories between modules: block RAM from some size on, as synthesis takes it."""
        bits = depth * width
        if bits <= _LEAST_BRAM_BITS:
            self.lutram_bits += copies * bits
        else:
            self.brams += copies * -(-bits // _BRAM_BITS[target])


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
            plan = plans[function].blocks[block]
            for op in block.ops:
                if op.opcode is Opcode.MUL and op not in binding.unit_of:
                    slot = plan.slots[op]
                    _product(features, op.width, operand_bits(op), slot.limb, slot.latency, target, _constant(op))
                else:
                    _operation(features, op, binding)
            _uses(timing, function, block)
            for phi in block.phis:
                features.register_bits += phi.width
                features.multiplexer_bits += phi.width * max(0, len(phi.incoming) - 1)
    for value, stages in timing.stages.items():
        features.register_bits += value.width * (stages - 1 if isinstance(value, Phi) else stages)
    features.register_bits += features.state_bits + module.top.width
    for unit in binding.multipliers:
        left, right = (max(side) for side in zip(*(operand_bits(op) for op in unit.ops), strict=True))
        _product(features, unit.width, (left, right), unit.limb, unit.latency, target, None)
        features.multiplexer_bits += (left + right) * (len(unit.ops) - 1)
    for divider in binding.dividers:
        features.divider_bits += divider.width
        features.register_bits += 3 * divider.width + 12
        features.multiplexer_bits += 2 * divider.width * (len(divider.ops) - 1)
    for memory in module.memories:
        _memory(features, module, memory, storage[memory], target)
    return features


def _constant(op: Op) -> Const | None:
    return next((a for a in op.args if isinstance(a, Const)), None)


def _product(
    features: Features,
    width: int,
    bits: tuple[int, int],
    limb: int,
    latency: int,
    target: str,
    constant: Const | None,
) -> None:
    """Add a product: its blocks or rows, the sum of its parts, and the registers that it passes."""
    if constant is not None and min(bits) <= _SHIFTED_SUM_BITS + 1:
        features.adder_bits += width * max(0, constant.value.bit_count() - 1)
        features.register_bits += width * latency
        return
    parts = partial_products(width, limb or _DSP_LIMB[target] or width, bits)
    for part in parts:
        if _DSP_LIMB[target] and min(part.left.width, part.right.width) > _LUT_LIMB:
            features.dsps += 1
        else:
            features.multiplier_bits += part.left.width * part.right.width
    features.adder_bits += sum(width - p.shift for p in parts[1:])
    if target not in _REGISTERED_DSP:
        inner = sum(p.width for p in parts) if limb else 0
        features.register_bits += inner + width * (latency - (1 if limb else 0))


def _operation(features: Features, op: Op, binding: Binding) -> None:
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
