#include "admin/page.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CELL_TEXT_MAX ((size_t)16 * 1024)
#define TEXT_COLUMN                                                                                \
    48 /* in a terminal a column with wider cells is below its row, if others follow */

static const char style[] =
    ":root{color-scheme:light dark}\n"
    "body{font:15px/1.5 system-ui,sans-serif;margin:1.5em auto;max-width:84em;padding:0 1em;"
    "color:#1d2129;background:#fff}\n"
    "h1{font-size:1.4em;margin:0}h2{font-size:1.1em;margin:1.8em 0 .5em}p{margin:.5em 0}\n"
    "table{border-collapse:collapse;width:100%}\n"
    "th{text-align:left;font-weight:600;border-bottom:2px solid #c9cdd4}\n"
    "th,td{padding:.3em .8em .3em 0;vertical-align:top;overflow-wrap:anywhere}\n"
    "td{border-bottom:1px solid #e5e6eb}th{overflow-wrap:normal}\n"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    "td.c{min-width:9em}\n"
    ".good{color:#00783e}.bad{color:#b3261e;font-weight:600}.dim{color:#646a73}\n"
    ".sum{font-size:1.3em;margin:.6em 0}\n"
    "code,pre{font:13px/1.45 ui-monospace,monospace;overflow-wrap:anywhere}"
    "pre{white-space:pre-wrap}\n"
    "a{color:#0b57d0;text-decoration:none}a:hover{text-decoration:underline}\n"
    "nav{margin:.6em 0}nav "
    "a{margin-right:1em;display:inline-block}a.on{color:inherit;font-weight:600}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.15em 1.2em;margin:.5em 0}\n"
    "dt{color:#646a73}dd{margin:0;overflow-wrap:anywhere}\n"
    "form{margin:.6em 0}input,select,button{font:inherit;padding:.2em .5em;color:inherit;"
    "background:inherit;border:1px solid #8a9099;border-radius:4px;max-width:100%;"
    "margin:.1em 0}\n"
    "@media(max-width:46em){body{margin:1em auto;padding:0 .8em}"
    "table,tbody,tr,td{display:block}tr.h{display:none}"
    "tr{border-bottom:1px solid #c9cdd4;padding:.4em 0}"
    "td,td.n{border:0;padding:.05em 0 .05em 6rem;text-align:left;white-space:normal;"
    "min-height:1.5em}td:empty{display:none}"
    "td::before{content:attr(data-l);float:left;margin-left:-6rem;width:5.5rem;color:#646a73;"
    "font:13px/1.7 system-ui,sans-serif}"
    "dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.4em}}\n"
    "@media(prefers-color-scheme:dark){body{color:#e6e8eb;background:#17191d}"
    "th{border-color:#4b5058}td{border-color:#2e3238}tr{border-color:#2e3238}"
    ".good{color:#5fd08f}.bad{color:#ff8a80}a{color:#8ab4f8}a.on{color:inherit}"
    ".dim,dt,td::before{color:#9aa0a8}input,select,button{border-color:#6b7280}}\n";

/* --- text in other languages --- */

void admin_page_escape(struct ccm_buf *html, const char *text)
{
    static const struct {
        char c;
        const char *as;
    } markup[] = {
        { '<', "&lt;" }, { '>', "&gt;" }, { '&', "&amp;" }, { '"', "&quot;" }, { '\'', "&#39;" },
    };

    for (const char *p = text; *p != '\0'; p++) {
        size_t i = 0;

        while (i < CCM_ARRAY_LEN(markup) && markup[i].c != *p) {
            i++;
        }
        if (i < CCM_ARRAY_LEN(markup)) {
            ccm_buf_adds(html, markup[i].as);
        } else {
            ccm_buf_addc(html, *p);
        }
    }
}

void admin_page_encode(struct ccm_buf *url, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        const unsigned char c = (unsigned char)*p;

        if (isalnum(c) || strchr("-._~/", c) != NULL) {
            ccm_buf_addc(url, *p);
        } else {
            ccm_buf_addf(url, "%%%02X", c);
        }
    }
}

