import pytest
from ir_differential import assert_same

from rtlagent.hls.analysis.loops import find_loops, trip_count
from rtlagent.hls.ir import Branch, Op, Opcode, Phi
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import parse
from rtlagent.hls.transform import counters

LOOP = """\
module top=f
memory a 32 [64] param
function f(%n 32) 32 {{
entry:
  jump loop
loop:
  %i = phi 32 [entry: {first}, loop: %j]
  %s = phi 32 [entry: %n, loop: %t]
  %v = load 32 a[%i]
  %t = add 32 %s, %v
  {more}
  %j = add 32 %i, {step}
  %c = {test}
  branch %c, {targets}
done:
  %r = add 32 %t, %j
  return %r
}}
"""


@pytest.mark.parametrize(
    ("first", "step", "test", "targets", "bits", "trips"),
    [
        (0, 1, "slt 1 %j, 64", "loop, done", 6, 64),
        (0, 3, "slt 1 %j, 31", "loop, done", 5, 11),
        (9, -1, "sle 1 0, %j", "loop, done", 4, 10),
        (0, 1, "eq 1 %j, 8", "done, loop", 3, 8),
        (5, 1, "slt 1 %j, 6", "loop, done", 3, 1),
    ],
)
def test_a_counter_has_the_bits_it_needs(first: int, step: int, test: str, targets: str, bits: int, trips: int) -> None:
    text = LOOP.format(first=first, step=step, test=test, targets=targets, more="")
    module = parse(text)
    counters.run(module, HlsOptions(top="f"), Remarks())
    assert_same(text, module)
    (loop,) = find_loops(module.top).roots
    counter = next(phi for phi in loop.header.phis if phi.name == "i")
    assert counter.width == bits
    assert trip_count(loop) == trips
    end = loop.header.terminator
    assert isinstance(end, Branch) and isinstance(end.condition, Op)
    assert end.condition.opcode in (Opcode.NE, Opcode.EQ)
    assert isinstance(end.condition.args[0], Phi)


def test_a_loop_with_an_unknown_end_stays() -> None:
    text = LOOP.format(first=0, step=1, test="slt 1 %j, %n", targets="loop, done", more="")
    module = parse(text)
    counters.run(module, HlsOptions(top="f"), Remarks())
    assert_same(text, module, ranges={"n": (-2, 60)})
    assert all(phi.width == 32 for block in module.top.blocks for phi in block.phis)


def test_a_negative_counter_stays() -> None:
    text = LOOP.format(first=-4, step=1, test="slt 1 %j, 5", targets="loop, done", more="%k = and 32 %i, 63")
    text = text.replace("%v = load 32 a[%i]\n", "").replace("%t = add 32 %s, %v\n", "")
    text = text.replace("  %j =", "  %v = load 32 a[%k]\n  %t = add 32 %s, %v\n  %j =")
    module = parse(text)
    counters.run(module, HlsOptions(top="f"), Remarks())
    assert_same(text, module)
    assert all(phi.width == 32 for block in module.top.blocks for phi in block.phis)
