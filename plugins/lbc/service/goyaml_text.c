/* Which style a text takes, as the Go library chooses it. */
#include "lbc/service/goyaml_text.h"

#include "lbc/service/goyaml.h"

#include <errno.h>
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

static bool is_blank_or_end(const unsigned char *p)
{
    return *p == '\0' || *p == ' ' || *p == '\t' || lbc_yaml_is_break(p);
}

/* The library takes only space and tab for what follows a "?", ":" or "-". */
static bool is_followed_by_blank(const unsigned char *p)
{
    return p[1] == '\0' || p[1] == ' ' || p[1] == '\t';
}

static bool is_indicator(const unsigned char *p, bool first, bool after_blank)
{
    const bool before_blank = is_followed_by_blank(p);

    if (first) {
        return strchr("#,[]{}&*!|>'\"%@`", *p) != NULL ||
               (strchr("?:-", *p) != NULL && before_blank);
    }
    return (*p == ':' && before_blank) || (*p == '#' && after_blank);
}

/* Letters, digits and commas that are neither first nor last decide nothing: how many these are. */
static size_t count_harmless(const unsigned char *p)
{
    size_t count = 0;

    while (((p[count] | 0x20) >= 'a' && (p[count] | 0x20) <= 'z') ||
           (p[count] >= '0' && p[count] <= '9') || p[count] == ',') {
        count++;
    }
    return count > 0 && p[count] == '\0' ? count - 1 : count;
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
        const size_t len = lbc_yaml_char_len(p);
        const bool last = p[len] == '\0';
        const bool is_space = *p == ' ';
        const bool is_newline = lbc_yaml_is_break(p);

        shape.indicator = shape.indicator || is_indicator(p, first, after_blank);
        shape.special = shape.special || !lbc_yaml_is_printable(p);
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

        const size_t harmless = count_harmless(p);

        if (harmless > 0) {
            p += harmless;
            after_blank = space = broke = false;
        }
    }
    return shape;
}

static bool is_plain(const struct shape *shape)
{
    return !shape->edge_blank && !shape->space_break && !shape->break_space && !shape->special &&
           !shape->line_breaks && !shape->indicator;
}

bool lbc_yaml_text(struct ccm_buf *buf, const char *text, size_t indent, bool key)
{
    const struct shape shape = shape_of(text);

    if (strchr(text, '\n') != NULL && !shape.trailing_space && !shape.space_break &&
        !shape.special) {
        return lbc_yaml_write_literal(buf, text, indent);
    }
    if (strchr(text, '\n') != NULL || lbc_yaml_resolves(text)) {
        lbc_yaml_write_double(buf, text, indent, !key);
    } else if (is_plain(&shape) && (text[0] != '\0' || !key)) {
        lbc_yaml_write_plain(buf, text, indent, !key);
    } else if (!shape.break_space && !shape.space_break && !shape.special) {
        lbc_yaml_write_single(buf, text, indent, !key);
    } else {
        lbc_yaml_write_double(buf, text, indent, !key);
    }
    return false;
}

/* --- through JSON --- */

/* Neither escaped by JSON nor taken by a reader of YAML. */
static bool char_is_unreadable(uint32_t value)
{
    return value == 0x7F || (value >= 0x80 && value <= 0x9F && value != 0x85) || value == 0xFFFE ||
           value == 0xFFFF;
}

static bool is_next_line(const unsigned char *p)
{
    return p[0] == 0xC2 && p[1] == 0x85;
}

bool lbc_yaml_needs_reread(const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        const size_t len = lbc_yaml_char_len(p);

        if (*p < 0x7F) {
            p++;
            continue;
        }
        if (is_next_line(p) || char_is_unreadable(lbc_yaml_char_value(p, len))) {
            return true;
        }
        p += len;
    }
    return false;
}

/* At the beginning of a line it would end the document. */
static bool is_document_mark(const unsigned char *p)
{
    const char *text = (const char *)p;

    return (strncmp(text, "---", 3) == 0 || strncmp(text, "...", 3) == 0) &&
           (p[3] == ' ' || is_next_line(p + 3));
}

/* A run of blanks and breaks: one break is a blank, more of them are one line feed less. Without a
 * break the blanks stay. */
static int reread_blanks(const unsigned char **p, struct ccm_buf *ret)
{
    const unsigned char *start = *p;
    const unsigned char *line = NULL;
    size_t breaks = 0;

    while (**p == ' ' || is_next_line(*p)) {
        breaks += **p == ' ' ? 0 : 1;
        *p += **p == ' ' ? 1 : 2;
        line = (*p)[-1] == ' ' ? line : *p;
    }
    if (breaks == 0) {
        ccm_buf_add(ret, start, (size_t)(*p - start));
    } else if (breaks == 1) {
        ccm_buf_addc(ret, ' ');
    }
    for (size_t i = 1; i < breaks; i++) {
        ccm_buf_addc(ret, '\n');
    }
    return line == *p && is_document_mark(line) ? -EBADMSG : 0;
}

int lbc_yaml_reread(const char *text, struct ccm_buf *ret)
{
    const unsigned char *p = (const unsigned char *)text;
    int r = 0;

    while (r == 0 && *p != '\0') {
        const size_t len = lbc_yaml_char_len(p);

        if (*p == ' ' || is_next_line(p)) {
            r = reread_blanks(&p, ret);
        } else if (char_is_unreadable(lbc_yaml_char_value(p, len))) {
            r = -EBADMSG;
        } else {
            ccm_buf_add(ret, p, len);
            p += len;
        }
    }
    return r < 0 ? r : ccm_buf_error(ret);
}
