"""How much of the C ran under the recorded calls, by line."""

from __future__ import annotations

from rtlagent.config import ToolConfig
from rtlagent.hls.interface import Argument
from rtlagent.tools.csim import record_calls
from rtlagent.tools.csim_coverage import Coverage, measure_coverage, reachable
from rtlagent.types import SourceFile

C = """\
#include "limit.h"
static int helper(int v) {
  if (v > LIMIT)
    return v - 1;
  return v + 1;
}
static int unused(int v) { return v; }
int g[4];
int f(int n, short a[8]) {
  int s = 0;
  for (int i = 0; i < 8; i++)
    s += a[i] & 1;
  if (n * n == 152399025) // 12345 is no constant of this text
    s = 0;
  g[1] = s;
  return helper(s);
}
"""
HEADER = SourceFile("src/limit.h", "#define LIMIT 1000000\n")
ARGUMENTS = (
    Argument("n", 4, True, signed=True, c_type="int", element_bytes=4),
    Argument("a", 16, False, signed=True, c_type="short", element_bytes=2),
    Argument("g", 16, False, True, True, "int", 4),
)


def coverage_of(text: str, top: str = "f") -> Coverage | None:
    source = SourceFile("src/k.c", text)
    record = record_calls(
        source,
        top=top,
        arguments=ARGUMENTS if top == "f" else (),
        result_width=32,
        result_signed=True,
        config=ToolConfig(),
        extra_files=[HEADER],
    )
    return measure_coverage(record, source, extra_files=[HEADER], config=ToolConfig())


def test_lines_that_generated_calls_do_not_reach_are_named() -> None:
    found = coverage_of(C)
    assert found == Coverage(12, 10, (("src/k.c", 4), ("src/k.c", 14)))
    assert round(found.percent, 1) == 83.3


def test_calls_of_a_testbench_are_replayed_not_the_testbench() -> None:
    main = "int main(void) {\n  short a[8] = {1, 2, 3};\n  helper(2000000);\n  return f(12345, a) != 1;\n}\n"
    assert coverage_of(C + main) == Coverage(12, 11, (("src/k.c", 4),))


def test_main_itself_can_be_the_function() -> None:
    main = "int main(void) {\n  short a[8] = {0};\n  f(1, a);\n  return 3;\n}\n"
    assert coverage_of(C + main, "main") == Coverage(16, 14, (("src/k.c", 4), ("src/k.c", 14)))


def test_what_gcc_refuses_in_this_form_is_not_measured() -> None:
    source = SourceFile("k.c", "int f(int a) { return a; }\n")
    argument = (Argument("a", 4, True, signed=True, c_type="no such type", element_bytes=4),)
    record = record_calls(
        source, top="f", arguments=argument, result_width=32, result_signed=True, config=ToolConfig()
    )  # fmt: skip
    assert measure_coverage(record, source, config=ToolConfig()) is None


def test_only_what_the_function_calls_is_reached() -> None:
    graph = (
        'edge: { sourcename: "f" targetname: "k.c:g" label: "k.c:3:4" }\n'
        'edge: { sourcename: "k.c:g" targetname: "h" label: "k.c:9:4" }\n'
        'edge: { sourcename: "main" targetname: "x" label: "k.c:19:4" }\n'
    )
    assert reachable(graph, "f") == {"f", "g", "h"}
