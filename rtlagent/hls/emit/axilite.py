"""Registers on an AXI4-Lite bus around the core: `#pragma HLS interface s_axilite`.

    // int scale(int n): #pragma HLS interface s_axilite port=return, and port=n
    module scale_core (ap_clk, ap_rst, ap_start, ap_done, ap_idle, ap_ready, ap_return, n);

becomes the inside of

    module scale (ap_clk, ap_rst, s_axi_control_AWADDR, ..., s_axi_control_RREADY, interrupt);

whose registers (their places are those of Vitis HLS, see `register_map`) start the core, hold `n` and keep what it
returned. Ports that are on no bus go through. A write takes effect in the cycle after the later of its address and
its data was taken; its response is there with the effect. Reads and writes do not wait for each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rtlagent.hls.emit.expressions import bits, literal, vector
from rtlagent.hls.emit.names import Names
from rtlagent.hls.emit.sheet import CLOCK, RESET
from rtlagent.hls.interface import Register, ScalarPort

WORD = 32
_FIRST = 0x10
"""Offset of the first register that is not control."""
_PINS = ("ap_start", "ap_done", "ap_idle", "ap_ready", "ap_return")
_CHANNELS = """\
input AWADDR address
input AWVALID 1
output AWREADY 1
input WDATA 32
input WSTRB 4
input WVALID 1
output WREADY 1
output BRESP 2
output BVALID 1
input BREADY 1
input ARADDR address
input ARVALID 1
output ARREADY 1
output RDATA 32
output RRESP 2
output RVALID 1
input RREADY 1"""
BUS_PORTS = tuple(f"s_axi_control_{line.split()[1]}" for line in _CHANNELS.splitlines())
INTERRUPT = "interrupt"
_CONTROL_TEXT = """\
0x00 AP_CTRL: bit 0 ap_start (write 1 to start; 0 again when the call has ended), 1 ap_done (cleared by a read),
     2 ap_idle, 3 ap_ready (cleared by a read), 7 auto_restart (the next call follows at once), 9 interrupt
0x04 GIE: bit 0 enables the pin `interrupt`
0x08 IER: bit 0 lets ap_done interrupt, bit 1 ap_ready
0x0c ISR: bit 0 ap_done came, bit 1 ap_ready came (written ones toggle)"""


def register_map(scalars: Sequence[ScalarPort], result_width: int, control: bool) -> tuple[Register, ...]:
    """Lay out the registers: control, the result, then the scalars, each followed by a reserved word.

    Args:
        scalars: Those on the bus.
        result_width: 0: none.
        control: Whether control and the result are on the bus.
    """
    registers: list[Register] = []
    if control:
        for offset, (name, width) in enumerate((("AP_CTRL", 10), ("GIE", 1), ("IER", 2), ("ISR", 2))):
            registers.append(Register(name, 4 * offset, width))
    place = _FIRST
    wanted = [("ap_return", result_width, "")] if control and result_width else []
    wanted += [(s.name, s.width, s.argument) for s in scalars]
    for name, width, argument in wanted:
        registers.append(Register(name, place, width, argument))
        place += 4 * (words(width) + 1)
    return tuple(registers)


def words(width: int) -> int:
    """Return how many words a value takes."""
    return -(-width // WORD)


def address_width(registers: Sequence[Register]) -> int:
    """Return the bits of a byte address that reaches every register, and the reserved word after the last one."""
    last = registers[-1]
    return max(4, (last.offset + 4 * words(last.width) + (3 if last.offset >= _FIRST else -1)).bit_length())


@dataclass(frozen=True)
class Shell:
    """The module around a core."""

    name: str
    core: str
    ports: tuple[str, ...]
    """The core's, as declared: `input  wire [7:0] n`."""
    registers: tuple[Register, ...]
    control: bool
    """Whether control and the result are on the bus."""

    def render(self) -> str:
        """Return the module, with its register map as a comment before it."""
        return _Writer(self).run()


