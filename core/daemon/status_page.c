/* /statusz: what is it doing, what is failing, when is the next try. One page for all. */
#include "daemon/status_frame.h"

#include "ccm/version.h"
#include "daemon/status_rows.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX     500  /* of a table of what plugins say, as JSON */
#define ROWS_SHOWN   50   /* and for people */
#define CAUSES_MAX   100  /* that are shown */
#define NAMED_MAX    3    /* objects that are named of a cause */
#define MAP_SHOWN_MS 1000 /* a map() that is younger is not shown */

/* --- the head --- */

/* What /readyz and /livez say against it. */
static void page_add_wrong(struct admin_page *page, const struct daemon_observed *seen)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf wrong = { .max = 65536 };
    struct ccm_buf *html = admin_page_html(page);

    daemon_observe_live((void *)(uintptr_t)seen, &wrong);
    daemon_observe_ready((void *)(uintptr_t)seen, &wrong);
    if (wrong.len == 0) {
        admin_page_note(page, ADMIN_TONE_GOOD, "Ready.");
    } else if (html == NULL) {
        admin_page_note(page, ADMIN_TONE_BAD, "Not ready:");
        admin_page_note(page, ADMIN_TONE_BAD, ccm_buf_str(&wrong));
    } else {
        ccm_buf_adds(html, "<p>Not ready:</p>\n<pre class=\"bad\">");
        admin_page_escape(html, ccm_buf_str(&wrong));
        ccm_buf_adds(html, "</pre>\n");
    }
}

/* What the log said once and somebody may have missed. */
static void page_add_config(struct admin_page *page, const struct daemon_observed *seen)
{
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    struct daemon_reload_status status;

    daemon_reload_status(seen->reload, &status);
    if (status.failing) {
        admin_page_note(page, ADMIN_TONE_BAD,
                        "The configuration file has problems, see the log: the "
                        "configuration from before counts.");
    } else if (status.restart_needed > 0) {
        text = ccm_text_format("Options that were changed but need a restart, see the log: %" PRIu64
                               ".",
                               (uint64_t)status.restart_needed);
        admin_page_note(page, ADMIN_TONE_BAD, text == NULL ? "" : text);
    }
}

/* Why nothing is changed at the moment. */
static void page_add_hold(struct admin_page *page, const struct daemon_observed *seen)
{
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    struct kube_continuity_view view;

    kube_continuity_view(&seen->services->continuity, &view);
    if (view.held) {
        text = ccm_text_format("Nothing is changed for %" PRId64
                               " s, until the API server has answered consistently: %s",
                               view.held_for_ms / 1000, view.reason);
        admin_page_note(page, ADMIN_TONE_BAD, text == NULL ? "" : text);
    }
}

/* Who leads, as a line for people. */
static void page_add_leader(struct admin_page *page, const struct daemon_observed *seen,
                            const struct kube_lease_status *lease)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 2048 };
    const char *holder = lease->holder[0] == '\0' ? "nobody" : lease->holder;
    enum admin_cell_tone tone = ADMIN_TONE_GOOD;

    if (seen->lease == NULL) {
        ccm_buf_adds(&text, "Works, without leader election.");
    } else if (lease->leading) {
        ccm_buf_addf(&text, "Leads as %s.", seen->identity);
    } else if (lease->lost) {
        ccm_buf_addf(&text, "Has lost the lease to %s.", holder);
        tone = ADMIN_TONE_BAD;
    } else {
        ccm_buf_addf(&text, "Stands by with warm caches; the leader is %s.", holder);
        tone = ADMIN_TONE_PLAIN;
    }
    admin_page_note(page, tone, ccm_buf_str(&text));
    if (seen->lease != NULL && lease->error[0] != '\0') {
        ccm_buf_reset(&text);
        ccm_buf_addf(&text, "Lease: %s", lease->error);
        admin_page_note(page, ADMIN_TONE_BAD, ccm_buf_str(&text));
    }
}

