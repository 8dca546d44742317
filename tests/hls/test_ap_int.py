"""ap_int and ap_uint against numbers of any size in Python, natively and through the engine."""

from __future__ import annotations

from rtlagent.config import ToolConfig, resource_dir
from rtlagent.hls import HlsOptions, compile_c
from rtlagent.tools.clang import emit_llvm
from rtlagent.tools.cosim import cosimulate
from rtlagent.tools.csim import record_calls
from rtlagent.types import SourceFile, Status

MIXED = """\
#include <ap_int.h>
template <int N> int sum(const int (&a)[N]) { int s = 0; for (int i = 0; i < N; i++) s += a[i]; return s; }
int top(int a[16], ap_uint<12> k, ap_int<7> m, ap_uint<20> &o) {
  ap_int<20> z = k * 3;
  ap_uint<5> q = m >> 1;
  z -= m;
  q[2] = 1;
  z(7, 4) = q.range(3, 0);
  o = (q, k);
  if (m < 0) z = -z;
  z = z / 3 + z % 5;
  z <<= 2;
  return sum<16>(*(int (*)[16])a) + (int)z + (m > q);
}
int main() {
  int a[16];
  for (int i = 0; i < 16; i++) a[i] = i;
  ap_uint<20> o;
  unsigned acc = 0;
  for (int k = 0; k < 40; k++) {
    acc = acc * 7 + top(a, k * 97, k * 3 - 60, o);
    acc ^= (unsigned)o.to_uint();
  }
  return acc == 0;
}
"""

ARITHMETIC = """\
#include <ap_int.h>
void top(int x, int y, long long out[14]) {
  ap_int<9> a = x;
  ap_uint<6> b = y;
  out[0] = (long long)(a + b);
  out[1] = (long long)(b - a);
  out[2] = (long long)(a * b);
  out[3] = b == 0 ? 0 : (long long)(a / b);
  out[4] = b == 0 ? 0 : (long long)(a % b);
  out[5] = (long long)(a & b);
  out[6] = (long long)(a | b);
  out[7] = (long long)(a ^ b);
  out[8] = (long long)(a << 3);
  out[9] = (long long)(a >> 2);
  out[10] = (long long)-a;
  out[11] = (long long)~b;
  out[12] = a < b;
  out[13] = (long long)(a + 1000);
}
int main() {
  long long out[14];
  for (int x = -300; x < 300; x += 7) top(x, x * 5 + 3, out);
  return 0;
}
"""


def signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def cpp(text: str):
    source = SourceFile("top.cpp", text)

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
    return record, cosimulate([result.design], result.interface, record, config=ToolConfig())


def test_templates_references_and_ranges_of_bits() -> None:
    record, step = cpp(MIXED)
    assert len(record.calls) == 40
    assert step.status is Status.PASS, step.detail


def test_arithmetic_is_that_of_numbers_without_bounds() -> None:
    record, step = cpp(ARITHMETIC)
    assert step.status is Status.PASS, step.detail
    for call in record.calls:
        x, y = (int.from_bytes(b, "little", signed=True) for b in call.before[:2])
        a, b = signed(x, 9), y & 63
        quotient = 0 if b == 0 else (abs(a) // b) * (1 if a >= 0 else -1)
        want = [a + b, b - a, a * b, quotient, 0 if b == 0 else a - quotient * b, a & b, a | b, a ^ b]
        want += [signed(a << 3, 9), a >> 2, -a, ~b & 63, int(a < b), a + 1000]
        got = [int.from_bytes(call.after[2][8 * i : 8 * i + 8], "little", signed=True) for i in range(14)]
        assert got == want, (a, b)
