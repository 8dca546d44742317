import random

import pytest
from ir_differential import assert_same

from rtlagent.hls.ir import Module, Op, Opcode, Value
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import parse
from rtlagent.hls.transform import dead_code, rebalance


def rebalanced(text: str) -> Module:
    module = parse(text)
    rebalance.run(module, HlsOptions(top="f"), Remarks())
    dead_code.run(module, HlsOptions(top="f"), Remarks())
    return module


def chain(step: str, count: int) -> str:
    steps = "\n  ".join(step.format(n=n, before=n - 1) for n in range(1, count + 1))
    return f"""\
module top=f
memory a 16 [8] param
function f(%c 16, %n 4) 16 {{
entry:
  jump loop
loop:
  %i.1 = phi 4 [entry: 0, loop: %i.2]
  %s0 = phi 16 [entry: %c, loop: %s{count}]
  {steps}
  %i.2 = add 4 %i.1, 1
  %e.1 = ult 1 %i.2, %n
  branch %e.1, loop, done
done:
  return %s{count}
}}
"""


def depth(op: Value, stop: Value) -> int:
    """The longest way from `stop` to `op`."""
    if op is stop:
        return 0
    if not isinstance(op, Op):
        return -100
    return 1 + max(depth(a, stop) for a in op.args) if op.args else -100


@pytest.mark.parametrize("opcode", ["add", "mul", "and", "or", "xor"])
def test_only_one_operation_is_left_on_the_carried_value(opcode: str) -> None:
    text = chain("%v{n} = load 16 a[{n}]\n  %s{n} = " + opcode + " 16 %s{before}, %v{n}", 6)
    module = rebalanced(text)
    assert_same(text, module)
    phi = module.top.blocks[1].phis[1]
    assert depth(phi.incoming[module.top.blocks[1]], phi) == 1


@pytest.mark.parametrize("compare", ["slt", "ule"])
@pytest.mark.parametrize("arms", ["%s{before}, %v{n}", "%v{n}, %s{before}"])
def test_minimum_and_maximum(compare: str, arms: str) -> None:
    step = "%v{n} = load 16 a[{n}]\n  %c{n} = " + compare + " 1 %s{before}, %v{n}\n  %s{n} = select 16 %c{n}, " + arms
    text = chain(step, 4)
    module = rebalanced(text)
    assert_same(text, module)
    phi = module.top.blocks[1].phis[1]
    assert depth(phi.incoming[module.top.blocks[1]], phi) == 2


def test_conditional_steps_become_unconditional() -> None:
    step = (
        "%v{n} = load 16 a[{n}]\n  %c{n} = slt 1 %v{n}, 100\n  %t{n} = add 16 %s{before}, %v{n}\n"
        "  %s{n} = select 16 %c{n}, %t{n}, %s{before}"
    )
    text = chain(step, 4)
    module = rebalanced(text)
    assert_same(text, module)
    phi = module.top.blocks[1].phis[1]
    assert depth(phi.incoming[module.top.blocks[1]], phi) == 1


def test_a_result_with_another_user_ends_the_chain() -> None:
    text = chain("%v{n} = load 16 a[{n}]\n  %s{n} = add 16 %s{before}, %v{n}\n  store a[{n}] = %s{n}", 3)
    module = rebalanced(text)
    assert_same(text, module)
    assert sum(op.opcode is Opcode.ADD and op.width == 16 for op in module.top.blocks[1].ops) == 3


@pytest.mark.parametrize("seed", range(15))
def test_random_expressions(seed: int) -> None:
    rng = random.Random(seed)
    values = ["%s0", "%c"]
    lines = []
    for n in range(1, 14):
        kind = rng.randrange(4)
        a, b = rng.choice(values[-4:]), rng.choice(values)
        if kind == 0:
            lines.append(f"%c{n} = {rng.choice(['slt', 'ult'])} 1 {a}, {b}\n  %s{n} = select 16 %c{n}, {a}, {b}")
        elif kind == 1:
            lines.append(f"%c{n} = slt 1 {a}, 9\n  %t{n} = add 16 {a}, {b}\n  %s{n} = select 16 %c{n}, {a}, %t{n}")
        else:
            lines.append(f"%s{n} = {rng.choice(['add', 'xor', 'mul'])} 16 {a}, {b}")
        values.append(f"%s{n}")
    text = (
        chain("", 0)
        .replace("%s0]", "%s13]")
        .replace("return %s0", "return %s13")
        .replace("  \n", "  " + "\n  ".join(lines) + "\n", 1)
    )
    assert_same(text, rebalanced(text), ranges={"n": (0, 7)})
