from __future__ import annotations

import pytest

from rtlagent.config import ToolConfig
from rtlagent.errors import CSourceError
from rtlagent.hls.interface import Argument
from rtlagent.tools.csim import csim_step, record_calls, summary
from rtlagent.tools.csim_record import CallRecord
from rtlagent.tools.csim_stimuli import Budget, numbers_in
from rtlagent.types import SourceFile, Status


def scalar(name: str, size: int = 4, *, signed: bool = True, c_type: str = "int", is_float: bool = False) -> Argument:
    return Argument(name, size, True, signed=signed, c_type=c_type, element_bytes=size, is_float=is_float)


def array(name: str, size: int, element: int = 4, *, is_global: bool = False) -> Argument:
    return Argument(name, size, False, is_global=is_global, signed=True, c_type="int", element_bytes=element)


def record(
    text: str,
    config: ToolConfig,
    *arguments: Argument,
    top: str = "f",
    width: int = 32,
    path: str = "k.c",
    **settings: object,
) -> CallRecord:
    return record_calls(
        SourceFile(path, text),
        top=top,
        arguments=arguments,
        result_width=width,
        result_signed=True,
        config=config,
        **settings,  # type: ignore[arg-type]
    )


def ints(data: bytes) -> list[int]:
    return [int.from_bytes(data[i : i + 4], "little", signed=True) for i in range(0, len(data), 4)]


def test_records_each_call_of_a_static_function_from_main(tool_config: ToolConfig) -> None:
    found = record(
        """#include <stdio.h>
        #define NAME f
        static int total;
        int main(void);
        static int NAME(a, b) int a; int *b; { static int s; s += a; total++; b[1] = s; return s + *b; }
        static int through(int (*g)(), int x, int *v) { return g(x, v); }
        int main(void) {
          int v[3] = {3, 1, 2};
          for (int i = 0; i < 3; i++) printf("%d\\n", through(NAME, i, v));
          return NAME(5, v + 1) != 11;
        }""",
        tool_config, scalar("a"), array("b", 8), array("total", 4, is_global=True),
    )  # fmt: skip
    assert (found.status, found.origin, found.exit_status) == (Status.PASS, "testbench", 0)
    assert [ints(c.before[0]) for c in found.calls] == [[0], [1], [2], [5]]
    assert [ints(c.before[1]) for c in found.calls] == [[3, 1], [3, 0], [3, 1], [3, 2]]
    assert [ints(c.after[1]) for c in found.calls] == [[3, 0], [3, 1], [3, 3], [3, 8]]
    assert [ints(c.after[2]) for c in found.calls] == [[1], [2], [3], [4]]
    assert [c.result for c in found.calls] == [3, 4, 6, 11]
    assert found.log.splitlines() == ["3", "4", "6"]
    assert all(c.blocks for c in found.calls)


def test_knows_where_the_callers_objects_end(tool_config: ToolConfig) -> None:
    found = record(
        "void f(int *a) { a[0]++; } int main(void) { int v[5] = {0}; f(v); f(v + 3); return 0; }",
        tool_config, array("a", 400), width=0,
    )  # fmt: skip
    assert [c.usable for c in found.calls] == [(20,), (8,)]


