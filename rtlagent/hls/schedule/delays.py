"""How long operations take on a target: the model behind chaining.

A cycle's combinational paths begin at `clock_to_q` and must end, set-up included, at `budget_ns`. Shifts by constants,
extensions and truncations are wires; logic is a fraction of a lookup table; adders and comparisons are carry
chains, of which two in a row overlap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rtlagent.hls.ir import COMPARISONS, DIVISIONS, Const, Memory, Op, Opcode, Value
from rtlagent.hls.options import HlsOptions

from .multiplier import operand_bits, partial_products, shape
from .plan import division_latency
from .storage import StorageKind, kind_of
from .technology import TECHNOLOGIES, Technology

_WIRES = frozenset({Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC, Opcode.COPY})
_SHIFTS = frozenset({Opcode.SHL, Opcode.LSHR, Opcode.ASHR})
_GATES = frozenset({Opcode.AND, Opcode.OR, Opcode.XOR})
_SUMS = frozenset({Opcode.ADD, Opcode.SUB})
_ORDERS = frozenset({Opcode.ULT, Opcode.ULE, Opcode.SLT, Opcode.SLE})
_FREE_MULTIPLIERS = 8
"""So many multiplications of a kind keep a unit of their own; binding shares more of them behind multiplexers."""


@dataclass(frozen=True)
class OpTiming:
    """When an operation's result is there."""

    latency: int
    """Cycles from issue to the cycle in which the result is a wire."""
    need_ns: float
    """What must fit into the issue cycle after the operands are there, set-up included."""
    out_ns: float
    """Latency 0: from the operands to the result; else: from the clock edge to the result, in its cycle."""
    limb: int = 0
    """Of a split product; see `multiplier`."""


