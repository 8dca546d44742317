"""`cocotb.decorators`, as far as tests used it."""

from cocotb import test
from cocotb.task import Task

RunningTask = Task
coroutine = lambda function: function  # noqa: E731

__all__ = ["RunningTask", "coroutine", "test"]
