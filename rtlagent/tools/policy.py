"""Rules for model-written RTL, so that a design can neither cheat nor attack its own judge.

Runs inside the sandbox, on pyslang's syntax tree: after macro expansion, so that no macro hides anything,
and (through `policy_text`) on the raw text.

| code | severity | what it stops |
|---|---|---|
| POLICY_SYSTEM_TASK | error | $finish, $display, $fopen, $system, $c, $random, $time, $test$plusargs...: all outside ALLOWED_SYSTEM |
| POLICY_READMEM | error | $readmemh/b of anything but a given file named by a string |
| POLICY_DPI | error | import/export "DPI-C" |
| POLICY_BIND | error | bind, config, library |
| POLICY_FORCE | error | force, release, procedural assign and deassign |
| POLICY_HIERARCHICAL_REFERENCE | error | $root, $unit, names that reach out of the module or into an instance; defparam |
| POLICY_INCLUDE | error | `include by an absolute path, with `..`, or of a file not given |
| POLICY_METACOMMENT | error | `/*verilator ...*/` |
| POLICY_DIRECTIVE | error | `verilator_config, `systemc_*, `line, unknown or pasted directives |
| POLICY_PROTECT | error | `pragma, `protect |
| POLICY_SIM_SYNTH_MISMATCH | error | translate_off, full_case, `ifdef of a macro that a tool predefines (undefined others: warning) |
| POLICY_ATTRIBUTE | error | attributes that empty, replace or free a module: blackbox, anyconst, techmap... |
| POLICY_DELAY | error | # delays, specify blocks |
| POLICY_TESTBENCH | error | wait, fork, final, program, class, checker, covergroup; an event control in `initial` |
| POLICY_INITIAL | warning | `initial` with anything but assignments and $readmem |
| POLICY_RESERVED_NAME | error | modules and escaped names that look like the judge's or a library's own |
| POLICY_CHARACTERS | error | control characters and line ends that tools read differently |
"""  # noqa: E501 - a table

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyslang import parsing, syntax

from rtlagent.tools.policy_text import CODES, check_text, defined_macros, words
from rtlagent.types import Diagnostic, Severity

if TYPE_CHECKING:
    from rtlagent.tools.lint_worker import LintJob
    from rtlagent.verilog import Places

ALLOWED_SYSTEM = words(
    "$clog2 $signed $unsigned $bits $size $left $right $low $high $increment $dimensions $unpacked_dimensions "
    "$countones $onehot $onehot0 $rtoi $itor $ceil $floor $pow $sqrt $ln $log10 $exp $sin $cos $tan $atan "
    "$readmemh $readmemb"
)
"""System functions that synthesis evaluates, and the two that fill a memory."""

HINTS = {
    **CODES,
    "POLICY_READMEM": 'name one of the given files as a string: $readmemh("table.hex", mem)',
    "POLICY_DPI": "write the function in Verilog",
    "POLICY_BIND": "instantiate modules inside the module that uses them",
    "POLICY_FORCE": "assign the signal in one always block or one assign",
    "POLICY_HIERARCHICAL_REFERENCE": "bring the signal in or out through a port; pass parameters with #(...)",
    "POLICY_ATTRIBUTE": "remove the attribute",
    "POLICY_DELAY": "RTL has no delays: count clock cycles in a register",
    "POLICY_TESTBENCH": "describe hardware: always blocks with a clock edge or @*, and assign",
    "POLICY_INITIAL": "reset registers by the reset; use initial only to fill registers and memories",
    "POLICY_RESERVED_NAME": "choose another name",
}

_RESERVED_MODULE = re.compile(
    r"rtlagent_\w*|cocotb_\w*|SB_\w+|ICESTORM_\w+|TRELLIS_\w+|DP16KD|MULT18X18D|ALU54B|PDPW16KD|EHXPLLL|CCU2C|L6MUX21|PFUMX|LUT[1-6]"
    r"|CARRY4|FD[RSCP]E|DSP48E[12]|RAMB(?:18|36)E[12]|[IO]?BUFG?|\\.*"
)
_RESERVED_ESCAPED = re.compile(r"\\(?:\$|rtlagent_).*")
_FORBIDDEN_ATTRIBUTE = re.compile(
    r"(?:black|white)_?box|syn_black_?box|black_box|lib_whitebox|noblackbox|abc9_\w+|abc_\w+|techmap\w*|anyconst|anyseq|allconst"
    r"|allseq|gclk|full_case|parallel_case|ivl_\w+|synthesis_o(?:ff|n)|translate_o(?:ff|n)|via_celltype|replaced_by_gclk"
    r"|keep_hierarchy_off|extract_\w+|gentb_\w+|nosync|nolatches|defaultvalue|initval|wand|wor|reprocess_\w+|dynports"
    r"|cells_not_processed|interfaces_\w+|unused_bits|always_comb|always_ff|always_latch|invertible_pin|area|top"
)

