#include "config/syntax.h"

#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define DEPTH_MAX  32 /* more is libconfig's to refuse */
#define WORD_MAX   80
#define DIGITS_MAX 64 /* of a number without leading zeros; more never fit into 64 bits */

enum token {
    TOKEN_END,
    TOKEN_NAME,   /* also true and false: see is_truth() */
    TOKEN_TEXT,   /* "..." */
    TOKEN_NUMBER, /* or what begins like one */
    TOKEN_OTHER,  /* one byte: a bracket, a sign, a separator, or what has no place anywhere */
};

struct syntax {
    const char *at; /* behind the token */
    unsigned line;
    struct ccm_buf *out;              /* what libconfig parses */
    struct config_problems *problems; /* what libconfig would accept, or report badly */
    struct config_fault *fault;       /* the first one of those that it finds itself */
    enum token token;
    char byte; /* of TOKEN_OTHER */
    unsigned token_line;
    char word[WORD_MAX]; /* of TOKEN_NAME and _NUMBER */
    bool spaced;         /* a line ended between this token and the one before */
    unsigned depth;
    char name[WORD_MAX]; /* the option whose value is read; "" = none */
};

#define BLANKS  " \t\r\n\f"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

static void syntax_skip(struct syntax *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        s->line += s->at[i] == '\n' ? 1 : 0;
    }
    ccm_buf_add(s->out, s->at, len);
    s->at += len;
}

/* libconfig would name the last line of the file (and lose the memory of an open text). */
static void syntax_add_open(const struct syntax *s, unsigned line, const char *what)
{
    config_problems_add(s->problems, line, "the %s that begins here has no end", what);
}

static void syntax_skip_blanks(struct syntax *s)
{
    const char *before;

    do {
        before = s->at;
        syntax_skip(s, strspn(s->at, BLANKS));
        if (s->at[0] == '#' || (s->at[0] == '/' && s->at[1] == '/')) {
            syntax_skip(s, strcspn(s->at, "\n"));
        } else if (s->at[0] == '/' && s->at[1] == '*') {
            const char *end = strstr(s->at + 2, "*/");

            if (end == NULL) {
                syntax_add_open(s, s->line, "comment");
            }
            syntax_skip(s, end == NULL ? strlen(s->at) : (size_t)(end + 2 - s->at));
        }
    } while (s->at != before);
}

static void syntax_take_word(struct syntax *s, enum token token, const char *allowed)
{
    const size_t len = strspn(s->at, allowed);

    s->token = token;
    ccm_text_printf(s->word, sizeof(s->word), "%.*s", (int)len, s->at);
    syntax_skip(s, len);
}

/* A whole number beyond 64 bits is refused; one beyond 32 bits gets the suffix that has libconfig
 * read the whole number. */
static void syntax_take_number(struct syntax *s)
{
    const char *start = s->at;
    const unsigned line = s->line;
    char digits[DIGITS_MAX];
    int64_t value = 0;

    syntax_take_word(s, TOKEN_NUMBER, LETTERS DIGITS "+-.");

    const bool negative = *start == '-';
    const char *first = start + strspn(start, "+-");
    const size_t zeros = strspn(first, "0");
    const size_t len = strspn(first, DIGITS);

    if (first > start + 1 || len == 0 ||
        (first[len] != '\0' && strchr(".eExX", first[len]) != NULL)) {
        return; /* a fraction, a base, or no number: libconfig's business */
    }
    ccm_text_printf(digits, sizeof(digits), "%s%.*s", negative ? "-" : "",
                    (int)(zeros == len ? 1 : len - zeros), first + (zeros == len ? 0 : zeros));
    if (ccm_parse_i64(digits, INT64_MIN, INT64_MAX, &value) == -ERANGE) {
        config_problems_add(s->problems, line, "the number is too large");
    } else if (first + len == s->at && (value < INT32_MIN || value > INT32_MAX)) {
        ccm_buf_addc(s->out, 'L');
    }
}

static void syntax_take_text(struct syntax *s)
{
    const unsigned line = s->line;
    unsigned at_line = line;
    size_t len = 1;

    while (s->at[len] != '\0' && s->at[len] != '"') {
        at_line += s->at[len] == '\n' ? 1 : 0;
        if (s->at[len] == '\\' && ccm_text_starts(&s->at[len], "\\x00")) {
            config_problems_add(s->problems, at_line, "a text may not contain \\x00");
        }
        len += s->at[len] == '\\' && s->at[len + 1] != '\0' ? 2 : 1;
    }
    s->token = TOKEN_TEXT;
    if (s->at[len] == '\0') {
        syntax_add_open(s, line, "text");
    }
    syntax_skip(s, s->at[len] == '"' ? len + 1 : len);
}

