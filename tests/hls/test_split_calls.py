from hypothesis import given, settings
from hypothesis import strategies as st
from ir_differential import assert_same
from pass_cases import assert_random_program_stays, body, transformed

from rtlagent.hls.ir import Opcode
from rtlagent.hls.text import parse
from rtlagent.hls.transform import split_calls

PROGRAM = """
function f(%x 8) 8 {
entry:
  jump loop
loop:
  %i = phi 8 [entry: 0, loop: %j]
  %a = call 8 g(%i)
  %b = call 8 g(%a)
  %j = add 8 %i, 1
  %q = udiv 8 %b, 3
  %c = ult 1 %j, 4
  branch %c, loop, exit
exit:
  %r = add 8 %q, %x
  return %r
}
function g(%y 8) 8 {
entry:
  %z = add 8 %y, 7
  return %z
}
"""


def test_calls_end_their_blocks() -> None:
    module = parse(PROGRAM)
    split_calls.split_waiting(module, divisions=False)
    assert_same(PROGRAM, module)
    assert [b.name for b in module.top.blocks] == ["entry", "loop", "loop_2", "loop_2_2", "exit"]
    assert body(module, "loop")[-1] == "jump loop_2"
    for block in module.top.blocks:
        assert all(op.opcode is not Opcode.CALL for op in block.ops[:-1])


def test_a_call_before_a_jump_is_split_only_once() -> None:
    module = transformed(PROGRAM, split_calls.run, split_calls.run)
    assert len(module.top.blocks) == 6


def test_divisions_end_their_blocks() -> None:
    module = transformed(PROGRAM, split_calls.run)
    ends = [b.ops[-1].opcode for b in module.top.blocks if b.ops]
    assert Opcode.UDIV in ends


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9))
def test_random_programs_stay_the_same(seed: int) -> None:
    assert_random_program_stays(seed, split_calls.run)