_K = syntax.SyntaxKind
_T = parsing.TokenKind
_Place = tuple[str, int, int]
_Report = Callable[[str, str, Any], None]


def check(parsed: Any, places: Places, job: LintJob, *, foreign: bool) -> list[Diagnostic]:
    """Return a diagnostic for each rule that the design breaks, each rule once a line.

    Args:
        parsed: The parsed design.
        places: Translates its locations.
        job: What is being linted.
        foreign: True if a file that was not given is part of it; then the tree is left alone, because
            messages would quote that file.
    """
    texts = {path: _read(path) for path in job.given}
    texts = {path: text for path, text in texts.items() if _is_verilog(path, job)}
    macros = defined_macros(texts)
    found = [d for path, text in texts.items() for d in check_text(path, text, macros, ALLOWED_SYSTEM)]
    rules = _TreeRules(places, frozenset(posixpath.normpath(p) for p in job.given))
    if not foreign:
        rules.visit(parsed.tree.root)
    once: dict[tuple[str, int, str], Diagnostic] = {}
    for diagnostic in (*found, *rules.found):
        once.setdefault((diagnostic.path, diagnostic.line, diagnostic.code), diagnostic)
    return list(once.values())


def _read(path: str) -> str:
    return Path(path).read_bytes().decode("utf-8", "replace")


def _is_verilog(path: str, job: LintJob) -> bool:
    return path in job.sources or not path.endswith((".py", ".hex", ".mem", ".bin", ".dat", ".txt", ".md", ".c", ".h"))