static void syntax_next(struct syntax *s)
{
    const unsigned before = s->line;

    syntax_skip_blanks(s);
    s->spaced = s->line != before;
    s->token_line = s->line;
    s->byte = '\0';
    if (s->at[0] == '\0') {
        s->token = TOKEN_END;
    } else if (strchr(LETTERS "*", s->at[0]) != NULL) {
        syntax_take_word(s, TOKEN_NAME, LETTERS DIGITS "_-*");
    } else if (s->at[0] == '"') {
        syntax_take_text(s);
    } else if (strchr(DIGITS "+-.", s->at[0]) != NULL) {
        syntax_take_number(s);
    } else {
        if (ccm_text_starts(s->at, "@include")) {
            config_problems_add(s->problems, s->line,
                                "@include is not supported: --config takes a folder of files");
        }
        s->token = TOKEN_OTHER;
        s->byte = s->at[0];
        syntax_skip(s, 1);
    }
}

static bool syntax_is(const struct syntax *s, char byte)
{
    return s->token == TOKEN_OTHER && s->byte == byte;
}

/* "')'", "a text", "the end of the file". */
static void syntax_describe(const struct syntax *s, char *text, size_t size)
{
    switch (s->token) {
    case TOKEN_END:
        ccm_text_copy(text, size, "the end of the file");
        return;
    case TOKEN_TEXT:
        ccm_text_copy(text, size, "a text");
        return;
    case TOKEN_NAME:
    case TOKEN_NUMBER:
        ccm_text_printf(text, size, "'%.40s'", s->word);
        return;
    case TOKEN_OTHER:
        break;
    }
    ccm_text_printf(text, size, s->byte > ' ' && s->byte < 0x7F ? "'%c'" : "byte 0x%02x",
                    (unsigned char)s->byte);
}

static bool syntax_fail(struct syntax *s, unsigned line, const char *text)
{
    s->fault->line = line;
    ccm_text_printf(s->fault->text, sizeof(s->fault->text), "%s%s%s", s->name,
                    s->name[0] == '\0' ? "" : ": ", text);
    return false;
}

static bool syntax_fail_as(struct syntax *s, const char *kind)
{
    char text[CONFIG_FAULT_SIZE];

    s->name[0] = '\0';
    ccm_text_printf(text, sizeof(text),
                    "this looks like %s: a configuration is written as name = \"text\"; "
                    "group: { name = 1; }; plugins = ( { name = \"clb\"; } );",
                    kind);
    return syntax_fail(s, s->token_line, text);
}

static bool is_truth(const char *word)
{
    return ccm_text_equal_case(word, "true") || ccm_text_equal_case(word, "false");
}

static bool is_like_truth(const char *word)
{
    static const char *const words[] = { "yes", "no", "on", "off" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(words); i++) {
        if (ccm_text_equal_case(word, words[i])) {
            return true;
        }
    }
    return false;
}

/* What closes the bracket that was opened on that line: that is what stands here. */
static bool syntax_close(struct syntax *s, char open, char close, unsigned line)
{
    char text[128];
    char found[WORD_MAX];

    s->name[0] = '\0';
    if (syntax_is(s, close)) {
        syntax_next(s);
        return true;
    }
    if (s->token == TOKEN_END) {
        ccm_text_printf(text, sizeof(text), "the '%c' that begins here has no end", open);
        return syntax_fail(s, line, text);
    }
    if (s->token == TOKEN_OTHER && strchr(")]}", s->byte) != NULL) {
        ccm_text_printf(text, sizeof(text), "'%c' ends the '%c' of line %u, which wants '%c'",
                        s->byte, open, line, close);
    } else {
        syntax_describe(s, found, sizeof(found));
        ccm_text_printf(text, sizeof(text), "expected ',' or '%c' of the '%c' on line %u, found %s",
                        close, open, line, found);
    }
    return syntax_fail(s, s->token_line, text);
}

static bool syntax_parse_value(struct syntax *s, char sign);
static bool syntax_parse_settings(struct syntax *s);

/* ( ) and [ ]: values with commas between them. */
static bool syntax_parse_values(struct syntax *s, char open, char close)
{
    const unsigned line = s->token_line;
    char name[WORD_MAX];

    ccm_text_copy(name, sizeof(name), s->name);
    syntax_next(s);
    while (!syntax_is(s, close) && s->token != TOKEN_END) {
        if (open == '[' && s->token == TOKEN_OTHER && strchr("{([", s->byte) != NULL) {
            ccm_text_copy(s->name, sizeof(s->name), name);
            return syntax_fail(s, s->token_line,
                               "an array [ ] has plain values only; a list of groups is "
                               "( { ... }, { ... } )");
        }
        s->name[0] = '\0';
        if (!syntax_parse_value(s, '\0')) {
            return false;
        }
        if (!syntax_is(s, ',')) {
            break;
        }
        syntax_next(s);
        if (syntax_is(s, close)) {
            return syntax_fail(s, s->token_line, "the last ',' has no value behind it");
        }
    }
    return syntax_close(s, open, close, line);
}

