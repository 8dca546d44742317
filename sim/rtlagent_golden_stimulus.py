"""Stimulus of our own: constrained-random, exhaustive, idle, and resets in the middle of activity."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from random import Random

Inputs = dict[str, int]


def corners(width: int) -> list[int]:
    """Return the values at which arithmetic and comparisons usually break."""
    full = (1 << width) - 1
    alternating = int("01" * width, 2) & full
    return [0, 1, full, full - 1, 1 << (width - 1), full >> 1, alternating, alternating ^ full]


def constrained_random(
    rng: Random, widths: Mapping[str, int], cycles: int, reset: tuple[str, int] | None = None
) -> Iterator[Inputs]:
    """Yield inputs in phases; in each phase every port follows a policy of its own.

    A 1-bit port is high with one probability a phase, so that a FIFO both fills and empties; a
    wider one is uniform, at corner values, a burst of held values, or still. `reset` is a port and
    its active value, asserted once in about 150 cycles.
    """
    done = 0
    while done < cycles:
        policies = {name: _policy(rng, width) for name, width in widths.items()}
        for _ in range(min(rng.randint(6, 48), cycles - done)):
            inputs = {name: policy() for name, policy in policies.items()}
            if reset and rng.random() < 1 / 150:
                inputs[reset[0]] = reset[1]
            yield inputs
            done += 1


def _policy(rng: Random, width: int) -> Callable[[], int]:
    if width == 1:
        high = rng.choice((0.0, 0.1, 0.5, 0.5, 0.9, 1.0))
        return lambda: int(rng.random() < high)
    edge_values = corners(width)
    kind = rng.choice(("uniform", "uniform", "corner", "burst", "still", "small"))
    if kind == "uniform":
        return lambda: rng.getrandbits(width)
    if kind == "corner":
        return lambda: rng.choice(edge_values)
    if kind == "small":
        return lambda: rng.randrange(min(1 << width, 8))
    if kind == "still":
        value = rng.choice((rng.getrandbits(width), rng.choice(edge_values)))
        return lambda: value
    bursts = _bursts(rng, width)
    return lambda: next(bursts)


def _bursts(rng: Random, width: int) -> Iterator[int]:
    while True:
        value = rng.getrandbits(width)
        yield from itertools.repeat(value, rng.randint(1, 8))


def exhaustive(widths: Mapping[str, int]) -> Iterator[Inputs]:
    """Yield every combination of input values, in counting order."""
    for values in itertools.product(*(range(1 << w) for w in widths.values())):
        yield dict(zip(widths, values, strict=True))


def with_resets(
    make: Callable[[int], Iterator[Mapping[str, int]]], cycles: int, rng: Random, reset: tuple[str, int]
) -> Iterator[Mapping[str, int]]:
    """Yield the stimulus of `make`, interrupted by resets of 1 to 3 cycles.

    `make(n)` is started afresh after each reset, because a stimulus may remember what it did.
    """
    left = cycles
    while left > 0:
        run = min(left, rng.randint(5, max(6, cycles // 4)))
        source = make(run + 3)
        yield from itertools.islice(source, run)
        for step in itertools.islice(source, rng.randint(1, 3)):
            yield {**step, reset[0]: reset[1]}
            left -= 1
        left -= run


def random_item(rng: Random, widths: Mapping[str, int]) -> Inputs:
    """Return one stream item: mostly uniform values, sometimes corner values."""
    return {n: rng.choice(corners(w)) if rng.random() < 0.25 else rng.getrandbits(w) for n, w in widths.items()}
