"""Control: tokens that walk through the blocks' cycles, the edges between blocks, and calls.

```
loop (ii 1, 3 cycles), condition c:   st_loop_0 <= entering | (st_loop_0 & c);  st_loop_1 <= st_loop_0;  st_loop_2 <=
st_loop_1;
                                      leaving = st_loop_2 & ~st_loop_1
```
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from rtlagent.hls.bind.timing import Timing, waits
from rtlagent.hls.emit.expressions import literal
from rtlagent.hls.emit.names import Names
from rtlagent.hls.emit.sheet import Sheet, any_of, both
from rtlagent.hls.ir import Block, Branch, Function, Jump, Module, Op, Opcode, Return, Switch, Value

Use = Callable[[Value, Block, int], str]
"""(value, block, cycle) -> its text there."""


@dataclass
class Edge:
    """A way from one block to another: the condition under which it is taken, in the source's last cycle."""

    source: Block
    target: Block
    condition: str


@dataclass
class Control:
    """Writes the tokens and knows the conditions."""

    module: Module
    timing: Timing
    sheet: Sheet
    names: Names
    use: Use
    start: str
    """1 in the cycle in which a call of the top begins."""
    edges: list[Edge] = field(default_factory=list)
    returns: dict[Function, list[tuple[str, Value | None, Block]]] = field(default_factory=dict)
    """(condition, value, block) of each return."""
    _tokens: dict[Block, list[str]] = field(default_factory=dict)
    _sites: dict[Function, list[tuple[Block, Op]]] = field(default_factory=dict)
    _site_register: dict[Function, str] = field(default_factory=dict)
    _done: dict[Block, str] = field(default_factory=dict)
    _called: dict[Block, str] = field(default_factory=dict)

    def declare(self) -> None:
        """Declare all tokens, so that everything else can name them."""
        for function in self.module.functions:
            prefix = "" if function is self.module.top else f"{function.name}_"
            for block in function.blocks:
                tokens = []
                for cycle in range(self.timing.length(block)):
                    name = self.names.fresh(f"st_{prefix}{block.name}_{cycle}")
                    if function is self.module.top and block is function.entry and cycle == 0:
                        self.sheet.wire(name, 1, self.start)
                    else:
                        self.sheet.register(name, 1, reset=0)
                    tokens.append(name)
                self._tokens[block] = tokens
                for op in block.ops:
                    if op.opcode is Opcode.CALL and op.callee is not None:
                        self._sites.setdefault(op.callee, []).append((block, op))
        for callee, sites in self._sites.items():
            if len(sites) > 1:
                width = (len(sites) - 1).bit_length()
                self._site_register[callee] = self.sheet.register(self.names.fresh(f"{callee.name}_return_to"), width)

    def token(self, block: Block, cycle: int) -> str:
        """Return the token's name."""
        return self._tokens[block][cycle]

    def last(self, block: Block) -> int:
        """Return a block's last cycle."""
        return self.timing.length(block) - 1

    def set_done(self, block: Block, condition: str) -> None:
        """Say when the unit that the block waits for is done; before `connect`."""
        self._done[block] = condition

    def sites(self, callee: Function) -> list[tuple[Block, Op]]:
        """Return the calls of a function."""
        return self._sites.get(callee, [])

    def connect(self) -> None:
        """Write what moves the tokens."""
        for function in reversed(self.module.functions):  # callees first: their returns are edges of their callers
            self._leave_blocks(function)
        into: dict[Block, list[str]] = {}
        for edge in self.edges:
            into.setdefault(edge.target, []).append(edge.condition)
        for function in self.module.functions:
            for block in function.blocks:
                conditions = into.get(block, [])
                if function is not self.module.top and block is function.entry:
                    conditions = self._call_tokens(function)
                self._walk(function, block, conditions)

    def _call_tokens(self, function: Function) -> list[str]:
        tokens = [self.token(block, self.last(block)) for block, _ in self.sites(function)]
        register = self._site_register.get(function)
        if register:
            width = (len(tokens) - 1).bit_length()
            for number, token in enumerate(tokens):
                self.sheet.write(register, token, literal(number, width))
        return tokens

    def _walk(self, function: Function, block: Block, entering: list[str]) -> None:
        tokens = self._tokens[block]
        plan = self.timing.plan(block)
        first = tokens[0]
        starts = list(entering)
        if plan.ii is not None:
            again = both(tokens[plan.ii - 1], self._continues(block, plan.ii - 1))
            starts.append(f"({again})")
        if not (function is self.module.top and block is function.entry):
            self.sheet.write(first, "", any_of(starts))
        for before, token in pairwise(tokens):
            self.sheet.write(token, "", before)

    def _continues(self, block: Block, cycle: int) -> str:
        end = block.terminator
        assert isinstance(end, Branch)
        condition = self.use(end.condition, block, cycle)
        return condition if end.then is block else f"~{condition}"

    def _leave_blocks(self, function: Function) -> None:
        for block in function.blocks:
            plan = self.timing.plan(block)
            last = self.last(block)
            token = self.token(block, last)
            end = block.terminator
            if plan.ii is not None:
                self._leave_loop(block, token, last, plan.ii)
                continue
            held = self._held(block, token)
            if isinstance(end, Jump):
                self._edge(block, end.target, held)
            elif isinstance(end, Branch):
                if end.then is end.other:
                    self._edge(block, end.then, held)
                    continue
                condition = self.use(end.condition, block, last)
                self._edge(block, end.then, f"({both(held, condition)})")
                self._edge(block, end.other, f"({both(held, f'~{condition}')})")
            elif isinstance(end, Switch):
                self._leave_switch(block, end, held, last)
            elif isinstance(end, Return):
                self.returns.setdefault(function, []).append((held, end.value, block))

    def _leave_switch(self, block: Block, end: Switch, held: str, last: int) -> None:
        value = self.use(end.value, block, last)
        by_target: dict[Block, list[str]] = {}
        hits = []
        for number, target in end.cases:
            hit = self.sheet.wire(
                self.names.fresh(f"{block.name}_case_{number}"), 1, f"{value} == {literal(number, end.value.width)}"
            )
            hits.append(hit)
            by_target.setdefault(target, []).append(hit)
        by_target.setdefault(end.default, []).append(f"~({any_of(hits)})")
        for target, conditions in by_target.items():
            self._edge(block, target, f"({both(held, any_of(conditions))})")

    def _leave_loop(self, block: Block, token: str, last: int, ii: int) -> None:
        end = block.terminator
        assert isinstance(end, Branch)
        exit_block = end.other if end.then is block else end.then
        following = last - ii
        if following >= 0:
            condition = f"({token} & ~{self.token(block, following)})"
        else:
            condition = f"({token} & ~({self._continues(block, ii - 1)}))"
        self._edge(block, exit_block, condition)

    def _held(self, block: Block, token: str) -> str:
        """Return when a block's end is reached: its last token, or the end of what it waits for."""
        op = block.ops[-1] if block.ops else None
        if op is None or not waits(op, self.timing.plan(block)):
            return token
        if op.opcode is not Opcode.CALL:
            waiting = self.sheet.register(self.names.fresh(f"{token}_wait"), 1, reset=0)
            done = both(waiting, self._done[block])
            self.sheet.write(waiting, token, "1'd1")
            self.sheet.write(waiting, self._done[block], "1'd0")
            return f"({done})"
        assert op.callee is not None
        returned = any_of([condition for condition, _, _ in self.returns[op.callee]])
        register = self._site_register.get(op.callee)
        if not register:
            return f"({returned})"
        number = next(i for i, (_, call) in enumerate(self.sites(op.callee)) if call is op)
        width = (len(self.sites(op.callee)) - 1).bit_length()
        name = self.names.fresh(f"{token}_back")
        return self.sheet.wire(name, 1, f"({returned}) & ({register} == {literal(number, width)})")

    def _edge(self, source: Block, target: Block, condition: str) -> None:
        self.edges.append(Edge(source, target, condition))