/* The answer to the first question, before anything that is well. */
static void page_add_sum(struct admin_page *page, const struct status_rows *rows)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 512 };
    struct ccm_buf *html = admin_page_html(page);
    const size_t failing = rows->counts[STATUS_FAILING];

    if (failing > 0) {
        ccm_buf_addf(&text, "%zu of %zu object%s fail%s", failing, rows->len,
                     rows->len == 1 ? "" : "s", failing == 1 ? "s" : "");
    } else {
        ccm_buf_addf(&text, rows->len == 0 ? "There are no objects yet" : "No object of %zu fails",
                     rows->len);
    }
    for (enum status_state state = STATUS_WAITING; state < STATUS_WELL; state++) {
        if (rows->counts[state] > 0) {
            ccm_buf_addf(&text, "; %zu %s", rows->counts[state],
                         status_state_verb(state, rows->counts[state]));
        }
    }
    if (html == NULL) {
        admin_page_note(page, failing > 0 ? ADMIN_TONE_BAD : ADMIN_TONE_GOOD, ccm_buf_str(&text));
        return;
    }
    ccm_buf_addf(html, "<p class=\"sum %s\">",
                 failing > 0      ? "bad"
                 : rows->len == 0 ? "dim"
                                  : "good");
    admin_page_escape(html, ccm_buf_str(&text));
    ccm_buf_adds(html, "</p>\n");
}

/* The same for programs. */
static void page_add_process(struct admin_page *page, const struct daemon_observed *seen,
                             const struct kube_lease_status *lease, const struct status_rows *rows)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf wrong = { .max = 65536 };
    struct ccm_jsonw *json = &page->json;

    daemon_observe_live((void *)(uintptr_t)seen, &wrong);
    daemon_observe_ready((void *)(uintptr_t)seen, &wrong);
    ccm_jsonw_str(json, "version", CCM_VERSION);
    ccm_jsonw_i64(json, "up_s", (ccm_clock_boot_ms() - seen->begun_ms) / 1000);
    ccm_jsonw_bool(json, "leads", seen->lease == NULL || lease->leading);
    ccm_jsonw_str(json, "leader", seen->lease == NULL ? NULL : lease->holder);
    ccm_jsonw_bool(json, "ready", wrong.len == 0);
    ccm_jsonw_str(json, "not_ready", wrong.len == 0 ? NULL : ccm_buf_str(&wrong));
    ccm_jsonw_open(json, "count", '{');
    ccm_jsonw_i64(json, "all", (int64_t)rows->len);
    for (size_t i = 0; i < STATUS_STATES; i++) {
        ccm_jsonw_i64(json, status_state_name((enum status_state)i), (int64_t)rows->counts[i]);
    }
    ccm_jsonw_close(json, '}');
}

static void page_add_head(struct admin_page *page, const struct daemon_observed *seen,
                          const struct status_rows *rows)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 512 };
    struct kube_lease_status lease = { 0 };
    char time[CCM_CLOCK_TEXT];

    if (seen->lease != NULL) {
        kube_lease_status(seen->lease, &lease);
    }
    if (page->format == ADMIN_PAGE_JSON) {
        page_add_process(page, seen, &lease, rows);
        return;
    }
    ccm_clock_format(ccm_clock_wall_ms(), time, sizeof(time));
    ccm_buf_addf(&text, "ccmd %s, %s, up for ", CCM_VERSION, time);
    admin_page_format_span(&text, ccm_clock_boot_ms() - seen->begun_ms);
    page_add_sum(page, rows);
    admin_page_note(page, ADMIN_TONE_DIM, ccm_buf_str(&text));
    page_add_leader(page, seen, &lease);
    page_add_wrong(page, seen);
    page_add_config(page, seen);
    page_add_hold(page, seen);
}

/* --- objects of plugins --- */

static void page_add_counts_of(struct admin_page *page, const struct status_rows *rows,
                               size_t plugin_index, const char *name)
{
    struct admin_cell cells[2 + STATUS_STATES];
    struct ccm_buf urls[2 + STATUS_STATES] = { { 0 } };
    size_t counts[1 + STATUS_STATES] = { 0 };

    for (size_t i = 0; i < rows->len; i++) {
        if (rows->items[i].plugin_index == plugin_index) {
            counts[0]++;
            counts[1 + rows->items[i].state]++;
        }
    }
    cells[0] = admin_cell_text(name);
    for (size_t i = 0; i < CCM_ARRAY_LEN(counts); i++) {
        const char *state = i == 0 ? "" : status_state_name((enum status_state)(i - 1));

        ccm_buf_addf(&urls[i], "/statusz/objects?plugin=%s%s%s", name,
                     i == 0 ? "" : "&state=", state);
        cells[1 + i] = admin_cell_count(counts[i]);
        cells[1 + i].tone = i == 1 && counts[i] > 0 ? ADMIN_TONE_BAD : ADMIN_TONE_PLAIN;
        cells[1 + i].href = counts[i] == 0 ? NULL : ccm_buf_str(&urls[i]);
    }
    admin_page_row(page, cells);
    for (size_t i = 0; i < CCM_ARRAY_LEN(urls); i++) {
        ccm_buf_fini(&urls[i]);
    }
}

