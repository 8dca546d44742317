from hypothesis import given, settings
from hypothesis import strategies as st
from pass_cases import assert_random_program_stays, body, transformed

from rtlagent.hls.transform import invariant_motion, simplify_cfg

PROGRAM = """
memory a 32 [64] param
memory k 32 [4] param
memory o 32 [64] param
function f(%x 32, %y 32, %z 2) 32 {
entry:
  jump loop
loop:
  %i = phi 32 [entry: 0, loop: %j]
  %sum = add 32 %x, %y
  %m = mul 32 %sum, %y
  %cheap = add 32 %x, 7
  %v = load 32 a[%i]
  %w = load 32 k[%z]
  %p = mul 32 %v, %m
  %q = add 32 %p, %w
  %r = add 32 %q, %cheap
  store o[%i] = %r
  %j = add 32 %i, 1
  %c = slt 1 %j, 64
  branch %c, loop, exit
exit:
  return %m
}
"""


def test_products_and_loads_move_with_what_they_need_and_cheap_operations_stay() -> None:
    module = transformed(PROGRAM, invariant_motion.run)
    assert body(module) == [
        "%sum.1 = add 32 %x, %y",
        "%m.2 = mul 32 %sum.1, %y",
        "%w.3 = load 32 k[%z]",
        "jump loop",
    ]
    assert "%cheap.5 = add 32 %x, 7" in body(module, "loop")


def test_a_load_of_a_memory_that_the_loop_writes_stays() -> None:
    module = transformed(PROGRAM.replace("store o[", "store k[%z] = %v\n  store o["), invariant_motion.run)
    assert not any("load" in line for line in body(module))


def test_a_load_moves_out_of_a_condition_only_if_it_is_surely_in_range() -> None:
    text = """
    memory k 32 [4] param
    memory o 32 [8] param
    function f(%x 32, %z 2) 32 {
    entry:
      jump loop
    loop:
      %i = phi 32 [entry: 0, latch: %j]
      %odd = trunc 1 %i
      branch %odd, then, latch
    then:
      %u = load 32 k[%x]
      %w = load 32 k[%z]
      %s = add 32 %u, %w
      %d = udiv 32 %u, %x
      store o[%i] = %s
      jump latch
    latch:
      %j = add 32 %i, 1
      %c = slt 1 %j, 8
      branch %c, loop, exit
    exit:
      return %x
    }
    """
    module = transformed(text, invariant_motion.run, ranges={"x": (0, 3)})
    assert body(module) == ["%w.1 = load 32 k[%z]", "jump loop"]


def test_nests_are_left_by_way_of_a_preheader() -> None:
    text = """
    memory o 32 [8][8] param
    function f(%x 32, %y 32, %c 1) 32 {
    entry:
      branch %c, outer, exit
    outer:
      %i = phi 32 [entry: 0, latch: %i2]
      jump inner
    inner:
      %k = phi 32 [outer: 0, inner: %k2]
      %m = mul 32 %x, %y
      %n = mul 32 %m, %i
      store o[%i][%k] = %n
      %k2 = add 32 %k, 1
      %d = slt 1 %k2, 8
      branch %d, inner, latch
    latch:
      %i2 = add 32 %i, 1
      %e = slt 1 %i2, 8
      branch %e, outer, exit
    exit:
      %r = phi 32 [entry: 0, latch: %i]
      return %r
    }
    """
    module = transformed(text, invariant_motion.run)
    assert [b.name for b in module.top.blocks] == ["entry", "outer_before", "outer", "inner", "latch", "exit"]
    assert body(module, "outer_before") == ["%m.1 = mul 32 %x, %y", "jump outer"]
    assert body(module, "outer")[1] == "%n.3 = mul 32 %m.1, %i.2"


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9))
def test_random_programs_stay_the_same(seed: int) -> None:
    assert_random_program_stays(seed, invariant_motion.run, simplify_cfg.run)
