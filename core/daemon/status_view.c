#include "daemon/status_view.h"

#include "util/cleanup.h"
#include "util/crash.h"
#include "util/text.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define ROWS_MAX 2000

static struct status_view *view_of(const struct ccm_view_sink *sink)
{
    return sink->core;
}

/* A link that a browser can only follow. */
static bool view_is_link(const char *link)
{
    if (link == NULL || !ccm_text_starts(link, "https://")) {
        return false;
    }
    for (const char *p = link; *p != '\0'; p++) {
        if (!isalnum((unsigned char)*p) && strchr("-._~:/?#@!$&()*+,;=%", *p) == NULL) {
            return false;
        }
    }
    return true;
}

static void view_tell_fact(const struct ccm_view_sink *sink, const char *name, const char *value,
                           const char *link)
{
    struct status_view *view = view_of(sink);
    const struct admin_cell cell = {
        .type = ADMIN_CELL_TEXT,
        .text = value == NULL ? "" : value,
        .href = view_is_link(link) ? link : NULL,
    };
    char id[64];
    char link_id[80];

    if (view->in_table || view->tables > 0) {
        return; /* facts come first */
    }
    admin_page_format_id(name, id, sizeof(id));
    admin_page_fact(view->page, id, name, &cell);
    if (cell.href != NULL && view->page->format == ADMIN_PAGE_JSON) {
        ccm_text_printf(link_id, sizeof(link_id), "%s_link", id);
        ccm_jsonw_str(&view->page->json, link_id, link);
    }
}

static void view_close_table(struct status_view *view)
{
    if (!view->in_table) {
        return;
    }
    admin_page_close_table(view->page, "None.");
    if (view->rows > ROWS_MAX) {
        CCM_CLEANUP(ccm_freep)
        char *text = ccm_text_format("and %zu more", view->rows - ROWS_MAX);

        admin_page_note(view->page, ADMIN_TONE_DIM, text == NULL ? "" : text);
    }
    view->in_table = false;
}

static void view_close_facts(struct status_view *view)
{
    if (view->tables == 0 && view->page->format != ADMIN_PAGE_JSON) {
        admin_page_close_facts(view->page);
    }
}

static void view_tell_table(const struct ccm_view_sink *sink, const char *name,
                            const char *const *columns)
{
    struct status_view *view = view_of(sink);

    view_close_table(view);
    view_close_facts(view);
    view->tables++;
    view->column_count = 0;
    view->rows = 0;
    for (size_t i = 0; i < ADMIN_PAGE_COLUMNS && columns[i] != NULL; i++) {
        ccm_text_copy(view->titles[i], sizeof(view->titles[i]), columns[i]);
        admin_page_format_id(columns[i], view->ids[i], sizeof(view->ids[i]));
        view->columns[i] = (struct admin_column){ view->ids[i], view->titles[i], false, NULL };
        view->column_count++;
    }
    admin_page_format_id(name, view->prefix, sizeof(view->prefix));
    admin_page_open_table(view->page, view->prefix, name, view->columns, view->column_count);
    view->in_table = true;
}

/* Rows are about the same when their first two cells are, in a table of that name. */
static bool view_was_told(struct status_view *view, const char *const *cells)
{
    CCM_CLEANUP(ccm_freep)
    char *about =
        view->told == NULL || view->column_count < 2
            ? NULL
            : ccm_text_format("%s\n%s\n%s", view->prefix, cells[0] == NULL ? "" : cells[0],
                              cells[1] == NULL ? "" : cells[1]);

    if (about == NULL) {
        return false;
    }
    if (ccm_strmap_has(view->told, about)) {
        return true;
    }
    const int r = ccm_strmap_set(view->told, about, NULL);

    return r > 0; /* out of memory: it is told twice */
}

static void view_tell_row(const struct ccm_view_sink *sink, const char *const *cells)
{
    struct status_view *view = view_of(sink);
    struct admin_cell row[ADMIN_PAGE_COLUMNS];

    if (!view->in_table || view_was_told(view, cells) || ++view->rows > ROWS_MAX) {
        return;
    }
    for (size_t i = 0; i < view->column_count; i++) {
        row[i] = admin_cell_text(cells[i] == NULL ? "" : cells[i]);
    }
    admin_page_row(view->page, row);
}

void status_view_begin(struct status_view *view, struct admin_page *page, struct ccm_strmap *told)
{
    *view = (struct status_view){
        .sink = {
            .struct_size = sizeof(struct ccm_view_sink),
            .fact = view_tell_fact,
            .table = view_tell_table,
            .row = view_tell_row,
        },
        .page = page,
        .told = told,
    };
    view->sink.core = view;
}

static int plugin_describe(const struct daemon_runner_view *plugin, const char *key,
                           const struct ccm_view_sink *sink)
{
    const struct ccm_plugin *desc = plugin->loaded == NULL ? NULL : plugin->loaded->desc;
    struct ccm_crash_call call = {
        .plugin = plugin->name,
        .stage = "describe",
        .keys = key == NULL ? NULL : &key,
        .key_count = key == NULL ? 0 : 1,
    };

    if (desc == NULL || desc->describe == NULL || !plugin->started) {
        return -ENOTSUP;
    }
    ccm_crash_begin(&call);

    const int r = desc->describe(plugin->self, key, sink);

    ccm_crash_end(&call);
    return r;
}

int status_view_ask(struct status_view *view, const struct daemon_runner_view *plugin,
                    const char *key)
{
    return plugin_describe(plugin, key, &view->sink);
}

/* --- nobody listens --- */

static void probe_drop_fact(const struct ccm_view_sink *sink, const char *name, const char *value,
                            const char *link)
{
    (void)sink;
    (void)name;
    (void)value;
    (void)link;
}

static void probe_drop_table(const struct ccm_view_sink *sink, const char *name,
                             const char *const *columns)
{
    (void)sink;
    (void)name;
    (void)columns;
}

static void probe_drop_row(const struct ccm_view_sink *sink, const char *const *cells)
{
    (void)sink;
    (void)cells;
}

int status_view_probe(const struct daemon_runner_view *plugin, const char *key)
{
    static const struct ccm_view_sink sink = {
        .struct_size = sizeof(sink),
        .fact = probe_drop_fact,
        .table = probe_drop_table,
        .row = probe_drop_row,
    };

    return plugin_describe(plugin, key, &sink);
}

void status_view_end(struct status_view *view)
{
    view_close_table(view);
    view_close_facts(view);
    if (view->page->format == ADMIN_PAGE_JSON) {
        admin_page_close_facts(view->page); /* with the tables in it */
    }
}