void admin_page_format_id(const char *words, char *ret, size_t size)
{
    size_t len = 0;

    for (const char *p = words; *p != '\0' && len + 1 < size; p++) {
        const unsigned char c = (unsigned char)*p;

        if (isalnum(c)) {
            ret[len++] = (char)tolower(c);
        } else if (len > 0 && ret[len - 1] != '_') {
            ret[len++] = '_';
        }
    }
    while (len > 0 && ret[len - 1] == '_') {
        len--;
    }
    ret[len] = '\0';
}

void admin_page_format_span(struct ccm_buf *text, int64_t ms)
{
    const int64_t s = ms < 0 ? 0 : ms / 1000;

    if (s < 120) {
        ccm_buf_addf(text, "%" PRId64 " s", s);
    } else if (s < 7200) {
        ccm_buf_addf(text, "%" PRId64 " min", s / 60);
    } else if (s < 172800) {
        ccm_buf_addf(text, "%" PRId64 " h", s / 3600);
    } else {
        ccm_buf_addf(text, "%" PRId64 " d", s / 86400);
    }
}

static const char *page_tone_begin(const struct admin_page *page, enum admin_cell_tone tone)
{
    static const char *const codes[] = { "", "\033[32m", "\033[31m", "\033[2m" };

    return page->color ? codes[tone] : "";
}

static const char *page_tone_end(const struct admin_page *page, enum admin_cell_tone tone)
{
    return page->color && tone != ADMIN_TONE_PLAIN ? "\033[0m" : "";
}

/* A control character would do things to a terminal. */
static void add_plain(struct ccm_buf *text, const char *from)
{
    for (const char *p = from; *p != '\0'; p++) {
        ccm_buf_addc(text, (unsigned char)*p < ' ' || *p == '\x7f' ? ' ' : *p);
    }
}

static void cell_format(const struct admin_cell *cell, struct ccm_buf *text)
{
    switch (cell->type) {
    case ADMIN_CELL_COUNT:
        ccm_buf_addf(text, "%" PRId64, cell->number);
        break;
    case ADMIN_CELL_SPAN:
        admin_page_format_span(text, cell->number);
        break;
    case ADMIN_CELL_AGO:
        admin_page_format_span(text, cell->number);
        ccm_buf_adds(text, " ago");
        break;
    case ADMIN_CELL_NEXT:
        if (cell->number <= 0) {
            ccm_buf_adds(text, "now");
        } else {
            ccm_buf_adds(text, "in ");
            admin_page_format_span(text, cell->number);
        }
        break;
    case ADMIN_CELL_NONE:
        ccm_buf_adds(text, "-");
        break;
    default:
        ccm_buf_adds(text, cell->text == NULL ? "" : cell->text);
        break;
    }
}

/* --- JSON --- */

static void json_write_cell(struct ccm_jsonw *json, const char *id, const struct admin_cell *cell)
{
    switch (cell->type) {
    case ADMIN_CELL_COUNT:
        ccm_jsonw_i64(json, id, cell->number);
        break;
    case ADMIN_CELL_SPAN:
    case ADMIN_CELL_AGO:
    case ADMIN_CELL_NEXT:
        ccm_jsonw_i64(json, id, cell->number < 0 ? 0 : cell->number / 1000);
        break;
    case ADMIN_CELL_NONE:
        ccm_jsonw_raw(json, id, "null");
        break;
    default:
        ccm_jsonw_str(json, id, cell->text == NULL ? "" : cell->text);
        break;
    }
}

/* --- HTML --- */

static const char *tone_class(enum admin_cell_tone tone)
{
    static const char *const names[] = { "", "good", "bad", "dim" };

    return names[tone];
}

static void html_add_cell(struct ccm_buf *html, const struct admin_cell *cell)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = CELL_TEXT_MAX };
    const bool code = cell->type == ADMIN_CELL_CODE && !ccm_text_empty(cell->text);

    cell_format(cell, &text);
    if (cell->href != NULL) {
        ccm_buf_adds(html, "<a href=\"");
        admin_page_escape(html, cell->href);
        ccm_buf_adds(html,
                     ccm_text_starts(cell->href, "https:") ? "\" rel=\"noreferrer\">" : "\">");
    }
    if (cell->tone != ADMIN_TONE_PLAIN) {
        ccm_buf_addf(html, "<span class=\"%s\">", tone_class(cell->tone));
    }
    ccm_buf_adds(html, code ? "<code>" : "");
    admin_page_escape(html, ccm_buf_str(&text));
    ccm_buf_adds(html, code ? "</code>" : "");
    ccm_buf_adds(html, cell->tone != ADMIN_TONE_PLAIN ? "</span>" : "");
    ccm_buf_adds(html, cell->href != NULL ? "</a>" : "");
}