class _TreeRules:
    """Walks the syntax tree, calling a rule for each kind of node that one concerns."""

    def __init__(self, places: Places, given: frozenset[str]) -> None:
        self.found: list[Diagnostic] = []
        self._places = places
        self._given = given
        self._scopes: dict[tuple[int, int], tuple[frozenset[str], frozenset[str]]] = {}
        self._shared: frozenset[str] = frozenset()
        """Names of packages' and the compilation unit's constants, visible in modules without a path."""
        self._interfaces: frozenset[str] = frozenset()
        self._table: Mapping[Any, Callable[[Any], object]] = {
            **{kind: self._plain(code, message) for kind, (code, message) in _PLAIN.items()},
            _K.SystemName: self._system_name,
            _K.ElabSystemTask: self._elaboration_task,
            _K.InvocationExpression: self._invocation,
            _K.ScopedName: self._scoped_name,
            _K.DefParamAssignment: self._defparam,
            _K.AttributeSpec: self._attribute,
            _K.InitialBlock: self._initial,
            _K.ModuleHeader: self._module_header,
            _K.InterfaceHeader: self._module_header,
            _K.PackageHeader: self._module_header,
            _T.Identifier: self._identifier,
        }

    def visit(self, root: Any) -> None:
        """Apply every rule below `root`."""
        outer = list(root.members) if root.kind == _K.CompilationUnit else [root]
        self._interfaces = frozenset(n.header.name.valueText for n in outer if n.kind == _K.InterfaceDeclaration)
        shared = [n for n in outer if n.kind not in (_K.ModuleDeclaration, _K.InterfaceDeclaration)]
        self._shared = frozenset(name for n in shared for name in _declared_in(n, frozenset())[0])
        root.visit(lookup_table=self._table)

    def _report(self, code: str, message: str, where: Any, severity: Severity = Severity.ERROR) -> None:
        token = where if isinstance(where, parsing.Token) else where.getFirstToken()
        path, line, column = self._places.of(token.location)
        self.found.append(Diagnostic("policy", severity, code, message, path, line, column, HINTS[code]))

    def _plain(self, code: str, message: str) -> Callable[[Any], object]:
        return lambda node: self._report(code, message, node)

    def _system_name(self, node: Any) -> None:
        name = node.getFirstToken().rawText
        if name not in ALLOWED_SYSTEM:
            self._report("POLICY_SYSTEM_TASK", f"'{name}' is not allowed in RTL", node)
        elif name.startswith("$readmem") and node.parent.kind != _K.InvocationExpression:
            self._report("POLICY_READMEM", f"'{name}' without a file", node)

    def _elaboration_task(self, node: Any) -> None:
        self._report("POLICY_SYSTEM_TASK", f"'{node.name.rawText}' is not allowed in RTL", node.name)

    def _invocation(self, node: Any) -> None:
        name = node.left.getFirstToken().rawText
        if not name.startswith("$readmem"):
            return
        given = node.arguments.parameters if node.arguments is not None else ()
        first = next((a for a in given if isinstance(a, syntax.SyntaxNode)), None)
        text = str(first).strip() if first is not None else ""
        literal = re.fullmatch(r'"([^"\\]*)"', text)
        if literal is None or posixpath.normpath(literal[1]) not in self._given or literal[1].startswith("/"):
            self._report("POLICY_READMEM", f"'{name}' may read a given file only, named by a string", node)

    def _scoped_name(self, node: Any) -> None:
        if node.parent.kind == _K.ScopedName:
            return  # the outermost name has been judged
        names = _dotted(node)
        if not names:
            return
        root = names[0]
        if root in ("$root", "$unit"):
            self._report("POLICY_HIERARCHICAL_REFERENCE", f"'{root}' reaches out of the module", node)
            return
        locals_, instances = self._scope_of(node)
        if root in instances:
            self._report("POLICY_HIERARCHICAL_REFERENCE", f"'{'.'.join(names)}' reaches into an instance", node)
        elif root not in locals_:
            self._report("POLICY_HIERARCHICAL_REFERENCE", f"'{'.'.join(names)}' reaches out of the module", node)

    def _scope_of(self, node: Any) -> tuple[frozenset[str], frozenset[str]]:
        """Return the names that the enclosing module declares, and those of its module instances."""
        while node.parent is not None and node.kind not in _SCOPES:
            node = node.parent
        start = node.sourceRange.start
        key = (start.buffer.id, start.offset)
        if key not in self._scopes:
            names, instances = _declared_in(node, self._interfaces)
            self._scopes[key] = names | self._shared, instances
        return self._scopes[key]

    def _defparam(self, node: Any) -> None:
        self._report("POLICY_HIERARCHICAL_REFERENCE", "defparam changes another module's parameter", node)

    def _attribute(self, node: Any) -> None:
        name = node.name.valueText
        if _FORBIDDEN_ATTRIBUTE.fullmatch(name):
            self._report("POLICY_ATTRIBUTE", f"the attribute '{name}' changes what synthesis builds", node)

    def _initial(self, node: Any) -> None:
        odd: list[Any] = []

        def look(inner: Any) -> None:
            if inner.kind in _EVENTS:
                self._report("POLICY_TESTBENCH", "an initial block waits for an event", inner)
            elif isinstance(inner, syntax.StatementSyntax) and inner.kind not in _FILLING:
                odd.append(inner)

        node.statement.visit(look)
        if odd:
            message = "an initial block does more than fill registers and memories"
            self._report("POLICY_INITIAL", message, node, Severity.WARNING)

    def _module_header(self, node: Any) -> None:
        name = node.name.rawText
        if _RESERVED_MODULE.fullmatch(name):
            self._report("POLICY_RESERVED_NAME", f"the name '{name.strip()}' is reserved", node.name)

    def _identifier(self, token: Any) -> None:
        if _RESERVED_ESCAPED.fullmatch(token.rawText):
            self._report("POLICY_RESERVED_NAME", f"the name '{token.rawText.strip()}' is reserved", token)


