"""End blocks where the hardware waits: after calls and divisions.

```
entry:                                  entry:
  %a = add 32 %x, 1                       %a = add 32 %x, 1
  %r = call 32 f(%a)                      %r = call 32 f(%a)
  %s = add 32 %r, %x                      jump entry_2
  return %s                             entry_2:
                                          %s = add 32 %r, %x
                                          return %s
```
"""

from __future__ import annotations

from rtlagent.hls.ir import DIVISIONS, Block, Function, Jump, Module, Op, Opcode
from rtlagent.hls.options import HlsOptions, Remarks


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Make every call and every division the last operation of its block."""
    split_waiting(module, divisions=True)


def split_waiting(module: Module, *, divisions: bool) -> None:
    """Make every call, and every division if asked, the last operation of its block; pipelined loops stay whole."""
    waits = {Opcode.CALL} | (DIVISIONS if divisions else set())
    for function in module.functions:
        at = 0
        while at < len(function.blocks):
            block = function.blocks[at]
            at += 1
            pipelined = block.directives is not None and block.directives.pipeline_ii is not None
            if pipelined and block in block.successors() and not any(op.opcode is Opcode.CALL for op in block.ops):
                continue
            found = next((op for op in block.ops if op.opcode in waits), None)
            if found is not None:
                split_after(function, block, found)


def split_after(function: Function, block: Block, op: Op) -> Block | None:
    """Move what follows `op` to a new block after it; return that block, None if only a jump follows."""
    at = block.ops.index(op) + 1
    if at == len(block.ops) and isinstance(block.terminator, Jump):
        return None
    taken = {b.name for b in function.blocks}
    stem, number = block.name, 2
    while f"{stem}_{number}" in taken:
        number += 1
    after = Block(f"{stem}_{number}")
    after.ops = block.ops[at:]
    del block.ops[at:]
    after.terminator = block.terminator
    block.terminator = Jump(after)
    for target in after.successors():
        for phi in target.phis:
            if block in phi.incoming:
                phi.incoming = {(after if s is block else s): v for s, v in phi.incoming.items()}
    function.blocks.insert(function.blocks.index(block) + 1, after)
    return after