static void html_begin(struct ccm_buf *html, const char *title, int64_t refresh_s)
{
    ccm_buf_adds(html, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
    admin_page_escape(html, title);
    ccm_buf_adds(html, "</title>\n<meta name=\"viewport\" content=\"width=device-width\">");
    if (refresh_s > 0) {
        ccm_buf_addf(html, "<meta http-equiv=\"refresh\" content=\"%" PRId64 "\">", refresh_s);
    }
    ccm_buf_addf(html, "<style>\n%s</style></head><body>\n", style);
}

/* --- the page --- */

void admin_page_begin(struct admin_page *page, struct ccm_buf *out, enum admin_page_format format,
                      const char *title, int64_t refresh_s)
{
    *page = (struct admin_page){
        .out = out,
        .format = format == ADMIN_PAGE_TERMINAL ? ADMIN_PAGE_TEXT : format,
        .json = { .buf = out },
        .color = format == ADMIN_PAGE_TERMINAL,
    };
    if (format == ADMIN_PAGE_HTML) {
        html_begin(out, title, refresh_s);
    } else if (format == ADMIN_PAGE_JSON) {
        ccm_jsonw_open(&page->json, NULL, '{');
    }
}

void admin_page_end(struct admin_page *page)
{
    if (page->format == ADMIN_PAGE_HTML) {
        ccm_buf_adds(page->out, "</body></html>\n");
    } else if (page->format == ADMIN_PAGE_JSON) {
        ccm_jsonw_close(&page->json, '}');
        ccm_buf_addc(page->out, '\n');
    }
    ccm_buf_fini(&page->cells);
}

struct ccm_buf *admin_page_html(struct admin_page *page)
{
    return page->format == ADMIN_PAGE_HTML ? page->out : NULL;
}

void admin_page_heading(struct admin_page *page, const char *id, const char *title,
                        enum admin_cell_tone tone)
{
    if (title == NULL) {
        return;
    }
    if (page->format == ADMIN_PAGE_TEXT) {
        ccm_buf_addf(page->out, "%s%s%s", page->out->len > 0 ? "\n" : "",
                     page->color ? "\033[1m" : "", page_tone_begin(page, tone));
        add_plain(page->out, title);
        ccm_buf_addf(page->out, "%s\n", page->color ? "\033[0m" : "");
    } else if (page->format == ADMIN_PAGE_HTML) {
        ccm_buf_adds(page->out, "<h2");
        if (id != NULL) {
            ccm_buf_adds(page->out, " id=\"");
            admin_page_escape(page->out, id);
            ccm_buf_addc(page->out, '"');
        }
        ccm_buf_addf(page->out, tone == ADMIN_TONE_PLAIN ? ">%s" : " class=\"%s\">",
                     tone_class(tone));
        admin_page_escape(page->out, title);
        ccm_buf_adds(page->out, "</h2>\n");
    }
}

void admin_page_note(struct admin_page *page, enum admin_cell_tone tone, const char *text)
{
    if (page->format == ADMIN_PAGE_TEXT) {
        ccm_buf_adds(page->out, page_tone_begin(page, tone));
        add_plain(page->out, text);
        ccm_buf_addf(page->out, "%s\n", page_tone_end(page, tone));
    } else if (page->format == ADMIN_PAGE_HTML) {
        ccm_buf_addf(page->out, "<p class=\"%s\">", tone_class(tone));
        admin_page_escape(page->out, text);
        ccm_buf_adds(page->out, "</p>\n");
    }
}

/* --- facts --- */

void admin_page_open_facts(struct admin_page *page, const char *id, const char *title)
{
    admin_page_heading(page, id, title, ADMIN_TONE_PLAIN);
    if (page->format == ADMIN_PAGE_JSON) {
        ccm_jsonw_open(&page->json, id, '{');
    } else if (page->format == ADMIN_PAGE_HTML) {
        ccm_buf_adds(page->out, "<dl>\n");
    }
}

void admin_page_fact(struct admin_page *page, const char *id, const char *title,
                     const struct admin_cell *cell)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = CELL_TEXT_MAX };

    if (page->format == ADMIN_PAGE_JSON) {
        json_write_cell(&page->json, id, cell);
        return;
    }
    if (page->format == ADMIN_PAGE_HTML) {
        ccm_buf_adds(page->out, "<dt>");
        admin_page_escape(page->out, title);
        ccm_buf_adds(page->out, "</dt><dd>");
        html_add_cell(page->out, cell);
        ccm_buf_adds(page->out, "</dd>\n");
        return;
    }
    cell_format(cell, &text);
    ccm_buf_adds(page->out, "  ");
    add_plain(page->out, title);
    ccm_buf_addf(page->out, ":%*s", (int)(strlen(title) < 18 ? 18 - strlen(title) : 1), "");
    ccm_buf_adds(page->out, page_tone_begin(page, cell->tone));
    add_plain(page->out, ccm_buf_str(&text));
    ccm_buf_addf(page->out, "%s\n", page_tone_end(page, cell->tone));
}

