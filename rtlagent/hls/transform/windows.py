"""Sliding windows: what an earlier iteration loaded is carried along instead of loaded again.

```
loop:  %i = phi [before: 1, loop: %n]           before: %w.2 = load x[0]
       %a = load x[%i - 1]                              %w.1 = load x[1]
       %b = load x[%i]                    ->    loop:   %i = phi [before: 1, loop: %n]
       %c = load x[%i + 1]                              %a = phi [before: %w.2, loop: %b]
       ...                                              %b = phi [before: %w.1, loop: %c]
                                                        %c = load x[%i + 1]
```

Done where the loads of one memory need more cycles than its ports give in one, and the window leaves fewer. What an
earlier iteration stored is carried along likewise, always: a load must not wait for that store.

```
loop:  %v = load y[%i - 1]                      before: %w = load y[0]
       %t = add %v, %x                          loop:   %v = phi [before: %w, loop: %t]
       store y[%i] = %t                  ->             %t = add %v, %x
       ...                                              store y[%i] = %t
```
"""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.hls.analysis.cost import ports
from rtlagent.hls.analysis.dominators import Dominators
from rtlagent.hls.analysis.loops import Induction, Loop, inductions, trip_count
from rtlagent.hls.analysis.ranges import Ranges
from rtlagent.hls.analysis.subscripts import Affine, Subscripts
from rtlagent.hls.ir import Block, Const, Function, Memory, Op, Opcode, Phi, Value, replace_uses

from .loop_form import bring_out, simplify, values_inside

MOST_CARRIED = 16
"""Values of one window."""
MOST_STORED = 4
"""Iterations over which stored values are carried along."""


def slide(function: Function) -> None:
    """Make windows in the innermost loops of a function."""
    forest = simplify(function)
    # A window changes neither the control flow nor what is known of subscripts.
    subscripts = Subscripts(Ranges(function, forest))
    tree = Dominators.of(function)
    for loop in forest:
        if loop.is_innermost and loop.latch is not None and loop.preheader is not None:
            _slide_in(function, loop, subscripts, tree)


@dataclass
class _Window:
    """Accesses of one memory that lie on one line, by how many iterations each is behind the first."""

    lead: Op
    """A load, or the store of what is loaded later."""
    behind: dict[Op, int]

    @property
    def value(self) -> Value:
        """What the first access loads or stores."""
        return self.lead.args[0] if self.lead.opcode is Opcode.STORE else self.lead


