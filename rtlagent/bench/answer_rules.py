r"""Keep an answer from forging the report of the hidden test that it is simulated with.

An answer and a testbench share one simulation. What a testbench prints is told apart by a secret
(`marking`); this module sees to the rest, on the words of the answer: after comments are gone and macros
are expanded, so that nothing is hidden, and without a parser that the simulator might not agree with.

Refused, because the public benchmarks' tests would take the result for the design's:

- a module, package or class with the name of one of the test's (`module tb`, `module RefModule`);
- an instance of one of them: the reference would answer for itself;
- a hierarchical name, `disable` or task call that leads into the test or the reference;
- `force`, `tran`, `inout` ports that the problem does not have: what drives an input of the answer drives the
  reference, too (`is coerced to inout` in Icarus's log is a failure for the same reason);
- system tasks beyond printing, arithmetic and time: files, plusargs, `$system`;
- `$readmemh` of anything but a file of the answer's own, or one that is not there;
- `bind`, `config`, DPI, `program`, `$root`, and characters that tools read differently.

Not refused, because honest answers have them: prints (they go unheard), delays, `initial`, SystemVerilog
of every kind. A `$finish` becomes a print of its own secret: the simulation goes on and its verdict is a
failure. Modules that nothing instantiates, such as a testbench that a model sent along, may hold anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from rtlagent.bench.verilog_tokens import (
    MODULES,
    OPENERS,
    Token,
    Unit,
    closing,
    declared,
    is_verilog,
    line_of,
    names,
    normal,
    routines,
    tokens,
    units,
    without_comments,
)
from rtlagent.tools.policy_text import words
from rtlagent.types import SourceFile

_PLAIN_DIRECTIVES = words("timescale default_nettype resetall celldefine endcelldefine")
_ENDS = frozenset({"$finish", "$stop", "$exit", "$finish_and_return"})
_ALLOWED = frozenset(
    f"{name}{base}" for name in ("$display", "$write", "$strobe", "$monitor") for base in ("", "b", "h", "o")
) | words(
    "$error $warning $info $fatal $time $realtime $stime $timeformat $printtimescale $random $urandom $urandom_range "
    "$sformat $sformatf $swrite $sscanf $psprintf $clog2 $signed $unsigned $bits $typename $cast $size $left $right "
    "$low $high $increment $dimensions $unpacked_dimensions $countones $countbits $onehot $onehot0 $isunknown $rtoi "
    "$itor $realtobits $bitstoreal $shortrealtobits $bitstoshortreal $ceil $floor $pow $sqrt $ln $log10 $exp $sin "
    "$cos $tan $asin $acos $atan $atan2 $hypot $sinh $cosh $tanh $abs $min $max $rose $fell $stable $past $sampled "
    "$changed $dumpfile $dumpvars $dumpon $dumpoff $dumpall $dumpflush $dumplimit "
    "$setup $hold $setuphold $recovery $removal $recrem $skew $period $width $nochange"
)
_SEEDED = frozenset({"$random", "$urandom"})
_READS = frozenset({"$readmemh", "$readmemb"})
_STATEMENT_ENDS = words("; begin end else ) fork join initial always final do always_comb always_latch")
_DEFINE = re.compile(r"^[ \t]*`define\b(?:[^\n\\]|\\.)*", re.M | re.S)
_REACHES_BACK = words("force release alias ref tran tranif0 tranif1 rtran rtranif0 rtranif1 srandom set_randstate")
_PLAIN_ESCAPED = re.compile(r"[\w$\[\]+-]+\Z")


@dataclass(frozen=True)
class Hidden:
    """The words of a hidden test that an answer must not touch."""

    units: frozenset[str]
    """Names of its modules, packages and so on."""
    scopes: frozenset[str]
    """Names by which something inside it can be reached."""
    routines: frozenset[str]
    outside: frozenset[str]
    """Names declared outside of any module."""
    words: frozenset[str]
    """Every name in it."""
    data_files: frozenset[str]
    inout: bool = False
    """An answer may have bidirectional ports."""

    @classmethod
    def of(cls, files: Iterable[SourceFile], *, inout: bool = False) -> Hidden:
        """Collect the words of a test's files, data files included."""
        given = list(files)
        found = [tokens(normal(f.text)) for f in given if is_verilog(f)]
        flat = tuple(t for part in found for t in part)
        plain = [tokens(_DEFINE.sub("", normal(f.text))) for f in given if is_verilog(f)]
        parts = [u for part in plain for u in units(part)]
        inside = frozenset(r for t in found for r in routines(t))
        return cls(
            units=frozenset(declared(flat)),
            scopes=frozenset(declared(flat)) | inside | frozenset(_instances(flat)),
            routines=inside,
            outside=frozenset(_file_scope(parts)),
            words=names(flat),
            data_files=frozenset(PurePosixPath(f.path).name for f in given if not is_verilog(f)),
            inout=inout or "inout" in names(flat),
        )


