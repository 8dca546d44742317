from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtlagent.hls.interpret import (
    EmptyStreamError,
    Interpreter,
    OutOfRangeError,
    OutOfStepsError,
    State,
    interpret,
    run_function,
)
from rtlagent.hls.text import parse

W = 8


def run(body: str, **scalars: int) -> int | None:
    params = ", ".join(f"%{name} {W}" for name in scalars)
    return interpret(parse(f"function f({params}) {W} {{\nentry:\n{body}\n}}"), scalars, {})


def signed(value: int) -> int:
    value &= 0xFF
    return value - 256 if value & 0x80 else value


BYTES = st.integers(0, 255)


@given(BYTES, BYTES)
def test_arithmetic_is_that_of_bit_patterns(a: int, b: int) -> None:
    assert run("%r = add 8 %a, %b\nreturn %r", a=a, b=b) == (a + b) % 256
    assert run("%r = sub 8 %a, %b\nreturn %r", a=a, b=b) == (a - b) % 256
    assert run("%r = mul 8 %a, %b\nreturn %r", a=a, b=b) == a * b % 256
    assert run("%c = slt 1 %a, %b\n%r = zext 8 %c\nreturn %r", a=a, b=b) == int(signed(a) < signed(b))
    assert run("%c = ule 1 %a, %b\n%r = sext 8 %c\nreturn %r", a=a, b=b) == (255 if a <= b else 0)
    assert run("%r = shl 8 %a, %b\nreturn %r", a=a, b=b) == (a << b) % 256
    assert run("%r = ashr 8 %a, %b\nreturn %r", a=a, b=b) == (signed(a) >> min(b, 8)) % 256
    assert run("%r = lshr 8 %a, %b\nreturn %r", a=a, b=b) == a >> b


@given(BYTES, BYTES.filter(bool))
def test_division_rounds_towards_zero(a: int, b: int) -> None:
    x, y = signed(a), signed(b)
    assert run("%r = udiv 8 %a, %b\nreturn %r", a=a, b=b) == a // b
    assert run("%r = urem 8 %a, %b\nreturn %r", a=a, b=b) == a % b
    assert run("%r = sdiv 8 %a, %b\nreturn %r", a=a, b=b) == int(x / y) % 256
    assert run("%r = srem 8 %a, %b\nreturn %r", a=a, b=b) == (x - int(x / y) * y) % 256


@pytest.mark.parametrize(
    ("opcode", "a", "expected"),
    [("udiv", 7, 255), ("urem", 7, 7), ("sdiv", 7, 255), ("sdiv", 200, 1), ("srem", 200, 200)],
)
def test_division_by_zero(opcode: str, a: int, expected: int) -> None:
    assert run(f"%r = {opcode} 8 %a, 0\nreturn %r", a=a) == expected


SUM = """
memory a 16 [6] param
function f(%n 8) 16 {
entry:
  %none = eq 1 %n, 0
  branch %none, exit, loop
loop:
  %i = phi 8 [entry: 0, loop: %i2]
  %s = phi 16 [entry: 0, loop: %s2]
  %v = load 16 a[%i]
  %s2 = add 16 %s, %v
  store a[%i] = %s2
  %i2 = add 8 %i, 1
  %c = ult 1 %i2, %n
  branch %c, loop, exit
exit:
  %r = phi 16 [entry: 99, loop: %s2]
  return %r
}
"""


def test_a_loop_changes_a_memory_in_place() -> None:
    a = [1, 2, 3, 4, 5, -1]
    assert interpret(parse(SUM), {"n": 6}, {"a": a}) == 14
    assert a == [1, 3, 6, 10, 15, 14]
    assert interpret(parse(SUM), {"n": 0}, {"a": a}) == 99


def test_an_access_out_of_range_is_an_error_unless_lenient() -> None:
    with pytest.raises(OutOfRangeError, match="load a in f, loop with subscripts 6"):
        interpret(parse(SUM), {"n": 7}, {"a": [0] * 6})
    assert interpret(parse(SUM), {"n": 7}, {"a": [0] * 6}, lenient=True) == 0xAAAA