def test_finds_arguments_of_every_class(tool_config: ToolConfig) -> None:
    found = record(
        """struct pair { long a, b; }; struct big { int x[5]; };
        long f(char a, float b, struct pair c, double d, struct big e, short *g, unsigned long h, int i, int j)
        { return a + (long)b + c.a + c.b + (long)d + e.x[4] + *g + (long)h + i + j; }
        int main(void) {
          short s = 7; struct pair p = {100, 200}; struct big q = {{0, 0, 0, 0, 5}};
          return f(-1, 2.5f, p, 4.0, q, &s, 1000, -3, 9) != 1323;
        }""",
        tool_config,
        scalar("a", 1), scalar("b", is_float=True), scalar("c", 16, c_type="struct pair"),
        scalar("d", 8, is_float=True),
        scalar("e", 20, c_type="struct big"), array("g", 2, 2), scalar("h", 8), scalar("i"), scalar("j"),
        width=64,
    )  # fmt: skip
    (call,) = found.calls
    assert found.status is Status.PASS
    assert call.result == 1323
    assert call.before[0] == b"\xff"
    assert call.before[1] == b"\x00\x00\x20\x40"
    assert call.before[2] == (100).to_bytes(8, "little") + (200).to_bytes(8, "little")
    assert call.before[3][-1] == 0x40
    assert ints(call.before[4]) == [0, 0, 0, 0, 5]
    assert call.before[5] == b"\7\0"
    assert [int.from_bytes(b, "little", signed=True) for b in call.before[6:]] == [1000, -3, 9]


def test_records_a_cpp_function_by_its_plain_name(tool_config: ToolConfig) -> None:
    found = record(
        """namespace { template <class T> T add(T a, T b) { return a + b; } }
        static int f(int &a, const int b) { a = add(a, b); return a; }
        int main() { int x = 4; return f(x, 3) - 7; }""",
        tool_config, array("a", 4), scalar("b"), path="k.cpp", language="c++",
    )  # fmt: skip
    assert [(ints(c.before[0]), ints(c.after[0]), c.result) for c in found.calls] == [([4], [7], 7)]


def test_stops_recording_at_the_bound_but_keeps_the_first_calls(tool_config: ToolConfig) -> None:
    found = record(
        "int f(int a) { static int n; return n += a; } int main(void) { for (int i = 0; i < 50; i++) f(i); return 0; }",
        tool_config, scalar("a"), max_calls=10,
    )  # fmt: skip
    assert [c.result for c in found.calls] == [sum(range(i + 1)) for i in range(10)]
    assert found.calls_made == 50
    assert "the first 10 of 50" in summary(found)


def test_main_itself_is_one_call(tool_config: ToolConfig) -> None:
    found = record("int main(void) { return -7000; }", tool_config, top="main")
    assert (found.status, found.origin) == (Status.PASS, "main")
    assert [c.result for c in found.calls] == [2**32 - 7000]


@pytest.mark.parametrize("how", ["exit(n - 4)", "exit(n - 4), exit(9)", "_exit"])
def test_a_main_may_end_by_exit(how: str, tool_config: ToolConfig) -> None:
    text = f"#include <stdlib.h>\n#include <unistd.h>\nunsigned char out[4];\nvoid deep(int n) {{ out[2] = 7; {how}; }}"
    if how == "_exit":
        found = record(text.replace("_exit;", "_exit(n);") + "int main(void) { deep(1); }", tool_config, top="main")
        assert (found.status, found.calls) == (Status.FAIL, ())  # nothing runs at its end that could take notes
        return
    out = Argument("out", 4, False, True, False, "unsigned char", 1)
    found = record(text + "int main(void) { deep(1); return 0; }", tool_config, out, scalar("argc"), top="main")
    (call,) = found.calls
    assert (found.status, call.result, call.after) == (Status.PASS, 2**32 - 3, (b"\0\0\7\0",))


def test_a_failing_main_is_the_cs_own_failure(tool_config: ToolConfig) -> None:
    found = record("int f(int a) { return a; } int main(void) { return f(3) != 4; }", tool_config, scalar("a"))
    assert found.status is Status.FAIL
    assert found.problem == "the C program's own test failed: main() returned 1"
    assert len(found.calls) == 1
    step = csim_step(found)
    assert (step.step, step.status, step.returncode) == ("csim", Status.FAIL, 1)
    assert "main() returned 1" in step.detail


