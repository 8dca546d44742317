"""The tools that a client sees. Their docstrings are what its model reads.

They declare no output schema: it would fill four fifths of the list (37 of 49 KB), which clients put before their model
whole. What comes back is structured all the same: `replies.Reply` and `background.RunState`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from rtlagent.server import requests
from rtlagent.server.desk import Call, DeskServer, Roots, answer, desk_of, told

Files = Annotated[list[str], Field(description="Verilog files, headers and memory images, or folders of them.")]
Tests = Annotated[list[str], Field(description="cocotb modules (.py) or testbenches (.sv, .v).")]
Support = Annotated[tuple[str, ...], Field(description="What the tests import or read.")]
Top = Annotated[str | None, Field(description="Top module; default: the only one that nobody instantiates.")]
Limit = Annotated[int | None, Field(ge=0, description="FAIL above this many.")]
Target = Literal["generic", "ice40", "ecp5", "xc7"]
MAX_WAIT_S = 50.0


async def lint(
    call: Call,
    roots: Roots,
    files: Files,
    top: Top = None,
    language: Literal["verilog", "systemverilog"] = "systemverilog",
    policy: Annotated[bool, Field(description="Also apply the rules for model-written text.")] = False,
) -> CallToolResult:
    """Check Verilog without running it (pyslang and Verilator, merged). Quick: call it after every edit."""
    return await desk_of(call).carry_out(requests.Lint(tuple(files), top, language, policy), roots, call)


async def simulate(
    call: Call,
    roots: Roots,
    files: Files,
    tests: Tests,
    support: Support = (),
    top: Top = None,
    simulator: Literal["auto", "icarus", "verilator"] = "auto",
    seed: Annotated[int | None, Field(ge=0, description="Of everything random; default: by content.")] = None,
    defines: Annotated[tuple[str, ...], Field(description="Macros, NAME or NAME=VALUE.")] = (),
    parameters: Annotated[tuple[str, ...], Field(description="Parameters of the top, NAME=VALUE.")] = (),
) -> CallToolResult:
    """Run cocotb tests or testbenches on a design.

    A testbench must print a word such as PASS or FAIL. A failing test leaves a waveform for `waveform_window`.
    """
    request = requests.Simulate(
        tuple(files), tuple(tests), support, top, simulator, seed, tuple(defines), tuple(parameters)
    )  # fmt: skip
    return await desk_of(call).carry_out(request, roots, call)


async def synthesize(
    call: Call,
    roots: Roots,
    files: Files,
    top: Top = None,
    target: Target = "generic",
    max_luts: Limit = None,
    max_ffs: Limit = None,
    max_brams: Limit = None,
    max_dsps: Limit = None,
) -> CallToolResult:
    """Map a design to a target with Yosys and count LUT, FF, BRAM and DSP; find latches, loops and undriven nets."""
    request = requests.Synthesize(tuple(files), top, target, max_luts, max_ffs, max_brams, max_dsps)
    return await desk_of(call).carry_out(request, roots, call)


async def place_and_route(
    call: Call,
    roots: Roots,
    files: Files,
    target: Literal["ice40", "ecp5"],
    top: Top = None,
    min_fmax_mhz: Annotated[float | None, Field(gt=0, description="FAIL below this.")] = None,
    device: Annotated[str | None, Field(description="Such as hx8k or 45k; default: by size.")] = None,
    package: Annotated[str | None, Field(description="Such as ct256.")] = None,
    seed: Annotated[int, Field(ge=0, description="Of the placer.")] = 1,
) -> CallToolResult:
    """Place and route with nextpnr: the highest clock frequency, and the critical path in terms of the source."""
    request = requests.PlaceAndRoute(tuple(files), target, top, min_fmax_mhz, device, package, seed)
    return await desk_of(call).carry_out(request, roots, call)


async def equiv(
    call: Call,
    roots: Roots,
    gold: Annotated[list[str], Field(description="The version to keep to.")],
    gate: Annotated[list[str], Field(description="The changed version.")],
    top: Top = None,
    reset: Annotated[str | None, Field(description="Reset port; default: inputs named like one.")] = None,
    depth: Annotated[int, Field(ge=1, le=1000, description="Cycles to search for a difference.")] = 20,
) -> CallToolResult:
    """Tell whether two versions of a module are the same: PASS is a proof, FAIL has inputs that tell them apart."""
    request = requests.Equiv(tuple(gold), tuple(gate), top, reset, depth)
    return await desk_of(call).carry_out(request, roots, call)


async def verify(
    call: Call,
    roots: Roots,
    spec: Annotated[str, Field(description="The specification, a Markdown file.")],
    files: Files,
    golden: Annotated[
        str | None, Field(description="Golden model in Python (see the prompt implement_spec); default: its tests.")
    ] = None,
    mutants: Annotated[int, Field(ge=0, le=64, description="Wrong designs that grade the tests; 0: none.")] = 16,
    random_cycles: Annotated[int, Field(ge=0, le=20_000, description="Of random stimulus for the golden model.")] = 600,
) -> CallToolResult:
    """Put a design through every gate of its specification and say how strong the evidence is.

    lint, elaborate, simulate against the golden model, the spec's own tests, synthesize, requirements,
    place-and-route for a frequency, and a cross-check on a two-state simulator. The first failing gate ends it.
    """
    request = requests.Verify(spec, tuple(files), golden, mutants, random_cycles)
    return await desk_of(call).carry_out(request, roots, call)


async def grade(
    call: Call,
    roots: Roots,
    files: Files,
    tests: Tests,
    support: Support = (),
    top: Top = None,
    mutants: Annotated[int, Field(ge=1, le=64, description="How many wrong designs to make.")] = 16,
    seed: Annotated[int, Field(ge=0, description="Which ones.")] = 1,
) -> CallToolResult:
    """Measure tests by the wrong designs (mutants) that they catch; survivors are shown as source diffs.

    The design itself must pass them.
    """
    request = requests.Grade(tuple(files), tuple(tests), support, top, mutants, seed)
    return await desk_of(call).carry_out(request, roots, call)


async def compile_c(
    call: Call,
    roots: Roots,
    file: Annotated[str, Field(description="A C or C++ file, or a Markdown spec with a C code block.")],
    top: Annotated[str | None, Field(description="The function; default: the only one that nobody calls.")] = None,
    target: Target | None = None,
    clock: Annotated[str | None, Field(description="To schedule for, such as 10ns or 100MHz.")] = None,
    out: Annotated[str | None, Field(description="Folder in the workspace for the Verilog.")] = None,
    use_pragmas: Annotated[bool, Field(description="Follow `#pragma HLS`.")] = True,
) -> CallToolResult:
    """Compile a C function to Verilog, with the loop table (II, depth, latency, what limits it) and estimates."""
    request = requests.CompileC(file, top, target, clock, out, use_pragmas)
    return await desk_of(call).carry_out(request, roots, call)


async def waveform_window(
    call: Call,
    roots: Roots,
    waveform: Annotated[str, Field(description="A VCD file, such as one that `simulate` named.")],
    signals: Annotated[tuple[str, ...], Field(description="Names, or ends of names; none: list all.")] = (),
    around_ns: Annotated[float, Field(ge=0, description="Simulation time in the window's middle.")] = 0.0,
    clock: Annotated[str | None, Field(description="A row an edge of it; default: a row a change.")] = None,
    cycles: Annotated[int, Field(ge=1, le=100, description="Rows.")] = 12,
    edge: Literal["posedge", "negedge"] = "posedge",
    radix: Literal["hex", "dec"] = "hex",
) -> CallToolResult:
    """Show a few signals of a waveform around a time, as a table: the values just before each clock edge."""
    request = requests.WaveformWindow(waveform, tuple(signals), around_ns, clock, cycles, edge, radix)
    return await desk_of(call).carry_out(request, roots, call)


async def hierarchy(call: Call, roots: Roots, files: Files, top: Top = None) -> CallToolResult:
    """List a design's modules with their ports, parameters and instances, each with its place."""
    return await desk_of(call).carry_out(requests.Hierarchy(tuple(files), top), roots, call)