def _slide_in(function: Function, loop: Loop, subscripts: Subscripts, tree: Dominators) -> None:
    groups: dict[Memory, list[Op]] = {}
    unsure: set[Memory] = set()
    for block in loop.blocks:
        ends = [*(inside for inside, _ in loop.exits), *loop.latches]
        always = all(tree.dominates(block, end) for end in ends)
        for op in block.ops:
            if op.callee is not None:
                return
            if op.memory is not None and op.memory.dims and op.memory.storage != "register":
                groups.setdefault(op.memory, []).append(op)
                if op.predicate is not None or not always:
                    unsure.add(op.memory)
    for memory, accesses in groups.items():
        stores = [op for op in accesses if op.opcode is Opcode.STORE]
        if memory in unsure or len(stores) > 1:
            continue
        for variable in inductions(loop):
            windows = _windows(accesses, variable, loop, subscripts)
            if stores:
                windows = [w for w in windows if w.lead is stores[0]]
            left = len(accesses) - sum(len(w.behind) for w in windows)
            gains = -(-left // ports(memory)) < -(-len(accesses) // ports(memory))
            if windows and (stores or gains):
                for window in windows:
                    _carry(function, loop, window, variable)
                break


def _windows(accesses: list[Op], variable: Induction, loop: Loop, subscripts: Subscripts) -> list[_Window]:
    """Group accesses that differ by whole iterations."""
    inside = values_inside(loop)
    lines: dict[tuple[object, ...], dict[int, list[Op]]] = {}
    for op in accesses:
        found = _place(subscripts.of(op), variable, inside)
        if found is not None:
            lines.setdefault(found[0], {}).setdefault(found[1], []).append(op)
    result = []
    trips = trip_count(loop) or 0
    for line in lines.values():
        stored = [offset for offset, ops in line.items() if any(op.opcode is Opcode.STORE for op in ops)]
        first = stored[0] if stored else max(line)
        lead = next((op for op in line[first] if op.opcode is Opcode.STORE), line[first][0])
        behind = {op: first - offset for offset, ops in line.items() if offset < first for op in ops}
        if not behind or max(behind.values()) > (MOST_STORED if stored else MOST_CARRIED):
            continue
        # Elements between two accesses are loaded in the first iterations, which must exist.
        furthest = max(behind.values())
        if furthest == len(set(behind.values())) or trips > furthest:
            result.append(_Window(lead, behind))
    return result


def _place(forms: tuple[Affine, ...], variable: Induction, inside: set[Value]) -> tuple[tuple[object, ...], int] | None:
    """Return (what must be equal, offset in iterations) of a load whose subscript moves with the induction variable."""
    moving = [n for n, form in enumerate(forms) if form.factor(variable.phi)]
    if len(moving) != 1 or any(v in inside and v is not variable.phi for form in forms for v, _ in form.terms):
        return None
    at = moving[0]
    stride = forms[at].factor(variable.phi) * variable.step
    half = 1 << (forms[at].bits - 1)
    constant = forms[at].constant if forms[at].constant < half else forms[at].constant - 2 * half
    offset, rest = constant // stride, constant % stride
    others = tuple((f.terms, f.constant) for n, f in enumerate(forms) if n != at)
    return (at, others, forms[at].terms, rest), offset


def _carry(function: Function, loop: Loop, window: _Window, variable: Induction) -> None:
    """Replace the loads behind the first one by values carried along."""
    before, latch, lead = loop.preheader, loop.latch, window.lead
    memory = lead.memory
    assert before is not None and latch is not None and memory is not None
    chain: list[Value] = [window.value]
    width = window.value.width
    longest = max(window.behind.values())
    start_of = {n: op for op, n in window.behind.items()}
    for n in range(1, longest + 1):
        phi = Phi(width, name=lead.name or memory.name, place=lead.place)
        source = start_of.get(n)
        first = (
            _first_load(loop, source, before) if source is not None else _earlier_load(loop, lead, n, before, variable)
        )
        phi.incoming = {before: first, latch: chain[-1]}
        loop.header.phis.append(phi)
        chain.append(phi)
    gone = set(window.behind)
    for block in loop.blocks:
        block.ops = [op for op in block.ops if op not in gone]
    replace_uses(function, {op: chain[n] for op, n in window.behind.items()})


def _first_load(loop: Loop, load: Op, before: Block) -> Op:
    """Load before the loop what a load of its first iteration takes."""
    made, inside = _entry_values(loop, before), values_inside(loop)
    subscripts = [bring_out(s, inside, before, made) for s in load.subscripts]
    twin = Op(Opcode.LOAD, load.width, subscripts, memory=load.memory, name=load.name, place=load.place)
    before.ops.append(twin)
    return twin


def _earlier_load(loop: Loop, lead: Op, behind: int, before: Block, variable: Induction) -> Op:
    """Load before the loop what the first load would have taken `behind` iterations before the first one."""
    made, inside = _entry_values(loop, before), values_inside(loop)
    start = made[variable.phi]
    back = Const(-behind * variable.step, start.width)
    if isinstance(start, Const):
        made[variable.phi] = Const(start.value + back.value, start.width)
    else:
        earlier = Op(Opcode.ADD, start.width, [start, back], place=lead.place)
        before.ops.append(earlier)
        made[variable.phi] = earlier
    subscripts = [bring_out(s, inside, before, made) for s in lead.subscripts]
    assert lead.memory is not None
    twin = Op(Opcode.LOAD, lead.memory.width, subscripts, memory=lead.memory, name=lead.name, place=lead.place)
    before.ops.append(twin)
    return twin


def _entry_values(loop: Loop, before: Block) -> dict[Value, Value]:
    return {phi: phi.incoming[before] for phi in loop.header.phis}
