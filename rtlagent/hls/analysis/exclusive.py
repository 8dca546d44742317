"""Which predicates can never hold together.

```
%a = eq %x, 3        %a and %b exclude each other, so do %p and %q:
%b = eq %x, 5        two accesses under them need one port.
%p = and %c, %d
%n = xor %c, 1
%q = and %n, %e
```
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from rtlagent.hls.ir import Const, Op, Opcode, Value

Literal = tuple[Hashable, bool]
_LIMIT = 64


def literals(predicate: Value) -> frozenset[Literal]:
    """Return conditions (key, polarity) that all hold when a predicate does."""
    found: set[Literal] = set()
    work = [(predicate, True)]
    while work and len(found) < _LIMIT:
        value, positive = work.pop()
        if not isinstance(value, Op) or value.width != 1:
            found.add((value, positive))
            continue
        code = value.opcode
        if code is Opcode.XOR and isinstance(value.args[1], Const):
            work.append((value.args[0], positive ^ bool(value.args[1].value)))
        elif code is (Opcode.AND if positive else Opcode.OR):
            work += [(a, positive) for a in value.args]
        elif code is Opcode.COPY:
            work.append((value.args[0], positive))
        else:
            key, same = _key(value)
            found.add((key, positive is same))
    return frozenset(found)


def _key(op: Op) -> tuple[Hashable, bool]:
    """Return a name for what a comparison tests, and whether it is true when that holds."""
    if len(op.args) != 2:
        return op, True
    a, b = (_operand(x) for x in op.args)
    if op.opcode in (Opcode.EQ, Opcode.NE):
        return ("eq", a, b), op.opcode is Opcode.EQ
    if op.opcode in (Opcode.SLT, Opcode.ULT):
        return (op.opcode, a, b), True
    if op.opcode in (Opcode.SLE, Opcode.ULE):
        strict = Opcode.SLT if op.opcode is Opcode.SLE else Opcode.ULT
        return (strict, b, a), False
    return op, True


def _operand(value: Value) -> Hashable:
    return ("constant", value.value, value.width) if isinstance(value, Const) else value


def exclude(a: frozenset[Literal], b: frozenset[Literal]) -> bool:
    """Tell whether two sets of conditions cannot all hold."""
    if any((key, not positive) in b for key, positive in a):
        return True
    numbers = dict(_equalities(a))
    return any(numbers.get(value, number) != number for value, number in _equalities(b))


def _equalities(conditions: Iterable[Literal]) -> Iterable[tuple[Hashable, Hashable]]:
    """Yield (value, constant) of the conditions that say what a value is."""
    for key, positive in conditions:
        if positive and isinstance(key, tuple) and key[0] == "eq" and isinstance(key[2], tuple):
            yield key[1], key[2]


def says_differ(predicate: Value, a: Value, b: Value) -> bool:
    """Tell whether a predicate only holds if two values differ."""
    if a.width != b.width:
        return False
    x, y = _operand(a), _operand(b)
    return any(not positive and key in (("eq", x, y), ("eq", y, x)) for key, positive in literals(predicate))


def groups(ops: list[Op]) -> list[list[Op]]:
    """Put accesses of one kind together of which at most one happens; greedily, in order."""
    result: list[tuple[list[Op], list[frozenset[Literal]]]] = []
    for op in ops:
        if op.predicate is None:
            result.append(([op], []))
            continue
        mine = literals(op.predicate)
        for members, conditions in result:
            if conditions and members[0].opcode is op.opcode and all(exclude(mine, other) for other in conditions):
                members.append(op)
                conditions.append(mine)
                break
        else:
            result.append(([op], [mine]))
    return [members for members, _ in result]
