"""Memories: arrays inside the module, and the ports to those outside.

```
store t[%i] = %v   (cycle 0, port 0)   ->  wire [3:0] t_addr0 = st_a_0 ? i : j;  ...  always @(posedge ap_clk) if
(t_we0) t[t_addr0] <= t_d0;
%x = load t[%j]    (cycle 1, port 0)   ->  always @(posedge ap_clk) t_q0 <= t[t_addr0];
```
"""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.hls.emit.expressions import literal, vector
from rtlagent.hls.emit.names import Names
from rtlagent.hls.emit.sheet import CLOCK, Sheet, any_of, both, choose
from rtlagent.hls.interface import ArrayPort
from rtlagent.hls.ir import Memory, MemoryKind, Op, Opcode


@dataclass(frozen=True)
class Access:
    """A LOAD or STORE in its cycle, as texts."""

    op: Op
    token: str
    """1 in the cycle in which it runs."""
    predicate: str
    """Empty: always."""
    address: str
    """Of `address_width` bits."""
    data: str
    """Of a store; empty for a load."""
    port: int
    latency: int

    @property
    def condition(self) -> str:
        """1 when it really accesses the memory."""
        return both(self.token, self.predicate)


def address_width(memory: Memory) -> int:
    """Return the bits of an address; at least 1."""
    return max(1, (memory.depth - 1).bit_length())


