/* /statusz/objects: all objects, searched, filtered, sorted, a page at a time. */
#include "daemon/status_frame.h"

#include "daemon/status_rows.h"
#include "kube/object/object.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT     100
#define LIMIT_MAX 1000
#define PAGE_MAX  100000
#define WHY_SHOWN ((size_t)240) /* bytes of a text in the list; the object's page has all */

enum list_sort {
    SORT_STATE, /* the worst first, of these the newest */
    SORT_OBJECT,
    SORT_PLUGIN,
    SORT_TRIES,
    SORT_SINCE,
    SORT_LAST,
    SORT_NEXT,
    SORTS,
};

/* What is asked for. */
struct list_query {
    const char *plugin;      /* NULL = all */
    enum status_state state; /* STATUS_STATES = all */
    const char *words;
    int64_t cause; /* 0 = any */
    enum list_sort sort;
    bool reverse;
    int64_t limit;
    int64_t page; /* from 1 */
};

static const char *const sort_names[SORTS] = { "state", "object", "plugin", "tries",
                                               "since", "last",   "next" };

static int list_fail(struct ccm_buf *text, const char *words)
{
    ccm_buf_adds(text, words);
    return -EINVAL;
}

static int list_parse_number(const struct admin_status_request *request, const char *name,
                             int64_t fallback, int64_t max, int64_t *ret)
{
    const char *value = status_get(request, name);

    *ret = fallback;
    return value[0] == '\0' ? 0 : ccm_parse_i64(value, 1, max, ret);
}

static int list_parse_sort(const char *text, struct list_query *ret)
{
    ret->reverse = text[0] == '-';
    for (size_t i = 0; i < SORTS; i++) {
        if (strcmp(sort_names[i], text + (ret->reverse ? 1 : 0)) == 0) {
            ret->sort = (enum list_sort)i;
            return 0;
        }
    }
    return text[0] == '\0' ? 0 : -EINVAL;
}

static int list_parse(const struct admin_status_request *request, struct list_query *ret,
                      struct ccm_buf *text)
{
    const char *plugin = status_get(request, "plugin");
    const char *state = status_get(request, "state");
    const char *cause = status_get(request, "cause");

    *ret = (struct list_query){
        .plugin = plugin[0] == '\0' ? NULL : plugin,
        .state = status_state_parse(state),
        .words = status_get(request, "q"),
    };
    if (cause[0] != '\0' && ccm_parse_i64(cause, 1, INT64_MAX, &ret->cause) < 0) {
        return list_fail(text, "cause: a number, of the links of /statusz\n");
    }
    if (state[0] != '\0' && ret->state == STATUS_STATES) {
        return list_fail(text, "state: failing, waiting, unserved, held, new or well\n");
    }
    if (list_parse_sort(status_get(request, "sort"), ret) < 0) {
        return list_fail(text, "sort: state, object, plugin, tries, since, last or next, with - "
                               "before it the other way round\n");
    }
    if (list_parse_number(request, "limit", LIMIT, LIMIT_MAX, &ret->limit) < 0) {
        return list_fail(text, "limit: 1 to 1000\n");
    }
    if (list_parse_number(request, "page", 1, PAGE_MAX, &ret->page) < 0) {
        return list_fail(text, "page: 1 to 100000\n");
    }
    return 0;
}

/* --- filter --- */

static bool text_holds(const char *text, const char *word, size_t len)
{
    for (const char *p = text; *p != '\0'; p++) {
        size_t i = 0;

        while (i < len && p[i] != '\0' &&
               tolower((unsigned char)p[i]) == tolower((unsigned char)word[i])) {
            i++;
        }
        if (i == len) {
            return true;
        }
    }
    return false;
}

/* Addresses and values of labels, such as the id of its load balancer. */
static bool object_holds(const struct ccm_object *object, const char *word, size_t len)
{
    bool holds = false;

    for (uint64_t i = 0; !holds && i < object->label_count; i++) {
        holds = text_holds(object->labels[i]->value, word, len);
    }
    if (object->kind == CCM_KIND_SERVICE) {
        const struct ccm_service *service = (const struct ccm_service *)object;

        for (uint64_t i = 0; !holds && i < service->ingress_count; i++) {
            holds = text_holds(service->ingress[i]->ip, word, len) ||
                    text_holds(service->ingress[i]->hostname, word, len);
        }
    }
    return holds;
}

