"""Passes over the CDFG, one a module, each `run(module, options, remarks)` in place.

The order is a plan, not a taste: each entry of `PASSES` says why it stands where it stands.
"""

from __future__ import annotations

from collections.abc import Callable

from rtlagent.hls.check import check
from rtlagent.hls.ir import Module
from rtlagent.hls.options import HlsOptions, Remarks

from . import (
    auto_directives,
    common_subexpressions,
    counters,
    dead_code,
    exit_tests,
    flatten,
    forwarding,
    if_convert,
    invariant_motion,
    linearize,
    narrow,
    partition,
    rebalance,
    roms,
    rotate,
    scalar_replacement,
    share_accesses,
    simplify,
    simplify_cfg,
    split_calls,
    strength,
    unguard,
    unroll,
)

Pass = Callable[[Module, HlsOptions, Remarks], None]


def _clean(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    simplify.run(module, options, remarks)
    simplify_cfg.run(module, options, remarks)
    common_subexpressions.run(module, options, remarks)
    dead_code.run(module, options, remarks)


PASSES: tuple[tuple[str, Pass, str], ...] = (
    ("clean", _clean, "the front end leaves casts, copies and empty blocks"),
    ("roms", roms.run, "loads of constants fold before anything is counted"),
    ("rotate", rotate.run, "all later loop passes want the test at the bottom and know trip counts from it"),
    ("clean_rotated", _clean, "guards of counted loops are constants now"),
    ("narrow", narrow.run, "indices lose the 64 bits that pointers have"),
    ("clean_narrow", _clean, "casts of casts"),
    ("invariant_motion", invariant_motion.run, "inner loops see what is invariant as values from outside"),
    ("auto_directives", auto_directives.run, "factors are chosen on the loops as they were written"),
    ("unroll", unroll.run, "before branches are converted, so that constant conditions fold first"),
    ("clean_unrolled", _clean, "induction variables of copies are constants"),
    ("invariant_motion_2", invariant_motion.run, "loads with constant subscripts leave the loop around"),
    ("forwarding", forwarding.run, "what was stored just before need not be kept elsewhere"),
    ("scalar_replacement", scalar_replacement.run, "needs constant subscripts, and leaves fewer accesses to convert"),
    ("clean_scalars", _clean, "values that are carried through loops unchanged"),
    ("counters", counters.run, "trip counts are final; flattening nests the exit tests, which should be short"),
    ("if_convert", if_convert.run, "a pipelined loop is one block"),
    ("forwarding_converted", forwarding.run, "accesses from several branches are in one block now"),
    ("clean_converted", _clean, "conditions that imply one another"),
    ("rebalance", rebalance.run, "sums of unrolled loops are chains of selects and additions in one block now"),
    ("clean_balanced", _clean, "neutral elements fold"),
    ("partition", partition.run, "banks follow from counters, which flattening hides; ports must be known to it"),
    ("scalar_replacement_2", scalar_replacement.run, "elements of complete partitions"),
    ("clean_partitioned", _clean, "banks that are never meant"),
    ("flatten", flatten.run, "needs inner loops of one block; last change of the loops' shape"),
    ("clean_flat", _clean, "selects of equal values"),
    ("narrow_flat", narrow.run, "conditions are predicates and selects now, and copies have bounds of their own"),
    ("linearize", linearize.run, "dimensions have served the analyses"),
    ("share_accesses", share_accesses.run, "addresses are single values now; strength reduction likes fewer of them"),
    ("unguard", unguard.run, "after ports are shared, which needs predicates"),
    ("strength", strength.run, "addresses and products by constants, after everything that could fold them"),
    ("clean_late", _clean, "what strength reduction has in common"),
    ("narrow_late", narrow.run_late, "sums of shifted addresses; sums without carries become wires"),
    ("clean_last", _clean, "the last casts"),
    ("simplify_cfg_late", simplify_cfg.run_late, "blocks are states now: no empty one is kept"),
    ("auto_pipeline", auto_directives.run_late, "loops have their final form"),
    ("exit_tests", exit_tests.run, "only pipelined loops need an early exit condition"),
    ("forwarding_late", forwarding.run_late, "only pipelined loops need it, when their shape is final"),
    ("distances", forwarding.note_distances, "measured on the loops that are scheduled"),
    ("split_calls", split_calls.run, "a call is the last operation of its block"),
)
"""(name, pass, why it stands there)"""


def run_all(
    module: Module,
    options: HlsOptions,
    remarks: Remarks,
    after: Callable[[str, Module], None] | None = None,
) -> None:
    """Run every pass, checking the IR after each.

    Args:
        module: Changed in place.
        options: `dump_after` is the caller's: it has `after` called with every pass's name.
        remarks: Gets what the passes have to say.
        after: Called with the name and the module after each pass.
    """
    check(module)
    for name, transform, _ in PASSES:
        transform(module, options, remarks)
        check(module)
        if after is not None:
            after(name, module)
