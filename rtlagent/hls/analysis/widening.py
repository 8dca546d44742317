"""Let a growing fact jump to where it may stop: to the constants that comparisons near a loop's phi mention."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from rtlagent.hls.ir import COMPARISONS, Const, Op, Opcode, Phi, Value

from .fact import Fact

_NEAR = frozenset({Opcode.ADD, Opcode.SUB, Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC, Opcode.COPY, Opcode.SELECT})
_MAX_DISTANCE = 3


class Thresholds:
    """The values at which widening stops, unsigned and signed, in order."""

    def __init__(self, width: int, constants: set[int]) -> None:
        half = 1 << (width - 1)
        near = {c + d for c in constants for d in (-1, 0, 1)} | {0, 1}
        self.unsigned = sorted({c & (2 * half - 1) for c in near} | {0, 2 * half - 2, 2 * half - 1})
        signed = {(c + half & (2 * half - 1)) - half for c in near}
        self.signed = sorted(signed | {-half, -half + 1, half - 2, half - 1})

    @classmethod
    def of_phi(cls, phi: Phi, users: Mapping[Value, Sequence[object]]) -> Thresholds:
        """Collect the constants that the phi, and what is computed from it nearby, are compared with."""
        constants: set[int] = set()
        seen: set[Value] = {phi}
        front: list[Value] = [phi, *phi.incoming.values()]
        for _ in range(_MAX_DISTANCE):
            following: list[Value] = []
            for value in front:
                if isinstance(value, Const):
                    constants.add(value.signed)
                    continue
                for user in users.get(value, ()):
                    if not isinstance(user, Op):
                        continue
                    if user.opcode in COMPARISONS:
                        constants.update(a.signed for a in user.args if isinstance(a, Const))
                        constants.update(a.value for a in user.args if isinstance(a, Const))
                    elif user not in seen and user.opcode in _NEAR:
                        seen.add(user)
                        following.append(user)
            front = following
        return cls(phi.width, constants)

    @classmethod
    def of_width(cls, width: int) -> Thresholds:
        """Return the powers of two: for what has no comparisons around it."""
        return cls(width, {sign << k for k in range(width) for sign in (1, -1)})


def widened(old: Fact, new: Fact, thresholds: Thresholds) -> Fact:
    """Return a fact that `new` implies, with each bound that moved since `old` at a threshold."""
    lo, hi, slo, shi = new.lo, new.hi, new.slo, new.shi
    if lo < old.lo:
        lo = thresholds.unsigned[bisect_right(thresholds.unsigned, lo) - 1]
    if hi > old.hi:
        hi = thresholds.unsigned[bisect_left(thresholds.unsigned, hi)]
    if slo < old.slo:
        slo = thresholds.signed[bisect_right(thresholds.signed, slo) - 1]
    if shi > old.shi:
        shi = thresholds.signed[bisect_left(thresholds.signed, shi)]
    # Leading bits are known from the range only: those known so far would hold it back.
    mask = (1 << new.width) - 1
    unknown = ~new.zeros & mask
    low_zeros = (unknown & -unknown) - 1 if unknown else mask
    return Fact(new.width, low_zeros & new.zeros, 0, lo, hi, slo, shi)
