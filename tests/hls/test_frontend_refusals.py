"""What cannot become hardware: an error at its line that says what to change."""

import pytest
from native_differential import lowered

from rtlagent.errors import CSourceError


def refusal(text: str, top: str = "f") -> CSourceError:
    with pytest.raises(CSourceError) as caught:
        lowered(text, top)
    return caught.value


@pytest.mark.parametrize(
    ("text", "where", "message", "hint"),
    [
        ("double f(double x) {\n  return x * 2;\n}", "k.c:2:12", "floating-point operation (fmul)", "fixed point"),
        ("int f(int x) {\n  return (int)(x * 0.5f);\n}", "k.c:2:16", "floating-point", "integers"),
        (
            "#include <math.h>\nint f(int x) {\n  return (int)sqrt((double)x);\n}",
            "k.c:3:",
            "floating-point",
            "integers",
        ),
        (
            "#include <stdlib.h>\nint f(int n) {\n  int *p = malloc(40);\n  p[n & 7] = n;\n  return p[0];\n}",
            "k.c:3:12",
            "malloc",
            "array",
        ),
        (
            "int f(int n) {\n  return n <= 1 ? 1 : n * f(n - 1);\n}",
            "k.c:2:27",
            "recursion cannot become hardware: f -> f",
            "stack array",
        ),
        (
            "int g(int);\nint h(int n) { return g(n - 1); }\nint g(int n) { return n ? h(n) : 0; }\nint f(int n) {\n  return g(n);\n}",
            "k.c:2:23",
            "recursion cannot become hardware: g -> h -> g",
            "loop",
        ),
        (
            "int a(int x) { return x; }\nint b(int x) { return -x; }\nint f(int n) {\n  int (*p)(int) = n & 1 ? a : b;\n  return p(n);\n}",
            "k.c:4:19",
            "a pointer to the function a cannot",
            "switch",
        ),
        (
            "int f(int n) {\n  int a[n];\n  for (int i = 0; i < n; i++) a[i] = i;\n  return a[n / 2];\n}",
            "k.c:2",
            "only the run knows",
            "constant size",
        ),
        (
            "void f(int *a, int n) {\n  for (int i = 0; i < n; i++) a[i] = i;\n}",
            "k.c:1",
            "how many elements a has is not known",
            "depth=N",
        ),
        (
            "int f(int n) {\n  int *p = (int *)0x1000;\n  return *p + n;\n}",
            "k.c:3:10",
            "without a known object",
            "point it to",
        ),
        (
            "int other(int x);\nint f(int n) {\n  return other(n);\n}",
            "k.c:3:10",
            "other has no body here",
            "definition",
        ),
        ('int f(int n) {\n  __asm__ volatile("nop");\n  return n;\n}', "k.c:2:3", "inline assembly", "C"),
        ("int f(int n) {\n  return n +;\n}", "k.c:2:13", "expected expression", ""),
        ("int *f(int a[4]) {\n  return a + 1;\n}", "k.c:1", "returns a pointer", "index"),
        (
            "struct s { int x[9]; };\nstruct s f(int n) {\n  struct s r = {{n}};\n  return r;\n}",
            "k.c:2",
            "returns a structure of more than 16 bytes",
            "pointer",
        ),
        (
            "#include <stdarg.h>\nstatic int g(int n, ...) {\n  va_list l; va_start(l, n); int r = va_arg(l, int); va_end(l);\n  return r;\n}\nint f(int n) { return g(n, 1); }",
            "k.c:",
            "",
            "",
        ),
    ],
)
def test_refused(text: str, where: str, message: str, hint: str) -> None:
    error = refusal(text)
    assert error.where.startswith(where)
    assert message in error.message
    assert hint in error.hint


def test_an_unknown_top_is_suggested() -> None:
    error = refusal("int filter(int x) { return x; }", "fiter")
    assert error.hint == "did you mean 'filter'?"


def test_a_header_of_the_user_is_named() -> None:
    error = refusal('#include "absent.h"\nint f(int x) { return x; }')
    assert error.where.startswith("k.c:1:10")
    assert "absent.h" in error.message


def test_one_array_under_two_names() -> None:
    body = "void f(int a[4], int b[4]) { for (int i = 0; i < 4; i++) b[i] = a[3 - i]; }\n"
    error = refusal(body + "int main(void) {\n  int x[4] = {1, 2, 3, 4};\n  f(x, x);\n  return x[0];\n}")
    assert error.where == "k.c:4:3"
    assert error.message == "this call hands over one array as a and b, and hardware keeps them apart"
    lowered(body + "int main(void) {\n  int x[8] = {1, 2, 3, 4};\n  f(x, x + 4);\n  return x[0];\n}")
    reading = "int f(int a[4], int b[4]) { return a[0] + b[1]; }\nint main(void) { int x[4] = {1}; return f(x, x); }"
    lowered(reading)
    outer = "int g[4]; void f(int a[4]) { g[1] = a[0]; }\nint main(void) {\n  f(g);\n  return g[1];\n}"
    assert refusal(outer).message == "this call hands over one array as a and g, and hardware keeps them apart"


def test_vectors_are_refused_with_a_hint() -> None:
    text = "typedef int v4 __attribute__((vector_size(16)));\nint f(int x) {\n  v4 a = {x, 1, 2, 3}, b = a * a;\n  return b[x & 3];\n}"
    error = refusal(text)
    assert error.where.startswith("k.c")
    assert "plain integers" in error.hint
