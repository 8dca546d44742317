"""Compare a lowered C function, interpreted, with what gcc makes of the same text."""

from __future__ import annotations

import random
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rtlagent.config import ToolConfig, load_config
from rtlagent.hls.check import check
from rtlagent.hls.frontend import lower
from rtlagent.hls.interface import Argument
from rtlagent.hls.interpret import Interpreter, State
from rtlagent.hls.ir import Memory, MemoryKind, Module
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.tools.clang import emit_llvm
from rtlagent.types import SourceFile

_ALIGN = 16
_DRIVER = """
#include <stdio.h>
#include <string.h>
int main(void) {{
    static __attribute__((aligned(16))) unsigned char image[{size}];
    unsigned count = 0;
    while (count++ < {calls} && fread(image, sizeof image, 1, stdin) == 1) {{
        {before}
        {call}
        {after}
        fwrite(image, sizeof image, 1, stdout);
    }}
    return 0;
}}
"""

_CPP_CALL = """
#include <string.h>
#include <type_traits>
#include <utility>
template <typename T> struct given { static T at(unsigned char *p) { T v; memcpy(&v, p, sizeof v); return v; } };
template <typename T> struct given<T *> { static T *at(unsigned char *p) { return (T *)p; } };
template <typename T> struct given<T &> { static T &at(unsigned char *p) { return *(T *)p; } };
template <typename R, typename... A, size_t... I>
void call(R (*f)(A...), unsigned char *const *p, unsigned char *result, std::index_sequence<I...>) {
    if constexpr (std::is_void<R>::value) f(given<A>::at(p[I])...);
    else { R r = f(given<A>::at(p[I])...); memcpy(result, &r, sizeof r); }
}
template <typename R, typename... A> void call(R (*f)(A...), unsigned char *const *p, unsigned char *result) {
    call(f, p, result, std::index_sequence_for<A...>());
}
"""


@dataclass(frozen=True)
class Lowering:
    """A lowered function and what its driver needs."""

    source: str
    top: str
    module: Module
    arguments: tuple[Argument, ...]
    remarks: Remarks


@cache
def _config() -> ToolConfig:
    return load_config().tools


def lowered(source: str, top: str = "f", *, use_pragmas: bool = True, language: str = "c") -> Lowering:
    """Lower C text and check the result."""
    remarks = Remarks()
    path = "k.c" if language == "c" else "k.cpp"

    def clang(text: str, lang: str, arguments: tuple[str, ...]) -> str:
        return emit_llvm(text, lang, arguments, path=path, config=_config())

    result = lower(SourceFile(path, source), HlsOptions(top, use_pragmas=use_pragmas), clang, remarks)
    check(result.module)
    return Lowering(source, top, result.module, result.arguments, remarks)