/* Each word is somewhere in the row or its object. */
static bool row_holds_words(const struct daemon_observed *seen, const struct status_row *row,
                            const char *words)
{
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *object = NULL;
    const char *p = words;

    while (*p != '\0') {
        const size_t gap = strspn(p, " ");
        const size_t len = strcspn(p + gap, " ");

        p += gap;
        if (len > 0 && !text_holds(row->key, p, len) && !text_holds(row->why, p, len)) {
            if (object == NULL) {
                object = status_row_find_object(seen, row);
            }
            if (object == NULL || !object_holds(object, p, len)) {
                return false;
            }
        }
        p += len;
    }
    return true;
}

static void rows_filter(const struct daemon_observed *seen, const struct list_query *query,
                        struct status_rows *rows)
{
    size_t kept = 0;

    for (size_t i = 0; i < rows->len; i++) {
        const struct status_row row = rows->items[i];
        const bool holds = (query->state == STATUS_STATES || row.state == query->state) &&
                           (query->cause == 0 || row.cause == (uint64_t)query->cause) &&
                           row_holds_words(seen, &row, query->words);

        if (holds) { /* the others move behind, to be freed */
            rows->items[i] = rows->items[kept];
            rows->items[kept++] = row;
        }
    }
    rows->shown = kept;
}

/* --- order --- */

static int compare_i64(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b ? 1 : 0;
}

static int row_compare_by(enum list_sort sort, const struct status_row *a,
                          const struct status_row *b)
{
    switch (sort) {
    case SORT_PLUGIN:
        return strcmp(a->plugin, b->plugin);
    case SORT_TRIES:
        return compare_i64(b->failures, a->failures);
    case SORT_SINCE: /* the newest first, those without behind */
        return compare_i64(b->since_ms, a->since_ms);
    case SORT_LAST:
        return compare_i64(b->last_ms, a->last_ms);
    case SORT_NEXT:
        return compare_i64(a->next_ms == 0 ? INT64_MAX : a->next_ms,
                           b->next_ms == 0 ? INT64_MAX : b->next_ms);
    case SORT_STATE:
        return a->state != b->state ? (int)a->state - (int)b->state
                                    : compare_i64(b->since_ms, a->since_ms);
    default:
        return 0;
    }
}

/* qsort() hands no argument through. */
static _Thread_local const struct list_query *sorting;

static int row_compare(const void *left, const void *right)
{
    const struct status_row *a = left;
    const struct status_row *b = right;
    int order = row_compare_by(sorting->sort, a, b);

    if (order == 0) {
        order = strcmp(a->key, b->key);
    }
    if (order == 0) {
        order = strcmp(a->plugin, b->plugin);
    }
    return sorting->reverse ? -order : order;
}

static void rows_sort(struct status_rows *rows, const struct list_query *query)
{
    sorting = query;
    if (rows->shown > 1) { /* without any there is no array */
        qsort(rows->items, rows->shown, sizeof(*rows->items), row_compare);
    }
    sorting = NULL;
}

/* --- the page --- */

static void list_add_option(struct ccm_buf *html, const char *value, const char *words, bool on)
{
    ccm_buf_adds(html, "<option value=\"");
    admin_page_escape(html, value);
    ccm_buf_adds(html, on ? "\" selected>" : "\">");
    admin_page_escape(html, words);
    ccm_buf_adds(html, "</option>");
}

static void list_add_hidden(const struct admin_status_request *request, const char *name,
                            struct ccm_buf *html)
{
    const char *value = status_get(request, name);

    if (value[0] != '\0') {
        ccm_buf_addf(html, "<input type=\"hidden\" name=\"%s\" value=\"", name);
        admin_page_escape(html, value);
        ccm_buf_adds(html, "\">");
    }
}

static void list_add_form(const struct daemon_observed *seen,
                          const struct admin_status_request *request,
                          const struct list_query *query, struct ccm_buf *html)
{
    struct daemon_runner_view view;

    ccm_buf_adds(html, "<form action=\"/statusz/objects\"><input type=\"search\" name=\"q\" "
                       "size=\"24\" aria-label=\"Search\" placeholder=\"name, id, address, words\" "
                       "value=\"");
    admin_page_escape(html, query->words);
    ccm_buf_adds(html, "\"> <select name=\"state\" aria-label=\"State\">");
    list_add_option(html, "", "any state", query->state == STATUS_STATES);
    for (size_t i = 0; i < STATUS_STATES; i++) {
        list_add_option(html, status_state_name((enum status_state)i),
                        status_state_words((enum status_state)i), query->state == i);
    }
    ccm_buf_adds(html, "</select> <select name=\"plugin\" aria-label=\"Plugin\">");
    list_add_option(html, "", "any plugin", query->plugin == NULL);
    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        list_add_option(html, view.name, view.name, ccm_text_equal(view.name, query->plugin));
    }
    list_add_option(html, STATUS_NOBODY_NAME, "of no plugin",
                    ccm_text_equal(query->plugin, STATUS_NOBODY_NAME));
    ccm_buf_adds(html, "</select> ");
    list_add_hidden(request, "sort", html);
    list_add_hidden(request, "limit", html);
    ccm_buf_adds(html, "<button>Show</button></form>\n");
}

