import random
from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_ir import random_module

from rtlagent.hls.analysis.fact import Fact, anything, exactly, join, meet, of_bits, of_range, of_signed
from rtlagent.hls.analysis.facts import Facts
from rtlagent.hls.analysis.transfer import result
from rtlagent.hls.interpret import Interpreter, State
from rtlagent.hls.ir import MemoryKind, Module, Op, Opcode, Param, Phi, Stream, Value, to_signed
from rtlagent.hls.text import parse
from rtlagent.hls.transform.rules.evaluate import evaluate


def holds(fact: Fact, value: int) -> bool:
    signed = to_signed(value, fact.width)
    return (
        fact.lo <= value <= fact.hi
        and fact.slo <= signed <= fact.shi
        and not value & fact.zeros
        and value & fact.ones == fact.ones
    )


def named(module: Module, name: str) -> Fact:
    facts = Facts(module, narrows_locals=True)
    for block in module.top.blocks:
        values: list[Phi | Op] = [*block.phis, *block.ops]
        for value in values:
            if value.name == name:
                return facts.of(value)
    raise KeyError(name)


W = 5


@st.composite
def facts(draw: st.DrawFn) -> tuple[Fact, list[int]]:
    """A fact of 5 bits with all the values that it allows."""
    bounds = draw(st.tuples(*[st.integers(0, 31)] * 2))
    signed = draw(st.tuples(*[st.integers(-16, 15)] * 2))
    zeros = draw(st.integers(0, 31)) & draw(st.integers(0, 31))
    ones = draw(st.integers(0, 31)) & draw(st.integers(0, 31)) & ~zeros
    fact: Fact | None = anything(W)
    for part in (
        of_range(W, min(bounds), max(bounds)) if draw(st.booleans()) else None,
        of_signed(W, min(signed), max(signed)) if draw(st.booleans()) else None,
        of_bits(W, zeros, ones),
    ):
        if fact is not None and part is not None:
            fact = meet(fact, part)
    fact = fact or exactly(7, W)
    return fact, [v for v in range(32) if holds(fact, v)]


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(set(Opcode) - {Opcode.LOAD, Opcode.STORE, Opcode.CALL, Opcode.READ, Opcode.WRITE})),
    st.data(),
)
def test_what_follows_from_facts_holds_of_every_result(opcode: Opcode, data: st.DataObject) -> None:
    a, a_values = data.draw(facts())
    b, b_values = data.draw(facts())
    x, y = Param("x", W), Param("y", W)
    width = W
    args: list[Value] = [x, y]
    given_facts = [a, b]
    if opcode in (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC, Opcode.COPY):
        width = {Opcode.COPY: W, Opcode.TRUNC: data.draw(st.integers(1, W - 1))}.get(opcode, 8)
        args, given_facts, b_values = [x], [a], [0]
    elif opcode is Opcode.SELECT:
        args, given_facts = [Param("c", 1), x, y], [anything(1), a, b]
    elif opcode in (Opcode.EQ, Opcode.NE, Opcode.ULT, Opcode.ULE, Opcode.SLT, Opcode.SLE):
        width = 1
    fact = result(Op(opcode, width, args), given_facts)
    for v in a_values:
        for w in b_values:
            if w == 0 and opcode in (Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM):
                continue
            for values in [[1, v, w], [0, v, w]] if opcode is Opcode.SELECT else [[v, w]]:
                got = evaluate(opcode, width, values, [arg.width for arg in args]) & ((1 << width) - 1)
                assert fact is not None
                assert holds(fact, got), (opcode, a, b, values, got, fact)


@given(facts(), facts())
def test_join_covers_both_and_meet_what_they_share(
    first: tuple[Fact, list[int]], second: tuple[Fact, list[int]]
) -> None:
    both = join(first[0], second[0])
    assert both is not None
    assert all(holds(both, v) for v in first[1] + second[1])
    shared = meet(first[0], second[0])
    common = set(first[1]) & set(second[1])
    assert all(shared is not None and holds(shared, v) for v in common)


COUNTED = """
memory t 8 [64] rom init=[{init}]
function f(%n 32 signed, %b 1) 32 {{
entry:
  jump loop
loop:
  %i = phi 32 [entry: 0, loop: %j]
  %s = phi 32 [entry: 0, loop: %s2]
  %count = phi 32 [entry: 0, loop: %count2]
  %val = load 8 t[%i]
  %w = zext 32 %val
  %s2 = add 32 %s, %w
  %z = zext 32 %b
  %count2 = add 32 %count, %z
  %j = add 32 %i, 4
  %c = slt 1 %j, {bound}
  branch %c, loop, exit
exit:
  %r = add 32 %s2, %count2
  return %r
}}
"""


def counted(bound: str) -> Module:
    return parse(COUNTED.format(init=",".join(str(n % 50) for n in range(64)), bound=bound))


