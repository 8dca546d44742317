from pass_cases import transformed

from rtlagent.hls.text import dump
from rtlagent.hls.transform import dead_code

PROGRAM = """
memory out 8 [8] param
memory scratch 8 [8] local
memory state 8 [1] static init=[0]
memory unread 8 [1] static init=[0]
memory unused 8 [1] rom init=[0]
function f(%x 8) 8 {
entry:
  %unused = mul 8 %x, %x
  jump loop
loop:
  %i = phi 8 [entry: 0, loop: %j]
  %dead = phi 8 [entry: 1, loop: %dead2]
  %dead2 = add 8 %dead, 3
  %k = and 8 %i, 7
  %v = load 8 state[0]
  store state[0] = %i
  store scratch[%k] = %dead2
  store unread[0] = %v
  store out[%k] = %v
  %j = add 8 %i, 1
  %c = ult 1 %j, 20
  branch %c, loop, exit
exit:
  return %x
lost:
  %w = call 8 g(%x)
  jump exit
}
function g(%y 8) 8 {
entry:
  return %y
}
"""


def test_what_has_no_effect_goes() -> None:
    module = transformed(PROGRAM, dead_code.run)
    text = dump(module)
    assert [m.name for m in module.memories] == ["out", "state"]
    assert [b.name for b in module.top.blocks] == ["entry", "loop", "exit"]
    assert [f.name for f in module.functions] == ["f"]
    assert "dead" not in text
    assert "mul" not in text
    assert [op.opcode.value for op in module.top.blocks[1].ops] == ["and", "load", "store", "store", "add", "ult"]
