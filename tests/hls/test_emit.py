from __future__ import annotations

import dataclasses

import pytest
from emitted import compare, compare_ir, compile_ir, copy_of
from random_ir import random_module

from rtlagent.hls.emit.names import Names, legal
from rtlagent.hls.options import HlsOptions
from rtlagent.hls.text import parse
from rtlagent.types import Status

DOT = """\
module top=dot
memory a 32 [16] param
memory b 32 [16] param

function dot() 32 {
entry:
  jump loop
loop: label="loop"
  %i.1 = phi 32 [entry: 0, loop: %i.2]
  %s.1 = phi 32 [entry: 0, loop: %s.2]
  %x = load 32 a[%i.1]
  %y = load 32 b[%i.1]
  %p = mul 32 %x, %y
  %s.2 = add 32 %s.1, %p
  %i.2 = add 32 %i.1, 1
  %c = slt 1 %i.2, 16
  branch %c, loop, exit
exit:
  return %s.2
}
"""

ROTATING = """\
module top=fibonacci

function fibonacci(%n 8) 32 {
entry:
  jump loop
loop: label="loop"
  %a = phi 32 [entry: 0, loop: %b]
  %b = phi 32 [entry: 1, loop: %s]
  %i = phi 8 [entry: 0, loop: %j]
  %s = add 32 %a, %b
  %j = add 8 %i, 1
  %c = ult 1 %j, %n
  branch %c, loop, exit
exit:
  return %a
}
"""


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_do_in_verilog_what_they_do_in_the_ir(seed: int) -> None:
    module = random_module(seed)
    result = compare(copy_of(module), compile_ir(module), seed=seed)
    assert result is None or result.status is Status.PASS, result.detail


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_many_random_programs(seed: int) -> None:
    module = random_module(seed, size=40)
    result = compare(copy_of(module), compile_ir(module), seed=seed)
    assert result is None or result.status is Status.PASS, result.detail


@pytest.mark.parametrize("text", [DOT, ROTATING])
@pytest.mark.parametrize("target", ["ecp5", "ice40", "xc7"])
@pytest.mark.parametrize("clock_ns", [3.0, 10.0, 40.0])
def test_pipelined_loops_at_several_clocks(text: str, target: str, clock_ns: float) -> None:
    options = HlsOptions(top="f", target=target, clock_ns=clock_ns)
    result = compare_ir(text, options=options)
    assert result is not None
    assert result.status is Status.PASS, result.detail


def test_a_wrong_net_is_noticed() -> None:
    emitted = compile_ir(parse(DOT))
    wrong = dataclasses.replace(emitted, verilog=emitted.verilog.replace(" * ", " + ", 1))
    assert wrong.verilog != emitted.verilog
    result = compare(parse(DOT), wrong)
    assert result is not None
    assert result.status is Status.FAIL


def test_the_module_names_its_source() -> None:
    emitted = compile_ir(parse(DOT.replace("mul 32 %x, %y", "mul 32 %x, %y @7")))
    assert "assign" in emitted.verilog
    assert ":7" in emitted.verilog


def test_names_are_legal_and_unique() -> None:
    names = Names()
    assert legal("while") == "while_"
    assert legal("3x") == "v3x"
    assert legal("a.b[2]") == "a_b_2"
    assert [names.fresh("x"), names.fresh("x"), names.fresh("x")] == ["x", "x_2", "x_3"]
    with pytest.raises(ValueError, match="needed twice"):
        names.reserve("x_2")


@pytest.mark.parametrize("width", [20, 32, 40, 64])
@pytest.mark.parametrize("target", ["ecp5", "ice40"])
def test_wide_products_are_exact(width: int, target: str) -> None:
    text = f"""\
module top=product

function product(%x {width}, %y {width}) {width} {{
entry:
  %p = mul {width} %x, %y
  %q = mul {width} %p, %y
  return %q
}}
"""
    emitted = compile_ir(parse(text), HlsOptions(top="product", target=target))
    assert "part" in emitted.verilog
    result = compare(parse(text), emitted, calls=12)
    assert result is not None
    assert result.status is Status.PASS, result.detail


@pytest.mark.parametrize("depth", [1, 2])
def test_stores_that_exclude_one_another_may_share_a_cycle(depth: int) -> None:
    text = f"""\
module top=pick
memory r 8 [{depth}] param

function pick(%a 8, %c 1) {{
entry:
  %n = xor 1 %c, 1
  %b = add 8 %a, 1
  store r[0] = %a if %n
  store r[0] = %b if %c
  return
}}
"""
    result = compare_ir(text)
    assert result is not None
    assert result.status is Status.PASS, result.detail
