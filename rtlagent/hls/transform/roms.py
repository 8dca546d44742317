"""Memories whose contents are known before the program runs become ROMs, and known elements constants.

```
memory t 8 [4] static init=[1,2,3,4]    memory t 8 [4] rom init=[1,2,3,4]
memory k 8 [2] local                    memory k 8 [2] rom init=[7,9]
entry:                                  entry:
  store k[0] = 7                          ...
  store k[1] = 9                        loop:
  %a = load 8 t[2]                        %b = load 8 k[%i]
  ...                                     %c = add 8 %b, 3
loop:
  %b = load 8 k[%i]
  %c = add 8 %b, %a
```
"""

from __future__ import annotations

from rtlagent.hls.ir import (
    Block,
    Const,
    Function,
    Memory,
    MemoryKind,
    Module,
    Op,
    Opcode,
    Value,
    replace_uses,
)
from rtlagent.hls.options import HlsOptions, Remarks


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Find ROMs and fold the loads whose result is known."""
    stores = _accesses(module, Opcode.STORE)
    for memory in module.memories:
        if memory.kind is MemoryKind.STATIC and memory not in stores and memory.init is not None:
            memory.kind = MemoryKind.ROM
        elif memory.kind is MemoryKind.LOCAL and memory in stores:
            _constant_local(module, memory, stores[memory])
    for function in module.functions:
        _fold_loads(function)


def _accesses(module: Module, opcode: Opcode) -> dict[Memory, list[tuple[Function, Block, Op]]]:
    found: dict[Memory, list[tuple[Function, Block, Op]]] = {}
    for function in module.functions:
        for block in function.blocks:
            for op in block.ops:
                if op.opcode is opcode and op.memory is not None:
                    found.setdefault(op.memory, []).append((function, block, op))
    return found


def _constant_local(module: Module, memory: Memory, stores: list[tuple[Function, Block, Op]]) -> None:
    """Turn an array that is filled with constants at the beginning and only read afterwards into a ROM."""
    function = stores[0][0]
    entry = function.entry
    contents = [0] * memory.depth
    for _, block, op in stores:
        place = flat_index(memory, op.subscripts)
        if block is not entry or op.predicate is not None or place is None or not isinstance(op.args[0], Const):
            return
        contents[place] = op.args[0].value
    if not _filled_before_use(module, memory, function):
        return
    entry.ops = [op for op in entry.ops if not (op.opcode is Opcode.STORE and op.memory is memory)]
    memory.kind = MemoryKind.ROM
    memory.init = tuple(contents)


def _filled_before_use(module: Module, memory: Memory, function: Function) -> bool:
    """Tell whether nothing loads the memory before the last store in the function's entry."""
    last = max(n for n, op in enumerate(function.entry.ops) if op.opcode is Opcode.STORE and op.memory is memory)
    for op in function.entry.ops[:last]:
        if op.opcode is Opcode.CALL or (op.opcode is Opcode.LOAD and op.memory is memory):
            return False
    # Another function may run before this one, or after it only: not known here.
    others = [f for f in module.functions if f is not function]
    if function is module.top:
        return True
    return not any(op.memory is memory for f in others for block in f.blocks for op in block.ops)


def flat_index(memory: Memory, subscripts: list[Value]) -> int | None:
    """Return the row-major position of constant subscripts that are in range."""
    place = 0
    for value, dim in zip(subscripts, memory.dims, strict=True):
        if not isinstance(value, Const) or value.value >= dim:
            return None
        place = place * dim + value.value
    return place


def _fold_loads(function: Function) -> None:
    replaced: dict[Value, Value] = {}
    for block in function.blocks:
        kept = []
        for op in block.ops:
            known = _known(op)
            if known is None:
                kept.append(op)
            else:
                replaced[op] = known
        block.ops = kept
    replace_uses(function, replaced)


def _known(op: Op) -> Const | None:
    """Return the value of a load from a ROM, if its subscripts or contents are constant."""
    memory = op.memory
    if op.opcode is not Opcode.LOAD or memory is None or memory.kind is not MemoryKind.ROM or memory.init is None:
        return None
    place = flat_index(memory, op.subscripts)
    if place is not None:
        return Const(memory.init[place], memory.width)
    if all(v == memory.init[0] for v in memory.init):
        return Const(memory.init[0], memory.width)
    return None
