import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_differential import assert_same
from pass_cases import assert_random_program_stays, body, transformed

from rtlagent.hls.ir import DIVISIONS, Module, Op, Opcode, Phi
from rtlagent.hls.text import dump, parse
from rtlagent.hls.transform import common_subexpressions, narrow, simplify, strength


def narrowed(text: str, ranges: dict[str, tuple[int, int]] | None = None) -> Module:
    return transformed(text, simplify.run, narrow.run, simplify.run, narrow.run, simplify.run, ranges=ranges)


def expression(lines: str, params: str = "%x 8, %y 8", width: int = 32) -> list[str]:
    return body(narrowed(f"function f({params}) {width} {{\nentry:\n{lines}\n}}"))


HISTOGRAM = """
memory a 8 [64] param
memory h 32 [16] local
function f(%n 32) 32 {
entry:
  jump clear
clear:
  %k = phi 32 [entry: 0, clear: %k2]
  store h[%k] = 0
  %k2 = add 32 %k, 1
  %c = slt 1 %k2, 16
  branch %c, clear, loop
loop:
  %i = phi 32 [clear: 0, loop: %i2]
  %p = sext 64 %i
  %q = load 8 a[%p]
  %w = zext 32 %q
  %b = and 32 %i, 15
  %half = ashr 32 %w, 1
  store h[%b] = %half
  %i2 = add 32 %i, 1
  %d = slt 1 %i2, 64
  branch %d, loop, exit
exit:
  %m = and 32 %n, 15
  %r = load 32 h[%m]
  return %r
}
"""


def test_a_kernel_of_ints_becomes_one_of_bits() -> None:
    module = narrowed(HISTOGRAM)
    assert [m.width for m in module.memories] == [8, 7]
    assert body(module, "loop") == [
        "%i.6 = phi 7 [clear: 0, loop: %i2.12]",
        "%v.7 = trunc 6 %i.6",
        "%v.8 = trunc 4 %i.6",
        "%q.9 = load 8 a[%v.7]",
        "%half.10 = lshr 8 %q.9, 1",
        "%v.11 = trunc 7 %half.10",
        "store h[%v.8] = %v.11",
        "%i2.12 = add 7 %i.6, 1",
        "%d.13 = ult 1 %i2.12, 64",
        "branch %d.13, loop, exit",
    ]


def test_sums_grow_by_a_bit_and_products_by_the_sum_of_widths() -> None:
    text = "%a = zext 32 %x\n%b = zext 32 %y\n%s = add 32 %a, %b\n%d = sub 32 %a, %b\n%p = mul 32 %s, %d\nreturn %p"
    lines = expression(text)
    assert any(" = add 9 " in line for line in lines)
    assert any(" = sub 9 " in line for line in lines)
    assert any(" = mul 18 " in line for line in lines)


def test_only_the_bits_that_are_stored_are_computed() -> None:
    text = """
    memory o 8 [1] param
    function f(%x 32, %y 32) {
    entry:
      %p = mul 32 %x, %y
      %s = add 32 %p, 77
      %t = trunc 8 %s
      store o[0] = %t
      return
    }
    """
    lines = body(narrowed(text))
    assert [line.split(" = ")[1].split()[0:2] for line in lines[2:4]] == [["mul", "8"], ["add", "8"]]


def test_signed_arithmetic_on_bytes() -> None:
    text = (
        "%a = sext 32 %x\n%b = sext 32 %y\n%q = sdiv 32 %a, %b\n%c = slt 1 %a, %b\n%r = select 32 %c, %q, %a\nreturn %r"
    )
    lines = expression(text)
    assert any(" = sdiv 9 " in line for line in lines), "-128 / -1 needs nine bits"
    assert any(" = slt 1 %x, %y" in line for line in lines)
    assert any(" = select 9 " in line for line in lines)


def test_a_division_of_what_is_never_negative_is_unsigned() -> None:
    lines = expression("%a = zext 32 %x\n%b = zext 32 %y\n%q = srem 32 %a, %b\nreturn %q")
    assert lines[0] == "%q.1 = urem 8 %x, %y"


def test_a_clamp_is_computed_in_the_bits_it_needs() -> None:
    text = """
      %s = sub 16 %x, %y
      %neg = slt 1 %s, 0
      %big = slt 1 255, %s
      %u = select 16 %big, 255, %s
      %r = select 16 %neg, 0, %u
      return %r
    """
    lines = expression(text, "%x 16, %y 16", 16)
    assert any(line.startswith("%u") and " = select 8 " in line for line in lines)
    assert any(line.startswith("%r") and " = select 8 " in line for line in lines)


def test_shift_amounts_have_the_bits_that_can_be_set() -> None:
    lines = expression("%m = and 32 %y, 7\n%r = shl 32 %x, %m\nreturn %r", "%x 32, %y 32")
    assert lines[:2] == ["%v.1 = trunc 3 %y", "%r.2 = shl 32 %x, %v.1"]


