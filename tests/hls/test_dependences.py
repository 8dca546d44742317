import pytest

from rtlagent.hls.analysis.dependences import NEVER, least_distances
from rtlagent.hls.text import parse

LOOP = """\
module top=f
memory a 8 [64] param
memory b 8 [64] param
function f(%n 32, %x 1) {{
entry:
  jump loop
loop:
  %i.1 = phi 32 [entry: {init}, loop: %i.2]
  %j.1 = phi 32 [entry: 0, loop: %j.3]
  {ops}
  %i.2 = add 32 %i.1, 1
  %j.2 = add 32 %j.1, 1
  %w.1 = eq 1 %j.2, 8
  %j.3 = select 32 %w.1, 0, %j.2
  %c.1 = slt 1 %i.2, {bound}
  branch %c.1, loop, done
done:
  return
}}
"""


def distances(ops: str, init: int = 2, bound: str = "64") -> dict[str, int]:
    block = parse(LOOP.format(ops=ops, init=init, bound=bound)).top.blocks[1]
    return {memory.name: d for memory, d in least_distances(block).items()}


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        ("%p = sub 32 %i.1, 2\n  %v = load 8 a[%p]\n  store a[%i.1] = %v", {"a": 2}),
        ("%v = load 8 a[%i.1]\n  store a[%i.1] = %v", {"a": NEVER}),
        ("store a[%i.1] = 1\n  %v = load 8 a[%i.1]", {"a": 0}),
        ("%v = load 8 a[%j.1]\n  store a[%j.1] = %v", {"a": 8}),
        ("store a[%i.1] = 3\n  store b[0] = 3", {"a": NEVER, "b": NEVER}),
        ("%v = load 8 a[%j.1]\n  %q = and 32 %i.1, 15\n  store a[%q] = %v", {"a": 2}),
        ("%v = load 8 a[%j.1]\n  %q = zext 32 %v\n  store a[%q] = %v\n  store b[%i.1] = %v", {"b": NEVER}),
        # Stored in every eighth iteration, loaded in the seven after it.
        ("store a[%j.1] = 1 if %x\n  %v = load 8 a[0]", {"a": 0}),
    ],
)
def test_distance(ops: str, expected: dict[str, int]) -> None:
    assert distances(ops) == expected


def test_a_guard_that_is_known_counts() -> None:
    ops = "%z = eq 1 %j.1, 7\n  %v = load 8 a[%j.1]\n  store a[0] = %v if %z"
    assert distances(ops) == {"a": 1}


def test_unknown_bounds_end_where_the_array_ends() -> None:
    assert distances("%v = load 8 a[%i.1]\n  %p = sub 32 %i.1, 2\n  store a[%p] = %v", bound="%n") == {"a": NEVER}


def test_a_loop_without_end_is_unknown() -> None:
    assert distances("%v = load 8 a[%j.1]\n  store a[%j.1] = %v", bound="%n") == {}
