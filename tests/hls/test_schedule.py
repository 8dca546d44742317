import time

import pytest

from rtlagent.hls.check import check
from rtlagent.hls.ir import (
    Block,
    Branch,
    Const,
    Function,
    Jump,
    Memory,
    MemoryKind,
    Module,
    Op,
    Opcode,
    Param,
    Return,
    Value,
)
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.schedule import schedule
from rtlagent.hls.schedule.plan import BlockPlan, Slot, division_latency
from rtlagent.hls.schedule.verify import PlanError, check_plan
from rtlagent.hls.text import parse


def plans_of(text: str, **options: object) -> dict[str, BlockPlan]:
    """Schedule IR text; return the plans of the top's blocks by name."""
    module = parse(text)
    settings = HlsOptions(module.top.name, **options)  # type: ignore[arg-type]
    plans = schedule(module, settings, Remarks())
    check_plan(module, plans, settings)
    return {block.name: plan for block, plan in plans[module.top].blocks.items()}


def slot(plan: BlockPlan, name: str) -> Slot:
    (found,) = [s for op, s in plan.slots.items() if op.name == name]
    return found


def straight(body: str, memories: str = "", result: str = "%r.1", width: int = 32) -> str:
    return f"""
module top=f
{memories}
function f(%a 32, %b 32) {width} {{
entry:
{body}
  return {result}
}}
"""


def loop(body: str, *, memories: str = "", directives: str = "pipeline_ii=0", trips: int = 64, phis: str = "") -> str:
    return f"""
module top=f
{memories}
function f(%n 32) {{
entry:
  jump loop
loop: label="l" {directives}
  %i.1 = phi 8 [entry: 0, loop: %i.2]
{phis}
{body}
  %i.2 = add 8 %i.1, 1
  %c.1 = ne 1 %i.2, {trips}
  branch %c.1, loop, exit
exit:
  return
}}
"""


