"""The two panes of the viewer: rows to choose from, and a long text. Both draw only the lines that are seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from rtlagent.cli.view_detail import Block
from rtlagent.cli.view_text import LONGEST_LINE, Document, Line

_FILE_WIDTH = LONGEST_LINE + 40


class Rows(ScrollView, can_focus=True):
    """Rows of text, one of which is chosen; those that the filter leaves out are not shown."""

    DEFAULT_CSS = "Rows { overflow-x: hidden; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", "Move", key_display="↑↓"),
        Binding("up", "move(-1)", "Up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("home", "first", "First", show=False),
        Binding("end", "last", "Last", show=False),
        Binding("enter", "open", "Open"),
    ]

    class Moved(Message):
        """Another row is chosen."""

        def __init__(self, rows: Rows, *, by_user: bool) -> None:
            super().__init__()
            self.rows = rows
            self.by_user = by_user

    class Opened(Message):
        """A row is to be opened."""

        def __init__(self, rows: Rows) -> None:
            super().__init__()
            self.rows = rows

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: list[Line] = []
        self._seen: list[int] = []
        self._at = 0
        self._wanted = ""

    @property
    def chosen(self) -> int | None:
        """Index of the chosen row among all rows; None: none is shown."""
        return self._seen[self._at] if self._at < len(self._seen) else None

    @property
    def shown(self) -> list[str]:
        """The texts of the rows that pass the filter."""
        return [self._rows[n][0] for n in self._seen]

    @property
    def at_end(self) -> bool:
        """The last row that is shown is chosen."""
        return self._at >= len(self._seen) - 1

    def extend(self, rows: Sequence[Line]) -> None:
        """Add rows below the others."""
        first = len(self._rows)
        none = not self._seen
        self._rows += rows
        self._seen += [first + n for n, (text, _) in enumerate(rows) if self._passes(text)]
        self._resize()
        if none and self._seen:
            self.post_message(self.Moved(self, by_user=False))

    def replace(self, rows: Sequence[Line], chosen: int | None = 0) -> None:
        """Show other rows, the one with index `chosen` chosen."""
        self._rows = list(rows)
        self._choose_again(chosen)

    def narrow(self, wanted: str) -> None:
        """Show only rows that hold a text, capitals or not; all for an empty one."""
        chosen = self.chosen
        self._wanted = wanted.casefold()
        self._choose_again(chosen)

    def _choose_again(self, chosen: int | None) -> None:
        self._seen = [n for n, (text, _) in enumerate(self._rows) if self._passes(text)]
        self._at = next((k for k, n in enumerate(self._seen) if chosen is not None and n >= chosen), 0)
        self._resize()
        self._show_chosen()
        self.post_message(self.Moved(self, by_user=False))

    def _passes(self, text: str) -> bool:
        return not self._wanted or self._wanted in text.casefold()

    def _resize(self) -> None:
        self.virtual_size = Size(max(1, self.size.width), len(self._seen))
        self.refresh()

    def on_resize(self, _event: Resize) -> None:
        """Keep the chosen row in sight."""
        self._resize()
        self._show_chosen()

    def go(self, at: int, *, by_user: bool) -> None:
        """Choose the row at a place among those that are shown."""
        at = max(0, min(at, len(self._seen) - 1))
        if at != self._at:
            self._at = at
            self.refresh()
            self.post_message(self.Moved(self, by_user=by_user))
        self._show_chosen()

    def follow(self) -> None:
        """Choose the last row."""
        self.go(len(self._seen) - 1, by_user=False)

    def _show_chosen(self) -> None:
        self.scroll_to_region(Region(0, self._at, 1, 1), animate=False, force=True)

    def action_move(self, by: int) -> None:
        """Choose the next row, or the one before."""
        self.go(self._at + by, by_user=True)

    def action_page(self, by: int) -> None:
        """Go on by what is seen at a time."""
        self.go(self._at + by * max(1, self.size.height - 1), by_user=True)

    def action_first(self) -> None:
        """Choose the first row."""
        self.go(0, by_user=True)

    def action_last(self) -> None:
        """Choose the last row."""
        self.go(len(self._seen) - 1, by_user=True)

    def action_open(self) -> None:
        """Open the chosen row."""
        if self.chosen is not None:
            self.post_message(self.Opened(self))

    def on_click(self, event: Click) -> None:
        """Choose the row under the mouse; a second click opens it."""
        at = event.y + self.scroll_offset.y
        if at < len(self._seen):
            self.go(at, by_user=True)
            if event.chain > 1:
                self.action_open()

    def render_line(self, y: int) -> Strip:
        """Draw a line of the pane."""
        at, width = y + self.scroll_offset.y, self.size.width
        if at >= len(self._seen):
            return Strip.blank(width, self.rich_style)
        text, style = self._rows[self._seen[at]]
        look = self.rich_style + Style.parse(style or "none")
        if at == self._at:
            look += Style(reverse=True, dim=False, bold=self.has_focus)
        return Strip([Segment(text, look)]).adjust_cell_length(width, look)


class Detail(ScrollView, can_focus=True):
    """A long text, read and cut where it is looked at."""

    DEFAULT_CSS = "Detail { overflow-y: scroll; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "scroll_down", "Scroll", key_display="↑↓←→"),
        Binding("up", "scroll_up", "Up", show=False),
        Binding("left", "sideways(-1)", "Left", show=False),
        Binding("right", "sideways(1)", "Right", show=False),
        Binding("home", "edge(0)", "Start", show=False),
        Binding("end", "edge(1)", "End", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._document = Document()

    @property
    def document(self) -> Document:
        """What is shown."""
        return self._document

    def show(self, blocks: Sequence[Block]) -> None:
        """Show other blocks; equal ones stay as they are."""
        if tuple(blocks) == self._document.blocks:
            return
        self._document = Document(blocks)
        self._fold()
        self.scroll_to(0, 0, animate=False, force=True)

    def look(self) -> None:
        """Look on through files that are shown."""
        if self._document.has_files and self._document.scan():
            self._fold()

    def on_resize(self, _event: Resize) -> None:
        """Fold anew."""
        self._fold()

    def _fold(self) -> None:
        width = self.scrollable_content_region.width or self.size.width
        self._document.fold(width)
        self.virtual_size = Size(_FILE_WIDTH if self._document.has_files else 1, len(self._document))
        self.refresh()

    def action_edge(self, end: int) -> None:
        """Show the beginning or the end."""
        self.scroll_to(y=self.max_scroll_y * end, x=0, animate=False)

    def action_sideways(self, by: int) -> None:
        """Show what stands left or right of the pane."""
        self.scroll_relative(x=by * max(1, self.size.width // 2), animate=False)

    def render_line(self, y: int) -> Strip:
        """Draw a line of the pane."""
        x, width = self.scroll_offset.x, self.size.width
        text, style = self._document.line(y + self.scroll_offset.y)
        look = self.rich_style + Style.parse(style or "none")
        return Strip([Segment(text, look)]).crop_extend(x, x + width, self.rich_style)
