"""Which names Verilog and SystemVerilog accept."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_VERILOG_2005 = """
always and assign automatic begin buf bufif0 bufif1 case casex casez cell cmos config deassign default defparam design
disable edge else end endcase endconfig endfunction endgenerate endmodule endprimitive endspecify endtable endtask event
for force forever fork function generate genvar highz0 highz1 if ifnone incdir include initial inout input instance
integer join large liblist library localparam macromodule medium module nand negedge nmos nor noshowcancelled not notif0
notif1 or output parameter pmos posedge primitive pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent
rcmos real realtime reg release repeat rnmos rpmos rtran rtranif0 rtranif1 scalared showcancelled signed small specify
specparam strong0 strong1 supply0 supply1 table task time tran tranif0 tranif1 tri tri0 tri1 triand trior trireg
unsigned use uwire vectored wait wand weak0 weak1 while wire wor xnor xor
"""
_SYSTEMVERILOG_2017 = """
accept_on alias always_comb always_ff always_latch assert assume before bind bins binsof bit break byte chandle checker
class clocking const constraint context continue cover covergroup coverpoint cross dist do endchecker endclass
endclocking endgroup endinterface endpackage endprogram endproperty endsequence enum eventually expect export extends
extern final first_match foreach forkjoin global iff ignore_bins illegal_bins implements implies import inside int
interconnect interface intersect join_any join_none let local logic longint matches modport nettype new nexttime null
package packed priority program property protected pure rand randc randcase randsequence ref reject_on restrict return
s_always s_eventually s_nexttime s_until s_until_with sequence shortint shortreal soft solve static string strong struct
super sync_accept_on sync_reject_on tagged this throughout timeprecision timeunit type typedef union unique unique0
until until_with untyped var virtual void wait_order weak wildcard with within
"""
KEYWORDS = frozenset(_VERILOG_2005.split()) | frozenset(_SYSTEMVERILOG_2017.split())
"""Words of IEEE 1364-2005 and 1800-2017; the tools read every file as SystemVerilog."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]{0,254}")
_PLAIN_PATH = re.compile(r"[\w./+-]{1,200}", re.ASCII)
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def why_not_identifier(name: str) -> str | None:
    """Return why `name` cannot name a module or a signal; None if it can."""
    if not _IDENTIFIER.fullmatch(name):
        return "is not a Verilog identifier"
    if name in KEYWORDS:
        return "is a keyword of Verilog or SystemVerilog"
    return None


def is_plain_path(path: str) -> bool:
    """Tell whether a model may name a file so: relative, not climbing or hidden, of plain characters."""
    parts = PurePosixPath(path).parts
    hidden = any(p.startswith(".") for p in parts)
    return bool(parts) and not hidden and not path.startswith("/") and _PLAIN_PATH.fullmatch(path) is not None


def is_slug(name: str) -> bool:
    """Tell whether `name` can be part of a folder's name."""
    return _SLUG.fullmatch(name) is not None


def slug(text: str) -> str:
    """Make a name for a run out of any text."""
    kept = re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("_.-")[:64]
    return kept or "design"


def is_active_low(reset: str) -> bool:
    """Guess a reset's polarity from its name: `rst_n`, `reset_b`, `rst_ni`, `aresetn`, `nrst` are low."""
    name = reset.lower()
    return bool(re.search(r"_(n|b|ni|bi|n_i|l)$|(rst|reset)[nb]$|^n_?(rst|reset)", name))
