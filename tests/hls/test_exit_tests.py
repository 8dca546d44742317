import pytest
from ir_differential import assert_same

from rtlagent.hls.analysis.cost import period_ns, timing
from rtlagent.hls.ir import Branch, Op, Opcode
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import parse
from rtlagent.hls.transform import exit_tests

OPTIONS = HlsOptions(top="f", clock_ns=8)

MERGED = """\
module top=f
memory a 32 [8] param
function f(%k 32, %x 32) 32 {{
entry:
  jump loop
loop: pipeline_ii=1
  %e = phi 32 [entry: 0, loop: %m]
  %r = phi 32 [entry: %x, loop: %r2]
  %r1 = mul 32 %r, 17
  %r2 = add 32 %r1, 3
  %c = slt 1 %r2, 0
  %n = add 32 %e, 1
  %n2 = add 32 %e, 2
  %m = select 32 %c, %n, %n2
  %d = {test}
  branch %d, {targets}
done:
  return %r2
}}
"""


@pytest.mark.parametrize(
    ("test", "targets"),
    [
        ("ult 1 %m, %k", "loop, done"),
        ("ule 1 %k, %m", "done, loop"),
        ("ult 1 %m, %k\n  %g = xor 1 %d, 1", "done, loop"),
    ],
)
def test_the_condition_is_there_earlier(test: str, targets: str) -> None:
    text = MERGED.format(test=test, targets=targets)
    if "%g" in text:
        text = text.replace("branch %d", "branch %g")
    module = parse(text)
    block = module.top.blocks[1]
    end = block.terminator
    assert isinstance(end, Branch)
    before = timing(block.ops, period_ns(OPTIONS)).ready[end.condition]
    exit_tests.run(module, OPTIONS, Remarks())
    assert_same(text, module, ranges={"k": (0, 50)})
    assert timing(block.ops, period_ns(OPTIONS)).ready[end.condition] < before


def test_a_step_by_a_condition_is_a_choice_too() -> None:
    text = MERGED.format(test="ult 1 %m, %k", targets="loop, done")
    text = text.replace("%m = select 32 %c, %n, %n2", "%z = zext 32 %c\n  %m = add 32 %z, %n2")
    module = parse(text)
    exit_tests.run(module, OPTIONS, Remarks())
    assert_same(text, module, ranges={"k": (0, 50)})
    end = module.top.blocks[1].terminator
    assert isinstance(end, Branch) and isinstance(end.condition, Op)
    assert end.condition.opcode is Opcode.SELECT


def test_a_condition_that_is_in_time_stays() -> None:
    text = MERGED.format(test="ult 1 %m, %k", targets="loop, done").replace("slt 1 %r2, 0", "slt 1 %r, 0")
    module = parse(text)
    count = len(module.top.blocks[1].ops)
    exit_tests.run(module, OPTIONS, Remarks())
    # The product and what follows it are not used any more.
    assert len(module.top.blocks[1].ops) <= count


def test_a_counter_that_steps_by_a_late_condition_is_chosen() -> None:
    text = MERGED.format(test="ult 1 %e, %k", targets="loop, done")
    text = text.replace("%m = select 32 %c, %n, %n2", "%z = zext 32 %c\n  %m = add 32 %e, %z")
    module = parse(text)
    exit_tests.run(module, OPTIONS, Remarks())
    assert_same(text, module, ranges={"k": (0, 50)}, max_steps=5000)
    block = module.top.blocks[1]
    following = block.phis[0].incoming[block]
    assert isinstance(following, Op) and following.opcode is Opcode.SELECT
