import random

import pytest
from ir_differential import assert_same
from test_rotate import SWAP, random_program

from rtlagent.hls.analysis.loops import find_loops
from rtlagent.hls.check import check
from rtlagent.hls.ir import Branch, LoopDirectives, Module, Opcode
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import parse
from rtlagent.hls.transform import if_convert, rotate, unroll

OPTIONS = HlsOptions(top="f")


def converted(text: str, factors: dict[str, int] | None = None, *, always: bool = True) -> Module:
    module = parse(text)
    for block in module.top.blocks:
        if factors and block.name in factors:
            block.directives = LoopDirectives(unroll=factors[block.name])
    rotate.run(module, OPTIONS, Remarks())
    unroll.run(module, OPTIONS, Remarks())
    for loop in find_loops(module.top):
        if always and loop.is_innermost:
            loop.header.directives = loop.header.directives or LoopDirectives()
            loop.header.directives.pipeline_ii = 1
    check(module)
    if_convert.run(module, OPTIONS, Remarks())
    return module


def all_single(module: Module) -> bool:
    return all(loop.is_single_block for loop in find_loops(module.top) if loop.is_innermost)


DIAMOND = """\
module top=f
memory a 8 [4] param
function f(%x 8, %c 1, %d 1) 8 {
entry:
  %k.1 = trunc 2 %x
  branch %c, one, two
one:
  %v.1 = load 8 a[%k.1]
  store a[0] = %x
  branch %d, three, four
three:
  %y.1 = add 8 %v.1, 5
  jump four
four:
  %z.1 = phi 8 [one: %v.1, three: %y.1]
  jump join
two:
  store a[%k.1] = 7
  jump join
join:
  %r.1 = phi 8 [four: %z.1, two: 9]
  return %r.1
}
"""


def test_nested_branches_outside_loops_become_straight() -> None:
    module = converted(DIAMOND)
    assert_same(DIAMOND, module)
    (block,) = module.top.blocks
    guards = [op.predicate is not None for op in block.ops if op.opcode in (Opcode.STORE, Opcode.LOAD)]
    assert all(guards) and len(guards) == 3


def test_a_big_or_dividing_branch_stays() -> None:
    text = DIAMOND.replace("add 8 %v.1, 5", "udiv 8 %v.1, %x")
    module = converted(text)
    assert_same(text, module)
    assert any(isinstance(b.terminator, Branch) for b in module.top.blocks)


@pytest.mark.parametrize("factor", [1, 2, 3])
def test_breaks_become_one_exit(factor: int) -> None:
    module = converted(SWAP, {"head": factor})
    assert_same(SWAP, module, runs=200, ranges={"a": (0, 30), "x": (0, 30)})
    assert all_single(module)


SWITCH = """\
module top=f
memory a 16 [32] param
memory h 16 [8] param
function f(%n 16, %s 16) 16 {
entry:
  jump loop
loop:
  %i.1 = phi 16 [entry: 0, next: %i.2]
  %s.1 = phi 16 [entry: %s, next: %s.2]
  %k.1 = and 16 %i.1, 31
  %v.1 = load 16 a[%k.1]
  %w.1 = and 16 %v.1, 7
  switch %w.1 [0: zero, 1: one, 2: two, 3: two, 4: next, 5: stop], other
zero:
  store h[%w.1] = %s.1
  jump next
one:
  %b.1 = load 16 h[%w.1]
  %t.1 = add 16 %b.1, %s.1
  jump next
two:
  %t.2 = mul 16 %s.1, 3
  %e.1 = eq 1 %w.1, 3
  branch %e.1, merge, next
other:
  %t.3 = xor 16 %s.1, %v.1
  jump merge
merge:
  %t.4 = phi 16 [two: %t.2, other: %t.3]
  store h[5] = %t.4
  jump next
next:
  %s.2 = phi 16 [zero: %v.1, one: %t.1, two: 77, loop: %i.1, merge: %t.4]
  %i.2 = add 16 %i.1, 1
  %c.1 = ult 1 %i.2, %n
  branch %c.1, loop, done
stop:
  %u.1 = sub 16 %s.1, %i.1
  store h[7] = %u.1
  jump done
done:
  %r.1 = phi 16 [next: %s.2, stop: %v.1]
  %q.1 = add 16 %r.1, %i.1
  return %q.1
}
"""


