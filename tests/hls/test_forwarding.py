import random

import pytest
from ir_differential import assert_same

from rtlagent.hls.ir import Module, Opcode
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import parse
from rtlagent.hls.transform import forwarding

OPTIONS = HlsOptions(top="f")


def forwarded(text: str) -> Module:
    module = parse(text)
    forwarding.run(module, OPTIONS, Remarks())
    assert_same(text, module)
    return module


def left(lines: list[str]) -> tuple[int, int]:
    """How many loads and stores are left of the lines of a block."""
    body = "\n  ".join(lines)
    text = f"""\
module top=f
memory a 8 [8] param
memory o 8 [8] param
function f(%i 3, %j 3, %x 8, %c 1, %d 1) {{
entry:
  %i1 = add 3 %i, 1
  %e = and 1 %c, %d
  {body}
  return
}}
"""
    (block,) = forwarded(text).top.blocks
    codes = [op.opcode for op in block.ops if op.memory is not None and op.memory.name == "a"]
    return codes.count(Opcode.LOAD), codes.count(Opcode.STORE)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["store a[%i] = %x", "%v = load 8 a[%i]", "store o[0] = %v"], (0, 1)),
        (["store a[%i] = %x", "store a[%i1] = 3", "%v = load 8 a[%i]", "store o[0] = %v"], (0, 2)),
        (["store a[%i] = %x", "store a[%j] = 3", "%v = load 8 a[%i]", "store o[0] = %v"], (1, 2)),
        (["%u = load 8 a[%i]", "%v = load 8 a[%i]", "store o[0] = %v", "store o[1] = %u"], (1, 0)),
        (["store a[%i] = 1", "store a[%i] = 2"], (0, 1)),
        (["store a[%i] = 1", "%v = load 8 a[%j]", "store a[%i] = 2", "store o[0] = %v"], (1, 2)),
        (["store a[%i] = 1 if %c", "store a[%i] = 2 if %d"], (0, 2)),
        (["store a[%i] = 1 if %e", "store a[%i] = 2 if %d"], (0, 1)),
        (["store a[%i] = 1 if %c", "%v = load 8 a[%i] if %e", "store o[0] = %v if %e"], (0, 1)),
        (["store a[%i] = 1 if %e", "%v = load 8 a[%i] if %c", "store o[0] = %v if %c"], (1, 1)),
        (
            ["%u = load 8 a[%i] if %c", "%v = load 8 a[%i] if %d", "store o[0] = %v if %d", "store o[1] = %u if %c"],
            (1, 0),
        ),
    ],
)
def test_what_is_left(lines: list[str], expected: tuple[int, int]) -> None:
    assert left(lines) == expected


HISTOGRAM = """\
module top=f
memory x 8 [64] param
memory h 16 [4][4] param
function f(%n 8) 16 {
entry:
  jump loop
loop: pipeline_ii=1
  %i = phi 8 [entry: 0, loop: %i2]
  %s = phi 16 [entry: 0, loop: %s2]
  %v = load 8 x[%i]
  %r = trunc 2 %v
  %q = lshr 8 %v, 2:8
  %k = and 8 %q, 3
  %z = eq 1 %v, 9
  %o = load 16 h[%r][%k]
  %w = add 16 %o, 1
  %s2 = xor 16 %s, %o
  store h[%r][%k] = %w GUARD
  %i2 = add 8 %i, 1
  %c = ult 1 %i2, %n
  branch %c, loop, done
done:
  %t = add 16 %s2, %o
  return %t
}
"""


@pytest.mark.parametrize("guard", ["", "if %z"])
def test_the_next_iteration_takes_what_was_stored(guard: str) -> None:
    text = HISTOGRAM.replace("GUARD", guard)
    module = parse(text)
    forwarding.run_late(module, OPTIONS, Remarks())
    assert_same(text, module, ranges={"n": (0, 64), "x": (0, 20)})
    forwarding.note_distances(module, OPTIONS, Remarks())
    loop = module.top.blocks[1]
    assert loop.directives is not None
    depth = loop.directives.distances["h"] - 1
    assert depth >= 1
    assert len(loop.phis) == 2 + 4 * depth


def test_distances_of_a_loop_over_unknown_bounds() -> None:
    text = """\
module top=f
memory a 8 [4096] param
memory b 8 [4096] param
function f(%n 32, %m 32) {
entry:
  jump loop
loop: pipeline_ii=1
  %i = phi 32 [entry: %m, loop: %i2]
  %v = load 8 a[%i]
  %k = add 32 %i, 3
  store a[%k] = %v
  %w = load 8 b[%v]
  %y = add 8 %w, %v
  store b[%i] = %y
  %i2 = add 32 %i, 1
  %c = slt 1 %i2, %n
  branch %c, loop, done
done:
  return
}
"""
    module = parse(text)
    forwarding.note_distances(module, OPTIONS, Remarks())
    loop = module.top.blocks[1]
    assert loop.directives is not None
    assert loop.directives.distances == {"a": 3, "b": 1}


@pytest.mark.parametrize("seed", range(20))
def test_random_blocks(seed: int) -> None:
    rng = random.Random(seed)
    lines = []
    values = ["%x", "7"]
    for n in range(12):
        place = f"a[{rng.choice(['%i', '%i1', '%j', '0', '5'])}]"
        guard = rng.choice(["", " if %c", " if %d", " if %e"])
        if rng.random() < 0.5:
            lines.append(f"%v{n} = load 8 {place}{guard}")
            if guard:
                condition = guard[4:]
                lines.append(f"%u{n} = select 8 {condition}, %v{n}, 3")
            values.append(f"%u{n}" if guard else f"%v{n}")
        else:
            lines.append(f"store {place} = {rng.choice(values)}{guard}")
    lines += [f"store o[{n}] = {rng.choice(values)}" for n in range(4)]
    left(lines)
