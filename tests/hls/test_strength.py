import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pass_cases import assert_random_program_stays, transformed

from rtlagent.hls.interpret import Interpreter
from rtlagent.hls.ir import DIVISIONS, Const, Op, Opcode
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import parse
from rtlagent.hls.transform import strength


def opcodes(opcode: str, width: int, constant: int) -> list[Opcode]:
    text = f"function f(%x {width}) {width} {{\nentry:\n%r = {opcode} {width} %x, {constant}\nreturn %r\n}}"
    return [op.opcode for op in transformed(text, strength.run).top.entry.ops]


@pytest.mark.parametrize(
    ("factor", "expected"),
    [
        (0, []),
        (1, []),
        (16, ["shl"]),
        (10, ["shl", "shl", "add"]),
        (7, ["shl", "sub"]),
        (-1, ["sub"]),
        (-3, ["shl", "sub"]),
        (100, ["mul"]),
        (0x80000001, ["shl", "add"]),
    ],
)
def test_products(factor: int, expected: list[str]) -> None:
    assert opcodes("mul", 32, factor) == expected


@pytest.mark.parametrize("opcode", ["udiv", "urem", "sdiv", "srem"])
@pytest.mark.parametrize("width", [2, 3, 5, 8])
def test_every_quotient_of_narrow_widths_is_exact(opcode: str, width: int) -> None:
    for constant in range(1, 1 << width):
        text = f"function f(%x {width}) {width} {{\nentry:\n%r = {opcode} {width} %x, {constant}\nreturn %r\n}}"
        module = parse(text)
        before = Interpreter(module)
        strength.run(module, HlsOptions("f"), Remarks())
        after = Interpreter(module)
        for x in range(1 << width):
            assert after.call({"x": x}, {}) == before.call({"x": x}, {}), (opcode, width, x, constant)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["udiv", "urem", "sdiv", "srem", "mul"]),
    st.integers(9, 40),
    st.integers(-(2**39), 2**39),
    st.integers(1, 40),
    st.data(),
)
def test_quotients_of_wide_widths_are_exact(opcode: str, width: int, x: int, bits: int, data: st.DataObject) -> None:
    constant = data.draw(st.integers(-(2**bits), 2**bits)) & ((1 << width) - 1)
    text = f"function f(%x {width}) {width} {{\nentry:\n%r = {opcode} {width} %x, {constant}\nreturn %r\n}}"
    module = parse(text)
    before = Interpreter(module)
    strength.run(module, HlsOptions("f"), Remarks())
    after = Interpreter(module)
    near = [x, constant * (x % 1000), constant * (x % 1000) - 1, 0, -1, 1 << (width - 1), (1 << (width - 1)) - 1]
    for value in near:
        assert after.call({"x": value}, {}) == before.call({"x": value}, {})


def test_no_division_by_a_constant_is_left_below_the_limit() -> None:
    for constant in (2, 3, 7, 10, 64, 1000, -5, -8):
        for opcode in ("udiv", "sdiv", "urem", "srem"):
            assert not set(opcodes(opcode, 32, constant)) & DIVISIONS
    assert opcodes("udiv", 64, 10) == ["udiv"]
    assert opcodes("udiv", 32, 0) == ["udiv"]


def test_the_factor_is_as_small_as_can_be() -> None:
    text = "function f(%x 8) 8 {\nentry:\n%r = udiv 8 %x, 10\nreturn %r\n}"
    (product,) = [op for op in transformed(text, strength.run).top.entry.ops if op.opcode is Opcode.MUL]
    assert isinstance(product, Op)
    assert isinstance(product.args[1], Const)
    assert product.args[1].value == 103


def test_the_canonical_digits_of_a_number_give_it_back() -> None:
    for value in range(-300, 300):
        digits = strength.signed_digits(value)
        assert sum(digit << position for position, digit in digits) == value
        assert all(b - a > 1 for (a, _), (b, _) in itertools.pairwise(digits))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9))
def test_random_programs_stay_the_same(seed: int) -> None:
    assert_random_program_stays(seed, strength.run)
