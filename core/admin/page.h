/*
 * A page of the admin server as HTML for browsers, JSON for programs, or plain text for terminals,
 * from the same calls: facts, tables and remarks in the order in which they are to be read. All
 * text is escaped; no page holds a script. One thread at a time per page.
 *
 * JSON: one object. Facts are an object under the id of their section, a table is an array of
 * objects, ids of facts and columns are the keys; spans are seconds ("..._s").
 */
#ifndef CCM_ADMIN_PAGE_H
#define CCM_ADMIN_PAGE_H

#include "util/buf.h"
#include "util/jsonw.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADMIN_PAGE_COLUMNS 12

enum admin_page_format {
    ADMIN_PAGE_HTML,
    ADMIN_PAGE_JSON,
    ADMIN_PAGE_TEXT,
    ADMIN_PAGE_TERMINAL /* text with colours; `format` of the page is ADMIN_PAGE_TEXT then */
};

enum admin_cell_type {
    ADMIN_CELL_TEXT,
    ADMIN_CELL_CODE,  /* names, ids */
    ADMIN_CELL_COUNT, /* `number` */
    ADMIN_CELL_SPAN,  /* `number` in ms: "3 s" */
    ADMIN_CELL_AGO,   /* the same: "3 s ago" */
    ADMIN_CELL_NEXT,  /* the same: "in 3 s", 0 and less: "now" */
    ADMIN_CELL_NONE,  /* "-"; JSON: null */
};

enum admin_cell_tone { ADMIN_TONE_PLAIN, ADMIN_TONE_GOOD, ADMIN_TONE_BAD, ADMIN_TONE_DIM };

struct admin_cell {
    enum admin_cell_type type;
    enum admin_cell_tone tone;
    const char *text; /* of TEXT and CODE */
    int64_t number;
    const char *href; /* of this server, or https; NULL = none */
};

struct admin_column {
    const char *id;    /* key in JSON */
    const char *title; /* for people */
    bool number;       /* right-aligned */
    const char *href;  /* of its heading, NULL = none */
};

struct admin_page {
    struct ccm_buf *out; /* borrowed */
    enum admin_page_format format;
    struct ccm_jsonw json;
    const struct admin_column *columns; /* of the table that is open */
    size_t column_count;
    size_t rows;
    struct ccm_buf cells; /* of a table as text: a tone before each, NUL behind it */
    bool color;
};

/* Begin one; `out` is empty. refresh_s: how often a browser loads it again, 0 = never. */
void admin_page_begin(struct admin_page *page, struct ccm_buf *out, enum admin_page_format format,
                      const char *title, int64_t refresh_s);
void admin_page_end(struct admin_page *page);

/* HTML as it is, NULL in other formats; for forms and navigation. */
struct ccm_buf *admin_page_html(struct admin_page *page);
/* Append text as HTML, or as a part of a query ("a b" -> "a%20b"). */
void admin_page_escape(struct ccm_buf *html, const char *text);
void admin_page_encode(struct ccm_buf *url, const char *text);

/* "3 s", "5 min", "2 h", "4 d" */
void admin_page_format_span(struct ccm_buf *text, int64_t ms);

/* A heading without a section of its own; not in JSON. NULL id: without an anchor. */
void admin_page_heading(struct admin_page *page, const char *id, const char *title,
                        enum admin_cell_tone tone);
/* A paragraph; not in JSON. */
void admin_page_note(struct admin_page *page, enum admin_cell_tone tone, const char *text);

/* Facts. title NULL: without a heading. */
void admin_page_open_facts(struct admin_page *page, const char *id, const char *title);
void admin_page_fact(struct admin_page *page, const char *id, const char *title,
                     const struct admin_cell *cell);
void admin_page_close_facts(struct admin_page *page);

/* A table; columns are borrowed until it is closed. title NULL: without a heading. */
void admin_page_open_table(struct admin_page *page, const char *id, const char *title,
                           const struct admin_column *columns, size_t count);
/* cells: one per column. */
void admin_page_row(struct admin_page *page, const struct admin_cell *cells);
/* empty: what is written when there was no row; NULL = nothing. Not in JSON. */
void admin_page_close_table(struct admin_page *page, const char *empty);

/* "load balancer" -> "load_balancer", as a key; cut to size. */
void admin_page_format_id(const char *words, char *ret, size_t size);

static inline struct admin_cell admin_cell_text(const char *text)
{
    return (struct admin_cell){ .type = ADMIN_CELL_TEXT, .text = text };
}

static inline struct admin_cell admin_cell_code(const char *text, const char *href)
{
    return (struct admin_cell){ .type = ADMIN_CELL_CODE, .text = text, .href = href };
}

static inline struct admin_cell admin_cell_count(uint64_t count)
{
    return (struct admin_cell){ .type = ADMIN_CELL_COUNT, .number = (int64_t)count };
}

static inline struct admin_cell admin_cell_span(enum admin_cell_type type, int64_t ms)
{
    return (struct admin_cell){ .type = type, .number = ms };
}

static inline struct admin_cell admin_cell_none(void)
{
    return (struct admin_cell){ .type = ADMIN_CELL_NONE };
}

static inline struct admin_cell admin_cell_toned(struct admin_cell cell, enum admin_cell_tone tone)
{
    cell.tone = tone;
    return cell;
}

#endif
