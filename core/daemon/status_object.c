/* /statusz/object: all that is known of one key; /statusz/quotas: what plugins know of themselves.
 */
#include "daemon/status_frame.h"

#include "daemon/journal.h"
#include "daemon/status_rows.h"
#include "kube/object/object.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/crash.h"
#include "util/strmap.h"
#include "util/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NODE_PREFIX "node/"
#define HISTORY     20 /* events and calls of an object that are shown */
#define ROWS_MAX    2000

/* --- what the core knows --- */

static void object_add_text(struct admin_page *page, const char *id, const char *title,
                            const char *text)
{
    const struct admin_cell cell = admin_cell_text(text);

    admin_page_fact(page, id, title, &cell);
}

static void object_add_time(struct admin_page *page, const char *id, const char *title,
                            enum admin_cell_type type, int64_t ms)
{
    const struct admin_cell cell = admin_cell_span(type, ms);

    admin_page_fact(page, id, title, &cell);
}

static void object_add_failure(struct admin_page *page, const struct status_row *row)
{
    const struct admin_cell why = admin_cell_toned(admin_cell_text(row->why), ADMIN_TONE_BAD);
    const struct admin_cell tries = admin_cell_count(row->failures);

    admin_page_fact(page, "why", "why", &why);
    object_add_text(page, "what", "what that means", status_kind_text(row->kind));
    admin_page_fact(page, "failed_tries", "failed tries", &tries);
}

static void object_add_pass(struct admin_page *page, const struct status_row *row)
{
    const int64_t now = ccm_clock_now_ms();
    const struct admin_cell passes = admin_cell_count(row->passes);
    const struct admin_cell none = admin_cell_none();
    const enum admin_cell_tone tone = row->state == STATUS_FAILING ? ADMIN_TONE_BAD
                                      : row->state == STATUS_WELL  ? ADMIN_TONE_GOOD
                                                                   : ADMIN_TONE_PLAIN;
    const struct admin_cell state = admin_cell_toned(
        admin_cell_text(page->format == ADMIN_PAGE_JSON ? status_state_name(row->state)
                                                        : status_state_words(row->state)),
        tone);

    admin_page_fact(page, "state", "state", &state);
    if (row->state == STATUS_FAILING) {
        object_add_failure(page, row);
    } else if (row->why[0] != '\0') {
        object_add_text(page, "why", "why", row->why);
    }
    if (row->since_ms != 0) {
        object_add_time(page, "for_s", "for", ADMIN_CELL_SPAN, now - row->since_ms);
    }
    if (row->running_ms >= 0) {
        object_add_time(page, "running_s", "a pass has run for", ADMIN_CELL_SPAN, row->running_ms);
    }
    if (row->last_ms != 0) {
        object_add_time(page, "last_pass_s", "last pass", ADMIN_CELL_AGO, now - row->last_ms);
    } else {
        admin_page_fact(page, "last_pass_s", "last pass", &none);
    }
    admin_page_fact(page, "passes", "passes", &passes);
    if (row->queued && row->running_ms < 0) {
        object_add_time(page, "next_pass_s", "next pass", ADMIN_CELL_NEXT, 0);
    } else if (row->next_ms != 0) {
        object_add_time(page, "next_pass_s", "next pass", ADMIN_CELL_NEXT, row->next_ms - now);
    } else if (page->format == ADMIN_PAGE_JSON) {
        admin_page_fact(page, "next_pass_s", "next pass", &none);
    } else {
        object_add_text(page, "next_pass_s", "next pass",
                        row->comes ? "by itself later, or with the next change"
                                   : "with the next change");
    }
}

