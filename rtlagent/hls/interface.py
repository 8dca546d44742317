"""What the generated module looks like from outside, and how its ports map to the C function's arguments."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Argument:
    """A C object that the caller hands in or that outlives the call: an argument or a global."""

    name: str
    size_bytes: int
    """Of the whole object."""
    is_scalar: bool
    """True: passed by value; the port carries `size_bytes` * 8 bits or fewer."""
    is_global: bool = False
    """A global variable that code outside the top function reaches too, hence a port."""
    signed: bool = False
    c_type: str = ""
    """Element type as C text, such as `unsigned char`; for messages and stimulus."""
    element_bytes: int = 1
    """Of one array element (the innermost scalar), for stimulus."""
    is_float: bool = False
    dims: tuple[int, ...] = ()
    """Of an array, as declared, for messages; empty when unknown."""


@dataclass(frozen=True)
class ScalarPort:
    """A scalar input: stable from ap_start to ap_done.

    With protocol `s_axilite` it is no port but a register on the bus, under its name in `Interface.registers`.
    """

    name: str
    """Port name."""
    width: int
    signed: bool
    argument: str
    protocol: str = "ap_none"


@dataclass(frozen=True)
class ArrayPort:
    """A memory (or a register behind a pointer) outside the module.

    Protocol `ap_memory`, for each port number P below `ports`: outputs `NAME_addressP` [address_width], `NAME_ceP`,
    and if written
    `NAME_weP`, `NAME_dP` [width]; input `NAME_qP` [width] if read, valid in the cycle after ceP.
    Protocol `ap_vld` (one element): input `NAME_i` [width] if read (stable from ap_start to ap_done, but see below),
    outputs `NAME_o` [width]
    and `NAME_o_ap_vld` (one cycle a write) if written. An element that is read and written: what was written is kept
    inside,
    the module never reads its own write back through `NAME_i`.
    """

    name: str
    """Prefix of the port names."""
    width: int
    depth: int
    reads: bool
    writes: bool
    argument: str
    """The C argument or global."""
    byte_offsets: tuple[int, ...]
    """For each element, where it lies in the C object, in bytes (little endian, element padded to whole bytes)."""
    bit_offset: int = 0
    """Of the element within its first byte (bit-fields)."""
    ports: int = 1
    protocol: str = "ap_memory"
    signed: bool = False

    @property
    def address_width(self) -> int:
        """Bits of an address; at least 1."""
        return max(1, (self.depth - 1).bit_length())


@dataclass(frozen=True)
class StreamPort:
    """A FIFO channel outside the module.

    Inputs have NAME_dout, NAME_empty_n and NAME_read, outputs NAME_din, NAME_full_n and NAME_write.
    """

    name: str
    width: int
    is_input: bool
    argument: str


@dataclass(frozen=True)
class Register:
    """A register on the AXI4-Lite bus, of 32-bit words, the least significant first."""

    name: str
    """`AP_CTRL`, `GIE`, `IER`, `ISR`, `ap_return`, or a scalar's name."""
    offset: int
    """In bytes."""
    width: int
    argument: str = ""
    """The C argument that it holds; empty for control and the result."""


@dataclass(frozen=True)
class Interface:
    """The whole module.

    Control (ap_ctrl_hs): inputs ap_clk, ap_rst (synchronous, active high), ap_start; outputs ap_done (one cycle),
    ap_idle, ap_ready; ap_return
    [result_width] valid with ap_done and until the next ap_start. A call begins in a cycle with ap_start and ap_idle
    (or directly after
    ap_done); ap_start stays high until ap_ready, which comes with ap_done.

    With control `s_axilite` these ports, but for ap_clk and ap_rst, are registers of an AXI4-Lite slave whose ports are
    s_axi_control_AWADDR, ..., s_axi_control_RREADY, and there is an output `interrupt`; scalars of protocol `s_axilite`
    are such registers too (when only scalars are, control keeps its ports and there is no interrupt). The map, in
    `registers`, is the usual one:

        0x00  AP_CTRL: bit 0 ap_start (write 1; 0 again after the call), 1 ap_done (cleared by a read), 2 ap_idle,
              3 ap_ready (cleared by a read), 7 auto_restart, 9 interrupt
        0x04  GIE: bit 0 enables the interrupt
        0x08  IER: bit 0 enables ap_done as a cause, bit 1 ap_ready
        0x0c  ISR: bit 0 ap_done came, bit 1 ap_ready came; a written 1 toggles
        0x10  ap_return, if there is one: a word for each 32 bits, then a reserved word
        ...   each scalar in order: a word for each 32 bits, then a reserved word

    Without control on the bus the scalars start at 0x10 all the same. A scalar's register is to be left alone from
    ap_start to ap_done; ap_return is what the last call that ended returned.
    """

    module: str
    result_width: int = 0
    """0: void."""
    result_signed: bool = False
    scalars: tuple[ScalarPort, ...] = ()
    arrays: tuple[ArrayPort, ...] = ()
    streams: tuple[StreamPort, ...] = ()
    arguments: tuple[Argument, ...] = ()
    """In the order of the C declaration, then the globals."""
    control: str = "ap_ctrl_hs"
    notes: tuple[str, ...] = field(default=())
    registers: tuple[Register, ...] = ()
    """Of the AXI4-Lite slave, by offset; empty: there is none."""
    bus_address_width: int = 0
    """Bits of its byte addresses."""
