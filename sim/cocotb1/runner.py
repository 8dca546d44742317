"""`cocotb.runner`, as it was called before cocotb 2."""

from cocotb_tools.runner import *  # noqa: F403
from cocotb_tools.runner import get_results, get_runner

__all__ = ["get_results", "get_runner"]