/* What the object says of itself. */
static void object_add_service(struct admin_page *page, const struct ccm_service *service)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf addresses = { .max = 4096 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf ports = { .max = 8192 };

    for (uint64_t i = 0; i < service->ingress_count; i++) {
        const struct ccm_ingress *one = service->ingress[i];

        ccm_buf_addf(&addresses, "%s%s", i == 0 ? "" : ", ",
                     ccm_text_empty(one->ip) ? one->hostname : one->ip);
    }
    for (uint64_t i = 0; i < service->port_count; i++) {
        const struct ccm_service_port *one = service->ports[i];

        ccm_buf_addf(&ports, "%s%" PRId64 "/%s", i == 0 ? "" : ", ", one->port, one->protocol);
    }
    object_add_text(page, "addresses", "addresses",
                    addresses.len == 0 ? "none yet" : ccm_buf_str(&addresses));
    object_add_text(page, "ports", "ports", ccm_buf_str(&ports));
}

static void object_add_facts(struct admin_page *page, const struct daemon_observed *seen,
                             const struct status_row *row)
{
    CCM_CLEANUP(kube_object_unrefp)
    const struct ccm_object *object = status_row_find_object(seen, row);

    object_add_text(page, "plugin", "plugin", row->plugin);
    if (row->state != STATUS_STATES) {
        object_add_pass(page, row);
    }
    if (object == NULL) {
        object_add_text(page, "object", "object", "there is none of this name any more");
    } else if (object->kind == CCM_KIND_SERVICE) {
        object_add_service(page, (const struct ccm_service *)object);
    }
    if (object != NULL && object->deleted_ms != 0) {
        object_add_text(page, "deleted", "object", "is being deleted");
    }
}

/* --- history --- */

static void object_add_history_row(void *arg, int64_t wall_ms, enum daemon_journal_kind kind,
                                   const char *text)
{
    static const struct {
        const char *words;
        enum admin_cell_tone tone;
    } kinds[] = {
        [DAEMON_JOURNAL_READ] = { "read", ADMIN_TONE_DIM },
        [DAEMON_JOURNAL_CHANGE] = { "change", ADMIN_TONE_PLAIN },
        [DAEMON_JOURNAL_FAILED] = { "failed call", ADMIN_TONE_BAD },
        [DAEMON_JOURNAL_EVENT] = { "event", ADMIN_TONE_PLAIN },
        [DAEMON_JOURNAL_WARNING] = { "warning", ADMIN_TONE_BAD },
    };
    char time[CCM_CLOCK_TEXT];

    ccm_clock_format(wall_ms, time, sizeof(time));

    const struct admin_cell cells[] = {
        admin_cell_code(time, NULL),
        admin_cell_toned(admin_cell_text(kinds[kind].words), kinds[kind].tone),
        admin_cell_text(text),
    };

    admin_page_row(arg, cells);
}

static void object_add_history(struct admin_page *page, const struct daemon_observed *seen,
                               const char *key)
{
    static const struct admin_column columns[] = {
        { "time", "time", false, NULL },
        { "kind", "kind", false, NULL },
        { "what", "what", false, NULL },
    };

    admin_page_open_table(page, "history", "Events and calls to the cloud, the latest first",
                          columns, CCM_ARRAY_LEN(columns));
    daemon_journal_list(seen->services->journal, key, HISTORY, object_add_history_row, page);
    admin_page_close_table(page, "None is remembered.");
}

/* --- the pages --- */

/* --- what a plugin reports --- */

/* What a plugin reports by describe(), on a page. The facts of the page are open when it begins,
 * and closed when it ends; tables come behind them. */
struct status_view {
    struct ccm_view_sink sink;
    struct admin_page *page;
    struct ccm_strmap *shown; /* rows that were shown already; NULL = each is new */
    char prefix[48];          /* id of the table */
    struct admin_column columns[ADMIN_PAGE_COLUMNS];
    char titles[ADMIN_PAGE_COLUMNS][64];
    char ids[ADMIN_PAGE_COLUMNS][64];
    size_t column_count;
    size_t tables;
    size_t rows; /* of the table that is open */
    bool in_table;
};

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
static bool view_was_shown(struct status_view *view, const char *const *cells)
{
    CCM_CLEANUP(ccm_freep)
    char *about =
        view->shown == NULL || view->column_count < 2
            ? NULL
            : ccm_text_format("%s\n%s\n%s", view->prefix, cells[0] == NULL ? "" : cells[0],
                              cells[1] == NULL ? "" : cells[1]);

    if (about == NULL) {
        return false;
    }
    if (ccm_strmap_has(view->shown, about)) {
        return true;
    }
    const int r = ccm_strmap_set(view->shown, about, NULL);

    return r > 0; /* out of memory: it is shown twice */
}