class TestSequentialBlocks:
    def test_operations_are_chained_as_far_as_the_clock_allows(self) -> None:
        body = "  %x.1 = add 32 %a, %b\n  %y.1 = add 32 %x.1, %b\n  %r.1 = add 32 %y.1, %a"
        assert plans_of(straight(body), target="ecp5")["entry"].length == 1
        assert plans_of(straight(body), target="ecp5", clock_ns=5.0)["entry"].length == 3

    def test_a_too_slow_operation_gets_a_cycle_of_its_own(self) -> None:
        body = "  %x.1 = add 32 %a, %b\n  %r.1 = add 32 %x.1, %a"
        assert plans_of(straight(body), target="ice40", clock_ns=3.0)["entry"].length == 2

    def test_block_ram_answers_in_the_next_cycle(self) -> None:
        plan = plans_of(straight("  %r.1 = load 32 m[%a]", "memory m 32 [512] static"))["entry"]
        assert (slot(plan, "r").latency, plan.length) == (1, 2)

    def test_small_arrays_answer_at_once(self) -> None:
        for depth in (2, 16):
            plan = plans_of(straight("  %r.1 = load 32 m[%a]", f"memory m 32 [{depth}] static"))["entry"]
            assert (slot(plan, "r").latency, plan.length) == (0, 1)

    def test_ports_bound_the_accesses_of_a_cycle(self) -> None:
        loads = "\n".join(f"  %v{n}.1 = load 32 m[%p{n}.1]" for n in range(6))
        places = "\n".join(f"  %p{n}.1 = xor 32 %a, {n}" for n in range(6))
        sums = "  %r.1 = add 32 %v0.1, %v5.1"
        for ports, cycles in ((1, 6), (2, 3)):
            plan = plans_of(straight(f"{places}\n{loads}\n{sums}", f"memory m 32 [512] param ports={ports}"))["entry"]
            issued = [s.cycle for op, s in plan.slots.items() if op.opcode is Opcode.LOAD]
            assert max(issued) == cycles - 1

    def test_a_store_may_share_the_cycle_of_an_earlier_load_but_not_of_a_later_one(self) -> None:
        memory = "memory m 32 [512] param"
        plan = plans_of(straight("  %r.1 = load 32 m[%a]\n  store m[%a] = %b", memory))["entry"]
        assert {s.cycle for op, s in plan.slots.items() if op.memory} == {0}
        plan = plans_of(straight("  store m[%a] = %b\n  %r.1 = load 32 m[%a]", memory))["entry"]
        assert slot(plan, "r").cycle == 1

    def test_elements_that_differ_do_not_wait(self) -> None:
        memory = "memory m 32 [512] param"
        body = "  %k.1 = add 32 %a, 1\n  store m[%a] = %b\n  %r.1 = load 32 m[%k.1]"
        assert slot(plans_of(straight(body, memory))["entry"], "r").cycle == 0

    def test_multiplications_are_spread_where_that_costs_nothing(self) -> None:
        lines = [f"  %q{n}.1 = xor 16 %s.1, {n}\n  %m{n}.1 = mul 16 %q{n}.1, %t.1" for n in range(12)]
        head = "  %s.1 = trunc 16 %a\n  %t.1 = trunc 16 %b\n"
        stores = "\n".join(f"  store m[{n}] = %m{n}.1" for n in range(12))
        plan = plans_of(straight(head + "\n".join(lines) + "\n" + stores, "memory m 16 [512] param", "%a"))["entry"]
        starts = [s.cycle for op, s in plan.slots.items() if op.opcode is Opcode.MUL]
        assert max(starts.count(c) for c in starts) <= 4
        assert plan.length <= 7

    def test_an_allocation_limits_multiplications(self) -> None:
        lines = "\n".join(f"  %q{n}.1 = xor 16 %s.1, {n}\n  %m{n}.1 = mul 16 %q{n}.1, %s.1" for n in range(6))
        total = "\n".join(f"  %x{n}.1 = xor 16 {'%s.1' if not n else f'%x{n - 1}.1'}, %m{n}.1" for n in range(6))
        text = straight(f"  %s.1 = trunc 16 %a\n{lines}\n{total}", "", "%x5.1", 16)
        plan = plans_of(text.replace(" 16 {\nentry", ' 16 allocation={"mul":1} {\nentry'))["entry"]
        assert sorted(s.cycle for op, s in plan.slots.items() if op.opcode is Opcode.MUL) == [0, 1, 2, 3, 4, 5]

    def test_wide_products_are_split_over_cycles(self) -> None:
        text = straight("  %r.1 = mul 32 %a, %b")
        found = slot(plans_of(text, target="ecp5")["entry"], "r")
        assert (found.latency, found.limb) == (1, 17)
        assert slot(plans_of(text, target="ecp5", clock_ns=25.0)["entry"], "r").latency == 0

    def test_narrow_factors_of_a_wide_product_need_one_block(self) -> None:
        body = "  %s.1 = trunc 16 %a\n  %x.1 = sext 32 %s.1\n  %y.1 = ashr 32 %b, 16\n  %r.1 = mul 32 %x.1, %x.1"
        assert slot(plans_of(straight(body), target="ecp5")["entry"], "r").latency == 0

    def test_extensions_wait_for_their_use(self) -> None:
        memory = "memory m 8 [512] param"
        body = "  %v.1 = load 8 m[%a]\n  %w.1 = load 8 m[%b]\n  %k.1 = trunc 8 %v.1\n"
        body = (
            "  %v.1 = load 8 m[%a]\n  %x.1 = zext 32 %v.1\n  %w.1 = load 8 m[%b]\n  %q.1 = load 8 m[7]\n"
            "  %u.1 = load 8 m[3]\n  %y.1 = zext 32 %u.1\n  %r.1 = mul 32 %x.1, %y.1"
        )
        plan = plans_of(straight(body, memory.replace("param", "param ports=1")))["entry"]
        assert slot(plan, "x").cycle == slot(plan, "r").cycle


