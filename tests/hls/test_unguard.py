from ir_differential import assert_same

from rtlagent.hls.ir import Module
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import parse
from rtlagent.hls.transform import unguard

TEXT = """\
module top=f
memory a 8 [16] param
memory b 8 [12] param
function f(%i 4, %x 8, %c 1) 8 {
entry:
  %u = load 8 a[%i] if %c
  %v = load 8 b[%i] if %c
  EXTRA
  %w = xor 8 %u, %v
  %r = select 8 %c, %w, %x
  return %r
}
"""


def guards(text: str) -> dict[str, list[bool]]:
    module: Module = parse(text)
    unguard.run(module, HlsOptions(top="f"), Remarks())
    assert_same(text, module, ranges={"i": (0, 11)})
    result: dict[str, list[bool]] = {}
    for op in module.top.entry.ops:
        if op.memory is not None:
            result.setdefault(op.memory.name, []).append(op.predicate is not None)
    return result


def test_a_load_in_range_needs_no_predicate() -> None:
    assert guards(TEXT.replace("  EXTRA\n", "")) == {"a": [False], "b": [True]}


def test_loads_that_may_share_a_port_keep_theirs() -> None:
    extra = "%n = xor 1 %c, 1\n  %s = load 8 a[3] if %n\n  %t = load 8 a[4] if %n"
    assert guards(TEXT.replace("EXTRA", extra)) == {"a": [True, True, True], "b": [True]}


def test_a_store_keeps_its_predicate() -> None:
    assert guards(TEXT.replace("EXTRA", "store a[%i] = %x if %c")) == {"a": [False, True], "b": [True]}
