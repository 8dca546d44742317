"""Run a program before and after a pass on the same random inputs, and compare all that its caller can see."""

import itertools
import random
from collections import deque
from collections.abc import Iterator, Mapping

from rtlagent.hls.check import check
from rtlagent.hls.interpret import Interpreter, InterpretError, OutOfRangeError, OutOfStepsError, State
from rtlagent.hls.ir import Memory, MemoryKind, Module
from rtlagent.hls.text import dump, parse

Bytes = dict[tuple[str, int, int], int]
"""(argument, byte offset, bit offset) -> element."""


def assert_same(
    before: Module | str,
    after: Module,
    runs: int = 30,
    *,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    calls: int = 2,
    seed: int = 0,
    max_steps: int = 200_000,
) -> int:
    """Assert that `after` does what `before` does; return the number of runs in which `before` was defined.

    Args:
        before: The module or its text.
        after: The module that a pass changed; it is checked too.
        runs: How many random inputs are tried; each from power-up.
        ranges: Parameter or memory name -> least and greatest value (signed); others take any value.
        calls: How many calls in a row each run makes, with the static state kept.
        seed: Of the random inputs.
        max_steps: Of `before`; `after` gets 20 times as many.
    """
    old = parse(before) if isinstance(before, str) else before
    check(after)
    first, second = Interpreter(old), Interpreter(after)
    rng = random.Random(seed)
    ran = 0
    for _ in range(runs):
        states = State(), State()
        for _ in range(calls):
            scalars = {p.name: _number(rng, p.width, (ranges or {}).get(p.name)) for p in old.top.params}
            contents = _contents(rng, old, ranges or {})
            streams = {s.name: deque(_number(rng, s.width, None) for _ in range(64)) for s in old.streams}
            others = {name: deque(items) for name, items in streams.items()}
            given = _moved(old, contents, after)
            try:
                expected = first.call(scalars, contents, streams=streams, state=states[0], max_steps=max_steps)
            except (OutOfRangeError, OutOfStepsError):
                break
            try:
                got = second.call(scalars, given, streams=others, state=states[1], max_steps=20 * max_steps)
            except InterpretError as error:
                raise AssertionError(f"{scalars}: {error}\n{dump(old)}\n---- after\n{dump(after)}") from error
            seen = expected, dict(_elements(old, contents)), streams
            now = got, dict(_elements(after, given)), others
            difference = [(k, v, now[1].get(k)) for k, v in seen[1].items() if now[1].get(k) != v]
            assert seen == now, (
                f"{scalars}: expected {expected}, got {got}; {difference[:5]}\n{dump(old)}\n---- after\n{dump(after)}"
            )
            ran += 1
    assert ran, "the program before the pass was never defined"
    return ran


def _number(rng: random.Random, width: int, bounds: tuple[int, int] | None) -> int:
    """Return a value with a liking for corners, as a bit pattern."""
    mask = (1 << width) - 1
    if bounds is not None:
        return rng.randint(*bounds) & mask
    corners = (0, 1, mask, mask >> 1, (mask >> 1) + 1, rng.randrange(16), -rng.randrange(16), 1 << rng.randrange(width))
    return (rng.choice(corners) if rng.random() < 0.4 else rng.getrandbits(width)) & mask


def _contents(rng: random.Random, module: Module, ranges: Mapping[str, tuple[int, int]]) -> dict[str, list[int]]:
    return {
        m.name: [_number(rng, m.width, ranges.get(m.name)) for _ in range(m.depth)]
        for m in module.memories
        if m.kind is MemoryKind.PARAM
    }


def _places(memory: Memory) -> Iterator[tuple[str, int, int]]:
    """Yield where each element lies in the C object."""
    shape = memory.shape or memory.dims
    strides = memory.byte_strides
    if not strides:
        size = (memory.width + 7) // 8
        strides = tuple(size * Memory("", 1, shape[n + 1 :], memory.kind).depth for n in range(len(shape)))
    for subscripts in itertools.product(*(range(d) for d in shape)):
        offset = memory.byte_offset + sum(s * i for s, i in zip(strides, subscripts, strict=True))
        yield memory.argument or memory.name, offset, memory.field_bit_offset


def _elements(module: Module, contents: Mapping[str, list[int]]) -> Bytes:
    result: Bytes = {}
    for memory in module.memories:
        if memory.kind is MemoryKind.PARAM:
            result.update(zip(_places(memory), contents[memory.name], strict=True))
    return result


def _moved(old: Module, contents: Mapping[str, list[int]], new: Module) -> dict[str, list[int]]:
    """Return the same contents for the memories of another module, which may be split otherwise."""
    elements = _elements(old, contents)
    return {m.name: [elements[place] for place in _places(m)] for m in new.memories if m.kind is MemoryKind.PARAM}
