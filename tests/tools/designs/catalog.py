"""The designs of the bench's tests: interface, golden model, and wrong variants with what must be found."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rtlagent.types import Clock, Port, Reset, SourceFile

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Wrong:
    """A wrong variant: text replaced, and the failure that must be reported."""

    old: str
    new: str
    scenario: str
    cycle: int | None
    signal: str
    expected: str = ""
    got: str = ""


@dataclass(frozen=True)
class Design:
    """A correct design and its oracle."""

    name: str
    ports: tuple[Port, ...]
    clock: Clock | None
    reset: Reset | None
    golden: str = ""
    wrong: tuple[Wrong, ...] = field(default=())

    @property
    def source(self) -> SourceFile:
        return SourceFile(f"rtl/{self.name}.v", (HERE / f"{self.name}.v").read_text())

    @property
    def golden_file(self) -> SourceFile:
        return SourceFile("golden.py", (HERE / (self.golden or f"{self.name}_golden.py")).read_text())

    def broken(self, wrong: Wrong) -> SourceFile:
        assert wrong.old in self.source.text
        return SourceFile(self.source.path, self.source.text.replace(wrong.old, wrong.new))


def _ports(text: str) -> tuple[Port, ...]:
    """Read `<` for inputs and `>` for outputs: `<clk <a:8 >q:8`."""
    ports = []
    for word in text.split():
        name, _, width = word[1:].partition(":")
        ports.append(Port(name, "input" if word[0] == "<" else "output", int(width or 1)))
    return tuple(ports)


_CLK = Clock("clk")
_RST = Reset("rst")
_FIFO_PORTS = _ports("<clk <rst_n <wr_en <wr_data:8 >full <rd_en >rd_data:8 >empty")
_FIFO_RESET = Reset("rst_n", "low")

DESIGNS = {
    d.name + ("_stream" if d.golden else ""): d
    for d in (
        Design(
            "edge_detector",
            _ports("<clk <rst <a:8 >pulse:8"),
            _CLK,
            _RST,
            wrong=(
                Wrong("a & ~previous", "a ^ previous", "rise_and_fall", 4, "pulse", "0x00", "0x01"),
                Wrong("pulse    <= 8'd0;", "", "rise_and_fall", 0, "pulse", "0x00", "0xxx"),
                # Not reset after power-up: only a reset in the middle of activity shows it.
                Wrong(
                    "previous <= 8'd0", "if (&previous === 1'bx) previous <= 8'd0", "reset_in_activity", None, "pulse"
                ),
            ),
        ),
        Design(
            "fifo",
            _FIFO_PORTS,
            _CLK,
            _FIFO_RESET,
            wrong=(
                Wrong(
                    "wr_ptr == {~rd_ptr[2], rd_ptr[1:0]}", "wr_ptr - rd_ptr == 3", "fill_and_drain", 3, "full", "0", "1"
                ),
                Wrong("rd_en && !empty", "rd_en", "fill_and_drain", 11, "empty", "1", "0"),
                Wrong("wr_en && !full", "wr_en", "fill_and_drain", 5, "full", "1", "0"),
            ),
        ),
        Design(
            "fifo",
            _FIFO_PORTS,
            _CLK,
            _FIFO_RESET,
            golden="fifo_stream_golden.py",
            wrong=(
                Wrong("wr_en && !full", "wr_en", "random_items@30", None, "rd_data"),
                Wrong(
                    "rd_ptr <= rd_ptr + 3'd1;",
                    "rd_ptr <= rd_ptr + (full ? 3'd2 : 3'd1);",
                    "random_items@80",
                    None,
                    "rd_data",
                ),
                Wrong(
                    "assign empty   = wr_ptr",
                    "assign empty   = (wr_en && !full) || wr_ptr",
                    "random_items@30",
                    None,
                    "empty",
                    "0",
                    "1",
                ),
            ),
        ),
        Design(
            "mealy",
            _ports("<clk <rst <x >z"),
            _CLK,
            _RST,
            wrong=(
                Wrong("default: state <= x ? GOT1", "default: state <= x ? IDLE", "overlap", 5, "z", "1", "0"),
                Wrong("(state == GOT10) && x", "(state == GOT10)", "overlap", 10, "z", "0", "1"),
            ),
        ),
        Design(
            "alu",
            _ports("<op:2 <a:16 <b:16 >y:16 >zero"),
            None,
            None,
            wrong=(Wrong("y = a - b", "y = b - a", "corners", 26, "y", "0xffff", "0x0001"),),
        ),
        Design(
            "majority",
            _ports("<votes:5 >carried"),
            None,
            None,
            wrong=(Wrong("> 3'd2", "> 3'd2 && votes != 5'd21", "exhaustive", 21, "carried", "1", "0"),),
        ),
        Design(
            "counter",
            _ports("<clk <rst_n <en >count:4 >wrap"),
            _CLK,
            Reset("rst_n", "low", synchronous=False),
            wrong=(
                Wrong("count == 4'd9 ? 4'd0 :", "", "wrap", 10, "count", "0", "10"),
                # Synchronous where asynchronous is asked for: wrong in the very cycle of the reset.
                Wrong(" or negedge rst_n", "", "reset_at_7", 7, "count", "0", "7"),
            ),
        ),
        Design(
            "toggler",
            _ports("<clk <rst <step:4 >sum:4"),
            Clock("clk", "negedge"),
            _RST,
            wrong=(Wrong("sum + step", "sum + step + (sum == 4'd6)", "steps", 4, "sum", "5", "6"),),
        ),
        Design(
            "shifter",
            _ports("<clk <en <d >q:4"),
            _CLK,
            None,
            wrong=(Wrong("{q[2:0], d}", "{d, q[3:1]}", "shift", 4, "q", "13", "11"),),
        ),
        Design(
            "squarer",
            _ports("<clk <rst <in_valid >in_ready <in_data:8 >out_valid <out_ready >out_data:16"),
            _CLK,
            _RST,
            wrong=(
                Wrong(
                    "mid_data * mid_data",
                    "mid_data * (mid_data & 8'h7f)",
                    "corners@0",
                    7,
                    "out_data",
                    "0xfe01",
                    "0x7e81",
                ),
                Wrong("!out_valid || out_ready;", "1'b1;", "random_items@30", None, "out_valid"),
                Wrong("in_ready = mid_free", "in_ready = 1'b1", "random_items@80", None, ""),
            ),
        ),
        Design(
            "async_fifo",
            _ports("<wr_clk <wr_rst_n <wr_en <wr_data:8 >full <rd_clk <rd_rst_n <rd_en >rd_data:8 >empty"),
            Clock("wr_clk"),
            Reset("wr_rst_n", "low", synchronous=False),
            wrong=(
                Wrong("{~rd_sync1[3:2], rd_sync1[1:0]}", "~rd_sync1", "random_items@30", None, "rd_data"),
                Wrong(
                    "rd_bin <= rd_bin + 4'd1",
                    "rd_bin <= rd_bin + 4'd1 + (rd_bin == 4'd5)",
                    "random_items@0",
                    None,
                    "rd_data",
                ),
            ),
        ),
    )
}
