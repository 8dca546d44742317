import random

import pytest
from ir_differential import assert_same

from rtlagent.hls.ir import Module, Opcode
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import parse
from rtlagent.hls.transform import dead_code, rotate, scalar_replacement, simplify


def replaced(text: str) -> Module:
    module = parse(text)
    options = HlsOptions(top="f")
    rotate.run(module, options, Remarks())
    scalar_replacement.run(module, options, Remarks())
    assert_same(text, module, ranges=RANGES)
    simplify.run(module, options, Remarks())
    dead_code.run(module, options, Remarks())
    return module


RANGES = {"n": (0, 12), "k": (0, 7), "m": (0, 7)}


def count(module: Module, opcode: Opcode, memory: str, block: str | None = None) -> int:
    return sum(
        op.opcode is opcode and op.memory is not None and op.memory.name == memory
        for b in module.top.blocks
        if block in (None, b.name)
        for op in b.ops
    )


LOCAL = """\
module top=f
memory t 8 [2][2] local
function f(%x 8, %c 1) 8 {
entry:
  store t[0][1] = %x
  store t[1][1] = 7
  branch %c, one, two
one:
  %a = load 8 t[0][1]
  %b = add 8 %a, 1
  store t[0][1] = %b
  jump two
two:
  %d = load 8 t[0][1]
  %e = load 8 t[1][1]
  store t[1][1] = %d if %c
  %g = load 8 t[1][1]
  %s = add 8 %d, %e
  %r = add 8 %s, %g
  return %r
}
"""


def test_a_local_array_with_constant_subscripts_becomes_values() -> None:
    assert replaced(LOCAL).memories == []


def test_a_local_array_with_a_computed_subscript_stays() -> None:
    text = LOCAL.replace("%e = load 8 t[1][1]", "%y = trunc 1 %x\n  %e = load 8 t[%y][1]")
    assert len(replaced(text).memories) == 1


ACCUMULATE = """\
module top=f
memory y 32 [8] param
memory a 32 [16] param
function f(%n 32, %k 32, %m 32) {
entry:
  jump head
head:
  %i = phi 32 [entry: 0, latch: %i2]
  %c = slt 1 %i, %n
  branch %c, body, done
body:
  %k64 = sext 64 %k
  %v = load 32 y[%k64]
  %w = load 32 a[%i]
  %s = add 32 %v, %w
  EXTRA
  jump latch
latch:
  %i2 = add 32 %i, 1
  jump head
done:
  return
}
"""


def test_an_invariant_element_is_loaded_before_and_stored_after() -> None:
    module = replaced(ACCUMULATE.replace("EXTRA", "store y[%k64] = %s"))
    (loop,) = [b for b in module.top.blocks if b in b.successors()]
    assert count(module, Opcode.STORE, "y", loop.name) == count(module, Opcode.LOAD, "y", loop.name) == 0
    assert count(module, Opcode.STORE, "y") == count(module, Opcode.LOAD, "y") == 1


@pytest.mark.parametrize(
    "extra",
    [
        "store y[%k64] = %s\n  store y[%m] = %w",
        "%k1 = and 32 %i, 7\n  store y[%k1] = %s",
    ],
)
def test_an_element_that_another_access_may_meet_stays(extra: str) -> None:
    module = replaced(ACCUMULATE.replace("EXTRA", extra))
    (loop,) = [b for b in module.top.blocks if b in b.successors()]
    assert count(module, Opcode.LOAD, "y", loop.name) == 1


def test_constant_elements_in_a_branch_with_a_second_exit() -> None:
    extra = """store y[2] = %s
  %q = load 32 y[3]
  %d = slt 1 %q, %w
  branch %d, swap, more
swap:
  store y[3] = %w
  %e = slt 1 %s, 0
  branch %e, done, more
more:
  %r = load 32 y[2]
  store y[4] = %r if %d"""
    module = replaced(ACCUMULATE.replace("%v = load 32 y[%k64]", "%v = load 32 y[2]").replace("EXTRA", extra))
    inside = [b for b in module.top.blocks if b.name in ("body", "swap", "more")]
    assert all(count(module, code, "y", b.name) == 0 for b in inside for code in (Opcode.LOAD, Opcode.STORE))