class _Writer:
    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.width = address_width(shell.registers)
        self.scalars = [r for r in shell.registers if r.argument]
        self.result = next((r for r in shell.registers if r.offset == _FIRST and not r.argument), None)
        on_bus = {r.name for r in self.scalars} | (set(_PINS) if shell.control else set())
        self.outer = [p for p in shell.ports if _name(p) not in on_bus]
        self.names = Names()
        for name in (*BUS_PORTS, INTERRUPT, *map(_name, shell.ports), "core"):
            self.names.fresh(name)
        self.lines: list[str] = []
        self.reads: list[tuple[int, str]] = []
        """(word, what it reads as)."""
        self.connections = {_name(p): _name(p) for p in shell.ports}

    def run(self) -> str:
        self._write_channels()
        ready, valid = "s_axi_control_RREADY", "s_axi_control_ARVALID"
        self.answer = self._register("have_answer", 1, (f"{valid} & ~%", "1'd1"), (ready, "1'd0"))
        if self.shell.control:
            self._control()
        for register in self.scalars:
            self._scalar(register)
        self._read_channels()
        pins = ",\n  ".join(f".{port}({net})" for port, net in self.connections.items())
        # Which bits of data, strobes and addresses have a meaning depends on the map.
        spare = f"&{{1'b0, {self.data}, {self.mask}, s_axi_control_AWADDR[1:0], s_axi_control_ARADDR[1:0]}}"
        self.lines += [f"wire {self.names.fresh('unused')} = {spare};", f"{self.shell.core} core (\n  {pins}\n);"]
        body = "\n".join(f"  {line}" for text in self.lines for line in text.splitlines())
        return f"{self._comment()}module {self.shell.name} (\n  {self._ports()}\n);\n{body}\nendmodule"

    def _comment(self) -> str:
        lines = ["Registers at s_axi_control, in bytes; other words, and bits without a name, read as 0."]
        if self.shell.control:
            lines += _CONTROL_TEXT.splitlines()
        for r in self.shell.registers:
            if r.offset >= _FIRST:
                access = "what the last call that ended returned" if r is self.result else "kept until written again"
                last = r.offset + 4 * words(r.width)
                span = f"0x{r.offset:02x}" if words(r.width) == 1 else f"0x{r.offset:02x}-0x{last - 1:02x}"
                lines += [f"{span} {r.name}, {r.width} bit: {access}", f"0x{last:02x} reserved"]
        return "".join(f"// {line}\n" for line in lines)

    def _ports(self) -> str:
        bus = []
        for line in _CHANNELS.splitlines():
            direction, name, width = line.split()
            number = self.width if width == "address" else int(width)
            bus.append(f"{direction:6} wire {vector(number)}s_axi_control_{name}")
        if self.shell.control:
            bus.append(f"output wire {INTERRUPT}")
        clock = [p for p in self.outer if _name(p) in (CLOCK, RESET)]
        return ",\n  ".join([*clock, *bus, *(p for p in self.outer if p not in clock)])

    def _register(self, wish: str, width: int, *writes: tuple[str, str]) -> str:
        """Add a register that a reset clears and return its name, which is % in its writes.

        Of the writes (condition, value) the first true one counts.
        """
        name = self.names.fresh(wish)
        lines = [f"reg {vector(width)}{name};", f"initial {name} = {literal(0, width)};", f"always @(posedge {CLOCK})"]
        lines.append(f"  if ({RESET}) {name} <= {literal(0, width)};")
        lines += [f"  else if ({condition}) {name} <= {value};" for condition, value in writes]
        self.lines.append("\n".join(lines).replace("%", name))
        return name

    def _write_channels(self) -> None:
        names, bus = self.names, "s_axi_control"
        self.commit, self.data = names.fresh("commit"), names.fresh("write_data")
        self.word, self.mask = names.fresh("write_word"), names.fresh("write_mask")
        self.lines.append(f"wire {self.commit};")
        go = self.commit
        address = self._register("have_address", 1, (go, "1'd0"), (f"{bus}_AWVALID", "1'd1"))
        data = self._register("have_data", 1, (go, "1'd0"), (f"{bus}_WVALID", "1'd1"))
        reply = self._register("have_reply", 1, (go, "1'd1"), (f"{bus}_BREADY", "1'd0"))
        strobes = names.fresh("write_strobes")
        mask = ", ".join(f"{{8{{{strobes}[{n}]}}}}" for n in (3, 2, 1, 0))
        self.lines += [
            f"assign {go} = {address} & {data} & (~{reply} | {bus}_BREADY);",
            f"reg {vector(self.width - 2)}{self.word};",
            f"reg [31:0] {self.data};\nreg [3:0] {strobes};",
            f"always @(posedge {CLOCK}) if (~{address}) {self.word} <= {bus}_AWADDR[{self.width - 1}:2];",
            f"always @(posedge {CLOCK}) if (~{data}) begin\n  {self.data} <= {bus}_WDATA;\n"
            f"  {strobes} <= {bus}_WSTRB;\nend",
            f"wire [31:0] {self.mask} = {{{mask}}};",
            f"assign {bus}_AWREADY = ~{address};\nassign {bus}_WREADY = ~{data};",
            f"assign {bus}_BVALID = {reply};\nassign {bus}_BRESP = 2'd0;",
        ]

    def _read_channels(self) -> None:
        bus, width = "s_axi_control", self.width - 2
        value = self.names.fresh("read_value")
        cases = "".join(f"    {literal(word, width)}: {value} = {text};\n" for word, text in self.reads)
        data = self.names.fresh("read_data")
        self.lines += [
            f"reg [31:0] {value};\nalways @*\n  case ({bus}_ARADDR[{self.width - 1}:2])\n{cases}"
            f"    default: {value} = 32'd0;\n  endcase",
            f"reg [31:0] {data};",
            f"always @(posedge {CLOCK}) if (~{self.answer} & {bus}_ARVALID) {data} <= {value};",
            f"assign {bus}_ARREADY = ~{self.answer};\nassign {bus}_RVALID = {self.answer};",
            f"assign {bus}_RDATA = {data};\nassign {bus}_RRESP = 2'd0;",
        ]

    def _control(self) -> None:
        nets = {pin: self.names.fresh(f"core_{pin[3:]}") for pin in _PINS}
        self.connections.update((pin, net) for pin, net in nets.items() if pin in self.connections)
        done, idle, ready = (nets[pin] for pin in _PINS[1:4])
        self.lines.append(f"wire {done}, {idle}, {ready};")
        writes = [self._written(word) for word in range(4)]
        restart = self._register("auto_restart", 1, (writes[0], f"{self.data}[7]"))
        starts = f"{writes[0]} & {self.data}[0]"
        start = self.connections["ap_start"] = self._register("start", 1, (starts, "1'd1"), (ready, restart))
        read = self.names.fresh("read_control")
        word = f"s_axi_control_ARADDR[{self.width - 1}:2] == {literal(0, self.width - 2)}"
        self.lines.append(f"wire {read} = s_axi_control_ARVALID & ~{self.answer} & {word};")
        was_done = self._register("was_done", 1, (done, "1'd1"), (read, "1'd0"))
        was_ready = self._register("was_ready", 1, (ready, "1'd1"), (read, "1'd0"))
        enabled = self._register("gie", 1, (writes[1], f"{self.data}[0]"))
        causes = self._register("ier", 2, (writes[2], f"{self.data}[1:0]"))
        came = [
            self._register(
                f"isr_{pin}", 1, (f"{causes}[{n}] & {net}", "1'd1"), (f"{writes[3]} & {self.data}[{n}]", "~%")
            )
            for n, (pin, net) in enumerate((("done", done), ("ready", ready)))
        ]
        self.lines.append(f"assign {INTERRUPT} = {enabled} & ({came[0]} | {came[1]});")
        state = f"{restart}, 3'd0, {was_ready}, {idle}, {was_done}, {start}"
        self.reads += [
            (0, f"{{22'd0, {INTERRUPT}, 1'd0, {state}}}"),
            (1, f"{{31'd0, {enabled}}}"),
            (2, f"{{30'd0, {causes}}}"),
            (3, f"{{30'd0, {came[1]}, {came[0]}}}"),
        ]
        if self.result is not None:
            width = self.result.width
            self.lines.append(f"wire {vector(width)}{nets['ap_return']};")
            kept = self._register("result", width, (done, nets["ap_return"]))
            self._readable(self.result, kept)

    def _written(self, word: int) -> str:
        """Return the condition that the lowest byte of a word is written."""
        return f"{self.commit} & {self.mask}[0] & {self.word} == {literal(word, self.width - 2)}"

    def _scalar(self, register: Register) -> None:
        width = register.width
        name = self.names.fresh(f"register_{register.name}")
        self.connections[register.name] = name
        lines = [f"reg {vector(width)}{name};", f"initial {name} = {literal(0, width)};", f"always @(posedge {CLOCK})"]
        lines.append(f"  if ({RESET}) {name} <= {literal(0, width)};")
        for n in range(words(width)):
            high = min(width - 1, WORD * n + WORD - 1)
            old = bits(name, width, high, WORD * n)
            mask, new = (bits(net, WORD, high - WORD * n, 0) for net in (self.mask, self.data))
            chosen = f"{self.commit} & {self.word} == {literal(register.offset // 4 + n, self.width - 2)}"
            lines.append(f"  else if ({chosen}) {old} <= ({old} & ~{mask}) | ({new} & {mask});")
        self.lines.append("\n".join(lines))
        self._readable(register, name)

    def _readable(self, register: Register, net: str) -> None:
        for n in range(words(register.width)):
            high = min(register.width - 1, WORD * n + WORD - 1)
            part = bits(net, register.width, high, WORD * n)
            spare = WORD * n + WORD - 1 - high
            self.reads.append((register.offset // 4 + n, f"{{{literal(0, spare)}, {part}}}" if spare else part))


def _name(port: str) -> str:
    return port.rsplit(" ", 1)[-1]