static void page_add_counts(struct admin_page *page, const struct daemon_observed *seen,
                            const struct status_rows *rows)
{
    struct admin_column columns[2 + STATUS_STATES] = {
        { .id = "plugin", .title = "plugin" }, { .id = "all", .title = "objects", .number = true }
    };
    struct daemon_runner_view view;

    for (size_t i = 0; i < STATUS_STATES; i++) {
        columns[2 + i] = (struct admin_column){
            .id = status_state_name((enum status_state)i),
            .title = status_state_words((enum status_state)i),
            .number = true,
        };
    }
    admin_page_open_table(page, "objects", "Objects", columns, CCM_ARRAY_LEN(columns));
    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        page_add_counts_of(page, rows, i, view.name);
    }
    for (size_t i = 0; i < rows->len; i++) {
        if (rows->items[i].plugin_index == STATUS_NOBODY) {
            page_add_counts_of(page, rows, STATUS_NOBODY, STATUS_NOBODY_NAME);
            break;
        }
    }
    admin_page_close_table(page, NULL);
}

/* --- what fails, by cause --- */

struct cause {
    const struct status_row *latest; /* that began to fail */
    size_t count;
    const char *named[NAMED_MAX];
    int64_t next_ms; /* the first of them */
};

static int cause_compare_latest(const void *a, const void *b)
{
    const int64_t left = ((const struct cause *)a)->latest->since_ms;
    const int64_t right = ((const struct cause *)b)->latest->since_ms;

    return left > right ? -1 : left < right ? 1 : 0;
}

static int row_compare_cause(const void *a, const void *b)
{
    const struct status_row *left = *(const struct status_row *const *)a;
    const struct status_row *right = *(const struct status_row *const *)b;

    if (left->cause != right->cause) {
        return left->cause < right->cause ? -1 : 1;
    }
    return left->since_ms > right->since_ms ? -1 : left->since_ms < right->since_ms ? 1 : 0;
}

/* Those that fail, by cause and the latest first; NULL: none, or no memory. */
static const struct status_row **rows_sort_failing(const struct status_rows *rows)
{
    const size_t count = rows->counts[STATUS_FAILING];
    const struct status_row **failing = count == 0 ? NULL : calloc(count, sizeof(*failing));
    size_t len = 0;

    for (size_t i = 0; failing != NULL && i < rows->len && len < count; i++) {
        if (rows->items[i].state == STATUS_FAILING) {
            failing[len++] = &rows->items[i];
        }
    }
    if (failing != NULL) {
        qsort(failing, len, sizeof(*failing), row_compare_cause);
    }
    return failing;
}

static struct cause *causes_collect(const struct status_rows *rows, size_t *ret_count)
{
    CCM_CLEANUP(ccm_freep) const struct status_row **failing = rows_sort_failing(rows);
    const size_t count = rows->counts[STATUS_FAILING];
    struct cause *causes = failing == NULL ? NULL : calloc(count, sizeof(*causes));
    size_t len = 0;

    for (size_t i = 0; causes != NULL && i < count; i++) {
        if (i == 0 || failing[i]->cause != failing[i - 1]->cause) {
            causes[len++] = (struct cause){ .latest = failing[i], .next_ms = failing[i]->next_ms };
        }
        struct cause *cause = &causes[len - 1];

        if (cause->count < NAMED_MAX) {
            cause->named[cause->count] = failing[i]->key;
        }
        cause->count++;
        cause->next_ms =
            failing[i]->next_ms < cause->next_ms ? failing[i]->next_ms : cause->next_ms;
    }
    if (causes != NULL) {
        qsort(causes, len, sizeof(*causes), cause_compare_latest);
    }
    *ret_count = causes == NULL ? 0 : len;
    return causes;
}