class MemoryWriter:
    """Writes one memory: its storage or its ports, and a net for each load."""

    def __init__(self, sheet: Sheet, names: Names, memory: Memory, name: str, accesses: list[Access]) -> None:
        self._sheet = sheet
        self._names = names
        self._memory = memory
        self._name = name
        self._accesses = accesses

    @property
    def loads(self) -> list[Access]:
        """The reading accesses."""
        return [a for a in self._accesses if a.op.opcode is Opcode.LOAD]

    @property
    def stores(self) -> list[Access]:
        """The writing accesses."""
        return [a for a in self._accesses if a.op.opcode is Opcode.STORE]

    def registers(self) -> dict[Op, str]:
        """Write it as registers that every access reaches directly; return the net of each load's data."""
        memory, name, sheet = self._memory, self._name, self._sheet
        self._declare_array(registers=True) if memory.depth > 1 else sheet.declarations.append(
            f"reg {vector(memory.width)}{name};"
        )
        if memory.depth == 1 and memory.init is not None:
            sheet.blocks.append(f"initial {name} = {literal(memory.init[0], memory.width)};")
        lines = []
        for store in self.stores:
            target = f"{name}[{store.address}]" if memory.depth > 1 else name
            gate = " && ".join(c for c in (sheet.enable, store.condition) if c)
            lines.append(f"  if ({gate}) {target} <= {store.data};")
        if lines:
            sheet.blocks.append("\n".join([f"always @(posedge {CLOCK}) begin", *lines, "end"]))
        found = {}
        for load in self.loads:
            text = f"{name}[{load.address}]" if memory.depth > 1 else name
            found[load.op] = self._late(load, self._named(load, text))
        return found

    def array(self) -> dict[Op, str]:
        """Write it as an array with ports; return the net of each load's data."""
        sheet = self._sheet
        self._declare_array(registers=False)
        found: dict[Op, str] = {}
        addresses: dict[int, str] = {}
        enables: dict[int, str] = {}
        for port in sorted({a.port for a in self._accesses}):
            here = [a for a in self._accesses if a.port == port]
            address = addresses[port] = self._port_address(port, here)
            stores = [a for a in here if a.op.opcode is Opcode.STORE]
            if stores:
                enable = sheet.wire(
                    self._names.fresh(f"{self._name}_we{port}"), 1, any_of([a.condition for a in stores])
                )
                data = self._port_data(port, stores)
                gate = " && ".join(c for c in (sheet.enable, enable) if c)
                sheet.blocks.append(f"always @(posedge {CLOCK}) if ({gate}) {self._name}[{address}] <= {data};")
                enables[port] = enable
        for port, address in addresses.items():
            loads = [a for a in self.loads if a.port == port]
            writers = {} if self._memory.read_first else {e: addresses[p] for p, e in enables.items() if p != port}
            found |= self._read(port, loads, address, writers)
        return found

    def _read(self, port: int, loads: list[Access], address: str, writers: dict[str, str]) -> dict[Op, str]:
        """Write a port's reads; `writers` are enables and addresses of ports that a read must not meet.

        The schedule keeps loads that count away from them. Saying that the others read X lets synthesis take the RAM
        as it is, where it would have to build a bypass, or flip-flops, for a value that nobody uses.
        """
        if not loads:
            return {}
        sheet, width = self._sheet, self._memory.width
        found: dict[Op, str] = {}
        at_once = [a for a in loads if a.latency == 0]
        if at_once:
            net = sheet.wire(self._names.fresh(f"{self._name}_now{port}"), width, f"{self._name}[{address}]")
            found |= {a.op: net for a in at_once}
        later = [a for a in loads if a.latency > 0]
        if later:
            q = self._names.fresh(f"{self._name}_q{port}")
            sheet.declarations.append(f"reg {vector(width)}{q};")
            gate = f"if ({sheet.enable}) " if sheet.enable else ""
            meets = " || ".join(f"({enable} && {other} == {address})" for enable, other in writers.items())
            data = f"({meets}) ? {width}'bx : {self._name}[{address}]" if meets else f"{self._name}[{address}]"
            sheet.blocks.append(f"always @(posedge {CLOCK}) {gate}{q} <= {data};")
            found |= {a.op: self._late(a, q, passed=1) for a in later}
        return found

    def memory_ports(self) -> dict[Op, str]:
        """Write ap_memory ports (see hls/interface.py); return the net of each load's data."""
        sheet, name, memory = self._sheet, self._name, self._memory
        found: dict[Op, str] = {}
        reads, writes = bool(self.loads), bool(self.stores)
        for port in range(max(a.port for a in self._accesses) + 1):
            here = [a for a in self._accesses if a.port == port]
            stores = [a for a in here if a.op.opcode is Opcode.STORE]
            loads = [a for a in here if a.op.opcode is Opcode.LOAD]
            width = address_width(memory)
            sheet.output(f"{name}_address{port}", width)
            sheet.output(f"{name}_ce{port}", 1)
            sheet.assign(f"{name}_address{port}", choose([(a.token, a.address) for a in here], width))
            run = f"{sheet.enable} & " if sheet.enable else ""
            sheet.assign(f"{name}_ce{port}", f"{run}({any_of([a.condition for a in here])})")
            if writes:
                sheet.output(f"{name}_we{port}", 1)
                sheet.output(f"{name}_d{port}", memory.width)
                sheet.assign(f"{name}_we{port}", f"{run}({any_of([a.condition for a in stores])})")
                sheet.assign(f"{name}_d{port}", choose([(a.token, a.data) for a in stores], memory.width))
            if reads:
                sheet.input(f"{name}_q{port}", memory.width)
                q = self._held(f"{name}_q{port}")
                for load in loads:
                    found[load.op] = self._late(load, q, passed=1)
        return found

    def _held(self, q: str) -> str:
        """Return a net that keeps what a memory outside answered while time stands still."""
        sheet = self._sheet
        if not sheet.enable:
            return q
        kept = self._names.fresh(f"{q}_kept")
        waited = self._names.fresh(f"{q}_waited")
        now = self._names.fresh(f"{q}_now")
        sheet.declarations += [f"reg {vector(self._memory.width)}{kept};", f"reg {waited};"]
        sheet.wire(now, self._memory.width, f"{waited} ? {kept} : {q}")
        sheet.blocks.append(f"initial {waited} = 1'd0;")
        sheet.blocks.append(f"always @(posedge {CLOCK}) begin\n  {waited} <= ~{sheet.enable};\n  {kept} <= {now};\nend")
        return now

    def pointer(self, start: str) -> dict[Op, str]:
        """Write a one-element argument as NAME_i, NAME_o and NAME_o_ap_vld; `start` is 1 in a call's first cycle."""
        sheet, name, width = self._sheet, self._name, self._memory.width
        current = f"{name}_i"
        if self.loads:
            sheet.input(current, width)
        if self.stores:
            run = f"{sheet.enable} & " if sheet.enable else ""
            sheet.output(f"{name}_o", width)
            sheet.output(f"{name}_o_ap_vld", 1)
            # Stores that exclude one another may share a cycle: then its token does not tell which one it is.
            told = len({a.token for a in self.stores}) == len(self.stores)
            sources = [(a.token if told else a.condition, a.data) for a in self.stores]
            sheet.assign(f"{name}_o", choose(sources, width))
            sheet.assign(f"{name}_o_ap_vld", f"{run}({any_of([a.condition for a in self.stores])})")
        if self.loads and self.stores:
            kept = sheet.register(self._names.fresh(f"{name}_kept"), width)
            fresh = sheet.register(self._names.fresh(f"{name}_is_kept"), 1, reset=0)
            stored = any_of([a.condition for a in self.stores])
            sheet.write(kept, stored, f"{name}_o")
            sheet.write(fresh, stored, "1'd1")
            sheet.write(fresh, start, "1'd0")
            # In the first cycle of a call the flag still stands for the call before.
            current = sheet.wire(self._names.fresh(f"{name}_now"), width, f"({fresh} & ~({start})) ? {kept} : {name}_i")
        return {a.op: self._late(a, current) for a in self.loads}

    def _named(self, load: Access, text: str) -> str:
        if text == self._name:
            return text
        return self._sheet.wire(self._names.fresh(load.op.name or f"{self._name}_value"), self._memory.width, text)

    def _late(self, load: Access, net: str, passed: int = 0) -> str:
        """Delay a load's data until its latency is reached; `passed` cycles have gone by at `net`."""
        for _ in range(load.latency - passed):
            register = self._sheet.register(self._names.fresh(f"{self._name}_late"), self._memory.width)
            self._sheet.write(register, "", net)
            net = register
        return net

    def _port_address(self, port: int, here: list[Access]) -> str:
        width = address_width(self._memory)
        text = choose([(a.token, a.address) for a in here], width)
        return self._sheet.wire(self._names.fresh(f"{self._name}_addr{port}"), width, text)

    def _port_data(self, port: int, stores: list[Access]) -> str:
        width = self._memory.width
        text = choose([(a.token, a.data) for a in stores], width)
        return self._sheet.wire(self._names.fresh(f"{self._name}_d{port}"), width, text)

    def _declare_array(self, *, registers: bool) -> None:
        memory, name = self._memory, self._name
        style = ""
        if memory.storage == "bram" or (not registers and len({a.port for a in self.stores}) > 1):
            # Only block RAM has two write ports, but Yosys thinks it a waste for a few words and takes flip-flops.
            style = '(* ram_style = "block" *) '
        elif memory.storage == "lutram" and self.stores and memory.init is None:
            # LUT RAM has no contents to start with on some chips, and what is never written is plain logic.
            style = '(* ram_style = "distributed" *) '
        self._sheet.declarations.append(f"{style}reg {vector(memory.width)}{name} [0:{memory.depth - 1}];")
        if memory.init is not None:
            lines = [f"  {name}[{i}] = {literal(v, memory.width)};" for i, v in enumerate(memory.init)]
            self._sheet.blocks.append("\n".join(["initial begin", *lines, "end"]))


