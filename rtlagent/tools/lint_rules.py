"""What each lint code means here: its one name, its severity and a hint.

| severity | codes |
|---|---|
| error | every error of pyslang or Verilator; IMPLICIT (an undeclared name: `default_nettype none` semantics); PINMISSING, PINNOTFOUND, EmptyInputPortConn; MULTIDRIVEN; LATCH; UNDRIVEN; SELRANGE; BLKANDNBLK; INFINITELOOP; MODDUP; NEWERSTD when Verilog-2005 is asked for |
| warning | WIDTHTRUNC, WIDTHEXPAND, CASEINCOMPLETE (a latch is its own error), UNOPTFLAT (combinational loop, may be false), everything not named elsewhere |
| note | UNUSED*, PINCONNECTEMPTY, style that changes no behaviour |
| dropped | pyslang's opinions that Verilator judges better (width, sign) or that only concern layout |
"""  # noqa: E501 - a table

from __future__ import annotations

from rtlagent.types import Severity


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CANONICAL = {
    "ImplicitNet": "IMPLICIT",
    "UnconnectedInputPort": "PINMISSING",
    "UnconnectedOutputPort": "PINMISSING",
    "UnconnectedInOutPort": "PINMISSING",
    "PortDoesNotExist": "PINNOTFOUND",
    "TooManyPortConnections": "PINNOTFOUND",
    "ParameterDoesNotExist": "PINNOTFOUND",
    "EmptyOutputPortConn": "PINCONNECTEMPTY",
    "IndexOOB": "SELRANGE",
    "RangeOOB": "SELRANGE",
    "RangeWidthOOB": "SELRANGE",
    "MultipleAlwaysAssigns": "MULTIDRIVEN",
    "MultipleContAssigns": "MULTIDRIVEN",
    "MixedVarAssigns": "MULTIDRIVEN",
    "CaseIncomplete": "CASEINCOMPLETE",
    "CaseDefault": "CASEINCOMPLETE",
    "CaseOverlap": "CASEOVERLAP",
    "CaseDup": "CASEOVERLAP",
    "InferredLatch": "LATCH",
    "UndrivenNet": "UNDRIVEN",
    "UndrivenPort": "UNDRIVEN",
    "UnassignedVariable": "UNDRIVEN",
    "UnusedNet": "UNUSEDSIGNAL",
    "UnusedVariable": "UNUSEDSIGNAL",
    "UnusedPort": "UNUSEDSIGNAL",
    "UnusedImplicitNet": "UNUSEDSIGNAL",
    "UnusedButSetNet": "UNUSEDSIGNAL",
    "UnusedButSetVariable": "UNUSEDSIGNAL",
    "UnusedButSetPort": "UNUSEDSIGNAL",
    "UnusedParameter": "UNUSEDPARAM",
    "UnusedGenvar": "UNUSEDGENVAR",
    "DuplicateDefinition": "MODDUP",
    "UnknownModule": "MODMISSING",
    "LoopCondNotModified": "INFINITELOOP",
    "ShadowValue": "VARHIDDEN",
}
"""pyslang's name -> the name this project shows: Verilator's where both tools know the defect."""