def test_a_crash_names_the_signal_and_the_call(tool_config: ToolConfig) -> None:
    found = record(
        "int f(int *a) { return *a; } int main(void) { int x = 1; f(&x); return f(0); }", tool_config, array("a", 4)
    )
    assert found.status is Status.FAIL
    assert found.problem == "the C program was ended by SIGSEGV in call 2 of f()"
    assert [d.line for d in found.diagnostics] == [1]
    assert "null pointer" in found.diagnostics[0].message


def test_an_endless_program_is_a_timeout(tool_config: ToolConfig) -> None:
    found = record(
        "void f(int *a) { while (*a == 0) ; } int main(void) { volatile int x = 0; f((int *)&x); return 0; }",
        tool_config, array("a", 4), time_limit_s=1,
    )  # fmt: skip
    assert found.status is Status.TIMEOUT
    assert found.problem == "the C program did not end within 1 s in call 1 of f()"


@pytest.mark.parametrize("target", ["getpid()", "-1"])
def test_a_program_that_kills_itself_is_no_timeout(target: str, tool_config: ToolConfig) -> None:
    head = "#include <signal.h>\n#include <unistd.h>\nint f(int a) { return a; }\n"
    text = f"{head}int main(void) {{ f(1); kill({target}, SIGKILL); for (;;) pause(); }}"
    found = record(text, tool_config, scalar("a"))
    assert found.status is Status.FAIL
    assert found.problem == "the C program was ended by SIGKILL (it used too much memory, or killed itself)"


def test_a_program_that_will_not_end_is_killed(tool_config: ToolConfig) -> None:
    head = "#include <signal.h>\nint f(int a) { return a; }\n"
    text = f"{head}int main(void) {{ signal(SIGTERM, SIG_IGN); f(1); for (;;) ; }}"
    found = record(text, tool_config, scalar("a"), time_limit_s=1)
    assert found.status is Status.TIMEOUT


def test_a_missing_data_file_is_named(tool_config: ToolConfig) -> None:
    text = """#include <stdio.h>
    int f(int a) { return a; }
    int main(void) { FILE *in = fopen("in.txt", "r"); int v; if (!in || fscanf(in, "%d", &v) != 1) return 2;
                     return f(v) != 42; }"""
    found = record(text, tool_config, scalar("a"))
    assert found.status is Status.FAIL
    assert "could not open in.txt" in found.problem
    found = record(text, tool_config, scalar("a"), extra_files=[SourceFile("in.txt", "42\n")])
    assert found.status is Status.PASS
    assert [c.result for c in found.calls] == [42]


def test_a_testbench_in_a_file_of_its_own(tool_config: ToolConfig) -> None:
    found = record(
        '#include "k.h"\nint f(int a) { return a + STEP; }', tool_config, scalar("a"),
        extra_files=[
            SourceFile("k.h", "#define STEP 5\nint f(int a);\n"),
            SourceFile("tb.c", '#include "k.h"\nint main(void) { return f(1) != 6; }'),
        ],
    )  # fmt: skip
    assert [c.result for c in found.calls] == [6]


def test_a_testbench_that_includes_the_source(tool_config: ToolConfig) -> None:
    found = record(
        "static int f(int a) { return a + 5; }", tool_config, scalar("a"),
        extra_files=[SourceFile("tb.c", '#include "k.c"\nint main(void) { return f(1) != 6; }')],
    )  # fmt: skip
    assert [c.result for c in found.calls] == [6]


@pytest.mark.parametrize(
    ("body", "drops"),
    [("b[a & 15] = c;", set()), ("b[a] = c;", {"crash (SIGSEGV)"}), ("b[0] = 100 / a;", {"undefined"})],
)
def test_bit_precise_integers_are_built_with_clang(tool_config: ToolConfig, body: str, drops: set[str]) -> None:
    text = f"int f(int a, short *b) {{ _BitInt(9) c = a; {body} return c; }}"
    found = record(text, tool_config, scalar("a"), array("b", 32, 2))
    for call in found.calls:
        low = call.before[0][0] | (call.before[0][1] & 1) << 8
        assert call.result == (low - 512 if low & 256 else low) & 0xFFFFFFFF
    assert {d.removesuffix(" behaviour") for d in found.dropped} == drops