def array_port(memory: Memory, accesses: list[Access], protocol: str) -> ArrayPort:
    """Describe an outside memory's port for whoever drives the module."""
    return ArrayPort(
        name=memory.name,
        width=memory.width,
        depth=memory.depth,
        reads=any(a.op.opcode is Opcode.LOAD for a in accesses),
        writes=any(a.op.opcode is Opcode.STORE for a in accesses),
        argument=memory.argument or memory.name,
        byte_offsets=element_offsets(memory),
        bit_offset=memory.field_bit_offset,
        ports=max((a.port for a in accesses), default=0) + 1 if protocol == "ap_memory" else 1,
        protocol=protocol,
        signed=memory.signed,
    )


def element_offsets(memory: Memory) -> tuple[int, ...]:
    """Return where each element lies in the C object, in bytes, in row-major order."""
    dims = memory.shape or memory.dims
    strides = memory.byte_strides or _packed(dims, -(-memory.width // 8))
    offsets = [memory.byte_offset]
    for size, stride in zip(dims, strides, strict=True):
        offsets = [base + stride * i for base in offsets for i in range(size)]
    return tuple(offsets)


def _packed(dims: tuple[int, ...], element_bytes: int) -> tuple[int, ...]:
    strides: list[int] = []
    stride = element_bytes
    for size in reversed(dims):
        strides.insert(0, stride)
        stride *= size
    return tuple(strides)


def is_outside(memory: Memory) -> bool:
    """Tell whether the memory belongs to the caller."""
    return memory.kind is MemoryKind.PARAM
