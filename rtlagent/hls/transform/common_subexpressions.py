"""Compute the same thing once: value numbering along the dominator tree.

```
entry:                                  entry:
  %a = add 32 %x, %y                      %a = add 32 %x, %y
  branch %c, then, end                    branch %c, then, end
then:                                   then:
  %b = add 32 %y, %x                      %m = load 32 t[%a]
  %m = load 32 t[%b]                      %s = add 32 %m, %m
  %n = load 32 t[%a]                      ...
  %s = add 32 %m, %n
  ...
```

A load is the same as an earlier one of its block if nothing was stored between, and as any dominating one if the
memory is never written. Reads of streams, calls and copies stay.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from rtlagent.hls.analysis.dominators import Dominators
from rtlagent.hls.ir import (
    COMMUTATIVE,
    Block,
    Const,
    Function,
    Memory,
    Module,
    Op,
    Opcode,
    Phi,
    Value,
    replace_uses,
)
from rtlagent.hls.options import HlsOptions, Remarks

_KEPT = frozenset({Opcode.COPY, Opcode.CALL, Opcode.READ, Opcode.WRITE, Opcode.STORE})

Key = tuple[Hashable, ...]


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Merge equal operations in every function."""
    written = {
        op.memory
        for function in module.functions
        for block in function.blocks
        for op in block.ops
        if op.opcode is Opcode.STORE and op.memory is not None
    }
    for function in module.functions:
        merge_equal(function, written)


def merge_equal(function: Function, written: set[Memory]) -> bool:
    """Merge equal operations of one function; `written` are the memories that anything stores to."""
    numbering = _Numbering(written)
    tree = Dominators.of(function)
    stack: list[tuple[Block, bool]] = [(function.entry, False)]
    undo: list[list[Key]] = []
    while stack:
        block, done = stack.pop()
        if done:
            for key in undo.pop():
                del numbering.known[key]
            continue
        undo.append(numbering.walk(block))
        stack.append((block, True))
        stack.extend((child, False) for child in reversed(tree.children[block]))
    replace_uses(function, numbering.replaced)
    return bool(numbering.replaced)


@dataclass
class _Numbering:
    """The values known where the walk is."""

    written: set[Memory]

    def __post_init__(self) -> None:
        self.known: dict[Key, Value] = {}
        self.replaced: dict[Value, Value] = {}

    def walk(self, block: Block) -> list[Key]:
        """Replace what is known in a block; return the keys that it adds."""
        added: list[Key] = []
        self._phis(block)
        ops: list[Op] = []
        since: dict[Memory | None, int] = {}
        calls = 0
        for number, op in enumerate(block.ops):
            op.args = [self.replaced.get(a, a) for a in op.args]
            if op.predicate is not None:
                op.predicate = self.replaced.get(op.predicate, op.predicate)
            if op.opcode is Opcode.STORE:
                since[op.memory] = number + 1
            elif op.opcode is Opcode.CALL:
                calls = number + 1
            if op.opcode in _KEPT:
                ops.append(op)
                continue
            key = self._key(op, block, max(calls, since.get(op.memory, 0)))
            earlier = self.known.get(key)
            if earlier is None and op.predicate is not None:
                earlier = self.known.get((*key[:-1], None))
            if earlier is not None:
                self.replaced[op] = earlier
                if isinstance(earlier, Op) and not earlier.name:
                    earlier.name = op.name
                continue
            self.known[key] = op
            added.append(key)
            ops.append(op)
        block.ops = ops
        return added

    def _phis(self, block: Block) -> None:
        seen: dict[Key, Phi] = {}
        kept = []
        for phi in block.phis:
            values = tuple((s, self._operand(self.replaced.get(v, v))) for s, v in phi.incoming.items())
            earlier = seen.setdefault((phi.width, frozenset(values)), phi)
            if earlier is phi:
                kept.append(phi)
            else:
                self.replaced[phi] = earlier
        block.phis = kept

    def _operand(self, value: Value) -> Hashable:
        return (value.value, value.width) if isinstance(value, Const) else value

    def _key(self, op: Op, block: Block, version: int) -> Key:
        args: list[Hashable] = [self._operand(a) for a in op.args]
        if op.opcode in COMMUTATIVE and hash(args[0]) > hash(args[1]):
            args.reverse()
        if op.opcode is not Opcode.LOAD:
            return (op.opcode, op.width, *args, None)
        predicate = self._operand(op.predicate) if op.predicate is not None else None
        since = (block, version) if op.memory in self.written else None
        return (op.opcode, op.memory, since, *args, predicate)
