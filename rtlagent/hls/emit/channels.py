"""What lies between processes: FIFOs, and buffers that change hands.

```
source: st_address0, st_we0, st_d0, st_done        ->  two arrays; `full_0`, `full_1` say whom each belongs to
sink:   ld_address0, ld_ce0, ld_q0, ld_done
```
"""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.hls.emit.expressions import literal, vector
from rtlagent.hls.emit.sheet import CLOCK, RESET
from rtlagent.hls.interface import ArrayPort

_SHALLOW_BITS = 512
"""A FIFO of so many bits or fewer is read directly; a deeper one through a register, as block RAM wants it."""


def fifo(name: str, width: int, depth: int) -> str:
    """Return a module with room for at least `depth` items, whose oldest one lies at `dout`.

    A `clear` empties it; reset does too. An item can be read in the cycle after it was written, or one later when the
    FIFO is built for block RAM.
    """
    shallow = width * depth <= _SHALLOW_BITS
    bits = max(1, (depth - 1).bit_length())
    ports = [
        f"input  wire {CLOCK}",
        f"input  wire {RESET}",
        "input  wire clear",
        f"input  wire {vector(width)}din",
        "input  wire write",
        "output wire full_n",
        f"output wire {vector(width)}dout",
        "input  wire read",
        "output wire empty_n",
    ]
    lines = [
        f"reg {vector(width)}items [0:{depth - 1}];",
        f"reg {vector(bits)}head, tail;",
        f"reg {vector(bits + 1)}count;",
        f"initial begin head = {literal(0, bits)}; tail = {literal(0, bits)}; count = {literal(0, bits + 1)}; end",
        f"wire {vector(bits)}after_head = (head == {literal(depth - 1, bits)}) ? {literal(0, bits)} : "
        f"head + {literal(1, bits)};",
        f"wire {vector(bits)}after_tail = (tail == {literal(depth - 1, bits)}) ? {literal(0, bits)} : "
        f"tail + {literal(1, bits)};",
        "wire put = write & full_n;",
        f"assign full_n = count != {literal(depth, bits + 1)};",
    ]
    if shallow:
        lines += [
            "assign empty_n = |count;",
            "assign dout = items[head];",
            "wire take = read & empty_n;",
        ]
    else:
        lines += [
            f"reg {vector(width)}front;",
            "reg has_front;",
            "initial has_front = 1'd0;",
            "assign empty_n = has_front;",
            "assign dout = front;",
            "wire take = (|count) & (~has_front | read);",
            # A full FIFO takes nothing, an empty one gives nothing: both ends are never at one place.
            f"always @(posedge {CLOCK}) if (take) front <= (put && tail == head) ? {width}'bx : items[head];",
            f"always @(posedge {CLOCK})",
            f"  if ({RESET} | clear) has_front <= 1'd0;",
            "  else has_front <= take | (has_front & ~read);",
        ]
    lines += [
        f"always @(posedge {CLOCK}) if (put) items[tail] <= din;",
        f"always @(posedge {CLOCK})",
        f"  if ({RESET} | clear) begin",
        f"    head <= {literal(0, bits)};",
        f"    tail <= {literal(0, bits)};",
        f"    count <= {literal(0, bits + 1)};",
        "  end else begin",
        "    if (put) tail <= after_tail;",
        "    if (take) head <= after_head;",
        f"    if (put & ~take) count <= count + {literal(1, bits + 1)};",
        f"    if (take & ~put) count <= count - {literal(1, bits + 1)};",
        "  end",
    ]
    return _module(name, ports, lines)


@dataclass(frozen=True)
class Side:
    """How one process reaches a buffer."""

    ports: int
    reads: bool
    writes: bool

    @classmethod
    def of(cls, port: ArrayPort | None) -> Side:
        """Return the side that a process's port makes; None: the process does not reach this buffer."""
        return cls(0, reads=False, writes=False) if port is None else cls(port.ports, port.reads, port.writes)