static void page_add_cause(struct admin_page *page, const struct cause *cause, int64_t now)
{
    const struct status_row *row = cause->latest;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf url = { .max = 4096 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf named = { .max = 8192 };
    const char *what = status_kind_text(row->kind);

    for (size_t i = 0; i < cause->count && i < NAMED_MAX; i++) {
        ccm_buf_addf(&named, "%s%s", i == 0 ? "" : ", ", cause->named[i]);
    }
    if (cause->count > NAMED_MAX) {
        ccm_buf_addf(&named, " and %zu more", cause->count - NAMED_MAX);
    }
    if (cause->count == 1) {
        status_link_object(row->plugin, row->key, &url);
    } else {
        ccm_buf_addf(&url, "/statusz/objects?plugin=%s&state=failing&cause=%" PRIu64, row->plugin,
                     row->cause);
    }

    struct admin_cell count = admin_cell_count(cause->count);

    count.href = ccm_buf_str(&url);
    const struct admin_cell cells[] = {
        count,
        admin_cell_text(row->plugin),
        admin_cell_code(ccm_buf_str(&named), ccm_buf_str(&url)),
        admin_cell_text(row->why),
        admin_cell_text(what),
        admin_cell_span(ADMIN_CELL_SPAN, now - row->since_ms),
        admin_cell_span(ADMIN_CELL_NEXT, cause->next_ms - now),
    };

    admin_page_row(page, cells);
}

static void page_add_failing(struct admin_page *page, const struct status_rows *rows)
{
    static const struct admin_column columns[] = {
        { "count", "objects", true, NULL },         { "plugin", "plugin", false, NULL },
        { "objects", "which", false, NULL },        { "why", "why", false, NULL },
        { "what", "what that means", false, NULL }, { "latest_since_s", "newest for", true, NULL },
        { "next_try_s", "next try", true, NULL },
    };
    CCM_CLEANUP(ccm_freep)
    char *title =
        ccm_text_format("Failing objects: %zu of %zu", rows->counts[STATUS_FAILING], rows->len);
    size_t count = 0;
    CCM_CLEANUP(ccm_freep) struct cause *causes = causes_collect(rows, &count);
    const int64_t now = ccm_clock_now_ms();

    admin_page_open_table(page, "failing", title, columns, CCM_ARRAY_LEN(columns));
    for (size_t i = 0; i < count && i < CAUSES_MAX; i++) {
        page_add_cause(page, &causes[i], now);
    }
    admin_page_close_table(page, "None.");
    if (count > CAUSES_MAX) {
        admin_page_note(page, ADMIN_TONE_DIM, "There are more causes: see the list of objects.");
    }
}

/* --- what plugins say of objects --- */

struct rows {
    struct admin_page *page;
    const struct daemon_observed *seen;
    const char *plugin;
    int64_t now_ms;
};

/* A table of it. */
struct said_section {
    const char *id;
    const char *title; /* "%" PRIu64 behind it where `sums` */
    const char *foot;
    bool sums;
    struct admin_column columns[5];
    enum daemon_note_kind kind;
};

struct said_rows {
    struct rows rows;
    const struct said_section *section;
    size_t room; /* for so many rows more */
    size_t rest; /* that there was no room for */
};

static void page_add_said_row(void *arg, const char *object, const struct daemon_note *note)
{
    struct said_rows *said = arg;
    const bool is_quota = said->section->kind == DAEMON_NOTE_QUOTA;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf url = { .max = 4096 };
    CCM_CLEANUP(ccm_freep) char *limit = ccm_text_format("%" PRIu64, note->detail);
    const struct admin_cell count =
        said->section->kind == DAEMON_NOTE_WAITING
            ? admin_cell_span(ADMIN_CELL_NEXT, (int64_t)note->detail - said->rows.now_ms)
            : admin_cell_count(note->count);

    if (said->room == 0) {
        said->rest++;
        return;
    }
    said->room--;
    status_link_object(said->rows.plugin, object, &url);

    const struct admin_cell cells[] = {
        admin_cell_text(said->rows.plugin),
        is_quota ? admin_cell_text(object) : admin_cell_code(object, ccm_buf_str(&url)),
        is_quota ? count : admin_cell_text(daemon_note_text(note)),
        is_quota ? admin_cell_text(limit == NULL ? "" : limit) : count,
        admin_cell_span(ADMIN_CELL_SPAN, said->rows.now_ms - note->since_ms),
    };

    admin_page_row(said->rows.page, cells);
}

static const struct said_section said_sections[] = {
    {
        .id = "waiting",
        .title = "Waiting objects",
        .foot = "They have not failed: they go on when it is their turn.",
        .columns = { { "plugin", "plugin", false, NULL },
                     { "object", "object", false, NULL },
                     { "what", "for what", false, NULL },
                     { "goes_on_s", "goes on", true, NULL },
                     { "for_s", "for", true, NULL } },
        .kind = DAEMON_NOTE_WAITING,
    },
    {
        .id = "unserved",
        .title = "Ports that nobody serves: ",
        .foot = "They have a load balancer, and no ready, or no healthy, backend behind it.",
        .sums = true,
        .columns = { { "plugin", "plugin", false, NULL },
                     { "object", "object", false, NULL },
                     { "why", "why", false, NULL },
                     { "ports", "ports", true, NULL },
                     { "for_s", "for", true, NULL } },
        .kind = DAEMON_NOTE_NO_BACKEND,
    },
    {
        .id = "held",
        .title = "Held removals: ",
        .foot = "They go by and by, or at once after `ccmd allow-removals PLUGIN`.",
        .sums = true,
        .columns = { { "plugin", "plugin", false, NULL },
                     { "object", "object", false, NULL },
                     { "why", "why", false, NULL },
                     { "held", "held", true, NULL },
                     { "for_s", "for", true, NULL } },
        .kind = DAEMON_NOTE_HELD,
    },
    {
        .id = "quotas",
        .title = "Quotas used nearly up",
        .foot = "At the limit the cloud refuses what comes; limits.md has the formulas.",
        .columns = { { "plugin", "plugin", false, NULL },
                     { "quota", "quota", false, NULL },
                     { "used", "used", true, NULL },
                     { "of", "of", true, NULL },
                     { "for_s", "for", true, NULL } },
        .kind = DAEMON_NOTE_QUOTA,
    },
};

static void page_add_rest(struct admin_page *page, size_t rest)
{
    CCM_CLEANUP(ccm_freep)
    char *text = ccm_text_format("and %zu more: see the list of objects", rest);

    if (rest > 0) {
        admin_page_note(page, ADMIN_TONE_DIM, text == NULL ? "" : text);
    }
}

/* Nothing at all, as nearly always, is not worth a heading. */
static void page_add_said(struct admin_page *page, const struct daemon_observed *seen,
                          const struct said_section *section)
{
    CCM_CLEANUP(ccm_freep) char *title = NULL;
    struct daemon_runner_view view;
    struct said_rows said = { .rows = { page, seen, NULL, ccm_clock_now_ms() },
                              .section = section,
                              .room = page->format == ADMIN_PAGE_JSON ? ROWS_MAX : ROWS_SHOWN };
    uint64_t total = 0;

    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        total += daemon_objects_sum(view.objects, section->kind).count;
    }
    if (total == 0 && page->format != ADMIN_PAGE_JSON) {
        return;
    }
    title = section->sums ? ccm_text_format("%s%" PRIu64, section->title, total)
                          : strdup(section->title);
    admin_page_open_table(page, section->id, title, section->columns,
                          CCM_ARRAY_LEN(section->columns));
    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        said.rows.plugin = view.name;
        daemon_objects_list_noted(view.objects, section->kind, page_add_said_row, &said);
    }
    admin_page_close_table(page, NULL);
    page_add_rest(page, said.rest);
    admin_page_note(page, ADMIN_TONE_DIM, section->foot);
}