class TestWaiting:
    CALLS = """
module top=f
memory m 32 [512] param
function f(%a 32) 32 {{
entry:
{body}
  %r.1 = call 32 g(%x.1)
  jump next
next:
  {use}
  return %s.1
}}
function g(%x 32) 32 {{
entry:
  store m[0] = %x
  return %x
}}
"""

    def test_a_call_is_in_the_last_cycle(self) -> None:
        body, use = "  %x.1 = add 32 %a, 1", "%s.1 = add 32 %r.1, %x.1"
        plan = plans_of(self.CALLS.format(body=body, use=use))["entry"]
        assert (plan.length, slot(plan, "r").cycle) == (1, 0)

    def test_nothing_from_a_memory_becomes_ready_while_a_call_runs(self) -> None:
        body = "  %x.1 = add 32 %a, 1\n  %w.1 = load 32 m[%a]"
        plan = plans_of(self.CALLS.format(body=body, use="%s.1 = add 32 %r.1, %w.1"))["entry"]
        assert slot(plan, "w").ready < slot(plan, "r").cycle == plan.length - 1

    def test_a_sequential_division_is_waited_for(self) -> None:
        text = """
module top=f
function f(%a 32, %b 32) 32 {
entry:
  %x.1 = xor 32 %a, 5
  %q.1 = udiv 32 %x.1, %b
  jump next
next:
  %r.1 = add 32 %q.1, %x.1
  return %r.1
}
"""
        plan = plans_of(text)["entry"]
        assert slot(plan, "q").latency == 0
        assert slot(plan, "q").cycle == plan.length - 1


