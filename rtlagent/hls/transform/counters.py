"""Counted loops get counters of just the bits they need, and an exit test that does not wait for the addition.

```
loop:  %i = phi 32 [entry: 0, loop: %n]        loop:  %i = phi 6 [entry: 0, loop: %n]
       %v = load a[%i]                                %w = zext 32 %i
       %n = add 32 %i, 1                  ->          %v = load a[%w]
       %c = slt %n, 64                                %n = add 6 %i, 1
       branch %c, loop, done                          %c = ne %i, 63
                                                      branch %c, loop, done
```
"""

from __future__ import annotations

from rtlagent.hls.analysis.loops import Induction, Loop, exit_count, inductions
from rtlagent.hls.ir import Branch, Const, Function, Module, Op, Opcode, Phi, Value, replace_uses
from rtlagent.hls.options import HlsOptions, Remarks

from .loop_form import simplify


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Narrow the counters of every counted loop."""
    for function in module.functions:
        for loop in simplify(function):
            _narrow(function, loop)


def _narrow(function: Function, loop: Loop) -> None:
    latch = loop.latch
    if latch is None or not loop.is_rotated:
        return
    trips = exit_count(loop, latch)
    if trips is None:
        return
    counters: list[tuple[Phi, int]] = []
    for variable in inductions(loop):
        if not isinstance(variable.init, Const):
            continue
        first, last = variable.init.value, variable.init.value + (trips - 1) * variable.step
        if min(first, last) < 0 or max(first, last) >> variable.phi.width:
            continue
        bits = max(1, max(first, last).bit_length())
        counters.append((_replace(function, loop, variable, bits), last))
    if counters:
        _test(loop, *min(counters, key=lambda counter: counter[0].width))


def _replace(function: Function, loop: Loop, variable: Induction, bits: int) -> Phi:
    """Put a counter of `bits` bits in the place of an induction variable, if that is narrower."""
    old = variable.phi
    latch = loop.latch
    if bits >= old.width or latch is None:
        return old
    assert isinstance(variable.init, Const)
    phi = Phi(bits, name=old.name, place=old.place)
    step = Op(Opcode.ADD, bits, [phi, Const(variable.step, bits)], name=old.name, place=variable.next.place)
    phi.incoming = {loop.entries[0]: Const(variable.init.value, bits), latch: step}
    wide = Op(Opcode.ZEXT, old.width, [phi], name=old.name, place=old.place)
    loop.header.phis = [phi if p is old else p for p in loop.header.phis]
    loop.header.ops.insert(0, wide)
    latch.ops.append(step)
    replace_uses(function, {old: wide})
    return phi


def _test(loop: Loop, counter: Phi, last: int) -> None:
    """Leave when the counter has its last value."""
    latch = loop.latch
    assert latch is not None
    end = latch.terminator
    assert isinstance(end, Branch)
    if counter.incoming[latch] is counter or isinstance(end.condition, Const):
        return
    stays = end.then in loop
    bound: Value = Const(last, counter.width)
    old = end.condition
    place = old.place if isinstance(old, Op) else None
    test = Op(Opcode.NE if stays else Opcode.EQ, 1, [counter, bound], place=place)
    latch.ops.append(test)
    end.condition = test
