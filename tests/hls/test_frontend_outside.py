"""Pointers that the code around the module holds, and library functions that write or read behind its back."""

import pytest
from native_differential import lowered

from rtlagent.errors import CSourceError

WALK = """
static unsigned char data[8];
unsigned char *at;
int f(int n) { int s = 0; while (n-- > 0) s = s * 3 + *at++; return s; }
void start(void) { at = data; }
"""


def test_a_pointer_set_outside_is_refused() -> None:
    with pytest.raises(CSourceError, match="at holds a pointer, and code outside"):
        lowered(WALK + "int main(void) { start(); return f(3); }")
    inside = WALK.replace("int s = 0;", "int s = 0; at = data;")
    with pytest.raises(CSourceError, match="at holds a pointer, and code outside"):
        lowered(inside + "int main(void) { at = data + 1; return f(3); }")


def test_a_copy_of_a_structure_with_a_pointer_is_refused() -> None:
    text = """
    struct item { int *at; int n; };
    static int data[4];
    int f(struct item a[4], int k) { struct item x; if (k > 2) a[k & 3].at = data; x = a[k & 1]; return x.at[x.n & 3]; }
    """
    with pytest.raises(CSourceError, match="a holds a pointer, and code outside"):
        lowered(text)


def test_a_pointer_that_is_only_read_outside_stays_inside() -> None:
    inside = WALK.replace("int s = 0;", "int s = 0; if (n > 2) at = data;")
    found = lowered(inside + "int main(void) { return f(3) + (at == data); }")
    assert "at" not in [a.name for a in found.arguments]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('#include <stdio.h>\nint f(int a) { return printf("%d", a) > 2; }', "the result of printf is used"),
        ('#include <stdio.h>\nint f(int a) { char b[9]; sprintf(b, "%d", a); return b[0]; }', "sprintf cannot become"),
        ("#include <stdlib.h>\nint f(int a) { return rand() % (a | 1); }", "rand cannot become"),
        (
            "#include <stdarg.h>\nstatic int g(int n, ...) { va_list a; va_start(a, n); n += va_arg(a, int);"
            " va_end(a); return n; }\nint f(int a) { return g(1, a); }",
            "g takes a variable number of arguments",
        ),
    ],
)
def test_refused_library_calls(text: str, message: str) -> None:
    with pytest.raises(CSourceError, match=message):
        lowered(text)
