"""The C text of the top function: its parameters, the extents that C's types forget, and labels of loops.

`int a[N]` reaches LLVM as a bare pointer. Probes (static variables at the start of the function's body, on the line
of its
brace) make the compiler say the element's type and the extent:

```
void f(int a[N][4]) {   ->   void f(int a[N][4]) {static __typeof__(*(a)) rtlagent_element_a[1] ...; static char
rtlagent_extent_a[(N)] ...;
```
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

ELEMENT = "rtlagent_element_"
EXTENT = "rtlagent_extent_"
_USED = "__attribute__((used))"
_LABEL = re.compile(r"(?:^|[;{}])\s*([A-Za-z_]\w*)\s*:\s*(?:for|while|do)\b")
_BARE_LABEL = re.compile(r"(?:^|[;{}])\s*([A-Za-z_]\w*)\s*:\s*$")


@dataclass(frozen=True)
class Parameter:
    """A parameter as it is written."""

    name: str
    extent: str
    """Text between the first brackets; empty: none."""
    is_pointer: bool
    """Written with `*`, `[]` or `&`."""
    text: str = ""


@dataclass(frozen=True)
class TopText:
    """Where the top function's definition stands in the text."""

    name: str
    name_at: int
    body_at: int
    """Of the opening brace."""
    parameters: tuple[Parameter, ...]


def without_comments(text: str) -> str:
    """Blank comments, strings' contents and directives, keeping every position."""

    def blank(found: re.Match[str]) -> str:
        body = found[0]
        if body[0] in "\"'":
            return body[0] + " " * (len(body) - 2) + body[-1]
        return re.sub(r"[^\n]", " ", body)

    pattern = r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*"
    return re.sub(pattern, blank, text, flags=re.S | re.M)


def find_top(text: str, top: str) -> TopText | None:
    """Find the definition of function `top`; None if the text does not show it (a macro made it)."""
    plain = without_comments(text)
    for found in re.finditer(rf"\b{re.escape(top)}\s*\(", plain):
        if plain.count("{", 0, found.start()) != plain.count("}", 0, found.start()):
            continue
        close = _matching(plain, found.end() - 1)
        if close is None:
            continue
        brace = re.match(r"(?:[^;{}()=]|;(?=[^{}]*;?\s*\{))*\{", plain[close + 1 :])
        following = re.match(r"\s*(?:const|noexcept|__attribute__\s*\(\(.*?\)\))?\s*\{", plain[close + 1 :], re.S)
        chosen = following or (brace if _is_old_style(plain[close + 1 :]) else None)
        if chosen is None:
            continue
        parameters = _parameters(text[found.end() : close])
        if not following:
            declared = _old_style(text[close + 1 : close + chosen.end()])
            parameters = tuple(declared.get(p.name, p) for p in parameters)
        return TopText(top, found.start(), close + chosen.end(), parameters)
    return None


def _is_old_style(rest: str) -> bool:
    """Tell whether declarations of a K&R definition stand between `)` and `{`."""
    return re.match(r"\s*(?:[\w\s*\[\],]+;\s*)+\{", rest) is not None


def _old_style(text: str) -> dict[str, Parameter]:
    """Read the declarations of a K&R definition's parameters."""
    found: dict[str, Parameter] = {}
    for declaration in without_comments(text).split(";")[:-1]:
        kind = re.match(r"\s*((?:\w+\s+)*\w+)(?=[\s*(])", declaration)
        if kind:
            first, *others = _split(declaration)
            for declarator in (first, *(f"{kind[1]} {other}" for other in others)):
                for parameter in _parameters(declarator):
                    found[parameter.name] = parameter
    return found


def _matching(text: str, at: int) -> int | None:
    depth = 0
    for k in range(at, len(text)):
        depth += (text[k] == "(") - (text[k] == ")")
        if depth == 0:
            return k
    return None


def _parameters(text: str) -> tuple[Parameter, ...]:
    found = []
    for part in _split(without_comments(text)):
        words = part.strip()
        if not words or words in ("void", "..."):
            continue
        head, _, _ = words.partition("[")
        inner = re.search(r"\(\s*[*&]\s*(?:const|restrict|__restrict)?\s*(\w+)\s*\)", head)
        names = re.findall(r"[A-Za-z_]\w*", head)
        name = inner[1] if inner else (names[-1] if names else "")
        extent = ""
        if "[" in words and not inner:
            close = words.index("]")
            extent = re.sub(r"\b(?:static|restrict|const|volatile)\b", "", words[words.index("[") + 1 : close]).strip()
        found.append(Parameter(name, extent, bool(re.search(r"[*&\[]", words)), words))
    return tuple(found)


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for k, char in enumerate(text):
        depth += (char in "([{<") - (char in ")]}>")
        if char == "," and depth == 0:
            parts.append(text[start:k])
            start = k + 1
    return [*parts, text[start:]]


def hidden_pointers(found: TopText, compiled: str, language: str = "c") -> TopText | None:
    """Return the top with those parameters marked as pointers that only a typedef makes so; None if there are none.

    An array type's extent is asked for as `sizeof`, a pointer type has none.
    """
    pointers = set(re.findall(r"\bptr (?:\w+ )*%(\w+)[,)]", _header(compiled, found)))
    hidden = [p for p in found.parameters if p.name in pointers and not p.is_pointer]
    if not hidden:
        return None
    changed = []
    for parameter in found.parameters:
        if parameter in hidden:
            kind = re.sub(rf"\b{parameter.name}\b", "", parameter.text)
            name = parameter.name
            compare = "__is_same" if language == "c++" else "__builtin_types_compatible_p"
            same = f"{compare}({kind}, __typeof__(&*({name})))"
            parameter = replace(parameter, is_pointer=True, extent=f"{same} ? 0 : sizeof({kind}) / sizeof(*({name}))")  # noqa: PLW2901
        changed.append(parameter)
    return replace(found, parameters=tuple(changed))


def _header(compiled: str, found: TopText) -> str:
    name = re.escape(found.name)
    line = re.search(rf"^define [^@\n]*@(?:_Z(?:N\w+?)?\d+{name}\w*|{name})\(.*$", compiled, re.M)
    return line[0] if line else ""


def insert_probes(text: str, found: TopText, *, extents: bool = True, language: str = "c") -> str:
    """Return the text with the probes at the start of the top function's body; `language` is `c` or `c++`."""
    probes = ""
    start = " = {}" if language == "c++" else ""  # what is const needs a value there
    for parameter in found.parameters:
        if not parameter.is_pointer or not parameter.name:
            continue
        name = parameter.name
        if "&" in parameter.text:
            continue  # a reference: debug information knows its type
        probes += f"static __typeof__(*({name})) {ELEMENT}{name}[1] {_USED}{start};"
        if parameter.extent and extents:
            probes += f"static char {EXTENT}{name}[({parameter.extent})] {_USED};"
    at = found.body_at + 1
    return text[:at] + probes + text[at:]


def loop_labels(text: str) -> dict[int, str]:
    """Return C labels of loops: line of the loop's keyword (from 1) -> label."""
    plain = without_comments(text).split("\n")
    labels = {}
    for number, line in enumerate(plain, 1):
        for found in _LABEL.finditer(line):
            labels[number] = found[1]
        bare = _BARE_LABEL.search(line)
        if bare and bare[1] != "default":
            for ahead in range(number, min(number + 3, len(plain))):
                if re.match(r"\s*(?:for|while|do)\b", plain[ahead]):
                    labels[ahead + 1] = bare[1]
                    break
                if plain[ahead].strip():
                    break
    return labels