class Delays:
    """The delays of one compilation."""

    def __init__(self, options: HlsOptions) -> None:
        self.technology: Technology = TECHNOLOGIES[options.target]
        self.budget_ns = options.clock_ns * (1 - options.clock_margin)
        self.period_ns = options.clock_ns
        self.start_ns = self.technology.clock_to_q
        self.accesses: dict[Memory, int] = {}
        """How many operations share each memory's ports; set by the scheduler."""
        self.products: int = 0
        """How many multiplications there are in the module."""
        self.latencies: dict[Op, int] = {}
        """What bind_op asks of operations, never less than they need."""

    def select_from(self, count: int) -> float:
        """Return the delay of choosing one of `count` sources by state."""
        return self.technology.multiplexer * math.log2(count) if count > 1 else 0.0

    def timing(self, op: Op, *, tail_ns: float, waited_for: bool = False) -> OpTiming:
        """Return an operation's timing.

        Args:
            op: Of any kind.
            tail_ns: What the result must reach in its cycle: at least a register.
            waited_for: The block's last cycle lasts until a call or division is done; other divisions have a fixed
                latency.
        """
        t = self.technology
        if op in self.latencies:
            return self._later(op, self.latencies[op], tail_ns)
        if op.opcode is Opcode.MUL:
            return self._product(op, tail_ns)
        if op.memory is not None:
            return self._access(op, op.memory, tail_ns)
        if op.opcode in DIVISIONS:
            # Signs are taken off before and put on behind the unit: an adder and a multiplexer each.
            sign = t.add + t.carry * op.width + t.select
            latency = 0 if waited_for else division_latency(op.width)
            return OpTiming(latency, sign + t.setup, self.start_ns + sign)
        if op.opcode is Opcode.CALL:
            return OpTiming(0, t.setup + t.select, self.start_ns + t.select)
        if op.opcode is Opcode.READ:
            return OpTiming(0, t.select + tail_ns, t.select)
        if op.opcode is Opcode.WRITE:
            return OpTiming(0, t.select + t.setup, 0.0)
        delay = self.combinational(op)
        return OpTiming(0, delay + tail_ns, delay)

    def _later(self, op: Op, latency: int, tail_ns: float) -> OpTiming:
        """Return the timing of an operation that is to pass so many registers."""
        if op.opcode is Opcode.MUL:
            natural = self._product(op, tail_ns)
        else:
            delay = self.combinational(op)
            natural = OpTiming(0, delay + tail_ns, delay)
        if latency <= natural.latency:
            return natural
        need = natural.need_ns if natural.latency else natural.out_ns + self.technology.setup
        return OpTiming(latency, need, self.start_ns, natural.limb)

    def combinational(self, op: Op) -> float:
        """Return the delay of an operation without memory of any kind."""
        t, code = self.technology, op.opcode
        if code in _WIRES:
            return 0.0
        variable = sum(not isinstance(a, Const) for a in op.args)
        if not variable:
            return 0.0
        if code in _GATES:
            return t.logic if variable > 1 else t.logic / 4
        if code in _SUMS:
            return t.add + t.carry * op.width
        if code in COMPARISONS:
            return self._comparison(op, variable)
        if code in _SHIFTS:
            amount = op.args[1]
            if isinstance(amount, Const):
                return 0.0
            bits = min(_width_of(amount), max(1, (op.width - 1).bit_length()))
            return max(t.select, t.shift_base + t.shift * max(bits, 2))
        if code is Opcode.SELECT:
            return t.select if op.width > 1 or variable > 1 else t.logic
        return t.logic

    def _comparison(self, op: Op, variable: int) -> float:
        t = self.technology
        width = op.args[0].width
        if op.opcode in _ORDERS:
            constant = next((a for a in op.args if isinstance(a, Const)), None)
            if op.opcode is Opcode.SLT and constant is op.args[1] and constant is not None and not constant.value:
                return 0.0  # the sign bit
            if width <= 4:
                return max(t.logic, t.equal_base + t.equal * math.log2(2 * width + 2))
            return t.compare + t.carry * width
        inputs = width * min(2, variable)
        return max(t.logic, t.equal_base + t.equal * math.log2(inputs)) if inputs > 1 else t.logic / 4

    def edge(self, source: Op, sink: Op, operand: int) -> float:
        """Return what has to be added to a source's delay on its way to an operand of the same cycle."""
        t = self.technology
        if source.opcode in _SUMS and sink.opcode in _SUMS:
            return -t.overlap * t.carry * source.width
        if source.opcode in _SUMS and sink.opcode in _ORDERS:
            return -t.compare_overlap * t.carry * source.width
        if operand == 0 and sink.opcode is Opcode.SELECT and sink.width > 1:
            return t.fanout * math.log2(sink.width)
        return 0.0

    # Products

    def _product(self, op: Op, tail_ns: float) -> OpTiming:
        t = self.technology
        shared = 0.0
        if self.products > _FREE_MULTIPLIERS and not any(isinstance(a, Const) for a in op.args):
            shared = self.select_from(-(-self.products // _FREE_MULTIPLIERS))
        delay = self.product_ns(op)
        available = self.budget_ns - self.start_ns
        if shared + delay + max(tail_ns, t.setup) <= available:
            return OpTiming(0, shared + delay + tail_ns, shared + delay)
        limb = self.limb(op)
        if not limb or self.start_ns + shared + delay + t.setup <= self.period_ns:
            # Register to register in a cycle of its own; the margin is for what stands beside other logic.
            return OpTiming(1, shared + delay + t.setup, self.start_ns)
        part = self.limb_ns(limb)
        total = self.sum_ns(op, limb)
        if total + max(tail_ns, t.setup) <= available:
            return OpTiming(1, shared + part + t.setup, self.start_ns + total, limb)
        return OpTiming(2, shared + part + t.setup, self.start_ns, limb)

    def product_ns(self, op: Op) -> float:
        """Return the delay of a product in one piece."""
        t = self.technology
        wide, narrow = shape(op)
        if narrow <= 1:
            return t.logic
        if any(isinstance(a, Const) for a in op.args) and narrow <= 4:
            return t.add + t.carry * op.width  # one or two shifted additions
        if not t.dsp:
            size = (wide + narrow) / 2 * (1.45 if op.width > wide else 1.0)
            factor, constant = t.soft_product
            return max(t.add, factor * math.sqrt(size) + constant)
        if wide <= t.dsp_bits[0] and narrow <= t.dsp_bits[1]:
            return t.dsp
        limb = t.dsp_bits[1] - 1
        rows = -(-narrow // limb) + -(-wide // limb)
        return t.dsp + t.dsp_step * (rows - 1) + t.carry * max(0, op.width - 2 * limb)

    def limb(self, op: Op) -> int:
        """Return the limb width for a product that one block or cycle cannot hold; 0: splitting does not help."""
        t = self.technology
        wide, narrow = shape(op)
        if t.dsp:
            limb = t.dsp_bits[1] - 1
            return limb if wide > t.dsp_bits[0] or narrow > t.dsp_bits[1] else 0
        available = self.budget_ns - self.start_ns - t.setup
        fitting = [k for k in range(4, op.width) if self.limb_ns(k) <= available]
        return max(fitting, default=4) if op.width > 4 else 0

    def limb_ns(self, limb: int) -> float:
        """Return the delay of a partial product."""
        t = self.technology
        if t.dsp:
            return t.dsp
        return max(t.add, t.soft_product[0] * math.sqrt(1.45 * limb) + t.soft_product[1])

    def sum_ns(self, op: Op, limb: int) -> float:
        """Return the delay of the sum of a split product's parts."""
        t = self.technology
        parts = len(partial_products(op.width, limb, operand_bits(op)))
        if parts <= 1:
            return 0.0
        # Carry-save rows, then one carry chain above the lowest limb.
        rows = max(0.0, math.log(parts / 2, 1.5))
        return t.add + t.carry * max(0, op.width - limb) + rows * (t.logic * 2 + t.setup / 2)

    # Memories

    def _access(self, op: Op, memory: Memory, tail_ns: float) -> OpTiming:
        t, kind = self.technology, kind_of(memory)
        shared = self.select_from(self.accesses.get(memory, 1) if not kind.own_wires else 1)
        fixed = all(isinstance(s, Const) for s in op.subscripts)
        if op.opcode is Opcode.STORE:
            decode = 0.0 if fixed or kind is not StorageKind.REGISTERS else t.logic * 2
            setup = t.ram_setup if kind in (StorageKind.BLOCK, StorageKind.PORT) else t.setup
            return OpTiming(0, shared + decode + setup, 0.0)
        latency = kind.latency
        if memory.storage_latency is not None and kind is not StorageKind.POINTER:
            latency = max(latency, memory.storage_latency)
        if kind in (StorageKind.BLOCK, StorageKind.PORT):
            late = t.ram_out if latency == 1 else self.start_ns
            return OpTiming(latency, shared + t.ram_setup, late)
        delay = shared + self._read_ns(memory, kind, fixed=fixed)
        if latency:
            return OpTiming(latency, delay + t.setup, self.start_ns)
        return OpTiming(0, delay + tail_ns, delay)

    def _read_ns(self, memory: Memory, kind: StorageKind, *, fixed: bool) -> float:
        t = self.technology
        if kind is StorageKind.POINTER:
            return t.select
        if fixed or memory.depth == 1:
            return 0.0
        bits = (memory.depth - 1).bit_length()
        if kind is StorageKind.REGISTERS:
            return t.multiplexer * bits
        return t.lutram + t.lutram_step * max(0, bits - 4)


def _width_of(value: Value) -> int:
    if isinstance(value, Op) and value.opcode is Opcode.ZEXT:
        return _width_of(value.args[0])
    return value.width