static void view_tell_row(const struct ccm_view_sink *sink, const char *const *cells)
{
    struct status_view *view = view_of(sink);
    struct admin_cell row[ADMIN_PAGE_COLUMNS];

    if (!view->in_table || view_was_shown(view, cells) || ++view->rows > ROWS_MAX) {
        return;
    }
    for (size_t i = 0; i < view->column_count; i++) {
        row[i] = admin_cell_text(cells[i] == NULL ? "" : cells[i]);
    }
    admin_page_row(view->page, row);
}

/* shown: rows of other plugins, borrowed until the end; may be NULL. */
static void view_begin_page(struct status_view *view, struct admin_page *page,
                            struct ccm_strmap *shown)
{
    *view = (struct status_view){
        .sink = {
            .struct_size = sizeof(struct ccm_view_sink),
            .fact = view_tell_fact,
            .table = view_tell_table,
            .row = view_tell_row,
        },
        .page = page,
        .shown = shown,
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

/* As describe(); -ENOTSUP: the plugin offers none, or does not work here. */
static int view_ask_plugin(struct status_view *view, const struct daemon_runner_view *plugin,
                           const char *key)
{
    return plugin_describe(plugin, key, &view->sink);
}

/* --- a probe: nothing is written --- */

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

/* Whether the plugin would report anything about the key: 0, or as view_ask_plugin(). */
static int view_probe_plugin(const struct daemon_runner_view *plugin, const char *key)
{
    static const struct ccm_view_sink sink = {
        .struct_size = sizeof(sink),
        .fact = probe_drop_fact,
        .table = probe_drop_table,
        .row = probe_drop_row,
    };

    return plugin_describe(plugin, key, &sink);
}

static void view_end_page(struct status_view *view)
{
    view_close_table(view);
    view_close_facts(view);
    if (view->page->format == ADMIN_PAGE_JSON) {
        admin_page_close_facts(view->page); /* with the tables in it */
    }
}

static void object_add_plugin(struct admin_page *page, const struct daemon_observed *seen,
                              const struct status_row *row)
{
    struct daemon_runner_view view;
    struct status_view shown;

    admin_page_open_facts(page, row->plugin, NULL);
    object_add_facts(page, seen, row);
    view_begin_page(&shown, page, NULL);
    if (daemon_runners_get_view(seen->runners, row->plugin_index, &view) &&
        view_ask_plugin(&shown, &view, row->key) == -EBUSY) {
        object_add_text(page, "known", "what is known",
                        "is being worked on now: load the page again");
    }
    view_end_page(&shown);
}

/* The rows of that key come to the front. Returns how many there are. */
static size_t rows_select_key(struct status_rows *rows, const char *key)
{
    size_t found = 0;

    for (size_t i = 0; i < rows->len; i++) {
        if (strcmp(rows->items[i].key, key) == 0) {
            const struct status_row row = rows->items[i];

            rows->items[i] = rows->items[found];
            rows->items[found++] = row;
        }
    }
    return found;
}

static bool rows_have_plugin(const struct status_rows *rows, size_t found, size_t plugin_index)
{
    for (size_t i = 0; i < found; i++) {
        if (rows->items[i].plugin_index == plugin_index) {
            return true;
        }
    }
    return false;
}

/* Whether there is such an object, and the plugin reports something about it. */
static bool runner_knows_object(const struct daemon_observed *seen,
                                const struct daemon_runner_view *view, const char *key)
{
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *object = NULL;

    if (view->loaded == NULL) {
        return false;
    }
    object = daemon_host_find_object(seen->services, view->loaded->desc, key);
    if (object == NULL) {
        return false;
    }

    const int r = view_probe_plugin(view, key);

    return r == 0 || r == -EBUSY;
}

/* One that passes see without its key, in a round over all of them: nothing is known of its passes.
 */
static void rows_put_unvisited(struct status_rows *rows, size_t at, const char *plugin,
                               size_t plugin_index, const char *key)
{
    CCM_CLEANUP(ccm_freep) char *copy = strdup(key);
    CCM_CLEANUP(ccm_freep) char *why = strdup("");

    if (copy == NULL || why == NULL ||
        ccm_array_grow(&rows->items, &rows->cap, rows->len + 1, sizeof(*rows->items)) < 0) {
        rows->incomplete = true;
        return;
    }
    if (at < rows->len) {
        rows->items[rows->len] = rows->items[at];
    }
    rows->len++;
    rows->items[at] = (struct status_row){
        .plugin = plugin,
        .plugin_index = plugin_index,
        .key = CCM_STEAL(copy),
        .why = CCM_STEAL(why),
        .state = STATUS_STATES,
        .running_ms = -1,
    };
}

/* Rows of the key, of one plugin or (NULL) of all, at the front; how many. */
static size_t rows_find_key(const struct daemon_observed *seen, const char *plugin, const char *key,
                            struct status_rows *rows)
{
    size_t found = rows_select_key(rows, key);
    struct daemon_runner_view view;

    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        const size_t before = rows->len;

        if ((plugin == NULL || strcmp(view.name, plugin) == 0) &&
            !rows_have_plugin(rows, found, i) && runner_knows_object(seen, &view, key)) {
            rows_put_unvisited(rows, found, view.name, i, key);
        }
        found += rows->len - before;
    }
    return found;
}

int status_object_write(const struct daemon_observed *seen,
                        const struct admin_status_request *request, struct ccm_buf *text)
{
    CCM_CLEANUP(status_rows_fini) struct status_rows rows = { 0 };
    CCM_CLEANUP(ccm_freep) char *title = NULL;
    const char *plugin = status_get(request, "plugin");
    const char *key = status_get(request, "key");
    struct admin_page page;
    size_t found = 0;

    plugin = plugin[0] == '\0' ? NULL : plugin;
    status_rows_collect(seen, plugin, &rows);
    found = rows_find_key(seen, plugin, key, &rows);
    if (found == 0 && ccm_text_starts(key, NODE_PREFIX)) {
        key += strlen(NODE_PREFIX); /* as kubectl names it */
        found = rows_find_key(seen, plugin, key, &rows);
    }
    if (found == 0) {
        ccm_buf_addf(text, "no plugin takes care of %.256s\n", key);
        return -ENOENT;
    }
    title = ccm_text_format("ccmd: %s", key);
    status_frame_begin(&page, request, title == NULL ? "ccmd" : title, text);
    if (page.format == ADMIN_PAGE_JSON) {
        ccm_jsonw_str(&page.json, "key", key);
    } else if (page.format == ADMIN_PAGE_TEXT) {
        admin_page_note(&page, ADMIN_TONE_PLAIN, key);
    }
    for (size_t i = 0; i < found; i++) {
        object_add_plugin(&page, seen, &rows.items[i]);
    }
    object_add_history(&page, seen, key);
    admin_page_end(&page);
    return 0;
}

void status_quotas_write(const struct daemon_observed *seen,
                         const struct admin_status_request *request, struct ccm_buf *text)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *shown_rows = ccm_strmap_new(NULL);
    struct daemon_runner_view view;
    struct admin_page page;

    status_frame_begin(&page, request, "ccmd: quotas", text);
    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        struct status_view shown;

        if (view.loaded == NULL || view.loaded->desc->describe == NULL) {
            continue;
        }
        admin_page_heading(&page, NULL, view.name, ADMIN_TONE_PLAIN);
        admin_page_open_facts(&page, view.name, NULL);
        view_begin_page(&shown, &page, shown_rows);
        if (!view.started) {
            object_add_text(&page, "state", "state", "does not work in this instance");
        } else {
            (void)view_ask_plugin(&shown, &view, NULL); /* what it reports is on the page */
        }
        view_end_page(&shown);
    }
    admin_page_end(&page);
}
