"""bind_op: the latency that a pragma asks of the operation that computes a variable.

```
int p = a * b;                                          %p = mul 32 %a, %b     by itself: latency 1
#pragma HLS bind_op variable=p op=mul latency=3    ->   %p: issued in cycle 0, used from cycle 3 on
```

Registers that a product passes may be moved into DSP blocks by synthesis. Which kind of unit it becomes is synthesis's
choice, not ours: `impl` gets a warning.
"""

from __future__ import annotations

from rtlagent.hls.ir import Function, Module, Op, Opcode
from rtlagent.hls.options import Remarks

from .delays import Delays

_BOUND = frozenset({Opcode.MUL, Opcode.ADD, Opcode.SUB})
_CODE = "BIND_OP"


def bound_latencies(module: Module, delays: Delays, remarks: Remarks) -> dict[Op, int]:
    """Return the latency of each operation that a bind_op pragma speaks of; warn of what cannot be followed."""
    found: dict[Op, int] = {}
    for function in module.functions:
        for variable, (impl, latency) in sorted(function.bind_ops.items()):
            found |= _bind(function, variable, impl, latency, delays, remarks)
    return found


def _bind(
    function: Function, variable: str, impl: str, latency: int | None, delays: Delays, remarks: Remarks
) -> dict[Op, int]:
    what = f"#pragma HLS bind_op for {variable or 'no variable'}"
    if impl not in ("", "auto"):
        text = f"{what}: impl={impl} is not followed: synthesis decides what an operation is made of"
        remarks.warn(_CODE, text, function.place, hint="latency is followed")
    if latency is None:
        return {}
    ops = [op for b in function.blocks for op in b.ops if op.name == variable and op.opcode in _BOUND]
    if not ops:
        text = f"{what} is not followed: no addition or multiplication computes it by itself"
        remarks.warn(_CODE, text, function.place, hint="give the result of one operation to a variable of its own")
        return {}
    least = max(delays.timing(op, tail_ns=delays.technology.setup).latency for op in ops)
    if latency < least:
        text = f"{what}: latency {latency} is not followed: at this clock it takes {least} cycles"
        remarks.warn(_CODE, text, ops[0].place or function.place, hint="ask for a slower clock or a greater latency")
        return {}
    return dict.fromkeys(ops, latency)