void admin_page_close_facts(struct admin_page *page)
{
    if (page->format == ADMIN_PAGE_JSON) {
        ccm_jsonw_close(&page->json, '}');
    } else if (page->format == ADMIN_PAGE_HTML) {
        ccm_buf_adds(page->out, "</dl>\n");
    }
}

/* --- tables --- */

void admin_page_open_table(struct admin_page *page, const char *id, const char *title,
                           const struct admin_column *columns, size_t count)
{
    admin_page_heading(page, id, title, ADMIN_TONE_PLAIN);
    page->columns = columns;
    page->column_count = count;
    page->rows = 0;
    ccm_buf_reset(&page->cells);
    if (page->format == ADMIN_PAGE_JSON) {
        ccm_jsonw_open(&page->json, id, '[');
    }
}

static void html_add_head(struct admin_page *page)
{
    ccm_buf_adds(page->out, "<table><tr class=\"h\">");
    for (size_t i = 0; i < page->column_count; i++) {
        ccm_buf_adds(page->out, page->columns[i].number ? "<th class=\"n\">" : "<th>");
        if (page->columns[i].href != NULL) {
            ccm_buf_adds(page->out, "<a href=\"");
            admin_page_escape(page->out, page->columns[i].href);
            ccm_buf_adds(page->out, "\">");
        }
        admin_page_escape(page->out, page->columns[i].title);
        ccm_buf_adds(page->out, page->columns[i].href != NULL ? "</a></th>" : "</th>");
    }
    ccm_buf_adds(page->out, "</tr>\n");
}

static void html_add_row(struct admin_page *page, const struct admin_cell *cells)
{
    if (page->rows == 0) {
        html_add_head(page);
    }
    ccm_buf_adds(page->out, "<tr>");
    for (size_t i = 0; i < page->column_count; i++) {
        ccm_buf_adds(page->out, page->columns[i].number            ? "<td class=\"n\" data-l=\""
                                : cells[i].type == ADMIN_CELL_CODE ? "<td class=\"c\" data-l=\""
                                                                   : "<td data-l=\"");
        admin_page_escape(page->out, page->columns[i].title);
        ccm_buf_adds(page->out, "\">");
        html_add_cell(page->out, &cells[i]);
        ccm_buf_adds(page->out, "</td>");
    }
    ccm_buf_adds(page->out, "</tr>\n");
}

void admin_page_row(struct admin_page *page, const struct admin_cell *cells)
{
    if (page->format == ADMIN_PAGE_HTML) {
        html_add_row(page, cells);
    } else if (page->format == ADMIN_PAGE_JSON) {
        ccm_jsonw_open(&page->json, NULL, '{');
        for (size_t i = 0; i < page->column_count; i++) {
            json_write_cell(&page->json, page->columns[i].id, &cells[i]);
        }
        ccm_jsonw_close(&page->json, '}');
    } else {
        for (size_t i = 0; i < page->column_count; i++) {
            CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = CELL_TEXT_MAX };

            cell_format(&cells[i], &text);
            ccm_buf_addc(&page->cells, (char)('0' + cells[i].tone));
            add_plain(&page->cells, ccm_buf_str(&text));
            ccm_buf_add(&page->cells, "", 1);
        }
    }
    page->rows++;
}

