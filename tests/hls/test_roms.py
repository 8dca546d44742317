from hypothesis import given, settings
from hypothesis import strategies as st
from pass_cases import assert_random_program_stays, body, transformed

from rtlagent.hls.ir import MemoryKind
from rtlagent.hls.transform import roms, simplify

PROGRAM = """
memory t 8 [2][2] static init=[1,2,3,4]
memory k 8 [2] local
memory w 8 [2] static init=[7,7]
memory same 8 [4] rom init=[5,5,5,5]
function f(%x 8) 8 {
entry:
  store k[0] = 7
  store k[1] = 9
  %a = load 8 t[1][0]
  store w[0] = %a
  jump next
next:
  %i = and 8 %x, 1
  %b = load 8 k[%i]
  %s = load 8 same[%i]
  %c = add 8 %b, %a
  %d = add 8 %c, %s
  return %d
}
"""


def test_memories_that_never_change_are_roms_and_known_elements_constants() -> None:
    module = transformed(PROGRAM, roms.run)
    kinds = {m.name: m.kind for m in module.memories}
    assert kinds["t"] is MemoryKind.ROM
    assert kinds["k"] is MemoryKind.ROM
    assert kinds["w"] is MemoryKind.STATIC
    assert next(m for m in module.memories if m.name == "k").init == (7, 9)
    assert body(module) == ["store w[0] = 3", "jump next"]
    assert body(module, "next")[2:4] == ["%c.3 = add 8 %b.2, 3", "%d.4 = add 8 %c.3, 5"]


def test_an_array_that_is_changed_later_stays() -> None:
    text = PROGRAM.replace("%i = and 8 %x, 1\n", "%i = and 8 %x, 1\n  store k[0] = 1\n")
    module = transformed(text, roms.run)
    assert module.memories[1].kind is MemoryKind.LOCAL


def test_an_array_that_is_read_between_its_stores_stays() -> None:
    text = PROGRAM.replace("  store k[1] = 9", "  %e = load 8 k[0]\n  store w[1] = %e\n  store k[1] = 9")
    assert transformed(text, roms.run).memories[1].kind is MemoryKind.LOCAL


def test_an_array_filled_after_a_call_that_reads_it_stays() -> None:
    text = PROGRAM.replace("  store k[1] = 9", "  call g()\n  store k[1] = 9") + (
        "function g() {\nentry:\n  %v = load 8 k[0]\n  store w[1] = %v\n  return\n}\n"
    )
    assert transformed(text, roms.run).memories[1].kind is MemoryKind.LOCAL


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9))
def test_random_programs_stay_the_same(seed: int) -> None:
    assert_random_program_stays(seed, simplify.run, roms.run)
