"""The order that memory accesses and streams must keep within one execution of a block."""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.hls.ir import Const, Memory, Op, Opcode, Value, same_value

Term = tuple[Value | None, int]
"""(symbol, constant): symbol + constant modulo the address range."""


@dataclass(frozen=True)
class Order:
    """`after` may not run earlier than `distance` cycles after `before`."""

    before: Op
    after: Op
    cycles: int


def orders(ops: list[Op]) -> list[Order]:
    """Return the orders between accesses of one memory, and between stream operations."""
    found: list[Order] = []
    by_memory: dict[Memory, list[Op]] = {}
    streams: dict[object, Op] = {}
    for op in ops:
        if op.stream is not None:
            before = streams.get(op.stream)
            if before is not None:
                found.append(Order(before, op, 1))
            streams[op.stream] = op
        if op.memory is not None:
            by_memory.setdefault(op.memory, []).append(op)
    for accesses in by_memory.values():
        if not any(a.opcode is Opcode.STORE for a in accesses):
            continue
        found += _memory_orders(accesses)
    return found


def _memory_orders(accesses: list[Op]) -> list[Order]:
    found: list[Order] = []
    terms = {a: _term(a) for a in accesses}
    # Accesses to elements known to differ need no order; equal constant parts collide.
    stores: list[Op] = []
    loads: list[Op] = []
    for access in accesses:
        if access.opcode is Opcode.LOAD:
            found += [Order(s, access, 1) for s in stores if not _differ(terms[s], terms[access])]
            loads.append(access)
        else:
            found += [Order(load, access, 0) for load in loads if not _differ(terms[load], terms[access])]
            found += [Order(s, access, 1) for s in stores if not _differ(terms[s], terms[access])]
            stores.append(access)
    return found


def _term(op: Op) -> Term:
    subscripts = op.subscripts
    if not subscripts:
        return None, 0
    value = subscripts[0]
    constant = 0
    mask = (1 << value.width) - 1
    while isinstance(value, Op):
        if value.opcode in (Opcode.ADD, Opcode.OR) and isinstance(value.args[1], Const):
            if value.opcode is Opcode.OR and not _low_bits_clear(value.args[0], value.args[1].value):
                break
            constant += value.args[1].value
            value = value.args[0]
        elif value.opcode is Opcode.SUB and isinstance(value.args[1], Const):
            constant -= value.args[1].value
            value = value.args[0]
        else:
            break
    if isinstance(value, Const):
        return None, (constant + value.value) & mask
    return value, constant & mask


def _low_bits_clear(value: Value, mask: int) -> bool:
    """Tell whether a value is shifted left past every bit of a mask."""
    if isinstance(value, Op) and value.opcode is Opcode.SHL and isinstance(value.args[1], Const):
        return mask < 1 << value.args[1].value
    return False


def _differ(a: Term, b: Term) -> bool:
    symbol_a, constant_a = a
    symbol_b, constant_b = b
    if symbol_a is None and symbol_b is None:
        return constant_a != constant_b
    if symbol_a is None or symbol_b is None:
        return False
    return same_value(symbol_a, symbol_b) and symbol_a.width == symbol_b.width and constant_a != constant_b
