/* Scalars in each style, with lines folded as the Go library folds them. */
#include "lbc/service/goyaml_text.h"

#include <stdint.h>
#include <string.h>

#define BEST_WIDTH 80 /* columns; a line is folded at the first single blank beyond */

struct pen {
    struct ccm_buf *buf;
    size_t column; /* characters since the last line break */
    size_t indent; /* column of further lines */
    bool folds;
};

static bool is_continuation(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

static struct pen pen_new(struct ccm_buf *buf, size_t indent, bool folds)
{
    const unsigned char *text = (const unsigned char *)ccm_buf_str(buf);
    struct pen pen = { .buf = buf, .indent = indent, .folds = folds };

    for (size_t i = buf->len; i > 0; i--) {
        if (is_continuation(text[i - 1])) {
            continue;
        }
        if (lbc_yaml_is_break(text + i - 1)) {
            break;
        }
        pen.column++;
    }
    return pen;
}

static void pen_put(struct pen *pen, const void *bytes, size_t len)
{
    ccm_buf_add(pen->buf, bytes, len);
    pen->column++;
}

static void pen_put_ascii(struct pen *pen, const char *text)
{
    ccm_buf_adds(pen->buf, text);
    pen->column += strlen(text);
}

static void pen_put_break(struct pen *pen, const void *bytes, size_t len)
{
    ccm_buf_add(pen->buf, bytes, len);
    pen->column = 0;
}

static void pen_indent(struct pen *pen)
{
    ccm_buf_addf(pen->buf, "%*s", (int)pen->indent, "");
    pen->column = pen->indent;
}

static bool pen_wants_fold(const struct pen *pen, bool after_blank)
{
    return pen->folds && !after_blank && pen->column > BEST_WIDTH;
}

static void pen_fold(struct pen *pen)
{
    pen_put_break(pen, "\n", 1);
    pen_indent(pen);
}

/* All characters up to the next blank. */
static const unsigned char *pen_put_word(struct pen *pen, const unsigned char *p)
{
    const unsigned char *end = p;

    for (; *end != '\0' && *end != ' '; end += lbc_yaml_char_len(end)) {
        pen->column++;
    }
    ccm_buf_add(pen->buf, p, (size_t)(end - p));
    return end;
}

/* A plain text begins and ends with something else than a blank. */
void lbc_yaml_write_plain(struct ccm_buf *buf, const char *text, size_t indent, bool folds)
{
    struct pen pen = pen_new(buf, indent, folds);
    bool after_blank = false;

    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        if (*p != ' ') {
            p = pen_put_word(&pen, p);
            after_blank = false;
            continue;
        }
        if (p[1] != ' ' && pen_wants_fold(&pen, after_blank)) {
            pen_fold(&pen);
        } else {
            pen_put(&pen, p, 1);
        }
        after_blank = true;
        p++;
    }
}

/* No line in it begins with a blank. */
void lbc_yaml_write_single(struct ccm_buf *buf, const char *text, size_t indent, bool folds)
{
    const unsigned char *start = (const unsigned char *)text;
    struct pen pen = pen_new(buf, indent, folds);
    bool after_blank = false;
    bool after_break = false;

    pen_put_ascii(&pen, "'");
    for (const unsigned char *p = start; *p != '\0';) {
        const size_t len = lbc_yaml_char_len(p);
        const bool breaks = lbc_yaml_is_break(p);

        if (after_break && !breaks) {
            pen_indent(&pen);
        }
        if (breaks) {
            pen_put_break(&pen, p, len);
        } else if (*p == ' ' && p != start && p[1] != '\0' && p[1] != ' ' &&
                   pen_wants_fold(&pen, after_blank)) {
            pen_fold(&pen);
        } else if (*p == '\'') {
            pen_put_ascii(&pen, "''");
        } else {
            pen_put(&pen, p, len);
        }
        after_blank = *p == ' ';
        after_break = breaks;
        p += len;
    }
    pen_put_ascii(&pen, "'");
}

