"""Draw in SVG without a style attribute: the page's one style sheet has the colours, for light and dark."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from markupsafe import Markup

from rtlagent.printable import printable

CHAR = 6.7
"""Width of a character of the 11 px monospaced type in which labels are."""


def number(value: float) -> str:
    """Write a coordinate."""
    return f"{value:.1f}".removesuffix(".0")


def element(tag: str, text: str = "", **attributes: object) -> str:
    """Return an element; `cls` is its class, `_` in a name a hyphen. The text and all values are escaped."""
    parts = [tag]
    for name, value in attributes.items():
        spelt = number(value) if isinstance(value, float) else str(value)
        shown = escape(printable(spelt))
        parts.append(f'{"class" if name == "cls" else name.replace("_", "-")}="{shown}"')
    return f"<{' '.join(parts)}>{escape(printable(text))}</{tag}>"


def label(x: float, y: float, text: str, cls: str = "", anchor: str = "start") -> str:
    """Return a text, its baseline at `y`."""
    return element("text", text, x=float(x), y=float(y), cls=cls or "label", text_anchor=anchor)


def fit(text: str, width: float) -> str:
    """Cut a text to a width."""
    room = max(1, int(width / CHAR))
    return text if len(text) <= room else f"{text[: max(1, room - 1)]}\u2026"


def group(parts: Iterable[str], title: str, cls: str = "") -> str:
    """Put parts together under a title that a pointer and a screen reader find."""
    return f'<g class="{escape(cls)}"><title>{escape(printable(title))}</title>{"".join(parts)}</g>'


def picture(parts: Iterable[str], width: float, height: float, says: str) -> Markup:
    """Return the whole picture; `says` is what it is to somebody who cannot see it."""
    shown = escape(printable(says))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}"'
    size = f'width="{number(width)}" height="{number(height)}"'
    return Markup(f'{head} {size} role="img" aria-label="{shown}">{"".join(parts)}</svg>')
