"""Loads that may as well be done always lose their predicate.

```
  %c = slt %x, %y                       %c = slt %x, %y
  %v = load t[%k] if %c        ->       %v = load t[%k]          (%k has 4 bits, t 16 elements)
  %r = select %c, %v, 0                 %r = select %c, %v, 0
```

Such a load need not wait for its condition. Where accesses that exclude one another share a port, predicates stay.
"""

from __future__ import annotations

from rtlagent.hls.analysis.cost import ports
from rtlagent.hls.analysis.ranges import Ranges
from rtlagent.hls.analysis.subscripts import surely_in_range
from rtlagent.hls.ir import Block, Memory, Module, Op, Opcode
from rtlagent.hls.options import HlsOptions, Remarks


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Drop the predicates of loads in range."""
    for function in module.functions:
        ranges = Ranges(function)
        for block in function.blocks:
            _in_block(block, ranges)


def _in_block(block: Block, ranges: Ranges) -> None:
    accesses: dict[Memory, list[Op]] = {}
    for op in block.ops:
        if op.memory is not None:
            accesses.setdefault(op.memory, []).append(op)
    for memory, ops in accesses.items():
        if len(ops) > ports(memory):
            continue
        for op in ops:
            if op.opcode is Opcode.LOAD and op.predicate is not None and surely_in_range(op, ranges):
                op.predicate = None