static void write_escape(struct pen *pen, uint32_t value)
{
    static const struct {
        uint32_t value;
        const char *text;
    } names[] = {
        { 0x07, "\\a" }, { 0x08, "\\b" }, { 0x09, "\\t" },   { 0x0A, "\\n" },   { 0x0B, "\\v" },
        { 0x0C, "\\f" }, { 0x0D, "\\r" }, { 0x1B, "\\e" },   { 0x22, "\\\"" },  { 0x5C, "\\\\" },
        { 0x85, "\\N" }, { 0xA0, "\\_" }, { 0x2028, "\\L" }, { 0x2029, "\\P" },
    };
    const size_t before = pen->buf->len;

    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        if (names[i].value == value) {
            pen_put_ascii(pen, names[i].text);
            return;
        }
    }
    if (value <= 0xFF) {
        ccm_buf_addf(pen->buf, "\\x%02X", value);
    } else if (value <= 0xFFFF) {
        ccm_buf_addf(pen->buf, "\\u%04X", value);
    } else {
        ccm_buf_addf(pen->buf, "\\U%08X", value);
    }
    pen->column += pen->buf->len - before;
}

void lbc_yaml_write_double(struct ccm_buf *buf, const char *text, size_t indent, bool folds)
{
    const unsigned char *start = (const unsigned char *)text;
    /* The library looks for the mark at the beginning of the text, whichever character it is at. */
    const bool marked = strncmp(text, "\xEF\xBB\xBF", 3) == 0;
    struct pen pen = pen_new(buf, indent, folds);
    bool after_blank = false;

    pen_put_ascii(&pen, "\"");
    for (const unsigned char *p = start; *p != '\0';) {
        const size_t len = lbc_yaml_char_len(p);
        const bool escaped =
            marked || !lbc_yaml_is_printable(p) || lbc_yaml_is_break(p) || *p == '"' || *p == '\\';

        if (escaped) {
            write_escape(&pen, lbc_yaml_char_value(p, len));
        } else if (*p == ' ' && p != start && p[1] != '\0' && pen_wants_fold(&pen, after_blank)) {
            pen_fold(&pen);
            pen_put_ascii(&pen, p[1] == ' ' ? "\\" : "");
        } else {
            pen_put(&pen, p, len);
        }
        after_blank = !escaped && *p == ' ';
        p += len;
    }
    pen_put_ascii(&pen, "\"");
}

/* The last character, and the one before it; NULL where there is none. */
static const unsigned char *char_before(const char *text, const unsigned char *p)
{
    const unsigned char *start = (const unsigned char *)text;

    while (p > start && is_continuation(*--p)) {
    }
    return p;
}

/* What is said about blanks at the beginning and breaks at the end. */
static void write_literal_head(struct ccm_buf *buf, const char *text)
{
    const unsigned char *start = (const unsigned char *)text;
    const unsigned char *last = char_before(text, start + strlen(text));

    ccm_buf_adds(buf, text[0] == ' ' || lbc_yaml_is_break(start) ? "|2" : "|");
    if (!lbc_yaml_is_break(last)) {
        ccm_buf_addc(buf, '-');
    } else if (last == start || lbc_yaml_is_break(char_before(text, last))) {
        ccm_buf_addc(buf, '+');
    }
    ccm_buf_addc(buf, '\n');
}

bool lbc_yaml_write_literal(struct ccm_buf *buf, const char *text, size_t indent)
{
    struct pen pen = pen_new(buf, indent, false);
    bool after_break = true;

    write_literal_head(buf, text);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        const size_t len = lbc_yaml_char_len(p);
        const bool breaks = lbc_yaml_is_break(p);

        if (after_break && !breaks) {
            pen_indent(&pen);
        }
        if (breaks) {
            pen_put_break(&pen, p, len);
        } else {
            pen_put(&pen, p, len);
        }
        after_break = breaks;
        p += len;
    }
    return after_break;
}
