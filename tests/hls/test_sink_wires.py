from hypothesis import given, settings
from hypothesis import strategies as st
from pass_cases import assert_random_program_stays, body, transformed

from rtlagent.hls.transform import sink_wires

PROGRAM = """
memory a 32 [64] param
function f(%n 32, %c 1) 32 {
entry:
  %w = load 32 a[0]
  %low = trunc 6 %n
  %small = trunc 8 %w
  %x = zext 32 %small
  %y = shl 32 %x, 4
  store a[1] = %x
  branch %c, then, end
then:
  %u = load 32 a[%low]
  %s = add 32 %u, %y
  store a[2] = %s
  jump end
end:
  %p = phi 32 [entry: %y, then: %s]
  %q = add 32 %p, %x
  return %q
}
"""


def test_wires_are_copied_to_their_users_and_truncations_stay() -> None:
    module = transformed(PROGRAM, sink_wires.run)
    assert body(module) == [
        "%w.1 = load 32 a[0]",
        "%small.2 = trunc 8 %w.1",
        "%x.3 = zext 32 %small.2",
        "%y.4 = shl 32 %x.3, 4",
        "store a[1] = %x.3",
        "branch %c, then, end",
    ]
    assert body(module, "then")[:3] == ["%low.5 = trunc 6 %n", "%x.6 = zext 32 %small.2", "%y.7 = shl 32 %x.6, 4"]
    assert body(module, "end")[1] == "%x.11 = zext 32 %small.2"


def test_a_truncation_of_a_value_that_is_kept_anyway_moves() -> None:
    module = transformed(PROGRAM.replace("%q = add 32 %p, %x", "%q = add 32 %p, %w"), sink_wires.run)
    assert "%small.6 = trunc 8 %w.1" in body(module, "then")


def test_a_phi_uses_the_copy_at_the_end_of_the_block_before() -> None:
    text = """
    function f(%n 8, %c 1) 32 {
    entry:
      %x = zext 32 %n
      branch %c, left, right
    left:
      jump end
    right:
      jump end
    end:
      %p = phi 32 [left: %x, right: 5]
      return %p
    }
    """
    module = transformed(text, sink_wires.run)
    assert body(module, "left") == ["%x.1 = zext 32 %n", "jump end"]


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**9))
def test_random_programs_stay_the_same(seed: int) -> None:
    assert_random_program_stays(seed, sink_wires.run, size=40)