def buffer(
    name: str, width: int, depth: int, source: Side, sink: Side, *, copies: int, read_first: bool, storage: str = ""
) -> str:
    """Return a module with one or two arrays between a source, which fills one, and a sink, which reads one.

    Ports, besides clock and reset: `source_done`, `sink_done` (the end of each side's turn), `can_fill`, `can_read`;
    for each side's port P `SIDE_addressP`, and where there is such an access `SIDE_weP`, `SIDE_dP`, or `SIDE_ceP`,
    `SIDE_qP` (valid in the cycle after ceP).
    """
    return _Buffer(name, width, depth, {"source": source, "sink": sink}, copies, read_first, storage).run()


class _Buffer:
    def __init__(
        self, name: str, width: int, depth: int, sides: dict[str, Side], copies: int, read_first: bool, storage: str
    ) -> None:
        self.name = name
        self.width = width
        self.depth = depth
        self.sides = sides
        self.copies = range(copies)
        self.read_first = read_first
        styles = {"bram": '(* ram_style = "block" *) ', "lutram": '(* ram_style = "distributed" *) '}
        # Only block RAM has two write ports, but Yosys takes flip-flops for a few words.
        several = max((s.ports for s in sides.values() if s.writes), default=0) > 1
        self.style = styles.get("bram" if several else storage, "")
        self.address = max(1, (depth - 1).bit_length())
        self.lines: list[str] = []

    def run(self) -> str:
        """Return the module."""
        self._owners()
        total = sum(s.ports for s in self.sides.values())
        source, sink = self.sides["source"], self.sides["sink"]
        apart = total <= 2 or (source.ports <= 1 and sink.ports <= 1)
        for copy in self.copies:
            self.lines.append(f"{self.style}reg {vector(self.width)}copy_{copy} [0:{self.depth - 1}];")
            if apart:
                self._apart(copy)
            else:
                self._shared(copy, max(source.ports, sink.ports))
        for side, which in (("source", "filling"), ("sink", "reading")):
            for port in range(self.sides[side].ports if self.sides[side].reads else 0):
                texts = [f"{side}_q{port}_{copy}" for copy in self.copies]
                chosen = texts[0] if len(texts) == 1 else f"{which} ? {texts[1]} : {texts[0]}"
                self.lines.append(f"assign {side}_q{port} = {chosen};")
        return _module(self.name, self._ports(), self.lines)

    def _ports(self) -> list[str]:
        ports = [f"input  wire {CLOCK}", f"input  wire {RESET}", "input  wire source_done", "input  wire sink_done"]
        ports += ["output wire can_fill", "output wire can_read"]
        for name, side in self.sides.items():
            for port in range(side.ports):
                ports.append(f"input  wire {vector(self.address)}{name}_address{port}")
                if side.reads:
                    ports.append(f"input  wire {name}_ce{port}")
                if side.writes:
                    ports += [f"input  wire {name}_we{port}", f"input  wire {vector(self.width)}{name}_d{port}"]
                if side.reads:
                    ports.append(f"output wire {vector(self.width)}{name}_q{port}")
        return ports

    def _owners(self) -> None:
        """Write whose turn it is: a copy that is full belongs to the sink."""
        double = len(self.copies) == 2
        if double:
            self.lines += [
                "reg filling, reading;  // which copy the source fills, and the sink reads",
                "initial begin filling = 1'd0; reading = 1'd0; end",
                f"always @(posedge {CLOCK})",
                f"  if ({RESET}) filling <= 1'd0;",
                "  else if (source_done) filling <= ~filling;",
                f"always @(posedge {CLOCK})",
                f"  if ({RESET}) reading <= 1'd0;",
                "  else if (sink_done) reading <= ~reading;",
            ]
        for copy in self.copies:
            fills = f"source_done & {'' if copy else '~'}filling" if double else "source_done"
            reads = f"sink_done & {'' if copy else '~'}reading" if double else "sink_done"
            self.lines += [
                f"reg full_{copy};",
                f"initial full_{copy} = 1'd0;",
                f"always @(posedge {CLOCK})",
                f"  if ({RESET}) full_{copy} <= 1'd0;",
                f"  else if ({fills}) full_{copy} <= 1'd1;",
                f"  else if ({reads}) full_{copy} <= 1'd0;",
            ]
        self.lines.append(f"assign can_fill = ~({'filling ? full_1 : full_0' if double else 'full_0'});")
        self.lines.append(f"assign can_read = {'reading ? full_1 : full_0' if double else 'full_0'};")

    def _turn(self, side: str, copy: int) -> str:
        """Return when a copy is in a side's hands."""
        return f"full_{copy}" if side == "sink" else f"~full_{copy}"

    def _apart(self, copy: int) -> None:
        """Give each side ports of its own."""
        writers: list[tuple[str, str]] = []
        for name, side in self.sides.items():
            for port in range(side.ports if side.writes else 0):
                enable = self._wire(
                    f"{name}_writes{port}_{copy}", f"{self._turn(name, copy)} & {self._mine(name, copy)}{name}_we{port}"
                )
                address = f"{name}_address{port}"
                self.lines.append(f"always @(posedge {CLOCK}) if ({enable}) copy_{copy}[{address}] <= {name}_d{port};")
                writers.append((enable, address))
        for name, side in self.sides.items():
            for port in range(side.ports if side.reads else 0):
                address = f"{name}_address{port}"
                others = [(e, a) for e, a in writers if a != address]
                self._read(f"{name}_q{port}_{copy}", copy, f"{name}_ce{port}", address, others)

    def _mine(self, side: str, copy: int) -> str:
        """Return the further condition that the source is filling this copy and not the other one."""
        if side != "source" or len(self.copies) == 1:
            return ""
        return f"{'' if copy else '~'}filling & "

    def _shared(self, copy: int, count: int) -> None:
        """Let both sides use the same ports, in turn."""
        ports: list[tuple[str, str, str]] = []
        for port in range(count):
            users = [n for n, side in self.sides.items() if port < side.ports]
            writers = [n for n in users if self.sides[n].writes]
            address = self._choose(
                f"address{port}_{copy}", [(n, f"{n}_address{port}") for n in users], copy, self.address
            )
            enable = "1'd0"
            if writers:
                terms = [f"({self._turn(n, copy)} & {self._mine(n, copy)}{n}_we{port})" for n in writers]
                enable = self._wire(f"we{port}_{copy}", " | ".join(terms))
                data = self._choose(f"d{port}_{copy}", [(n, f"{n}_d{port}") for n in writers], copy, self.width)
                self.lines.append(f"always @(posedge {CLOCK}) if ({enable}) copy_{copy}[{address}] <= {data};")
            ports.append((str(port), enable, address))
        for port in range(count):
            readers = [n for n, side in self.sides.items() if side.reads and port < side.ports]
            if not readers:
                continue
            others = [(e, a) for p, e, a in ports if p != str(port) and e != "1'd0"]
            terms = [f"({self._turn(n, copy)} & {n}_ce{port})" for n in readers]
            enable = self._wire(f"ce{port}_{copy}", " | ".join(terms))
            q = f"q{port}_{copy}"
            self._read(q, copy, enable, ports[port][2], others)
            for name in readers:
                self.lines.append(f"wire {vector(self.width)}{name}_q{port}_{copy} = {q};")

    def _read(self, q: str, copy: int, enable: str, address: str, writers: list[tuple[str, str]]) -> None:
        meets = "" if self.read_first else " || ".join(f"({e} && {a} == {address})" for e, a in writers)
        word = f"copy_{copy}[{address}]"
        data = f"({meets}) ? {self.width}'bx : {word}" if meets else word
        self.lines += [
            f"reg {vector(self.width)}{q};",
            f"always @(posedge {CLOCK}) if ({enable}) {q} <= {data};",
        ]

    def _wire(self, name: str, text: str, width: int = 1) -> str:
        self.lines.append(f"wire {vector(width)}{name} = {text};")
        return name

    def _choose(self, name: str, sources: list[tuple[str, str]], copy: int, width: int) -> str:
        if len(sources) == 1:
            return sources[0][1]
        (first, text), (_, other) = sources
        return self._wire(name, f"({self._turn(first, copy)}) ? {text} : {other}", width)


def _module(name: str, ports: list[str], lines: list[str]) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"module {name} (\n  " + ",\n  ".join(ports) + f"\n);\n\n{body}\n\nendmodule"