def test_endless_loops_end() -> None:
    text = "function f() {\nentry:\njump a\na:\njump b\nb:\njump a\n}"
    with pytest.raises(OutOfStepsError):
        interpret(parse(text), {}, {}, max_steps=1000)


def test_phis_of_a_block_change_at_once() -> None:
    text = """
    function f(%n 8) 8 {
    entry:
      jump loop
    loop:
      %a = phi 8 [entry: 1, loop: %b]
      %b = phi 8 [entry: 2, loop: %a]
      %i = phi 8 [entry: 0, loop: %i2]
      %i2 = add 8 %i, 1
      %c = ult 1 %i2, %n
      branch %c, loop, exit
    exit:
      return %a
    }
    """
    assert [interpret(parse(text), {"n": n}, {}) for n in (1, 2, 3)] == [1, 2, 1]


def test_guarded_accesses() -> None:
    text = """
    memory a 8 [2] param
    function f(%c 1) 8 {
    entry:
      %v = load 8 a[7] if %c
      store a[0] = 5 if %c
      return %v
    }
    """
    assert interpret(parse(text), {"c": 0}, {"a": [0, 0]}) == 0xAA
    with pytest.raises(OutOfRangeError):
        interpret(parse(text), {"c": 1}, {"a": [0, 0]})


def test_static_state_lives_and_local_state_does_not() -> None:
    text = """
    memory count 8 [1] static init=[40]
    memory scratch 8 [2] local
    function f() 8 {
    entry:
      %u = load 8 scratch[0]
      store scratch[0] = 1
      %v = load 8 count[0]
      %w = add 8 %v, 1
      store count[0] = %w
      %x = xor 8 %w, %u
      %y = call 8 g(%x)
      return %y
    }
    function g(%x 8) 8 {
    entry:
      switch %x [128: yes], no
    yes:
      return 1
    no:
      return %x
    }
    """
    state, machine = State(), Interpreter(parse(text))
    assert [machine.call({}, {}, state=state) for _ in range(3)] == [41 ^ 0xAA, 1, 43 ^ 0xAA]
    assert state.memories == {"count": [43]}


def test_any_function_can_be_called() -> None:
    module = parse(
        "function f() 8 {\nentry:\n%r = call 8 g(4)\nreturn %r\n}\n"
        "function g(%x 8) 8 {\nentry:\n%y = add 8 %x, 1\nreturn %y\n}"
    )
    assert interpret(module, {}, {}) == 5
    assert run_function(module, module.functions[1], {"x": 9}, {}) == 10


def test_streams_are_queues() -> None:
    text = """
    stream x 8 input
    stream y 8 output
    function f() {
    entry:
      %a = read 8 x
      %b = read 8 x
      %c = sub 8 %a, %b
      write y, %c
      return
    }
    """
    y: deque[int] = deque()
    interpret(parse(text), {}, {}, streams={"x": deque([9, 4]), "y": y})
    assert list(y) == [5]
    with pytest.raises(EmptyStreamError):
        interpret(parse(text), {}, {}, streams={"x": deque([9])})


def test_long_chains_and_deep_trees_of_blocks() -> None:
    blocks = [f"b{n}:\n%v{n} = add 8 {f'%v{n - 1}' if n else '%n'}, 1\njump b{n + 1}" for n in range(2000)]
    text = "function f(%n 8) 8 {\nentry:\njump b0\n" + "\n".join(blocks) + "\nb2000:\nreturn %v1999\n}"
    assert interpret(parse(text), {"n": 0}, {}) == 2000 % 256
    tests = [f"t{n}:\n%c{n} = eq 1 %n, {n}\nbranch %c{n}, r{n}, t{n + 1}\nr{n}:\nreturn {n + 1}" for n in range(150)]
    text = "function f(%n 8) 8 {\nentry:\njump t0\n" + "\n".join(tests) + "\nt150:\nreturn 0\n}"
    assert [interpret(parse(text), {"n": n}, {}) for n in (0, 77, 149, 150)] == [1, 78, 150, 0]