class TestPipelines:
    def test_independent_iterations_start_every_cycle(self) -> None:
        body = "  %v.1 = load 32 a[%i.1]\n  %w.1 = mul 32 %v.1, %v.1\n  store b[%i.1] = %w.1"
        plan = plans_of(loop(body, memories="memory a 32 [64] param\nmemory b 32 [64] param"))["loop"]
        assert (plan.ii, plan.limited_by) == (1, "")
        assert plan.length >= 3

    def test_an_accumulation_keeps_up(self) -> None:
        phis = "  %acc.1 = phi 32 [entry: 0, loop: %acc.2]"
        body = "  %v.1 = load 32 a[%i.1]\n  %w.1 = mul 32 %v.1, %v.1\n  %acc.2 = add 32 %acc.1, %w.1"
        plan = plans_of(loop(body, phis=phis, memories="memory a 32 [64] param"))["loop"]
        assert plan.ii == 1

    def test_ports_limit_the_ii(self) -> None:
        places = "\n".join(f"  %p{n}.1 = xor 8 %i.1, {n}\n  %v{n}.1 = load 32 a[%p{n}.1]" for n in range(4))
        body = f"{places}\n  %x.1 = add 32 %v0.1, %v1.1\n  %y.1 = add 32 %v2.1, %v3.1\n  store b[%i.1] = %x.1\n"
        body += "  store b2[%i.1] = %y.1"
        memories = "memory a 32 [64] param ports=1\nmemory b 32 [64] param\nmemory b2 32 [64] param"
        plan = plans_of(loop(body, memories=memories))["loop"]
        assert (plan.ii, plan.ii_minimum) == (4, 4)
        assert plan.limited_by == "port of a: 4 reads, 1 port: array_partition a cyclic 4"
        plan = plans_of(loop(body, memories=memories.replace(" ports=1", "")))["loop"]
        assert plan.limited_by == "port of a: 4 reads, 2 ports: array_partition a cyclic 2"

    def test_a_recurrence_limits_the_ii(self) -> None:
        phis = "  %acc.1 = phi 32 [entry: 0, loop: %acc.2]"
        body = "  %v.1 = load 32 a[%i.1]\n  %x.1 = mul 32 %acc.1, %v.1\n  %acc.2 = add 32 %x.1, %v.1"
        plan = plans_of(loop(body, phis=phis, memories="memory a 32 [64] param"), target="ecp5")["loop"]
        assert plan.ii == 2
        assert plan.limited_by == "recurrence on acc: 2 cycles"

    def test_a_dependence_through_memory_limits_the_ii(self) -> None:
        body = "  %k.1 = load 8 key[%i.1]\n  %v.1 = load 32 h[%k.1]\n  %w.1 = add 32 %v.1, 1\n  store h[%k.1] = %w.1"
        memories = "memory key 8 [64] param\nmemory h 32 [256] param"
        plan = plans_of(loop(body, memories=memories), target="xc7")["loop"]
        assert plan.ii == 2
        assert plan.limited_by == "recurrence on h: 2 cycles"
        plan = plans_of(loop(body, memories=memories, directives='pipeline_ii=1 independent=["h"]'))["loop"]
        assert plan.ii == 1

    def test_the_target_is_kept_even_if_less_is_possible(self) -> None:
        body = "  %v.1 = load 32 a[%i.1]\n  %w.1 = mul 32 %v.1, %v.1\n  store b[%i.1] = %w.1"
        memories = "memory a 32 [64] param\nmemory b 32 [64] param"
        plan = plans_of(loop(body, memories=memories, directives="pipeline_ii=2"))["loop"]
        assert (plan.ii, plan.limited_by) == (2, "target II")

    def test_nothing_is_pipelined_where_that_gains_nothing(self) -> None:
        phis = "  %x.1 = phi 32 [entry: 1, loop: %x.2]"
        plan = plans_of(loop("  %x.2 = xor 32 %x.1, 3", phis=phis))["loop"]
        assert (plan.ii, plan.length) == (None, 1)

    def test_a_loop_that_needs_its_load_each_time_says_so(self) -> None:
        phis = "  %x.1 = phi 8 [entry: 1, loop: %x.2]"
        remarks = Remarks()
        module = parse(loop("  %x.2 = load 8 a[%x.1]", phis=phis, memories="memory a 8 [256] param"))
        assert module.top.blocks[1].directives is not None
        module.top.blocks[1].directives.pipeline_ii = 1
        plans = schedule(module, HlsOptions("f"), remarks)
        plan = plans[module.top].blocks[module.top.blocks[1]]
        assert plan.ii is None
        assert plan.limited_by == "not pipelined: an iteration takes 2 cycles in any case (recurrence on x: 2 cycles)"
        assert [d.code for d in remarks.diagnostics] == ["PIPELINE_II"]

    def test_a_division_has_a_unit_that_is_busy(self) -> None:
        body = "  %v.1 = load 8 a[%i.1]\n  %w.1 = udiv 8 %v.1, 7\n  %x.1 = load 8 b[%i.1]\n  %y.1 = mul 8 %w.1, %x.1\n"
        body += "  %z.1 = udiv 8 %y.1, %x.1\n  store b[%i.1] = %z.1"
        plan = plans_of(loop(body, memories="memory a 8 [64] param\nmemory b 8 [64] param"))["loop"]
        assert plan.ii == division_latency(8) == 6
        assert plan.limited_by == "division: 6 cycles"
        assert slot(plan, "w").latency == 6

    def test_the_exit_condition_must_be_known_within_the_ii(self) -> None:
        body = "  %v.1 = load 8 a[%i.1]\n  store b[%i.1] = %v.1\n  %d.1 = ne 1 %v.1, 0"
        text = loop(body, memories="memory a 8 [64] param\nmemory b 8 [64] param")
        text = text.replace("  branch %c.1", "  %e.1 = and 1 %c.1, %d.1\n  branch %e.1")
        plan = plans_of(text)["loop"]
        assert plan.ii is None or plan.ii == 2

    def test_a_least_latency_is_kept(self) -> None:
        body = "  %v.1 = load 32 a[%i.1]\n  store b[%i.1] = %v.1"
        memories = "memory a 32 [64] param\nmemory b 32 [64] param"
        plan = plans_of(loop(body, memories=memories, directives="pipeline_ii=1 latency_min=9"))["loop"]
        assert (plan.ii, plan.length) == (1, 9)

    def test_two_phis_that_swap_get_a_copy(self) -> None:
        phis = "  %x.1 = phi 32 [entry: 1, loop: %y.1]\n  %y.1 = phi 32 [entry: 2, loop: %z.1]"
        body = "  %v.1 = load 32 a[%i.1]\n  %z.1 = add 32 %x.1, %v.1\n  store b[%i.1] = %y.1"
        module = parse(loop(body, phis=phis, memories="memory a 32 [64] param\nmemory b 32 [64] param"))
        plans = schedule(module, HlsOptions("f"), Remarks())
        check(module)
        check_plan(module, plans, HlsOptions("f"))
        assert plans[module.top].blocks[module.top.blocks[1]].ii == 1


