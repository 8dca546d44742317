import pytest

from rtlagent.hls.analysis.loops import find_loops, greatest_trip_count, inductions, trip_count
from rtlagent.hls.ir import Block
from rtlagent.hls.text import parse

NEST = """\
module top=f
memory a 32 [8][8] param
function f(%n 32) {
entry:
  jump outer
outer:
  %i.1 = phi 32 [entry: 0, step: %i.2]
  jump inner
inner:
  %j.1 = phi 32 [outer: 0, inner: %j.2]
  store a[%i.1][%j.1] = %n
  %j.2 = add 32 %j.1, 1
  %c.1 = ne 1 %j.2, 8
  branch %c.1, inner, step
step:
  %i.2 = add 32 %i.1, 2
  %c.2 = slt 1 %i.2, 8
  branch %c.2, outer, done
done:
  return
}
"""


def named(blocks: list[Block]) -> list[str]:
    return [b.name for b in blocks]


def test_a_nest_is_a_forest() -> None:
    forest = find_loops(parse(NEST).top)
    (outer,) = forest.roots
    (inner,) = outer.children
    assert named(outer.blocks) == ["outer", "inner", "step"]
    assert (inner.parent, inner.depth, outer.depth) == (outer, 2, 1)
    assert inner.is_single_block and inner.is_rotated and outer.is_rotated
    assert outer.preheader is not None and outer.preheader.name == "entry"
    assert inner.preheader is not None and inner.preheader.name == "outer"
    assert list(forest) == [inner, outer]
    assert [forest.depth(b) for b in forest.function.blocks] == [0, 1, 2, 1, 0]


def test_trip_counts_and_steps_of_a_nest() -> None:
    outer = find_loops(parse(NEST).top).roots[0]
    assert trip_count(outer) == 4
    assert trip_count(outer.children[0]) == 8
    (variable,) = inductions(outer)
    assert (variable.phi.name, variable.step) == ("i", 2)


def counted(compare: str, init: int, step: str, *, rotated: bool, width: int = 32, stay: bool = True) -> int | None:
    target = "body, done" if stay else "done, body"
    if rotated:
        text = f"""\
module top=f
function f() {{
entry:
  jump body
body:
  %i.1 = phi {width} [entry: {init}, body: %i.2]
  %i.2 = {step}
  %c.1 = {compare.replace("I", "%i.2")}
  branch %c.1, {target}
done:
  return
}}
"""
    else:
        text = f"""\
module top=f
function f() {{
entry:
  jump head
head:
  %i.1 = phi {width} [entry: {init}, body: %i.2]
  %c.1 = {compare.replace("I", "%i.1")}
  branch %c.1, {target}
body:
  %i.2 = {step}
  jump head
done:
  return
}}
"""
    return trip_count(find_loops(parse(text).top).roots[0])


ADD = "add 32 %i.1, 1"


@pytest.mark.parametrize(
    ("compare", "init", "step", "trips"),
    [
        ("slt 1 I, 10", 0, ADD, 10),
        ("sle 1 I, 10", 0, ADD, 11),
        ("ult 1 I, 10", 3, "add 32 %i.1, 3", 3),
        ("ule 1 I, 9", 0, "add 32 %i.1, 3", 4),
        ("ne 1 I, 12", 0, "add 32 %i.1, 3", 4),
        ("slt 1 -1, I", 7, "add 32 %i.1, -1", 8),
        ("sle 1 0, I", 7, "sub 32 %i.1, 1", 8),
        ("ult 1 0, I", 6, "add 32 %i.1, -2", 3),
        ("slt 1 I, 100", 1, "shl 32 %i.1, 1:32", 7),
        ("ne 1 I, 0", 1000, "lshr 32 %i.1, 1:32", 10),
        ("slt 1 I, 1000000", 0, ADD, 1_000_000),
        ("ne 1 I, 0", 1, "and 32 %i.1, 1", None),
        ("sle 1 I, 2147483647", 0, ADD, None),
    ],
)
def test_count_of_a_loop_with_its_test_at_the_top(compare: str, init: int, step: str, trips: int | None) -> None:
    assert counted(compare, init, step, rotated=False) == trips


@pytest.mark.parametrize(
    ("compare", "init", "trips"),
    [("slt 1 I, 10", 0, 10), ("slt 1 I, 10", 20, 1), ("ne 1 I, 10", 0, 10), ("ult 1 I, 10", 5, 5)],
)
def test_count_of_a_rotated_loop(compare: str, init: int, trips: int) -> None:
    assert counted(compare, init, ADD, rotated=True) == trips


def test_count_when_the_condition_leaves() -> None:
    assert counted("eq 1 I, 10", 0, ADD, rotated=True, stay=False) == 10
    assert counted("sle 1 10, I", 0, ADD, rotated=False, stay=False) == 10


def test_a_narrow_counter_that_wraps() -> None:
    assert counted("ne 1 I, 0", 1, "add 4 %i.1, 1", rotated=False, width=4) == 15


BREAK = """\
module top=f
memory a 32 [64] param
function f(%n 32) 32 {
entry:
  jump head
head:
  %i.1 = phi 32 [entry: 0, next: %i.2, other: %i.2]
  %c.1 = slt 1 %i.1, 64
  branch %c.1, body, done
body:
  %v.1 = load 32 a[%i.1]
  %i.2 = add 32 %i.1, 1
  switch %v.1 [0: done, 1: next], other
next:
  jump head
other:
  jump head
done:
  return %i.1
}
"""


def test_two_latches_and_two_exits() -> None:
    loop = find_loops(parse(BREAK).top).roots[0]
    assert named(loop.latches) == ["next", "other"]
    assert [(a.name, b.name) for a, b in loop.exits] == [("head", "done"), ("body", "done")]
    assert trip_count(loop) is None
    assert greatest_trip_count(loop) is None  # two latches: counted only after they are merged
    assert inductions(loop) == []


def test_a_cycle_with_two_entries_is_no_loop() -> None:
    text = """\
module top=f
function f(%c 1) {
entry:
  branch %c, one, two
one:
  jump two
two:
  branch %c, one, done
done:
  return
}
"""
    assert find_loops(parse(text).top).roots == []
