/*
 * tokenizer: names, decimal and hexadecimal numbers, strings, operators of one or two characters.
 * Returns how many there are, or -1 for too many.
 */
#define LINE 64
#define TOKENS 32

enum kind { NAME = 1, NUMBER, STRING, OPERATOR, ERROR };

struct token {
    enum kind kind;
    unsigned char start, length;
    unsigned value;
};

enum state { BETWEEN, IN_NAME, ZERO, DECIMAL, HEX, IN_STRING, ESCAPE, AFTER_OPERATOR };

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

int tokenizer(const char line[LINE], struct token token[TOKENS])
{
    enum state state = BETWEEN;
    enum kind kind = ERROR;
    unsigned value = 0;
    int start = 0, count = 0, i = 0;
    char c, first = 0;

    do {
#pragma HLS loop_tripcount min=1 max=128 avg=60
        c = i < LINE ? line[i] : '\0';
        switch (state) {
        case BETWEEN:
            start = i;
            value = 0;
            first = c;
            if (is_letter(c)) {
                state = IN_NAME;
                kind = NAME;
                continue;
            }
            if (c >= '0' && c <= '9') {
                state = c == '0' ? ZERO : DECIMAL;
                kind = NUMBER;
                if (c == '0')
                    i++;
                continue;
            }
            i++;
            switch (c) {
            case ' ':
            case '\t':
            case '\0':
                continue;
            case '"':
                state = IN_STRING;
                continue;
            case '<':
            case '>':
            case '=':
            case '!':
            case '&':
            case '|':
                state = AFTER_OPERATOR;
                kind = OPERATOR;
                value = (unsigned char)c;
                continue;
            case '+':
            case '-':
            case '*':
            case '/':
            case '(':
            case ')':
            case ';':
                kind = OPERATOR;
                value = (unsigned char)c;
                break;
            default:
                kind = ERROR;
            }
            goto emit;
        case IN_NAME:
            if (is_letter(c) || (c >= '0' && c <= '9')) {
                value = value * 31 + (unsigned char)c;
                i++;
                continue;
            }
            goto emit;
        case ZERO:
            if (c == 'x' || c == 'X') {
                state = HEX;
                i++;
                continue;
            }
            state = DECIMAL;
            /* fall through */
        case DECIMAL:
            if (digit_value(c) < 10) {
                value = value * 10 + (unsigned)digit_value(c);
                i++;
                continue;
            }
            goto emit;
        case HEX:
            if (digit_value(c) < 16) {
                value = value << 4 | (unsigned)digit_value(c);
                i++;
                continue;
            }
            goto emit;
        case IN_STRING:
        case ESCAPE:
            kind = STRING;
            if (c == '\0') {
                kind = ERROR;
                goto emit;
            }
            i++;
            value++;
            if (state == ESCAPE) {
                state = IN_STRING;
            } else if (c == '\\') {
                state = ESCAPE;
                value--;
            } else if (c == '"') {
                value--;
                goto emit;
            }
            continue;
        case AFTER_OPERATOR:
            if (c == '=' || (c == first && first != '!')) {
                value = value << 8 | (unsigned char)c;
                i++;
            }
            goto emit;
        }
    emit:
        if (count == TOKENS)
            return -1;
        token[count].kind = kind;
        token[count].start = (unsigned char)start;
        token[count].length = (unsigned char)(i - start);
        token[count].value = value;
        count++;
        state = BETWEEN;
    } while (c != '\0');
    return count;
}

static unsigned hash(const char *text, int length)
{
    unsigned h = 0, power = 1;
    while (length-- > 0) {
        h += (unsigned char)text[length] * power;
        power *= 31;
    }
    return h;
}

struct sample {
    char line[LINE + 1];
    int count;
    const char *pieces[10];
    enum kind kinds[10];
    unsigned values[10];
};

static const struct sample samples[] = {
    {"", 0, {0}, {0}, {0}},
    {" \t ", 0, {0}, {0}, {0}},
    {"x = 0x1F+42;", 6, {"x", "=", "0x1F", "+", "42", ";"}, {NAME, OPERATOR, NUMBER, OPERATOR, NUMBER, OPERATOR},
     {0, '=', 31, '+', 42, ';'}},
    {"if(a1<=007)b_2>>=0", 10, {"if", "(", "a1", "<=", "007", ")", "b_2", ">>", "=", "0"},
     {NAME, OPERATOR, NAME, OPERATOR, NUMBER, OPERATOR, NAME, OPERATOR, OPERATOR, NUMBER},
     {0, '(', 0, '<' * 256 + '=', 7, ')', 0, '>' * 257, '=', 0}},
    {"\"a\\\"b\" != \"\" && \"open", 5, {"\"a\\\"b\"", "!=", "\"\"", "&&", "\"open"},
     {STRING, OPERATOR, STRING, OPERATOR, ERROR}, {3, '!' * 256 + '=', 0, '&' * 257, 4}},
    {"4294967296 0xffffffffff #y!!0", 7, {"4294967296", "0xffffffffff", "#", "y", "!", "!", "0"},
     {NUMBER, NUMBER, ERROR, NAME, OPERATOR, OPERATOR, NUMBER}, {0, 0xffffffffu, 0, 0, '!', '!', 0}},
    {"abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijab==", 2,
     {"abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijab", "=="}, {NAME, OPERATOR}, {0, '=' * 257}},
};

int main(void)
{
    for (unsigned s = 0; s < sizeof samples / sizeof samples[0]; s++) {
        const struct sample *sample = &samples[s];
        struct token token[TOKENS] = {{0}};
        int at = 0, count = tokenizer(sample->line, token);
        for (int i = 0; i < sample->count && i < count; i++) {
            const char *piece = sample->pieces[i];
            int length = 0;
            while (piece[length] != '\0')
                length++;
            while (at < LINE && (sample->line[at] == ' ' || sample->line[at] == '\t'))
                at++;
            if (token[i].kind != sample->kinds[i] || token[i].start != at || token[i].length != length)
                return 1;
            at += length;
            if (token[i].value != (token[i].kind == NAME ? hash(piece, length) : sample->values[i]))
                return 2;
        }
        if (count != sample->count)
            return 3;
    }
    return 0;
}
