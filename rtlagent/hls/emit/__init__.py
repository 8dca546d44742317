"""Verilog from a scheduled and bound module: one FSM of tokens, a datapath, memories, ap_ctrl_hs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rtlagent.hls.bind import Binding
from rtlagent.hls.bind.timing import Timing
from rtlagent.hls.emit.axilite import BUS_PORTS, INTERRUPT, Shell, address_width, register_map
from rtlagent.hls.emit.control import Control
from rtlagent.hls.emit.datapath import Datapath
from rtlagent.hls.emit.expressions import literal, vector
from rtlagent.hls.emit.memories import MemoryWriter, array_port
from rtlagent.hls.emit.names import Names, legal
from rtlagent.hls.emit.sheet import CLOCK, RESET, Sheet, any_of, both, choose, partly_unused
from rtlagent.hls.interface import Argument, ArrayPort, Interface, ScalarPort, StreamPort
from rtlagent.hls.ir import Function, Memory, MemoryKind, Module, Return
from rtlagent.hls.schedule.plan import FunctionPlan

_CONTROL_PORTS = ("ap_clk", "ap_rst", "ap_start", "ap_done", "ap_idle", "ap_ready", "ap_return")


@dataclass(frozen=True)
class Emitted:
    """The hardware."""

    verilog: str
    interface: Interface


@dataclass(frozen=True)
class Piece:
    """One Verilog module, with ap_ctrl_hs, and what it instantiates."""

    name: str
    ports: tuple[str, ...]
    """As declared: `input  wire [7:0] n`."""
    text: str
    """From `module` to `endmodule`."""
    submodules: dict[str, str]
    """Name -> text."""
    interface: Interface


def emit(
    module: Module,
    plans: dict[Function, FunctionPlan],
    binding: Binding,
    *,
    arguments: tuple[Argument, ...] = (),
    storage: dict[Memory, str],
    header: str = "",
) -> Emitted:
    """Write the module. `storage` says for each memory `register`, `lutram` or `bram`; `header` is a comment's text."""
    piece = emit_piece(module, plans, binding, arguments=arguments, storage=storage, name=legal(module.top.name))
    return as_file(piece, module, header)


def emit_piece(
    module: Module,
    plans: dict[Function, FunctionPlan],
    binding: Binding,
    *,
    arguments: tuple[Argument, ...] = (),
    storage: dict[Memory, str],
    name: str,
) -> Piece:
    """Write the module alone, under `name`, with its control at pins."""
    return _Emission(module, plans, binding, arguments, storage).run(name)


def as_file(piece: Piece, module: Module, header: str) -> Emitted:
    """Make a Verilog file of a piece; what the module's arguments ask for is put on a bus."""
    shell = _shell(piece, module)
    interface = piece.interface
    text = piece.text
    if shell is not None:
        interface = replace(
            interface,
            control=module.control,
            registers=shell.registers,
            bus_address_width=address_width(shell.registers),
        )
        text = text.replace(f"module {piece.name} (", f"module {shell.core} (", 1)
    comment = "".join(f"// {line}\n" for line in header.splitlines())
    if piece.submodules or shell:
        comment += "// verilator lint_off DECLFILENAME\n"  # one file for all
    if shell and shell.control:
        comment += "// verilator lint_off SYMRSVDWORD\n"  # the port's name is a word of C++ compilers
    parts = [
        comment + "`default_nettype none",
        shell.render() if shell else "",
        text,
        *piece.submodules.values(),
        "`default_nettype wire",
    ]
    return Emitted("\n\n".join(p for p in parts if p) + "\n", interface)


def _shell(piece: Piece, module: Module) -> Shell | None:
    """Return the module that puts control and scalars on a bus, if any are to be there."""
    on_bus = [s for s in piece.interface.scalars if s.protocol == "s_axilite"]
    control = module.control == "s_axilite"
    if not on_bus and not control:
        return None
    registers = register_map(on_bus, piece.interface.result_width, control)
    return Shell(piece.name, f"{piece.name}_core", piece.ports, registers, control)


