"""The module around processes: their instances, the channels between them, and the controller that starts them.

```
controller: go (what each process takes, an item for each turn), back (an item when all are at rest)
process:    ap_start = its item is there & all that it reads is full & all that it fills is free
```
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rtlagent.hls.dataflow.canonical import ArrayChannel, StreamChannel
from rtlagent.hls.dataflow.outline import Outlined, Process
from rtlagent.hls.dataflow.regions import Part, Refusal
from rtlagent.hls.emit import Piece
from rtlagent.hls.emit.channels import Side, buffer, fifo
from rtlagent.hls.emit.expressions import literal, vector
from rtlagent.hls.emit.names import Names, legal
from rtlagent.hls.emit.sheet import CLOCK, RESET
from rtlagent.hls.interface import ArrayPort, Interface, StreamPort
from rtlagent.hls.ir import Memory, Module, Value

_PINS = (CLOCK, RESET, "ap_start", "ap_done", "ap_idle", "ap_ready", "ap_return")


@dataclass(eq=False)
class _Instance:
    """A module inside."""

    name: str
    piece: Piece
    nets: dict[str, str] = field(default_factory=dict)
    """Port -> net."""
    can: list[str] = field(default_factory=list)
    """What has to hold before a turn begins."""

    def port(self, name: str) -> str:
        """Return the declaration of a port without its direction: `wire [7:0]`, or `wire`."""
        text = next(p for p in self.piece.ports if p.split()[-1] == name)
        return " ".join(text.split()[1:-1])

    def is_input(self, name: str) -> bool:
        """Tell its direction."""
        return next(p for p in self.piece.ports if p.split()[-1] == name).startswith("input")


def compose(
    name: str,
    module: Module,
    controller: Piece,
    outlined: Sequence[tuple[Outlined, Sequence[Piece]]],
    *,
    read_first: bool,
) -> Piece:
    """Put the controller and the processes of its regions together.

    Args:
        name: Of the module.
        module: The controller's, for what its streams are called.
        controller: Its hardware.
        outlined: Each region with the hardware of its processes, in their order.
        read_first: See `Memory.read_first`; of the buffers.

    Raises:
        Refusal: two parts do not see an array in the same way.
    """
    return _Composition(name, module, controller, read_first).run(outlined)


class _Composition:
    def __init__(self, name: str, module: Module, controller: Piece, read_first: bool) -> None:
        self.name = name
        self.module = module
        self.read_first = read_first
        self.names = Names()
        self.modules = Names()
        self.modules.reserve(name)
        self.ports: list[str] = list(dict.fromkeys(p for p in controller.ports if p.split()[-1] in _PINS))
        self.lines: list[str] = []
        self.submodules: dict[str, str] = {}
        self.arrays: list[ArrayPort] = []
        self.streams: list[StreamPort] = []
        self.instances: list[_Instance] = []
        self.outside: dict[Memory, str] = {}
        self.unused: list[str] = []
        for pin in _PINS:
            self.names.reserve(pin)
        self.controller = self.instance(controller, "controller")

    def run(self, outlined: Sequence[tuple[Outlined, Sequence[Piece]]]) -> Piece:
        """Return the module."""
        control = self.controller
        for pin in _PINS:
            control.nets[pin] = pin
        for scalar in control.piece.interface.scalars:
            self._through(control, scalar.name)
        for array in control.piece.interface.arrays:
            self.array(control, array, next(m for m in self.module.memories if m.name == array.name))
        own = {s for region, _ in outlined for s in (region.go, region.back)}
        inner = {s.name for s in own}
        for stream in control.piece.interface.streams:
            if stream.name not in inner:
                self.stream(control, stream)
        for region, pieces in outlined:
            _Region(self, region, pieces).run()
        return Piece(self.name, tuple(self.ports), self._render(), self.submodules, self._interface())

    def _interface(self) -> Interface:
        control = self.controller.piece.interface
        return replace(control, module=self.name, arrays=tuple(self.arrays), streams=tuple(self.streams))

    def instance(self, piece: Piece, wish: str) -> _Instance:
        """Add a module inside."""
        name = self.modules.fresh(piece.name)
        self.submodules[name] = piece.text.replace(f"module {piece.name} (", f"module {name} (", 1)
        for kind, text in piece.submodules.items():
            if self.submodules.setdefault(kind, text) != text:
                raise ValueError(f"two modules are called {kind}")
        instance = _Instance(self.names.fresh(wish), replace(piece, name=name))
        self.instances.append(instance)
        return instance

    def submodule(self, wish: str, text: str) -> str:
        """Keep a module, whose text calls it `wish`; return what it is called now."""
        if self.submodules.get(wish) == text:
            return wish
        name = self.modules.fresh(wish)
        self.submodules[name] = text.replace(f"module {wish} (", f"module {name} (", 1)
        return name

    def wire(self, wish: str, width: int, text: str = "") -> str:
        """Declare a net."""
        name = self.names.fresh(wish)
        self.lines.append(f"wire {vector(width)}{name};")
        if text:
            self.lines.append(f"assign {name} = {text};")
        return name

    def connect(self, instance: _Instance, port: str) -> str:
        """Give a port a net of its own; return it."""
        if port not in instance.nets:
            name = self.names.fresh(f"{instance.name}_{port}")
            self.lines.append(f"{instance.port(port)} {name};")
            instance.nets[port] = name
        return instance.nets[port]

    def _through(self, instance: _Instance, port: str, outer: str = "") -> None:
        """Make a port of an instance a port of this module."""
        name = outer or self.names.fresh(port)
        direction = "input " if instance.is_input(port) else "output"
        self.ports.append(f"{direction} {instance.port(port)} {name}")
        instance.nets[port] = name

    def array(self, instance: _Instance, array: ArrayPort, memory: Memory) -> None:
        """Lead the port of an argument out."""
        ports = [p.split()[-1] for p in instance.piece.ports]
        mine = [p for p in ports if p.startswith(f"{array.name}_") and p[len(array.name) + 1 :] in _suffixes(array)]
        known = self.outside.get(memory)
        if known is not None and not array.writes:
            # All may read an argument of one element.
            instance.nets.update({p: f"{known}{p[len(array.name) :]}" for p in mine})
            return
        prefix = self.names.fresh(array.name)
        self.outside[memory] = prefix
        for port in mine:
            self._through(instance, port, self.names.fresh(f"{prefix}{port[len(array.name) :]}"))
        self.arrays.append(replace(array, name=prefix, argument=memory.argument or memory.name))

    def stream(self, instance: _Instance, stream: StreamPort) -> None:
        """Lead a stream that is an argument out."""
        name = self.names.fresh(stream.name)
        for suffix in ("dout", "empty_n", "read") if stream.is_input else ("din", "full_n", "write"):
            self._through(instance, f"{stream.name}_{suffix}", self.names.fresh(f"{name}_{suffix}"))
        self.streams.append(replace(stream, name=name))

    def fifo(self, wish: str, width: int, depth: int, clear: str = "1'd0") -> dict[str, str]:
        """Instantiate a FIFO; return its nets by port."""
        kind = f"{self.name}_fifo_{width}x{depth}"
        kind = self.submodule(kind, fifo(kind, width, depth))
        name = self.names.fresh(f"{wish}_fifo")
        widths = {"din": width, "write": 1, "full_n": 1, "dout": width, "read": 1, "empty_n": 1}
        nets = {port: self.wire(f"{name}_{port}", bits) for port, bits in widths.items()}
        pins = {CLOCK: CLOCK, RESET: RESET, "clear": clear, **nets}
        self.lines.append(f"{kind} {name} ({', '.join(f'.{p}({n})' for p, n in pins.items())});")
        return nets

    def _render(self) -> str:
        for instance in self.instances:
            pins = []
            for text in instance.piece.ports:
                port = text.split()[-1]
                if port not in instance.nets:
                    self.unused.append(self.connect(instance, port))
                pins.append(f".{port}({instance.nets[port]})")
            self.lines.append(f"{instance.piece.name} {instance.name} (\n  " + ",\n  ".join(pins) + "\n);")
        body = list(self.lines)
        if self.unused:
            body.append(f"wire {self.names.fresh('unused_bits')} = &{{1'd0, {', '.join(self.unused)}}};")
        lines = "\n".join(f"  {line}" for text in body for line in text.splitlines())
        return f"module {self.name} (\n  " + ",\n  ".join(self.ports) + f"\n);\n\n{lines}\n\nendmodule"


class _Region:
    """The processes of one region."""

    def __init__(self, outer: _Composition, region: Outlined, pieces: Sequence[Piece]) -> None:
        self.outer = outer
        self.region = region
        self.plan = region.plan
        self.processes: dict[Part, Process] = {p.part: p for p in region.processes}
        self.at: dict[Part, _Instance] = {
            process.part: outer.instance(piece, legal(process.part.name))
            for process, piece in zip(region.processes, pieces, strict=True)
        }
        self.home: dict[Value, Part] = {v: p for p in self.plan.parts for v in p.defines()}
        self.results: dict[tuple[Part, Value], str] = {}

    def run(self) -> None:
        """Write nets and channels."""
        for process in self.region.processes:
            self._pins(process)
        for process in self.region.processes:
            self._arguments(process)
        for channel in self.plan.arrays:
            self._buffers(channel)
        for fifo_ in self.plan.fifos:
            self._fifo(fifo_)
        busy = self._scalars()
        self._controller(busy)
        for process in self.region.processes:
            instance = self.at[process.part]
            start = instance.nets["ap_start"]
            self.outer.lines.append(f"assign {start} = {' & '.join(instance.can)};")

    def _pins(self, process: Process) -> None:
        outer, instance = self.outer, self.at[process.part]
        instance.nets.update({CLOCK: CLOCK, RESET: RESET})
        outer.connect(instance, "ap_start")
        outer.connect(instance, "ap_done")
        low = 0
        for value in process.outputs:
            result = outer.connect(instance, "ap_return")
            whole = process.module.top.width
            self.results[process.part, value] = _slice(result, low, value.width, whole)
            low += value.width

    def done(self, part: Part) -> str:
        """Return the end of a part's turn."""
        return self.at[part].nets["ap_done"]

    def _arguments(self, process: Process) -> None:
        """Lead out what belongs to the caller."""
        instance = self.at[process.part]
        theirs = {own.argument or own.name: outer for outer, own in process.memories.items()}
        between = {c.memory for c in self.plan.arrays}
        for array in instance.piece.interface.arrays:
            memory = theirs[array.argument]
            if memory not in between:
                self.outer.array(instance, array, memory)
        inner = {s.name for s in process.fifos.values()}
        for stream in instance.piece.interface.streams:
            if stream.name not in inner:
                self.outer.stream(instance, stream)

    def _buffers(self, channel: ArrayChannel) -> None:
        ends: dict[str, dict[str, ArrayPort]] = {}
        for side, part in (("source", channel.source), ("sink", channel.sink)):
            own = self.processes[part].memories[channel.memory]
            arrays = self.at[part].piece.interface.arrays
            ends[side] = {a.name: a for a in arrays if a.argument == (own.argument or own.name)}
        if not ends["sink"]:
            return  # what was read turned out to be of no use
        banks = list(dict.fromkeys([*ends["source"], *ends["sink"]]))
        forms = {side: {n: (a.width, a.depth) for n, a in found.items()} for side, found in ends.items()}
        shared = set(forms["source"]) & set(forms["sink"])
        if (ends["source"] and not shared) or any(forms["source"][n] != forms["sink"][n] for n in shared):
            text = f"{channel.source.name} and {channel.sink.name} divide {channel.memory.name} differently"
            refusal = Refusal(text, channel.memory.place, "partition it so that both can follow")
            refusal.what, refusal.where = f"{self.plan.region.what} {self.plan.region.name}", self.plan.region.place
            refusal.array = channel.memory.name
            raise refusal
        for number, bank in enumerate(banks):
            self._buffer(channel, bank, ends["source"].get(bank), ends["sink"].get(bank), first=number == 0)

    def _buffer(
        self, channel: ArrayChannel, bank: str, source: ArrayPort | None, sink: ArrayPort | None, *, first: bool
    ) -> None:
        outer = self.outer
        form = source or sink
        assert form is not None
        kind = f"{outer.name}_{bank}_buffer"
        copies = 2 if channel.doubled else 1
        read_first = outer.read_first
        text = buffer(
            kind, form.width, form.depth, Side.of(source), Side.of(sink), copies=copies, read_first=read_first,
            storage=channel.memory.storage or "",
        )  # fmt: skip
        kind = outer.submodule(kind, text)
        name = outer.names.fresh(f"{bank}_buffer")
        pins = {CLOCK: CLOCK, RESET: RESET}
        pins |= {"source_done": self.done(channel.source), "sink_done": self.done(channel.sink)}
        pins |= {net: outer.wire(f"{name}_{net}", 1) for net in ("can_fill", "can_read")}
        # All banks change hands together.
        if first:
            self.at[channel.source].can.append(pins["can_fill"])
            self.at[channel.sink].can.append(pins["can_read"])
        else:
            outer.unused += [pins["can_fill"], pins["can_read"]]
        for side, array, part in (("source", source, channel.source), ("sink", sink, channel.sink)):
            if array is None:
                continue
            for suffix in _suffixes(array):
                port = f"{array.name}_{suffix}"
                useless = suffix.startswith("ce") and not array.reads
                if not useless and any(p.split()[-1] == port for p in self.at[part].piece.ports):
                    pins[f"{side}_{suffix}"] = outer.connect(self.at[part], port)
        outer.lines.append(f"{kind} {name} (\n  " + ",\n  ".join(f".{p}({n})" for p, n in pins.items()) + "\n);")

    def _fifo(self, channel: StreamChannel) -> None:
        outer = self.outer
        clear = f"{self.region.go.name}_write" if channel.guarded else ""
        stream = self.processes[channel.source].fifos[channel]
        other = self.processes[channel.sink].fifos[channel]
        clear = outer.connect(outer.controller, clear) if clear else "1'd0"
        nets = outer.fifo(stream.name, stream.width, channel.depth, clear)
        ends = (
            (channel.source, stream, ("din", "write", "full_n")),
            (channel.sink, other, ("dout", "read", "empty_n")),
        )
        for part, end, ports in ends:
            for port in ports:
                self.at[part].nets[f"{end.name}_{port}"] = nets[port]

    def _scalars(self) -> list[str]:
        """Write what each process takes for a turn; return what says that a turn is not over."""
        outer = self.outer
        go = self.region.go
        item = outer.connect(outer.controller, f"{go.name}_din")
        write = outer.connect(outer.controller, f"{go.name}_write")
        places: dict[Value, str] = {}
        low = 0
        for value in self.region.sent:
            places[value] = _slice(item, low, self.plan.bits(value), go.width)
            low += self.plan.bits(value)
        busy, room = [], []
        for process in self.region.processes:
            instance = self.at[process.part]
            sent = [v for v in process.inputs if v not in self.home]
            nets = self._queue(instance, f"{instance.name}_go", sent, [places[v] for v in sent], write, process)
            busy.append(nets["empty_n"])
            room.append(nets["full_n"])
            by_source: dict[Part, list[Value]] = {}
            for value in process.inputs:
                if value in self.home:
                    by_source.setdefault(self.home[value], []).append(value)
            for part, values in by_source.items():
                wish = f"{self.at[part].name}_to_{instance.name}"
                texts = [self.results[part, v] for v in values]
                more = self._queue(instance, wish, values, texts, self.done(part), process)
                self.at[part].can.append(more["full_n"])
        outer.controller.nets[f"{go.name}_full_n"] = outer.wire(f"{go.name}_full_n", 1, " & ".join(room))
        return busy

    def _queue(
        self, instance: _Instance, wish: str, values: list[Value], texts: list[str], write: str, process: Process
    ) -> dict[str, str]:
        """Write the FIFO of some of a process's parameters, from which it takes an item at the end of its turn."""
        outer = self.outer
        width = max(1, sum(self.plan.bits(v) for v in values))
        # A part may be as many turns ahead of another one as there are parts; an item stays until its turn is over.
        nets = outer.fifo(wish, width, len(self.plan.parts) + 1)
        outer.lines.append(
            f"assign {nets['din']} = {{{', '.join(reversed(texts))}}};" if texts else f"assign {nets['din']} = 1'd0;"
        )
        outer.lines.append(f"assign {nets['write']} = {write};")
        outer.lines.append(f"assign {nets['read']} = {self.done(process.part)};")
        if not values:
            outer.unused.append(nets["dout"])
        instance.can.append(nets["empty_n"])
        low = 0
        for value in values:
            number = process.inputs.index(value)
            port = process.module.top.params[number].name
            scalar = next(s for s in instance.piece.interface.scalars if s.argument == port)
            bits = self.plan.bits(value)
            text = _slice(nets["dout"], low, bits, width)
            instance.nets[scalar.name] = outer.wire(f"{instance.name}_{scalar.name}", bits, text)
            low += bits
        return nets

    def _controller(self, busy: list[str]) -> None:
        outer, back = self.outer, self.region.back
        control = outer.controller
        control.nets[f"{back.name}_empty_n"] = outer.wire(f"{back.name}_empty_n", 1, f"~({' | '.join(busy)})")
        parts = [self.results[self.home[v], v] for v in self.plan.results]
        item = f"{{{', '.join([*reversed(parts), literal(0, 1)])}}}"
        control.nets[f"{back.name}_dout"] = outer.wire(f"{back.name}_dout", back.width, item)


def _slice(net: str, low: int, width: int, whole: int) -> str:
    if width == whole:
        return net
    return f"{net}[{low + width - 1}:{low}]" if width > 1 else f"{net}[{low}]"


def _suffixes(array: ArrayPort) -> list[str]:
    """Return what may follow a port's name."""
    if array.protocol != "ap_memory":
        return ["i", "o", "o_ap_vld"]
    return [f"{kind}{port}" for port in range(array.ports) for kind in ("address", "ce", "we", "d", "q")]
