from hypothesis import given, settings
from hypothesis import strategies as st
from pass_cases import assert_random_program_stays, transformed

from rtlagent.hls.ir import Branch, Jump
from rtlagent.hls.text import dump
from rtlagent.hls.transform import simplify_cfg


def names(text: str, late: bool = False) -> list[str]:
    module = transformed(text, simplify_cfg.run_late if late else simplify_cfg.run)
    return [b.name for b in module.top.blocks]


def test_chains_are_merged_and_empty_blocks_bypassed() -> None:
    text = """
    memory m 8 [1] param
    function f(%n 8, %c 1) 8 {
    entry:
      jump a
    a:
      %x = add 8 %n, 1
      branch %c, b, work
    b:
      jump end
    work:
      store m[0] = %x
      jump end
    end:
      %p = phi 8 [b: 3, work: %x]
      %q = add 8 %p, 1
      return %q
    }
    """
    assert names(text) == ["entry", "work", "end"]


def test_a_bypass_that_would_join_two_edges_with_different_values_is_left() -> None:
    text = """
    function f(%n 8, %c 1) 8 {
    entry:
      branch %c, b, end
    b:
      jump end
    end:
      %p = phi 8 [b: 3, entry: 4]
      return %p
    }
    """
    assert names(text) == ["entry", "b", "end"]


def test_chains_of_joins_become_one_phi() -> None:
    text = """
    memory m 8 [1] param
    function f(%n 8, %c 1, %d 1) 8 {
    entry:
      branch %c, then, other
    then:
      branch %d, one, two
    one:
      store m[0] = 1
      jump inner
    two:
      store m[0] = 2
      jump inner
    inner:
      %p = phi 8 [one: 5, two: 6]
      jump outer
    other:
      store m[0] = 3
      jump outer
    outer:
      %q = phi 8 [inner: %p, other: 7]
      %r = add 8 %q, 1
      return %r
    }
    """
    module = transformed(text, simplify_cfg.run)
    assert "phi 8 [other: 7, one: 5, two: 6]" in dump(module)


LOOP = """
memory m 8 [8] param
function f(%n 8) 8 {
entry:
  jump head
head: label="l" pipeline_ii=2
  %i = phi 8 [entry: 0, latch: %j]
  %j = add 8 %i, 1
  %k = and 8 %i, 7
  %c = eq 1 %k, 3
  branch %c, odd, even
odd:
  store m[%k] = %i
  jump latch
even:
  store m[%k] = 0
  jump latch
latch:
  %d = ult 1 %j, 20
  branch %d, head, exit
exit:
  return %i
}
"""


def test_a_loop_keeps_its_directives_and_its_single_latch() -> None:
    text = LOOP.replace("branch %d, head, exit", "jump head").replace("branch %c, odd, even", "branch %c, odd, step")
    text = text.replace("even:", "step:\n  %d = ult 1 %j, 20\n  branch %d, even, exit\neven:").replace(
        "latch:\n  %d = ult 1 %j, 20", "latch:"
    )
    module = transformed(text, simplify_cfg.run)
    assert [b.name for b in module.top.blocks] == ["entry", "head", "odd", "step", "even", "latch", "exit"]
    assert module.top.blocks[1].directives is not None
    assert names(text, late=True) == ["entry", "head", "odd", "step", "even", "exit"]


def test_a_merged_header_keeps_its_directives() -> None:
    text = LOOP.replace("branch %c, odd, even", "jump odd").replace("even:", "dead:")
    text = text.replace("dead:\n  store m[%k] = 0\n  jump latch\n", "")
    module = transformed(text, simplify_cfg.run)
    assert [b.name for b in module.top.blocks] == ["entry", "head", "exit"]
    head = module.top.blocks[1]
    assert head in head.successors()
    assert head.directives is not None
    assert head.directives.pipeline_ii == 2


def test_a_switch_with_one_case_is_a_branch_and_with_one_target_a_jump() -> None:
    text = """
    function f(%n 8) 8 {
    entry:
      switch %n [3: a, 4: b], b
    a:
      %x = add 8 %n, 1
      switch %x [1: c], c
    b:
      return %n
    c:
      return %x
    }
    """
    module = transformed(text, simplify_cfg.run)
    assert isinstance(module.top.entry.terminator, Branch)
    assert not any(isinstance(b.terminator, Jump) for b in module.top.blocks)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9))
def test_random_programs_stay_the_same(seed: int) -> None:
    assert_random_program_stays(seed, simplify_cfg.run, simplify_cfg.run_late)
