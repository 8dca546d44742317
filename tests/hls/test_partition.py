import random

import pytest
from ir_differential import assert_same

from rtlagent.hls.ir import Module, Opcode
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import parse
from rtlagent.hls.transform import partition


def partitioned(text: str, ranges: dict[str, tuple[int, int]] | None = None, remarks: Remarks | None = None) -> Module:
    module = parse(text)
    partition.run(module, HlsOptions(top="f"), remarks or Remarks())
    assert_same(text, module, ranges=ranges)
    return module


def accesses(module: Module) -> list[str]:
    return [
        f"{op.opcode.value} {op.memory.name}{' if' if op.predicate is not None else ''}"
        for block in module.top.blocks
        for op in block.ops
        if op.memory is not None
    ]


UNROLLED = """\
module top=f
memory a 16 [{size}] param partitions=[[0,"{kind}",{factor}]]
function f(%n 16) 16 {{
entry:
  jump loop
loop:
  %i = phi 16 [entry: 0, loop: %i2]
  %s = phi 16 [entry: %n, loop: %s2]
  %j = add 16 %i, 1
  %k = sext 32 %j
  %u = load 16 a[%i]
  %v = load 16 a[%k]
  %s1 = add 16 %u, %s
  %s2 = add 16 %s1, %v
  store a[%i] = %s2
  %i2 = add 16 %i, 2
  %c = ult 1 %i2, {bound}
  branch %c, loop, done
done:
  return %s2
}}
"""


@pytest.mark.parametrize("size", [16, 15])
def test_known_banks_of_an_unrolled_loop(size: int) -> None:
    module = partitioned(UNROLLED.format(size=size, kind="cyclic", factor=2, bound=14))
    assert [(m.name, m.dims) for m in module.memories] == [("a_0", (8,)), ("a_1", (size // 2,))]
    assert accesses(module) == ["load a_0", "load a_1", "store a_0"]


def test_unknown_banks_are_accessed_under_predicates() -> None:
    module = partitioned(UNROLLED.format(size=15, kind="cyclic", factor=3, bound=14))
    assert accesses(module).count("load a_2 if") == 2
    module = partitioned(UNROLLED.format(size=15, kind="block", factor=4, bound=14))
    assert [m.dims for m in module.memories] == [(4,), (4,), (4,), (3,)]


def test_a_block_that_is_known_by_range() -> None:
    module = partitioned(UNROLLED.format(size=32, kind="block", factor=2, bound=14))
    assert accesses(module) == ["load a_0", "load a_0", "store a_0"]


NEST = """\
module top=f
memory m 8 [4][6] {kind} init={init} partitions={partitions}
memory o 8 [4] param
function f(%x 2, %y 3, %z 8) 8 {{
entry:
  %u = load 8 m[%x][%y]
  %v = load 8 m[2][%y]
  store m[%x][4] = %z
  %w = load 8 m[%x][%y] if %c
  store o[%x] = %u if %c
  %r = add 8 %u, %v
  return %r
}}
"""


@pytest.mark.parametrize("kind", ["static", "param"])
@pytest.mark.parametrize(
    "partitions",
    [
        [[0, "complete", 0]],
        [[1, "complete", 0]],
        [[-1, "complete", 0]],
        [[1, "cyclic", 4]],
        [[1, "block", 2], [0, "cyclic", 2]],
        [[0, "block", 3], [1, "complete", 0]],
    ],
)
def test_two_dimensions(kind: str, partitions: list[list[object]]) -> None:
    init = str(list(range(24))).replace(" ", "") if kind == "static" else "null"
    text = NEST.format(kind=kind, init=init, partitions=str(partitions).replace("'", '"').replace(" ", ""))
    text = text.replace("  %u = ", "  %c = ult 1 %z, 100\n  %u = ").replace(" init=null", "")
    module = partitioned(text, {"y": (0, 5)})
    assert len(module.memories) > 2


LOCAL = """\
module top=f
memory t 8 [4] local partitions=[[0,"complete",0]]
function f(%x 8) 8 {
entry:
  store t[0] = %x
  store t[3] = 5
  %a = load 8 t[0]
  %b = load 8 t[3]
  %r = add 8 %a, %b
  return %r
}
"""


def test_a_complete_partition_without_computed_subscripts_makes_single_elements() -> None:
    module = partitioned(LOCAL)
    assert [(m.name, m.dims, m.storage) for m in module.memories] == [(f"t_{n}", (), "register") for n in range(4)]


def test_a_complete_partition_with_a_computed_subscript_makes_registers() -> None:
    module = partitioned(LOCAL.replace("load 8 t[3]", "load 8 t[%k]").replace("entry:", "entry:\n  %k = and 8 %x, 0"))
    assert [(m.name, m.dims, m.storage) for m in module.memories] == [("t", (4,), "register")]


def test_what_cannot_be_partitioned_is_named() -> None:
    remarks = Remarks()
    module = partitioned(LOCAL.replace('[0,"complete",0]', '[1,"cyclic",2]'), remarks=remarks)
    assert len(module.memories) == 1
    assert "1 dimension" in remarks.diagnostics[0].message


@pytest.mark.parametrize("seed", range(20))
def test_random_subscripts(seed: int) -> None:
    rng = random.Random(seed)
    kind, factor = rng.choice(["cyclic", "block"]), rng.randint(2, 6)
    lines = []
    values = ["%i", "%k"]
    for n in range(8):
        a, c = rng.choice(values), rng.randint(0, 9)
        code = rng.choice(["add", "mul", "sub", "shl", "and", "or"])
        width = rng.choice([8, 16])
        if code == "shl":
            lines.append(f"%p{n} = shl 16 {a}, {rng.randint(0, 3)}:8")
        else:
            lines.append(f"%p{n} = {code} 16 {a}, {c}")
        values.append(f"%p{n}")
        lines.append(f"%q{n} = urem 16 %p{n}, 20")
        place = rng.choice([f"%q{n}", f"%q{n}", "%i"]) if width == 8 else f"{rng.randint(0, 19)}"
        if rng.random() < 0.5:
            lines.append(f"%v{n} = load 16 a[{place}]")
            values.append(f"%v{n}")
        else:
            lines.append(f"store a[{place}] = {rng.choice(values)}")
    text = f"""\
module top=f
memory a 16 [20] param partitions=[[0,"{kind}",{factor}]]
function f(%k 16, %n 16) {{
entry:
  jump loop
loop:
  %i = phi 16 [entry: {rng.randint(0, 3)}, loop: %i2]
  {chr(10).join("  " + line for line in lines).strip()}
  %i2 = add 16 %i, {rng.randint(1, 4)}
  %c = ult 1 %i2, {rng.choice(["16", "%n"])}
  branch %c, loop, done
done:
  return
}}
"""
    module = partitioned(text, {"n": (0, 18)})
    assert all(op.opcode is not Opcode.CALL for b in module.top.blocks for op in b.ops)
