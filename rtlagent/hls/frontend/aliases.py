"""Arguments that callers let overlap: hardware has a memory for each, and would not see one through the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rtlagent.hls.frontend.llvm_module import GlobalVariable, Instruction, LlvmModule, Operand
from rtlagent.hls.frontend.signature import Parameter
from rtlagent.hls.frontend.steps import constant_of


@dataclass(frozen=True)
class Overlap:
    """Two names of one array in a call."""

    first: Parameter
    second: Parameter | None
    """None: a global that the function uses by its own name."""
    variable: str
    """LLVM name of that global, else empty."""
    call: Instruction


def overlaps(module: LlvmModule, top: str, parameters: list[Parameter]) -> Iterator[Overlap]:
    """Yield the pairs of pointer arguments that begin at the same place of the same variable in some call."""
    position = {part: n for n, part in enumerate(a for p in parameters for a in p.parts)}
    pointers = [p for p in parameters if not p.by_value]
    for function in module.functions:
        if function.name == top or f"@{top}(" not in str(function):
            continue
        for block in function.blocks:
            for ins in block.instructions:
                if ins.opcode == "call" and ins.operands[-1].name == top:
                    begins = [(p, _begin(ins.operands[position[p.parts[0]]])) for p in pointers]
                    yield from _pairs(begins, ins)


def _pairs(begins: list[tuple[Parameter, Operand | None]], call: Instruction) -> Iterator[Overlap]:
    for number, (first, begin) in enumerate(begins):
        if begin is None:
            continue
        if isinstance(begin, GlobalVariable):
            yield Overlap(first, None, begin.name, call)
        for second, other in begins[number + 1 :]:
            if other is begin:
                yield Overlap(first, second, "", call)


def _begin(operand: Operand) -> Operand | None:
    """Return the variable at whose beginning a pointer is; None if it is none."""
    while isinstance(operand, Instruction) and operand.opcode == "getelementptr":
        base, *steps = operand.operands
        if any(constant_of(step) != 0 for step in steps):
            return None
        operand = base
    if isinstance(operand, GlobalVariable) or (isinstance(operand, Instruction) and operand.opcode == "alloca"):
        return operand
    return None
