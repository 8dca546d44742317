"""Random programs for `#pragma HLS dataflow`: parts that hand arrays, scalars and streams to later parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

_TYPES = ("unsigned char", "unsigned short", "unsigned", "signed char")


@dataclass
class _Part:
    name: str
    parameters: list[str] = field(default_factory=list)
    """As declared."""
    arguments: list[str] = field(default_factory=list)
    arrays_in: list[str] = field(default_factory=list)
    arrays_out: list[str] = field(default_factory=list)
    scalars: list[str] = field(default_factory=list)
    returns: bool = False


def loop_program(seed: int) -> str:
    """Return a C program whose `top` runs parts in a loop with dataflow, over arrays of the body."""
    rng = Random(seed)
    size, turns = rng.choice((4, 8, 12, 16)), rng.choice((1, 2, 3, 6))
    parts = [_Part(f"part{n}") for n in range(rng.randint(2, 5))]
    declared: list[str] = []
    pragmas: list[str] = []
    for number, part in enumerate(parts[:-1]):
        for k in range(rng.randint(1, 2)):
            sink = parts[number + 1] if k == 0 else rng.choice(parts[number + 1 :])
            kind, name = rng.choice(_TYPES), f"a{number}_{k}"
            declared.append(f"    {kind} {name}[{size}];")
            if rng.random() < 0.25:
                how = rng.choice(("complete", "cyclic factor=2", "block factor=2"))
                pragmas.append(f"#pragma HLS array_partition variable={name} {how}")
            for end, names in ((part, part.arrays_out), (sink, sink.arrays_in)):
                end.parameters.append(f"{kind} {name}[{size}]")
                end.arguments.append(name)
                names.append(name)
        if rng.random() < 0.4:
            part.returns = True
            for sink in rng.sample(parts[number + 1 :], rng.randint(1, len(parts) - number - 1)):
                sink.parameters.append(f"unsigned s{number}")
                sink.arguments.append(f"s{number}")
                sink.scalars.append(f"s{number}")
    first, last = parts[0], parts[-1]
    first.parameters.append(f"const unsigned in[{size * turns}]")
    first.arguments.append("in")
    last.parameters.append(f"unsigned out[{size * turns}]")
    last.arguments.append("out")
    for part in {id(p): p for p in (first, last, rng.choice(parts))}.values():
        part.parameters.append("int n")
        part.arguments.append("n")
        part.scalars.append("n")
    texts = [_part(rng, p, size, first=p is first, last=p is last) for p in parts]
    calls = [
        f"    {f'unsigned s{n} = ' if p.returns else ''}{p.name}({', '.join(p.arguments)});"
        for n, p in enumerate(parts)
    ]
    bound = str(turns) if rng.random() < 0.6 else f"(int)(count % {turns + 1})"
    return "\n".join(
        [
            *texts,
            f"void top(const unsigned in[{size * turns}], unsigned out[{size * turns}], unsigned count) {{",
            f"  for (int n = 0; n < {bound}; n++) {{",
            "#pragma HLS dataflow",
            *declared,
            *pragmas,
            *calls,
            "  }",
            "}",
            "",
        ]
    )


def _part(rng: Random, part: _Part, size: int, *, first: bool, last: bool) -> str:
    lines = ["  unsigned acc = 1;"]
    for name in part.arrays_out if rng.random() < 0.3 else ():
        lines.append(f"  for (int i = 0; i < {size}; i++) {name}[i] = i;")
    initialised = len(lines) > 1
    lines.append(f"  for (int i = 0; i < {size}; i++) {{")
    reads = [f"{name}[{_place(rng, size)}]" for name in part.arrays_in]
    if first:
        reads.append(f"in[n * {size} + i]")
    lines.append(f"    unsigned v = {' + '.join([*reads, *(f'(unsigned){s}' for s in part.scalars)]) or 'i'};")
    lines.append(f"    {_mix(rng)}")
    for name in part.arrays_out:
        sign = "+=" if initialised and rng.random() < 0.5 else "="
        lines.append(f"    {name}[{_place(rng, size) if initialised else 'i'}] {sign} v + acc;")
    if last:
        lines.append(f"    out[n * {size} + i] = v ^ acc;")
    lines.append("  }")
    if part.returns:
        lines.append("  return acc;")
    kind = "unsigned" if part.returns else "void"
    return f"static {kind} {part.name}({', '.join(part.parameters)}) {{\n" + "\n".join(lines) + "\n}"


def _place(rng: Random, size: int) -> str:
    return rng.choice(("i", "i", f"{size - 1} - i", f"(i * 3 + 1) % {size}", f"(i + {size // 2}) % {size}"))


def _mix(rng: Random) -> str:
    return rng.choice(
        (
            "acc = acc * 5 + v;",
            "if (v & 1) acc += v; else acc ^= v << 3;",
            "acc += v / (i + 1);",
            "v = v * v + 3;",
            "acc = v;",
            "if (v > 40) { acc++; v -= 40; }",
        )
    )


def stream_program(seed: int) -> str:
    """Return a C++ program whose `top` asks for dataflow and hands items on through streams."""
    rng = Random(seed)
    count = rng.randint(1, 20)
    parts = [_Part(f"part{n}") for n in range(rng.randint(2, 5))]
    depths: list[str] = []
    streams: list[str] = []
    for number, part in enumerate(parts[:-1]):
        for k in range(rng.randint(1, 2)):
            sink = parts[number + 1] if k == 0 else rng.choice(parts[number + 1 :])
            kind, name = rng.choice(_TYPES), f"s{number}_{k}"
            streams.append(f"  hls::stream<{kind}> {name};")
            if rng.random() < 0.3:
                depths.append(f"#pragma HLS stream variable={name} depth={count + rng.randint(0, 3)}")
            for end, names in ((part, part.arrays_out), (sink, sink.arrays_in)):
                end.parameters.append(f"hls::stream<{kind}> &{name}")
                end.arguments.append(name)
                names.append(name)
    parts[0].parameters.append(f"const unsigned in[{count}]")
    parts[0].arguments.append("in")
    parts[-1].parameters.append(f"unsigned out[{count}]")
    parts[-1].arguments.append("out")
    for part in rng.sample(parts, rng.randint(0, 2)):
        part.parameters.append("unsigned k")
        part.arguments.append("k")
        part.scalars.append("k")
    texts = []
    for part in parts:
        reads = [f"(unsigned){name}.read()" for name in part.arrays_in]
        reads += ["in[i]"] if part is parts[0] else []
        lines = ["  unsigned acc = 1;", f"  for (int i = 0; i < {count}; i++) {{"]
        lines += [f"    unsigned r{n} = {read};" for n, read in enumerate(reads)]
        lines.append(f"    unsigned v = {' + '.join([*(f'r{n}' for n in range(len(reads))), *part.scalars])};")
        lines.append(f"    {_mix(rng)}")
        lines += [f"    {name}.write(v + acc);" for name in part.arrays_out]
        lines += ["    out[i] = v ^ acc;"] if part is parts[-1] else []
        lines.append("  }")
        texts.append(f"static void {part.name}({', '.join(part.parameters)}) {{\n" + "\n".join(lines) + "\n}")
    return "\n".join(
        [
            '#include "hls_stream.h"',
            *texts,
            f"void top(const unsigned in[{count}], unsigned out[{count}], unsigned k) {{",
            "#pragma HLS dataflow",
            *streams,
            *depths,
            *(f"  {p.name}({', '.join(p.arguments)});" for p in parts),
            "}",
            "",
        ]
    )
