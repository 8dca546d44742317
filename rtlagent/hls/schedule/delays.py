"""How long operations take, per target: nanoseconds within a cycle, and cycles for multipliers and dividers.

The constants are rough sums of logic and average routing delay; benchmarks/perf/hls_delays.py compares them with
place-and-route.
"""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.hls.ir import COMPARISONS, DIVISIONS, Const, Memory, Op, Opcode, Value

from .storage import is_register_port, read_latency, storage_of


@dataclass(frozen=True)
class Technology:
    """Delays in ns, routing included."""

    lut: float
    """One level of logic."""
    carry: float
    """Start of a carry chain."""
    carry_bit: float
    """Each bit of it."""
    register: float
    """Clock to the output of a register."""
    setup: float
    multiplier: float
    """A product of up to `dsp_width` bits in a DSP block."""
    dsp_width: int
    """Greatest width of operands of one DSP block (signed)."""
    memory_out: float
    """Clock to data of a block RAM (or an outside memory)."""
    memory_in: float
    """Address and data set-up, with the multiplexer in front."""
    lut_inputs: int
    splits: bool
    """Wide products are cut into limbs by us: the synthesizer cannot put registers between DSP blocks."""


TECHNOLOGIES = {
    "generic": Technology(0.9, 1.2, 0.05, 0.9, 0.3, 4.5, 18, 2.5, 1.2, 4, splits=False),
    "ecp5": Technology(0.9, 1.3, 0.05, 1.0, 0.3, 4.6, 18, 4.4, 1.2, 4, splits=True),
    "ice40": Technology(1.4, 1.8, 0.14, 1.4, 0.5, 9.0, 16, 3.6, 1.8, 4, splits=True),
    "xc7": Technology(0.7, 1.1, 0.03, 0.8, 0.2, 4.0, 18, 2.4, 1.0, 6, splits=False),
}
LIMB = 16
_WIRES = frozenset({Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC, Opcode.COPY})
_SHIFTS = frozenset({Opcode.SHL, Opcode.LSHR, Opcode.ASHR})


class Delays:
    """Answers for one target."""

    def __init__(self, target: str) -> None:
        self.technology = TECHNOLOGIES[target]
        self.target = target

    def latency(self, op: Op) -> int:
        """Return the cycles after issue in which the result becomes usable: 0 within the cycle."""
        if op.opcode is Opcode.LOAD:
            assert op.memory is not None
            return read_latency(op.memory)
        if op.opcode is Opcode.MUL:
            return self._multiplier_latency(op)
        if op.opcode in DIVISIONS:
            return -(-max(8, op.width) // 2) + 2
        return 0

    def before(self, op: Op) -> float:
        """Return the ns that an operation needs after its operands within the cycle of issue."""
        t = self.technology
        code = op.opcode
        if code in (Opcode.LOAD, Opcode.STORE):
            assert op.memory is not None
            return self._access(op.memory, op)
        if code is Opcode.MUL and self._multiplier_latency(op):
            narrow = multiplier_width(op) <= t.dsp_width or t.splits
            return t.multiplier if narrow else t.multiplier * 1.7
        if code in DIVISIONS:
            return 2 * t.lut
        return self.combinational(op)

    def after(self, op: Op) -> float:
        """Return the ns into the cycle in which a result with latency is there."""
        t = self.technology
        if op.opcode is Opcode.LOAD:
            assert op.memory is not None
            return t.memory_out if op.memory.width else 0.0
        if op.opcode is Opcode.MUL and t.splits and multiplier_width(op) > t.dsp_width:
            return t.register + t.carry + t.carry_bit * op.width
        return t.register + (t.lut if op.opcode in DIVISIONS else 0.0)

    def combinational(self, op: Op) -> float:
        """Return the ns of a pure operation."""
        t, code, width = self.technology, op.opcode, op.width
        if code in _WIRES:
            return 0.0
        if code in (Opcode.ADD, Opcode.SUB):
            return t.carry + t.carry_bit * width
        if code in COMPARISONS:
            return self._comparison(op)
        if code in _SHIFTS:
            if isinstance(op.args[1], Const):
                return 0.0
            levels = min(op.args[1].width, max(1, (width - 1).bit_length()))
            return t.lut * (levels if t.lut_inputs == 4 else -(-levels // 2))
        if code is Opcode.MUL:
            return t.multiplier if width > 4 else 2 * t.lut
        if code in (Opcode.AND, Opcode.OR, Opcode.XOR) and any(isinstance(a, Const) for a in op.args):
            return 0.0 if code is Opcode.AND else 0.3 * t.lut
        if code is Opcode.SELECT:
            return t.lut
        return 0.7 * t.lut

    def _comparison(self, op: Op) -> float:
        t, width = self.technology, op.args[0].width
        if op.opcode in (Opcode.EQ, Opcode.NE) and (width <= 16 or any(isinstance(a, Const) for a in op.args)):
            inputs = width if any(isinstance(a, Const) for a in op.args) else 2 * width
            levels, reach = 1, t.lut_inputs
            while reach < inputs:
                levels, reach = levels + 1, reach * t.lut_inputs
            return t.lut * levels
        return t.carry + t.carry_bit * width

    def _access(self, memory: Memory, op: Op) -> float:
        t = self.technology
        kind = storage_of(memory)
        if is_register_port(memory) or (kind == "register" and memory.depth == 1):
            return 0.0 if op.opcode is Opcode.LOAD else t.lut
        levels = max(1, (memory.depth - 1).bit_length()) / (2 if t.lut_inputs == 4 else 3)
        if kind in ("register", "lutram"):
            return t.lut * (1 + levels * 0.7) if op.opcode is Opcode.LOAD else t.memory_in
        return t.memory_in

    def _multiplier_latency(self, op: Op) -> int:
        width = multiplier_width(op)
        if op.width <= 4 or (any(isinstance(a, Const) for a in op.args) and width <= 6):
            return 0
        if width <= self.technology.dsp_width or not self.technology.splits:
            return 1
        products = limb_products(op.width)
        return max(1, (products - 1).bit_length())


def limb_products(width: int) -> int:
    """Return how many products of limbs the low `width` bits of a product need."""
    limbs = -(-width // LIMB)
    return limbs * (limbs + 1) // 2


def multiplier_width(op: Op) -> int:
    """Return the significant bits (signed) of a product's wider operand."""
    return max(significant(a) for a in op.args)


def significant(value: Value) -> int:
    """Return the bits, sign included, that a value really has."""
    if isinstance(value, Const):
        return min(value.width, min(value.value, (1 << value.width) - value.value).bit_length() + 1)
    if isinstance(value, Op):
        if value.opcode is Opcode.SEXT:
            return significant(value.args[0])
        if value.opcode is Opcode.ZEXT:
            return value.args[0].width + 1
    return value.width
