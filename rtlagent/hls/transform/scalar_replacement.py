"""Keep array elements in registers.

```
loop: %v = load y[3]                     before: %y.0 = load y[3]
      %w = add %v, %a              ->    loop:   %y.1 = phi [before: %y.0, loop: %w]
      store y[3] = %w                            %w = add %y.1, %a
      ...                                left:   store y[3] = %w
```

Three cases: a small local array whose subscripts are all constants becomes plain values; an element whose subscripts
do not change in a loop, and which no other access in it may meet, is loaded before the loop and stored after it; a load
of an element that was loaded in an earlier iteration (a sliding window) is carried along.
"""

from __future__ import annotations

from rtlagent.hls.analysis.dominators import Dominators
from rtlagent.hls.analysis.loops import Loop, is_pure
from rtlagent.hls.analysis.ranges import Ranges
from rtlagent.hls.analysis.subscripts import Affine, Relation, Subscripts, surely_in_range
from rtlagent.hls.ir import (
    Block,
    Const,
    Function,
    Jump,
    Memory,
    MemoryKind,
    Module,
    Op,
    Opcode,
    Value,
)
from rtlagent.hls.options import HlsOptions, Remarks

from .cloning import rename_incoming
from .loop_form import bring_out, exit_blocks, simplify, values_inside
from .promote import Element, promote, unknown
from .windows import slide

MOST_ELEMENTS = 128
"""Of a local array that becomes values."""
MOST_IN_LOOP = 32
"""Elements of one memory that are kept in registers across a loop."""