static bool syntax_parse_group(struct syntax *s)
{
    const unsigned line = s->token_line;

    syntax_next(s);
    return syntax_parse_settings(s) && syntax_close(s, '{', '}', line);
}

/* A word, or a path, without quotes. */
static bool syntax_fail_bare(struct syntax *s, char sign)
{
    const unsigned line = s->token_line;
    char text[2 * WORD_MAX];

    if (is_like_truth(s->word) && s->token == TOKEN_NAME) {
        ccm_text_printf(text, sizeof(text), "write true or false, not %.40s", s->word);
        return syntax_fail(s, line, text);
    }
    ccm_text_printf(text, sizeof(text), "a text needs quotes: \"%.60s%.*s\"", s->word,
                    (int)strcspn(s->at, BLANKS ",;#(){}[]="), s->at);

    const size_t rest = strcspn(s->at, ";\n");

    return sign == ':' && s->at[rest] != ';' ? syntax_fail_as(s, "YAML")
                                             : syntax_fail(s, line, text);
}

/* sign: what stood between name and value; '\0' in arrays and lists. */
static bool syntax_parse_value(struct syntax *s, char sign)
{
    if (s->token == TOKEN_TEXT) {
        while (s->token == TOKEN_TEXT) { /* texts side by side are one */
            syntax_next(s);
        }
        return true;
    }
    if (s->token == TOKEN_NUMBER && strpbrk(s->word, DIGITS) != NULL) {
        syntax_next(s);
        return true;
    }
    if (s->token == TOKEN_NAME && is_truth(s->word)) {
        syntax_next(s);
        return true;
    }
    if (s->token == TOKEN_NUMBER && sign == ':' && s->spaced) { /* - item */
        return syntax_fail_as(s, "YAML");
    }
    if (s->token == TOKEN_END || (s->token == TOKEN_OTHER && strchr("=;,:)}]", s->byte) != NULL)) {
        return syntax_fail(s, s->token_line, "a value is missing");
    }
    if (s->token != TOKEN_OTHER || strchr("{([", s->byte) == NULL) {
        if (s->token == TOKEN_OTHER) {
            ccm_text_printf(s->word, sizeof(s->word), "%c", s->byte);
        }
        return syntax_fail_bare(s, sign);
    }
    if (++s->depth > DEPTH_MAX) {
        return false;
    }

    const bool good = s->byte == '{'   ? syntax_parse_group(s)
                      : s->byte == '(' ? syntax_parse_values(s, '(', ')')
                                       : syntax_parse_values(s, '[', ']');

    s->depth--;
    return good;
}

/* name = value; ... up to something that is no name. */
static bool syntax_parse_settings(struct syntax *s)
{
    while (s->token == TOKEN_NAME) {
        ccm_text_copy(s->name, sizeof(s->name), s->word);
        const unsigned line = s->token_line;

        syntax_next(s);

        const char sign = s->byte;

        if (!syntax_is(s, '=') && !syntax_is(s, ':')) {
            return syntax_fail(s, line, "'=' is missing behind the name");
        }
        syntax_next(s);
        if (!syntax_parse_value(s, sign)) {
            return false;
        }
        s->name[0] = '\0';
        if (syntax_is(s, ';') || syntax_is(s, ',')) {
            syntax_next(s);
        }
    }
    return true;
}

/* The whole file: it may be of another kind, or have text behind the last option. */
static void syntax_parse_file(struct syntax *s)
{
    char found[WORD_MAX];
    char text[2 * WORD_MAX];

    syntax_next(s);
    if (syntax_is(s, '{') || syntax_is(s, '[')) {
        (void)syntax_fail_as(s, "JSON"); /* noted */
    } else if (syntax_is(s, '%') || (s->token == TOKEN_NUMBER && s->word[0] == '-')) {
        (void)syntax_fail_as(s, "YAML"); /* noted */
    } else if (syntax_parse_settings(s) && s->token != TOKEN_END) {
        syntax_describe(s, found, sizeof(found));
        ccm_text_printf(text, sizeof(text),
                        s->token == TOKEN_OTHER && strchr(")]}", s->byte) != NULL
                            ? "%s ends nothing: no bracket is open"
                            : "expected the name of an option, found %s",
                        found);
        (void)syntax_fail(s, s->token_line, text); /* noted */
    }
}

void config_syntax_read(const char *text, size_t len, struct ccm_buf *out,
                        struct config_problems *problems, struct config_fault *fault)
{
    struct syntax s = { .at = text, .line = 1, .out = out, .problems = problems, .fault = fault };

    fault->line = 0;
    fault->text[0] = '\0';
    if (strlen(text) < len) {
        for (const char *p = text; *p != '\0'; p++) {
            s.line += *p == '\n' ? 1 : 0;
        }
        config_problems_add(problems, s.line, "there is a NUL byte in the text");
        return;
    }
    syntax_parse_file(&s);
    while (s.token != TOKEN_END) {
        syntax_next(&s);
    }
}
