"""Read the counterexample that Yosys's `sat` prints, and lay it out as a table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rtlagent.tools.miter import Problem
from rtlagent.types import Mismatch

_ROW = re.compile(r"^\s*(?P<step>\d+) \\(?P<name>\S+)\s.*?(?P<bits>[01x]+)\s*$", re.MULTILINE)
_MAX_ROWS = 16
_MAX_INPUTS = 12
_MAX_OUTPUTS = 6
_SCENARIO = "equiv"


@dataclass(frozen=True)
class Counterexample:
    """Values of inputs and outputs, step by step, up to the first difference."""

    steps: tuple[Mapping[str, str], ...]
    """Name in the bench -> binary digits, `x` where undefined."""
    problem: Problem

    @property
    def last(self) -> int:
        """The step, from 0, at which the versions differ."""
        return len(self.steps) - 1

    def input_value(self, step: int, name: str) -> str:
        """Return what the design gets at an input: a reset is forced active at the start."""
        values = self.steps[step]
        return values.get(f"now_{name}") or values.get(f"in_{name}", "x")

    def differing(self) -> list[str]:
        """Return the outputs that differ at the last step."""
        values = self.steps[self.last]
        names = [p.name for p in self.problem.outputs]
        return [n for n in names if _differ(values.get(f"gold_{n}", ""), values.get(f"gate_{n}", ""))]

    def mismatches(self) -> tuple[Mismatch, ...]:
        """Return the differing outputs in the form that every test has."""
        values = self.steps[self.last]
        inputs = {p.name: shown(self.input_value(self.last, p.name)) for p in self.problem.inputs}
        return tuple(
            Mismatch(
                _SCENARIO, self.last, float(self.last), name, shown(values[f"gold_{name}"], dont_care=True),
                shown(values[f"gate_{name}"]), inputs,
            )
            for name in self.differing()
        )  # fmt: skip

    def table(self) -> str:
        """Return the last steps as a table; `*` marks what differs, `-` what the reference leaves open."""
        given = [p.name for p in self.problem.inputs if not self._is_clock(p.name)]
        different = self.differing()
        outputs = [*different, *(p.name for p in self.problem.outputs if p.name not in different)]
        first = max(0, len(self.steps) - _MAX_ROWS)
        unit = self.problem.unit
        head = [unit, *given[:_MAX_INPUTS], "|"]
        for name in outputs[:_MAX_OUTPUTS]:
            head += [f"{name} (reference)", f"{name} (new)"]
        rows = [
            head,
            *(self._row(i, given[:_MAX_INPUTS], outputs[:_MAX_OUTPUTS]) for i in range(first, len(self.steps))),
        ]
        widths = [max(len(r[i]) for r in rows) for i in range(len(head))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
        hidden = [f"{first} earlier {unit}s"] if first else []
        hidden += [f"inputs {', '.join(given[_MAX_INPUTS:])}"] if len(given) > _MAX_INPUTS else []
        hidden += [f"outputs {', '.join(outputs[_MAX_OUTPUTS:])}"] if len(outputs) > _MAX_OUTPUTS else []
        return "\n".join([*lines, *(f"not shown: {h}" for h in hidden)])

    def _is_clock(self, name: str) -> bool:
        return self.problem.clocking.simple and any(name == clock for clock, _ in self.problem.clocking.edges)

    def _row(self, step: int, inputs: Sequence[str], outputs: Sequence[str]) -> list[str]:
        values = self.steps[step]
        row = [str(step), *(shown(self.input_value(step, n)) for n in inputs), "|"]
        for name in outputs:
            gold, gate = values.get(f"gold_{name}", ""), values.get(f"gate_{name}", "")
            row += [shown(gold, dont_care=True), shown(gate) + ("*" if _differ(gold, gate) else "")]
        return row


def read_counterexample(log: str, problem: Problem) -> Counterexample | None:
    """Return the counterexample in the log of `sat -show-ports`, or None if it has none."""
    steps: dict[int, dict[str, str]] = {}
    for found in _ROW.finditer(log):
        steps.setdefault(int(found["step"]), {})[found["name"]] = found["bits"]
    kept: list[Mapping[str, str]] = []
    for number in sorted(steps):
        kept.append(steps[number])
        if any(
            _differ(steps[number].get(f"gold_{p.name}", ""), steps[number].get(f"gate_{p.name}", ""))
            for p in problem.outputs
        ):
            return Counterexample(tuple(kept), problem)
    return None


def _differ(gold: str, gate: str) -> bool:
    return any(a not in ("x", b) for a, b in zip(gold, gate, strict=False))


def shown(bits: str, *, dont_care: bool = False) -> str:
    """Write binary digits as one bit or as hexadecimal; a digit with undefined bits is `x`, or `-` for any value."""
    unknown = "-" if dont_care else "x"
    if len(bits) == 1:
        return unknown if bits == "x" else bits
    padded = "0" * (-len(bits) % 4) + bits
    digits = [padded[i : i + 4] for i in range(0, len(padded), 4)]
    return "0x" + "".join(unknown if "x" in d else f"{int(d, 2):x}" for d in digits)
