"""`#pragma HLS dataflow`: parts that run at the same time, against the C under both simulators."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from random_dataflow import loop_program, stream_program

from rtlagent.config import ToolConfig
from rtlagent.hls import HlsOptions, HlsResult, compile_c
from rtlagent.tools.clang import emit_llvm
from rtlagent.tools.cosim import cosimulate
from rtlagent.tools.csim import record_calls
from rtlagent.types import Severity, SourceFile, Status

PING_PONG = """\
#define N 32
static void load(const int *in, int n, int a[N]) { for (int i = 0; i < N; i++) a[i] = in[n * N + i]; }
static void work(int a[N], int b[N]) { for (int i = 0; i < N; i++) b[i] = (a[i] & 255) * 3 + (a[N - 1 - i] & 15); }
static void store(int b[N], int n, int *out) { for (int i = 0; i < N; i++) out[n * N + i] = b[i]; }
void top(const int in[256], int out[256]) {
  for (int n = 0; n < 8; n++) {
#pragma HLS dataflow
    int a[N];
    int b[N];
    load(in, n, a);
    work(a, b);
    store(b, n, out);
  }
}
"""
STREAMS = """\
#include "hls_stream.h"
#define N 64
static void load(const unsigned in[N], hls::stream<unsigned> &s) { for (int i = 0; i < N; i++) s.write(in[i]); }
static void work(hls::stream<unsigned> &s, hls::stream<unsigned> &t) {
  unsigned acc = 0;
  for (int i = 0; i < N; i++) { acc += s.read(); t.write(acc * 3); }
}
static void store(hls::stream<unsigned> &t, unsigned out[N]) { for (int i = 0; i < N; i++) out[i] = t.read(); }
void top(const unsigned in[N], unsigned out[N]) {
#pragma HLS dataflow
  hls::stream<unsigned> s;
  hls::stream<unsigned> t;
  load(in, s);
  work(s, t);
  store(t, out);
}
"""
SCALARS = """\
#define N 20
static unsigned sum(const unsigned x[N], unsigned a[N]) {
  unsigned s = 0;
  for (int i = 0; i < N; i++) { a[i] = x[i] ^ i; s += x[i]; }
  return s;
}
static unsigned scale(unsigned a[N], unsigned s, unsigned b[N]) {
  unsigned m = 0;
  for (int i = 0; i < N; i++) { b[i] = a[i] * s; if (b[i] > m) m = b[i]; }
  return m;
}
unsigned top(const unsigned x[N], unsigned k, unsigned y[N], unsigned *most) {
#pragma HLS dataflow
  unsigned a[N], b[N];
  unsigned s = sum(x, a);
  unsigned m = scale(a, s + k, b);
  for (int i = 0; i < N; i++) y[i] = b[N - 1 - i] + k;
  *most = m;
  return s + m;
}
"""
TURNS_COUNTED_BY_DATA = """\
#define N 16
static void p1(const unsigned char *x, int n, unsigned char a[N], int h[4]) {
  for (int i = 0; i < 4; i++) h[i] = 0;
  for (int i = 0; i < N; i++) { a[i] = x[n * N + i]; h[x[n * N + i] & 3]++; }
}
static void p2(unsigned char a[N], int h[4], int c[N]) {
  static int turns;
  int t = 0;
  turns++;
  for (int i = 0; i < 4; i++) t += h[i] * (i + 1);
  for (int i = 0; i < N; i++) c[i] = a[i] + t + turns;
}
static void p3(int c[N], int n, int *y) {
  int s = 0;
  for (int i = 0; i < N; i++) { if (c[i] & 1) s += c[i]; else s ^= c[i]; }
  y[n] = s;
}
void top(const unsigned char x[128], int y[8], int count) {
  L: for (int n = 0; n < (count & 7); n++) {
#pragma HLS dataflow
#pragma HLS loop_tripcount min=0 max=7
    unsigned char a[N]; int h[4]; int c[N];
#pragma HLS array_partition variable=h complete
    p1(x, n, a, h);
    p2(a, h, c);
    p3(c, n, y);
  }
}
"""
STREAM_WITH_AN_END = """\
#include "hls_stream.h"
static void some(hls::stream<int> &in, hls::stream<int> &m, int n) {
  for (int i = 0; i < n; i++) { int v = in.read(); if (v > 0) m.write(v); }
  m.write(-1);
}
static void twice(hls::stream<int> &m, hls::stream<int> &out) {
  int v = m.read();
  while (v != -1) { out.write(v * 2); v = m.read(); }
  out.write(-1);
}
void top(hls::stream<int> &in, hls::stream<int> &out, int n) {
#pragma HLS dataflow
  hls::stream<int> m;
  some(in, m, n);
  twice(m, out);
}
int main() {
  hls::stream<int> in, out;
  int bad = 0;
  for (int n = 0; n < 40; n += 3) {
    for (int i = 0; i < n; i++) in.write((i * 7919) % 13 - 5);
    top(in, out, n);
    int v;
    while ((v = out.read()) != -1) bad += v & 1;
  }
  return bad;
}
"""
WAYS_THAT_MEET = """\
#include "hls_stream.h"
#define N 24
static void fork(const unsigned in[N], hls::stream<unsigned> &a, hls::stream<unsigned> &b) {
  for (int i = 0; i < N; i++) { a.write(in[i]); b.write(in[i] >> 4); }
}
static void total(hls::stream<unsigned> &a, hls::stream<unsigned> &s) {
  unsigned t = 0;
  for (int i = 0; i < N; i++) t += a.read();
  s.write(t);
}
static void join(hls::stream<unsigned> &s, hls::stream<unsigned> &b, unsigned out[N]) {
  unsigned t = s.read();
  for (int i = 0; i < N; i++) out[i] = b.read() ^ t;
}
void top(const unsigned in[N], unsigned out[N]) {
#pragma HLS dataflow
  hls::stream<unsigned> a, b, s;
  fork(in, a, b);
  total(a, s);
  join(s, b, out);
}
"""
STATIC_STREAMS = """\
#include "hls_stream.h"
static void load(const unsigned *in, hls::stream<unsigned> &s, int size) {
  for (int i = 0; i < size; i++) s << in[i];
}
static void add(hls::stream<unsigned> &a, hls::stream<unsigned> &b, hls::stream<unsigned> &o, int size) {
  for (int i = 0; i < size; i++) o << (a.read() + b.read());
}
static void store(unsigned *out, hls::stream<unsigned> &s, int size) {
  for (int i = 0; i < size; i++) out[i] = s.read();
}
extern "C" {
void top(const unsigned in1[64], const unsigned in2[64], unsigned out[64], int size) {
  static hls::stream<unsigned> s1("one");
  static hls::stream<unsigned> s2("two");
  static hls::stream<unsigned> o("sum");
#pragma HLS dataflow
  load(in1, s1, size);
  load(in2, s2, size);
  add(s1, s2, o, size);
  store(out, o, size);
}
}
int main() {
  static unsigned a[64], b[64], c[64];
  int bad = 0;
  for (int n = 0; n <= 64; n += 16) {
    for (int i = 0; i < 64; i++) { a[i] = i * 77 + n; b[i] = i * 3; c[i] = 0; }
    top(a, b, c, n);
    for (int i = 0; i < n; i++) bad += c[i] != a[i] + b[i];
  }
  return bad;
}
"""
ARRAY_OF_STREAMS = """\
#include "hls_stream.h"
template <int N, typename T> static void deal(const T x[N], hls::stream<T> s[2]) {
  for (int i = 0; i < N; i++) { if (i & 1) s[1].write(x[i]); else s[0].write(x[i]); }
}
template <int N, typename T> static void scale(hls::stream<T> &in, hls::stream<T> &out, T k) {
  for (int i = 0; i < N / 2; i++) out.write(in.read() * k);
}
template <int N, typename T> static void merge(hls::stream<T> &a, hls::stream<T> &b, T y[N]) {
  for (int i = 0; i < N / 2; i++) { y[2 * i] = a.read(); y[2 * i + 1] = b.read(); }
}
void top(const unsigned x[16], unsigned y[16], unsigned k) {
#pragma HLS DATAFLOW
  hls::stream<unsigned> s[2], t0, t1;
#pragma HLS STREAM variable=s depth=4
  deal<16, unsigned>(x, s);
  scale<16, unsigned>(s[0], t0, k);
  scale<16, unsigned>(s[1], t1, k + 1);
  merge<16, unsigned>(t0, t1, y);
}
"""
STRUCTURES = """\
typedef struct { short re, im; } cplx;
static const short coef[4] = {3, -1, 7, 2};
static void fetch(const cplx src[64], int t, cplx buf[16]) { for (int i = 0; i < 16; i++) buf[i] = src[t * 16 + i]; }
static void filter(const cplx buf[16], cplx res[16]) {
  for (int i = 0; i < 16; i++) {
    int r = 0, m = 0;
    for (int k = 0; k < 4; k++) {
      int j = i - k < 0 ? 0 : i - k;
      r += coef[k] * buf[j].re;
      m += coef[k] * buf[j].im;
    }
    res[i].re = r >> 3;
    res[i].im = m >> 3;
  }
}
static void put(const cplx res[16], int t, cplx dst[64], int *count) {
  for (int i = 0; i < 16; i++) dst[t * 16 + i] = res[i];
  *count = t + 1;
}
void top(const cplx src[64], cplx dst[64], int *count) {
  tiles: for (int t = 0; t < 4; t++) {
#pragma HLS DATAFLOW
    cplx buf[16], res[16];
    fetch(src, t, buf);
    filter(buf, res);
    put(res, t, dst, count);
  }
}
"""
_BUS = "#pragma HLS interface s_axilite port=return\n#pragma HLS interface s_axilite port=k\n"
ON_A_BUS = PING_PONG.replace("out[256]) {\n", f"out[256], int k) {{\n{_BUS}").replace(
    "store(b, n,", "store(b, n ^ (k & 7),"
)


@dataclass(frozen=True)
class Outcome:
    result: HlsResult
    status: Status
    detail: str
    cycles: int | None

    @property
    def warnings(self) -> list[str]:
        return [d.message for d in self.result.diagnostics if d.severity is Severity.WARNING]

    @property
    def told(self) -> str:
        return next((d.message for d in self.result.diagnostics if d.code == "DATAFLOW"), "")


def run(text: str, config: ToolConfig, target: str = "ecp5", *, dataflow: bool = True) -> Outcome:
    language = "c++" if "hls_stream" in text else "c"
    source = SourceFile("k.cpp" if language == "c++" else "k.c", text)

    def clang(code: str, lang: str, arguments: tuple[str, ...]) -> str:
        return emit_llvm(code, lang, arguments, path=source.path, config=config)

    result = compile_c(source, HlsOptions(top="top", target=target, dataflow=dataflow), clang)
    interface = result.interface
    record = record_calls(
        source,
        top="top",
        arguments=interface.arguments,
        result_width=interface.result_width,
        result_signed=interface.result_signed,
        config=config,
        language=language,
    )
    step = cosimulate([result.design], interface, record, simulators=("icarus", "verilator"), config=config)
    cycles = step.metrics.latency_cycles
    if cycles is not None and result.latency_max_cycles is not None:
        assert (result.latency_min_cycles or 0) <= cycles <= result.latency_max_cycles
    return Outcome(result, step.status, step.detail, cycles)


def test_iterations_of_a_loop_overlap(tool_config: ToolConfig) -> None:
    found = run(PING_PONG, tool_config)
    assert found.status is Status.PASS, found.detail
    assert "load, work, store run at the same time; between them a (two buffers), b (two buffers)" in found.told
    alone = run(PING_PONG, tool_config, dataflow=False)
    assert alone.status is Status.PASS, alone.detail
    assert found.cycles is not None and alone.cycles is not None
    assert found.cycles < 0.6 * alone.cycles
    row = next(r for r in found.result.loops if r.trip_count == 8)
    assert row.ii is not None and row.limited_by == f"the turns of work: {row.ii} cycles"


def test_streams_become_fifos(tool_config: ToolConfig) -> None:
    found = run(STREAMS, tool_config)
    assert found.status is Status.PASS, found.detail
    assert "between them s (FIFO of 2), t (FIFO of 2)" in found.told
    assert not found.warnings
    alone = run(STREAMS, tool_config, dataflow=False)
    assert found.cycles is not None and alone.cycles is not None
    assert found.cycles < 0.5 * alone.cycles


@pytest.mark.parametrize("target", ["ecp5", "xc7"])
@pytest.mark.parametrize(
    "text",
    [
        SCALARS,
        TURNS_COUNTED_BY_DATA,
        STREAM_WITH_AN_END,
        WAYS_THAT_MEET,
        STATIC_STREAMS,
        ARRAY_OF_STREAMS,
        STRUCTURES,
    ],
    ids=[
        "scalars",
        "turns counted by data",
        "stream with an end",
        "ways that meet",
        "static streams",
        "array of streams",
        "structures",
    ],
)
def test_programs_do_what_the_c_does(text: str, target: str, tool_config: ToolConfig) -> None:
    found = run(text, tool_config, target)
    assert found.status is Status.PASS, found.detail
    assert "run at the same time" in found.told


def test_a_fifo_on_a_way_that_meets_another_one_holds_everything(tool_config: ToolConfig) -> None:
    """`join` reads nothing of b before all of a has passed: with two places b would stop `fork` for ever."""
    found = run(WAYS_THAT_MEET, tool_config)
    assert "b (FIFO of 24)" in found.told


def test_control_on_a_bus(tool_config: ToolConfig) -> None:
    found = run(ON_A_BUS, tool_config)
    assert found.status is Status.PASS, found.detail
    assert "run at the same time" in found.told
    assert any(r.name == "AP_CTRL" for r in found.result.interface.registers)


def test_dumps_go_with_dataflow(tool_config: ToolConfig) -> None:
    source = SourceFile("k.cpp", STREAMS)

    def clang(code: str, lang: str, arguments: tuple[str, ...]) -> str:
        return emit_llvm(code, lang, arguments, path=source.path, config=tool_config)

    assert "function top" in compile_c(source, HlsOptions(top="top", dump_after="frontend"), clang).dump
    parts = compile_c(source, HlsOptions(top="top", dump_after="split_calls"), clang).dump
    assert "module top=top_load" in parts and "module top=top_store" in parts


REFUSALS = {
    "each part waits until the one before it is done": """
        static void f(const int *x, int a[8]) { for (int i = 0; i < 8; i++) a[i] = x[i]; }
        static void g(int a[8], int *y) { for (int i = 0; i < 8; i++) y[i] = a[i]; }
        void top(const int x[8], int y[8]) {
        #pragma HLS dataflow
          int a[8]; f(x, a); g(a, y);
        }""",
    "a is written by f and g: an array has one producer": """
        static void f(const int *x, int n, int a[8]) { for (int i = 0; i < 4; i++) a[i] = x[n]; }
        static void g(const int *z, int n, int a[8]) { for (int i = 4; i < 8; i++) a[i] = z[n]; }
        static void h(int a[8], int n, int *y) { int s = 0; for (int i = 0; i < 8; i++) s ^= a[i]; y[n] = s; }
        void top(const int x[8], const int z[8], int y[8]) {
          for (int n = 0; n < 8; n++) {
        #pragma HLS dataflow
            int a[8]; f(x, n, a); g(z, n, a); h(a, n, y);
          }
        }""",
    "a is read by g and h: an array has one consumer": """
        static void f(const int *x, int n, int a[8]) { for (int i = 0; i < 8; i++) a[i] = x[n]; }
        static void g(int a[8], int n, int *y) { int s = 0; for (int i = 0; i < 8; i++) s ^= a[i]; y[n] = s; }
        static void h(int a[8], int n, int *z) { int s = 0; for (int i = 0; i < 8; i++) s += a[i] & 1; z[n] = s; }
        void top(const int x[8], int y[8], int z[8]) {
          for (int n = 0; n < 8; n++) {
        #pragma HLS dataflow
            int a[8]; f(x, n, a); g(a, n, y); h(a, n, z);
          }
        }""",
    "a part depends on a condition": """
        static void f(const int *x, int n, int a[8]) { for (int i = 0; i < 8; i++) a[i] = x[n]; }
        static void g(int a[8], int n, int *y) { int s = 0; for (int i = 0; i < 8; i++) s ^= a[i]; y[n] = s; }
        void top(const int x[8], int y[8], int k) {
          for (int n = 0; n < 8; n++) {
        #pragma HLS dataflow
            int a[8]; f(x, n, a); if (k) g(a, n, y); else g(a, 0, y);
          }
        }""",
    "the argument y is written by f and read by g": """
        static void f(const int *x, int n, int *y) { y[n] = x[n]; }
        static void g(int *y, int n, int *z) { z[n] = y[n]; }
        void top(const int x[8], int y[8], int z[8]) {
          for (int n = 0; n < 8; n++) {
        #pragma HLS dataflow
            f(x, n, y); g(y, n, z);
          }
        }""",
    "a scalar": """
        static int f(const int *x, int n, int s) { return x[n] ^ s; }
        static void g(int s, int n, int *y) { y[n] = s; }
        void top(const int x[8], int y[8]) {
          int s = 0;
          for (int n = 0; n < 8; n++) {
        #pragma HLS dataflow
            s = f(x, n, s); g(s, n, y);
          }
        }""",
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_what_has_no_canonical_form_runs_in_order_and_says_why(reason: str, tool_config: ToolConfig) -> None:
    found = run(REFUSALS[reason], tool_config)
    assert found.status is Status.PASS, found.detail
    (warning,) = found.warnings
    assert warning.startswith("#pragma HLS dataflow is not followed for ")
    wanted = reason if reason != "a scalar" else "the scalar"
    assert wanted in warning


@pytest.mark.parametrize("seed", [2, 12, *(pytest.param(s, marks=pytest.mark.slow) for s in range(100, 130))])
@pytest.mark.parametrize("make", [loop_program, stream_program])
def test_random_programs(make: object, seed: int, tool_config: ToolConfig) -> None:
    text = make(seed)  # type: ignore[operator]
    found = run(text, tool_config, ("ecp5", "xc7", "ice40")[seed % 3])
    assert found.status is Status.PASS, f"{found.detail}\n{text}"
    assert "run at the same time" in found.told, f"{found.told}\n{text}"
