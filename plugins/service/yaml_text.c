#include "service/yaml_text.h"

#include "service/yaml.h"

#include <stdint.h>
#include <string.h>

struct shape {
    bool indicator; /* something in it would mean structure */
    bool line_breaks;
    bool edge_blank; /* blank or break at either end */
    bool trailing_space;
    bool break_space; /* a line starts with a blank */
    bool space_break; /* a line ends with a blank */
    bool special;     /* bytes that only double quotes can carry */
};

static size_t char_len(const unsigned char *p)
{
    const size_t want = *p < 0x80 ? 1 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;
    size_t len = 1;

    while (len < want && (p[len] & 0xC0) == 0x80) {
        len++;
    }
    return len;
}

static bool is_break(const unsigned char *p)
{
    return *p == '\n' || *p == '\r' || (p[0] == 0xC2 && p[1] == 0x85) ||
           (p[0] == 0xE2 && p[1] == 0x80 && (p[2] == 0xA8 || p[2] == 0xA9));
}

static bool is_blank_or_end(const unsigned char *p)
{
    return *p == '\0' || *p == ' ' || *p == '\t' || is_break(p);
}

static bool is_printable(const unsigned char *p)
{
    if (*p < 0x80) {
        return *p == '\n' || (*p >= 0x20 && *p <= 0x7E);
    }
    if (*p == 0xC2) {
        return p[1] >= 0xA0;
    }
    if (*p == 0xED) {
        return p[1] < 0xA0;
    }
    if (*p == 0xEF) {
        return !(p[1] == 0xBB && p[2] == 0xBF) && !(p[1] == 0xBF && (p[2] == 0xBE || p[2] == 0xBF));
    }
    return *p > 0xC2 && *p < 0xEF;
}

static bool is_indicator(const unsigned char *p, bool first, bool after_blank)
{
    const bool before_blank = is_blank_or_end(p + 1);

    if (first) {
        return strchr("#,[]{}&*!|>'\"%@`", *p) != NULL ||
               (strchr("?:-", *p) != NULL && before_blank);
    }
    return (*p == ':' && before_blank) || (*p == '#' && after_blank);
}

static struct shape shape_of(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    struct shape shape = { .indicator =
                               strncmp(text, "---", 3) == 0 || strncmp(text, "...", 3) == 0 };
    bool first = true;
    bool space = false;
    bool broke = false;
    bool after_blank = true;

    while (*p != '\0') {
        const size_t len = char_len(p);
        const bool last = p[len] == '\0';
        const bool is_space = *p == ' ';
        const bool is_newline = is_break(p);

        shape.indicator = shape.indicator || is_indicator(p, first, after_blank);
        shape.special = shape.special || !is_printable(p);
        shape.line_breaks = shape.line_breaks || is_newline;
        shape.edge_blank = shape.edge_blank || ((first || last) && (is_space || is_newline));
        shape.trailing_space = shape.trailing_space || (last && is_space);
        shape.break_space = shape.break_space || (is_space && broke);
        shape.space_break = shape.space_break || (is_newline && space);
        after_blank = is_blank_or_end(p);
        space = is_space;
        broke = is_newline;
        first = false;
        p += len;
    }
    return shape;
}

static void single_quoted(struct ccm_buf *buf, const char *text)
{
    ccm_buf_addc(buf, '\'');
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\'') {
            ccm_buf_addc(buf, '\'');
        }
        ccm_buf_addc(buf, *p);
    }
    ccm_buf_addc(buf, '\'');
}

static uint32_t decode(const unsigned char *p, size_t len)
{
    uint32_t value = len == 1 ? *p : len == 2 ? *p & 0x1FU : len == 3 ? *p & 0x0FU : *p & 0x07U;

    for (size_t i = 1; i < len; i++) {
        value = value << 6 | (p[i] & 0x3FU);
    }
    return value;
}

static void escape(struct ccm_buf *buf, uint32_t value)
{
    static const char names[] = "0\0a\7b\bt\tn\nv\vf\fr\re\33\"\"\\\\";

    for (size_t i = 0; i + 1 < sizeof(names); i += 2) {
        if ((uint32_t)names[i + 1] == value) {
            ccm_buf_addc(buf, '\\');
            ccm_buf_addc(buf, names[i]);
            return;
        }
    }
    if (value == 0x85) {
        ccm_buf_adds(buf, "\\N");
    } else if (value == 0x2028) {
        ccm_buf_adds(buf, "\\L");
    } else if (value == 0x2029) {
        ccm_buf_adds(buf, "\\P");
    } else if (value <= 0xFF) {
        ccm_buf_addf(buf, "\\x%02X", value);
    } else if (value <= 0xFFFF) {
        ccm_buf_addf(buf, "\\u%04X", value);
    } else {
        ccm_buf_addf(buf, "\\U%08X", value);
    }
}

static void double_quoted(struct ccm_buf *buf, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;

    ccm_buf_addc(buf, '"');
    while (*p != '\0') {
        const size_t len = char_len(p);

        if (!is_printable(p) || is_break(p) || *p == '"' || *p == '\\') {
            escape(buf, decode(p, len));
        } else {
            ccm_buf_add(buf, p, len);
        }
        p += len;
    }
    ccm_buf_addc(buf, '"');
}

static void literal(struct ccm_buf *buf, const char *text, size_t indent)
{
    const size_t len = strlen(text);
    const bool ends_with_newline = text[len - 1] == '\n';

    ccm_buf_adds(buf, text[0] == ' ' || text[0] == '\n' ? "|2" : "|");
    if (!ends_with_newline) {
        ccm_buf_addc(buf, '-');
    } else if (len == 1 || text[len - 2] == '\n') {
        ccm_buf_addc(buf, '+');
    }
    ccm_buf_addc(buf, '\n');
    for (const char *line = text; *line != '\0';) {
        const size_t line_len = strcspn(line, "\n");

        if (line_len > 0) {
            ccm_buf_addf(buf, "%*s", (int)indent, "");
            ccm_buf_add(buf, line, line_len);
        }
        line += line_len;
        if (*line == '\n') {
            line++;
            if (*line != '\0') {
                ccm_buf_addc(buf, '\n');
            }
        }
    }
    /* The caller ends the line; "keep" scalars carry their further empty lines themselves. */
}

void ccm_yaml_text(struct ccm_buf *buf, const char *text, size_t indent, bool key)
{
    const struct shape shape = shape_of(text);

    if (strchr(text, '\n') != NULL) {
        if (key || shape.trailing_space || shape.space_break || shape.special) {
            double_quoted(buf, text);
        } else {
            literal(buf, text, indent);
        }
    } else if (ccm_yaml_resolves(text)) {
        double_quoted(buf, text);
    } else if (!shape.edge_blank && !shape.space_break && !shape.break_space && !shape.special &&
               !shape.line_breaks && !shape.indicator && (text[0] != '\0' || !key)) {
        ccm_buf_adds(buf, text);
    } else if (!shape.break_space && !shape.space_break && !shape.special) {
        single_quoted(buf, text);
    } else {
        double_quoted(buf, text);
    }
}