static void list_add_pages(const struct admin_status_request *request,
                           const struct list_query *query, size_t shown, struct ccm_buf *html)
{
    static const char *const words[] = { "Previous", "Next" };

    ccm_buf_adds(html, "<nav>");
    for (int i = 0; i < 2; i++) {
        const int64_t page = query->page + (i == 0 ? -1 : 1);
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf url = { .max = 8192 };
        char number[24];

        if (page < 1 || (page - 1) * query->limit >= (int64_t)shown) {
            continue;
        }
        ccm_text_printf(number, sizeof(number), "%" PRId64, page);
        status_link(request, "/objects", "page", number, &url);
        ccm_buf_adds(html, "<a href=\"");
        admin_page_escape(html, ccm_buf_str(&url));
        ccm_buf_addf(html, "\">%s</a>", words[i]);
    }
    ccm_buf_adds(html, "</nav>\n");
}

/* "4.5.6.7, 2001:db8::1": what the Service says. */
static void object_add_addresses(const struct ccm_object *object, struct ccm_buf *text)
{
    const struct ccm_service *service = (const struct ccm_service *)object;

    if (object == NULL || object->kind != CCM_KIND_SERVICE) {
        return;
    }
    for (uint64_t i = 0; i < service->ingress_count; i++) {
        const struct ccm_ingress *one = service->ingress[i];

        ccm_buf_addf(text, "%s%s", i == 0 ? "" : ", ",
                     ccm_text_empty(one->ip) ? one->hostname : one->ip);
    }
}

static struct admin_cell list_time(enum admin_cell_type type, int64_t at, int64_t ms)
{
    return at == 0 ? admin_cell_none() : admin_cell_span(type, ms);
}

