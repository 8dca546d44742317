"""Hand-written modules that obey hls/interface.py, with the C functions that they implement."""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.hls.interface import Argument, ArrayPort, Interface, ScalarPort, StreamPort


@dataclass(frozen=True)
class Pair:
    """A C function and its hardware."""

    c: str
    verilog: str
    interface: Interface


def scalar(name: str, *, signed: bool = True) -> Argument:
    return Argument(name, 4, True, signed=signed, c_type="int", element_bytes=4)


def array(name: str, length: int, *, is_global: bool = False, dims: tuple[int, ...] = ()) -> Argument:
    return Argument(name, 4 * length, False, is_global, True, "int", 4, dims=dims)


def memory(name: str, depth: int, *, writes: bool, reads: bool = True, ports: int = 1) -> ArrayPort:
    return ArrayPort(name, 32, depth, reads, writes, name, tuple(range(0, 4 * depth, 4)), ports=ports, signed=True)


_HEADER = "input ap_clk, input ap_rst, input ap_start, output ap_done, output ap_idle, output ap_ready"

VECTOR_ADD = Pair(
    """int f(int n, int a[3][4], int b[3][4]) {
      for (int i = 0; i < 12; i++) if (i < n) ((int *)b)[i] += ((int *)a)[i];
      return n;
    }""",
    # The two ports of b read element i and write element i - 1 in the same cycle.
    f"""module f({_HEADER}, output [31:0] ap_return, input [31:0] n,
  output [3:0] a_address0, output a_ce0, input [31:0] a_q0,
  output [3:0] b_address0, output b_ce0, output b_we0, output [31:0] b_d0, input [31:0] b_q0,
  output [3:0] b_address1, output b_ce1, output b_we1, output [31:0] b_d1, input [31:0] b_q1);
  reg busy; reg [4:0] i; reg [31:0] kept;
  wire first = !busy && ap_start;
  wire [4:0] next = first ? 0 : i + 1;
  assign ap_idle = !busy;
  assign ap_done = busy && i == 12;
  assign ap_ready = ap_done;
  assign ap_return = ap_done ? n : kept;
  wire read = (first || busy) && next < 12;
  assign a_address0 = next[3:0], a_ce0 = read;
  assign b_address0 = next[3:0], b_ce0 = read, b_we0 = 0, b_d0 = 0;
  assign b_address1 = i[3:0], b_ce1 = busy && i < 12 && $signed({{1'b0, i}}) < $signed(n), b_we1 = b_ce1;
  assign b_d1 = a_q0 + b_q0;
  always @(posedge ap_clk) begin
    i <= next;
    if (ap_done) kept <= n;
    if (ap_rst) busy <= 0;
    else if (first) busy <= 1;
    else if (ap_done) busy <= 0;
  end
endmodule
""",
    Interface(
        "f", 32, True, (ScalarPort("n", 32, True, "n"),),
        (memory("a", 12, writes=False), memory("b", 12, writes=True, ports=2)),
        arguments=(scalar("n"), array("a", 12, dims=(3, 4)), array("b", 12, dims=(3, 4))),
    ),
)  # fmt: skip

GCD = Pair(
    "unsigned f(unsigned a, unsigned b) { while (b) { unsigned t = a % b; a = b; b = t; } return a; }",
    f"""module f({_HEADER}, output reg [31:0] ap_return, input [31:0] a, input [31:0] b);
  reg [31:0] x, y; reg busy;
  assign ap_idle = !busy, ap_done = busy && y == 0, ap_ready = ap_done;
  always @* ap_return = x;
  always @(posedge ap_clk)
    if (ap_rst) busy <= 0;
    else if (!busy) begin
      if (ap_start) begin x <= a; y <= b; busy <= 1; end
    end else if (y == 0) busy <= 0;
    else begin x <= y; y <= x % y; end
endmodule
""",
    Interface(
        "f", 32, False, (ScalarPort("a", 32, False, "a"), ScalarPort("b", 32, False, "b")),
        arguments=(scalar("a", signed=False), scalar("b", signed=False)),
    ),
)  # fmt: skip

