"""Run a list of Yosys commands in this process and nothing else.

Started by `rtlagent.tools.yosys` inside the sandbox. Yosys ends the whole process at its first
error, so one process is one job. Each command's output goes to a file of its own, which is how the
reader knows whose message it was, and text that a design prints cannot pass for another command's.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def main(plan_path: str) -> None:
    """Run the plan: a JSON list of [name, command], logging to `<name>.log` beside the plan."""
    from pyosys import libyosys

    folder = Path(plan_path).parent
    design = libyosys.Design()
    for name, command in json.loads(Path(plan_path).read_text()):
        (folder / "stage").write_text(name)
        libyosys.run_pass(f"tee -q -o {folder}/{name}.log {command}", design)
    (folder / "stage").write_text("")


if __name__ == "__main__":
    main(sys.argv[1])
    sys.stdout.flush()
    # Taking a large design apart piece by piece can last as long as its synthesis.
    os._exit(0)