def test_a_counter_keeps_the_form_that_other_passes_look_for() -> None:
    text = """
    memory a 32 [32] param
    function f() 32 {
    entry:
      jump loop
    loop:
      %i = phi 32 [entry: 31, loop: %j]
      %w = load 32 a[%i]
      %v2 = add 32 %w, 1
      store a[%i] = %v2
      %j = add 32 %i, -1
      %c = slt 1 -1, %j
      branch %c, loop, exit
    exit:
      return %v2
    }
    """
    module = narrowed(text)
    loop = module.top.blocks[1]
    (phi,) = loop.phis
    following = phi.incoming[loop]
    assert isinstance(following, Op)
    assert following.args[0] is phi
    assert phi.width == following.width == 6


def test_functions_get_narrow_parameters_and_results() -> None:
    text = """
    function f(%x 8, %y 8) 32 {
    entry:
      %a = zext 32 %x
      %b = zext 32 %y
      %u = call 32 g(%a)
      %w = call 32 g(%b)
      %r = add 32 %u, %w
      return %r
    }
    function g(%z 32) 32 {
    entry:
      %t = mul 32 %z, 3
      return %t
    }
    """
    module = narrowed(text)
    g = module.functions[1]
    assert (g.params[0].width, g.width) == (8, 10)


def test_conditions_narrow_what_they_guard() -> None:
    text = """
    memory t 32 [16] param
    function f(%n 32) 32 {
    entry:
      %c = ult 1 %n, 16
      branch %c, small, end
    small:
      %s = mul 32 %n, %n
      store t[0] = %s
      jump end
    end:
      return 0
    }
    """
    lines = body(narrowed(text), "small")
    assert any(" = mul 8 " in line for line in lines)


def test_static_memories_keep_what_fits_signed() -> None:
    text = """
    memory s 32 [4] static init=[-1,5,0,-8]
    function f(%i 2, %x 4) 32 {
    entry:
      %old = load 32 s[%i]
      %w = sext 32 %x
      store s[%i] = %w
      return %old
    }
    """
    module = narrowed(text)
    assert module.memories[0].width == 4
    assert module.memories[0].init == (15, 5, 0, 8)


def test_bits_that_nobody_reads_are_not_stored() -> None:
    text = """
    memory s 32 [4] static init=[0,0,0,0]
    function f(%i 2, %x 32) 8 {
    entry:
      %old = load 32 s[%i]
      %r = trunc 8 %old
      store s[%i] = %x
      return %r
    }
    """
    assert narrowed(text).memories[0].width == 8


def test_sums_without_carries_become_or_at_the_end() -> None:
    text = "function f(%x 8, %y 8) 32 {\nentry:\n%a = zext 32 %x\n%b = shl 32 %a, 1\n%s = add 32 %b, 1\nreturn %s\n}"
    lines = body(transformed(text, narrow.run_late))
    assert any(" = or 9 " in line for line in lines)


def test_names_stay() -> None:
    module = narrowed(HISTOGRAM)
    names = {v.name for b in module.top.blocks for v in (*b.phis, *b.ops)}
    assert {"i", "i2", "half", "k"} <= names


def test_a_switch_is_on_few_bits() -> None:
    text = """
    function f(%x 32) 32 {
    entry:
      %m = and 32 %x, 3
      switch %m [0: a, 2: b], c
    a:
      return 5
    b:
      return 6
    c:
      return %m
    }
    """
    assert body(narrowed(text))[-1] == "switch %v.1 [0: a, 2: b], c"


@pytest.mark.parametrize("opcode", [*sorted(DIVISIONS), "lshr", "ashr", "shl"])
def test_operations_on_every_pair_of_small_numbers(opcode: str) -> None:
    for cast in ("zext", "sext"):
        text = f"""
        function f(%x 3, %y 3) 8 {{
        entry:
          %a = {cast} 8 %x
          %b = {cast} 8 %y
          %r = {opcode} 8 %a, %b
          return %r
        }}
        """
        module = parse(text)
        narrow.run(module, None, None)  # type: ignore[arg-type]
        for y in range(1, 8):
            assert_same(text, module, runs=8, ranges={"x": (0, 7), "y": (y, y)})


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**9))
def test_random_programs_stay_the_same(seed: int) -> None:
    assert_random_program_stays(seed, narrow.run)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9))
def test_random_programs_stay_the_same_through_many_passes(seed: int) -> None:
    passes = (simplify.run, narrow.run, simplify.run, common_subexpressions.run, strength.run, narrow.run, simplify.run)
    assert_random_program_stays(seed, *passes, size=50)


def test_the_text_of_a_narrowed_program_can_be_read_back() -> None:
    module = narrowed(HISTOGRAM)
    assert dump(parse(dump(module))) == dump(module)
    assert all(isinstance(v, Op | Phi) for b in module.top.blocks for v in (*b.phis, *b.ops))
    assert all(op.opcode is not Opcode.SEXT for b in module.top.blocks for op in b.ops)
