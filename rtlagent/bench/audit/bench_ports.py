"""Compare the ports that a testbench connects with those that the golden design has."""

from __future__ import annotations

from collections.abc import Sequence

from rtlagent.bench.audit.findings import DEFECT, DOUBT, PORTS, Finding
from rtlagent.bench.verilog_tokens import declared, is_verilog, normal, renamed, tokens
from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.tools.inspect import inspect
from rtlagent.types import SourceFile
from rtlagent.verilog import ModuleInfo


def bench_port_findings(
    module: ModuleInfo, golden: Sequence[SourceFile], tests: Sequence[SourceFile], config: ToolConfig
) -> list[Finding]:
    """Name ports that the Verilog among `tests` connects and `module` does not have, and inputs that it leaves open.

    A testbench that the reader cannot take gives nothing: the golden design's own run will tell.
    """
    verilog = [f for f in tests if is_verilog(f)]
    if not verilog:
        return []
    try:
        design = inspect([*(f for f in golden if is_verilog(f)), *_apart(verilog)], config=config)
    except UsageError:
        return []
    found: dict[str, Finding] = {}
    own = {p.name: p for p in module.ports}
    instances = [i for m in design.modules for i in m.instances if i.module == module.name]
    for instance in instances:
        connected = {c.port: c.text for c in instance.connections}
        strange = [name for name in connected if name not in own]
        if strange:
            text = f"the testbench connects {', '.join(strange)} of {module.name}; the golden design has no such port"
            found[text] = Finding(PORTS, DEFECT, text)
        open_inputs = [n for n, p in own.items() if p.direction == "input" and not connected.get(n)]
        if open_inputs:
            text = f"the testbench leaves inputs of {module.name} open: {', '.join(open_inputs)}"
            found[text] = Finding(PORTS, DOUBT, text)
        unread = [n for n, p in own.items() if p.direction == "output" and not connected.get(n)]
        if unread:
            text = f"the testbench never looks at outputs of {module.name}: {', '.join(unread)}"
            found[text] = Finding(PORTS, DOUBT, text)
    return list(found.values())


def is_reference(golden: Sequence[SourceFile], top: str, tests: Sequence[SourceFile]) -> bool:
    """Say whether a test compares answers with a module that is the golden design itself, under another name."""
    wanted = [t.text for f in golden for t in tokens(normal(f.text))]
    for file in tests:
        if not is_verilog(file):
            continue
        text = normal(file.text)
        for name in declared(tokens(text)):
            if name != top and [t.text for t in tokens(renamed(text, name, top))] == wanted:
                return True
    return False


def _apart(files: Sequence[SourceFile]) -> list[SourceFile]:
    return [SourceFile(f"audited_test/{f.path}", f.text) for f in files]
