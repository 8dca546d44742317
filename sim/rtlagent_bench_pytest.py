"""What cocotb 2.1 wants of pytest, for our own bench; it lies beside the bench as `pytest.py`.

cocotb imports pytest for a few exception classes and for explaining assertions, neither of which the
bench uses; the real one takes a third of a short simulation's time.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class RaisesExc:
    """Stands for pytest.RaisesExc."""


class RaisesGroup:
    """Stands for pytest.RaisesGroup."""


class raises:
    """Stands for pytest.raises."""

    class Exception(AssertionError):
        """Never raised."""


class skip:
    """Stands for pytest.skip."""

    class Exception(BaseException):
        """Never raised."""


class xfail:
    """Stands for pytest.xfail."""

    class Exception(BaseException):
        """Never raised."""


class Config:
    """Stands for _pytest.config.Config."""

    @staticmethod
    def fromdictargs(options: Any, arguments: Any) -> None:
        """Do nothing."""


def install_importhook(config: Any) -> None:
    """Do nothing: assertions are not rewritten."""


_package, _assertion, _config = (ModuleType(f"_pytest{name}") for name in ("", ".assertion", ".config"))
_assertion.__dict__["install_importhook"] = install_importhook
_config.__dict__["Config"] = Config
sys.modules |= {m.__name__: m for m in (_package, _assertion, _config)}
