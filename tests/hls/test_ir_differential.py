import pytest
from ir_differential import assert_same

from rtlagent.hls.ir import Const
from rtlagent.hls.text import parse

PROGRAM = """
memory a 8 [2][2] param
memory s 8 [1] static init=[0]
function f(%x 8) 8 {
entry:
  %v = load 8 s[0]
  %w = add 8 %v, %x
  store s[0] = %w
  store a[1][0] = %w
  return %w
}
"""


def test_a_program_is_the_same_as_itself() -> None:
    assert assert_same(PROGRAM, parse(PROGRAM), runs=5) == 10


def test_another_result_is_found() -> None:
    after = parse(PROGRAM)
    after.top.entry.ops[1].args[1] = Const(1, 8)
    with pytest.raises(AssertionError, match="expected"):
        assert_same(PROGRAM, after)


def test_another_element_is_found() -> None:
    after = parse(PROGRAM)
    after.top.entry.ops[3].args[1] = Const(0, 8)
    with pytest.raises(AssertionError, match="expected"):
        assert_same(PROGRAM, after)


def test_a_split_argument_is_put_together_by_byte_offsets() -> None:
    after = parse(
        """
    memory a_0 8 [2] param argument="a" byte_offset=0
    memory a_1 8 [2] param argument="a" byte_offset=2
    memory s 8 [1] static init=[0]
    function f(%x 8) 8 {
    entry:
      %v = load 8 s[0]
      %w = add 8 %v, %x
      store s[0] = %w
      store a_1[0] = %w
      return %w
    }
    """
    )
    assert_same(PROGRAM, after)
    after.top.entry.ops[3].memory = after.memories[0]
    with pytest.raises(AssertionError, match="expected"):
        assert_same(PROGRAM, after)