static void list_add_row(struct admin_page *page, const struct daemon_observed *seen,
                         const struct status_row *row, int64_t now)
{
    CCM_CLEANUP(kube_object_unrefp)
    const struct ccm_object *object = status_row_find_object(seen, row);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf url = { .max = 8192 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf addresses = { .max = 4096 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { .max = 4096 };
    const size_t shown =
        page->format == ADMIN_PAGE_JSON ? strlen(row->why) : ccm_text_utf8_cut(row->why, WHY_SHOWN);
    const enum admin_cell_tone tone = row->state == STATUS_FAILING ? ADMIN_TONE_BAD
                                      : row->state == STATUS_WELL  ? ADMIN_TONE_GOOD
                                                                   : ADMIN_TONE_PLAIN;
    const char *state = page->format == ADMIN_PAGE_JSON ? status_state_name(row->state)
                                                        : status_state_words(row->state);

    status_link_object(row->plugin, row->key, &url);
    object_add_addresses(object, &addresses);
    ccm_buf_add(&why, row->why, shown);
    ccm_buf_adds(&why, row->why[shown] == '\0' ? "" : " ...");

    const struct admin_cell cells[] = {
        admin_cell_code(row->key, ccm_buf_str(&url)),
        admin_cell_text(row->plugin),
        admin_cell_toned(admin_cell_text(state), tone),
        admin_cell_code(ccm_buf_str(&addresses), NULL),
        admin_cell_text(ccm_buf_str(&why)),
        admin_cell_count(row->failures),
        list_time(ADMIN_CELL_SPAN, row->since_ms, now - row->since_ms),
        list_time(ADMIN_CELL_AGO, row->last_ms, now - row->last_ms),
        list_time(ADMIN_CELL_NEXT, row->next_ms, row->next_ms - now),
    };

    admin_page_row(page, cells);
}

static void list_add_table(struct admin_page *page, const struct daemon_observed *seen,
                           const struct admin_status_request *request,
                           const struct list_query *query, const struct status_rows *rows)
{
    static const struct {
        struct admin_column column;
        int sort; /* -1 = none */
    } fields[] = {
        { { "object", "object", false, NULL }, SORT_OBJECT },
        { { "plugin", "plugin", false, NULL }, SORT_PLUGIN },
        { { "state", "state", false, NULL }, SORT_STATE },
        { { "addresses", "addresses", false, NULL }, -1 },
        { { "why", "why", false, NULL }, -1 },
        { { "failed_tries", "failed tries", true, NULL }, SORT_TRIES },
        { { "for_s", "for", true, NULL }, SORT_SINCE },
        { { "last_pass_s", "last pass", true, NULL }, SORT_LAST },
        { { "next_pass_s", "next pass", true, NULL }, SORT_NEXT },
    };
    struct admin_column columns[CCM_ARRAY_LEN(fields)];
    struct ccm_buf urls[CCM_ARRAY_LEN(fields)] = { { 0 } };
    const int64_t now = ccm_clock_now_ms();
    const size_t first = (size_t)((query->page - 1) * query->limit);

    for (size_t i = 0; i < CCM_ARRAY_LEN(fields); i++) {
        columns[i] = fields[i].column;
        if (fields[i].sort >= 0) {
            const bool again = fields[i].sort == (int)query->sort && !query->reverse;
            char sort[16];

            ccm_text_printf(sort, sizeof(sort), "%s%s", again ? "-" : "",
                            sort_names[fields[i].sort]);
            status_link(request, "/objects", "sort", sort, &urls[i]);
            columns[i].href = ccm_buf_str(&urls[i]);
        }
    }
    admin_page_open_table(page, "objects", NULL, columns, CCM_ARRAY_LEN(columns));
    for (size_t i = first; i < rows->shown && i < first + (size_t)query->limit; i++) {
        list_add_row(page, seen, &rows->items[i], now);
    }
    admin_page_close_table(page, "None.");
    for (size_t i = 0; i < CCM_ARRAY_LEN(urls); i++) {
        ccm_buf_fini(&urls[i]);
    }
}

static void list_add_sum(struct admin_page *page, const struct list_query *query,
                         const struct status_rows *rows)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 512 };
    const size_t first = (size_t)((query->page - 1) * query->limit);
    const size_t rest = first < rows->shown ? rows->shown - first : 0;
    const size_t here = rest < (size_t)query->limit ? rest : (size_t)query->limit;

    if (page->format == ADMIN_PAGE_JSON) {
        ccm_jsonw_i64(&page->json, "all", (int64_t)rows->len);
        ccm_jsonw_i64(&page->json, "failing", (int64_t)rows->counts[STATUS_FAILING]);
        ccm_jsonw_i64(&page->json, "matching", (int64_t)rows->shown);
        ccm_jsonw_i64(&page->json, "page", query->page);
        ccm_jsonw_i64(&page->json, "limit", query->limit);
        return;
    }
    ccm_buf_addf(&text, "%zu of %zu fail.", rows->counts[STATUS_FAILING], rows->len);
    if (rows->shown < rows->len) {
        ccm_buf_addf(&text, " %zu match.", rows->shown);
    }
    if (here < rows->shown && here > 0) {
        ccm_buf_addf(&text, " Shown are %zu to %zu.", first + 1, first + here);
    }
    ccm_buf_adds(&text, rows->incomplete ? " Memory was short: some are missing here." : "");
    admin_page_note(page, ADMIN_TONE_PLAIN, ccm_buf_str(&text));
}

/* A person who looks at a page that is there no more means the last one; programs read on until
 * nothing comes. */
static void list_clamp_page(struct list_query *query, size_t shown)
{
    const int64_t pages = ((int64_t)shown + query->limit - 1) / query->limit;

    if (query->page > pages) {
        query->page = pages < 1 ? 1 : pages;
    }
}

int status_list_write(const struct daemon_observed *seen,
                      const struct admin_status_request *request, struct ccm_buf *text)
{
    CCM_CLEANUP(status_rows_fini) struct status_rows rows = { 0 };
    struct list_query query;
    struct admin_page page;

    if (list_parse(request, &query, text) < 0) {
        return -EINVAL;
    }
    status_rows_collect(seen, query.plugin, &rows);
    rows_filter(seen, &query, &rows);
    rows_sort(&rows, &query);
    if (request->format != ADMIN_PAGE_JSON) {
        list_clamp_page(&query, rows.shown);
    }
    status_frame_begin(&page, request, "ccmd: objects", text);
    if (admin_page_html(&page) != NULL) {
        list_add_form(seen, request, &query, admin_page_html(&page));
    }
    list_add_sum(&page, &query, &rows);
    list_add_table(&page, seen, request, &query, &rows);
    if (admin_page_html(&page) != NULL) {
        list_add_pages(request, &query, rows.shown, admin_page_html(&page));
    }
    admin_page_end(&page);
    return 0;
}
