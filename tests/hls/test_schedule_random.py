import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_interpreter import PlanRun
from random_ir import random_module
from random_loops import random_loop

from rtlagent.hls.check import check
from rtlagent.hls.interpret import InterpretError, interpret
from rtlagent.hls.ir import MemoryKind, Module
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.schedule import schedule
from rtlagent.hls.schedule.verify import check_plan
from rtlagent.hls.text import dump, parse
from rtlagent.hls.transform import run_all

TARGETS = ("generic", "ecp5", "ice40", "xc7")


def options_of(rng: random.Random) -> HlsOptions:
    return HlsOptions("f", target=rng.choice(TARGETS), clock_ns=rng.choice((4.0, 7.0, 10.0, 20.0, 60.0)))


def assert_plan_executes(module: Module, reference: Module, options: HlsOptions, rng: random.Random) -> bool:
    """Schedule, check and execute; tell whether the program is defined for the inputs that were tried."""
    plans = schedule(module, options, Remarks())
    check(module)
    check_plan(module, plans, options)
    scalars = {p.name: rng.choice((0, 1, 3, rng.getrandbits(p.width))) for p in module.top.params}
    memories = {
        m.name: [rng.getrandbits(m.width) for _ in range(m.depth)]
        for m in reference.memories
        if m.kind is MemoryKind.PARAM
    }
    mine = {name: list(values) for name, values in memories.items()}
    try:
        expected = interpret(reference, scalars, memories, max_steps=100_000)
    except InterpretError:
        return False
    assert PlanRun(module, plans).call(scalars, mine) == expected
    assert mine == memories
    return True


@given(st.integers(0, 1 << 40))
@settings(max_examples=150, deadline=None)
def test_random_loops_keep_their_meaning(seed: int) -> None:
    module = random_loop(seed)
    rng = random.Random(seed)
    assert_plan_executes(module, parse(dump(module)), options_of(rng), rng)


@pytest.mark.slow
@given(st.integers(0, 1 << 40))
@settings(max_examples=3000, deadline=None)
def test_many_random_loops_keep_their_meaning(seed: int) -> None:
    module = random_loop(seed)
    rng = random.Random(seed)
    assert_plan_executes(module, parse(dump(module)), options_of(rng), rng)


@given(st.integers(0, 1 << 40))
@settings(max_examples=25, deadline=None)
def test_random_programs_keep_their_meaning(seed: int) -> None:
    reference = random_module(seed)
    module = parse(dump(reference))
    rng = random.Random(seed)
    options = options_of(rng)
    run_all(module, options, Remarks())
    narrowed = {m.name: (m.width, m.depth) for m in module.memories if m.kind is MemoryKind.PARAM}
    if narrowed == {m.name: (m.width, m.depth) for m in reference.memories if m.kind is MemoryKind.PARAM}:
        assert_plan_executes(module, reference, options, rng)


def test_random_loops_are_pipelined_and_defined() -> None:
    """The property tests would prove nothing if every loop fell back or trapped."""
    pipelined = defined = 0
    for seed in range(60):
        module = random_loop(seed)
        rng = random.Random(seed)
        reference = parse(dump(module))
        defined += assert_plan_executes(module, reference, HlsOptions("f"), rng)
        plan = schedule(parse(dump(reference)), HlsOptions("f"), Remarks())
        pipelined += any(b.ii for f in plan.values() for b in f.blocks.values())
    assert defined > 50
    assert pipelined > 20
