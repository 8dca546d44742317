"""Why an II is not smaller, in the user's words.

```
port of a: 4 reads, 1 port: array_partition a cyclic 4
recurrence on acc: 3 cycles
exit condition: 2 cycles
division: 18 cycles
```
"""

from __future__ import annotations

from rtlagent.hls.ir import Memory, Op, Opcode, Phi, Stream

from .relaxation import Conflict
from .reservations import Resource
from .storage import ports_of
from .technology import Technology

TARGET = "target II"


def port_limit(ops: list[Op], what: Resource | Op, ii: int, technology: Technology) -> str:
    """Say which resource makes the II at least `ii`."""
    if isinstance(what, Op):
        return f"division: {ii} cycles"
    if isinstance(what, Stream):
        count = sum(op.stream is what for op in ops)
        return f"stream {what.name}: {count} accesses, 1 a cycle"
    if not isinstance(what, Memory):
        return f"multipliers: {sum(op.opcode is Opcode.MUL for op in ops)} products: allocation"
    reads = sum(op.memory is what and op.opcode is Opcode.LOAD for op in ops)
    writes = sum(op.memory is what and op.opcode is Opcode.STORE for op in ops)
    ports = ports_of(what, technology)
    if ports.total is None:
        by_writes = -(-writes // max(1, ports.writes or 1)) >= -(-reads // max(1, ports.reads or 1))
        count = (ports.writes if by_writes else ports.reads) or 1
        done, have = (writes, "write port") if by_writes else (reads, "read port")
        accesses = _counted(done, "write" if by_writes else "read")
    else:
        count, have, done = ports.total, "port", reads + writes
        accesses = " and ".join(_counted(n, word) for n, word in ((reads, "read"), (writes, "write")) if n)
    name = what.argument or what.name
    factor = 1 << (max(2, -(-done // count)) - 1).bit_length()
    return f"port of {name}: {accesses}, {_counted(count, have)}: array_partition {name} cyclic {factor}"


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def recurrence_limit(conflict: Conflict, ii: int) -> str:
    """Say which recurrence makes the II at least `ii`."""
    names = []
    for reason in conflict.reasons:
        if isinstance(reason, Memory):
            names.append(reason.argument or reason.name)
        elif isinstance(reason, Stream) or (isinstance(reason, Phi) and reason.name):
            names.append(reason.name)
    if names:
        return f"recurrence on {', '.join(dict.fromkeys(names))}: {ii} cycles"
    if conflict.reasons:
        return f"recurrence: {ii} cycles"
    return f"exit condition: {ii} cycles"