def test_a_write_only_port_is_not_read() -> None:
    text = """\
module top=f
memory o 8 [] param
function f(%n 4) {
entry:
  jump loop
loop:
  %i = phi 4 [entry: 0, loop: %j]
  %x = zext 8 %i
  store o = %x if %c
  %c = ult 1 %i, 3
  %j = add 4 %i, 1
  %d = ult 1 %j, %n
  branch %d, loop, done
done:
  return
}
"""
    text = text.replace("  store o = %x if %c\n  %c = ult 1 %i, 3\n", "  %c = ult 1 %i, 3\n  store o = %x if %c\n")
    assert count(replaced(text), Opcode.LOAD, "o") == 0


WINDOW = """\
module top=f
memory x 16 [20] param
memory o 16 [20] param
function f(%n 8) {{
entry:
  jump loop
loop:
  %i = phi 8 [entry: {first}, loop: %i2]
  {loads}
  store o[%i] = {last}
  %i2 = add 8 %i, {step}
  %c = ult 1 %i2, {bound}
  branch %c, loop, done
done:
  return
}}
"""


def window(offsets: list[int], step: int = 1, first: int = 4, bound: str = "16") -> str:
    lines, last = [], ""
    for n, offset in enumerate(offsets):
        lines += [f"%p{n} = add 8 %i, {offset}", f"%v{n} = load 16 x[%p{n}]"]
        lines.append(f"%s{n} = xor 16 %v{n}, {last or 3}")
        lines.append(f"%t{n} = mul 16 %s{n}, 5")
        last = f"%t{n}"
    return WINDOW.format(loads="\n  ".join(lines), last=last, step=step, first=first, bound=bound)


@pytest.mark.parametrize(
    ("offsets", "step", "left"),
    [
        ([-1, 0, 1], 1, 1),
        ([1, 0, -1, -2, -3], 1, 1),
        ([0, 2, -2], 2, 1),
        ([0, 1, 2, 3], 2, 2),
        ([-3, 0, 1], 1, 1),
        ([0, 1], 1, 2),
    ],
)
def test_windows(offsets: list[int], step: int, left: int) -> None:
    module = replaced(window(offsets, step))
    (loop,) = [b for b in module.top.blocks if b in b.successors()]
    assert count(module, Opcode.LOAD, "x", loop.name) == left


def test_no_window_across_a_gap_when_the_trip_count_is_unknown() -> None:
    text = window([-3, 0, 1], bound="%n")
    module = parse(text)
    scalar_replacement.run(module, HlsOptions(top="f"), Remarks())
    assert_same(text, module, ranges={"n": (0, 18)})
    assert count(module, Opcode.LOAD, "x", "loop") == 3


