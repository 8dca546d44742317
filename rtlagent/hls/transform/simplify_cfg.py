"""Straighten the control flow: each block left is a state or more of the hardware.

```
entry:                                  entry:
  jump a                                  %x = add 8 %n, 1
a:                                        branch %c, work, end
  %x = add 8 %n, 1                      work:
  branch %c, b, work                      store m[0] = %x
b:                                        jump end
  jump end                              end:
work:                                     return %x
  store m[0] = %x
  jump end
end:
  return %x
```

Merges a block into its only predecessor, bypasses blocks without operations, and turns a switch with one target or one
case into a jump or a branch. A loop's directives stay on its header, and its one latch and one preheader stay, if empty
ones join several ways, until `run_late`.
"""

from __future__ import annotations

from rtlagent.hls.analysis.dominators import Dominators
from rtlagent.hls.ir import (
    Block,
    Branch,
    Const,
    Function,
    Jump,
    Module,
    Op,
    Opcode,
    Phi,
    Return,
    Switch,
    Terminator,
    Value,
    predecessors,
    replace_uses,
    same_value,
)
from rtlagent.hls.options import HlsOptions, Remarks

from .dead_code import remove_unreachable


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Straighten every function."""
    for function in module.functions:
        simplify_cfg(function)


def run_late(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Straighten every function, and let loops have several latches and entries: for after the loop passes."""
    for function in module.functions:
        simplify_cfg(function, late=True)


def simplify_cfg(function: Function, *, late: bool = False) -> bool:
    """Straighten one function; tell whether anything changed."""
    changed = remove_unreachable(function)
    while True:
        again = _reduce_terminators(function)
        again |= _bypass_empty(function, late)
        again |= _merge_chains(function)
        again |= remove_unreachable(function)
        if not again:
            return changed
        changed = True


def _reduce_terminators(function: Function) -> bool:
    """Turn branches and switches that decide nothing, or little, into simpler ones."""
    changed = False
    for block in function.blocks:
        end = block.terminator
        if isinstance(end, Branch) and end.then is end.other:
            block.terminator = Jump(end.then)
            changed = True
        elif isinstance(end, Switch):
            cases = [(n, target) for n, target in end.cases if target is not end.default]
            changed |= len(cases) < len(end.cases)
            end.cases = cases
            if not cases:
                block.terminator = Jump(end.default)
                changed = True
            elif len(cases) == 1:
                number, target = cases[0]
                test = Op(Opcode.EQ, 1, [end.value, Const(number, end.value.width)])
                block.ops.append(test)
                block.terminator = Branch(test, target, end.default)
                changed = True
    return changed


def _merge_chains(function: Function) -> bool:
    """Append each block whose only predecessor has no other successor to that predecessor."""
    sources = predecessors(function)
    replaced: dict[Value, Value] = {}
    gone: set[Block] = set()
    into: dict[Block, Block] = {}
    for block in function.blocks:
        if block in gone:
            continue
        while isinstance(block.terminator, Jump):
            after = block.terminator.target
            if len(sources[after]) != 1 or after is block or after is function.entry:
                break
            for phi in after.phis:
                (replaced[phi],) = phi.incoming.values()
            block.ops += after.ops
            block.terminator = after.terminator
            gone.add(after)
            into[after] = block
            for target in after.successors():
                sources[target] = [block if s is after else s for s in sources[target]]
    if not gone:
        return False
    function.blocks = [b for b in function.blocks if b not in gone]
    for block in function.blocks:
        for phi in block.phis:
            if any(s in into for s in phi.incoming):
                phi.incoming = {_survivor(s, into): v for s, v in phi.incoming.items()}
    replace_uses(function, replaced)
    return True


def _survivor(block: Block, into: dict[Block, Block]) -> Block:
    while block in into:
        block = into[block]
    return block


def _bypass_empty(function: Function, late: bool) -> bool:
    """Let the predecessors of blocks without operations go to their successor directly."""
    sources = predecessors(function)
    headers = _loop_headers(function)
    # Counted once: bypassing moves uses only along with the edges that are looked at.
    users: dict[Phi, int] | None = None
    changed = False
    for block in function.blocks[1:]:
        end = block.terminator
        if block.ops or not isinstance(end, Jump) or end.target is block or block.directives is not None:
            continue
        target = end.target
        if target is function.entry or not sources[block]:
            continue
        if len(sources[block]) > 1 and target in headers and not late:
            continue
        if block.phis:
            users = _phi_uses(function) if users is None else users
            if not _only_forwarded(block, target, users):
                continue
        if not _edges_agree(block, target, sources):
            continue
        _bypass(block, target, sources)
        changed = True
    return changed


def _loop_headers(function: Function) -> set[Block]:
    tree = Dominators.of(function)
    return {target for b in function.blocks for target in b.successors() if tree.dominates(target, b)}


def _phi_uses(function: Function) -> dict[Phi, int]:
    """Count the uses of phis."""
    uses: dict[Phi, int] = {}

    def count(value: Value | None) -> None:
        if isinstance(value, Phi):
            uses[value] = uses.get(value, 0) + 1

    for block in function.blocks:
        for phi in block.phis:
            for value in phi.incoming.values():
                count(value)
        for op in block.ops:
            for value in op.operands():
                count(value)
        count(_condition(block.terminator))
    return uses


def _condition(end: Terminator) -> Value | None:
    if isinstance(end, Branch):
        return end.condition
    return end.value if isinstance(end, Switch | Return) else None


def _only_forwarded(block: Block, target: Block, uses: dict[Phi, int]) -> bool:
    """Tell whether the block's phis go nowhere but into the target's phis, on that one edge."""
    forwarded: dict[Value, int] = {}
    for phi in target.phis:
        value = phi.incoming[block]
        forwarded[value] = forwarded.get(value, 0) + 1
    return all(uses.get(phi, 0) == forwarded.get(phi, 0) for phi in block.phis)


def _edges_agree(block: Block, target: Block, sources: dict[Block, list[Block]]) -> bool:
    """Tell whether no predecessor would reach the target by two edges with different values."""
    known = set(sources[target])
    for source in sources[block]:
        if source is block:
            return False
        if source in known:
            for phi in target.phis:
                if not same_value(_through(phi.incoming[block], block, source), phi.incoming[source]):
                    return False
    return True


def _through(value: Value, block: Block, source: Block) -> Value:
    """Return what a value of the bypassed block is when it is entered from `source`."""
    if isinstance(value, Phi) and value in block.phis:
        return value.incoming[source]
    return value


def _bypass(block: Block, target: Block, sources: dict[Block, list[Block]]) -> None:
    for phi in target.phis:
        value = phi.incoming.pop(block)
        for source in sources[block]:
            phi.incoming[source] = _through(value, block, source)
    for source in sources[block]:
        retarget(source, block, target)
        if source not in sources[target]:
            sources[target].append(source)
    sources[target].remove(block)
    sources[block] = []
    block.phis = []


def retarget(block: Block, old: Block, new: Block) -> None:
    """Let every edge of a block to `old` go to `new`; phis are left alone."""
    end = block.terminator
    if isinstance(end, Jump):
        end.target = new if end.target is old else end.target
    elif isinstance(end, Branch):
        end.then = new if end.then is old else end.then
        end.other = new if end.other is old else end.other
    elif isinstance(end, Switch):
        end.cases = [(n, new if t is old else t) for n, t in end.cases]
        end.default = new if end.default is old else end.default