static size_t text_width(const char *text)
{
    size_t width = 0;

    for (const char *p = text; *p != '\0'; p++) {
        width += ((unsigned char)*p & 0xC0U) != 0x80U ? 1 : 0; /* the first byte of a character */
    }
    return width;
}

/* How the columns of a table stand in a terminal. */
struct text_layout {
    size_t widths[ADMIN_PAGE_COLUMNS];
    bool wide[ADMIN_PAGE_COLUMNS]; /* too wide to stand beside others: lines of their own */
};

/* A text of a table, with its tone. */
struct text_cell {
    const char *text;
    enum admin_cell_tone tone;
};

/* Titles, or the cells of a row, in columns. */
static void text_add_line(struct admin_page *page, const struct text_cell *cells,
                          const struct text_layout *layout)
{
    ccm_buf_addc(page->out, ' ');
    for (size_t i = 0; i < page->column_count; i++) {
        const size_t width = text_width(cells[i].text);
        const int pad = width < layout->widths[i] ? (int)(layout->widths[i] - width) : 0;

        if (!layout->wide[i]) {
            const bool number = page->columns[i].number;

            ccm_buf_addf(page->out, " %*s%s%s%s%*s ", number ? pad : 0, "",
                         page_tone_begin(page, cells[i].tone), cells[i].text,
                         page_tone_end(page, cells[i].tone), number ? 0 : pad, "");
        }
    }
    while (page->out->len > 0 && page->out->data[page->out->len - 1] == ' ') {
        page->out->data[--page->out->len] = '\0';
    }
    ccm_buf_addc(page->out, '\n');
}

static const char *text_take_row(const struct admin_page *page, const char *at,
                                 struct text_cell *ret)
{
    for (size_t i = 0; i < page->column_count; i++) {
        ret[i] = (struct text_cell){ at + 1, (enum admin_cell_tone)(at[0] - '0') };
        at += strlen(at) + 1;
    }
    return at;
}

static void text_add_row(struct admin_page *page, const struct text_cell *cells,
                         const struct text_layout *layout)
{
    text_add_line(page, cells, layout);
    for (size_t i = 0; i < page->column_count; i++) {
        if (layout->wide[i] && cells[i].text[0] != '\0') {
            ccm_buf_addf(page->out, "      %s: %s%s%s\n", page->columns[i].title,
                         page_tone_begin(page, cells[i].tone), cells[i].text,
                         page_tone_end(page, cells[i].tone));
        }
    }
}

static void text_add_table(struct admin_page *page)
{
    struct text_layout layout = { 0 };
    struct text_cell cells[ADMIN_PAGE_COLUMNS];
    const char *at = ccm_buf_str(&page->cells);

    for (size_t row = 0; row < page->rows; row++) {
        at = text_take_row(page, at, cells);
        for (size_t i = 0; i < page->column_count; i++) {
            const size_t width = text_width(cells[i].text);

            layout.wide[i] = layout.wide[i] || (width > TEXT_COLUMN && i + 1 < page->column_count);
            layout.widths[i] = width > layout.widths[i] ? width : layout.widths[i];
        }
    }
    for (size_t i = 0; i < page->column_count; i++) {
        const size_t width = strlen(page->columns[i].title);

        cells[i] = (struct text_cell){ page->columns[i].title, ADMIN_TONE_DIM };
        layout.widths[i] = width > layout.widths[i] ? width : layout.widths[i];
    }
    text_add_line(page, cells, &layout);
    at = ccm_buf_str(&page->cells);
    for (size_t row = 0; row < page->rows; row++) {
        at = text_take_row(page, at, cells);
        text_add_row(page, cells, &layout);
    }
}

void admin_page_close_table(struct admin_page *page, const char *empty)
{
    if (page->format == ADMIN_PAGE_JSON) {
        ccm_jsonw_close(&page->json, ']');
        return;
    }
    if (page->rows == 0) {
        if (empty != NULL) {
            admin_page_note(page, ADMIN_TONE_DIM, empty);
        }
    } else if (page->format == ADMIN_PAGE_HTML) {
        ccm_buf_adds(page->out, "</table>\n");
    } else if (ccm_buf_error(&page->cells) == 0) {
        text_add_table(page);
    }
    page->rows = 0;
    ccm_buf_fini(&page->cells);
}
