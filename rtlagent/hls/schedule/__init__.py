"""Scheduling: which operation in which cycle."""

from __future__ import annotations

from rtlagent.hls.ir import Block, Function, Module, Op, Opcode, Phi
from rtlagent.hls.options import HlsOptions, Remarks

from .delays import Delays
from .modulo import schedule_loop
from .plan import BlockPlan, FunctionPlan, Slot
from .sequential import schedule_block

__all__ = ["BlockPlan", "FunctionPlan", "Slot", "schedule"]


def schedule(module: Module, options: HlsOptions, remarks: Remarks) -> dict[Function, FunctionPlan]:
    """Schedule every block of every function, pipelining the loops that want it."""
    delays = Delays(options.target)
    budget = options.clock_ns * (1 - options.clock_margin) - delays.technology.setup
    plans: dict[Function, FunctionPlan] = {}
    for function in module.functions:
        plan = FunctionPlan(function)
        for block in function.blocks:
            plan.blocks[block] = _schedule(block, delays, budget, remarks)
        plans[function] = plan
    return plans


def _schedule(block: Block, delays: Delays, budget: float, remarks: Remarks) -> BlockPlan:
    plan = schedule_block(block, delays, budget)
    directives = block.directives
    if directives is None or directives.pipeline_ii is None or block not in block.successors():
        return plan
    _keep_phis_apart(block)
    plan = schedule_block(block, delays, budget)
    pipelined = schedule_loop(block, delays, budget, plan.length)
    if pipelined is not None:
        return pipelined
    plan.limited_by = "each iteration needs the one before: pipelining gains nothing"
    if directives.pipeline_ii:
        remarks.warn("PIPELINE_II", f"{directives.label} is not pipelined: {plan.limited_by}", directives.place)
    return plan


def _keep_phis_apart(block: Block) -> None:
    """Let a phi whose next value is another phi of the block take a COPY of it, which has a cycle of its own."""
    copies: dict[Phi, Op] = {}
    for phi in block.phis:
        following = phi.incoming[block]
        if isinstance(following, Phi) and following is not phi and following in block.phis:
            if following not in copies:
                copies[following] = Op(Opcode.COPY, following.width, [following], name=following.name, place=phi.place)
                block.ops.insert(0, copies[following])
            phi.incoming[block] = copies[following]