@pytest.mark.parametrize("seed", range(25))
def test_random_accesses(seed: int) -> None:
    rng = random.Random(seed)
    places = ["y[%k]", "y[%m]", "y[0]", "y[1]", "y[%i7]", "t[0]", "t[1]", "t[2]", "y[%k1]"]
    lines = []
    values = ["%n", "%i"]
    for n in range(rng.randint(3, 9)):
        place = rng.choice(rng.sample(places, 4))
        if rng.random() < 0.5:
            lines.append(f"%v{n} = load 32 {place}")
            values.append(f"%v{n}")
        else:
            guard = rng.choice(["", "", f" if %q{n}"])
            lines.append(f"%q{n} = ult 1 {rng.choice(values)}, 5")
            lines.append(f"store {place} = {rng.choice(values)}{guard}")
        if rng.random() < 0.3:
            target = rng.choice([f"b{n}", "latch", "done"])
            lines.append(f"%d{n} = slt 1 {rng.choice(values)}, {rng.choice(values)}")
            lines += [f"branch %d{n}, {target}, b{n}", f"b{n}:"] if target != f"b{n}" else [f"jump b{n}", f"b{n}:"]
            values = ["%n", "%i"]
    text = f"""\
module top=f
memory y 32 [8] param
memory t 32 [3] local
function f(%n 32, %k 3, %m 3) {{
entry:
  %k1 = xor 3 %k, 1
  store t[0] = %n
  store t[1] = 5
  store t[2] = 6
  jump head
head:
  %i = phi 32 [entry: 0, latch: %i2]
  %c = slt 1 %i, %n
  branch %c, body, done
body:
  %i7 = and 32 %i, 7
  {chr(10).join("  " + line for line in lines).strip()}
  jump latch
latch:
  %i2 = add 32 %i, 1
  jump head
done:
  %z0 = load 32 t[0]
  %z1 = load 32 t[1]
  store y[2] = %z0
  store y[5] = %z1
  return
}}
"""
    replaced(text)


def test_a_shift_register_moves_what_the_iteration_before_left() -> None:
    text = """\
module top=f
memory s 8 [3] static init=[1,2,3]
memory a 8 [8] param
function f(%x 8) 8 {
entry:
  jump loop
loop:
  %i = phi 4 [entry: 0, loop: %j]
  %v = load 8 a[%i]
  %p = load 8 s[0]
  %q = load 8 s[1]
  store s[1] = %p
  store s[2] = %q
  store s[0] = %v
  %j = add 4 %i, 1
  %c = ult 1 %j, 8
  branch %c, loop, done
done:
  %r = load 8 s[2]
  return %r
}
"""
    module = replaced(text)
    assert count(module, Opcode.STORE, "s", "loop") == 0


RECURRENCE = """\
module top=f
memory y 16 [20] param
function f(%n 8, %x 16) {{
entry:
  jump loop
loop:
  %i = phi 8 [entry: 4, loop: %i2]
  %p = add 8 %i, {behind}
  %v = load 16 y[%p]
  %w = load 16 y[%i]
  %t = mul 16 %v, 5
  %s = add 16 %t, %x
  {store}
  %q = xor 16 %w, %s
  store y[0] = %q if %g
  %i2 = add 8 %i, 1
  %c = ult 1 %i2, {bound}
  branch %c, loop, done
done:
  return
}}
"""


@pytest.mark.parametrize(
    ("behind", "bound", "left"), [(-1, "%n", 1), (-1, "16", 1), (-3, "16", 1), (-3, "%n", 2), (1, "16", 2)]
)
def test_what_an_earlier_iteration_stored_is_carried_along(behind: int, bound: str, left: int) -> None:
    text = RECURRENCE.format(behind=behind, bound=bound, store="store y[%i] = %s")
    text = text.replace("  store y[0] = %q if %g\n", "")
    module = parse(text)
    scalar_replacement.run(module, HlsOptions(top="f"), Remarks())
    assert_same(text, module, ranges={"n": (0, 18)})
    assert count(module, Opcode.LOAD, "y", "loop") == left


@pytest.mark.parametrize("store", ["store y[%i] = %s if %g", "store y[%i] = %s\n  store y[%x4] = %v"])
def test_a_store_that_may_miss_or_a_second_one_prevents_that(store: str) -> None:
    text = RECURRENCE.format(behind=-1, bound="16", store=store).replace("  store y[0] = %q if %g\n", "")
    text = text.replace("entry:\n", "entry:\n  %g = slt 1 %x, 0\n  %x4 = and 16 %x, 15\n")
    module = parse(text)
    scalar_replacement.run(module, HlsOptions(top="f"), Remarks())
    assert_same(text, module)
    assert count(module, Opcode.LOAD, "y", "loop") == 2
