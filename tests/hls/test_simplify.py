import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_differential import assert_same
from random_ir import random_module

from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import dump, parse
from rtlagent.hls.transform import dead_code, narrow, simplify


def simplified(body: str, params: str = "%x 32, %y 32, %b 8, %c 1", width: int = 32) -> list[str]:
    """Return the operations and the terminator that are left of an entry block."""
    text = f"memory a 32 [64] param\nfunction f({params}) {width} {{\nentry:\n{body}\n}}"
    module = parse(text)
    simplify.run(module, HlsOptions("f"), Remarks())
    dead_code.run(module, HlsOptions("f"), Remarks())
    assert_same(text, module, runs=40)
    lines = dump(module).splitlines()
    return [line.strip() for line in lines[lines.index("entry:") + 1 : -1]]


CASES = [
    ("%r = add 32 %x, 0\nreturn %r", ["return %x"]),
    ("%p = add 32 %x, 3\n%r = add 32 4, %p\nreturn %r", ["%r.1 = add 32 %x, 7", "return %r.1"]),
    ("%r = sub 32 %x, 5\nreturn %r", ["%r.1 = add 32 %x, -5", "return %r.1"]),
    ("%p = sub 32 0, %y\n%r = add 32 %x, %p\nreturn %r", ["%r.1 = sub 32 %x, %y", "return %r.1"]),
    ("%p = add 32 %x, %y\n%r = sub 32 %p, %x\nreturn %r", ["return %y"]),
    ("%p = xor 32 %x, -1\n%r = add 32 %p, 1\nreturn %r", ["%r.1 = sub 32 0, %x", "return %r.1"]),
    ("%p = xor 32 %x, -1\n%r = xor 32 %p, -1\nreturn %r", ["return %x"]),
    ("%p = xor 32 %x, -1\n%r = and 32 %p, -1\nreturn %r", ["%p.1 = xor 32 %x, -1", "return %p.1"]),
    ("%r = mul 32 %x, 8\nreturn %r", ["%r.1 = shl 32 %x, 3", "return %r.1"]),
    ("%r = udiv 32 %x, 8\nreturn %r", ["%r.1 = lshr 32 %x, 3", "return %r.1"]),
    (
        "%r = urem 32 %x, 8\nreturn %r",
        ["%v.1 = trunc 3 %x", "%r.2 = zext 32 %v.1", "return %r.2"],
    ),
    ("%p = zext 32 %b\n%r = and 32 %p, 255\nreturn %r", ["%r.1 = zext 32 %b", "return %r.1"]),
    ("%p = shl 32 %x, 24\n%r = ashr 32 %p, 24\nreturn %r", ["%v.1 = trunc 8 %x", "%r.2 = sext 32 %v.1", "return %r.2"]),
    ("%p = lshr 32 %x, 20\n%r = lshr 32 %p, 12\nreturn %r", ["return 0"]),
    ("%p = zext 16 %b\n%r = zext 32 %p\nreturn %r", ["%r.1 = zext 32 %b", "return %r.1"]),
    ("%r = select 32 %c, 1, 0\nreturn %r", ["%r.1 = zext 32 %c", "return %r.1"]),
    ("%r = select 32 %c, 0, -1\nreturn %r", ["%r.1 = xor 1 %c, 1", "%r.2 = sext 32 %r.1", "return %r.2"]),
    (
        "%n = xor 1 %c, 1\n%r = select 32 %n, %x, %y\nreturn %r",
        ["%r.1 = select 32 %c, %y, %x", "return %r.1"],
    ),
    ("%e = eq 1 %x, %y\n%r = select 32 %e, %x, %y\nreturn %r", ["return %y"]),
    ("%p = zext 32 %c\n%q = ne 1 %p, 0\n%r = sext 32 %q\nreturn %r", ["%r.1 = sext 32 %c", "return %r.1"]),
    (
        "%p = zext 32 %b\n%q = slt 1 %p, 100\n%r = zext 32 %q\nreturn %r",
        ["%q.1 = ult 1 %b, 100", "%r.2 = zext 32 %q.1", "return %r.2"],
    ),
    (
        "%p = slt 1 %x, %y\n%q = xor 1 %p, 1\n%r = zext 32 %q\nreturn %r",
        ["%q.1 = sle 1 %y, %x", "%r.2 = zext 32 %q.1", "return %r.2"],
    ),
    (
        "%p = sle 1 %x, 7\n%r = zext 32 %p\nreturn %r",
        ["%p.1 = slt 1 %x, 8", "%r.2 = zext 32 %p.1", "return %r.2"],
    ),
    (
        "%p = add 32 %x, 3\n%q = eq 1 %p, 5\n%r = zext 32 %q\nreturn %r",
        ["%q.1 = eq 1 %x, 2", "%r.2 = zext 32 %q.1", "return %r.2"],
    ),
    (
        "%p = and 32 %x, 8\n%q = eq 1 %p, 0\n%r = zext 32 %q\nreturn %r",
        ["%v.1 = lshr 32 %x, 3", "%v.2 = trunc 1 %v.1", "%q.3 = xor 1 %v.2, 1", "%r.4 = zext 32 %q.3", "return %r.4"],
    ),
    (
        "%p = zext 32 %b\n%q = shl 32 %p, 8\n%s = trunc 8 %x\n%t = zext 32 %s\n%u = or 32 %q, %t\n"
        "%w = lshr 32 %u, 8\n%z = trunc 8 %w\n%k = trunc 8 %u\n%l = xor 8 %k, %z\n%r = sext 32 %l\nreturn %r",
        ["%v.1 = trunc 8 %x", "%l.2 = xor 8 %v.1, %b", "%r.3 = sext 32 %l.2", "return %r.3"],
    ),
    (
        "%p = trunc 16 %x\n%l = trunc 8 %p\n%s = lshr 16 %p, 8\n%h = trunc 8 %s\n%m = sext 32 %p\n"
        "%t = lshr 32 %m, 16\n%a = zext 32 %l\n%b2 = zext 32 %h\n%d = shl 32 %b2, 8\n%e = or 32 %a, %d\n"
        "%g = shl 32 %t, 16\n%r = or 32 %e, %g\nreturn %r",
        ["%p.1 = trunc 16 %x", "%v.2 = sext 32 %p.1", "return %v.2"],
    ),
    ("%p = xor 8 %b, 128\n%q = add 8 %p, 128\n%r = zext 32 %q\nreturn %r", ["%r.1 = zext 32 %b", "return %r.1"]),
    ("%p = copy 32 %x\nreturn %p", ["%p.1 = copy 32 %x", "return %p.1"]),
    ("%s = zext 32 %b\n%r = shl 32 %x, %s\nreturn %r", ["%r.1 = shl 32 %x, %b", "return %r.1"]),
    ("%r = ashr 32 %x, 40:8\nreturn %r", ["%r.1 = ashr 32 %x, 31", "return %r.1"]),
]


