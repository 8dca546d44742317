"""Verilog identifiers: legal, unique, and as close to the source's names as they can be."""

from __future__ import annotations

import re
from collections.abc import Iterable

_KEYWORDS = frozenset(
    """
    always and assign automatic begin buf bufif0 bufif1 case casex casez cell cmos config deassign default
    defparam design disable edge else end endcase endconfig endfunction endgenerate endmodule endprimitive
    endspecify endtable endtask event for force forever fork function generate genvar highz0 highz1 if ifnone
    incdir include initial inout input instance integer join large liblist library localparam macromodule
    medium module nand negedge nmos nor noshowcancelled not notif0 notif1 or output parameter pmos posedge
    primitive pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent rcmos real realtime reg
    release repeat rnmos rpmos rtran rtranif0 rtranif1 scalared showcancelled signed small specify specparam
    strong0 strong1 supply0 supply1 table task time tran tranif0 tranif1 tri tri0 tri1 triand trior trireg
    unsigned use uwire vectored wait wand weak0 weak1 while wire wor xnor xor alias always_comb always_ff
    always_latch assert assume before bind bins binsof bit break byte chandle checker class clocking const
    constraint context continue cover covergroup coverpoint cross dist do endchecker endclass endclocking
    endgroup endinterface endpackage endprogram endproperty endsequence enum eventually expect export extends
    extern final first_match foreach forkjoin global iff ignore_bins illegal_bins implements implies import
    inside int interconnect interface intersect join_any join_none let local logic longint matches modport
    nettype new nexttime null package packed priority program property protected pure rand randc randcase
    randsequence ref reject_on restrict return s_always s_eventually s_nexttime s_until s_until_with sequence
    shortint shortreal soft solve static string strong struct super sync_accept_on sync_reject_on tagged this
    throughout timeprecision timeunit type typedef union unique unique0 until until_with untyped var virtual
    void wait_order weak wildcard with within
    """.split()  # noqa: SIM905 - a list of 200 quoted words would be harder to read
)
_ILLEGAL = re.compile(r"[^A-Za-z0-9_]")


def legal(text: str) -> str:
    """Return `text` as a legal Verilog identifier that is no keyword of Verilog or SystemVerilog."""
    name = _ILLEGAL.sub("_", text).strip("_") or "v"
    if name[0].isdigit():
        name = f"v{name}"
    return f"{name}_" if name in _KEYWORDS else name


class Names:
    """Hands out identifiers, each once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def reserve(self, name: str) -> str:
        """Take exactly `name`; a port's name, which others rely on.

        Raises:
            ValueError: it is taken.
        """
        if name in self._taken:
            raise ValueError(f"the name {name} is needed twice")
        self._taken.add(name)
        return name

    def fresh_with(self, wish: str, suffixes: Iterable[str]) -> str:
        """Return `wish`, or `wish_2`..., such that with each suffix after a `_` it is free, too; take them all."""
        ends = tuple(suffixes)
        name = self.fresh(wish)
        while any(f"{name}_{end}" in self._taken for end in ends):
            name = self.fresh(wish)
        self._taken |= {f"{name}_{end}" for end in ends}
        return name

    def fresh(self, wish: str) -> str:
        """Return `wish`, or `wish_2`, `wish_3`... if it is taken."""
        base = legal(wish)
        name = base
        number = self._next.get(base, 2)
        while name in self._taken:
            name = f"{base}_{number}"
            number += 1
        self._next[base] = number
        self._taken.add(name)
        return name