def test_bit_precise_cpp_has_the_standard_library(tool_config: ToolConfig) -> None:
    found = record(
        """#include <iostream>
        template <int N> struct wide { _BitInt(N) value; };
        static int f(int a, short *b) { wide<7> w; w.value = (_BitInt(7))a; *b = w.value * 2; return *b; }
        int main() { short z; std::cout << "hello" << std::endl; return f(100, &z) + 56; }""",
        tool_config, scalar("a"), array("b", 2, 2), path="k.cpp", language="c++",
    )  # fmt: skip
    assert (found.status, found.log) == (Status.PASS, "hello\n")
    assert [c.after[1] for c in found.calls] == [(-56).to_bytes(2, "little", signed=True)]


def test_generates_stimuli_where_main_never_calls_the_function(tool_config: ToolConfig) -> None:
    found = record(
        """static unsigned f(unsigned a, unsigned b) { while (b) { unsigned t = a % b; a = b; b = t; } return a; }
        int main(void) { return 0; }""",
        tool_config, scalar("a", signed=False), scalar("b", signed=False),
    )  # fmt: skip
    assert (found.status, found.origin) == (Status.PASS, "generated")
    assert [d.message for d in found.diagnostics] == ["main() does not call f(), so calls are generated"]
    values = {int.from_bytes(b, "little") for c in found.calls for b in c.before}
    assert {0, 1, 2**32 - 1, 2**31} <= values
    assert len(found.calls) >= 20


def test_drops_stimuli_that_are_undefined(tool_config: ToolConfig) -> None:
    found = record(
        "int f(int n, int a[16]) { int s = 0; for (int i = 0; i < n; i++) s ^= a[i]; return s; }",
        tool_config, scalar("n"), array("a", 64),
    )  # fmt: skip
    sizes = [int.from_bytes(c.before[0], "little", signed=True) for c in found.calls]
    assert max(sizes) <= 16
    assert len(set(sizes)) > 4
    assert "heap buffer overflow" in found.dropped
    assert f"{len(found.dropped)} dropped" in summary(found)


def test_dropped_stimuli_leave_no_trace_in_static_state(tool_config: ToolConfig) -> None:
    found = record(
        "int f(int a) { static int calls; calls++; int t[4] = {0}; t[a] = 1; return calls; }", tool_config, scalar("a")
    )
    assert found.dropped
    assert [c.result for c in found.calls] == list(range(1, len(found.calls) + 1))


def test_a_function_without_any_defined_stimulus_is_an_error(tool_config: ToolConfig) -> None:
    with pytest.raises(CSourceError) as caught:
        record("int f(int *a) {\n  return a[100];\n}", tool_config, array("a", 64))
    assert "every generated stimulus of f() is undefined in C" in caught.value.message
    assert "heap buffer overflow" in caught.value.message
    assert "main()" in caught.value.hint


def test_a_function_that_never_ends_is_an_error(tool_config: ToolConfig) -> None:
    with pytest.raises(CSourceError, match="too long"):
        record("void f(unsigned *a) { for (;;) a[0] += 3; }", tool_config, array("a", 8), width=0)


def test_long_calls_are_left_out_but_the_shortest_kept(tool_config: ToolConfig) -> None:
    found = record(
        "unsigned f(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; i++) s += i; return s; }",
        tool_config, scalar("n", signed=False), budget=Budget(wanted=12, soft_limit=1000),
    )  # fmt: skip
    assert "too long" in found.dropped
    assert max(c.blocks or 0 for c in found.calls[3:]) <= 1000


