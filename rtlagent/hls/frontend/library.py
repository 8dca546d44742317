"""Bodies for the string and character functions of the C library, which hardware needs as C text.

```
n = strlen(s);   ->   n = strlen(s);
                      #line 1 "<library>"
                      __SIZE_TYPE__ strlen(const char *s) { __SIZE_TYPE__ n = 0; while (s[n]) n++; return n; }
```

They come after the user's text, so that every position in it stays what it was.
"""

from __future__ import annotations

import re

NO_MACROS = "-D__NO_CTYPE"
"""Makes <ctype.h> declare functions only: its macros read a table inside the C library."""
_DECLARED = re.compile(r"^declare [^@\n]*@([\w.$]+)\(", re.M)
_BODIES = {
    "strlen": "__SIZE_TYPE__ strlen(const char *s) { __SIZE_TYPE__ n = 0; while (s[n]) n++; return n; }",
    "strnlen": "__SIZE_TYPE__ strnlen(const char *s, __SIZE_TYPE__ m)"
    " { __SIZE_TYPE__ n = 0; while (n < m && s[n]) n++; return n; }",
    "strcmp": "int strcmp(const char *a, const char *b) { __SIZE_TYPE__ n = 0;"
    " while (a[n] && a[n] == b[n]) n++; return (unsigned char)a[n] - (unsigned char)b[n]; }",
    "strncmp": "int strncmp(const char *a, const char *b, __SIZE_TYPE__ m) { for (__SIZE_TYPE__ n = 0; n < m; n++)"
    " { if (a[n] != b[n]) return (unsigned char)a[n] - (unsigned char)b[n]; if (!a[n]) break; } return 0; }",
    "memcmp": "int memcmp(const void *p, const void *q, __SIZE_TYPE__ m)"
    " { const unsigned char *a = p, *b = q; for (__SIZE_TYPE__ n = 0; n < m; n++)"
    " if (a[n] != b[n]) return a[n] - b[n]; return 0; }",
    "strcpy": "char *strcpy(char *d, const char *s) { __SIZE_TYPE__ n = 0; do d[n] = s[n]; while (s[n++]); return d; }",
    "strncpy": "char *strncpy(char *d, const char *s, __SIZE_TYPE__ m) { __SIZE_TYPE__ n = 0;"
    " while (n < m && s[n]) { d[n] = s[n]; n++; } while (n < m) d[n++] = 0; return d; }",
    "strcat": "char *strcat(char *d, const char *s) { __SIZE_TYPE__ k = 0, n = 0;"
    " while (d[k]) k++; do d[k + n] = s[n]; while (s[n++]); return d; }",
    "strncat": "char *strncat(char *d, const char *s, __SIZE_TYPE__ m) { __SIZE_TYPE__ k = 0, n = 0;"
    " while (d[k]) k++; while (n < m && s[n]) { d[k + n] = s[n]; n++; } d[k + n] = 0; return d; }",
    "strchr": "char *strchr(const char *s, int c) { __SIZE_TYPE__ n = 0;"
    " while (s[n] && s[n] != (char)c) n++; return s[n] == (char)c ? (char *)s + n : 0; }",
    "strrchr": "char *strrchr(const char *s, int c) { char *r = 0; __SIZE_TYPE__ n = 0;"
    " do if (s[n] == (char)c) r = (char *)s + n; while (s[n++]); return r; }",
    "memchr": "void *memchr(const void *p, int c, __SIZE_TYPE__ m) { const unsigned char *s = p;"
    " for (__SIZE_TYPE__ n = 0; n < m; n++) if (s[n] == (unsigned char)c) return (void *)(s + n); return 0; }",
    # What is true is the bit that glibc returns.
    "isupper": "int isupper(int c) { return c >= 'A' && c <= 'Z' ? 256 : 0; }",
    "islower": "int islower(int c) { return c >= 'a' && c <= 'z' ? 512 : 0; }",
    "isalpha": "int isalpha(int c) { return (c | 32) >= 'a' && (c | 32) <= 'z' ? 1024 : 0; }",
    "isdigit": "int isdigit(int c) { return c >= '0' && c <= '9' ? 2048 : 0; }",
    "isspace": "int isspace(int c) { return c == ' ' || (c >= 9 && c <= 13) ? 8192 : 0; }",
    "isalnum": "int isalnum(int c) { return ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9') ? 8 : 0; }",
    "isxdigit": "int isxdigit(int c)"
    " { return ((c | 32) >= 'a' && (c | 32) <= 'f') || (c >= '0' && c <= '9') ? 4096 : 0; }",
    "toupper": "int toupper(int c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }",
    "tolower": "int tolower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }",
}


def missing_bodies(llvm: str) -> str:
    """Return the C text to append to the text whose LLVM IR is given; empty if nothing is missing."""
    wanted = [name for name in _DECLARED.findall(llvm) if name in _BODIES]
    if not wanted:
        return ""
    # The user's macros must not reach into the bodies.
    plain = "".join(f"#undef {name}\n" for name in [*"abcdkmnpqrs", *wanted])
    return f'\n#line 1 "<library>"\n{plain}' + "\n".join(_BODIES[name] for name in wanted) + "\n"
