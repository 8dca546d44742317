"""What is known of values modulo a number: to which bank of a cyclic partition a subscript goes.

```
loop:  %i = phi 32 [entry: 0, loop: %n]      0 modulo 4
       %j = add 32 %i, 3                     3 modulo 4
       %n = add 32 %i, 8                     0 modulo 4
```
"""

from __future__ import annotations

from rtlagent.hls.ir import Const, Op, Opcode, Phi, Value

from .ranges import Ranges


class Residues:
    """Residues of the values of one function modulo `modulus`."""

    def __init__(self, modulus: int, ranges: Ranges) -> None:
        self.modulus = modulus
        self.ranges = ranges
        self._known: dict[Value, int | None] = {}
        self._assumed: dict[Value, int] = {}
        self._tentative: dict[Value, int | None] = {}
        """Found under the present assumptions."""

    def of(self, value: Value) -> int | None:
        """Return the value modulo the modulus if it is always the same."""
        if isinstance(value, Const):
            return value.value % self.modulus
        if value in self._known:
            return self._known[value]
        if value in self._assumed:
            return self._assumed[value]
        if value in self._tentative:
            return self._tentative[value]
        if isinstance(value, Phi):
            result = self._phi(value)
        else:
            result = self._operation(value) if isinstance(value, Op) else None
        (self._tentative if self._assumed else self._known)[value] = result
        return result

    def _phi(self, phi: Phi) -> int | None:
        """Assume what a constant that flows in says, and see whether the other ways agree."""
        start = next((v.value for v in phi.incoming.values() if isinstance(v, Const)), None)
        if start is None:
            return None
        self._assumed[phi] = start % self.modulus
        agreed = all(self.of(v) == start % self.modulus for v in phi.incoming.values())
        del self._assumed[phi]
        if not agreed:
            self._tentative.clear()
        elif not self._assumed:
            self._known.update(self._tentative)
            self._tentative.clear()
        return start % self.modulus if agreed else None

    def _operation(self, op: Op) -> int | None:
        code = op.opcode
        if code in (Opcode.ZEXT, Opcode.COPY):
            return self.of(op.args[0])
        if code is Opcode.SELECT:
            a, b = self.of(op.args[1]), self.of(op.args[2])
            return a if a == b else None
        if code is Opcode.TRUNC:
            fits = self._divides(op.width) or self.ranges.of(op.args[0])[1] < 1 << op.width
            return self.of(op.args[0]) if fits else None
        if code is Opcode.SEXT:
            width = op.args[0].width
            positive = self.ranges.of(op.args[0])[1] < 1 << (width - 1)
            return self.of(op.args[0]) if positive or self._divides(width) else None
        if code is Opcode.AND:
            return self._masked(op)
        if code in (Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.SHL, Opcode.OR):
            return self._arithmetic(op)
        return None

    def _divides(self, width: int) -> bool:
        """Tell whether wrapping at a width does not change residues."""
        return (1 << width) % self.modulus == 0

    def _masked(self, op: Op) -> int | None:
        a, b = op.args
        if isinstance(b, Const) and self._divides(self.modulus.bit_length() - 1):
            low = self.modulus - 1
            if b.value & low == 0:
                return 0
            if b.value & low == low:
                return self.of(a)
        return None

    def _arithmetic(self, op: Op) -> int | None:
        if not self._divides(op.width) and not self._no_wrap(op):
            return None
        a, b = (self.of(x) for x in op.args)
        if op.opcode is Opcode.SHL:
            if not isinstance(op.args[1], Const) or op.args[1].value >= op.width:
                return None
            factor = 1 << op.args[1].value
            return self._scaled(a, factor)
        if op.opcode is Opcode.MUL:
            if a is not None and b is not None:
                return a * b % self.modulus
            constant = next((x.value for x in op.args if isinstance(x, Const)), None)
            return None if constant is None else self._scaled(None, constant)
        if op.opcode is Opcode.OR:
            # Without common bits an OR is a sum; residues know only about low bits.
            if not self._divides(self.modulus.bit_length() - 1) or a is None or b is None:
                return None
            return a | b
        if a is None or b is None:
            return None
        return (a + b if op.opcode is Opcode.ADD else a - b) % self.modulus

    def _scaled(self, residue: int | None, factor: int) -> int | None:
        if residue is not None:
            return residue * factor % self.modulus
        return 0 if factor % self.modulus == 0 else None

    def _no_wrap(self, op: Op) -> bool:
        a, b = (self.ranges.of(x) for x in op.args)
        limit = 1 << op.width
        if op.opcode is Opcode.ADD:
            return a[1] + b[1] < limit
        if op.opcode is Opcode.SUB:
            return a[0] >= b[1]
        if op.opcode is Opcode.MUL:
            return a[1] * b[1] < limit
        if op.opcode is Opcode.SHL:
            return b[1] < 64 and a[1] << b[1] < limit
        return True
