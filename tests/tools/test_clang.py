"""clang in the sandbox."""

import re
import tempfile
import time
from pathlib import Path

import pytest

from rtlagent.config import ToolConfig, load_config
from rtlagent.errors import CSourceError
from rtlagent.tools.clang import emit_llvm
from rtlagent.types import SourceFile


@pytest.fixture
def config() -> ToolConfig:
    return load_config().tools


def test_c_becomes_ir_with_the_users_names(config: ToolConfig) -> None:
    text = emit_llvm("int twice(int x) {\n  return x + x;\n}\n", "c", path="dir/k.c", config=config)
    assert re.search(r"^define (dso_local )?i32 @twice\(i32", text, re.M)
    assert 'target triple = "x86_64-unknown-linux' in text
    assert "k.c" in text
    assert "DILocation(line: 2" in text
    assert "optnone" not in text


def test_cpp_and_arguments(config: ToolConfig) -> None:
    source = "template <int N> int add(int x) { return x + N; }\nint f(int x) { return add<STEP>(x); }\n"
    text = emit_llvm(source, "c++", ("-DSTEP=7",), path="k.cpp", config=config)
    assert "@_Z1fi(" in text


def test_standard_headers_are_there(config: ToolConfig) -> None:
    names = (
        "stdint",
        "stdio",
        "string",
        "stdlib",
        "stdbool",
        "limits",
        "math",
        "assert",
        "stddef",
        "inttypes",
        "ctype",
    )
    source = (
        "".join(f"#include <{n}.h>\n" for n in names)
        + "uint8_t f(bool b) { return b ? UINT8_MAX : (uint8_t)INT_MIN; }\n"
    )
    assert " i8 @f(" in emit_llvm(source, "c", path="k.c", config=config)


def test_headers_of_the_user_travel_along(config: ToolConfig) -> None:
    files = [
        SourceFile("inc/sizes.h", "#define N 3\n"),
        SourceFile("k.h", '#include "inc/sizes.h"\nint f(int a[N]);\n'),
    ]
    source = '#include "k.h"\nint f(int a[N]) { return a[N - 1]; }\n'
    assert "i64 2" in emit_llvm(source, "c", path="k.c", config=config, extra_files=files)


def test_headers_above_the_source_are_found(config: ToolConfig) -> None:
    files = [SourceFile("inc/n.h", "#define N 3\n")]
    text = emit_llvm('#include "../inc/n.h"\nint n = N;\n', "c", path="src/k.c", config=config, extra_files=files)
    assert "i32 3" in text
    with pytest.raises(CSourceError) as caught:
        files = [SourceFile("inc/n.h", "#define\n")]
        emit_llvm('#include "../inc/n.h"\n', "c", path="src/k.c", config=config, extra_files=files)
    assert caught.value.where.startswith("inc/n.h:1:")


def test_nothing_is_written_outside_the_work_folder(config: ToolConfig, tmp_path: Path) -> None:
    files = [SourceFile(str(tmp_path / "a.h"), ""), SourceFile("../rtlagent-stray.h", "")]
    emit_llvm("int n;\n", "c", path=str(tmp_path / "k.c"), config=config, extra_files=files)
    assert not list(tmp_path.iterdir())
    assert not (Path(tempfile.gettempdir()) / "rtlagent-stray.h").exists()


def test_the_first_error_is_told_at_its_place(config: ToolConfig) -> None:
    with pytest.raises(CSourceError) as caught:
        emit_llvm("int f(int x) {\n  return y + z;\n}\n", "c", path="src/k.c", config=config)
    assert caught.value.where == "src/k.c:2:10"
    assert caught.value.message.startswith("use of undeclared identifier 'y'")
    assert "1 more" in caught.value.message


def test_an_error_in_a_header_is_told_there(config: ToolConfig) -> None:
    with pytest.raises(CSourceError) as caught:
        emit_llvm(
            '#include "k.h"\n', "c", path="k.c", config=config, extra_files=[SourceFile("k.h", "int x\nint y;\n")]
        )
    assert caught.value.where.startswith("k.h:1:")


def test_old_c_is_taken_as_gcc_takes_it(config: ToolConfig) -> None:
    source = "f(x) { int *p = x; return g(p); }\nint g(int *p) { return p != 0; }\n"
    assert "@f(" in emit_llvm(source, "c", path="k.c", config=config)


def test_files_outside_cannot_be_read(config: ToolConfig) -> None:
    with pytest.raises(CSourceError) as caught:
        emit_llvm('#include "/etc/shadow"\nint f(void) { return 0; }\n', "c", path="k.c", config=config)
    assert "root:" not in str(caught.value)


def test_it_is_quick(config: ToolConfig) -> None:
    source = "int f(int x) { return x; }\n"
    emit_llvm(source, "c", path="k.c", config=config)
    start = time.monotonic()
    emit_llvm(source, "c", path="k.c", config=config)
    assert time.monotonic() - start < 3