ACCUMULATE = Pair(
    "int f(int a) { static unsigned total = 100; total += a; return total; }",
    f"""module f({_HEADER}, output [31:0] ap_return, input [31:0] a);
  reg [31:0] total; reg busy;
  initial total = 100;
  assign ap_idle = !busy, ap_done = busy, ap_ready = busy, ap_return = total;
  always @(posedge ap_clk) begin
    if (!busy && ap_start) total <= total + a;
    busy <= !ap_rst && !busy && ap_start;
  end
endmodule
""",
    Interface("f", 32, True, (ScalarPort("a", 32, True, "a"),), arguments=(scalar("a"),)),
)

POINTER = Pair(
    "void f(short a, int *sum, int *negated) { *sum = (unsigned)*sum + a; if (a > 0) *negated = -a; }",
    f"""module f({_HEADER}, input [15:0] a, input [31:0] sum_i, output [31:0] sum_o, output sum_o_ap_vld,
  output [31:0] negated_o, output negated_o_ap_vld);
  reg busy;
  assign ap_idle = !busy, ap_done = busy, ap_ready = busy;
  assign sum_o = sum_i + {{{{16{{a[15]}}}}, a}}, sum_o_ap_vld = busy;
  assign negated_o = -{{16'd0, a}}, negated_o_ap_vld = busy && !a[15] && a != 0;
  always @(posedge ap_clk) busy <= !ap_rst && !busy && ap_start;
endmodule
""",
    Interface(
        "f", 0, False, (ScalarPort("a", 16, True, "a"),),
        (
            ArrayPort("sum", 32, 1, True, True, "sum", (0,), protocol="ap_vld", signed=True),
            ArrayPort("negated", 32, 1, False, True, "negated", (0,), protocol="ap_vld", signed=True),
        ),
        arguments=(
            Argument("a", 2, True, signed=True, c_type="short", element_bytes=2), array("sum", 1), array("negated", 1)
        ),
    ),
)  # fmt: skip

# A stream as hls_stream.h has to be for the recorder: it calls rtlagent_stream, where that is linked.
STREAM_HEADER = """#include <cstddef>
#include <deque>
extern "C" void rtlagent_stream(const void *, int, const void *, std::size_t) __attribute__((weak));
struct stream {
  std::deque<int> items;
  int read() {
    int v = items.front(); items.pop_front();
    if (rtlagent_stream) rtlagent_stream(this, 0, &v, 4);
    return v;
  }
  void write(int v) { items.push_back(v); if (rtlagent_stream) rtlagent_stream(this, 1, &v, 4); }
};
"""

STREAM = Pair(
    STREAM_HEADER
    + """void f(int n, stream &in, stream &out) { for (int i = 0; i < n; i++) out.write(in.read() + i); }
    int main() {
      stream in, out;
      for (int i = 0; i < 40; i++) in.write(i * i - 50);
      f(5, in, out); f(0, in, out); f(30, in, out);
      return out.items.size() != 35;
    }""",
    f"""module f({_HEADER}, input [31:0] n, input [31:0] in_dout, input in_empty_n, output in_read,
  output [31:0] out_din, input out_full_n, output out_write);
  reg busy; reg [31:0] i;
  wire more = busy && i != n;
  assign ap_idle = !busy, ap_done = busy && i == n, ap_ready = ap_done;
  assign in_read = more && out_full_n;
  assign out_write = more && in_empty_n;
  assign out_din = in_dout + i;
  always @(posedge ap_clk) begin
    if (ap_rst || ap_done) busy <= 0;
    else if (ap_start) busy <= 1;
    if (!busy) i <= 0;
    else if (more && in_empty_n && out_full_n) i <= i + 1;
  end
endmodule
""",
    Interface(
        "f", 0, False, (ScalarPort("n", 32, True, "n"),),
        streams=(StreamPort("in", 32, True, "in"), StreamPort("out", 32, False, "out")),
        arguments=(scalar("n"), array("in", 20), array("out", 20)),
    ),
)  # fmt: skip
