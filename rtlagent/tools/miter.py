"""The circuits in which Yosys compares two versions of a module, and the commands that do it."""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.tools.interface import Clocking, PortShape
from rtlagent.tools.yosys import Stage
from rtlagent.types import Reset

RESET_CYCLES = 2
SHALLOW_CYCLES = 4
_BASE_STEPS = 7
"""More than the steps that equiv_simple and equiv_induct take as given."""
WAVE = "counterexample.vcd"
AIGER = "miter.aig"
_MODELS = "models.il"

# Yosys's own $anyinit cannot be kept from being undefined; `=== 1` of an undefined value is 0.
ANY_START = r"""(* techmap_celltype = "$anyinit" *)
module rtlagent_any_start(D, Q);
  parameter WIDTH = 1;
  input [WIDTH-1:0] D;
  output [WIDTH-1:0] Q;
  reg first = 1'b1;
  reg [WIDTH-1:0] held;
  wire [WIDTH-1:0] any, start;
  \$anyseq #(.WIDTH(WIDTH)) source (.Y(any));
  genvar i;
  generate for (i = 0; i < WIDTH; i = i + 1) assign start[i] = any[i] === 1'b1; endgenerate
  always @($global_clock) begin
    first <= 1'b0;
    held <= D;
  end
  assign Q = first ? start : held;
endmodule
"""


@dataclass(frozen=True)
class AbcMethod:
    """A proof in ABC."""

    name: str
    script: str
    """ABC commands; `{seconds}` stands for the time they may take."""


CORRESPONDENCE = AbcMethod("by signal correspondence (ABC's scorr)", "scorr; sat -C 50000")
PDR = AbcMethod("by property-directed reachability (ABC's pdr)", "scorr; pdr -T {seconds}")


@dataclass(frozen=True)
class Problem:
    """The interface that both versions have, and how time passes."""

    ports: tuple[PortShape, ...]
    resets: tuple[Reset, ...]
    clocking: Clocking

    @property
    def steps_per_cycle(self) -> int:
        """1 where a step is a cycle; 2 where the clocks are signals like others."""
        return 1 if self.clocking.simple else 2

    @property
    def unit(self) -> str:
        """What a step is called."""
        return "cycle" if self.clocking.simple else "step"

    @property
    def reset_steps(self) -> int:
        """How many steps the resets are held active at the start."""
        return RESET_CYCLES * self.steps_per_cycle if self.resets else 0

    def steps(self, cycles: int) -> int:
        """Return the steps for that many cycles after the reset."""
        return self.reset_steps + cycles * self.steps_per_cycle

    @property
    def inputs(self) -> list[PortShape]:
        """The inputs, in order."""
        return [p for p in self.ports if p.direction == "input"]

    @property
    def outputs(self) -> list[PortShape]:
        """The outputs, in order."""
        return [p for p in self.ports if p.direction == "output"]


def bench_text(problem: Problem) -> str:
    """Return the modules that hold the resets active during the first steps and pass all else on."""
    return "".join(
        [
            _bench(problem, "strict", "in_", paired=True, masked=True),
            _bench(problem, "lenient", "in_", paired=True, masked=False),
            _bench(problem, "points", "", paired=False, masked=False),
        ]
    )


def _bench(problem: Problem, name: str, prefix: str, *, paired: bool, masked: bool) -> str:
    """Write the bench around the module `rtlagent_<name>`; its own name has `_bench` behind it."""
    ports = [_declaration("input", p.width, f"in_{p.name}") for p in problem.inputs]
    ports += [_declaration("output", 1, f"now_{r.port}") for r in problem.resets]
    pins = [f".\\{prefix}{p.name} ({_driver(problem, p)})" for p in problem.inputs]
    if paired:
        sides = [f"{side}_{p.name}" for p in problem.outputs for side in ("gold", "gate")]
        widths = [p.width for p in problem.outputs for _ in range(2)]
        ports += [_declaration("output", w, s) for s, w in zip(sides, widths, strict=True)]
        ports.append("output trigger")
        pins += [f".\\{s} (\\{s} )" for s in sides] + [".trigger(differs)"]
    steps = problem.reset_steps
    body = ["  wire differs;"] if paired else []
    body += ["  wire settled = 1'b1;"] if not steps else _counter(steps)
    body += [f"  assign \\now_{r.port} = settled ? \\in_{r.port} : {_active(r)};" for r in problem.resets]
    if paired:
        body.append("  assign trigger = differs & settled;" if masked else "  assign trigger = differs;")
    body.append(f"  rtlagent_{name} pair ({', '.join(pins)});")
    return f"module rtlagent_{name}_bench({', '.join(ports)});\n" + "\n".join(body) + "\nendmodule\n"


def _counter(steps: int) -> list[str]:
    return [
        "  reg [7:0] elapsed = 8'd0;",
        f"  wire settled = elapsed == 8'd{steps};",
        "  always @($global_clock) elapsed <= settled ? elapsed : elapsed + 8'd1;",
    ]


def _driver(problem: Problem, port: PortShape) -> str:
    if any(r.port == port.name for r in problem.resets):
        return f"\\now_{port.name} "
    clocks = {clock for clock, _ in problem.clocking.edges}
    if port.name in clocks and problem.reset_steps and not problem.clocking.simple:
        # A reset without clock edges resets nothing.
        return f"settled ? \\in_{port.name} : elapsed[0]"
    return f"\\in_{port.name} "