def test_stimuli_find_ways_that_hang_on_numbers_of_the_c(tool_config: ToolConfig) -> None:
    found = record(
        """int f(int kind, char a[32]) {
          if (kind != 4711) return 0;
          if (a[0] != '{') return 1;
          return a[1] > 0x70 ? 3 : 2;
        }""",
        tool_config, scalar("kind"), Argument("a", 32, False, signed=True, c_type="char", element_bytes=1),
    )  # fmt: skip
    assert {c.result for c in found.calls} == {0, 1, 2, 3}


def test_numbers_are_taken_from_code_not_from_comments_and_strings() -> None:
    text = "int a = 0x1F + 12u - 'A'; // 99\nfloat f = 1.5; char *s = \"77\"; /* 55 */ int b3 = 7ull; int t[] = {44};"
    assert numbers_in([text]) == (7, 12, 31, 65)


def test_globals_are_set_unless_constant(tool_config: ToolConfig) -> None:
    found = record(
        "static int in[4] = {1, 2, 3, 4}; int out[4]; void f(void) { for (int i = 0; i < 4; i++) out[i] = ~in[i]; }",
        tool_config, array("in", 16, is_global=True), array("out", 16, is_global=True), width=0,
    )  # fmt: skip
    assert ints(found.calls[0].before[0]) == [1, 2, 3, 4]
    assert all(ints(c.after[1]) == [~v for v in ints(c.before[0])] for c in found.calls)
    assert len({c.before[0] for c in found.calls}) > 4


def test_results_that_depend_on_uninitialised_variables_are_marked(tool_config: ToolConfig) -> None:
    found = record(
        "int f(int a, int *b) { int x[2]; x[0] = a; *b = x[0]; return x[a & 1]; }",
        tool_config,
        scalar("a"),
        array("b", 4),
    )
    for call in found.calls:
        assert call.unstable_result == bool(call.before[0][0] & 1)
        assert call.unstable[1] == frozenset()


def test_the_same_seed_gives_the_same_record(tool_config: ToolConfig) -> None:
    text = "int f(int a, int b[8]) { return b[a & 7] ^ a; }"
    first, second, other = (record(text, tool_config, scalar("a"), array("b", 32), seed=s) for s in (1, 1, 2))
    assert [c.before for c in first.calls] == [c.before for c in second.calls]
    assert [c.before for c in first.calls] != [c.before for c in other.calls]


def test_undefined_behaviour_of_the_testbench_is_a_warning(tool_config: ToolConfig) -> None:
    found = record(
        "int f(int a) {\n  return a + 1;\n}\nint main(void) { return f(2147483647) == 0; }", tool_config, scalar("a")
    )
    assert found.status is Status.PASS
    assert [(d.code, d.path, d.line) for d in found.diagnostics] == [("CSIM_UNDEFINED", "k.c", 2)]
    assert "signed integer overflow" in found.diagnostics[0].message


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        ("int f(int a) { return b; }", ".b. undeclared", "k.c:1:23"),
        ("int g(int a) { return a; }", "there is no function f", "k.c"),
        ("int g(int); int f(int a) { return g(a); }", "g is used but not defined", "k.c"),
    ],
)
def test_c_that_does_not_build_is_a_source_error(tool_config: ToolConfig, text: str, message: str, where: str) -> None:
    with pytest.raises(CSourceError, match=message) as caught:
        record(text, tool_config, scalar("a"))
    assert caught.value.where == where


def test_overloads_are_refused(tool_config: ToolConfig) -> None:
    with pytest.raises(CSourceError, match="2 functions f"):
        record("int f(int a) { return a; } int f(long a) { return 1; }", tool_config, scalar("a"), language="c++")


def test_much_output_is_bounded(tool_config: ToolConfig) -> None:
    found = record(
        """#include <stdio.h>
        int f(int a) { return a; }
        int main(void) { for (int i = 0; i < 3000000; i++) puts("0123456789"); return f(1) != 1; }""",
        tool_config, scalar("a"),
    )  # fmt: skip
    assert found.status is Status.PASS
    assert len(found.log) <= 1 << 16
