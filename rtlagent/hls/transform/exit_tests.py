"""Decide on another iteration before the value that the test looks at is chosen.

```
%n = add %e, 1                          %n = add %e, 1
%m = select %c, %n, %e                  %m = select %c, %n, %e
%d = ult %m, %k              ->         %y = ult %n, %k;  %z = ult %e, %k
branch %d, loop, done                   %d = select %c, %y, %z
                                        branch %d, loop, done
```

A pipelined loop can start an iteration a cycle only if its exit condition is there within a cycle: %c often comes last.
Likewise for a counter that steps by a condition, `add %e, (zext %c)`.
"""

from __future__ import annotations

from rtlagent.hls.analysis.cost import period_ns, timing
from rtlagent.hls.analysis.loops import find_loops
from rtlagent.hls.ir import COMPARISONS, Block, Branch, Const, Module, Op, Opcode, Value
from rtlagent.hls.options import HlsOptions, Remarks

from .dead_code import remove_dead_ops

_MOST_STEPS = 3
EARLY = 0.8
"""Part of a cycle within which a condition is early enough; registers and routing take the rest."""


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Shorten the exit conditions of pipelined loops that are late."""
    for function in module.functions:
        for loop in find_loops(function):
            directives = loop.header.directives
            if loop.is_single_block and directives is not None and directives.pipeline_ii is not None:
                for _ in range(_MOST_STEPS):
                    if not _shorten(loop.header, period_ns(options)):
                        break
                _choose_late_steps(loop.header, period_ns(options))
        remove_dead_ops(function)


def _shorten(block: Block, period: float) -> bool:
    """Move the test in front of the select that comes last; tell whether that made the condition earlier."""
    end = block.terminator
    assert isinstance(end, Branch)
    test = _late_test(end.condition)
    if test is None or test not in block.ops:
        return False
    before = timing(block.ops, period).ready[end.condition]
    if before <= EARLY:
        return False
    for side, operand in enumerate(test.args):
        made = _tests_of_arms(test, side, operand)
        if made is None:
            continue
        kept_ops, kept_condition = block.ops, end.condition
        at = block.ops.index(test)
        block.ops = [*block.ops[: at + 1], *made, *block.ops[at + 1 :]]
        _use(block, end, test, made[-1])
        if timing(block.ops, period).ready[end.condition] < before - 1e-6:
            return True
        _use(block, end, made[-1], test)
        block.ops, end.condition = kept_ops, kept_condition
    return False


def _choose_late_steps(block: Block, period: float) -> None:
    """Let a counter that steps by a late condition be chosen from two sums that do not wait for it."""
    ready = timing(block.ops, period).ready
    for phi in block.phis:
        step = phi.incoming[block]
        if not isinstance(step, Op) or step.opcode is not Opcode.ADD or ready.get(step, 0.0) <= EARLY:
            continue
        found = _choice(step)
        if found is None or step not in block.ops:
            continue
        condition, arms, made = found
        chosen = Op(Opcode.SELECT, step.width, [condition, *arms], name=step.name, place=step.place)
        at = block.ops.index(step) + 1
        block.ops[at:at] = [*made, chosen]
        phi.incoming[block] = chosen


def _late_test(condition: Value) -> Op | None:
    """Return the comparison that decides, through a negation."""
    if isinstance(condition, Op) and condition.opcode is Opcode.XOR and isinstance(condition.args[1], Const):
        condition = condition.args[0]
    return condition if isinstance(condition, Op) and condition.opcode in COMPARISONS else None


def _tests_of_arms(test: Op, side: int, operand: Value) -> list[Op] | None:
    """Return the test of each value that an operand chooses between, and the choice of their results."""
    found = _choice(operand)
    if found is None:
        return None
    condition, arms, made = found
    tests = []
    for arm in arms:
        operands = list(test.args)
        operands[side] = arm
        tests.append(Op(test.opcode, 1, operands, place=test.place))
    return [*made, *tests, Op(Opcode.SELECT, 1, [condition, *tests], name=test.name, place=test.place)]


def _choice(value: Value) -> tuple[Value, list[Value], list[Op]] | None:
    """Return (condition, values if it is 1 or 0, operations to make these): of a select, or of x + condition."""
    if not isinstance(value, Op):
        return None
    if value.opcode is Opcode.SELECT:
        return value.args[0], value.args[1:], []
    if value.opcode is Opcode.ADD:
        for step, base in (value.args, reversed(value.args)):
            if isinstance(step, Op) and step.opcode is Opcode.ZEXT and step.args[0].width == 1:
                more = Op(Opcode.ADD, value.width, [base, Const(1, value.width)], place=value.place)
                return step.args[0], [more, base], [more]
    return None


def _use(block: Block, end: Branch, old: Op, new: Op) -> None:
    """Let the branch, and a negation in front of it, use another test."""
    if end.condition is old:
        end.condition = new
        return
    assert isinstance(end.condition, Op)
    end.condition.args = [new if a is old else a for a in end.condition.args]