_MEMORY_PORTS = (
    *(f"{word}{port}" for port in (0, 1) for word in ("address", "ce", "we", "d", "q")),
    *("i", "o", "o_ap_vld"),
)
_STREAM_PORTS = ("dout", "empty_n", "read", "din", "full_n", "write")


class _Emission:
    def __init__(
        self,
        module: Module,
        plans: dict[Function, FunctionPlan],
        binding: Binding,
        arguments: tuple[Argument, ...],
        storage: dict[Memory, str],
    ) -> None:
        self.module = module
        self.top = module.top
        self.arguments = arguments
        self.storage = storage
        self.sheet = Sheet()
        self.names = Names()
        self.on_bus = {p for p in self.top.params if module.scalar_interfaces.get(p.name) == "s_axilite"}
        self.control_on_bus = module.control == "s_axilite"
        self.timing = Timing(plans)
        self.datapath = Datapath(module, self.timing, self.sheet, self.names, binding)
        self.start = "ap_idle & ap_start"
        self.datapath.control = Control(module, self.timing, self.sheet, self.names, self.datapath.use, self.start)

    def run(self, name: str) -> Piece:
        if not name.startswith("ap_"):
            self.names.fresh(name)  # to Verilator a net may not be called as its module
        if isinstance(self.top.entry.terminator, Return):
            self.timing.lengthen(self.top.entry, 2)  # ap_done never comes in the cycle of ap_start
        if any(op.stream is not None for f in self.module.functions for b in f.blocks for op in b.ops):
            self.sheet.enable = self.names.fresh("advance")
        self._ports()
        control, datapath = self.datapath.control, self.datapath
        control.declare()
        datapath.operations()
        control.connect()
        datapath.calls()
        datapath.edges()
        self._finish()
        streams = self._streams()
        datapath.registers()
        arrays = self._memories()
        scalars = tuple(
            ScalarPort(datapath.params[p], p.width, p.signed, p.name, "s_axilite" if p in self.on_bus else "ap_none")
            for p in self.top.params
        )
        interface = Interface(
            module=name,
            result_width=self.top.width,
            result_signed=self.top.signed,
            scalars=scalars,
            arrays=tuple(arrays),
            streams=tuple(streams),
            arguments=self.arguments,
            control=self.module.control,
        )
        text = self._render(name)
        return Piece(name, tuple(self.sheet.ports), text, self.sheet.submodules, interface)

    def _ports(self) -> None:
        sheet, names = self.sheet, self.names
        for name in (CLOCK, RESET, "ap_start"):
            sheet.input(names.reserve(name), 1)
        for name in ("ap_done", "ap_idle", "ap_ready"):
            sheet.output(names.reserve(name), 1)
        if self.top.width:
            sheet.output(names.reserve("ap_return"), self.top.width)
        if self.on_bus or self.control_on_bus:
            for name in (*BUS_PORTS, INTERRUPT):
                names.reserve(name)
        for param in self.top.params:
            name = names.fresh(param.name)
            sheet.input(name, param.width)
            self.datapath.params[param] = name
        self._reserve_port_names()
        for function in self.module.functions:
            if function is not self.top:
                for param in function.params:
                    name = names.fresh(f"{function.name}_{param.name}")
                    self.datapath.params[param] = sheet.register(name, param.width)

    def _reserve_port_names(self) -> None:
        """Take the names of memory and stream ports before any net can have them."""
        names = self.names
        for memory in self.module.memories:
            if memory.kind is MemoryKind.PARAM:
                memory.name = names.fresh_with(memory.name, _MEMORY_PORTS)
        for stream in self.module.streams:
            stream.name = names.fresh_with(stream.name, _STREAM_PORTS)

    def _finish(self) -> None:
        sheet, control = self.sheet, self.datapath.control
        returns = control.returns.get(self.top, [])
        ends = any_of([condition for condition, _, _ in returns])
        done = sheet.wire(self.names.fresh("finishing"), 1, both(ends, sheet.enable))
        idle = sheet.register(self.names.fresh("st_idle"), 1, reset=1)
        sheet.write(idle, done, "1'd1")
        sheet.write(idle, "ap_start", "1'd0")
        sheet.assign("ap_idle", idle)
        sheet.assign("ap_done", done)
        sheet.assign("ap_ready", done)
        if self.top.width:
            sources = []
            for condition, value, block in returns:
                text = (
                    literal(0, self.top.width)
                    if value is None
                    else self.datapath.use(value, block, control.last(block))
                )
                sources.append((condition, text))
            now = sheet.wire(self.names.fresh("result_now"), self.top.width, choose(sources, self.top.width))
            kept = sheet.register(self.names.fresh("result_kept"), self.top.width)
            sheet.write(kept, done, now)
            sheet.assign("ap_return", f"{done} ? {now} : {kept}")

    def _streams(self) -> list[StreamPort]:
        """Write the streams' ports; a transfer that has to wait stops the whole module for a cycle."""
        sheet, waits, ports = self.sheet, [], []
        for stream, transfers in self.datapath.transfers.items():
            name = stream.name
            wants = sheet.wire(self.names.fresh(f"{name}_wants"), 1, any_of([t.wants for t in transfers]))
            reads = stream.kind == "input"
            ready, go = (f"{name}_empty_n", f"{name}_read") if reads else (f"{name}_full_n", f"{name}_write")
            sheet.input(ready, 1)
            sheet.output(go, 1)
            sheet.assign(go, f"{wants} & {sheet.enable}")
            if reads:
                sheet.input(f"{name}_dout", stream.width)
            else:
                sheet.output(f"{name}_din", stream.width)
                sheet.assign(f"{name}_din", choose([(t.wants, t.data) for t in transfers], stream.width))
            waits.append(f"({wants} & ~{ready})")
            ports.append(StreamPort(name, stream.width, reads, name))
        if sheet.enable:
            sheet.wire(sheet.enable, 1, f"~({any_of(waits)})")
        return ports

    def _memories(self) -> list[ArrayPort]:
        ports = []
        for memory in self.module.memories:
            accesses = self.datapath.accesses.get(memory, [])
            if not accesses:
                continue
            if memory.kind is MemoryKind.PARAM:
                writer = MemoryWriter(self.sheet, self.names, memory, memory.name, accesses)
                if (memory.interface or ("ap_vld" if memory.depth == 1 else "ap_memory")) == "ap_memory":
                    nets = writer.memory_ports()
                    ports.append(array_port(memory, accesses, "ap_memory"))
                else:
                    nets = writer.pointer(self.start)
                    ports.append(array_port(memory, accesses, "ap_vld"))
            else:
                writer = MemoryWriter(self.sheet, self.names, memory, self.names.fresh(memory.name), accesses)
                nets = writer.registers() if self.storage[memory] == "register" else writer.array()
            for op, net in nets.items():
                self.sheet.wire(self.datapath.net(op), op.width, net)
        return ports

    def _render(self, name: str) -> str:
        sheet = self.sheet
        registers = sheet.render_registers()
        text = [line for part in (sheet.nets, registers, sheet.assigns, sheet.blocks) for line in part]
        silent = partly_unused(text, sheet.ports)
        if silent:
            sheet.wire(self.names.fresh("unused_bits"), 1, f"&{{1'd0, {', '.join(silent)}}}")
        parts = [
            f"module {name} (\n  " + ",\n  ".join(sheet.ports) + "\n);",
            *(_indented(lines) for lines in (sheet.declarations, sheet.nets, registers[: _count(registers)])),
            *(_indented(lines) for lines in (sheet.assigns, registers[_count(registers) :], sheet.blocks)),
            "endmodule",
        ]
        return "\n\n".join(p for p in parts if p)


def _count(registers: list[str]) -> int:
    """Return how many of the lines are declarations."""
    return next((i for i, line in enumerate(registers) if not line.startswith("reg ")), len(registers))


def _indented(lines: list[str]) -> str:
    return "\n".join(f"  {line}" for text in lines for line in text.splitlines())


__all__ = ["Emitted", "Piece", "as_file", "emit", "emit_piece", "vector"]
