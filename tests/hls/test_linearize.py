import pytest
from ir_differential import assert_same

from rtlagent.hls.ir import Opcode
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import parse
from rtlagent.hls.transform import linearize

TEXT = """\
module top=f
memory a 16 {dims} param
memory l 16 [2][3] local
memory s 16 [] param
memory t 8 [4][2] rom init=[1,2,3,4,5,6,7,8]
function f(%x 64, %y 3, %z 8) 16 {{
entry:
  %v.1 = load 16 a{sub}
  %k.1 = trunc 2 %x
  %w.1 = load 8 t[%k.1][1]
  %w.2 = zext 16 %w.1
  store l[1][2] = %v.1
  store l[0][2] = %w.2
  %u.1 = load 16 l[1][2]
  %q.1 = add 16 %v.1, %u.1
  %p.1 = add 16 %q.1, %w.2
  store a{other} = %p.1
  store s = %p.1
  return %p.1
}}
"""

CASES = [
    ("[4][8]", "[%x][%y]", "[3][%y]"),
    ("[4][8]", "[%x][%z]", "[%x][5]"),
    ("[5][7]", "[%x][%y]", "[4][%y]"),
    ("[3][1][5]", "[%x][0][%y]", "[%y][0][4]"),
    ("[3][11][8]", "[%x][%z][%y]", "[2][10][7]"),
    ("[2][1365][2]", "[1][%x][%z]", "[%z][%x][1]"),
    ("[64]", "[%x]", "[%y]"),
]


@pytest.mark.parametrize(("dims", "sub", "other"), CASES)
def test_every_element_keeps_its_place(dims: str, sub: str, other: str) -> None:
    text = TEXT.format(dims=dims, sub=sub, other=other)
    module = parse(text)
    linearize.run(module, HlsOptions(top="f"), Remarks())
    ranges = {"x": (0, 2), "y": (0, 2), "z": (0, 1)}
    assert_same(text, module, runs=60, ranges=ranges)
    assert all(len(m.dims) <= 1 for m in module.memories)
    # 1365 has six non-zero digits: there a multiplier is smaller.
    assert any(op.opcode is Opcode.MUL for op in module.top.entry.ops) == ("1365" in dims)


def test_rows_of_a_power_of_two_cost_no_adder() -> None:
    module = parse(TEXT.format(dims="[4][8]", sub="[%x][%y]", other="[0][%z]"))
    linearize.run(module, HlsOptions(top="f"), Remarks())
    adders = [op for op in module.top.entry.ops if op.opcode in (Opcode.ADD, Opcode.SUB)]
    assert [op.width for op in adders] == [16, 16]
