"""The default policy: which loops are pipelined and unrolled when no pragma says so.

```
for (r..14) for (c..14) {            c: pipelined (default)
  for (k..3) for (l..3)              k, l: unrolled completely, 9 loads of `in` in 5 cycles instead of 9 iterations
    t += f[3*k+l] * in[r+k][c+l];
  out[r][c] = t;
}
for (i..64) s += a[i] * b[i];        unrolled by 2: `a` and `b` have two ports each
```

`run` comes before unrolling and decides that; loops inside a loop or function that a pragma pipelines are unrolled
completely in any case. `run_late` comes when loops have their final form and has each block that branches to itself
pipelined.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rtlagent.hls.analysis.cost import period_ns
from rtlagent.hls.analysis.dominators import Dominators
from rtlagent.hls.analysis.loops import Loop, LoopForest, find_loops, trip_count
from rtlagent.hls.analysis.ranges import Ranges
from rtlagent.hls.analysis.subscripts import Subscripts
from rtlagent.hls.ir import DIVISIONS, Function, LoopDirectives, Module, Opcode
from rtlagent.hls.options import HlsOptions, Remarks

from .loop_form import simplify
from .nest_model import START_CYCLES, Body, blocks_outside_children, copies, iterations, own_body, pressure, shifted
from .unroll import loop_place

MOST_WEIGHT = 600
"""Of a body after complete unrolling by default."""
MOST_TRIPS = 16
"""Of a loop that is unrolled completely by default."""
MOST_PRODUCTS = 6
"""Multipliers that a loop body may need at once after unrolling by default."""
CONFLICT_CYCLES = 2
"""Initiation interval that a load and a store of unknown elements of one memory allow."""
GAIN = 0.75
"""Unrolling by default must bring the cycles down to this part."""


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Set the unroll factors that pragmas imply and that the defaults advise."""
    for function in module.functions:
        forest = simplify(function)
        _unroll_inside_pipelines(function, forest, remarks)
        if options.auto_unroll and options.auto_pipeline:
            subscripts, tree = Subscripts(Ranges(function, forest)), Dominators.of(function)
            for root in forest.roots:
                _Policy(subscripts, tree, period_ns(options), remarks).decide(root)