def test_an_induction_variable_is_bounded_by_its_exit() -> None:
    module = counted("64")
    i, j = named(module, "i"), named(module, "j")
    assert (i.lo, i.hi, i.zeros & 3) == (0, 60, 3)
    assert (j.lo, j.hi) == (4, 64)


def test_a_sum_is_bounded_by_the_trip_count() -> None:
    module = counted("64")
    assert named(module, "val").hi == 49
    assert named(module, "count").hi == 15
    assert named(module, "s").hi == 15 * 49


def test_a_counter_up_to_a_variable_is_never_negative() -> None:
    text = COUNTED.replace("%j = add 32 %i, 4", "%j = add 32 %i, 1")
    module = parse(text.format(init=",".join(["1"] * 64), bound="%n"))
    i = named(module, "i")
    assert (i.slo, i.shi) == (0, 2**31 - 2)


def test_a_counter_down_to_zero() -> None:
    module = parse(
        """
        function f(%n 32) 32 {
        entry:
          jump loop
        loop:
          %i = phi 32 [entry: 63, loop: %j]
          %j = add 32 %i, -1
          %c = slt 1 -1, %j
          branch %c, loop, exit
        exit:
          return %j
        }
        """
    )
    assert (named(module, "i").lo, named(module, "i").hi) == (0, 63)
    assert (named(module, "j").slo, named(module, "j").shi) == (-1, 62)


def test_branches_bound_what_they_compare() -> None:
    module = parse(
        """
        function f(%n 32, %m 32) 32 {
        entry:
          %c = ult 1 %n, 100
          %d = ult 1 %m, %n
          %e = and 1 %c, %d
          branch %e, both, other
        both:
          %x = add 32 %m, 1
          return %x
        other:
          %y = add 32 %m, 0
          return %y
        }
        """
    )
    assert (named(module, "x").lo, named(module, "x").hi) == (1, 99)
    assert named(module, "y").hi == 2**32 - 1


def test_a_clamp_has_the_range_of_its_limits() -> None:
    module = parse(
        """
        function f(%n 32) 32 {
        entry:
          %neg = slt 1 %n, 0
          %big = slt 1 255, %n
          %upper = select 32 %big, 255, %n
          %clamped = select 32 %neg, 0, %upper
          return %clamped
        }
        """
    )
    clamped = named(module, "clamped")
    assert (clamped.slo, clamped.shi) == (0, 255)


def test_memories_parameters_and_results_of_functions() -> None:
    module = parse(
        """
        memory s 32 [4] static init=[1,2,3,4]
        memory k 32 [4] local
        function f(%n 8, %b 2) 32 {
        entry:
          %w = zext 32 %n
          store k[%b] = %w
          %u = load 32 k[%b]
          %x = call 32 g(7)
          %val = load 32 s[%b]
          store s[%b] = 100
          %r = add 32 %x, %val
          %q = add 32 %r, %u
          return %q
        }
        function g(%y 32) 32 {
        entry:
          %z = shl 32 %y, 1
          return %z
        }
        """
    )
    assert named(module, "x").lo == named(module, "x").hi == 14
    assert (named(module, "val").lo, named(module, "val").hi) == (1, 100)
    assert (named(module, "u").lo, named(module, "u").hi) == (0, 255)


def instrumented(module: Module) -> dict[str, Value]:
    """Let every value be written to a stream of its own; return the values by stream."""
    watched: dict[str, Value] = {}
    for function in module.functions:
        for block in function.blocks:
            values: list[Op | Phi] = [*block.phis, *(op for op in block.ops if op.width)]
            for value in values:
                stream = Stream(f"w{len(watched)}", value.width)
                module.streams.append(stream)
                watched[stream.name] = value
                at = block.ops.index(value) + 1 if isinstance(value, Op) else 0
                block.ops.insert(at, Op(Opcode.WRITE, 0, [value], stream=stream))
    return watched


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9))
def test_every_value_of_a_run_is_as_the_facts_say(seed: int) -> None:
    module = random_module(seed)
    known = Facts(module)
    watched = instrumented(module)
    state = State()
    machine = Interpreter(module)
    rng = random.Random(seed)
    for _ in range(3):
        streams: dict[str, deque[int]] = {name: deque() for name in watched}
        scalars = {p.name: rng.choice((rng.getrandbits(64), rng.randrange(8))) for p in module.top.params}
        memories = {
            m.name: [rng.getrandbits(32) for _ in range(m.depth)] for m in module.memories if m.kind is MemoryKind.PARAM
        }
        machine.call(scalars, memories, streams=streams, state=state)
        for name, items in streams.items():
            fact = known.of(watched[name])
            bad = [v for v in items if not holds(fact, v)]
            assert not bad, (watched[name], fact, bad[:3])


@pytest.mark.parametrize("value", [0, 1, 5, 255])
def test_a_constant_is_itself(value: int) -> None:
    fact = exactly(value, 8)
    assert fact.is_constant
    assert fact.unsigned_bits == max(1, value.bit_length())
    assert fact.signed_bits == (1 if value in (0, 255) else value.bit_length() + 1)
