"""Places in a spec file, and the list of everything that is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.errors import SpecError, suggestion

__all__ = ["Place", "Problem", "Problems", "shown", "suggestion"]


@dataclass(frozen=True, order=True)
class Place:
    """A position in the spec file, both from 1; line 0 means the file as a whole."""

    line: int
    column: int


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and what to do about it."""

    place: Place
    message: str
    hint: str = ""


class Problems:
    """Everything wrong with one spec, gathered so that the user sees all of it at once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._found: list[Problem] = []

    def add(self, place: Place, message: str, hint: str = "") -> None:
        """Note a problem."""
        self._found.append(Problem(place, message, hint))

    def __len__(self) -> int:
        return len(self._found)

    def check(self) -> None:
        """Do nothing if nothing was noted.

        Raises:
            SpecError: the problems, in order of place; `where` is the first one's.
        """
        if not self._found:
            return
        first, *rest = sorted(dict.fromkeys(self._found), key=lambda p: p.place)
        if not rest:
            raise SpecError(first.message, where=self._where(first), hint=first.hint)
        lines = [first.message, *_hint_line(first)]
        for problem in rest:
            lines += [f"{self._where(problem)}: {problem.message}", *_hint_line(problem)]
        raise SpecError("\n".join(lines), where=self._where(first))

    def _where(self, problem: Problem) -> str:
        place = problem.place
        return f"{self.path}:{place.line}:{place.column}" if place.line else self.path


def _hint_line(problem: Problem) -> list[str]:
    return [f"  hint: {problem.hint}"] if problem.hint else []


def shown(text: str) -> str:
    """Quote a piece of the user's text for a message, cut to a readable length."""
    cut = text if len(text) <= 60 else text[:57] + "..."
    return repr(cut)
