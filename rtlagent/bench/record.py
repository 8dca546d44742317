"""What a result rests on, besides the plan: every version that may have decided it."""

from __future__ import annotations

import platform
from dataclasses import dataclass

from rtlagent.types import digest


@dataclass(frozen=True)
class Record:
    """The versions of one machine at one time."""

    rtlagent: str
    python: str
    system: str
    """Such as `Linux x86_64`."""
    tools: tuple[str, ...]
    """Such as `verilator 5.48`, sorted."""
    executor: str = "local"

    @property
    def sha256(self) -> str:
        """Hex digest over all fields."""
        return digest(self)

    def changes(self, other: Record) -> tuple[str, ...]:
        """Say what is different in `other`, each as `was -> is`."""
        pairs = [
            (f"rtlagent {self.rtlagent}", f"rtlagent {other.rtlagent}"),
            (f"Python {self.python}", f"Python {other.python}"),
            (self.system, other.system),
        ]
        said = [f"{was} -> {now}" for was, now in pairs if was != now]
        gone, new = sorted(set(self.tools) - set(other.tools)), sorted(set(other.tools) - set(self.tools))
        if gone or new:
            said.append(f"{', '.join(gone) or 'nothing'} -> {', '.join(new) or 'nothing'}")
        return tuple(said)


def record_here(executor: str) -> Record:
    """Return the record of this machine; starts one small program."""
    from rtlagent import __version__
    from rtlagent.tools.toolchain import tool_versions

    scheme = executor.partition(":")[0].partition("?")[0]
    return Record(
        rtlagent=__version__,
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        tools=tuple(sorted(tool_versions())),
        executor=scheme,
    )
