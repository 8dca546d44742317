"""hls::stream: ports of the top, queues inside, natively and through the engine."""

from __future__ import annotations

from collections import deque

import pytest
from native_differential import lowered

from rtlagent.config import ToolConfig, resource_dir
from rtlagent.errors import CSourceError
from rtlagent.hls import HlsOptions, compile_c
from rtlagent.hls.honoured import note_queues
from rtlagent.hls.interpret import interpret
from rtlagent.tools.clang import emit_llvm
from rtlagent.tools.cosim import cosimulate
from rtlagent.tools.csim import record_calls
from rtlagent.types import SourceFile, Status

PIPELINE = """\
#include <hls_stream.h>
struct pixel { unsigned char r, g, b; };
static void scale(hls::stream<int> &in, hls::stream<int> &middle, int n) {
  for (int i = 0; i < n; i++) middle.write(in.read() * 3);
}
static void pack(hls::stream<int> &middle, hls::stream<pixel> &out, int n) {
  for (int i = 0; i < n; i++) {
    int x = middle.read();
    pixel p = {(unsigned char)x, (unsigned char)(x >> 8), 7};
    out << p;
  }
}
int top(hls::stream<int> &in, hls::stream<pixel> &out, int n) {
  static hls::stream<int> middle("middle");
#pragma HLS stream variable=middle depth=16
#pragma HLS interface ap_fifo port=in
  hls::stream<int> left;
  scale(in, middle, n);
  pack(middle, out, n);
  for (int i = 0; i < n; i++) left << i * i;
  int s = 0, item;
  while (!left.empty()) { left >> item; s += item; }
  return s + (int)middle.size() + left.full();
}
"""

MAIN = """\
int main() {
  hls::stream<int> in;
  hls::stream<pixel> out;
  int wrong = 0;
  for (int n = 0; n < 9; n++) {
    for (int i = 0; i < n; i++) in.write(i * 1000 + n);
    top(in, out, n);
    for (int i = 0; i < n; i++) wrong += out.read().r != (unsigned char)((i * 1000 + n) * 3);
  }
  return wrong;
}
"""


def test_ports_and_queues() -> None:
    found = lowered(PIPELINE, "top", language="c++")
    assert [(s.name, s.width, s.kind) for s in found.module.streams] == [("in", 32, "input"), ("out", 24, "output")]
    streams = {"in": deque([5, 100, 0xFFFFFFFF]), "out": deque()}
    assert interpret(found.module, {"n": 3}, {}, streams=streams) == 0 + 1 + 4
    assert not streams["in"]
    assert list(streams["out"]) == [7 << 16 | x & 0xFFFF for x in (15, 300, -3)]
    note_queues(found.module, found.remarks)
    told = [d.message for d in found.remarks.diagnostics]
    assert told == [
        "the stream middle has room for 1024 items: its parts run one after the other",
        "the stream left has room for 1024 items: its parts run one after the other",
    ]


def test_wide_items_travel_whole() -> None:
    text = """
    #include <hls_stream.h>
    struct row { int v[5]; short w; };
    int top(hls::stream<row> &in, hls::stream<row> &out) {
      hls::stream<row, 4> queue;
      row x = in.read();
      x.v[1] += x.v[4];
      queue.write(x);
      row y = queue.read();
      y.w ^= 1;
      out.write(y);
      return y.v[1] - y.w;
    }
    """
    found = lowered(text, "top", language="c++")
    item = int.from_bytes(b"".join(n.to_bytes(4, "little") for n in (1, 2, 3, 4, 5, 6)), "little")
    streams: dict[str, deque[int]] = {"in": deque([item]), "out": deque()}
    assert interpret(found.module, {}, {}, streams=streams) == 0
    want = b"".join(n.to_bytes(4, "little") for n in (1, 7, 3, 4, 5, 7))
    assert streams["out"].popleft().to_bytes(24, "little")[:22] == want[:22]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return in.empty();", "empty() of a stream that is a port"),
        ("int x; return in.read_nb(x);", "empty() of a stream that is a port"),
        ("in.write(1); return in.read();", "the stream in is both read and written"),
        ("return (in.read() & 1 ? in : other).read();", "which stream this is only shows at run time"),
    ],
)
def test_refused(body: str, message: str) -> None:
    text = f"#include <hls_stream.h>\nint top(hls::stream<int> &in, hls::stream<int> &other) {{\n  {body}\n}}\n"
    with pytest.raises(CSourceError) as caught:
        lowered(text, "top", language="c++")
    assert message in caught.value.message
    assert caught.value.where.startswith("k.cpp:3:")


@pytest.mark.slow
def test_hardware_agrees_with_the_native_program() -> None:
    source = SourceFile("top.cpp", PIPELINE + MAIN)

    def clang(code: str, language: str, arguments: tuple[str, ...]) -> str:
        return emit_llvm(code, language, arguments, path=source.path, config=ToolConfig())

    result = compile_c(source, HlsOptions(top="top"), clang)
    record = record_calls(
        source,
        top="top",
        arguments=result.interface.arguments,
        result_width=result.interface.result_width,
        result_signed=result.interface.result_signed,
        config=ToolConfig(),
        language="c++",
        include_dirs=(resource_dir("sim") / "hls",),
    )
    assert record.status is Status.PASS, record.problem
    assert len(record.calls) == 9
    step = cosimulate([result.design], result.interface, record, config=ToolConfig())
    assert step.status is Status.PASS, step.detail
