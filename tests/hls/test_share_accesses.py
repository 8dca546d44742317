import random

import pytest
from ir_differential import assert_same

from rtlagent.hls.analysis.exclusive import exclude, literals
from rtlagent.hls.ir import Module, Opcode
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import parse
from rtlagent.hls.transform import share_accesses

HEAD = """\
module top=f
memory a 8 [16] param
memory o 8 [16] param
function f(%i 4, %j 4, %x 8, %y 8, %c 1, %d 1) 8 {{
entry:
  %n = xor 1 %c, 1
  %p = and 1 %c, %d
  %q = and 1 %n, %d
  %r = or 1 %c, %d
  %s = xor 1 %r, 1
  %e3 = eq 1 %x, 3
  %e5 = eq 1 %x, 5
  %ne3 = ne 1 %x, 3
  %lt = slt 1 %x, %y
  %ge = sle 1 %y, %x
  {lines}
}}
"""


def shared(*lines: str) -> Module:
    text = HEAD.format(lines="\n  ".join(lines))
    module = parse(text)
    share_accesses.run(module, HlsOptions(top="f"), Remarks())
    assert_same(text, module, runs=60)
    return module


def count(module: Module, opcode: Opcode) -> int:
    return sum(op.opcode is opcode and op.memory is module.memories[0] for op in module.top.entry.ops)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("c", "n", True),
        ("p", "q", True),
        ("p", "s", True),
        ("d", "s", True),
        ("e3", "e5", True),
        ("e3", "ne3", True),
        ("e5", "ne3", False),
        ("lt", "ge", True),
        ("c", "d", False),
        ("p", "r", False),
    ],
)
def test_what_excludes_what(a: str, b: str, expected: bool) -> None:
    module = parse(HEAD.format(lines="return %x"))
    values = {op.name: op for op in module.top.entry.ops} | {p.name: p for p in module.top.params}
    assert exclude(literals(values[a]), literals(values[b])) is expected
    assert exclude(literals(values[b]), literals(values[a])) is expected


def test_three_loads_of_which_two_exclude_each_other() -> None:
    module = shared(
        "%u = load 8 a[%i] if %p",
        "%v = load 8 a[%j] if %q",
        "%w = load 8 a[2]",
        "%t = select 8 %c, %u, %v",
        "%z = select 8 %d, %t, %w",
        "return %z",
    )
    assert count(module, Opcode.LOAD) == 2


def test_a_load_that_depends_on_the_other_stays() -> None:
    module = shared(
        "%u = load 8 a[%i] if %p",
        "%k = trunc 4 %u",
        "%v = load 8 a[%k] if %q",
        "%w = load 8 a[2]",
        "%t = select 8 %c, %w, %v",
        "%z = select 8 %q, %t, %w",
        "return %z",
    )
    assert count(module, Opcode.LOAD) == 3


def test_stores_are_shared_and_users_move_behind() -> None:
    module = shared(
        "store a[%i] = %x if %e3",
        "store a[%j] = %y if %e5",
        "%u = load 8 a[%i] if %e3",
        "%v = add 8 %u, 1",
        "store o[0] = %v if %e3",
        "%w = load 8 a[%j] if %e5",
        "store o[1] = %w if %e5",
        "return %x",
    )
    assert (count(module, Opcode.STORE), count(module, Opcode.LOAD)) == (1, 1)


def test_few_accesses_stay() -> None:
    module = shared("store a[%i] = %x if %p", "store a[%j] = %y if %q", "return %x")
    assert count(module, Opcode.STORE) == 2


@pytest.mark.parametrize("seed", range(40))
def test_random_blocks(seed: int) -> None:
    rng = random.Random(seed)
    guards = ["%c", "%n", "%p", "%q", "%s", "%e3", "%e5", "%ne3", "%lt", "%ge"]
    lines, values = [], ["%x", "%y"]
    subscripts = ["%i", "%j", "3"]
    for n in range(14):
        guard = rng.choice(guards)
        place = f"a[{rng.choice(subscripts)}]"
        if rng.random() < 0.5:
            lines += [f"%v{n} = load 8 {place} if {guard}", f"%u{n} = select 8 {guard}, %v{n}, {rng.choice(values)}"]
            values.append(f"%u{n}")
            if rng.random() < 0.4:
                lines.append(f"%k{n} = trunc 4 %u{n}")
                subscripts.append(f"%k{n}")
        else:
            lines.append(f"store {place} = {rng.choice(values)} if {guard}")
    shared(*lines, f"return {rng.choice(values)}")