class TestVerifier:
    TEXT = loop(
        "  %v.1 = load 32 a[%i.1]\n  store b[%i.1] = %v.1", memories="memory a 32 [64] param\nmemory b 32 [64] param"
    )

    @pytest.mark.parametrize("shift", [-1, 1])
    def test_a_moved_operation_is_found(self, shift: int) -> None:
        module = parse(self.TEXT)
        plans = schedule(module, HlsOptions("f"), Remarks())
        plan = plans[module.top].blocks[module.top.blocks[1]]
        store = next(op for op in plan.slots if op.opcode is Opcode.STORE)
        old = plan.slots[store]
        plan.slots[store] = type(old)(old.cycle + shift, old.start_ns, old.end_ns)
        with pytest.raises(PlanError):
            check_plan(module, plans, HlsOptions("f"))

    def test_an_ii_below_what_the_condition_needs_is_found(self) -> None:
        module = parse(self.TEXT)
        plans = schedule(module, HlsOptions("f"), Remarks())
        plan = plans[module.top].blocks[module.top.blocks[1]]
        condition = next(op for op in plan.slots if op.opcode is Opcode.NE)
        old = plan.slots[condition]
        plan.slots[condition] = type(old)(1, 1.0, 2.0)
        with pytest.raises(PlanError, match="condition"):
            check_plan(module, plans, HlsOptions("f"))

    def test_a_shared_port_is_found(self) -> None:
        text = loop(
            "  %v.1 = load 32 a[%i.1]\n  %w.1 = load 32 a[3]\n  %x.1 = add 32 %v.1, %w.1\n  store b[%i.1] = %x.1",
            memories="memory a 32 [64] param\nmemory b 32 [64] param",
        )
        module = parse(text)
        plans = schedule(module, HlsOptions("f"), Remarks())
        plan = plans[module.top].blocks[module.top.blocks[1]]
        for op in plan.ports:
            plan.ports[op] = 0
        with pytest.raises(PlanError, match="port 0 of a"):
            check_plan(module, plans, HlsOptions("f"))


def big_block(count: int) -> Module:
    """Return a module whose one block mixes `count` words like a hash function, with table look-ups."""
    memories = [
        Memory("m", 32, (512,), MemoryKind.PARAM),
        Memory("t", 32, (256,), MemoryKind.ROM, init=tuple(range(256))),
    ]
    param = Param("p", 32)
    block = Block("entry")
    state: list[Value] = [param, param, param, param]
    for n in range(count // 9):
        a, b, c, d = state
        load = Op(Opcode.LOAD, 32, [Const(n % 512, 9)], memory=memories[0])
        rotated: list[Value] = [Op(Opcode.SHL, 32, [a, Const(5, 32)]), Op(Opcode.LSHR, 32, [a, Const(27, 32)])]
        turned = Op(Opcode.OR, 32, rotated)
        place = Op(Opcode.TRUNC, 8, [turned])
        table = Op(Opcode.LOAD, 32, [place], memory=memories[1])
        mixed = Op(Opcode.XOR, 32, [table, b])
        total = Op(Opcode.ADD, 32, [mixed, load])
        block.ops += [load, *(op for op in rotated if isinstance(op, Op)), turned, place, table, mixed, total]
        block.ops.append(Op(Opcode.STORE, 0, [total, Const((n + 7) % 512, 9)], memory=memories[0]))
        state = [total, a, c, d]
    block.terminator = Return(state[0])
    top = Function("f", [param], 32, blocks=[block])
    return Module(top, [top], memories)


def test_big_blocks_take_a_few_seconds() -> None:
    module = big_block(5000)
    check(module)
    begin = time.process_time()
    plans = schedule(module, HlsOptions("f"), Remarks())
    assert time.process_time() - begin < 4
    check_plan(module, plans, HlsOptions("f"))


def test_big_pipelined_loops_take_a_few_seconds() -> None:
    module = big_block(2000)
    (block,) = module.top.blocks
    entry, done = Block("start"), Block("done")
    entry.terminator = Jump(block)
    block.name = "loop"
    source = parse(loop("")).top.blocks[1]
    phi = source.phis[0]
    phi.incoming = {entry: phi.incoming[next(iter(phi.incoming))], block: source.ops[0]}
    block.phis, block.directives = [phi], source.directives
    block.ops += source.ops
    done.terminator = Return(block.ops[7])
    block.terminator = Branch(source.ops[1], block, done)
    module.top.blocks = [entry, block, done]
    check(module)
    begin = time.process_time()
    plans = schedule(module, HlsOptions("f"), Remarks())
    assert time.process_time() - begin < 10
    check_plan(module, plans, HlsOptions("f"))
