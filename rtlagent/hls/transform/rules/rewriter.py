"""What a rule may do besides changing its operation: ask for counts of uses and put new operations before it."""

from __future__ import annotations

from collections.abc import Callable

from rtlagent.hls.ir import Const, Op, Opcode, Value

Rule = Callable[[Op, "Rewriter"], Value | None]

_MAX_STEPS = 24
"""Rewrites of one operation; the rules lead to a normal form, this only guards against a pair of opposite ones."""


class Rewriter:
    """Applies rules to one operation after another and collects the operations that they make."""

    def __init__(self, rules: dict[Opcode, tuple[Rule, ...]], uses: dict[Value, int]) -> None:
        self._rules = rules
        self._uses = uses
        self.made: list[Op] = []
        """New operations, in order, to stand before the present one."""
        self.changed = False
        self._place_of: Op | None = None

    def simplify(self, op: Op) -> Value:
        """Return what to use instead of `op`; `op` itself, perhaps changed, if nothing better is known."""
        outer, self._place_of = self._place_of, op
        value: Value = op
        for _ in range(_MAX_STEPS):
            found = self._step(op)
            if found is None:
                break
            self.changed = True
            value = found
            if found is not op:
                break
        self._place_of = outer
        return value

    def _step(self, op: Op) -> Value | None:
        for rule in self._rules.get(op.opcode, ()):
            found = rule(op, self)
            if found is not None:
                return found
        return None

    def build(self, opcode: Opcode, width: int, *args: Value) -> Value:
        """Return an operation's value: simplified, and made before the present operation if need be."""
        origin = self._place_of
        place = origin.place if origin is not None else None
        op = Op(opcode, width, args, place=place)
        value = self.simplify(op)
        if value is op:
            self.made.append(op)
        return value

    def negated(self, condition: Value) -> Value:
        """Return the opposite of a value of width 1."""
        return self.build(Opcode.XOR, 1, condition, Const(1, 1))

    def resized(self, value: Value, width: int, *, signed: bool) -> Value:
        """Return a value with another width."""
        if value.width == width:
            return value
        if value.width > width:
            return self.build(Opcode.TRUNC, width, value)
        return self.build(Opcode.SEXT if signed else Opcode.ZEXT, width, value)

    def single_use(self, value: Value) -> bool:
        """Tell whether nothing else uses the value (new operations count as used once)."""
        return self._uses.get(value, 1) <= 1


def operation(value: Value, *opcodes: Opcode) -> Op | None:
    """Return the value if it is an operation of one of these kinds."""
    return value if isinstance(value, Op) and value.opcode in opcodes else None


def constant(value: Value) -> int | None:
    """Return the bit pattern of a constant."""
    return value.value if isinstance(value, Const) else None


def become(op: Op, opcode: Opcode, *args: Value) -> Op:
    """Turn an operation into another one of the same width."""
    op.opcode = opcode
    op.args = list(args)
    return op
