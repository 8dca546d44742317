"""The suites by name. A new suite is one file here and one line in SUITES."""

from __future__ import annotations

from rtlagent.bench.problem import Suite
from rtlagent.bench.suites.cvdp import Cvdp
from rtlagent.bench.suites.folder import Folder
from rtlagent.bench.suites.kernels import Kernels
from rtlagent.bench.suites.rtllm import Rtllm
from rtlagent.bench.suites.verilog_eval_v1 import VerilogEvalV1
from rtlagent.bench.suites.verilog_eval_v2 import VerilogEvalV2
from rtlagent.errors import UsageError, suggestion

_ALL: tuple[Suite, ...] = (
    VerilogEvalV1(),
    VerilogEvalV2(),
    Rtllm("rtllm-v1.1"),
    Rtllm("rtllm-v2"),
    Cvdp(),
    Folder(),
    Kernels(),
)
DESCRIPTIONS = {
    "verilog-eval-v1": "VerilogEval 1: JSONL with machine- and human-written descriptions",
    "verilog-eval-v2": "VerilogEval 2: spec-to-RTL and code completion, one folder",
    "rtllm-v1.1": "RTLLM 1.1: a folder a problem, with testbench.v",
    "rtllm-v2": "RTLLM 2: a folder a problem, with testbench.v",
    "cvdp": "CVDP: JSONL, agentic or not, with cocotb harnesses (without Docker)",
    "folder": "folders of your own: NAME/spec.md, NAME/tests/, NAME/golden/",
    "kernels": "C kernels for the HLS engine: kernels.toml, or NAME/NAME.c and NAME/tb.c",
}
SUITES: dict[str, Suite] = {s.name: s for s in _ALL}


def suite(name: str) -> Suite:
    """Return the suite called `name`.

    Raises:
        UsageError: there is none; the hint has the names.
    """
    if name not in SUITES:
        hint = suggestion(name, SUITES) or f"choose from {', '.join(SUITES)}"
        raise UsageError(f"there is no suite {name!r}", hint=hint)
    return SUITES[name]