def _active(reset: Reset) -> str:
    return "1'b0" if reset.active == "low" else "1'b1"


def _declaration(direction: str, width: int, name: str) -> str:
    return f"{direction} [{width - 1}:0] \\{name} "


def preparation(name: str) -> list[Stage]:
    """Return the commands after elaboration that make one side ready: flat, memories as registers."""
    return [
        # Yosys takes a module with an empty body for a black box, which could not be compared.
        Stage("open_empty", "setattr -mod -unset blackbox =A:top"),
        Stage("flatten_all", "flatten -noscopeinfo"),
        Stage("drop_checks", "chformal -remove"),
        Stage("drop_prints", "delete */t:$print */t:$check"),
        Stage("memories", "memory_collect"),
        Stage("memories_out", "memory_map"),
        Stage("tidy", "opt_clean"),
        Stage("name", f"rename -top {name}"),
        Stage("shape", f"write_json {name}.json"),
        Stage("side", f"write_rtlil {name}.il"),
    ]


def model_stages(problem: Problem) -> list[Stage]:
    """Return the commands that build every circuit from gold.il, gate.il and bench.v.

    strict: both sides two-valued. lenient: the reference's registers start undefined, and what is
    undefined at its outputs may be anything in the other version, whose registers start with
    arbitrary values. points: like strict, with an assertion at each pair of signals of one name.
    """
    convert = ["async2sync", "dffunmap"] if problem.clocking.simple else ["clk2fflogic"]
    commands = [
        "read_rtlil gold.il",
        "read_rtlil gate.il",
        *convert,
        "opt_clean",
        "formalff -clk2ff gold gate",
        "copy gold open",
        "copy gate free",
        "formalff -ff2anyinit free",
        "techmap -autoproc -map any_start.v free",
        # What nothing drives in the reference is undefined, as an x is.
        "setundef -undriven -undef open",
        # For a proof, an x of the new version may be any value, an x of the reference is 0.
        "setundef -undriven -zero gold",
        "setundef -undriven -anyseq gate",
        "miter -equiv -make_outputs gold gate rtlagent_strict",
        "miter -equiv -make_outputs -ignore_gold_x open free rtlagent_lenient",
        "equiv_make -make_assert gold gate rtlagent_points",
        "read_verilog -sv -formal bench.v",
        "proc rtlagent_strict_bench rtlagent_lenient_bench rtlagent_points_bench",
        "flatten -noscopeinfo rtlagent_strict_bench rtlagent_lenient_bench rtlagent_points_bench",
        "opt_clean",
        f"write_rtlil {_MODELS}",
    ]
    return [Stage(f"model{i:02}", c) for i, c in enumerate(commands)]


def load_stages() -> list[Stage]:
    """Return the commands that read the circuits of `model_stages` back."""
    return [Stage("models", f"read_rtlil {_MODELS}")]


def bounded_stage(problem: Problem, cycles: int) -> Stage:
    """Search for a difference within `cycles` after the reset; stage name `bounded<cycles>`."""
    return Stage(
        f"bounded{cycles}",
        "sat -enable_undef -set-init-undef -set-def-inputs -prove trigger 0 -show-ports "
        f"-seq {problem.steps(cycles)} -dump_vcd {WAVE} rtlagent_lenient_bench",
    )


def structural_stages(problem: Problem) -> list[Stage]:
    """Prove signal by signal that both versions stay equal, and that they start equal."""
    return [
        Stage("equiv_make", "equiv_make gold gate rtlagent_equiv"),
        Stage("equiv_simple", "equiv_simple -seq 2 rtlagent_equiv"),
        Stage("equiv_induct", "equiv_induct -seq 4 rtlagent_equiv"),
        Stage("equiv_status", "equiv_status rtlagent_equiv"),
        Stage(
            "equiv_base",
            f"sat -set-init-zero -prove-asserts -seq {problem.reset_steps + _BASE_STEPS} "
            f"-prove-skip {problem.reset_steps} rtlagent_points_bench",
        ),
    ]


def induction_stage(problem: Problem, cycles: int) -> Stage:
    """Prove by temporal induction that the outputs never differ."""
    return Stage(
        "induction",
        f"sat -set-init-zero -tempinduct -maxsteps {problem.steps(cycles)} -prove trigger 0 rtlagent_strict_bench",
    )


def aiger_stages() -> list[Stage]:
    """Write the strict circuit for a model checker."""
    commands = [
        "select rtlagent_strict_bench",
        "zinit -all",
        "select -clear",
        "hierarchy -top rtlagent_strict_bench",
        "delete rtlagent_strict_bench/o:* rtlagent_strict_bench/o:trigger %d",
        "techmap",
        "aigmap",
        f"write_aiger -zinit {AIGER}",
    ]
    return [Stage(f"aiger{i}", c) for i, c in enumerate(commands)]


def proven(log: str | None) -> bool:
    """Tell whether `sat` proved what it was asked."""
    return log is not None and ("no model found: SUCCESS!" in log or "Induction step proven: SUCCESS!" in log)


def refuted(log: str | None) -> bool:
    """Tell whether `sat` found a counterexample."""
    return log is not None and "model found: FAIL!" in log and "no model found" not in log


def structurally_proven(log: str | None) -> bool:
    """Tell whether `equiv_status` has every cell proven."""
    return log is not None and "Equivalence successfully proven!" in log
