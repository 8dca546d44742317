"""Delay figures of the targets, in ns, fitted to nextpnr's timing of small registered modules.

`benchmarks/perf/hls_delays.py` measures ecp5 and ice40 again and prints the figures beside the model's. xc7 has no free
place and route that could be measured: its figures are scaled from ecp5 by the ratio of the data sheets' cell
delays. `generic` lies between.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Technology:
    """Delays of one target's cells, each with the routing to it."""

    name: str
    clock_to_q: float
    """From the clock edge to a register's value."""
    setup: float
    """From a value to the register that keeps it."""
    add: float
    """An adder, without its carry chain."""
    carry: float
    """Of the carry chain, a bit."""
    overlap: float
    """Part of the carry chain that runs at the same time as that of an adder before it."""
    compare_overlap: float
    """The same for a less-than behind an adder."""
    compare: float
    """A less-than, without its carry chain: the last carry has to leave the chain."""
    equal: float
    """An equality: for each doubling of its input bits."""
    equal_base: float
    logic: float
    """A two-input gate; a lookup table takes two or three of them."""
    select: float
    """A two-way multiplexer."""
    fanout: float
    """A condition that drives many bits: for each doubling."""
    shift: float
    """A shift by a variable: for each bit of the amount."""
    shift_base: float
    multiplexer: float
    """One of several sources chosen by state: for each doubling of their number."""
    ram_out: float
    """From the clock edge to the data of a block RAM."""
    ram_setup: float
    """From an address to a block RAM."""
    lutram: float
    """A read of a lookup-table RAM of up to 16 words."""
    lutram_step: float
    """For each further doubling."""
    dsp: float
    """A product that fits one multiplier block; 0: there are none."""
    dsp_step: float
    """For each further block that takes part in a product, at the first two."""
    dsp_bits: tuple[int, int]
    """Widest signed operands of a block, the wider first."""
    soft_product: tuple[float, float]
    """A product of lookup tables: factor of the square root of its width, and constant."""
    lutram_bits: int
    """Greatest writable memory that is built of lookup tables by default."""
    lutram_depth: int
    """Its greatest depth."""
    has_lutram: bool
    """Without, lookup-table RAM is made of flip-flops and multiplexers."""
    rom_bits: int
    """Greatest read-only memory that becomes logic by default."""
    two_write_ports: bool
    read_first: bool
    """A block RAM's port gives the old word when another port writes it in the same cycle; else it gives anything."""
    """A block RAM takes two writes a cycle."""


ECP5 = Technology(
    name="ecp5",
    clock_to_q=0.5,
    setup=0.9,
    add=1.1,
    carry=0.035,
    overlap=0.8,
    compare_overlap=0.0,
    compare=2.2,
    equal=0.55,
    equal_base=-0.5,
    logic=0.4,
    select=0.85,
    fanout=0.3,
    shift=1.33,
    shift_base=-2.2,
    multiplexer=0.75,
    ram_out=5.6,
    ram_setup=1.2,
    lutram=1.0,
    lutram_step=0.95,
    dsp=5.4,
    dsp_step=1.75,
    dsp_bits=(18, 18),
    soft_product=(2.6, -2.8),
    lutram_bits=1024,
    lutram_depth=32,
    has_lutram=True,
    rom_bits=1024,
    two_write_ports=True,
    read_first=False,
)

ICE40 = Technology(
    name="ice40",
    clock_to_q=0.6,
    setup=0.9,
    add=0.4,
    carry=0.15,
    overlap=0.8,
    compare_overlap=0.8,
    compare=0.9,
    equal=0.75,
    equal_base=-1.4,
    logic=0.5,
    select=0.8,
    fanout=0.35,
    shift=1.3,
    shift_base=-2.0,
    multiplexer=0.8,
    ram_out=3.8,
    ram_setup=3.0,
    lutram=2.2,
    lutram_step=1.1,
    dsp=0.0,
    dsp_step=0.0,
    dsp_bits=(0, 0),
    soft_product=(3.05, -3.2),
    lutram_bits=256,
    lutram_depth=16,
    has_lutram=False,
    rom_bits=1024,
    two_write_ports=False,
    read_first=False,
)

XC7 = Technology(
    name="xc7",
    clock_to_q=0.5,
    setup=0.6,
    add=0.85,
    carry=0.028,
    overlap=0.8,
    compare_overlap=0.4,
    compare=1.0,
    equal=0.3,
    equal_base=-0.2,
    logic=0.25,
    select=0.6,
    fanout=0.15,
    shift=0.6,
    shift_base=-0.6,
    multiplexer=0.5,
    ram_out=2.6,
    ram_setup=0.9,
    lutram=0.7,
    lutram_step=0.4,
    dsp=3.9,
    dsp_step=1.6,
    dsp_bits=(25, 18),
    soft_product=(1.7, -1.8),
    lutram_bits=2048,
    lutram_depth=32,
    has_lutram=True,
    rom_bits=2048,
    two_write_ports=True,
    read_first=True,
)

GENERIC = Technology(
    name="generic",
    clock_to_q=0.5,
    setup=0.7,
    add=0.95,
    carry=0.031,
    overlap=0.8,
    compare_overlap=0.4,
    compare=1.3,
    equal=0.4,
    equal_base=-0.3,
    logic=0.28,
    select=0.7,
    fanout=0.2,
    shift=0.9,
    shift_base=-1.2,
    multiplexer=0.6,
    ram_out=3.6,
    ram_setup=1.0,
    lutram=0.9,
    lutram_step=0.6,
    dsp=4.5,
    dsp_step=1.7,
    dsp_bits=(18, 18),
    soft_product=(2.1, -2.2),
    lutram_bits=1024,
    lutram_depth=32,
    has_lutram=True,
    rom_bits=1024,
    two_write_ports=True,
    read_first=True,
)

TECHNOLOGIES = {t.name: t for t in (GENERIC, ICE40, ECP5, XC7)}
