"""The datapath: a net for each operation, registers for what outlives its cycle, units for what is shared."""

from __future__ import annotations

from dataclasses import dataclass, field

from rtlagent.hls.bind import Binding, DividerUnit, MultiplierUnit
from rtlagent.hls.bind.timing import Timing, waits
from rtlagent.hls.emit.control import Control
from rtlagent.hls.emit.divider import pipeline_divider, sequential_divider
from rtlagent.hls.emit.expressions import bits, expression, literal
from rtlagent.hls.emit.memories import Access
from rtlagent.hls.emit.names import Names
from rtlagent.hls.emit.sheet import Sheet, any_of, both, choose
from rtlagent.hls.ir import (
    DIVISIONS,
    Block,
    Const,
    Function,
    Memory,
    Module,
    Op,
    Opcode,
    Param,
    Phi,
    Place,
    Stream,
    Value,
)
from rtlagent.hls.schedule.multiplier import Limb, operand_bits, partial_products
from rtlagent.hls.schedule.plan import Slot

_SIGNED_DIVISIONS = frozenset({Opcode.SDIV, Opcode.SREM})
_QUOTIENTS = frozenset({Opcode.UDIV, Opcode.SDIV})
_MEMORY = frozenset({Opcode.LOAD, Opcode.STORE})
_STREAM = frozenset({Opcode.READ, Opcode.WRITE})


@dataclass(frozen=True)
class Transfer:
    """A READ or WRITE in its cycle, as texts."""

    wants: str
    """1 when it needs the stream."""
    data: str
    """Of a WRITE; empty for a READ."""


