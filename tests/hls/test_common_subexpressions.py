from hypothesis import given, settings
from hypothesis import strategies as st
from pass_cases import assert_random_program_stays, body, transformed

from rtlagent.hls.ir import Op, Opcode
from rtlagent.hls.transform import common_subexpressions, dead_code

PROGRAM = """
memory a 8 [8] param
memory b 8 [8] param
memory r 8 [4] rom init=[1,2,3,4]
function f(%x 8, %y 8, %c 1) 8 {
entry:
  %s = add 8 %x, %y
  %i = and 8 %x, 7
  %k = and 8 %x, 3
  %u = load 8 a[%i]
  %q = load 8 r[%k]
  branch %c, then, end
then:
  %t = add 8 %y, %x
  %v = load 8 a[%i]
  store b[%i] = %v
  %w = load 8 a[%i]
  store a[%i] = %t
  %z = load 8 a[%i]
  %p = load 8 r[%k]
  store b[0] = %p
  store b[1] = %w
  store b[2] = %z
  jump end
end:
  %m = phi 8 [entry: %s, then: %t]
  %n = phi 8 [then: %t, entry: %s]
  %o = xor 8 %m, %n
  %e = xor 8 %o, %u
  %g = xor 8 %e, %q
  return %g
}
"""


def test_equal_operations_loads_and_phis_are_merged() -> None:
    module = transformed(PROGRAM, common_subexpressions.run)
    then, end = module.top.blocks[1:]
    assert [op.opcode for op in then.ops].count(Opcode.ADD) == 0
    loaded = [op.memory.name for op in then.ops if op.opcode is Opcode.LOAD and op.memory is not None]
    assert loaded == ["a", "a"], "one before and one after the store; the ROM's value is known from above"
    assert len(end.phis) == 1


def test_siblings_do_not_see_each_other() -> None:
    text = """
    memory m 8 [1] param
    function f(%x 8, %c 1) 8 {
    entry:
      branch %c, left, right
    left:
      %a = mul 8 %x, %x
      store m[0] = %a
      jump end
    right:
      %b = mul 8 %x, %x
      jump end
    end:
      %p = phi 8 [left: %a, right: %b]
      %d = mul 8 %x, %x
      %r = add 8 %p, %d
      return %r
    }
    """
    module = transformed(text, common_subexpressions.run)
    assert sum(op.opcode is Opcode.MUL for b in module.top.blocks for op in b.ops) == 3


def test_calls_end_what_is_known_of_memories() -> None:
    text = """
    memory m 8 [2] param
    function f(%x 8) 8 {
    entry:
      %a = load 8 m[0]
      call g()
      %b = load 8 m[0]
      %r = sub 8 %a, %b
      return %r
    }
    function g() {
    entry:
      store m[0] = 9
      return
    }
    """
    module = transformed(text, common_subexpressions.run)
    assert len(body(module)) == 5


def test_a_guarded_load_takes_an_unguarded_one_but_not_the_other_way() -> None:
    text = """
    memory m 8 [2] param
    function f(%c 1) 8 {
    entry:
      %a = load 8 m[0] if %c
      %b = load 8 m[0]
      %d = load 8 m[0] if %c
      store m[1] = %b
      %r = select 8 %c, %a, %d
      return %r
    }
    """
    module = transformed(text, common_subexpressions.run)
    loads = [op for op in module.top.entry.ops if isinstance(op, Op) and op.opcode is Opcode.LOAD]
    assert [op.predicate is None for op in loads] == [False, True]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9))
def test_random_programs_stay_the_same(seed: int) -> None:
    assert_random_program_stays(seed, common_subexpressions.run, dead_code.run)
