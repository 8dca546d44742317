import pytest

from rtlagent.hls.ir import LoopDirectives, Module
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import parse
from rtlagent.hls.transform import auto_directives, rotate

OPTIONS = HlsOptions(top="f")


def decided(text: str, options: HlsOptions = OPTIONS) -> tuple[dict[str, int | None], Remarks]:
    """Unroll factors by loop label."""
    module: Module = parse(text)
    remarks = Remarks()
    rotate.run(module, options, Remarks())
    auto_directives.run(module, options, remarks)
    found = [b.directives for b in module.top.blocks if b.directives is not None]
    return {d.label: d.unroll for d in found}, remarks


def loop(body: str, carried: str = "", trips: int = 64, label: str = 'label="l"') -> str:
    return f"""\
module top=f
memory a 32 [64] param
memory b 32 [64] param
memory c 8 [64] param
function f(%n 32, %m 6) {{
entry:
  jump loop
loop: {label}
  %i = phi 32 [entry: 0, loop: %i2]
  {carried}
  {body}
  %i2 = add 32 %i, 1
  %e = slt 1 %i2, {trips}
  branch %e, loop, done
done:
  return
}}
"""


COPY = "%v = load 32 a[%i]\n  store b[%i] = %v"

THREE = """%x = add 32 %i, 2
  %y = add 32 %i, 4
  %u = load 32 a[%i]
  %v = load 32 a[%x]
  %w = load 32 a[%y]
  store b[%i] = %w"""


@pytest.mark.parametrize(
    ("body", "carried", "factor"),
    [
        (COPY, "", 2),
        # Three accesses of one array: two iterations in three cycles are better than in four.
        (THREE, "", 2),
        # Both ports are busy.
        ("%v = load 32 a[%i]\n  %w = load 32 a[%n]\n  store b[%i] = %v\n  store b[%n] = %w", "", None),
        # A load may meet the store before it.
        ("%k = load 8 c[%i]\n  %v = load 32 a[%k]\n  %w = add 32 %v, 1\n  store a[%k] = %w", "", None),
        # The next iteration loads what this one stores.
        ("%x = add 32 %i, 1\n  %v = load 32 a[%i]\n  %w = add 32 %v, 3\n  store a[%x] = %w", "", None),
        # A sum can be split, a chain of look-ups cannot.
        ("%v = load 32 a[%i]\n  %s2 = add 32 %s, %v", "%s = phi 32 [entry: 0, loop: %s2]", 2),
        ("%t = and 32 %s, 63\n  %s2 = load 32 a[%t]", "%s = phi 32 [entry: 0, loop: %s2]", None),
    ],
)
def test_unrolling_by_two_where_ports_are_idle(body: str, carried: str, factor: int | None) -> None:
    factors, remarks = decided(loop(body, carried))
    assert factors == {"l": factor}
    assert bool(remarks.diagnostics) == (factor is not None)


def test_an_odd_trip_count_stays() -> None:
    assert decided(loop(COPY, trips=63))[0] == {"l": None}


@pytest.mark.parametrize("told", ["unroll=1", "unroll=4", "pipeline_ii=1", "pipeline_off"])
def test_a_pragma_is_not_overruled(told: str) -> None:
    factors, remarks = decided(loop(COPY, label=f'label="l" {told}'))
    assert factors == {"l": {"unroll=1": 1, "unroll=4": 4}.get(told)}
    assert not remarks.diagnostics


def test_nothing_is_decided_when_it_is_off() -> None:
    assert decided(loop(COPY), HlsOptions(top="f", auto_unroll=False))[0] == {"l": None}


BITS = """\
module top=f
memory a 8 [256] param
function f() 32 {
entry:
  jump outer
outer: label="byte"
  %i = phi 32 [entry: 0, next: %i2]
  %s = phi 32 [entry: -1, next: %t2]
  %v = load 8 a[%i]
  %w = zext 32 %v
  %x = xor 32 %s, %w
  jump inner
inner: label="bit"
  %k = phi 32 [outer: 0, inner: %k2]
  %t = phi 32 [outer: %x, inner: %t2]
  %b = trunc 1 %t
  %h = lshr 32 %t, 1:8
  %p = xor 32 %h, 3988292384
  %t2 = select 32 %b, %p, %h
  %k2 = add 32 %k, 1
  %c = slt 1 %k2, 8
  branch %c, inner, next
next:
  %i2 = add 32 %i, 1
  %d = slt 1 %i2, 256
  branch %d, outer, done
done:
  return %t2
}
"""


def test_short_steps_of_a_chain_are_done_in_one_iteration() -> None:
    factors, remarks = decided(BITS)
    assert factors["bit"] == 0
    assert any("bit is unrolled completely: byte then takes" in d.message for d in remarks.diagnostics)


def test_what_a_pragma_pipelines_has_its_inner_loops_unrolled() -> None:
    factors, _ = decided(
        BITS.replace('label="byte"', 'label="byte" pipeline_ii=1').replace("slt 1 %k2, 8", "slt 1 %k2, 9")
    )
    assert factors == {"byte": None, "bit": 0}


def test_a_pipelined_function_has_all_loops_unrolled() -> None:
    factors, _ = decided(BITS.replace("f() 32 {", "f() 32 pipeline_ii=1 {"))
    assert factors == {"byte": 0, "bit": 0}


def test_a_loop_of_many_iterations_inside_is_not_unrolled() -> None:
    factors, _ = decided(BITS.replace("slt 1 %k2, 8", "slt 1 %k2, 200"))
    assert factors["bit"] != 0


def test_late_pipelining_gives_reasons() -> None:
    module = parse(BITS.replace('label="byte"', 'label="byte" pipeline_ii=1'))
    remarks = Remarks()
    auto_directives.run_late(module, OPTIONS, remarks)
    found = {b.directives.label: b.directives for b in module.top.blocks if b.directives is not None}
    assert found["bit"].pipeline_ii == 0
    assert found["byte"].pipeline_ii is None
    assert [d.message for d in remarks.diagnostics if d.severity.value == "warning"] == [
        "the loop cannot be pipelined: bit inside it is not unrolled"
    ]


def test_directives_are_made_where_there_were_none() -> None:
    module = parse(loop(COPY, label=""))
    auto_directives.run_late(module, OPTIONS, Remarks())
    directives = module.top.blocks[1].directives
    assert isinstance(directives, LoopDirectives) and directives.pipeline_ii == 0
