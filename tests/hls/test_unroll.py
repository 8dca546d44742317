import random

import pytest
from ir_differential import assert_same
from test_rotate import COUNTED, SWAP, random_program

from rtlagent.hls.analysis.loops import find_loops, trip_count
from rtlagent.hls.check import check
from rtlagent.hls.ir import LoopDirectives, Module, Opcode, Place
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import parse
from rtlagent.hls.transform import rotate, unroll

OPTIONS = HlsOptions(top="f")


def unrolled(text: str, factors: dict[str, int], remarks: Remarks | None = None) -> Module:
    """Rotate, set factors by the name of the header before rotation, unroll."""
    module = parse(text)
    for block in module.top.blocks:
        if block.name in factors:
            block.directives = LoopDirectives(unroll=factors[block.name], place=Place("f.c", 7))
    rotate.run(module, OPTIONS, Remarks())
    unroll.run(module, OPTIONS, remarks or Remarks())
    check(module)
    return module


def stores(module: Module) -> int:
    return sum(op.opcode is Opcode.STORE for b in module.top.blocks for op in b.ops)


@pytest.mark.parametrize("factor", [2, 3, 4, 5, 16, 63])
def test_by_a_factor(factor: int) -> None:
    module = unrolled(COUNTED, {"head": factor})
    assert_same(COUNTED, module)
    assert stores(module) == factor
    (loop,) = find_loops(module.top).roots
    # One check is left inside if the factor does not divide the trip count.
    assert len(loop.exits) == 1
    assert loop.is_rotated == (64 % factor == 0)
    assert loop.header.directives is not None
    assert loop.header.directives.known_trips == -(-64 // factor)
    if loop.is_rotated:
        assert trip_count(loop) == 64 // factor


@pytest.mark.parametrize("factor", [0, 64, 100])
def test_completely(factor: int) -> None:
    module = unrolled(COUNTED, {"head": factor})
    assert_same(COUNTED, module)
    assert stores(module) == 64
    assert not find_loops(module.top).roots
    assert len(module.top.blocks) == 1


def test_an_unknown_count_keeps_all_checks() -> None:
    text = COUNTED.replace("slt 1 %i.1, 64", "slt 1 %i.1, %n").replace("[64]", "[1024]")
    module = unrolled(text, {"head": 3})
    assert_same(text, module, ranges={"n": (-3, 40)})
    (loop,) = find_loops(module.top).roots
    assert len(loop.exits) == 3


def test_complete_unrolling_of_an_unknown_count_is_refused_with_its_place() -> None:
    text = COUNTED.replace("slt 1 %i.1, 64", "slt 1 %i.1, %n").replace("[64]", "[1024]")
    remarks = Remarks()
    module = unrolled(text, {"head": 0}, remarks)
    assert_same(text, module, ranges={"n": (-3, 40)})
    (remark,) = remarks.diagnostics
    assert "trip count" in remark.message and remark.line == 7


def test_swapping_values_and_a_second_exit() -> None:
    module = unrolled(SWAP, {"head": 3})
    assert_same(SWAP, module, runs=100, ranges={"a": (0, 30), "x": (0, 30)})


@pytest.mark.parametrize("seed", range(16))
def test_random_nests(seed: int) -> None:
    rng = random.Random(seed)
    text = random_program(rng)
    factors = {"outer": rng.choice([1, 2, 3]), "head": rng.choice([0, 2, 3])}
    module = unrolled(text, factors)
    assert_same(text, module, runs=40, ranges={"n": (0, 20), "a": (0, 5000)})


TRIANGLE = """\
module top=f
memory a 32 [8] param
function f(%n 32) 32 {
entry:
  jump outer
outer:
  %i.1 = phi 32 [entry: 0, latch: %i.2]
  %s.1 = phi 32 [entry: %n, latch: %s.2]
  %c.1 = slt 1 %i.1, 5
  branch %c.1, enter, done
enter:
  jump head
head:
  %j.1 = phi 32 [enter: %i.1, body: %j.2]
  %s.2 = phi 32 [enter: %s.1, body: %t.1]
  %c.2 = slt 1 %j.1, 6
  branch %c.2, body, latch
body:
  %v.1 = load 32 a[%j.1]
  %t.1 = add 32 %s.2, %v.1
  store a[%j.1] = %t.1
  %j.2 = add 32 %j.1, 1
  jump head
latch:
  %i.2 = add 32 %i.1, 1
  jump outer
done:
  return %s.1
}
"""


def test_an_inner_loop_whose_count_follows_from_the_outer_one() -> None:
    remarks = Remarks()
    module = unrolled(TRIANGLE, {"outer": 0, "head": 0}, remarks)
    assert_same(TRIANGLE, module)
    assert not find_loops(module.top).roots
    assert stores(module) == 6 + 5 + 4 + 3 + 2
    assert not remarks.diagnostics


def test_an_inner_loop_that_stays_unknown_is_named_once() -> None:
    remarks = Remarks()
    text = TRIANGLE.replace("slt 1 %j.1, 6", "slt 1 %j.1, %n")
    module = unrolled(text, {"outer": 0, "head": 0}, remarks)
    assert_same(text, module, ranges={"n": (-1, 8)})
    assert len(remarks.diagnostics) == 1
