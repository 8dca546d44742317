from __future__ import annotations

import time
from pathlib import Path

import pytest

from rtlagent.config import ToolConfig
from rtlagent.errors import RtlagentError, ToolError, UsageError
from rtlagent.tools.simulate import simulate
from rtlagent.types import SourceFile, TestFile, TestKind
from rtlagent.waveform import format_value, list_signals, window

HEADER = """$date today $end
$version hand $end
$timescale 1ns $end
$scope module tb $end
$var wire 1 ! clk $end
$scope module dut $end
$var wire 1 ! clk $end
$var reg 8 # count [7:0] $end
$var reg 1 "x ready $end
$upscope $end
$upscope $end
$enddefinitions $end
"""
BODY = """#0
$dumpvars
0!
bx #
z"x
$end
#5
1!
#6
b0 #
#10
0!
0"x
#15
1!
#16
b1x1 #
#20
0!
#25
1!
b11111111 #
#30
0!
#35
1!
"""


@pytest.fixture
def vcd(tmp_path: Path) -> Path:
    path = tmp_path / "a.vcd"
    path.write_text(HEADER + BODY)
    return path


def test_signals_have_hierarchical_names_and_widths(vcd: Path) -> None:
    assert [(s.name, s.width, s.kind) for s in list_signals(vcd)] == [
        ("tb.clk", 1, "wire"),
        ("tb.dut.clk", 1, "wire"),
        ("tb.dut.count", 8, "reg"),
        ("tb.dut.ready", 1, "reg"),
    ]


def test_a_row_has_the_values_just_before_its_edge(vcd: Path) -> None:
    assert window(vcd, ["count", "dut.ready"], around_ns=24, cycles=4, clock="tb.clk") == (
        "values just before each posedge of tb.clk\n"
        "   time_ns  cycle  count[7:0]  ready\n"
        "         5     -2        0xxx      z\n"
        "        15     -1        0x00      0\n"
        ">       25      0        0x0X      0\n"
        "        35     +1        0xff      0"
    )


def test_the_other_edge_decimal_and_a_short_window(vcd: Path) -> None:
    assert window(vcd, ["count"], around_ns=30, cycles=2, clock="clk", edge="negedge", radix="dec") == (
        "values just before each negedge of clk\n"
        "   time_ns  cycle  count[7:0]\n"
        "        20     -1        0x0X\n"
        ">       30      0         255"
    )


def test_without_a_clock_each_change_is_a_row(vcd: Path) -> None:
    table = window(vcd, ["ready", "count"], around_ns=16, cycles=9, clock=None)
    assert [line.split()[-2:] for line in table.splitlines()[2:]] == [
        ["z", "0xxx"],
        ["z", "0x00"],
        ["0", "0x00"],
        ["0", "0x0X"],
        ["0", "0xff"],
    ]


def test_a_time_after_the_end_says_so(vcd: Path) -> None:
    assert window(vcd, ["count"], around_ns=900, cycles=3, clock="clk").endswith("(the dump ends at 35 ns)")


def test_wrong_names_are_the_users_fault_with_a_hint(vcd: Path) -> None:
    with pytest.raises(UsageError, match="no signal 'cuont'") as caught:
        window(vcd, ["cuont"], around_ns=5, clock="clk")
    assert caught.value.hint == "there is count"
    with pytest.raises(UsageError, match="not a window"):
        window(vcd, ["count"], around_ns=5, cycles=0, clock="clk")
    with pytest.raises(UsageError, match="count has 8 bits"):
        window(vcd, ["count"], around_ns=5, clock="count")
    with pytest.raises(ToolError, match=r"no posedge of ready \(it ends at 35 ns\)"):
        window(vcd, ["count"], around_ns=5, clock="ready")


