"""Copies of operations and blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rtlagent.hls.ir import Block, Branch, Function, Jump, LoopDirectives, Op, Phi, Return, Switch, Terminator, Value


def clone_op(op: Op, values: dict[Value, Value]) -> Op:
    """Return a copy whose operands are replaced; the new value is entered into `values`."""
    copy = Op(
        op.opcode,
        op.width,
        [values.get(a, a) for a in op.args],
        memory=op.memory,
        callee=op.callee,
        stream=op.stream,
        predicate=None if op.predicate is None else values.get(op.predicate, op.predicate),
        name=op.name,
        place=op.place,
    )
    values[op] = copy
    return copy


def clone_ops(ops: Iterable[Op], values: dict[Value, Value]) -> list[Op]:
    """Copy operations in order."""
    return [clone_op(op, values) for op in ops]


def clone_terminator(end: Terminator, values: dict[Value, Value], blocks: dict[Block, Block]) -> Terminator:
    """Return a copy with replaced values and targets."""
    if isinstance(end, Jump):
        return Jump(blocks.get(end.target, end.target))
    if isinstance(end, Branch):
        condition = values.get(end.condition, end.condition)
        return Branch(condition, blocks.get(end.then, end.then), blocks.get(end.other, end.other))
    if isinstance(end, Switch):
        cases = [(n, blocks.get(b, b)) for n, b in end.cases]
        return Switch(values.get(end.value, end.value), cases, blocks.get(end.default, end.default))
    return Return(None if end.value is None else values.get(end.value, end.value))


def clone_directives(directives: LoopDirectives | None) -> LoopDirectives | None:
    """Return an independent copy."""
    return None if directives is None else replace(directives)


def clone_blocks(
    blocks: list[Block], values: dict[Value, Value], targets: dict[Block, Block], suffix: str
) -> list[Block]:
    """Copy blocks with all phis, operations and terminators.

    Args:
        blocks: What to copy.
        values: Replacements for values from outside; the copies are entered.
        targets: Replacements for blocks outside; the copies are entered.
        suffix: Put behind each block's name.
    """
    for block in blocks:
        copy = Block(f"{block.name}{suffix}")
        copy.directives = clone_directives(block.directives)
        targets[block] = copy
        for phi in block.phis:
            twin = Phi(phi.width, name=phi.name, place=phi.place)
            copy.phis.append(twin)
            values[phi] = twin
        for op in block.ops:
            clone_op(op, values)
    for block in blocks:
        copy = targets[block]
        for op in block.ops:
            twin_op = values[op]
            assert isinstance(twin_op, Op)
            # A use may come before its definition in block order, so operands are set when all copies exist.
            twin_op.args = [values.get(a, a) for a in op.args]
            twin_op.predicate = None if op.predicate is None else values.get(op.predicate, op.predicate)
            copy.ops.append(twin_op)
        for phi in block.phis:
            twin_phi = values[phi]
            assert isinstance(twin_phi, Phi)
            twin_phi.incoming = {targets.get(b, b): values.get(v, v) for b, v in phi.incoming.items()}
        copy.terminator = clone_terminator(block.terminator, values, targets)
    return [targets[b] for b in blocks]


def retarget(block: Block, old: Block, new: Block) -> None:
    """Make a block's terminator go to `new` where it went to `old`; phis are the caller's."""
    end = block.terminator
    if isinstance(end, Jump):
        end.target = new if end.target is old else end.target
    elif isinstance(end, Branch):
        end.then = new if end.then is old else end.then
        end.other = new if end.other is old else end.other
    elif isinstance(end, Switch):
        end.cases = [(n, new if b is old else b) for n, b in end.cases]
        end.default = new if end.default is old else end.default


def rename_incoming(block: Block, old: Block, new: Block) -> None:
    """Let the phis of a block take from `new` what they took from `old`."""
    for phi in block.phis:
        if old in phi.incoming:
            phi.incoming = {new if b is old else b: v for b, v in phi.incoming.items()}


def insert_block(function: Function, name: str, sources: list[Block], target: Block) -> Block:
    """Put a new block on the edges from `sources` to `target`; it stands before `target`."""
    block = Block(name)
    block.terminator = Jump(target)
    for phi in target.phis:
        taken = [phi.incoming.pop(s) for s in sources]
        first = taken[0]
        if all(v is first for v in taken):
            phi.incoming[block] = first
            continue
        merged = Phi(phi.width, name=phi.name, place=phi.place)
        merged.incoming = dict(zip(sources, taken, strict=True))
        block.phis.append(merged)
        phi.incoming[block] = merged
    for source in sources:
        retarget(source, target, block)
    function.blocks.insert(function.blocks.index(target), block)
    return block
