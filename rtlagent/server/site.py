"""What a request is carried out with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rtlagent.config import Config
from rtlagent.server.workspace import Workspace


@dataclass(frozen=True)
class Site:
    """Where and how one request is carried out."""

    workspace: Workspace
    config: Config
    folder: str
    """The call's own folder, by path in the workspace."""
    tell: Callable[[str], None]
    """Reports progress in a few words."""

    @property
    def keep_dir(self) -> Path:
        """Where logs, reports and waveforms go."""
        return self.workspace.path(self.folder)