@dataclass
class Datapath:
    """Writes everything but control and memories."""

    module: Module
    timing: Timing
    sheet: Sheet
    names: Names
    binding: Binding
    params: dict[Param, str] = field(default_factory=dict)
    accesses: dict[Memory, list[Access]] = field(default_factory=dict)
    transfers: dict[Stream, list[Transfer]] = field(default_factory=dict)
    _nets: dict[Op, str] = field(default_factory=dict)
    _chains: dict[Value, list[str]] = field(default_factory=dict)
    control: Control = field(init=False)

    def use(self, value: Value, block: Block, cycle: int) -> str:
        """Return the text of a value as a use in `cycle` of `block` takes it."""
        if isinstance(value, Const):
            return literal(value.value, value.width)
        if isinstance(value, Param):
            return self.params[value]
        source = self.timing.source(value, block, cycle)
        if source.stage == 0:
            assert isinstance(value, Op)
            return self.net(value)
        return self._chain(value, source.stage)

    def net(self, op: Op) -> str:
        """Return the name of the net that carries an operation's result in the cycle in which it is ready."""
        if op not in self._nets:
            self._nets[op] = self.names.fresh(op.name or f"{op.opcode}_{_line(op.place)}")
        return self._nets[op]

    def _chain(self, value: Value, stage: int) -> str:
        chain = self._chains.setdefault(value, [])
        while len(chain) < stage:
            if isinstance(value, Phi):
                wish = (value.name or "phi") + (f"_r{len(chain) + 1}" if chain else "")
            else:
                assert isinstance(value, Op)
                wish = f"{self.net(value)}_r{len(chain) + 1 if chain else ''}"
            chain.append(self.sheet.register(self.names.fresh(wish), value.width))
        return chain[stage - 1]

    def operations(self) -> None:
        """Write a net for each operation, and note the memory accesses."""
        for function in self.module.functions:
            for block in function.blocks:
                for op in block.ops:
                    if op.opcode in _MEMORY:
                        self._access(op, block)
                    elif op.opcode in _STREAM:
                        self._transfer(op, block)
                    elif op.opcode is Opcode.CALL or op.opcode in DIVISIONS or op in self.binding.unit_of:
                        continue
                    else:
                        self._pure(op, block)
        for unit in self.binding.multipliers:
            self._multiplier(unit)
        for divider in self.binding.dividers:
            self._divider(divider)

    def _operands(self, op: Op, block: Block) -> list[str]:
        cycle = self.timing.slot(op).cycle
        return [self.use(a, block, cycle) for a in op.args]

    def _pure(self, op: Op, block: Block) -> None:
        slot = self.timing.slot(op)
        operands = self._operands(op, block)
        if any(isinstance(a, Const) for a in op.args) and op.opcode is Opcode.TRUNC:
            constant = op.args[0]
            assert isinstance(constant, Const)
            text = literal(constant.value & ((1 << op.width) - 1), op.width)
        else:
            text = expression(op, operands)
        net = self.net(op)
        if slot.latency == 0:
            self.sheet.wire(net, op.width, text, _comment(op.place))
            return
        if slot.limb:
            self._limb_product(net, (operands[0], operands[1]), op.width, operand_bits(op), slot, _comment(op.place))
            return
        stage = self.sheet.wire(self.names.fresh(f"{net}_now"), op.width, text, _comment(op.place))
        self._pipeline(net, stage, op.width, slot.latency)

    def _limb_product(
        self,
        net: str,
        operands: tuple[str, str],
        width: int,
        real: tuple[int, int],
        slot: Slot,
        comment: str = "",
    ) -> None:
        """Write a wide product as registered partial products and their sum (see schedule/multiplier.py).

        No synthesizer here puts registers between the DSP blocks of one `*`.
        """
        sheet = self.sheet
        a, b = (sheet.wire(self.names.fresh(f"{net}_{k}"), width, o) for k, o in zip("ab", operands, strict=True))
        terms = []
        for part in partial_products(width, slot.limb, real):
            wide = part.width
            left, right = _limb(a, width, part.left, wide), _limb(b, width, part.right, wide)
            signed = part.left.signed or part.right.signed
            product = f"$signed({left}) * $signed({right})" if signed else f"{left} * {right}"
            register = self._registered(net, wide, sheet.wire(self.names.fresh(f"{net}_part"), wide, product))
            kept = min(wide, width - part.shift)
            text = bits(register, wide, kept - 1, 0)
            text = f"{{{text}, {literal(0, part.shift)}}}" if part.shift else text
            above = width - part.shift - kept
            sign = f"{{{above}{{{bits(register, wide, wide - 1, wide - 1)}}}}}" if signed else literal(0, above)
            terms.append(f"{{{sign}, {text}}}" if above else text)
        if slot.latency == 1:
            sheet.wire(net, width, " + ".join(terms), comment)
            return
        total = sheet.wire(self.names.fresh(f"{net}_sum"), width, " + ".join(terms))
        self._pipeline(net, total, width, slot.latency - 1)

    def _registered(self, net: str, width: int, text: str) -> str:
        register = self.sheet.register(self.names.fresh(f"{net}_stage"), width)
        self.sheet.write(register, "", text)
        return register

    def _pipeline(self, net: str, stage: str, width: int, latency: int) -> None:
        for _ in range(latency):
            register = self.sheet.register(self.names.fresh(f"{net}_stage"), width)
            self.sheet.write(register, "", stage)
            stage = register
        self.sheet.wire(net, width, stage)

    def _access(self, op: Op, block: Block) -> None:
        memory = op.memory
        assert memory is not None
        slot = self.timing.slot(op)
        subscript = op.subscripts[0] if op.subscripts else Const(0, 1)
        self.accesses.setdefault(memory, []).append(
            Access(
                op=op,
                token=self.control.token(block, slot.cycle),
                predicate="" if op.predicate is None else self.use(op.predicate, block, slot.cycle),
                address=self._address(subscript, memory, block, slot.cycle),
                data=self.use(op.args[0], block, slot.cycle) if op.opcode is Opcode.STORE else "",
                port=self.binding.ports[op],
                latency=slot.latency,
            )
        )

    def _transfer(self, op: Op, block: Block) -> None:
        assert op.stream is not None
        cycle = self.timing.slot(op).cycle
        wants = both(
            self.control.token(block, cycle), "" if op.predicate is None else self.use(op.predicate, block, cycle)
        )
        data = self.use(op.args[0], block, cycle) if op.opcode is Opcode.WRITE else ""
        self.transfers.setdefault(op.stream, []).append(Transfer(wants, data))
        if op.opcode is Opcode.READ:
            self.sheet.wire(self.net(op), op.width, f"{op.stream.name}_dout", _comment(op.place))

    def _address(self, subscript: Value, memory: Memory, block: Block, cycle: int) -> str:
        width = max(1, (memory.depth - 1).bit_length())
        text = self.use(subscript, block, cycle)
        if isinstance(subscript, Const):
            return literal(subscript.value & ((1 << width) - 1), width)
        if subscript.width < width:
            return f"{{{literal(0, width - subscript.width)}, {text}}}"
        if subscript.width > width:
            return f"{text}[{width - 1}:0]" if width > 1 else f"{text}[0]"
        return text

    def _multiplier(self, unit: MultiplierUnit) -> None:
        sources: tuple[list[tuple[str, str]], list[tuple[str, str]]] = ([], [])
        for op in unit.ops:
            block = self.timing.home(op)
            cycle = self.timing.slot(op).cycle
            token = self.control.token(block, cycle)
            for side, arg in zip(sources, op.args, strict=True):
                side.append((token, self.use(arg, block, cycle)))
        width = unit.width
        name = self.names.fresh("multiplier")
        a = self.sheet.wire(self.names.fresh(f"{name}_a"), width, choose(sources[0], width))
        b = self.sheet.wire(self.names.fresh(f"{name}_b"), width, choose(sources[1], width))
        if unit.limb:
            sides = zip(*(operand_bits(op) for op in unit.ops), strict=True)
            left, right = (max(side) for side in sides)
            self._limb_product(name, (a, b), width, (left, right), Slot(0, latency=unit.latency, limb=unit.limb))
        else:
            product = self.sheet.wire(self.names.fresh(f"{name}_now"), width, f"$signed({a}) * $signed({b})")
            self._pipeline(name, product, width, unit.latency)
        for op in unit.ops:
            self.sheet.wire(self.net(op), op.width, name, _comment(op.place))

    def _divider(self, unit: DividerUnit) -> None:
        width = unit.width
        instance = self.names.fresh("divider")
        kind = f"{self.module.top.name}_divider_{width}" + (f"_{unit.latency}" if unit.latency else "")
        self.sheet.submodules[kind] = (
            pipeline_divider(kind, width, unit.latency) if unit.latency else sequential_divider(kind, width)
        )
        tokens, signs = [], []
        sides: tuple[list[tuple[str, str]], list[tuple[str, str]]] = ([], [])
        for op in unit.ops:
            block = self.timing.home(op)
            cycle = self.control.last(block) if waits(op, self.timing.plan(block)) else self.timing.slot(op).cycle
            token = self.control.token(block, cycle)
            tokens.append(token)
            signed = op.opcode in _SIGNED_DIVISIONS
            if signed:
                signs.append(token)
            for side, arg in zip(sides, op.args, strict=True):
                side.append((token, _extend(self.use(arg, block, cycle), arg, width, signed=signed)))
        start = self.sheet.wire(self.names.fresh(f"{instance}_start"), 1, any_of(tokens))
        sign = self.sheet.wire(self.names.fresh(f"{instance}_is_signed"), 1, any_of(signs))
        dividend = self.sheet.wire(self.names.fresh(f"{instance}_dividend"), width, choose(sides[0], width))
        divisor = self.sheet.wire(self.names.fresh(f"{instance}_divisor"), width, choose(sides[1], width))
        results = {}
        for quotient in (True, False):
            results[quotient] = self.names.fresh(f"{instance}_{'quotient' if quotient else 'remainder'}")
            self.sheet.nets.append(f"wire [{width - 1}:0] {results[quotient]};")
        go = self.sheet.enable or "1'd1"
        pins = [".ap_clk(ap_clk)", f".ap_ce({go})"] if unit.latency else [".ap_clk(ap_clk)", ".ap_rst(ap_rst)"]
        pins += [f".start({start})", f".is_signed({sign})", f".dividend({dividend})", f".divisor({divisor})"]
        if not unit.latency:
            done = self.names.fresh(f"{instance}_done")
            self.sheet.nets.append(f"wire {done};")
            pins.append(f".done({done})")
            for op in unit.ops:
                self.control.set_done(self.timing.home(op), done)
        pins.append(f".quotient({results[True]})")
        pins.append(f".remainder({results[False]})")
        self.sheet.blocks.append(f"{kind} {instance} (\n  " + ",\n  ".join(pins) + "\n);")
        for op in unit.ops:
            text = results[op.opcode in _QUOTIENTS]
            self.sheet.wire(self.net(op), op.width, text if op.width == width else f"{text}[{op.width - 1}:0]")

    def calls(self) -> None:
        """Write the parameters' registers and the results of calls."""
        for callee in self.module.functions:
            for number, param in enumerate(callee.params):
                for block, call in self.control.sites(callee):
                    last = self.control.last(block)
                    value = self.use(call.args[number], block, last)
                    self.sheet.write(self.params[param], self.control.token(block, last), value)
            if not callee.width:
                continue
            for _, call in self.control.sites(callee):
                self.sheet.wire(self.net(call), call.width, self._returned(callee))

    def _returned(self, callee: Function) -> str:
        sources = []
        for condition, value, block in self.control.returns[callee]:
            assert value is not None
            sources.append((condition, self.use(value, block, self.control.last(block))))
        return choose(sources, callee.width)

    def edges(self) -> None:
        """Write the phis' registers: what each edge brings, and what each iteration leaves for the next."""
        for edge in self.control.edges:
            last = self.control.last(edge.source)
            for phi in edge.target.phis:
                target = self._chain(phi, 1)
                text = self.use(phi.incoming[edge.source], edge.source, last)
                if text != target:
                    self.sheet.write(target, edge.condition, text)
        for function in self.module.functions:
            for block in function.blocks:
                if self.timing.plan(block).ii is None:
                    continue
                for phi in block.phis:
                    cycle = self.timing.written(phi)
                    target = self._chain(phi, 1)
                    text = self.use(phi.incoming[block], block, cycle)
                    if text != target:
                        self.sheet.write(target, self.control.token(block, cycle), text)

    def registers(self) -> None:
        """Write the chains of all values that some use takes from a register; last, when all uses are known."""
        for value, stages in list(self.timing.stages.items()):
            block = self.timing.home(value)
            plan = self.timing.plan(block)
            if isinstance(value, Phi):
                first_written = self.timing.written(value) if plan.ii is not None else 0
                start = 2
            else:
                assert isinstance(value, Op)
                if stages == 0:
                    continue
                if waits(value, plan):
                    self._chain(value, 1)
                    for edge in self.control.edges:
                        if edge.source is block:
                            self.sheet.write(self._chain(value, 1), edge.condition, self.net(value))
                    continue
                first_written = self.timing.slot(value).ready
                start = 1
            for stage in range(start, stages + 1):
                before = self.net(value) if stage == 1 and isinstance(value, Op) else self._chain(value, stage - 1)
                cycle = first_written + (stage - (1 if start == 1 else 2)) * (plan.ii or 0)
                target = self._chain(value, stage)
                self.sheet.write(target, self.control.token(block, cycle), before)


def _limb(name: str, width: int, limb: Limb, wide: int) -> str:
    """Return some bits of an operand, extended to the width of a product."""
    high = limb.low + limb.width - 1
    above = wide - limb.width
    sign = f"{{{above}{{{bits(name, width, high, high)}}}}}" if limb.signed else literal(0, above)
    return f"{{{sign}, {bits(name, width, high, limb.low)}}}"


def _line(place: Place | None) -> str:
    return f"l{place.line}" if place else "v"


def _comment(place: Place | None) -> str:
    return f"{place.path}:{place.line}" if place else ""


def _extend(text: str, value: Value, width: int, *, signed: bool) -> str:
    if isinstance(value, Const):
        return literal((value.signed if signed else value.value) & ((1 << width) - 1), width)
    if value.width == width:
        return text
    if not signed:
        return f"{{{literal(0, width - value.width)}, {text}}}"
    sign = f"{text}[{value.width - 1}]" if value.width > 1 else text
    return f"{{{{{width - value.width}{{{sign}}}}}, {text}}}"
