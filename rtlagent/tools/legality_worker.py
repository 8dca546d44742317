"""Tell whether files are legal SystemVerilog, as JSON, with slang.

Started inside the sandbox after Yosys refused a file, to tell a wrong file from one that only
Yosys's reader does not understand.
"""

from __future__ import annotations

import json
import sys


def main(paths: list[str]) -> None:
    """Print {"legal": bool} for the files taken together."""
    import pyslang

    tree = pyslang.syntax.SyntaxTree.fromFiles(paths)
    compilation = pyslang.ast.Compilation()
    compilation.addSyntaxTree(tree)
    bad = any(diagnostic.isError() for diagnostic in compilation.getAllDiagnostics())
    json.dump({"legal": not bad}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