MOST_SINGLE_ACCESSES = 64
"""Accesses of memories of one element in a loop up to which these are kept in values."""


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Replace array elements by values where it is safe and saves accesses."""
    reached = {f: _reached(f) for f in module.functions}
    _replace_arrays(module)
    for function in module.functions:
        _replace_in_loops(function, reached)
        slide(function)


def _reached(function: Function) -> set[Memory]:
    """Return the memories that a function and its callees access."""
    found: set[Memory] = set()
    for block in function.blocks:
        for op in block.ops:
            if op.memory is not None:
                found.add(op.memory)
            if op.callee is not None:
                found |= _reached(op.callee)
    return found


def _replace_arrays(module: Module) -> None:
    """Turn local arrays with constant subscripts into values."""
    found: dict[Memory, dict[tuple[int, ...], Element]] = {
        m: {} for m in module.memories if m.kind is MemoryKind.LOCAL and m.depth <= MOST_ELEMENTS and m.init is None
    }
    home: dict[Memory, Function] = {}
    for function in module.functions:
        for block in function.blocks:
            for op in block.ops:
                if op.memory is None or op.memory not in found:
                    continue
                key = _constant_element(op)
                if key is None or home.setdefault(op.memory, function) is not function:
                    del found[op.memory]
                    continue
                name = "_".join([op.memory.name, *map(str, key)])
                element = found[op.memory].setdefault(key, Element([], name, unknown(op.memory.width)))
                element.accesses.append(op)
    for function in module.functions:
        elements = [e for m, parts in found.items() if home.get(m) is function for e in parts.values()]
        if elements:
            entered = _entry(function)
            promote(function, function.blocks, elements, entered, [])
    module.memories = [m for m in module.memories if m not in found or m not in home]


def _entry(function: Function) -> Block:
    """Return a block in front of the entry in which no access stands: the entry itself gets a twin if need be."""
    entry = function.entry
    if not entry.ops:
        return entry
    first = Block("start")
    first.terminator = entry.terminator
    body = Block(entry.name)
    body.ops, body.terminator = entry.ops, entry.terminator
    for target in body.successors():
        rename_incoming(target, entry, body)
    first.terminator = Jump(body)
    function.blocks[0:1] = [first, body]
    return first


def _constant_element(op: Op) -> tuple[int, ...] | None:
    """Return the subscripts if all are constants in range (a dimension of size 1 has only one)."""
    assert op.memory is not None
    key = []
    for subscript, size in zip(op.subscripts, op.memory.dims, strict=True):
        if size == 1:
            key.append(0)
        elif isinstance(subscript, Const) and subscript.value < size:
            key.append(subscript.value)
        else:
            return None
    return tuple(key)


def _replace_in_loops(function: Function, reached: dict[Function, set[Memory]]) -> None:
    done: set[tuple[Block, Memory, tuple[Affine, ...]]] = set()
    forest = simplify(function)
    # Replacing changes no edges, and what the analyses say of values that are gone stays true of what they were.
    subscripts = Subscripts(Ranges(function, forest))
    tree = Dominators.of(function)
    for loop in forest:
        while _replace_in_loop(function, loop, subscripts, tree, reached, done):
            pass


def _replace_in_loop(
    function: Function,
    loop: Loop,
    subscripts: Subscripts,
    tree: Dominators,
    reached: dict[Function, set[Memory]],
    done: set[tuple[Block, Memory, tuple[Affine, ...]]],
) -> bool:
    """Replace elements of one memory in one loop; tell whether there were any."""
    if not loop.exits or loop.preheader is None:
        return False
    accesses: dict[Memory, list[Op]] = {}
    called: set[Memory] = set()
    for block in loop.blocks:
        for op in block.ops:
            if op.memory is not None:
                accesses.setdefault(op.memory, []).append(op)
            if op.callee is not None:
                called |= reached[op.callee]
    single = sum(len(ops) for memory, ops in accesses.items() if memory.depth == 1)
    for memory, ops in accesses.items():
        # Single elements are registers in any case; many of them are the banks of an array with computed subscripts.
        if memory.depth == 1 and single > MOST_SINGLE_ACCESSES:
            continue
        if memory in called or memory.storage == "register" or all(op.opcode is Opcode.LOAD for op in ops):
            continue
        found = _elements(memory, ops, loop, subscripts, tree, done)
        if not found or len(found) > MOST_IN_LOOP or len(found) * len(exit_blocks(loop)) > 2 * MOST_IN_LOOP:
            continue
        _keep_in_values(function, loop, found)
        return True
    return False


def _elements(
    memory: Memory,
    ops: list[Op],
    loop: Loop,
    subscripts: Subscripts,
    tree: Dominators,
    done: set[tuple[Block, Memory, tuple[Affine, ...]]],
) -> list[Element]:
    """Return the elements that stay the same in a loop and that no other access in it may meet."""
    inside = values_inside(loop)
    home = {op: block for block in loop.blocks for op in block.ops}
    groups: dict[tuple[Affine, ...], list[Op]] = {}
    for op in ops:
        groups.setdefault(subscripts.of(op), []).append(op)
    result = []
    for forms, group in groups.items():
        if any(v in inside for form in forms for v, _ in form.terms) or (loop.header, memory, forms) in done:
            continue
        if any(subscripts.compare(forms, other) is not Relation.DIFFERENT for other in groups if other != forms):
            continue
        element = Element(group, memory.name)
        always = [op for op in group if op.predicate is None and _every_time(home[op], loop, tree)]
        in_range = bool(always) or all(surely_in_range(op, subscripts.ranges) for op in group)
        readable = memory.dims or memory.kind is not MemoryKind.PARAM or any(op.opcode is Opcode.LOAD for op in group)
        if not readable and not any(op.opcode is Opcode.STORE for op in always):
            continue
        if in_range and _subscript_values(group, inside) is not None:
            done.add((loop.header, memory, forms))
            result.append(element)
    return result


def _every_time(block: Block, loop: Loop, tree: Dominators) -> bool:
    """Tell whether each entry of the loop runs a block at least once."""
    return all(tree.dominates(block, inside) for inside, _ in loop.exits)


def _subscript_values(group: list[Op], inside: set[Value]) -> list[Value] | None:
    """Return subscripts of one of the accesses that can be computed before the loop."""
    for op in group:
        if all(_outside(s, inside, 6) for s in op.subscripts):
            return list(op.subscripts)
    return None


def _outside(value: Value, inside: set[Value], limit: int) -> bool:
    """Tell whether a value can be computed before the loop from what is there."""
    if value not in inside:
        return True
    if not isinstance(value, Op):
        return False
    return limit > 0 and is_pure(value) and all(_outside(a, inside, limit - 1) for a in value.args)


def _keep_in_values(function: Function, loop: Loop, elements: list[Element]) -> None:
    """Load elements before the loop, and store those that it changes after it."""
    before = loop.preheader
    assert before is not None
    inside = values_inside(loop)
    made: dict[Value, Value] = {}
    places: list[list[Value]] = []
    for element in elements:
        sample = element.accesses[0]
        values = _subscript_values(element.accesses, inside)
        assert sample.memory is not None and values is not None
        subscripts = [bring_out(v, inside, before, made) for v in values]
        width = sample.memory.width
        first = Op(Opcode.LOAD, width, subscripts, memory=sample.memory, name=sample.memory.name, place=sample.place)
        before.ops.append(first)
        element.first = first
        places.append(subscripts)
    changed = any(element.stored for element in elements)
    results = promote(function, loop.blocks, elements, before, exit_blocks(loop) if changed else [])
    for element, subscripts, last in zip(elements, places, results, strict=True):
        store = next((op for op in element.accesses if op.opcode is Opcode.STORE), None)
        if store is not None:
            for block, value in last.items():
                block.ops.insert(0, Op(Opcode.STORE, 0, [value, *subscripts], memory=store.memory, place=store.place))
