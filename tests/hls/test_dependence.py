import pytest

from rtlagent.hls.analysis.dependence import Dependences
from rtlagent.hls.analysis.loops import find_loops
from rtlagent.hls.analysis.ranges import Ranges
from rtlagent.hls.analysis.subscripts import Subscripts
from rtlagent.hls.ir import Op, Opcode
from rtlagent.hls.text import parse


def found(body: str, *, trips: int = 50, head: str = "", memories: str = "") -> set[tuple[str, str, int]]:
    """Return (source, sink, distance) of the loop with this body; accesses are named by kind and order."""
    text = f"""
module top=f
memory a 32 [64] param
memory b 32 [64] param
{memories}
function f(%n 32, %p 1) {{
entry:
  jump loop
loop: label="l" pipeline_ii=1 {head}
  %i = phi 32 [entry: 0, loop: %j]
{body}
  %j = add 32 %i, 1
  %c = slt 1 %j, {trips}
  branch %c, loop, exit
exit:
  return
}}
"""
    function = parse(text).top
    forest = find_loops(function)
    (loop,) = forest.roots
    names: dict[Op, str] = {}
    counts: dict[str, int] = {}
    for op in loop.header.ops:
        if op.opcode in (Opcode.LOAD, Opcode.STORE, Opcode.READ, Opcode.WRITE):
            counts[op.opcode] = counts.get(op.opcode, 0) + 1
            names[op] = f"{op.opcode}{counts[op.opcode]}"
    dependences = Dependences(Subscripts(Ranges(function, forest))).of_loop(loop)
    return {(names[d.source], names[d.sink], d.distance) for d in dependences}


def test_arrays_that_are_only_read_or_only_written_have_no_dependence() -> None:
    assert found("  %v = load 32 a[%i]\n  %w = load 32 a[%n]\n  store b[%i] = %v") == set()


def test_update_in_place_waits_within_the_iteration_only() -> None:
    assert found("  %v = load 32 a[%i]\n  store a[%i] = %v") == {("load1", "store1", 0)}


@pytest.mark.parametrize("back", [1, 2, 5])
def test_distance_of_a_shifted_subscript(back: int) -> None:
    body = f"  %k = sub 32 %i, {back}\n  %v = load 32 a[%k]\n  store a[%i] = %v"
    assert found(body) == {("store1", "load1", back)}


def test_reading_ahead_is_a_write_after_read() -> None:
    body = "  %k = add 32 %i, 3\n  %v = load 32 a[%k]\n  store a[%i] = %v"
    assert found(body) == {("load1", "store1", 3)}


def test_distance_beyond_the_trip_count_is_none() -> None:
    body = "  %k = sub 32 %i, 5\n  %v = load 32 a[%k]\n  store a[%i] = %v"
    assert found(body, trips=5) == set()


def test_even_and_odd_elements_never_meet() -> None:
    body = "  %d = shl 32 %i, 1\n  %e = add 32 %d, 1\n  %v = load 32 a[%e]\n  store a[%d] = %v"
    assert found(body) == set()


def test_steps_of_two_meet_every_second_shift_only() -> None:
    body = "  %d = shl 32 %i, 1\n  %e = sub 32 %d, 6\n  %v = load 32 a[%e]\n  store a[%d] = %v"
    assert found(body, trips=20) == {("store1", "load1", 3)}


def test_unknown_subscripts_meet_in_the_next_iteration() -> None:
    body = "  %k = load 32 b[%i]\n  %v = load 32 a[%k]\n  store a[%k] = %v"
    assert found(body) == {("load2", "store1", 0), ("store1", "load2", 1), ("load2", "store1", 1)}


def test_an_invariant_element_is_carried() -> None:
    body = "  %v = load 32 a[%n]\n  store a[%n] = %v"
    assert found(body) == {("load1", "store1", 0), ("store1", "load1", 1), ("load1", "store1", 1)}


def test_a_narrow_counter_that_wraps_is_not_trusted() -> None:
    memories = "memory t 32 [64] local"
    # A 4-bit phi: after 16 iterations the same element comes again.
    text = """  %m = and 32 %i, 15
  %v = load 32 t[%m]
  %w = add 32 %v, 1
  store t[%m] = %w"""
    assert ("store1", "load1", 1) in found(text, memories=memories)


def test_pragma_independent_drops_what_is_between_iterations() -> None:
    body = "  %k = load 32 b[%i]\n  %v = load 32 a[%k]\n  store a[%k] = %v"
    assert found(body, head='independent=["a"]') == {("load2", "store1", 0)}
    assert found(body, head='independent=["b"]') == found(body)


def test_pragma_independent_may_speak_of_one_direction() -> None:
    body = "  %k = load 32 b[%i]\n  %v = load 32 a[%k]\n  store a[%k] = %v"
    assert found(body, head='independent=["a:raw"]') == {("load2", "store1", 0), ("load2", "store1", 1)}
    assert found(body, head='independent=["*:war"]') == {("load2", "store1", 0), ("store1", "load2", 1)}


def test_measured_distances_hold_for_what_follows_a_store() -> None:
    body = "  %k = load 32 b[%i]\n  %v = load 32 a[%k]\n  store a[%k] = %v"
    expected = {("load2", "store1", 0), ("store1", "load2", 4), ("load2", "store1", 1)}
    assert found(body, head='distances={"a":4}') == expected


def test_guards_that_exclude_one_another_need_no_order() -> None:
    body = "  %q = xor 1 %p, 1\n  store a[%n] = %i if %p\n  store a[%n] = %n if %q"
    assert ("store1", "store2", 0) not in found(body)
    assert ("store1", "store2", 0) in found(body.replace("if %q", "if %p"))


def test_a_load_waits_for_every_store_that_may_have_happened() -> None:
    body = "  store a[%n] = %i\n  store a[%n] = %n if %p\n  %v = load 32 a[%n]"
    assert {("store1", "load1", 0), ("store2", "load1", 0)} <= found(body)


def test_stream_operations_keep_their_order() -> None:
    memories = "stream s 32 input\nstream o 32 output"
    body = "  %v = read 32 s\n  %w = read 32 s\n  write o, %v"
    deps = found(body, memories=memories)
    assert {("read1", "read2", 0), ("read2", "write1", 0), ("read2", "read1", 1)} <= deps
    assert ("write1", "read1", 1) not in deps
