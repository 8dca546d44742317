"""The loop: generate, verify, repair, until real tools confirm the design or a limit is reached."""

from __future__ import annotations

from rtlagent.agent.loop import Continuation, export, start_run, stored_config
from rtlagent.agent.report import RunReport

__all__ = ["Continuation", "RunReport", "export", "start_run", "stored_config"]
