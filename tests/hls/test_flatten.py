import random

import pytest
from ir_differential import assert_same

from rtlagent.hls.analysis.loops import find_loops
from rtlagent.hls.check import check
from rtlagent.hls.ir import LoopDirectives, Module, Opcode
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import parse
from rtlagent.hls.transform import flatten, if_convert, rotate

OPTIONS = HlsOptions(top="f")

MATMUL = """\
module top=f
memory a 32 [4][8] param
memory b 32 [8][4] param
memory c 32 [4][4] param
function f(%n 32) 32 {
entry:
  jump li
li: label="i"
  %i.1 = phi 32 [entry: 0, next_i: %i.2]
  jump lj
lj: label="j"
  %j.1 = phi 32 [li: 0, next_j: %j.2]
  %s.0 = mul 32 %i.1, %n
  jump lk
lk: label="k" pipeline_ii=1
  %k.1 = phi 32 [lj: 0, lk: %k.2]
  %s.1 = phi 32 [lj: %s.0, lk: %s.2]
  %x.1 = load 32 a[%i.1][%k.1]
  %y.1 = load 32 b[%k.1][%j.1]
  %p.1 = mul 32 %x.1, %y.1
  %s.2 = add 32 %s.1, %p.1
  %k.2 = add 32 %k.1, 1
  %c.1 = slt 1 %k.2, 8
  branch %c.1, lk, next_j
next_j:
  store c[%i.1][%j.1] = %s.2
  %j.2 = add 32 %j.1, 1
  %c.2 = slt 1 %j.2, 4
  branch %c.2, lj, next_i
next_i:
  %i.2 = add 32 %i.1, 1
  %c.3 = slt 1 %i.2, 4
  branch %c.3, li, done
done:
  %r.1 = add 32 %s.2, %i.1
  return %r.1
}
"""


def flattened(text: str, remarks: Remarks | None = None) -> Module:
    module = parse(text)
    rotate.run(module, OPTIONS, Remarks())
    if_convert.run(module, OPTIONS, Remarks())
    flatten.run(module, OPTIONS, remarks or Remarks())
    check(module)
    return module


@pytest.mark.parametrize(
    ("inner", "outer", "loops"),
    [
        ('independent=["c"]', "", 2),
        ('independent=["c"]', 'independent=["c:raw"]', 2),
        ('independent=["c:raw"]', 'independent=["c"]', 1),
        ('independent=["c:raw"]', 'independent=["*:raw"]', 1),
        ("", 'independent=["c"]', 1),
    ],
)
def test_a_dependence_pragma_of_the_inner_loop_says_nothing_of_the_outer(inner: str, outer: str, loops: int) -> None:
    text = MATMUL.replace("pipeline_ii=1", f"pipeline_ii=1 {inner}").replace('label="j"', f'label="j" {outer}')
    text = text.replace('li: label="i"', 'li: label="i" flatten=false')
    module = flattened(text)
    assert_same(text, module)
    found = list(find_loops(module.top))
    assert len(found) == loops + 1
    assert all(loop.header.directives.independent == () for loop in found) or inner


def test_three_loops_become_one() -> None:
    module = flattened(MATMUL)
    assert_same(MATMUL, module)
    (loop,) = find_loops(module.top)
    assert loop.is_single_block
    directives = loop.header.directives
    assert directives is not None
    assert (directives.known_trips, directives.label, directives.pipeline_ii) == (128, "i_j_k", 1)
    stores = [op for op in loop.header.ops if op.opcode is Opcode.STORE]
    assert len(stores) == 1 and stores[0].predicate is not None


def test_flatten_off_is_kept() -> None:
    module = flattened(MATMUL.replace('label="j"', 'label="j" flatten=false'))
    assert_same(MATMUL, module)
    assert len(list(find_loops(module.top))) == 3


def test_a_nest_that_would_become_slower_stays() -> None:
    # The copy after the inner loop needs a third access to `a` in each iteration.
    text = MATMUL.replace(
        "store c[%i.1][%j.1] = %s.2",
        "store a[%i.1][%j.1] = %s.2\n  %z.1 = load 32 a[0][%j.1]\n  store c[%i.1][%j.1] = %z.1",
    )
    remarks = Remarks()
    module = flattened(text, remarks)
    assert_same(text, module)
    assert len(list(find_loops(module.top))) > 1
    assert any("cycles instead of" in d.message for d in remarks.diagnostics)


def random_nest(rng: random.Random) -> str:
    deep = rng.choice(["%i.1", "%o.1", "%q.1"])
    bound = rng.choice(["3", "%o.1", "1"])
    return f"""\
module top=f
memory a 16 [64] param
memory b 16 [64] param
function f(%n 16, %m 16) 16 {{
entry:
  jump outer
outer:
  %o.1 = phi 16 [entry: {rng.randint(0, 2)}, after: %o.2]
  %t.1 = phi 16 [entry: %m, after: %t.2]
  %q.1 = add 16 %o.1, {rng.randint(1, 20)}
  %w.1 = mul 16 %q.1, %t.1
  %k.0 = and 16 %w.1, 63
  %l.1 = load 16 a[%k.0]
  jump inner
inner:
  %i.1 = phi 16 [outer: {rng.choice(["0", "%o.1"])}, inner: %i.2]
  %s.1 = phi 16 [outer: {rng.choice(["%w.1", "%l.1", "%t.1", "7"])}, inner: %s.2]
  %k.1 = and 16 {deep}, 63
  %v.1 = load 16 b[%k.1]
  %u.1 = xor 16 %v.1, {rng.choice(["%l.1", "%w.1", "%q.1"])}
  %s.2 = add 16 %s.1, %u.1
  {rng.choice(["store b[%k.1] = %s.1", ""])}
  %i.2 = add 16 %i.1, 1
  %c.1 = ult 1 %i.2, {bound}
  branch %c.1, inner, after
after:
  %e.1 = and 16 %s.2, 63
  {rng.choice(["store a[%e.1] = %w.1", "store b[%e.1] = %i.1", ""])}
  %t.2 = sub 16 %s.2, %t.1
  %o.2 = add 16 %o.1, {rng.randint(1, 2)}
  %c.2 = ult 1 %o.2, {rng.choice(["%n", "6"])}
  branch %c.2, outer, done
done:
  %r.1 = add 16 %t.2, {rng.choice(["%l.1", "%w.1", "%i.1", "%o.2"])}
  return %r.1
}}
"""


@pytest.mark.parametrize("seed", range(30))
def test_random_nests(seed: int) -> None:
    text = random_nest(random.Random(seed))
    module = parse(text)
    for block in module.top.blocks:
        if block.name == "inner":
            block.directives = LoopDirectives(flatten=True)
    flatten.run(module, OPTIONS, Remarks())
    assert_same(text, module, runs=40, ranges={"n": (0, 20)})
    assert len(list(find_loops(module.top))) == 1