def run_late(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Have single-block loops pipelined; name those that a pragma wants pipelined and that cannot be."""
    for function in module.functions:
        for loop in find_loops(function):
            _pipeline(loop, options, remarks)


def _pipeline(loop: Loop, options: HlsOptions, remarks: Remarks) -> None:
    directives = loop.header.directives
    asked = directives is not None and directives.pipeline_ii is not None
    calls = any(op.opcode is Opcode.CALL for block in loop.blocks for op in block.ops)
    if loop.is_single_block and not calls:
        # A divider that stops when it is done beats one of fixed latency that every iteration waits for.
        divides = any(op.opcode in DIVISIONS for op in loop.header.ops)
        if (
            not asked
            and not divides
            and options.auto_pipeline
            and not (directives is not None and directives.pipeline_off)
        ):
            _directives(loop).pipeline_ii = 0
            remarks.note("auto-pipeline", "the loop is pipelined by default", loop_place(loop))
        return
    if asked and directives is not None:
        directives.pipeline_ii = None
        remarks.warn("pipeline", f"the loop cannot be pipelined: {_reason(loop, calls)}", loop_place(loop))


def _reason(loop: Loop, calls: bool) -> str:
    if not loop.is_innermost:
        inner = ", ".join(_name(child) for child in loop.children)
        return f"{inner} inside it is not unrolled"
    if calls:
        return "it calls a function that is not inlined"
    if not loop.exits:
        return "it never ends"
    return "its control flow does not become straight"


def _directives(loop: Loop) -> LoopDirectives:
    if loop.header.directives is None:
        loop.header.directives = LoopDirectives(place=loop_place(loop))
    return loop.header.directives


def _name(loop: Loop) -> str:
    directives = loop.header.directives
    if directives is not None and directives.label:
        return directives.label
    place = loop_place(loop)
    return f"loop_{place.line}" if place else loop.header.name


def _unroll_inside_pipelines(function: Function, forest: LoopForest, remarks: Remarks) -> None:
    """Ask for complete unrolling of what is inside pipelined loops and functions, as Vitis does."""
    for loop in forest:
        above = loop.parent
        pipelined = function.pipeline_ii is not None
        while above is not None and not pipelined:
            directives = above.header.directives
            pipelined = directives is not None and directives.pipeline_ii is not None
            above = above.parent
        if not pipelined:
            continue
        own = _directives(loop)
        if own.unroll is None:
            own.unroll = 0
            remarks.note("unroll", f"{_name(loop)} is unrolled: it is inside of what is pipelined", loop_place(loop))


@dataclass
class _Option:
    """One form of a loop."""

    cycles: float
    """Per entry of the loop."""
    factors: dict[Loop, int] = field(default_factory=dict)
    """Unroll factors to set; 0: completely."""
    reasons: dict[Loop, str] = field(default_factory=dict)
    per_iteration: float | None = None
    """Cycles an iteration, if it would be one pipelined block."""
    trips: int = 1


@dataclass
class _Policy:
    """Finds the best form of each loop, inner ones first."""

    subscripts: Subscripts
    tree: Dominators
    period: float
    remarks: Remarks
    _flat: dict[Loop, tuple[Body, dict[Loop, int]] | None] = field(default_factory=dict)

    def decide(self, root: Loop) -> None:
        """Set the unroll factors in one nest."""
        chosen = self._best(root)
        for loop, factor in chosen.factors.items():
            directives = _directives(loop)
            directives.unroll = factor
            reason = chosen.reasons.get(loop)
            if reason:
                how = f"unrolled by {factor}" if factor else "unrolled completely"
                self.remarks.note("auto-unroll", f"{_name(loop)} is {how}: {reason}", loop_place(loop))

    def _best(self, loop: Loop) -> _Option:
        nested = self._nested(loop)
        whole = self._whole(loop)
        if whole is None:
            return nested
        if not loop.children or whole.cycles <= GAIN * nested.cycles:
            return whole
        return nested

    def _nested(self, loop: Loop) -> _Option:
        """The loop with its inner loops each in their best form, flattened if there is one."""
        inner = [self._best(child) for child in loop.children]
        factors = {k: v for option in inner for k, v in option.factors.items()}
        reasons = {k: v for option in inner for k, v in option.reasons.items()}
        trips = iterations(loop)
        if len(inner) == 1 and inner[0].per_iteration is not None and self._flattens(loop):
            total = trips * inner[0].trips
            cycles = total * inner[0].per_iteration + START_CYCLES
            return _Option(cycles, factors, reasons, inner[0].per_iteration, total)
        own = 2 * len(loop.children) + (1 if not loop.children else 0)
        return _Option(trips * (own + sum(o.cycles for o in inner)), factors, reasons)

    def _flattens(self, loop: Loop) -> bool:
        directives = loop.header.directives
        if directives is not None and (directives.flatten is False or directives.pipeline_off):
            return False
        plain = all(len(b.successors()) == 1 or b is loop.latch for b in blocks_outside_children(loop))
        return plain and len(loop.exits) == 1 and loop.is_rotated

    def _whole(self, loop: Loop) -> _Option | None:
        """The loop as one pipelined block, all loops inside unrolled."""
        directives = loop.header.directives
        if directives is not None and directives.pipeline_off:
            return None
        found = self._with_children(loop)
        if found is None:
            return None
        body, factors = found
        trips = iterations(loop)
        load = pressure(body, loop, self.subscripts)
        if loop.children:
            copied = {op.memory for child in loop.children for b in child.blocks for op in b.ops}
            if load.conflicts & copied or body.weight > MOST_WEIGHT or self._asked(loop.children):
                return None
            interval = max(load.interval, self._carried(body.serial), CONFLICT_CYCLES if load.conflicts else 1)
            if body.products > MOST_PRODUCTS * interval:
                return None
            cycles = trips * interval + load.before + START_CYCLES
            reason = f"{_name(loop)} then takes {interval} cycle{'s' * (interval > 1)} an iteration"
            reasons = {child: reason for child in factors if child is not loop}
            return _Option(cycles, factors, reasons, interval, trips)
        interval = max(load.interval, self._carried(body.serial), CONFLICT_CYCLES if load.conflicts else 1)
        single = _Option(trips * interval + load.before + START_CYCLES, {}, {}, interval, trips)
        return self._by_two(loop, body, single) or single

    def _by_two(self, loop: Loop, body: Body, single: _Option) -> _Option | None:
        trips = trip_count(loop)
        directives = loop.header.directives
        told = directives is not None and (directives.unroll is not None or directives.pipeline_ii is not None)
        if told or trips is None or trips % 2 or trips < 4 or 2 * body.weight > MOST_WEIGHT // 3:
            return None
        double = shifted(body, loop, 2)
        load = pressure(double, loop, self.subscripts)
        interval = max(load.interval, self._carried(double.serial))
        assert single.per_iteration is not None
        if load.conflicts or interval >= 2 * single.per_iteration or not body.accesses:
            return None
        if double.products > MOST_PRODUCTS * interval:
            return None
        cycles = trips // 2 * interval + load.before + START_CYCLES
        reason = f"two iterations take {interval} cycle{'s' * (interval > 1)}, one {single.per_iteration:g}"
        return _Option(cycles, {loop: 2}, {loop: reason}, interval, trips // 2)

    @staticmethod
    def _carried(serial: float) -> int:
        return max(1, int(-(-(serial - 1e-9) // 1)))

    @staticmethod
    def _asked(loops: list[Loop]) -> bool:
        """Tell whether a pragma speaks about pipelining or unrolling one of the loops."""
        for loop in loops:
            for inner in loop.nest():
                d = inner.header.directives
                if d is not None and (d.pipeline_ii is not None or d.pipeline_off or d.unroll not in (None, 0)):
                    return True
        return False

    def _with_children(self, loop: Loop) -> tuple[Body, dict[Loop, int]] | None:
        """Return the loop's body with all inner loops unrolled, and their factors; None if that cannot be."""
        if loop not in self._flat:
            self._flat[loop] = self._compute(loop)
        return self._flat[loop]

    def _compute(self, loop: Loop) -> tuple[Body, dict[Loop, int]] | None:
        body = own_body(loop, self.subscripts, self.tree, self.period)
        if body is None:
            return None
        factors: dict[Loop, int] = {}
        for child in loop.children:
            trips = trip_count(child)
            inner = self._with_children(child)
            if inner is None or trips is None or trips > MOST_TRIPS:
                return None
            if trips * inner[0].weight > MOST_WEIGHT:
                return None
            copied = copies(inner[0], child, trips)
            if not all(self.tree.dominates(child.header, latch) for latch in loop.latches):
                copied.accesses = [replace(access, certain=False) for access in copied.accesses]
            body = body.and_then(copied)
            factors |= inner[1]
            factors[child] = 0
        return body, factors
