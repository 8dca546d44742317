import pytest

from rtlagent.hls.ir import Const, MemoryKind, Opcode, Partition
from rtlagent.hls.text import dump, parse
from rtlagent.hls.text_parser import TextError

PROGRAM = """\
module top=f control="ap_ctrl_none"
memory a 32 [4][8] param partitions=[[1,"cyclic",2]] argument="a" field_path=["field 1","#2"]
memory t 8 [4] rom init=[1,2,3,255]
memory p 16 [] param
stream s 32 input depth=4

function f(%n 32 signed, %c 1) 32 pipeline_ii=1 {
entry:
  jump loop
loop: label="fir" pipeline_ii=0 independent=["a","t"]
  %i.1 = phi 32 [entry: 0, loop: %i.6]
  %v.2 = load 32 a[%i.1][3] if %c
  %v.3 = load 8 t[%i.1]
  %v.4 = zext 32 %v.3
  store a[%i.1][0] = %v.4 if %c
  %v.5 = call 32 g(%v.4, 7)
  %i.6 = add 32 %i.1, 1
  %v.7 = slt 1 %i.6, -5
  %v.8 = shl 32 %v.5, 3:5
  %v.9 = eq 1 3:8, 4:8
  branch %v.7, loop, exit
exit:
  %v.10 = read 32 s
  switch %v.10 [1: entry2, 2: other], other
entry2:
  %v.11 = load 16 p
  jump other
other:
  return %v.8
}

function g(%x 32, %y 8) 32 {
entry:
  return %x
}
"""


def test_dump_of_parse_is_the_text_itself() -> None:
    assert dump(parse(PROGRAM)) == PROGRAM


def test_parse_builds_the_objects() -> None:
    module = parse(PROGRAM)
    a, t, p = module.memories
    assert a.partitions == [Partition(1, "cyclic", 2)]
    assert (t.kind, t.init, p.dims) == (MemoryKind.ROM, (1, 2, 3, 255), ())
    loop = module.top.blocks[1]
    assert loop.directives is not None
    assert loop.directives.independent == ("a", "t")
    call = next(op for op in loop.ops if op.opcode is Opcode.CALL)
    assert call.callee is module.functions[1]
    assert isinstance(call.args[1], Const)
    assert call.args[1].width == 8


def test_any_names_may_be_used_and_are_renumbered() -> None:
    text = """
    function f(%n 8) 8 {
    a:                  # the entry
      %sum = add 8 %n, 0xff @12
      return %sum
    }
    """
    assert "%sum.1 = add 8 %n, 255 @12" in dump(parse(text), places=True)


@pytest.mark.parametrize(
    "line",
    ["%x = add 8 %y, 1", "%x = frob 8 %n", "%x = eq 1 1, 2", "jump nowhere", "store m[0] = %n", "%n = add 8 %n, 1"],
)
def test_a_faulty_line_is_refused(line: str) -> None:
    with pytest.raises(TextError):
        parse(f"function f(%n 8) {{\na:\n{line}\nreturn\n}}")


def test_blocks_with_one_name_are_told_apart() -> None:
    module = parse("function f() {\na:\njump b\nb:\nreturn\n}")
    module.top.blocks[1].name = "a"
    assert "jump a.2" in dump(module)
