"""Neighbouring bits of one value that are put together again.

`zext32 (trunc8 p16) | zext32 (trunc8 (p16 >> 8)) << 8` -> `zext32 p16`: a struct or a word that was copied by bytes.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

from rtlagent.hls.ir import Const, Op, Opcode, Value

from .rewriter import Rewriter

_MAX_NODES = 64


@dataclass(frozen=True)
class _Piece:
    """`width` bits of `source` from bit `low` on, standing at bit `at`.

    Bits past the source's top are copies of its sign.
    """

    at: int
    source: Value
    low: int
    width: int

    @property
    def end(self) -> int:
        return self.at + self.width


def join_pieces(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite an OR of pieces that make up one range of bits of one value."""
    if not any(isinstance(a, Op) and a.opcode in (Opcode.SHL, Opcode.OR, Opcode.ZEXT) for a in op.args):
        return None
    pieces = _Pieces().of(op)
    if pieces is None or len(pieces) < 2:
        return None
    whole: _Piece | None = pieces[0]
    for piece in pieces[1:]:
        whole = _joined(whole, piece) if whole is not None else None
    return _built(whole, op.width, rewriter) if whole is not None else None


def _joined(last: _Piece, piece: _Piece) -> _Piece | None:
    """Return two neighbours as one piece."""
    if piece.at != last.end or piece.low != last.low + last.width:
        return None
    source = piece.source
    if source is not last.source:
        # The sign bits of the lower part of what the piece before was taken from.
        if not isinstance(source, Op) or source.opcode is not Opcode.TRUNC or source.args[0] is not last.source:
            return None
        if piece.low > source.width:
            return None
    return replace(last, source=source, width=last.width + piece.width)


def _built(piece: _Piece, width: int, rewriter: Rewriter) -> Value:
    end = piece.low + piece.width
    value = piece.source
    if end > value.width:
        value = rewriter.resized(value, end, signed=True)
    if piece.low:
        value = rewriter.build(Opcode.LSHR, value.width, value, Const(piece.low, value.width))
    value = rewriter.resized(value, piece.width, signed=False)
    value = rewriter.resized(value, width, signed=False)
    if piece.at:
        value = rewriter.build(Opcode.SHL, width, value, Const(piece.at, width))
    return value


class _Pieces:
    """Takes a value apart."""

    def __init__(self) -> None:
        self._nodes = 0

    def of(self, value: Value) -> list[_Piece] | None:
        """Return the pieces from the lowest on, gaps being zeros; None: too large to look at."""
        self._nodes += 1
        if self._nodes > _MAX_NODES:
            return None
        if isinstance(value, Const) and value.value == 0:
            return []
        apart = self._apart(value) if isinstance(value, Op) and value.args else None
        return apart if apart is not None else [_Piece(0, value, 0, value.width)]

    def _apart(self, op: Op) -> list[_Piece] | None:
        if op.opcode is Opcode.OR:
            return self._union(op)
        if op.opcode is Opcode.AND and isinstance(op.args[1], Const):
            masked = self.of(op.args[0])
            return _masked(masked, op.args[1].value) if masked is not None else None
        if op.opcode not in (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC, Opcode.SHL, Opcode.LSHR):
            return None
        pieces = self.of(op.args[0])
        if pieces is None or op.opcode is Opcode.ZEXT:
            return pieces
        if op.opcode is Opcode.SEXT:
            return _sign_extended(op.args[0], pieces, op.width)
        if op.opcode is Opcode.TRUNC:
            return _shifted(pieces, 0, op.width)
        if not isinstance(op.args[1], Const):
            return None
        amount = op.args[1].value
        return _shifted(pieces, amount if op.opcode is Opcode.SHL else -amount, op.width)

    def _union(self, op: Op) -> list[_Piece] | None:
        first, second = self.of(op.args[0]), self.of(op.args[1])
        if first is None or second is None:
            return None
        pieces = sorted([*first, *second], key=lambda piece: piece.at)
        for below, above in itertools.pairwise(pieces):
            if below.end > above.at:
                return None
        return pieces


def _sign_extended(value: Value, pieces: list[_Piece], wider: int) -> list[_Piece] | None:
    if len(pieces) != 1 or pieces[0].at or pieces[0].width != value.width:
        return None
    piece = pieces[0]
    if piece.low + piece.width < piece.source.width:
        return [_Piece(0, value, 0, wider)]
    return [replace(piece, width=wider)]


def _masked(pieces: list[_Piece], mask: int) -> list[_Piece]:
    """Return the parts of the pieces that stand where a mask has ones."""
    result = []
    start = 0
    while mask >> start:
        start += ((mask >> start) & -(mask >> start)).bit_length() - 1
        run = ~(mask >> start)
        end = start + (run & -run).bit_length() - 1
        low_part = _shifted(pieces, 0, end)
        result += _shifted(_shifted(low_part, -start, end), start, end)
        start = end
    return result


def _shifted(pieces: list[_Piece], amount: int, width: int) -> list[_Piece]:
    """Return the pieces moved up by an amount, without what is below 0 or from `width` on."""
    result = []
    for piece in pieces:
        at, end = piece.at + amount, min(piece.end + amount, width)
        cut = max(0, -at)
        if end > at + cut:
            result.append(_Piece(at + cut, piece.source, piece.low + cut, end - at - cut))
    return result
