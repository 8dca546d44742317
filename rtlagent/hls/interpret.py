"""Execute the IR: the reference for what every pass, the scheduler and the emitter must keep.

A module is translated once into Python source, one function each, and run many times. Values that the program must not
depend on (uninitialised elements, loads that are guarded off) are 0xAAAA..., so that a wrong use shows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from .interpret_source import module_source, pattern
from .ir import Function, Memory, MemoryKind, Module

MAX_STEPS = 50_000_000


class InterpretError(RuntimeError):
    """The program does something that the IR gives no meaning to."""


class OutOfRangeError(InterpretError):
    """An executed access has a subscript that is not below its dimension."""


class OutOfStepsError(InterpretError):
    """More operations than allowed were executed."""


class EmptyStreamError(InterpretError):
    """A stream was read that nobody will fill."""


@dataclass
class State:
    """What outlives a call: the contents of the memories and streams, by name."""

    memories: dict[str, list[int]] = field(default_factory=dict)
    streams: dict[str, deque[int]] = field(default_factory=dict)


def interpret(
    module: Module,
    scalars: Mapping[str, int],
    memories: Mapping[str, list[int]],
    *,
    streams: Mapping[str, deque[int]] | None = None,
    state: State | None = None,
    max_steps: int = MAX_STEPS,
    lenient: bool = False,
) -> int | None:
    """Call the top function once; return its result, unsigned.

    Args:
        module: What to run.
        scalars: The parameters by name, signed or unsigned.
        memories: Contents of the PARAM memories by name, row-major; changed in place.
        streams: Contents of the streams by name; changed in place. Those left out begin empty.
        state: STATIC memories and local streams, kept between calls; None: power-up.
        max_steps: How many operations may be executed.
        lenient: Drop stores that are out of range and let such loads give the pattern, instead of an error.

    Raises:
        OutOfRangeError: A subscript is out of range.
        OutOfStepsError: `max_steps` operations were not enough.
        EmptyStreamError: An empty stream was read.
    """
    return Interpreter(module, lenient=lenient).call(
        scalars, memories, streams=streams, state=state, max_steps=max_steps
    )


def run_function(
    module: Module, function: Function, scalars: Mapping[str, int], memories: Mapping[str, list[int]]
) -> int | None:
    """Call any function of the module once from power-up; as `interpret`."""
    return Interpreter(module).call(scalars, memories, function=function)


class Interpreter:
    """A module made ready for many calls; later changes of the module are not seen."""

    def __init__(self, module: Module, *, lenient: bool = False) -> None:
        self._module = module
        self._source = module_source(module, lenient=lenient)
        space: dict[str, Any] = {
            "_range": _out_of_range,
            "_steps": _out_of_steps,
            "_empty": _empty_stream,
            "_sdiv": signed_quotient,
            "_srem": signed_remainder,
        }
        # The source is made of numbers and generated names only; no text of the user's gets into it.
        exec(compile(self._source, "<ir>", "exec"), space)
        self._make: Callable[..., dict[str, Callable[..., int | None]]] = space["make"]

    def call(
        self,
        scalars: Mapping[str, int],
        memories: Mapping[str, list[int]],
        *,
        function: Function | None = None,
        streams: Mapping[str, deque[int]] | None = None,
        state: State | None = None,
        max_steps: int = MAX_STEPS,
    ) -> int | None:
        """Call a function (by default the top); see `interpret`."""
        function = function or self._module.top
        state = state if state is not None else State()
        budget = [max_steps]
        lists = [_contents(m, memories, state) for m in self._module.memories]
        queues = [
            streams[s.name] if streams and s.name in streams else state.streams.setdefault(s.name, deque())
            for s in self._module.streams
        ]
        functions = self._make(budget, lists, queues)
        missing = [p.name for p in function.params if p.name not in scalars]
        if missing:
            raise KeyError(f"no value for {', '.join(missing)}")
        args = [scalars[p.name] & ((1 << p.width) - 1) for p in function.params]
        return functions[function.name](*args)


def _contents(memory: Memory, given: Mapping[str, list[int]], state: State) -> list[int]:
    if memory.kind is MemoryKind.PARAM:
        if memory.name not in given:
            raise KeyError(f"no contents for memory {memory.name}")
        values = given[memory.name]
        if len(values) != memory.depth:
            raise ValueError(f"memory {memory.name} has {memory.depth} elements, given {len(values)}")
        top = (1 << memory.width) - 1
        if values and (min(values) < 0 or max(values) > top):
            values[:] = [v & top for v in values]
        return values
    if memory.kind is MemoryKind.STATIC:
        if memory.name not in state.memories:
            state.memories[memory.name] = _power_up(memory)
        return state.memories[memory.name]
    return _power_up(memory)


def _power_up(memory: Memory) -> list[int]:
    if memory.init is not None:
        return list(memory.init)
    return [pattern(memory.width)] * memory.depth


def signed_quotient(a: int, b: int, width: int) -> int:
    """Return SDIV of two bit patterns of `width` bits."""
    sign, mask = 1 << (width - 1), (1 << width) - 1
    x, y = (a ^ sign) - sign, (b ^ sign) - sign
    if y == 0:
        return mask if x >= 0 else 1
    quotient = abs(x) // abs(y)
    return (quotient if (x < 0) == (y < 0) else -quotient) & mask


def signed_remainder(a: int, b: int, width: int) -> int:
    """Return SREM of two bit patterns of `width` bits."""
    sign, mask = 1 << (width - 1), (1 << width) - 1
    x, y = (a ^ sign) - sign, (b ^ sign) - sign
    if y == 0:
        return a
    remainder = abs(x) % abs(y)
    return (-remainder if x < 0 else remainder) & mask


def _out_of_range(what: str, subscripts: Iterable[int]) -> NoReturn:
    raise OutOfRangeError(f"{what} with subscripts {', '.join(map(str, subscripts))}")


def _out_of_steps(where: str) -> NoReturn:
    raise OutOfStepsError(f"too many steps, in {where}")


def _empty_stream(name: str) -> NoReturn:
    raise EmptyStreamError(f"stream {name} is empty")