@pytest.mark.parametrize(("body", "expected"), CASES)
def test_identities(body: str, expected: list[str]) -> None:
    assert simplified(body) == expected


def test_a_known_branch_takes_its_dead_side_with_it() -> None:
    text = """
    function f(%x 8) 8 {
    entry:
      %c = ult 1 %x, 0
      branch %c, no, yes
    no:
      jump join
    yes:
      jump join
    join:
      %r = phi 8 [no: 1, yes: %x]
      return %r
    }
    """
    module = parse(text)
    simplify.run(module, HlsOptions("f"), Remarks())
    assert [b.name for b in module.top.blocks] == ["entry", "yes", "join"]
    assert_same(text, module)
    assert "return %x" in dump(module)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9))
def test_random_programs_stay_the_same(seed: int) -> None:
    module = random_module(seed)
    before = dump(module)
    simplify.run(module, HlsOptions("f"), Remarks())
    assert_same(before, module, runs=6)
    dead_code.run(module, HlsOptions("f"), Remarks())
    assert_same(before, module, runs=3)


def wires(seed: int) -> str:
    """Return a function of casts, shifts by constants and masks: what packing and unpacking looks like."""
    rng = random.Random(seed)
    known = [("%a", 8), ("%b", 16), ("%c", 32)]
    lines = []
    for n in range(24):
        name, width = rng.choice(known[-6:] if rng.random() < 0.7 else known)
        kind = rng.choice(["zext", "sext", "trunc", "shl", "lshr", "ashr", "and", "or", "or", "or", "xor"])
        if kind in ("zext", "sext") and width < 32:
            wider = rng.choice([w for w in (16, 24, 32) if w > width])
            line, result = f"{kind} {wider} {name}", wider
        elif kind == "trunc" and width > 8:
            narrower = rng.choice([w for w in (8, 16, 24) if w < width])
            line, result = f"trunc {narrower} {name}", narrower
        elif kind in ("shl", "lshr", "ashr"):
            line, result = f"{kind} {width} {name}, {rng.choice((1, 8, 8, 16))}:8", width
        elif kind == "and":
            line, result = f"and {width} {name}, {rng.choice((255, 0xFF00, 0xFFFF00, 0xF0F0, 1))}", width
        else:
            others = [other for other, w in known if w == width]
            line, result = f"{'or' if kind == 'or' else 'xor'} {width} {name}, {rng.choice(others)}", width
        known.append((f"%t{n}", result))
        lines.append(f"%t{n} = {line}")
    name, width = known[-1]
    return f"function f(%a 8, %b 16, %c 32) {width} {{\nentry:\n" + "\n".join(lines) + f"\nreturn {name}\n}}"


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9))
def test_packing_and_unpacking_stays_the_same(seed: int) -> None:
    text = wires(seed)
    module = parse(text)
    simplify.run(module, HlsOptions("f"), Remarks())
    assert_same(text, module, runs=8, seed=seed)
    narrow.run(module, HlsOptions("f"), Remarks())
    simplify.run(module, HlsOptions("f"), Remarks())
    assert_same(text, module, runs=8, seed=seed)
