"""The single changes that turn a design into a wrong one, found on pyslang's syntax tree.

For use inside the sandbox only. Left alone is what would not compile, would never end, or would
not tell anything about the tests: widths and other dimensions, parameters, generate conditions, loop bounds,
clock and reset edges, delays, initial blocks, assertions, system tasks, and whatever a macro
expands to. Comments are not in the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from pyslang import syntax

_SWAPS = {
    "+": "-", "-": "+", "*": "+", "&": "|", "|": "&", "^": "|", "&&": "||", "||": "&&",
    "==": "!=", "!=": "==", "===": "!==", "!==": "===", "<": "<=", "<=": "<", ">": ">=", ">=": ">",
    "<<": ">>", ">>": "<<", "<<<": ">>>", ">>>": ">>",
}  # fmt: skip
_PREFIX_SWAPS = {"&": "|", "|": "&", "~&": "~|", "~|": "~&"}
_DROPPED_PREFIXES = ("!", "~")
_EQUALITIES = ("==", "!=", "===", "!==")
_RADIX = {"b": 2, "o": 8, "d": 10, "h": 16}
_FORMAT = {"b": "b", "o": "o", "d": "d", "h": "x"}
_MAX_WIDTH = 4096

_SKIPPED = frozenset(
    (
        "VariableDimensionSyntax", "ParameterDeclarationSyntax", "ParameterDeclarationStatementSyntax",
        "ParameterPortListSyntax", "ParameterValueAssignmentSyntax", "TypedefDeclarationSyntax", "EnumTypeSyntax",
        "StructUnionTypeSyntax", "GenvarDeclarationSyntax", "DelaySyntax", "DefParamSyntax", "SpecifyBlockSyntax",
        "ConcurrentAssertionMemberSyntax", "ConcurrentAssertionStatementSyntax", "ImmediateAssertionMemberSyntax",
        "ImmediateAssertionStatementSyntax", "PropertyDeclarationSyntax", "SequenceDeclarationSyntax",
        "CovergroupDeclarationSyntax", "AttributeInstanceSyntax", "AnsiPortListSyntax", "ClassDeclarationSyntax",
    )
)  # fmt: skip
_PURE_FUNCTIONS = ("$signed", "$unsigned")
_BODY_ONLY: Mapping[str, tuple[str, ...]] = {
    "TimingControlStatementSyntax": ("statement",),
    "ForLoopStatementSyntax": ("statement",),
    "LoopStatementSyntax": ("statement",),
    "DoWhileStatementSyntax": ("statement",),
    "ForeachLoopStatementSyntax": ("statement",),
    "LoopGenerateSyntax": ("block",),
    "IfGenerateSyntax": ("block", "elseClause"),
    "MultipleConcatenationExpressionSyntax": ("concatenation",),
    "CastExpressionSyntax": ("right",),
}


@dataclass(frozen=True)
class Change:
    """One place and what to put there instead."""

    kind: str
    buffer: int
    """Id of the pyslang buffer."""
    start: int
    """First byte."""
    end: int
    """Byte after the last."""
    text: str


class Operators:
    """Finds every change of a design."""

    def __init__(self, texts: Mapping[int, bytes], modules: Container[str] | None, rng: Random) -> None:
        """Prepare.

        Args:
            texts: Buffer id -> content of each file that may be changed.
            modules: Names of the modules that are part of the design; None: all.
            rng: Chooses the bits to flip.
        """
        self._texts = texts
        self._modules = modules
        self._rng = rng

    def changes(self, root: Any) -> Iterator[Change]:
        """Yield the changes in the order of the text, some of them more than once."""
        # No recursion: a hostile expression may be as deep as the file is long.
        pending = [root]
        while pending:
            node = pending.pop()
            for change in self._changes_at(node):
                if change is not None:
                    yield change
            pending += reversed(list(self._children(node)))

    def _children(self, node: Any) -> Iterator[Any]:
        name = type(node).__name__
        if name in _SKIPPED or self._is_skipped(node, name):
            return
        if name == "CaseGenerateSyntax":
            yield from (item.clause for item in node.items)
            return
        if name in _BODY_ONLY:
            yield from (child for field in _BODY_ONLY[name] if (child := getattr(node, field)) is not None)
            return
        if name == "RangeSelectSyntax":
            # [base +: width]: only the base may change.
            if node.kind != syntax.SyntaxKind.SimpleRangeSelect:
                yield node.left
            return
        yield from (child for child in node if isinstance(child, syntax.SyntaxNode))

    def _is_skipped(self, node: Any, name: str) -> bool:
        if name == "ModuleDeclarationSyntax":
            wanted = self._modules
            is_module = node.kind == syntax.SyntaxKind.ModuleDeclaration
            return is_module and wanted is not None and node.header.name.valueText not in wanted
        if name == "ProceduralBlockSyntax":
            return node.kind in (syntax.SyntaxKind.InitialBlock, syntax.SyntaxKind.FinalBlock)
        if name == "InvocationExpressionSyntax" and type(node.left).__name__ == "SystemNameSyntax":
            return node.left.systemIdentifier.valueText not in _PURE_FUNCTIONS
        return False

    def _changes_at(self, node: Any) -> Iterator[Change | None]:
        finder = _FINDERS.get(type(node).__name__)
        if finder is not None:
            yield from finder(self, node)

    def _replace(self, kind: str, place: Any, text: str) -> Change | None:
        """Return a change of a node, or None where the text is not in a file as it stands."""
        span = self._span(place.sourceRange)
        return None if span is None else Change(kind, *span, text)

    def _replace_token(self, kind: str, token: Any, text: str) -> Change | None:
        span = self._span(token.range)
        return None if span is None or self._text(span) != token.rawText else Change(kind, *span, text)

    def _span(self, source_range: Any) -> tuple[int, int, int] | None:
        start, end = source_range.start, source_range.end
        if start.buffer.id != end.buffer.id or start.buffer.id not in self._texts or start.offset >= end.offset:
            return None
        return start.buffer.id, start.offset, end.offset

    def _text(self, span: tuple[int, int, int]) -> str:
        return self._texts[span[0]][span[1] : span[2]].decode("utf-8", "replace")

    def _text_of(self, node: Any) -> str | None:
        span = self._span(node.sourceRange)
        return None if span is None else self._text(span)

    def _binary(self, node: Any) -> Iterator[Change | None]:
        operator = node.operatorToken
        symbol = operator.rawText
        if "Assignment" in str(node.kind) or symbol not in _SWAPS:
            return
        yield self._replace_token("operator", operator, _SWAPS[symbol])
        if symbol in ("&&", "||", "&", "|"):
            for side in (node.left, node.right):
                text = self._text_of(side)
                if text is not None:
                    yield self._replace("dropped operand", node, text)

    def _prefix(self, node: Any) -> Iterator[Change | None]:
        symbol = node.operatorToken.rawText
        if symbol in _PREFIX_SWAPS:
            yield self._replace_token("operator", node.operatorToken, _PREFIX_SWAPS[symbol])
        elif symbol in _DROPPED_PREFIXES:
            text = self._text_of(node.operand)
            if text is not None:
                yield self._replace("dropped negation", node, text)

    def _condition(self, node: Any) -> Iterator[Change | None]:
        """Negate a condition, which is the same as swapping the branches."""
        text = self._text_of(node.predicate)
        if text is not None and not _is_negated_elsewhere(node.predicate):
            yield self._replace("condition", node.predicate, f"!({text})")

    def _statement(self, node: Any) -> Iterator[Change | None]:
        if node.expr.kind == syntax.SyntaxKind.NonblockingAssignmentExpression:
            yield self._replace("removed assignment", node, ";")

    def _continuous(self, node: Any) -> Iterator[Change | None]:
        for assignment in node.assignments:
            if type(assignment).__name__ == "BinaryExpressionSyntax":
                yield self._replace("stuck output", assignment.right, "0")
                # Sign-extended to any width.
                yield self._replace("stuck output", assignment.right, "-1")

    def _bit_select(self, node: Any) -> Iterator[Change | None]:
        text = self._text_of(node.expr)
        if text is not None and type(node.expr).__name__ != "LiteralExpressionSyntax":
            yield self._replace("index", node.expr, f"({text}) ^ 1")

    def _literal(self, node: Any) -> Iterator[Change | None]:
        kind = "index" if type(node.parent).__name__ == "BitSelectSyntax" else "constant"
        text = node.literal.rawText
        if node.kind == syntax.SyntaxKind.UnbasedUnsizedLiteralExpression and text in ("'0", "'1"):
            yield self._replace(kind, node, "'1" if text == "'0" else "'0")
        elif node.kind == syntax.SyntaxKind.IntegerLiteralExpression and text.replace("_", "").isdecimal():
            value = int(text.replace("_", "")[:20])
            for other in (value + 1, value - 1):
                if other >= 0:
                    yield self._replace(kind, node, str(other))

    def _vector(self, node: Any) -> Iterator[Change | None]:
        size, base, digits = node.size.rawText, node.base.rawText, node.value.rawText.replace("_", "").lower()
        radix = base[-1:].lower()
        width = int(size) if size.isdecimal() and len(size) < 5 else 32
        if radix not in _RADIX or not 0 < len(digits) <= _MAX_WIDTH or not 0 < width <= _MAX_WIDTH:
            return
        if any(d in "xz?" for d in digits):
            known = [k for k, d in enumerate(digits) if d in "01"] if radix == "b" else []
            if known:
                k = self._rng.choice(known)
                flipped = digits[:k] + ("1" if digits[k] == "0" else "0") + digits[k + 1 :]
                yield self._replace("constant", node, f"{size}{base}{flipped}")
            return
        value = int(digits, _RADIX[radix])
        others = (value + 1, value - 1, value ^ (1 << self._rng.randrange(min(width, max(4, value.bit_length())))))
        form = f"0{len(digits)}{_FORMAT[radix]}" if radix != "d" else "d"
        for other in others:
            yield self._replace("constant", node, f"{size}{base}{other % (1 << width):{form}}")


def _is_negated_elsewhere(predicate: Any) -> bool:
    """Say whether another change negates all of the condition: == to !=, or a dropped negation."""
    conditions = list(predicate.conditions)
    expression: Any = conditions[0].expr if len(conditions) == 1 else None
    name = type(expression).__name__
    if name == "PrefixUnaryExpressionSyntax":
        return bool(expression.operatorToken.rawText == "!")
    return name == "BinaryExpressionSyntax" and expression.operatorToken.rawText in _EQUALITIES


_FINDERS: Mapping[str, Callable[[Operators, Any], Iterator[Change | None]]] = {
    "BinaryExpressionSyntax": Operators._binary,
    "PrefixUnaryExpressionSyntax": Operators._prefix,
    "ConditionalStatementSyntax": Operators._condition,
    "ConditionalExpressionSyntax": Operators._condition,
    "ExpressionStatementSyntax": Operators._statement,
    "ContinuousAssignSyntax": Operators._continuous,
    "BitSelectSyntax": Operators._bit_select,
    "LiteralExpressionSyntax": Operators._literal,
    "IntegerVectorExpressionSyntax": Operators._vector,
}