async def start_run(
    call: Call,
    roots: Roots,
    tool: Annotated[
        str, Field(description="Any tool above, or `generate`: a whole run from a spec (arguments: spec, top, ...).")
    ],
    arguments: Annotated[dict[str, Any], Field(description="What the tool takes.")],
) -> CallToolResult:
    """Begin long work and return its run_id at once.

    `generate` compiles and judges C without any model; of a spec in prose it asks the model that the server was
    started with.
    """
    desk = desk_of(call)
    with told():
        return answer(desk.runs.start(requests.read_request(tool, arguments), desk.choose(roots)))


async def run_status(
    call: Call,
    run_id: str,
    wait_s: Annotated[float, Field(ge=0, le=MAX_WAIT_S, description="Wait so long for its end.")] = 0.0,
) -> CallToolResult:
    """Tell where a run stands: its latest progress, and when it has ended, its result."""
    with told():
        return answer(await desk_of(call).runs.status(run_id, wait_s))


async def cancel_run(call: Call, run_id: str) -> CallToolResult:
    """End a run, with every process that it started. A whole run can be resumed: `rtlagent resume`."""
    with told():
        return answer(await desk_of(call).runs.cancel(run_id))


# Each has arguments of its own.
_Tool = Callable[..., Awaitable[CallToolResult]]
_READING: tuple[_Tool, ...] = (lint, hierarchy, waveform_window, run_status)
_WORKING: tuple[_Tool, ...] = (
    *(simulate, synthesize, place_and_route, equiv),
    *(verify, grade, compile_c, start_run, cancel_run),
)


def add_tools(server: DeskServer) -> None:
    """Give the server all its tools."""
    for tool in _READING:
        server.add_tool(tool, annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    for tool in _WORKING:
        # What they write goes into new folders below runs/.
        server.add_tool(tool, annotations=ToolAnnotations(destructive_hint=False, open_world_hint=False))
