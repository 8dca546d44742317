from collections.abc import Callable

import pytest

from rtlagent.hls.check import IrError, check
from rtlagent.hls.ir import Block, Const, Jump, Memory, MemoryKind, Module, Op, Opcode, Phi, Return
from rtlagent.hls.text import parse

PROGRAM = """
memory a 8 [4] param
memory r 8 [4] rom init=[1,2,3,4]
function f(%n 8) 8 {
entry:
  %c = eq 1 %n, 0
  branch %c, left, right
left:
  %x = add 8 %n, 1
  jump join
right:
  %y = load 8 a[%n]
  store a[%n] = %y
  jump join
join:
  %p = phi 8 [left: %x, right: %y]
  %q = call 8 g(%p)
  return %q
}
function g(%m 8) 8 {
entry:
  return %m
}
"""


def test_a_correct_module_passes() -> None:
    check(parse(PROGRAM))


def _drop_phi_edge(m: Module) -> None:
    del m.top.blocks[3].phis[0].incoming[m.top.blocks[1]]


def _undominated(m: Module) -> None:
    m.top.blocks[3].terminator = Return(m.top.blocks[1].ops[0])


def _use_before(m: Module) -> None:
    m.top.blocks[2].ops.reverse()


def _dead_reference(m: Module) -> None:
    m.top.blocks[1].ops.clear()


def _width(m: Module) -> None:
    m.top.blocks[1].ops[0].args[1] = Const(1, 9)


def _entry_target(m: Module) -> None:
    m.top.blocks[3].terminator = Jump(m.top.blocks[0])


def _foreign_block(m: Module) -> None:
    m.top.blocks[1].terminator = Jump(Block("elsewhere"))


def _foreign_memory(m: Module) -> None:
    m.top.blocks[2].ops[0].memory = Memory("a", 8, (4,), MemoryKind.LOCAL)


def _store_to_rom(m: Module) -> None:
    m.top.blocks[2].ops[1].memory = m.memories[1]


def _subscripts(m: Module) -> None:
    m.memories[0].dims = (2, 2)


def _entry_phi(m: Module) -> None:
    m.top.blocks[0].phis.append(Phi(8))


def _twice(m: Module) -> None:
    block = m.top.blocks[2]
    block.ops.append(block.ops[0])


def _foreign_param(m: Module) -> None:
    m.top.blocks[1].ops[0].args[0] = m.functions[1].params[0]


def _recursion(m: Module) -> None:
    g = m.functions[1]
    call = Op(Opcode.CALL, 8, [g.params[0]], callee=g)
    g.blocks[0].ops.append(call)


def _init(m: Module) -> None:
    m.memories[1].init = (1, 2, 3, 256)


def _predicate(m: Module) -> None:
    m.top.blocks[1].ops[0].predicate = Const(1, 1)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_drop_phi_edge, "predecessors"),
        (_undominated, "does not dominate"),
        (_use_before, "before it is defined"),
        (_dead_reference, "in no block"),
        (_width, "has width 9, not 8"),
        (_entry_target, "the entry has a predecessor"),
        (_foreign_block, "elsewhere"),
        (_foreign_memory, "is not the module's"),
        (_store_to_rom, "ROM"),
        (_subscripts, "1 subscripts for 2 dimensions"),
        (_entry_phi, "phi"),
        (_twice, "listed twice"),
        (_foreign_param, "another function's"),
        (_recursion, "not after it"),
        (_init, "does not fit 8 bits"),
        (_predicate, "cannot have a predicate"),
    ],
)
def test_damage_is_found_and_named(damage: Callable[[Module], None], message: str) -> None:
    module = parse(PROGRAM)
    damage(module)
    with pytest.raises(IrError, match=message):
        check(module)


def test_the_message_names_function_block_and_operation() -> None:
    module = parse(PROGRAM)
    _width(module)
    with pytest.raises(IrError, match=r"f, block left: .*\n  %x\.\d+ = add 8 %n, 1:9"):
        check(module)
