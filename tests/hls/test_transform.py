"""All passes in their order, on programs as the front end makes them."""

from pathlib import Path

import pytest
from ir_differential import assert_same
from random_ir import random_module
from random_nests import random_nest

from rtlagent.hls.analysis.cost import period_ns, port_ii, recurrence_ii
from rtlagent.hls.analysis.loops import Loop, find_loops
from rtlagent.hls.ir import Branch, Module, Op, Opcode
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import dump, parse
from rtlagent.hls.transform import PASSES, run_all

OPTIONS = HlsOptions(top="f")
NESTS = Path(__file__).parent / "nests"


def compiled(name: str, options: HlsOptions = OPTIONS, replace: dict[str, str] | None = None) -> tuple[Module, Remarks]:
    text = (NESTS / f"{name}.ir").read_text()
    for old, new in (replace or {}).items():
        assert old in text
        text = text.replace(old, new)
    module, remarks = parse(text), Remarks()
    run_all(module, options, remarks)
    assert_same(text, module, runs=6, calls=1)
    return module, remarks


def loops(module: Module) -> list[Loop]:
    return list(find_loops(module.top))


def iterations(loop: Loop) -> int | None:
    return loop.header.directives.known_trips if loop.header.directives else None


def interval(loop: Loop) -> int:
    """The least initiation interval that ports and values carried along allow."""
    block = loop.header
    end = block.terminator
    assert isinstance(end, Branch)
    carried = {phi: phi.incoming[block] for phi in block.phis}
    return max(port_ii(block.ops), recurrence_ii(block.ops, carried, end.condition, period_ns(OPTIONS)))


def accesses(loop: Loop, memory: str) -> list[Op]:
    return [op for b in loop.blocks for op in b.ops if op.memory is not None and op.memory.name == memory]


@pytest.mark.parametrize(("name", "trips"), [("matmul", 256), ("fir", 512), ("dot", 32)])
def test_a_nest_becomes_one_loop_that_uses_both_ports(name: str, trips: int) -> None:
    module, _ = compiled(name)
    (loop,) = loops(module)
    assert loop.is_single_block and loop.header.directives is not None
    assert (iterations(loop), interval(loop), loop.header.directives.pipeline_ii) == (trips, 1, 0)


def test_a_stencil_keeps_a_window() -> None:
    module, remarks = compiled("stencil")
    inner = loops(module)[0]
    assert (iterations(inner), interval(inner)) == (14, 2)
    assert len(accesses(inner, "in")) == 3 and not accesses(inner, "f")
    notes = [d.message for d in remarks.diagnostics]
    assert "k is unrolled completely: c then takes 5 cycles an iteration" in notes


def test_an_accumulated_vector_is_kept_in_registers() -> None:
    module, _ = compiled("atax")
    main = next(loop for loop in loops(module) if iterations(loop) == 16)
    assert interval(main) == 8
    assert len(accesses(main, "A")) == 16
    assert not accesses(main, "x") and not accesses(main, "y")


def test_a_histogram_needs_no_wait_for_its_last_store() -> None:
    module, _ = compiled("histogram")
    count = loops(module)[-1]
    assert interval(count) == 1
    assert count.header.directives is not None
    # From the load to the store it takes two cycles, so what the last two iterations stored is passed on.
    assert count.header.directives.distances == {"h": 3}


def test_flattened_addresses_are_known_to_be_apart() -> None:
    # The product is added to what is there: loaded for the next element while the last one is stored.
    changes = {
        "  %acc = phi 32 [bj: 0, bk: %acc2]": "  %acc = phi 32 [bj: %old, bk: %acc2]",
        "bj:\n": "bj:\n  %i64c = sext 64 %i\n  %j64c = sext 64 %j\n  %old = load 32 C[%i64c][%j64c]\n",
    }
    module, _ = compiled("matmul", replace=changes)
    (loop,) = loops(module)
    assert loop.header.directives is not None
    assert loop.header.directives.distances["C"] > 100


@pytest.mark.parametrize("name", ["matmul", "fir", "stencil", "atax", "histogram", "dot"])
def test_nothing_is_unrolled_or_pipelined_unless_wanted(name: str) -> None:
    options = HlsOptions(top="f", auto_pipeline=False, auto_unroll=False)
    module, remarks = compiled(name, options)
    assert all(not (b.directives and b.directives.pipeline_ii is not None) for b in module.top.blocks)
    assert not any(d.code == "auto-unroll" for d in remarks.diagnostics)


def test_a_pragma_on_the_outer_loop_unrolls_the_inner_ones() -> None:
    module, _ = compiled("matmul", replace={'lj:  label="j"': 'lj:  label="j" pipeline_ii=1'})
    (loop,) = loops(module)
    assert iterations(loop) == 64
    assert len(accesses(loop, "B")) == 8


def test_what_cannot_be_pipelined_is_named() -> None:
    changes = {'lj:  label="j"': 'lj:  label="j" pipeline_ii=1', "slt 1 %k, 8": "slt 1 %k, %n", "f() {": "f(%n 3) {"}
    changes["slt 1 %k, %n"] = "slt 1 %k, %n32"
    changes["entry:\n"] = "entry:\n  %n32 = zext 32 %n\n"
    _, remarks = compiled("matmul", replace=changes)
    messages = [d.message for d in remarks.diagnostics if d.severity.value == "warning"]
    assert messages == [
        "the loop cannot be unrolled completely: its trip count is not a constant",
        "the loop cannot be pipelined: k inside it is not unrolled",
    ]


def test_partitions_give_a_row_a_cycle() -> None:
    changes = {
        "memory A 32 [8][8] param": 'memory A 32 [8][8] param partitions=[[1,"complete",0]]',
        "memory B 32 [8][8] param": 'memory B 32 [8][8] param partitions=[[0,"cyclic",4]]',
        'lj:  label="j"': 'lj:  label="j" pipeline_ii=1',
    }
    module, _ = compiled("matmul", replace=changes)
    (loop,) = loops(module)
    assert (iterations(loop), interval(loop)) == (64, 1)
    assert {m.name for m in module.memories if m.name.startswith("B")} == {f"B_{n}" for n in range(4)}


def test_each_pass_is_reported_in_order() -> None:
    seen: list[str] = []
    run_all(parse((NESTS / "dot.ir").read_text()), OPTIONS, Remarks(), lambda name, _: seen.append(name))
    assert seen == [name for name, _, _ in PASSES]
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("seed", range(30))
def test_random_programs(seed: int) -> None:
    module = random_module(seed, 35)
    text = dump(module)
    run_all(module, OPTIONS, Remarks())
    assert_same(text, module, runs=6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 300))
def test_more_random_programs(seed: int) -> None:
    module = random_module(seed, 60)
    text = dump(module)
    run_all(module, OPTIONS, Remarks())
    assert_same(text, module, runs=10)


def test_a_read_modify_write_store_comes_once() -> None:
    module, _ = compiled("histogram")
    count = loops(module)[-1]
    assert sum(op.opcode is Opcode.STORE for op in accesses(count, "h")) == 1


@pytest.mark.parametrize("seed", range(40))
def test_random_nests(seed: int) -> None:
    text = random_nest(seed)
    module = parse(text)
    run_all(module, OPTIONS, Remarks())
    assert_same(text, module, runs=6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1200))
def test_more_random_nests(seed: int) -> None:
    text = random_nest(seed)
    module = parse(text)
    run_all(module, OPTIONS, Remarks())
    assert_same(text, module, runs=10)