@dataclass(frozen=True)
class Admitted:
    """An answer as it may be simulated."""

    files: tuple[SourceFile, ...]
    end_mark: str
    """What it prints where it would have ended the simulation."""


@dataclass(frozen=True)
class Refusal:
    """Why an answer cannot be simulated beside a hidden test."""

    message: str


def needs_preprocessing(files: Sequence[SourceFile]) -> bool:
    """Say whether the answer uses macros, conditions or includes."""
    return any(
        (t.kind == "directive" and t.text[1:] not in _PLAIN_DIRECTIVES) or (t.kind == "mark" and t.text == "`")
        for f in files
        if is_verilog(f)
        for t in tokens(normal(f.text))
    )


def admit(files: Sequence[SourceFile], hidden: Hidden, secret: str) -> Admitted | Refusal:
    """Judge an answer without macros, and make it ready for the simulation.

    Args:
        files: The answer.
        hidden: The test's words.
        secret: What marks the places where the answer would end the simulation.
    """
    verilog = [(f.path, normal(f.text)) for f in files if is_verilog(f)]
    texts = [tokens(text) for _, text in verilog]
    parts = [units(found) for found in texts]
    own = _Own.of([u for p in parts for u in p], files, hidden)
    for (path, text), found, part in zip(verilog, texts, parts, strict=True):
        for start, message in _objections(found, part, own, hidden):
            return Refusal(f"{path}:{line_of(text, start)}: {message}")
    changed = {path: _without_ends(text, secret) for path, text in verilog}
    return Admitted(tuple(SourceFile(f.path, changed.get(f.path, f.text)) for f in files), secret)


def raw_objection(file: SourceFile) -> str:
    """Say which system task an answer could use against its judge, whichever way its macros go, or ''.

    For tests that compile the answer themselves, with macros of their own.
    """
    text = normal(file.text)
    found = tokens(text)
    for index, token in enumerate(found):
        before = found[index - 1].text if index else ""
        known = token.text in _ALLOWED or token.text in _ENDS or token.text in _READS
        pasted = token.kind == "mark" and (
            (token.text == "`" and before == "`") or (token.text == "$" and before not in ("[", ":"))
        )
        if token.kind == "bad" or pasted or (token.kind == "system" and not known):
            return f"{file.path}:{line_of(text, token.start)}: the answer uses {token.text!r}"
    return ""


@dataclass(frozen=True)
class _Own:
    """What the answer declares itself."""

    routines: frozenset[str]
    """Tasks and functions outside of any module."""
    live: frozenset[str]
    """Names of its modules that may be part of the simulation."""
    data_files: frozenset[str]

    @classmethod
    def of(cls, parts: Sequence[Unit], files: Sequence[SourceFile], hidden: Hidden) -> _Own:
        return cls(
            routines=frozenset(r for p in parts if not p.kind for r in routines(p.tokens)),
            live=_live(parts, hidden),
            data_files=frozenset(f.path for f in files if not is_verilog(f)),
        )


def _objections(
    found: tuple[Token, ...], parts: Sequence[Unit], own: _Own, hidden: Hidden
) -> Iterable[tuple[int, str]]:
    yield from _anywhere(found, hidden)
    for part in parts:
        if part.name in own.live or not _is_plain_module(part):
            yield from _in_simulation(part.tokens, own, hidden)


