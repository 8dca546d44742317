"""Ranges of values, read as unsigned, from constants, widths and counted loops.

```
loop:  %i = phi 32 [entry: 0, loop: %n]      0..15
       %j = add 32 %i, 3                     3..18
       %k = and 32 %x, 7                     0..7
       %n = add 32 %i, 1                     1..16
       %c = slt %n, 16
       branch %c, loop, done
```
"""

from __future__ import annotations

from rtlagent.hls.ir import Branch, Const, Function, MemoryKind, Op, Opcode, Phi, Value, to_signed

from .loops import Induction, Loop, LoopForest, find_loops, greatest_trip_count, inductions

Range = tuple[int, int]


class Ranges:
    """Ranges of the values of one function, computed when asked for; later changes are not seen."""

    def __init__(self, function: Function, forest: LoopForest | None = None) -> None:
        self._known: dict[Value, Range] = {}
        self._inductions: dict[Phi, tuple[Loop, Induction]] = {}
        for loop in forest or find_loops(function):
            for variable in inductions(loop):
                self._inductions[variable.phi] = (loop, variable)

    def induction(self, value: Value) -> Induction | None:
        """Return how a counted loop changes a phi, if it is one that a loop counts with."""
        found = self._inductions.get(value) if isinstance(value, Phi) else None
        return found[1] if found is not None else None

    def of(self, value: Value) -> Range:
        """Return (least, greatest) unsigned value."""
        if isinstance(value, Const):
            return value.value, value.value
        found = self._known.get(value)
        if found is None:
            # Asked for again on the way down a cycle of phis, everything is possible.
            self._known[value] = (0, (1 << value.width) - 1)
            found = self._known[value] = self._compute(value)
        return found

    def _compute(self, value: Value) -> Range:
        everything = (0, (1 << value.width) - 1)
        if isinstance(value, Phi):
            if value in self._inductions:
                return self._counted(*self._inductions[value]) or everything
            ranges = [self.of(v) for v in value.incoming.values() if v is not value]
            return (min(r[0] for r in ranges), max(r[1] for r in ranges)) if ranges else everything
        if not isinstance(value, Op):
            return everything
        found = self._operation(value)
        if found is None or found[0] < 0 or found[1] > everything[1]:
            return everything
        return found

    def _counted(self, loop: Loop, variable: Induction) -> Range | None:
        least, most = self.of(variable.init)
        width = variable.phi.width
        trips = greatest_trip_count(loop)
        if trips is not None:
            ends = (least, most, least + (trips - 1) * variable.step, most + (trips - 1) * variable.step)
            if min(ends) >= 0 and max(ends) < 1 << width:
                return min(ends), max(ends)
            return None
        highest = (1 << (width - 1)) - 1
        if variable.step == 1 and most <= highest and _continues_below(loop, variable):
            return least, highest
        return None

    def _operation(self, op: Op) -> Range | None:  # noqa: PLR0912  one line or two an operation
        code = op.opcode
        if code is Opcode.LOAD:
            memory = op.memory
            if memory is not None and memory.kind is MemoryKind.ROM and memory.init:
                return min(memory.init), max(memory.init)
            return None
        if code is Opcode.SELECT:
            a, b = self.of(op.args[1]), self.of(op.args[2])
            return min(a[0], b[0]), max(a[1], b[1])
        if op.has_side_effect or not op.args:
            return None
        a = self.of(op.args[0])
        if code in (Opcode.ZEXT, Opcode.COPY, Opcode.TRUNC):
            return a
        if code is Opcode.SEXT:
            return a if a[1] < 1 << (op.args[0].width - 1) else None
        if len(op.args) < 2:
            return None
        b = self.of(op.args[1])
        if code is Opcode.ADD:
            return self._sum(op.width, a, b)
        if code is Opcode.SUB:
            return a[0] - b[1], a[1] - b[0]
        if code is Opcode.MUL:
            return a[0] * b[0], a[1] * b[1]
        if code is Opcode.AND:
            return 0, min(a[1], b[1])
        if code in (Opcode.OR, Opcode.XOR):
            return (max(a[0], b[0]) if code is Opcode.OR else 0), (1 << max(a[1], b[1]).bit_length()) - 1
        if code is Opcode.SHL and b[1] < 64:
            return a[0] << b[0], a[1] << b[1]
        if code is Opcode.LSHR or (code is Opcode.ASHR and a[1] < 1 << (op.width - 1)):
            return a[0] >> min(b[1], op.width), a[1] >> min(b[0], op.width)
        if code is Opcode.UREM and b[0] > 0:
            return 0, min(a[1], b[1] - 1)
        if code is Opcode.UDIV and b[0] > 0:
            return a[0] // b[1], a[1] // b[0]
        return None

    @staticmethod
    def _sum(width: int, a: Range, b: Range) -> Range | None:
        if a[1] + b[1] < 1 << width:
            return a[0] + b[0], a[1] + b[1]
        # The addition of a negative constant.
        for x, y in ((a, b), (b, a)):
            step = to_signed(y[0], width)
            if y[0] == y[1] and step < 0 and x[0] + step >= 0:
                return x[0] + step, x[1] + step
        return None


def _continues_below(loop: Loop, variable: Induction) -> bool:
    """Tell whether the loop goes on only while the next value is signed less than something."""
    latch = loop.latch
    if latch is None or not isinstance(latch.terminator, Branch):
        return False
    end = latch.terminator
    condition = end.condition
    return (
        end.then in loop
        and end.other not in loop
        and isinstance(condition, Op)
        and condition.opcode is Opcode.SLT
        and condition.args[0] is variable.next
    )
