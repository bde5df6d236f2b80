#include "config/scan.h"

#include "util/parse.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Of a number without leading zeros; more digits never fit into 64 bits. */
#define DIGITS_MAX 64

struct scan {
    const char *at;
    const char *end;
    unsigned line;
    struct ccm_buf *out;
    struct config_problems *problems;
};

static char scan_peek_byte(const struct scan *s, size_t ahead)
{
    return (size_t)(s->end - s->at) > ahead ? s->at[ahead] : '\0';
}

static bool scan_is_done(const struct scan *s)
{
    return s->at == s->end;
}

/* Copy the next n bytes (fewer at the end), counting lines. */
static void scan_copy_bytes(struct scan *s, size_t n)
{
    const size_t left = (size_t)(s->end - s->at);
    const size_t take = n < left ? n : left;

    for (size_t i = 0; i < take; i++) {
        s->line += s->at[i] == '\n' ? 1 : 0;
    }
    ccm_buf_add(s->out, s->at, take);
    s->at += take;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name_byte(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '*';
}

static void scan_line_comment(struct scan *s)
{
    while (!scan_is_done(s) && *s->at != '\n') {
        scan_copy_bytes(s, 1);
    }
}

/* libconfig would name the last line of the file (and lose the memory of an open text). */
static void check_closed(struct scan *s, unsigned line, const char *what)
{
    if (scan_is_done(s)) {
        config_problems_add(s->problems, line, "the %s that begins here has no end", what);
    }
}

static void scan_block_comment(struct scan *s)
{
    const unsigned line = s->line;

    scan_copy_bytes(s, 2);
    while (!scan_is_done(s) && !(*s->at == '*' && scan_peek_byte(s, 1) == '/')) {
        scan_copy_bytes(s, 1);
    }
    check_closed(s, line, "comment");
    scan_copy_bytes(s, 2);
}

static void scan_text(struct scan *s)
{
    const unsigned line = s->line;

    scan_copy_bytes(s, 1);
    while (!scan_is_done(s) && *s->at != '"') {
        if (*s->at != '\\') {
            scan_copy_bytes(s, 1);
            continue;
        }
        if (scan_peek_byte(s, 1) == 'x' && scan_peek_byte(s, 2) == '0' &&
            scan_peek_byte(s, 3) == '0') {
            config_problems_add(s->problems, s->line, "a text may not contain \\x00");
        }
        scan_copy_bytes(s, 2);
    }
    check_closed(s, line, "text");
    scan_copy_bytes(s, 1);
}

/* A number with a fraction, an exponent or a base: libconfig's business, in one piece. */
static void scan_other_number(struct scan *s)
{
    while (is_letter(scan_peek_byte(s, 0)) || is_digit(scan_peek_byte(s, 0)) ||
           scan_peek_byte(s, 0) == '.') {
        const bool exponent = scan_peek_byte(s, 0) == 'e' || scan_peek_byte(s, 0) == 'E';

        scan_copy_bytes(
            s, exponent && (scan_peek_byte(s, 1) == '+' || scan_peek_byte(s, 1) == '-') ? 2 : 1);
    }
}

static void scan_number(struct scan *s)
{
    const unsigned line = s->line;
    char digits[DIGITS_MAX];
    size_t len = 0;

    while (is_digit(scan_peek_byte(s, 0)) || (len == 0 && (*s->at == '+' || *s->at == '-'))) {
        const bool leading_zero = *s->at == '0' && (len == 0 || digits[len - 1] == '-');

        if (*s->at != '+' && !leading_zero && len + 1 < sizeof(digits)) {
            digits[len++] = *s->at;
        }
        scan_copy_bytes(s, 1);
    }
    digits[len] = '\0';
    if (strchr(".eExX", scan_peek_byte(s, 0)) != NULL && scan_peek_byte(s, 0) != '\0') {
        scan_other_number(s);
        return;
    }

    const bool suffixed = scan_peek_byte(s, 0) == 'L';
    int64_t value = 0;

    if (ccm_parse_i64(digits, INT64_MIN, INT64_MAX, &value) == -ERANGE) {
        config_problems_add(s->problems, line, "the number is too large");
    } else if (!suffixed && (value < INT32_MIN || value > INT32_MAX)) {
        ccm_buf_addc(s->out, 'L');
    }
    while (scan_peek_byte(s, 0) == 'L') {
        scan_copy_bytes(s, 1);
    }
}

static void scan_name(struct scan *s)
{
    while (is_name_byte(scan_peek_byte(s, 0))) {
        scan_copy_bytes(s, 1);
    }
}

static void scan_next(struct scan *s)
{
    static const char include[] = "@include";
    const char c = *s->at;
    const char next = scan_peek_byte(s, 1);

    if (c == '#' || (c == '/' && next == '/')) {
        scan_line_comment(s);
    } else if (c == '/' && next == '*') {
        scan_block_comment(s);
    } else if (c == '"') {
        scan_text(s);
    } else if (is_digit(c) || ((c == '-' || c == '+') && is_digit(next))) {
        scan_number(s);
    } else if (is_letter(c) || c == '*') {
        scan_name(s);
    } else if ((size_t)(s->end - s->at) >= sizeof(include) - 1 &&
               memcmp(s->at, include, sizeof(include) - 1) == 0) {
        config_problems_add(s->problems, s->line,
                            "@include is not supported: --config takes a folder of files");
        scan_copy_bytes(s, sizeof(include) - 1);
    } else {
        scan_copy_bytes(s, 1);
    }
}

void config_scan(const char *text, size_t len, struct ccm_buf *out,
                 struct config_problems *problems)
{
    struct scan s = { .at = text, .end = text + len, .line = 1, .out = out, .problems = problems };
    const char *nul = memchr(text, '\0', len);

    if (nul != NULL) {
        unsigned line = 1;

        for (const char *p = text; p < nul; p++) {
            line += *p == '\n' ? 1 : 0;
        }
        config_problems_add(problems, line, "there is a NUL byte in the text");
        return;
    }
    while (!scan_is_done(&s)) {
        scan_next(&s);
    }
}