def places(arguments: tuple[Argument, ...]) -> tuple[dict[str, int], int]:
    """Return where each argument lies in a call's image, and the image's size without the result."""
    found, at = {}, 0
    for argument in arguments:
        found[argument.name] = at
        at += -(-argument.size_bytes // _ALIGN) * _ALIGN
    return found, at


def assert_as_gcc(
    source: str,
    top: str = "f",
    *,
    calls: int = 12,
    seed: int = 1,
    ranges: dict[str, tuple[int, int]] | None = None,
    language: str = "c",
) -> Lowering:
    """Assert that the lowered function and gcc's program agree on random calls.

    Args:
        source: C text; its own main, if any, is renamed away in the native program.
        top: The function.
        calls: How many calls are made, in order, with static state kept.
        seed: Of the inputs.
        ranges: Argument -> least and greatest value of its elements, signed.
        language: `c` or `c++`.
    """
    result = lowered(source, top, language=language)
    rng = random.Random(seed)
    where, size = places(result.arguments)
    images = [_image(result.arguments, where, size, rng, ranges or {}) for _ in range(calls)]
    native = _native(result, where, size, images, language)
    interpreter, state = Interpreter(result.module), State()
    for number, (before, after) in enumerate(zip(images, native, strict=True)):
        ours = bytearray(before)
        value = _interpreted(result, where, ours, interpreter, state)
        width = result.module.top.width
        wanted = int.from_bytes(after[size:], "little") & ((1 << width) - 1)
        assert (value or 0) == wanted, f"call {number}: {top} gives {value}, gcc {wanted}"
        for argument in result.arguments:
            if argument.is_scalar:
                continue
            at = where[argument.name]
            mine, theirs = ours[at : at + argument.size_bytes], after[at : at + argument.size_bytes]
            assert mine == theirs, f"call {number}: {argument.name} is {mine.hex()}, gcc {theirs.hex()}"
    return result


def _image(
    arguments: tuple[Argument, ...],
    where: dict[str, int],
    size: int,
    rng: random.Random,
    ranges: dict[str, tuple[int, int]],
) -> bytes:
    image = bytearray(size)
    for argument in arguments:
        at = where[argument.name]
        step = argument.size_bytes if argument.is_scalar else argument.element_bytes
        for k in range(at, at + argument.size_bytes - step + 1, step):
            mask = (1 << (8 * step)) - 1
            if argument.name in ranges:
                value = rng.randint(*ranges[argument.name])
            else:
                corner = [0, 1, 2, mask, mask >> 1, (mask >> 1) + 1, rng.randrange(16)]
                value = rng.choice(corner) if rng.random() < 0.4 else rng.getrandbits(8 * step)
            image[k : k + step] = (value & mask).to_bytes(step, "little")
    return bytes(image)


def _native(result: Lowering, where: dict[str, int], size: int, images: list[bytes], language: str) -> list[bytes]:
    before, after, handed = "", "", []
    for number, argument in enumerate(result.arguments):
        at = where[argument.name]
        if argument.is_global:
            before += f"memcpy(&{argument.name}, image + {at}, {argument.size_bytes});"
            after += f"memcpy(image + {at}, &{argument.name}, {argument.size_bytes});"
        elif language == "c++":
            handed.append(f"image + {at}")
        elif argument.is_scalar:
            before += f"{argument.c_type} a{number}; memcpy(&a{number}, image + {at}, {argument.size_bytes});"
            handed.append(f"a{number}")
        else:
            handed.append(f"(void *)(image + {at})")
    call = f"{result.top}({', '.join(handed)});"
    if language == "c++":
        given = ", ".join(handed) or "nullptr"
        call = (
            f"unsigned char *p[] = {{{given}}}; memset(image + {size}, 0, 16); call({result.top}, p, image + {size});"
        )
    elif result.module.top.width:
        call = f"__auto_type r = {call} memset(image + {size}, 0, 16); memcpy(image + {size}, &r, sizeof r);"
    driver = _DRIVER.format(size=size + 16, before=before, call=call, after=after, calls=len(images))
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "native"
        head = "#define main main_of_the_user\n" + result.source + "\n#undef main\n"
        text = head + (_CPP_CALL if language == "c++" else "") + driver
        command = [
            "gcc",
            "-x",
            language,
            *(["-std=c++17"] if language == "c++" else []),
            "-O1",
            "-fwrapv",
            "-fno-strict-aliasing",
            "-w",
            "-o",
            str(program),
            "-",
        ]
        subprocess.run(command, input=text, text=True, check=True, timeout=60)
        data = b"".join(image + bytes(16) for image in images)
        done = subprocess.run([str(program)], input=data, capture_output=True, check=True, timeout=20)
    step = size + 16
    assert len(done.stdout) == step * len(images)
    return [done.stdout[k : k + step] for k in range(0, len(done.stdout), step)]


def _interpreted(
    result: Lowering, where: dict[str, int], image: bytearray, interpreter: Interpreter, state: State
) -> int | None:
    scalars = {}
    for argument in result.arguments:
        if argument.is_scalar:
            at = where[argument.name]
            scalars[argument.name] = int.from_bytes(image[at : at + argument.size_bytes], "little")
    memories = {m.name: _elements(m, where, image) for m in result.module.memories if m.kind is MemoryKind.PARAM}
    value = interpreter.call(scalars, memories, state=state)
    for memory in result.module.memories:
        if memory.kind is MemoryKind.PARAM:
            for at, bits in zip(_offsets(memory, where), memories[memory.name], strict=True):
                _put(image, at * 8 + memory.field_bit_offset, memory.width, bits)
    return value


def _offsets(memory: Memory, where: dict[str, int]) -> list[int]:
    found = [where[memory.argument] + memory.byte_offset]
    for count, stride in zip(memory.dims, memory.byte_strides, strict=True):
        found = [at + k * stride for at in found for k in range(count)]
    return found


def _elements(memory: Memory, where: dict[str, int], image: bytearray) -> list[int]:
    whole = int.from_bytes(image, "little")
    mask = (1 << memory.width) - 1
    return [whole >> (at * 8 + memory.field_bit_offset) & mask for at in _offsets(memory, where)]


def _put(image: bytearray, bit: int, width: int, value: int) -> None:
    first, last = bit // 8, -(-(bit + width) // 8)
    whole = int.from_bytes(image[first:last], "little")
    shift = bit - first * 8
    whole = whole & ~(((1 << width) - 1) << shift) | value << shift
    image[first:last] = whole.to_bytes(last - first, "little")