ERRORS = _words(
    "IMPLICIT PINMISSING PINNOTFOUND EmptyInputPortConn MULTIDRIVEN LATCH UNDRIVEN SELRANGE BLKANDNBLK INFINITELOOP "
    "MODDUP MODMISSING PROCASSWIRE CONTASSREG InputPortCoercion UnknownSystemName Redefinition "
    "RedefinitionDifferentType DivisionByZero"
)
NOTES = _words(
    "UNUSEDSIGNAL UNUSEDPARAM UNUSEDGENVAR UNUSEDLOOP PINCONNECTEMPTY DEFPARAM ASCRANGE SYNCASYNCNET VARHIDDEN "
    "UnusedArgument UnusedSubroutine UnusedTypedef UnusedImport UnusedWildcardImport UnusedPackageParameter "
    "UnusedPackageTypedef UnusedPackageSubroutine UnusedDefinition NOEFFECT PROFOUTOFDATE INCABSPATH PROCASSINIT "
    "SYMRSVDWORD"
)
WARNINGS = _words(
    "CASEINCOMPLETE CASEOVERLAP UNOPTFLAT CaseOutsideRange CaseUnreachable CaseNotWildcard CaseZWithX CaseEnum "
    "ComparisonMismatch ConsecutiveComparison DanglingElse MisleadingIndentation EventExpressionConstant IgnoredSlice "
    "IncompleteReturn MissingReturn InferredComb InitSelf LogicalNotParentheses LoopVarModify MultiBitEdge "
    "MultiWriteExpr ReadWriteExpr NetInconsistent NetRangeInconsistent OutputPortCoercion RedefiningMacro "
    "ShiftCountNegative ShiftCountOverflow SignedLogicalShift SplitDistWeightOp UdpCoverage UnsizedInConcat "
    "UpwardHierarchicalName VectorLiteralOverflow SignedIntegerOverflow ReversedValueRange RangeSelectReversed "
    "CaseComplex BadFinishNum StaticInitOrder StaticInitValue UnknownDiagPragmaArg UnconnectedUnnamedPort"
)
"""pyslang's warnings worth showing; its others are dropped, Verilator's others are kept as warnings."""

HINTS = {
    "IMPLICIT": "declare the signal before it is used; an undeclared name becomes a 1-bit wire",
    "UndeclaredIdentifier": "declare it before this line, or correct the spelling",
    "UsedBeforeDeclared": "move the declaration above its first use",
    "PINMISSING": "connect the port by name; write .port() to leave an output open on purpose",
    "PINNOTFOUND": "use the port names of the instantiated module",
    "EmptyInputPortConn": "drive the input with a signal or a constant",
    "MULTIDRIVEN": "assign each signal in one always block or one assign only",
    "LATCH": "give the signal a value on every path: assign a default at the top of the combinational block",
    "UNDRIVEN": "assign the signal, or remove it",
    "CASEINCOMPLETE": "add a default branch",
    "SELRANGE": "keep the index inside the declared range, or widen the declaration",
    "BLKANDNBLK": "use <= only in clocked blocks and = only in combinational ones, for each signal one of them",
    "WIDTHTRUNC": "size the right-hand side to the target, such as with a bit select",
    "WIDTHEXPAND": "extend the narrower operand explicitly",
    "UNOPTFLAT": "a combinational loop: a signal depends on itself without a register in between",
    "MODMISSING": "define the module in one of the files, or correct its name",
    "MODDUP": "keep one definition of the module",
    "NEWERSTD": "this is SystemVerilog; the design is to be Verilog-2005",
    "SystemVerilogKeyword": "use the Verilog-2005 form: reg or wire, always @(posedge clk), always @*, localparam",
    "IncludeNotGiven": "include only files that are part of the design",
    "INFINITELOOP": "give the loop a constant bound and change its variable in each turn",
    "TopNotFound": "rename the top module, or ask for another one",
    "CouldNotOpenIncludeFile": "include only files that are part of the design",
}

SYSTEMVERILOG_KEYWORDS = _words(
    "logic bit byte int shortint longint always_comb always_ff always_latch typedef enum struct union package import "
    "interface modport unique priority unique0 var return break continue string void packed foreach final "
    "assert assume cover property sequence inside endinterface endpackage"
)


def severity_of(tool: str, code: str, severity: Severity) -> Severity | None:
    """Return the severity by the table in the module's docstring; None: not shown."""
    if severity is Severity.ERROR or code in ERRORS:
        return Severity.ERROR
    if code in NOTES:
        return Severity.NOTE
    if code in WARNINGS or tool != "pyslang":
        return Severity.WARNING
    return None
