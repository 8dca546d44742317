"""Remove what has no effect.

```
loop:                                   loop:
  %unused = mul 32 %x, %x                 %v = load 32 a[%i]
  %v = load 32 a[%i]                      store b[%i] = %v
  store scratch[%i] = %v                  ...
  store b[%i] = %v
  ...
```

Live is what a store, a call, a stream, a branch or the result needs, transitively (so that cycles of phis die
too). Stores to memories that nothing reads and that nobody outside sees die with their memories.
"""

from __future__ import annotations

from rtlagent.hls.analysis.dominators import reverse_postorder
from rtlagent.hls.ir import (
    Block,
    Branch,
    Function,
    Memory,
    MemoryKind,
    Module,
    Op,
    Opcode,
    Phi,
    Return,
    Switch,
    Value,
)
from rtlagent.hls.options import HlsOptions, Remarks


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Remove dead blocks, operations, functions and memories."""
    for function in module.functions:
        remove_unreachable(function)
    while True:
        for function in module.functions:
            remove_dead_ops(function)
        _remove_uncalled(module)
        if not _remove_unread(module):
            break
    _remove_unused_memories(module)


def remove_unreachable(function: Function) -> bool:
    """Remove the blocks that the entry does not reach; tell whether there were any."""
    live = set(reverse_postorder(function))
    if len(live) == len(function.blocks):
        return False
    function.blocks = [b for b in function.blocks if b in live]
    for block in function.blocks:
        for phi in block.phis:
            for source in [s for s in phi.incoming if s not in live]:
                del phi.incoming[source]
    return True


def remove_dead_ops(function: Function) -> bool:
    """Remove the operations and phis whose value nothing needs; tell whether there were any."""
    live: set[Value] = set()
    work: list[Value] = []

    def need(value: Value) -> None:
        if value not in live and isinstance(value, Op | Phi):
            live.add(value)
            work.append(value)

    for block in function.blocks:
        for op in block.ops:
            if op.has_side_effect:
                need(op)
        used = _condition(block)
        if used is not None:
            need(used)
    while work:
        value = work.pop()
        for operand in value.incoming.values() if isinstance(value, Phi) else _operands(value):
            need(operand)
    changed = False
    for block in function.blocks:
        phis = [p for p in block.phis if p in live]
        ops = [op for op in block.ops if op in live]
        changed |= len(phis) < len(block.phis) or len(ops) < len(block.ops)
        block.phis, block.ops = phis, ops
    return changed


def _operands(value: Value) -> list[Value]:
    return list(value.operands()) if isinstance(value, Op) else []


def _condition(block: Block) -> Value | None:
    end = block.terminator
    if isinstance(end, Branch):
        return end.condition
    return end.value if isinstance(end, Switch | Return) else None


def _accesses(module: Module, opcode: Opcode) -> set[Memory]:
    return {
        op.memory
        for function in module.functions
        for block in function.blocks
        for op in block.ops
        if op.opcode is opcode and op.memory is not None
    }


def _remove_unread(module: Module) -> bool:
    """Remove the stores to memories that are never loaded from and not visible from outside."""
    loaded = _accesses(module, Opcode.LOAD)
    hidden = {m for m in module.memories if m.kind is not MemoryKind.PARAM and m not in loaded}
    changed = False
    for function in module.functions:
        for block in function.blocks:
            ops = [op for op in block.ops if not (op.opcode is Opcode.STORE and op.memory in hidden)]
            changed |= len(ops) < len(block.ops)
            block.ops = ops
    return changed


def _remove_uncalled(module: Module) -> None:
    called = {module.top}
    for function in module.functions:
        if function in called:
            called.update(op.callee for b in function.blocks for op in b.ops if op.callee is not None)
    module.functions = [f for f in module.functions if f in called]


def _remove_unused_memories(module: Module) -> None:
    """Parameters stay: they are ports."""
    used = _accesses(module, Opcode.LOAD) | _accesses(module, Opcode.STORE)
    module.memories = [m for m in module.memories if m.kind is MemoryKind.PARAM or m in used]
