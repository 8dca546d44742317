/* string_match: writes where `pattern` begins in `text` (overlapping places too); returns how many there are. */
#define TEXT 128
#define PATTERN 12

int string_match(const char text[TEXT], const char pattern[PATTERN], int length, unsigned char place[TEXT])
{
    signed char failure[PATTERN];
    char wanted[PATTERN];
    int found = 0, matched;
    if (length <= 0 || length > PATTERN)
        return -1;
    for (int i = 0; i < length; i++)
        wanted[i] = pattern[i];

    failure[0] = 0;
    matched = 0;
prepare:
    for (int i = 1; i < length; i++) {
        while (matched > 0 && wanted[i] != wanted[matched]) {
            matched = failure[matched - 1];
        }
        if (wanted[i] == wanted[matched])
            matched++;
        failure[i] = (signed char)matched;
    }

    matched = 0;
scan:
    for (int i = 0; i < TEXT && text[i] != '\0'; i++) {
        char c = text[i];
        while (matched > 0 && c != wanted[matched]) {
            matched = failure[matched - 1];
        }
        if (c == wanted[matched])
            matched++;
        if (matched == length) {
            place[found++] = (unsigned char)(i + 1 - length);
            matched = failure[matched - 1];
        }
    }
    return found;
}

static int begins(const char *text, const char *pattern, int length)
{
    for (int i = 0; i < length; i++)
        if (text[i] != pattern[i])
            return 0;
    return 1;
}

int main(void)
{
    static const char patterns[6][PATTERN + 1] = {"a", "aa", "abab", "abacabab", "ring", "aabaaabaaaab"};
    static const int lengths[6] = {1, 2, 4, 8, 4, 12};
    static char text[TEXT] = "in a string of rings: abababacababab, abacabacabab; "
                             "aaaaaabaaabaaabaaaabaaabaaaab and a ring, string, rin";
    unsigned char place[TEXT] = {0};
    for (int p = 0; p < 6; p++) {
        int found = string_match(text, patterns[p], lengths[p], place);
        int count = 0;
        for (int i = 0; i + lengths[p] <= TEXT; i++)
            if (begins(text + i, patterns[p], lengths[p]) && (count >= found || place[count++] != i))
                return 1;
        if (count != found || count == 0)
            return 2;
    }
    if (string_match(text, patterns[0], 0, place) != -1)
        return 3;
    for (int i = 0; i < TEXT; i++)
        text[i] = 'a'; /* no terminator, and a place at each character */
    return string_match(text, patterns[1], 2, place) == TEXT - 1 ? 0 : 4;
}
