import random

import pytest
from ir_differential import assert_same

from rtlagent.hls.analysis.loops import find_loops
from rtlagent.hls.ir import Branch, Jump, LoopDirectives, Module
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import parse
from rtlagent.hls.transform import rotate


def rotated(text: str) -> Module:
    module = parse(text)
    rotate.run(module, HlsOptions(top="f"), Remarks())
    return module


COUNTED = """\
module top=f
memory a 32 [64] param
function f(%n 32) 32 {
entry:
  jump head
head: label="fill" unroll=2
  %i.1 = phi 32 [entry: 0, body: %i.2]
  %c.1 = slt 1 %i.1, 64
  branch %c.1, body, done
body:
  store a[%i.1] = %n
  %i.2 = add 32 %i.1, 1
  jump head
done:
  return %i.1
}
"""


def test_a_counted_loop_becomes_one_block_without_a_guard() -> None:
    module = rotated(COUNTED)
    assert_same(COUNTED, module)
    (loop,) = find_loops(module.top).roots
    assert loop.is_single_block
    assert loop.preheader is not None and isinstance(loop.preheader.terminator, Jump)
    assert vars(loop.header.directives) == vars(LoopDirectives(label="fill", unroll=2, known_trips=64))


def test_an_uncounted_loop_keeps_its_guard() -> None:
    text = COUNTED.replace("slt 1 %i.1, 64", "slt 1 %i.1, %n").replace("[64]", "[1024]")
    module = rotated(text)
    assert_same(text, module, ranges={"n": (-3, 40)})
    (loop,) = find_loops(module.top).roots
    assert loop.is_single_block
    assert isinstance(module.top.entry.terminator, Branch)


def test_a_loop_that_never_runs_is_gone() -> None:
    text = COUNTED.replace("[entry: 0,", "[entry: 64,")
    module = rotated(text)
    assert_same(text, module)
    assert not find_loops(module.top).roots


SWAP = """\
module top=f
memory a 8 [16] param
function f(%n 8, %x 8, %y 8) 8 {
entry:
  jump head
head:
  %p.1 = phi 8 [entry: %x, latch: %q.1]
  %q.1 = phi 8 [entry: %y, latch: %r.1]
  %i.1 = phi 8 [entry: %n, latch: %i.2]
  %r.1 = add 8 %p.1, %q.1
  %c.1 = ne 1 %i.1, 0
  branch %c.1, body, done
body:
  %k.1 = trunc 4 %i.1
  %v.1 = load 8 a[%k.1]
  %i.2 = sub 8 %i.1, 1
  %d.1 = eq 1 %v.1, %p.1
  branch %d.1, done, more
more:
  %e.1 = ult 1 %v.1, 77
  branch %e.1, latch, other
other:
  store a[%k.1] = %q.1
  jump latch
latch:
  jump head
done:
  %s.1 = phi 8 [head: %p.1, body: %r.1]
  %t.1 = xor 8 %s.1, %q.1
  %u.1 = add 8 %t.1, %i.1
  return %u.1
}
"""


def test_values_that_swap_and_a_second_exit() -> None:
    module = rotated(SWAP)
    assert_same(SWAP, module, runs=100, ranges={"a": (0, 30), "x": (0, 30)})
    (loop,) = find_loops(module.top).roots
    assert loop.is_rotated


def random_program(rng: random.Random) -> str:
    """A nest of three while loops with several conditions, a break and values that live on."""
    stop = rng.choice(["%v.1", "%s.1", "%i.1"])
    step, inner = rng.randint(1, 3), rng.randint(0, 4)
    return f"""\
module top=f
memory a 16 [16] param
function f(%n 16, %m 16) 16 {{
entry:
  jump outer
outer:
  %i.1 = phi 16 [entry: 0, latch: %i.2]
  %s.1 = phi 16 [entry: %m, latch: %s.3]
  %c.1 = ult 1 %i.1, %n
  branch %c.1, enter, done
enter:
  jump head
head:
  %j.1 = phi 16 [enter: {rng.choice(["0", "%i.1"])}, tail: %j.2]
  %s.2 = phi 16 [enter: %s.1, tail: %t.1]
  %c.2 = ult 1 %j.1, {inner}
  branch %c.2, test, latch
test:
  %k.1 = and 16 %j.1, 15
  %v.1 = load 16 a[%k.1]
  %c.3 = ult 1 {stop}, 3000
  branch %c.3, tail, latch
tail:
  %t.1 = add 16 %s.2, %v.1
  store a[%k.1] = %t.1
  %j.2 = add 16 %j.1, {step}
  jump head
latch:
  %s.3 = phi 16 [head: %s.2, test: %j.1]
  %i.2 = add 16 %i.1, 1
  jump outer
done:
  %r.1 = sub 16 %s.1, %i.1
  return %r.1
}}
"""


@pytest.mark.parametrize("seed", range(12))
def test_random_nests_keep_their_meaning(seed: int) -> None:
    text = random_program(random.Random(seed))
    module = rotated(text)
    assert_same(text, module, runs=40, ranges={"n": (0, 20), "a": (0, 5000)})
    assert all(loop.is_rotated for loop in find_loops(module.top))