def _anywhere(found: tuple[Token, ...], hidden: Hidden) -> Iterable[tuple[int, str]]:
    """Object to what counts even in a module that nothing instantiates."""
    for index, token in enumerate(found):
        if token.kind == "bad" or (token.kind == "mark" and token.text in '"\\`'):
            yield token.start, "a character or string that simulators read differently"
        elif token.kind == "directive" and token.text[1:] not in _PLAIN_DIRECTIVES:
            yield token.start, f"the directive or macro {token.text} cannot be judged"
        elif token.kind == "name":
            after = found[index + 1] if index + 1 < len(found) else None
            if token.text in ("import", "export") and after is not None and after.kind == "string":
                yield token.start, "the answer calls a foreign function"
            elif token.text in ("bind", "config", "library") and _starts_statement(found, index):
                yield token.start, f"'{token.text}' changes other modules"
        elif token.text in ("$root", "$unit"):
            yield token.start, f"'{token.text}' leads out of the answer"
    for name in declared(found):
        if name in hidden.units:
            start = next(t.start for t in found if t.text == name)
            yield start, f"the answer defines {name}, which is the test's own"


def _in_simulation(found: tuple[Token, ...], own: _Own, hidden: Hidden) -> Iterable[tuple[int, str]]:
    """Object to what reaches out of the answer while it is simulated."""
    known = own.routines | frozenset(routines(found))
    for index, token in enumerate(found):
        if token.kind == "system":
            yield from _system(found, index, own, hidden)
        elif token.kind == "mark" and token.text in (".", ":") and index:
            yield from _path(found, index, hidden)
        elif token.kind == "escaped" and not _PLAIN_ESCAPED.match(token.text):
            yield token.start, f"the escaped name \\{token.text} cannot be judged"
        elif token.kind in ("name", "escaped"):
            yield from _name(found, index, known, hidden)


def _path(found: tuple[Token, ...], index: int, hidden: Hidden) -> Iterable[tuple[int, str]]:
    """Object to a hierarchical name, or a name in a package or class, of the test's."""
    token = found[index]
    if token.text == ":":
        after = found[index + 1] if index + 1 < len(found) else None
        if after is None or after.text != ":" or after.start != token.end:
            return
    root = _root(found, index)
    if root is not None and root.text in hidden.scopes:
        yield root.start, f"'{root.text}' leads into the test"


def _name(found: tuple[Token, ...], index: int, known: frozenset[str], hidden: Hidden) -> Iterable[tuple[int, str]]:
    token = found[index]
    before = found[index - 1] if index else None
    after = found[index + 1] if index + 1 < len(found) else None
    if token.kind == "name" and token.text == "program":
        yield token.start, "a program block ends the simulation"
    elif token.kind == "name" and (token.text in _REACHES_BACK or (token.text == "inout" and not hidden.inout)):
        yield token.start, f"'{token.text}' could change what the test applies"
    follows = after is not None and (after.kind in ("name", "escaped") or after.text in ("#", "(", "["))
    inherits = before is not None and before.text in ("extends", "import")
    if token.text in hidden.units and (follows or inherits):
        yield token.start, f"'{token.text}' is the test's own"
    elif token.text in hidden.outside:
        yield token.start, f"'{token.text}' belongs to the test"
    elif token.text in hidden.routines and token.text not in known and _calls(found, index):
        yield token.start, f"'{token.text}' leads into the test"


def _system(found: tuple[Token, ...], index: int, own: _Own, hidden: Hidden) -> Iterable[tuple[int, str]]:
    token = found[index]
    ahead = [t.text for t in found[index + 1 : index + 4]]
    if token.text in _SEEDED and ahead[:1] == ["("] and ahead[1:2] != [")"]:
        yield token.start, f"{token.text} with a seed could change what the test applies"
    if token.text in _ALLOWED or token.text in _ENDS:
        return
    if token.text not in _READS:
        yield token.start, f"the answer uses {token.text}"
        return
    if len(ahead) < 3 or ahead[1][:1] != '"' or "\\" in ahead[1] or ahead[2] not in (",", ")"):
        yield token.start, f"{token.text} without the name of a file as a string"
        return
    path = PurePosixPath(ahead[1][1:-1])
    away = path.is_absolute() or ".." in path.parts or is_verilog(SourceFile(path.name, ""))
    if path.name in hidden.data_files or (away and str(path) not in own.data_files):
        yield token.start, f"{token.text} of {ahead[1]}, which is not the answer's own"