/* --- what runs --- */

static void page_add_call(const struct rows *rows, const char *plugin, const char *call,
                          const char *what, int64_t age_ms)
{
    CCM_CLEANUP(ccm_freep) char *text = ccm_text_format("%s%s", call, what);
    const struct admin_cell cells[] = {
        admin_cell_text(plugin),
        admin_cell_code(text == NULL ? what : text, NULL),
        admin_cell_span(ADMIN_CELL_SPAN, age_ms),
    };

    admin_page_row(rows->page, cells);
}

static void page_add_running_row(void *arg, const char *id, const char *what, int64_t age_ms)
{
    const struct rows *rows = arg;

    (void)id; /* it is for the log */
    page_add_call(rows, rows->plugin, "", what, age_ms);
}

/* A map() takes no time worth telling, unless something is wrong. */
static void page_add_map_row(void *arg, const char *plugin, const char *what, int64_t age_ms)
{
    if (age_ms >= MAP_SHOWN_MS) {
        page_add_call(arg, plugin, "map() of ", what, age_ms);
    }
}

static void page_add_stage_row(void *arg, const char *stage, const char *plugin, int64_t age_ms)
{
    page_add_call(arg, plugin, stage, "", age_ms);
}

static const struct admin_column running_columns[] = {
    { "plugin", "plugin", false, NULL },
    { "object", "object", false, NULL },
    { "for_s", "for", true, NULL },
};

