from rtlagent.hls.ir import Module
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.schedule import schedule
from rtlagent.hls.schedule.report import report_loops
from rtlagent.hls.text import parse
from rtlagent.types import LoopReport

NEST = """
module top=f
memory a 32 [1024] param
memory b 32 [1024] param
function f(%n 32) {
entry:
  jump outer
outer: label="rows"
  %i.1 = phi 32 [entry: 0, step: %i.2]
  %p.1 = shl 32 %i.1, 5
  jump inner
inner: label="columns" pipeline_ii=1
  %j.1 = phi 8 [outer: 0, inner: %j.2]
  %q.1 = zext 32 %j.1
  %k.1 = or 32 %p.1, %q.1
  %v.1 = load 32 a[%k.1]
  %w.1 = mul 32 %v.1, %v.1
  store b[%k.1] = %w.1
  %j.2 = add 8 %j.1, 1
  %c.1 = ne 1 %j.2, 32
  branch %c.1, inner, step
step:
  %i.2 = add 32 %i.1, 1
  %c.2 = ne 1 %i.2, 10
  branch %c.2, outer, done
done:
  return
}
"""


def report(text: str) -> tuple[list[LoopReport], int | None, int | None]:
    module: Module = parse(text)
    plans = schedule(module, HlsOptions("f"), Remarks())
    return report_loops(module, plans)


def test_a_nest_adds_up() -> None:
    loops, least, most = report(NEST)
    rows, columns = sorted(loops, key=lambda r: -(r.latency_cycles or 0))
    assert (columns.label, columns.trip_count, columns.ii, columns.target_ii) == ("columns", 32, 1, 1)
    assert columns.latency_cycles == 31 + columns.depth
    assert (rows.label, rows.trip_count, rows.ii) == ("rows", 10, None)
    assert rows.latency_cycles == 10 * (columns.latency_cycles + 2)
    assert least == most == rows.latency_cycles + 2


def test_unknown_trip_counts_have_no_bound_but_a_least() -> None:
    loops, least, most = report(NEST.replace("ne 1 %i.2, 10", "ne 1 %i.2, %n"))
    rows = next(r for r in loops if r.label == "rows")
    columns = next(r for r in loops if r.label == "columns")
    assert (rows.trip_count, rows.latency_cycles, most) == (None, None, None)
    assert columns.latency_cycles is not None
    assert least == columns.latency_cycles + 4


def test_loop_tripcount_bounds_the_report_only() -> None:
    text = NEST.replace("ne 1 %i.2, 10", "ne 1 %i.2, %n").replace('label="rows"', 'label="rows" trip_min=2 trip_max=5')
    loops, least, most = report(text)
    columns = next(r for r in loops if r.label == "columns")
    assert columns.latency_cycles is not None
    assert (least, most) == (2 * (columns.latency_cycles + 2) + 2, 5 * (columns.latency_cycles + 2) + 2)


def test_both_ways_of_a_branch_count() -> None:
    text = """
module top=f
memory m 32 [512] param
function f(%n 32) 32 {
entry:
  %c.1 = ne 1 %n, 0
  branch %c.1, slow, fast
slow:
  %v.1 = load 32 m[%n]
  %w.1 = load 32 m[%v.1]
  jump done
fast:
  jump done
done:
  %r.1 = phi 32 [slow: %w.1, fast: 3]
  return %r.1
}
"""
    loops, least, most = report(text)
    assert (loops, least, most) == ([], 3, 5)


def test_a_jump_into_a_loop_is_not_bounded() -> None:
    text = """
module top=f
function f(%n 32) 32 {
entry:
  %c.1 = ne 1 %n, 0
  branch %c.1, one, two
one:
  %x.1 = phi 32 [entry: %n, two: %z.1]
  %y.1 = add 32 %x.1, 1
  jump two
two:
  %q.1 = phi 32 [entry: 7, one: %y.1]
  %z.1 = xor 32 %q.1, 5
  %d.1 = ne 1 %z.1, 9
  branch %d.1, one, done
done:
  return %z.1
}
"""
    assert report(text)[2] is None
