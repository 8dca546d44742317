"""What counts as a LUT, flip-flop, block RAM or DSP block on each target.

| target  | luts                                  | ffs        | brams                       | dsps                 |
|---------|---------------------------------------|------------|-----------------------------|----------------------|
| generic | 6-input `$lut`                        | `$_*DFF*_` | written memories, 64+ words | none: 0              |
| ice40   | SB_LUT4 (SB_CARRY is beside its LUT)  | SB_DFF*    | SB_RAM40_4K*, SB_SPRAM256KA | SB_MAC16             |
| ecp5    | LUT4, CCU2C = 2, TRELLIS_DPR16X4 = 6  | TRELLIS_FF | DP16KD, PDPW16KD            | MULT18X18D, MULT9X9D |
| xc7     | LUT1-6, INV, SRL*, RAM32M = 4 etc.    | FD*        | RAMB18E1 = 1, RAMB36E1 = 2  | DSP48E1              |

Distributed RAM counts as the LUTs that it occupies (ecp5: 4 that store and 2 that write). CARRY4,
MUXF7, PFUMX and the like have places of their own and cost no LUT. On generic, a memory of fewer
than 64 words and a ROM are built of flip-flops and LUTs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rtlagent.errors import UsageError

TARGETS = ("generic", "ice40", "ecp5", "xc7")


@dataclass(frozen=True)
class CellTable:
    """For each resource, patterns of cell types and what one such cell costs."""

    luts: tuple[tuple[str, int], ...]
    ffs: tuple[tuple[str, int], ...]
    brams: tuple[tuple[str, int], ...]
    dsps: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class CellCounts:
    """Resources of a mapped netlist."""

    luts: int
    ffs: int
    brams: int
    dsps: int


_TABLES: Mapping[str, CellTable] = {
    "generic": CellTable(
        luts=((r"\$lut", 1),),
        ffs=((r"\$_\w*DFF\w*_", 1),),
        brams=((r"\$mem(_v2)?", 1),),
        dsps=(),
    ),
    "ice40": CellTable(
        luts=((r"SB_LUT4", 1),),
        ffs=((r"SB_DFF\w*", 1),),
        brams=((r"SB_RAM40_4K\w*", 1), (r"SB_SPRAM256KA", 1)),
        dsps=((r"SB_MAC16", 1),),
    ),
    "ecp5": CellTable(
        luts=((r"LUT4", 1), (r"CCU2C", 2), (r"TRELLIS_DPR16X4", 6)),
        ffs=((r"TRELLIS_FF", 1),),
        brams=((r"DP16KD|PDPW16KD", 1),),
        dsps=((r"MULT18X18D|MULT9X9D", 1),),
    ),
    "xc7": CellTable(
        luts=(
            (r"LUT[1-6]|LUT6_2|INV|CFGLUT5|SRL16E?|SRLC16E?|SRLC32E", 1),
            (r"RAM(16|32|64)X1S(_1)?|ROM(16|32|64)X1", 1),
            (r"RAM(16|32|64)X1D(_1)?|RAM(16|32|64)X2S|RAM128X1S(_1)?|ROM128X1", 2),
            (r"RAM32M|RAM64M|RAM128X1D|RAM256X1S|ROM256X1|RAM(16|32)X4S", 4),
            (r"RAM256X1D|RAM512X1S|RAM(16|32)X8S|RAM64M8|RAM32M16", 8),
        ),
        ffs=((r"FD[A-Z]+(_1)?", 1),),
        brams=((r"RAMB18E1", 1), (r"RAMB36E1", 2)),
        dsps=((r"DSP48E1", 1),),
    ),
}


def require_target(target: str) -> str:
    """Return `target` if it is one that synthesis knows.

    Raises:
        UsageError: it is not.
    """
    if target not in TARGETS:
        raise UsageError(f"unknown target: {target!r}", hint=f"one of {', '.join(TARGETS)}")
    return target


def count(cells: Mapping[str, int], target: str) -> CellCounts:
    """Add up a netlist's cells, given as type -> number."""
    table = _TABLES[target]

    def total(rows: tuple[tuple[str, int], ...]) -> int:
        return sum(number * cost for kind, number in cells.items() for p, cost in rows if re.fullmatch(p, kind))

    return CellCounts(total(table.luts), total(table.ffs), total(table.brams), total(table.dsps))
