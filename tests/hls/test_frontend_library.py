"""What C programs take from outside: the string functions, main()'s arguments, assert and exit, and old C."""

from native_differential import assert_as_gcc, lowered

from rtlagent.hls.frontend.llvm import without_arguments


def test_string_functions_have_bodies() -> None:
    assert_as_gcc(
        """
        #include <string.h>
        #include <ctype.h>
        #define n 3
        static const char *const names[n] = { "one", "two two", "" };
        int f(unsigned k, char out[40]) {
            int r = 0;
            for (int i = 0; i < n; i++) r = r * 9 + (int)strlen(names[i]);
            strcpy(out, names[k % n]);
            strcat(out, "+x");
            strncpy(out + 12, names[1], 10);
            strncat(out, "abcdef", 3);
            char *at = strchr(out, '+');
            char *last = strrchr(out, 'o');
            r = r * 3 + (at ? (int)(at - out) : -1) + (last ? (int)(last - out) : -1);
            r = r * 5 + (strcmp(out, "one+xabc") == 0) + (strncmp(out, "twx", 2) == 0) * 2 + (memcmp(out, "+xab", 4) == 0) * 4;
            for (int i = 0; out[i]; i++) r += isdigit(out[i]) ? 1 : toupper(out[i]);
            return r;
        }
        """
    )


def test_classes_of_characters_are_the_bits_of_glibc() -> None:
    assert_as_gcc(
        """
        #include <ctype.h>
        int f(unsigned char c) {
            c &= 127;
            return isupper(c) + islower(c) + isalpha(c) + isdigit(c) + isspace(c) + isalnum(c) + isxdigit(c) + tolower(c);
        }
        """,
        calls=200,
    )


def test_what_an_assertion_ends() -> None:
    assert_as_gcc(
        """
        #include <assert.h>
        #include <stdlib.h>
        int f(int a[8], int x) {
            int s = 0;
            for (int i = 0; i < 8; i++) { assert(i < 9); if (i > x % 4 + 100) exit(3); s = s * 3 + a[i]; }
            return s;
        }
        """
    )


def test_main_is_given_no_arguments() -> None:
    source = "int g[4]; int main(int argc, char *argv[]) { g[argc] = 5; return argv ? argc : g[1] + 1; }"
    assert not lowered(source, "main").arguments
    text = "define i32 @main(i32 noundef %a, ptr noundef %a.b) {\n  store i32 %a, ptr %x\n  store ptr %a.b, ptr %y\n}\n"
    wanted = "define i32 @main() {\n  store i32 1, ptr %x\n  store ptr null, ptr %y\n}\n"
    assert without_arguments(text) == wanted


def test_old_c_is_accepted() -> None:
    assert_as_gcc(
        """
        int table[4];
        int f(a, b) int a; unsigned char b; { later(a & 3); return table[a & 3] + b; }
        later(x) { table[x] = x * 7; }
        """
    )
