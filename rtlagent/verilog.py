"""Read a design with pyslang. For use inside the sandbox only: the text may be hostile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyslang
from pyslang import ast, parsing, syntax

LANGUAGES = {
    "verilog": pyslang.LanguageVersion.v1364_2005,
    "systemverilog": pyslang.LanguageVersion.v1800_2017,
}


@dataclass(frozen=True)
class Parsed:
    """A design as pyslang holds it: one compilation unit, so that macros reach later files, as in every simulator."""

    sources: Any
    """The pyslang SourceManager."""
    tree: Any
    """The pyslang SyntaxTree of all files."""
    compilation: Any
    """The pyslang Compilation, with the top modules chosen."""
    buffers: Mapping[str, Any]
    """Path -> SourceBuffer of each compiled file."""


def parse(
    paths: Sequence[str],
    *,
    top: str | None = None,
    language: str = "systemverilog",
    include_dirs: Sequence[str] = (),
    root: Path = Path(),
) -> Parsed:
    """Parse the files at `paths` (relative to `root`) and prepare their elaboration."""
    version = LANGUAGES[language]
    bag = pyslang.Bag()
    preprocessor = parsing.PreprocessorOptions()
    preprocessor.languageVersion = version
    preprocessor.maxIncludeDepth = 32
    bag.preprocessorOptions = preprocessor
    lexer = parsing.LexerOptions()
    lexer.languageVersion = version
    bag.lexerOptions = lexer
    parser = parsing.ParserOptions()
    parser.languageVersion = version
    parser.maxRecursionDepth = 256
    bag.parserOptions = parser
    options = ast.CompilationOptions()
    options.languageVersion = version
    options.maxGenerateSteps = 16384
    options.maxInstanceDepth = 64
    if top is not None:
        options.topModules = {top}
    bag.compilationOptions = options
    sources = pyslang.SourceManager()
    sources.setDisableProximatePaths(True)
    for folder in include_dirs:
        sources.addUserDirectories(str(root / folder))
    buffers = {path: sources.assignText(path, (root / path).read_text(encoding="utf-8")) for path in paths}
    tree = syntax.SyntaxTree.fromBuffers(list(buffers.values()), sources, bag)
    compilation = ast.Compilation(bag)
    compilation.addSyntaxTree(tree)
    return Parsed(sources, tree, compilation, buffers)
