"""Leave a sign that cocotb's Python came to its own end, so that a report from before a crash is not believed.

Named in PYGPI_USERS in front of cocotb's own entries. A test that leaves by os._exit, or a simulator that
crashes, never gets to `atexit`; whatever report it left then counts for nothing.
"""

import atexit
import os
from pathlib import Path


def watch() -> None:
    """Note the sign's name before any test can see it, then start what cocotb starts by default."""
    sign = Path.cwd() / os.environ.pop("RTLAGENT_COCOTB_END")
    atexit.register(sign.touch)
    del os.environ["PYGPI_USERS"]
    from pygpi.entry import load_entry

    load_entry()
