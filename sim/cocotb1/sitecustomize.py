"""Let tests that were written for cocotb 1.x run on cocotb 2: names that moved, and values that count.

Python imports this by itself where the folder is on PYTHONPATH. Nothing is imported early: a module is amended when
somebody imports it.
"""

import importlib.util
import sys
from importlib.machinery import PathFinder
from pathlib import Path

_FOLDER = Path(__file__).parent
_NEW = {"cocotb.runner": "runner.py", "cocotb.binary": "binary.py", "cocotb.decorators": "decorators.py"}


_OPERATORS = (
    *("add", "radd", "sub", "rsub", "mul", "rmul", "floordiv", "rfloordiv", "mod", "rmod", "pow"),
    *("lshift", "rshift", "lt", "le", "gt", "ge"),
)


def _count(cls):
    """Give a value class the arithmetic and order of the integer it stands for, where it has none."""

    def binary(name):
        def method(self, other):
            other = int(other) if hasattr(other, "is_resolvable") else other
            return getattr(int(self), name)(other)

        return method

    for name in (f"__{n}__" for n in _OPERATORS):
        if not any(name in base.__dict__ for base in cls.__mro__ if base is not object):
            setattr(cls, name, binary(name))


def _values(module):
    module.LogicArray.n_bits = property(len)
    _count(module.LogicArray)


def _bits(module):
    module.Logic.n_bits = 1
    module.Logic.integer = property(int)
    module.Logic.signed_integer = property(lambda self: -int(self))
    module.Logic.binstr = property(str)
    _count(module.Logic)


def _top(module):
    def fork(coroutine):
        return module.start_soon(coroutine)

    module.fork = fork
    if not hasattr(module, "coroutine"):
        module.coroutine = lambda function: function


def _results(module):
    for name in ("TestFailure", "TestError"):
        setattr(module, name, type(name, (AssertionError,), {}))


def _utilities(module):
    if not hasattr(module, "get_sim_time"):
        from cocotb.simtime import get_sim_time

        module.get_sim_time = get_sim_time


def _regression(module):
    if not hasattr(module, "TestFactory"):
        from cocotb._test_factory import TestFactory

        module.TestFactory = TestFactory


_AMENDED = {
    "cocotb": _top,
    "cocotb.types._logic_array": _values,
    "cocotb.types._logic": _bits,
    "cocotb.result": _results,
    "cocotb.utils": _utilities,
    "cocotb.regression": _regression,
}


class _Finder:
    """Finds the modules that are gone, and amends those that have changed."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in _NEW:
            return importlib.util.spec_from_file_location(name, _FOLDER / _NEW[name])
        if name not in _AMENDED:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            _AMENDED[name](module)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, _Finder())