static void page_add_running(struct admin_page *page, const struct daemon_observed *seen)
{
    struct daemon_runner_view view;
    struct rows rows = { .page = page, .seen = seen };

    admin_page_open_table(page, "running", "Running now", running_columns,
                          CCM_ARRAY_LEN(running_columns));
    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        rows.plugin = view.name;
        if (view.controller != NULL) {
            sched_controller_list_running(view.controller, page_add_running_row, &rows);
        }
    }
    daemon_watches_list_running(seen->watches, page_add_map_row, &rows);
    daemon_runners_list_stages(seen->runners, page_add_stage_row, &rows);
    admin_page_close_table(page, "Nothing.");
}

/* As long as nothing else can be said. */
static void page_add_creating(struct admin_page *page, const struct daemon_observed *seen)
{
    struct rows rows = { .page = page, .seen = seen };

    admin_page_note(page, ADMIN_TONE_PLAIN, "Plugins are being created.");
    admin_page_open_table(page, "running", NULL, running_columns, CCM_ARRAY_LEN(running_columns));
    daemon_runners_list_stages(seen->runners, page_add_stage_row, &rows);
    admin_page_close_table(page, NULL);
}

/* --- plugins and caches --- */

static uint64_t sum_failed(const struct sched_controller_stats *stats)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < SCHED_BACKOFF_KINDS; i++) {
        sum += stats->failed[i];
    }
    return sum;
}

/* What a plugin that was created and not started waits for is what one wants to know of it. */
static const char *plugin_find_state(const struct daemon_observed *seen,
                                     const struct daemon_runner_view *view)
{
    struct kube_lease_status lease = { .leading = true };

    if (view->failed || view->started || view->error[0] != '\0') {
        return view->state;
    }
    if (seen->lease != NULL) {
        kube_lease_status(seen->lease, &lease);
    }
    return lease.leading ? "waits for its caches, or starts" : "waits for its turn";
}

static void page_add_plugin(struct admin_page *page, const struct daemon_observed *seen,
                            const struct daemon_runner_view *view)
{
    const struct sched_controller_stats *stats = &view->stats;
    const bool says = view->error[0] != '\0' && !view->started;
    CCM_CLEANUP(ccm_freep)
    char *state = ccm_text_format("%s%s%s", plugin_find_state(seen, view), says ? ": " : "",
                                  says ? view->error : "");
    uint64_t ready = 0;

    for (size_t lane = 0; lane < SCHED_QUEUE_LANES; lane++) {
        ready += stats->queue.depth[lane];
    }
    const struct admin_cell cells[] = {
        admin_cell_text(view->name),
        admin_cell_toned(admin_cell_text(state == NULL ? "" : state), view->failed ? ADMIN_TONE_BAD
                                                                      : view->started
                                                                          ? ADMIN_TONE_GOOD
                                                                          : ADMIN_TONE_DIM),
        admin_cell_count(ready),
        admin_cell_count(stats->queue.delayed),
        admin_cell_count(stats->running.running),
        admin_cell_count(stats->succeeded + stats->requeued),
        admin_cell_count(sum_failed(stats)),
    };

    admin_page_row(page, cells);
}

