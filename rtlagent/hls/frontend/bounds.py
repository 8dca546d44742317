"""What values an index can have, where that is plain: constants, masks, and counters of loops.

`for (i = 0; i < 8; i++) p[i]` stays within eight elements of `p`.
"""

from __future__ import annotations

import re

from rtlagent.hls.frontend.llvm_module import Block, Constant, Function, Instruction, Operand
from rtlagent.hls.frontend.steps import constant_of

Bounds = tuple[int, int]
"""Least and greatest value."""
_DEPTH = 8
_WORDS = re.compile(r"icmp (?:samesign )?(\w+) ")


class IndexBounds:
    """Bounds of the values of one function."""

    def __init__(self, function: Function) -> None:
        self._home: dict[Instruction, Block] = {i: b for b in function.blocks for i in b.instructions}
        self._entry = function.blocks[0]
        self._guarded: dict[tuple[Block, Block], set[Block]] = {}

    def of(self, operand: Operand, user: Instruction, depth: int = 0) -> Bounds | None:
        """Return the bounds of an operand where an instruction uses it; None if they are not plain."""
        value = constant_of(operand)
        if value is not None:
            return value, value
        if not isinstance(operand, Instruction) or depth > _DEPTH:
            return None
        code = operand.opcode
        if code == "phi":
            return self._counter(operand, self._home[user])
        inner = [self.of(o, user, depth + 1) for o in operand.operands[:2]] if code in _SIMPLE else []
        return _computed(code, operand, inner)

    def _counter(self, phi: Instruction, at: Block) -> Bounds | None:
        """Return the bounds of a counter inside its loop: it starts at a constant, goes up, and is tested first."""
        first = last = None
        for operand in phi.operands:
            start = constant_of(operand)
            if start is not None:
                first = start if first is None else min(first, start)
                last = start if last is None else max(last, start)
            elif not _goes_up(operand, phi):
                return None
        limit = self._limit(phi, at)
        if first is None or last is None or limit is None:
            return None
        return first, max(last, limit)

    def _limit(self, phi: Instruction, at: Block) -> int | None:
        block = self._home[phi]
        test = block.instructions[-1]
        if test.opcode != "br" or len(test.operands) != 3:
            return None
        condition, _, inside = test.operands
        if not isinstance(condition, Instruction) or not isinstance(inside, Block) or condition.opcode != "icmp":
            return None
        found = _WORDS.search(condition.text)
        counter, bound = condition.operands
        most = constant_of(bound)
        if found is None or counter is not phi or most is None or not isinstance(bound, Constant):
            return None
        steps = {"slt": -1, "ult": -1, "sle": 0, "ule": 0, "ne": -1}
        if found[1] not in steps or at not in self._behind(block, inside):
            return None
        return most + steps[found[1]]

    def _behind(self, source: Block, target: Block) -> set[Block]:
        """Return the blocks that are only reached through an edge."""
        key = (source, target)
        if key not in self._guarded:
            seen = {self._entry}
            waiting = [self._entry]
            while waiting:
                block = waiting.pop()
                for following in block.instructions[-1].operands:
                    if isinstance(following, Block) and following not in seen and (block, following) != key:
                        seen.add(following)
                        waiting.append(following)
            self._guarded[key] = {b for b in self._home.values() if b not in seen}
        return self._guarded[key]


_SIMPLE = frozenset({"sext", "zext", "trunc", "and", "urem", "lshr", "add", "mul", "shl"})


def _goes_up(operand: Operand, phi: Instruction) -> bool:
    if not isinstance(operand, Instruction) or operand.opcode != "add":
        return False
    base, step = operand.operands
    value = constant_of(step)
    # By one, so that a test for `not equal` does not pass over its bound.
    return base is phi and value == 1


def _computed(code: str, ins: Instruction, inner: list[Bounds | None]) -> Bounds | None:
    if not inner:
        return None
    a = inner[0]
    z = inner[1] if len(inner) > 1 else None
    if code == "zext":
        width = int(ins.operands[0].type[1:])
        return a if a is not None and a[0] >= 0 else (0, (1 << width) - 1)
    if code == "sext":
        return a
    if code == "trunc":
        return a if a is not None and a[0] >= 0 and a[1] < 1 << (int(ins.type[1:]) - 1) else None
    if code == "and":
        masks = [b[1] for b in (a, z) if b is not None and b[0] == b[1] >= 0]
        return (0, min(masks)) if masks else None
    if code == "urem":
        return (0, z[1] - 1) if z is not None and z[0] == z[1] > 0 else None
    if a is None or z is None or a[0] < 0:
        return None
    if code == "lshr":
        return (0, a[1] >> z[0]) if z[0] >= 0 else None
    if z[0] < 0:
        return (a[0] + z[0], a[1] + z[1]) if code == "add" else None
    if code == "add":
        return a[0] + z[0], a[1] + z[1]
    return (a[0] * z[0], a[1] * z[1]) if code == "mul" else (a[0] << z[0], a[1] << z[1])