@pytest.mark.parametrize(
    ("bits", "width", "radix", "text"),
    [
        ("1", 1, "hex", "1"),
        ("x", 8, "hex", "0xxx"),
        ("z1", 8, "hex", "0xzX"),
        ("101", 9, "hex", "0x005"),
        ("xx1", 9, "dec", "0xxxX"),
        ("101", 9, "dec", "5"),
        ("r1.5", 64, "hex", "1.5"),
        ("", 8, "hex", "-"),
        ("1" * 4096, 4096, "hex", "0x..." + "f" * 64),
    ],
)
def test_values(bits: str, width: int, radix: str, text: str) -> None:
    assert format_value(bits, width, radix) == text


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello, world\n",
        b"\0" * 5000,
        bytes(range(256)) * 100,
        HEADER.encode()[:100],
        HEADER.replace("reg 8", "reg 99999999").encode(),
        HEADER.replace("reg 8", "reg -8").encode(),
        HEADER.replace("1ns", "1 parsec").encode(),
        HEADER.encode() + b"#10\n1!\n#5\n0!\n",
        HEADER.encode() + b"#1\nb" + b"1" * (8 << 20),
        b"$scope module a $end\n" * 300 + b"$enddefinitions $end\n",
        HEADER.encode() + b"#99\n",
    ],
)
def test_hostile_files_are_refused_with_a_message(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.vcd"
    path.write_bytes(content)
    with pytest.raises(RtlagentError, match=r"bad\.vcd"):
        window(path, ["count"], around_ns=10, clock="clk")


def test_links_and_missing_files_are_refused(tmp_path: Path, vcd: Path) -> None:
    (tmp_path / "link.vcd").symlink_to(vcd)
    for name in ("link.vcd", "none.vcd"):
        with pytest.raises(ToolError, match="no waveform file"):
            list_signals(tmp_path / name)


def test_a_cut_off_dump_still_gives_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "cut.vcd"
    path.write_text((HEADER + BODY)[:-22])
    assert "the dump ends at 25 ns" in window(path, ["count"], around_ns=30, clock="clk")


def test_names_cannot_command_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "odd.vcd"
    path.write_text(HEADER.replace("ready", "re\x1b[31mady") + BODY)
    table = window(path, ["re?[31mady"], around_ns=15, clock="clk")
    assert "\x1b" not in table


def test_a_large_dump_is_read_in_seconds_and_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.vcd"
    others = "".join(f"$var wire 16 o{i} other{i} [15:0] $end\n" for i in range(20))
    with path.open("w") as out:
        out.write(HEADER.replace("$enddefinitions", f"{others}$enddefinitions"))
        for start in range(0, 50_000 * 10, 10):
            out.write(f"#{start}\n1!\nb{start // 10 % 256:b} #\n")
            out.writelines(f"b{(start * i) % 65536:b} o{i}\n" for i in range(20))
            out.write(f"#{start + 5}\n0!\n")
    assert path.stat().st_size > 20_000_000
    began = time.monotonic()
    table = window(path, ["count"], around_ns=490_000, cycles=3, clock="clk")
    assert time.monotonic() - began < 20
    assert ">   490000      0        0x67" in table


def test_windows_of_real_dumps_agree(tool_config: ToolConfig, tmp_path: Path) -> None:
    design = SourceFile(
        "rtl/count.v",
        "module count(input clk, input rst, output reg [7:0] q);\n"
        "  always @(posedge clk) if (rst) q <= 0; else q <= q + 1;\nendmodule\n",
    )
    text = """module tb;
  reg clk = 0, rst = 1; wire [7:0] q;
  always #5 clk = ~clk;
  count dut(.clk(clk), .rst(rst), .q(q));
  initial begin #22 rst = 0; #100 $display("FAIL"); $finish; end
endmodule
"""
    tables = []
    for simulator in ("icarus", "verilator"):
        step = simulate(
            [design],
            [TestFile(SourceFile("tb/tb.v", text), TestKind.SYSTEMVERILOG)],
            top="count",
            simulator=simulator,
            keep_dir=tmp_path / simulator,
            config=tool_config,
        )
        dump = tmp_path / simulator / str(step.tests[0].wave_path)
        tables.append(window(dump, ["tb.rst", "dut.q"], around_ns=45, cycles=3, clock="clk"))
    assert tables[0] == tables[1]
    assert [line.split() for line in tables[0].splitlines()[1:]] == [
        ["time_ns", "cycle", "rst", "dut.q[7:0]"],
        ["25", "-2", "0", "0x00"],
        ["35", "-1", "0", "0x01"],
        [">", "45", "0", "0", "0x02"],
    ]