static void page_add_plugins(struct admin_page *page, const struct daemon_observed *seen)
{
    static const struct admin_column columns[] = {
        { "plugin", "plugin", false, NULL },  { "state", "state", false, NULL },
        { "ready", "ready", true, NULL },     { "delayed", "delayed", true, NULL },
        { "running", "running", true, NULL }, { "done", "done", true, NULL },
        { "failed", "failed", true, NULL },
    };
    struct daemon_runner_view view;

    admin_page_open_table(page, "plugins", "Plugins", columns, CCM_ARRAY_LEN(columns));
    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        page_add_plugin(page, seen, &view);
    }
    admin_page_close_table(page, NULL);
}

static void page_add_cache(struct admin_page *page, const struct daemon_watch_view *view,
                           int64_t now)
{
    const struct kube_reflector_status *status = &view->status;
    const bool good = (status->synced || status->absent) && status->failures == 0;
    CCM_CLEANUP(ccm_freep)
    char *state = ccm_text_format("%s%s%s",
                                  status->absent   ? "no such resource"
                                  : status->synced ? "filled"
                                                   : "not filled",
                                  status->failures > 0 ? ", " : "",
                                  status->failures > 0 ? status->error : "");
    const struct admin_cell cells[] = {
        admin_cell_text(view->name),
        admin_cell_toned(admin_cell_text(state == NULL ? "" : state),
                         good ? ADMIN_TONE_GOOD : ADMIN_TONE_BAD),
        admin_cell_count(status->objects),
        admin_cell_count(status->lists),
        admin_cell_count(status->events),
        status->last_event_ms == 0 ? admin_cell_none()
                                   : admin_cell_span(ADMIN_CELL_AGO, now - status->last_event_ms),
    };

    admin_page_row(page, cells);
}

static void page_add_caches(struct admin_page *page, const struct daemon_observed *seen)
{
    static const struct admin_column columns[] = {
        { "kind", "kind", false, NULL },      { "state", "state", false, NULL },
        { "objects", "objects", true, NULL }, { "lists", "lists", true, NULL },
        { "events", "events", true, NULL },   { "last_event_s", "last event", true, NULL },
    };
    const int64_t now = ccm_clock_now_ms();
    struct daemon_watch_view view;

    admin_page_open_table(page, "caches", "Caches", columns, CCM_ARRAY_LEN(columns));
    for (size_t i = 0; daemon_watches_get_view(seen->watches, i, &view); i++) {
        page_add_cache(page, &view, now);
    }
    admin_page_close_table(page, NULL);
}

void status_page_write(const struct daemon_observed *seen,
                       const struct admin_status_request *request, struct ccm_buf *text)
{
    CCM_CLEANUP(status_rows_fini) struct status_rows rows = { 0 };
    struct admin_page page;

    status_frame_begin(&page, request, "ccmd", text);
    if (atomic_load(&seen->creating)) {
        page_add_creating(&page, seen);
        admin_page_end(&page);
        return;
    }
    status_rows_collect(seen, NULL, &rows);
    page_add_head(&page, seen, &rows);
    page_add_failing(&page, &rows);
    for (size_t i = 0; i < CCM_ARRAY_LEN(said_sections); i++) {
        page_add_said(&page, seen, &said_sections[i]);
    }
    page_add_counts(&page, seen, &rows);
    page_add_running(&page, seen);
    page_add_plugins(&page, seen);
    page_add_caches(&page, seen);
    admin_page_end(&page);
}

int daemon_observe_status(void *arg, const struct admin_status_request *request,
                          struct ccm_buf *text)
{
    const struct daemon_observed *seen = arg;

    if (request->path[0] == '\0' || strcmp(request->path, "/") == 0) {
        status_page_write(seen, request, text);
        return 0;
    }
    if (atomic_load(&seen->creating)) {
        ccm_buf_adds(text, "plugins are being created\n");
        return -EAGAIN;
    }
    if (strcmp(request->path, "/objects") == 0) {
        return status_list_write(seen, request, text);
    }
    if (strcmp(request->path, "/object") == 0) {
        return status_object_write(seen, request, text);
    }
    if (strcmp(request->path, "/quotas") == 0) {
        status_quotas_write(seen, request, text);
        return 0;
    }
    ccm_buf_adds(text, "/statusz /statusz/objects /statusz/object?key=KEY /statusz/quotas\n");
    return -ENOENT;
}