_PLAIN = {
    _K.DPIImport: ("POLICY_DPI", "a function from outside the design"),
    _K.DPIExport: ("POLICY_DPI", "a function exported from the design"),
    _K.BindDirective: ("POLICY_BIND", "'bind' changes another module"),
    _K.ConfigDeclaration: ("POLICY_BIND", "'config' replaces modules"),
    _K.LibraryDeclaration: ("POLICY_BIND", "'library' reads further files"),
    _K.LibraryIncludeStatement: ("POLICY_BIND", "'include' reads further files"),
    _K.ProceduralForceStatement: ("POLICY_FORCE", "'force' or 'release' overrides a signal"),
    _K.ProceduralReleaseStatement: ("POLICY_FORCE", "'force' or 'release' overrides a signal"),
    _K.ProceduralAssignStatement: ("POLICY_FORCE", "a procedural 'assign' overrides a signal"),
    _K.ProceduralDeassignStatement: ("POLICY_FORCE", "'deassign' overrides a signal"),
    _K.DelayControl: ("POLICY_DELAY", "a delay"),
    _K.Delay3: ("POLICY_DELAY", "a delay"),
    _K.OneStepDelay: ("POLICY_DELAY", "a delay"),
    _K.CycleDelay: ("POLICY_DELAY", "a delay"),
    _K.SpecifyBlock: ("POLICY_DELAY", "a specify block"),
    _K.SpecparamDeclaration: ("POLICY_DELAY", "a specparam"),
    _K.WaitStatement: ("POLICY_TESTBENCH", "'wait' is for testbenches"),
    _K.WaitForkStatement: ("POLICY_TESTBENCH", "'wait fork' is for testbenches"),
    _K.WaitOrderStatement: ("POLICY_TESTBENCH", "'wait_order' is for testbenches"),
    _K.DisableForkStatement: ("POLICY_TESTBENCH", "'disable fork' is for testbenches"),
    _K.ParallelBlockStatement: ("POLICY_TESTBENCH", "'fork' is for testbenches"),
    _K.BlockingEventTriggerStatement: ("POLICY_TESTBENCH", "an event trigger is for testbenches"),
    _K.NonblockingEventTriggerStatement: ("POLICY_TESTBENCH", "an event trigger is for testbenches"),
    _K.FinalBlock: ("POLICY_TESTBENCH", "'final' is for testbenches"),
    _K.ProgramDeclaration: ("POLICY_TESTBENCH", "'program' is for testbenches"),
    _K.AnonymousProgram: ("POLICY_TESTBENCH", "'program' is for testbenches"),
    _K.ClassDeclaration: ("POLICY_TESTBENCH", "'class' is for testbenches"),
    _K.CheckerDeclaration: ("POLICY_TESTBENCH", "'checker' is for testbenches"),
    _K.CovergroupDeclaration: ("POLICY_TESTBENCH", "'covergroup' is for testbenches"),
    _K.ClockingDeclaration: ("POLICY_TESTBENCH", "'clocking' is for testbenches"),
}
_SCOPES = (_K.ModuleDeclaration, _K.InterfaceDeclaration, _K.PackageDeclaration, _K.CompilationUnit)
_EVENTS = (_K.EventControl, _K.EventControlWithExpression, _K.ImplicitEventControl, _K.RepeatedEventControl)
_FILLING = (
    _K.SequentialBlockStatement,
    _K.ExpressionStatement,
    _K.ForLoopStatement,
    _K.LoopStatement,
    _K.ConditionalStatement,
    _K.EmptyStatement,
    _K.TimingControlStatement,
)


def _dotted(name: Any) -> list[str]:
    """Return the parts of a dotted name; empty for `package::name`, which reaches no instance."""
    parts: list[str] = []
    while name.kind == _K.ScopedName:
        if name.separator.kind != _T.Dot and name.left.kind not in (_K.UnitScope, _K.RootScope):
            return []
        parts.append(name.right.getFirstToken().valueText)
        name = name.left
    return [*reversed([*parts, name.getFirstToken().valueText])]


def _declared_in(scope: Any, interfaces: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return all names declared anywhere below `scope`, and those among them that are module instances."""
    names: set[str] = set()
    instances: set[str] = set()

    def instantiation(node: Any) -> None:
        into = names if node.type.valueText in interfaces else instances
        into.update(i.decl.name.valueText for i in node.instances if getattr(i, "decl", None) is not None)

    def named(node: Any) -> None:
        names.add(node.name.valueText)

    def prototype(node: Any) -> None:
        names.add(node.name.getLastToken().valueText)

    scope.visit(
        lookup_table={
            _K.HierarchyInstantiation: instantiation,
            _K.Declarator: named,
            _K.NamedBlockClause: named,
            _K.NamedLabel: named,
            _K.FunctionPrototype: prototype,
            _K.ExplicitAnsiPort: named,
        }
    )
    return frozenset(names - instances), frozenset(instances)