def test_a_switch_with_shared_arms_and_an_exit() -> None:
    module = converted(SWITCH)
    assert_same(SWITCH, module, runs=200, ranges={"n": (0, 60)})
    assert all_single(module)


def test_an_infinite_loop_with_breaks() -> None:
    text = SWITCH.replace("branch %c.1, loop, done", "jump loop").replace("next: %s.2, stop", "stop")
    module = converted(text)
    assert_same(text, module, runs=100)
    assert all_single(module)


def test_profit_decides_without_a_pragma() -> None:
    module = converted(SWITCH, always=False)
    assert_same(SWITCH, module, runs=50, ranges={"n": (0, 60)})
    long_way = SWITCH.replace("%t.2 = mul 16 %s.1, 3", "%t.2 = udiv 16 %s.1, 3")
    module = converted(long_way, always=False)
    assert_same(long_way, module, runs=50, ranges={"n": (0, 60)})
    assert not all_single(module)


@pytest.mark.parametrize("seed", range(20))
def test_random_nests(seed: int) -> None:
    rng = random.Random(seed)
    text = random_program(rng)
    module = converted(text, {"outer": 1, "head": rng.choice([1, 2, 3])})
    assert_same(text, module, runs=40, ranges={"n": (0, 20), "a": (0, 5000)})
    assert all_single(module)


def random_region(rng: random.Random, blocks: int) -> str:
    """A loop whose body is a random acyclic graph, with exits at random places."""
    lines = ["module top=f", "memory a 8 [8] param", "function f(%n 8, %s 8) 8 {", "entry:", "  jump b0"]
    for n in range(blocks):
        last = n == blocks - 1
        lines.append(f"b{n}:")
        if n == 0:
            lines += [
                f"  %i.1 = phi 8 [entry: 0, b{blocks - 1}: %i.2]",
                f"  %s.1 = phi 8 [entry: %s, b{blocks - 1}: %t.1]",
            ]
        lines += [
            f"  %k{n} = and 8 %s.1, 7",
            f"  %v{n} = load 8 a[%k{n}]",
            f"  %w{n} = add 8 %v{n}, {rng.randrange(256)}",
        ]
        if rng.random() < 0.6:
            lines.append(f"  store a[{rng.randrange(8)}] = %w{n}")
        if last:
            lines += ["  %x.1 = load 8 a[3]", "  %t.1 = xor 8 %x.1, %s.1", "  %i.2 = add 8 %i.1, 1"]
            lines += ["  %c.1 = ult 1 %i.2, %n", "  branch %c.1, b0, done"]
            continue
        later = [f"b{m}" for m in range(n + 1, blocks)]
        near = later[0]
        far = rng.choice([*later, "done", "other"]) if n else rng.choice(later)
        lines += [f"  %c{n} = ult 1 %w{n}, {rng.randrange(256)}"]
        lines.append(f"  branch %c{n}, {', '.join(rng.sample([near, far], 2) if near != far else [near, far])}")
    lines += ["other:", "  %y.1 = add 8 %i.1, %s.1", "  store a[1] = %y.1", "  jump done"]
    lines += ["done:", "  %z.1 = add 8 %i.1, %s.1", "  return %z.1", "}"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(40))
def test_random_acyclic_bodies(seed: int) -> None:
    rng = random.Random(seed)
    text = random_region(rng, rng.randint(3, 9))
    module = converted(text)
    assert_same(text, module, runs=40, ranges={"n": (0, 20)})
    assert all_single(module)