def _root(found: tuple[Token, ...], index: int) -> Token | None:
    """Return the first name of the path that goes on at the dot or colon at `index`; None: it is no path."""
    place = index - 1
    while place >= 0 and found[place].text == "]":
        depth = 0
        while place >= 0:
            depth += {"]": 1, "[": -1}.get(found[place].text, 0)
            place -= 1
            if depth == 0:
                break
    if place < 0 or found[place].kind not in ("name", "escaped"):
        return None
    if place >= 1 and found[place - 1].text == "." and place >= 2 and found[place - 2].text not in ("(", ",", ";"):
        return _root(found, place - 1) or found[place]
    return found[place]


def _calls(found: tuple[Token, ...], index: int) -> bool:
    """Say whether the name at `index` may be a call or the object of `disable`."""
    before = found[index - 1] if index else None
    after = found[index + 1].text if index + 1 < len(found) else ""
    if before is not None and before.text == "disable":
        return True
    if after == "(":
        # `adder check (...)` is an instance; `.check(...)` a port.
        return before is None or not (
            before.text in (".", "]") or (before.kind in ("name", "escaped") and before.text not in _STATEMENT_ENDS)
        )
    return after == ";" and (before is None or before.text in _STATEMENT_ENDS)


def _starts_statement(found: tuple[Token, ...], index: int) -> bool:
    return index == 0 or found[index - 1].text in (";", "end") or found[index - 1].text.startswith("end")


def _is_plain_module(part: Unit) -> bool:
    """Say whether a part is one module and nothing else, so that it can be left out of the judgement.

    `module m (interface i);` and `interface class` open what nothing closes: what follows would hide in it.
    """
    inner = (t for t in part.tokens[1:] if t.kind == "name")
    return part.kind in MODULES and part.tokens[-1].text == "endmodule" and not any(t.text in OPENERS for t in inner)


def _live(parts: Iterable[Unit], hidden: Hidden) -> frozenset[str]:
    """Return the names of the modules that the test may reach, directly or through others."""
    modules: dict[str, frozenset[str]] = {}
    seen: set[str] = set(hidden.words)
    for part in parts:
        if _is_plain_module(part):
            modules[part.name] = modules.get(part.name, frozenset()) | names(part.tokens[2:])
        else:
            seen |= names(part.tokens)
    todo = [m for m in modules if m in seen]
    live: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in live:
            live.add(name)
            todo += [m for m in modules if m in modules[name] and m not in live]
    return frozenset(live)


def _instances(found: tuple[Token, ...]) -> Iterable[str]:
    """Name what may be an instance or a labelled block: too many rather than too few."""
    for index in range(1, len(found)):
        token, before = found[index], found[index - 1]
        if token.kind not in ("name", "escaped"):
            continue
        after = found[index + 1].text if index + 1 < len(found) else ""
        if after == "[":
            close = closing(found, index + 1)
            after = "" if close is None or close + 1 >= len(found) else found[close + 1].text
        named = before.kind in ("name", "escaped") or before.text == ")"
        if (after == "(" and named) or (after == ":" and before.text in (";", "begin", "end", ")", "else")):
            yield token.text


def _file_scope(parts: Iterable[Unit]) -> Iterable[str]:
    """Name what a test declares outside of any module, past the directives."""
    for part in parts:
        if part.kind:
            continue
        declares = [t for t in part.tokens if t.kind in ("name", "escaped")]
        if any(t.text in _DECLARING for t in declares):
            yield from (t.text for t in declares if t.text not in _DECLARING)


_DECLARING = words(
    "int integer logic reg bit byte shortint longint real string event task function automatic static typedef enum "
    "struct packed signed unsigned parameter localparam const class endclass endtask endfunction begin end if else for "
    "input output var wire time return void"
)


def _without_ends(text: str, secret: str) -> str:
    """Return `text` without comments, printing `secret` where it would end the simulation."""
    kept: list[str] = []
    place = 0
    found = tokens(text)
    blanked = without_comments(text)
    for index, token in enumerate(found):
        if token.kind != "system" or token.text not in _ENDS:
            continue
        close = closing(found, index + 1) if index + 1 < len(found) and found[index + 1].text == "(" else None
        end = token.end if close is None else found[close].end
        lines = "\n" * text.count("\n", token.start, end)
        kept += [blanked[place : token.start], f'$display("{secret}"){lines}']
        place = end
    return "".join([*kept, blanked[place:]])
