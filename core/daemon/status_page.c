/* /statusz: what is it doing, what is failing, when is the next try. One page without script. */
#include "daemon/collect.h"

#include "ccm/version.h"
#include "sched/verdict.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <inttypes.h>
#include <string.h>

#define ROWS_MAX     500  /* failing objects that one page lists per plugin */
#define MAP_SHOWN_MS 1000 /* a map() that is younger is not shown */

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>ccmd</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width\"><style>\n"
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;"
    "color:#1d2129;background:#fff}\n"
    "h1{font-size:1.5em;margin:0}h2{font-size:1.15em;margin:2em 0 .5em}\n"
    "table{border-collapse:collapse;width:100%}\n"
    "th{text-align:left;font-weight:600;border-bottom:2px solid #c9cdd4;padding:.3em .6em .3em 0}\n"
    "td{vertical-align:top;border-bottom:1px solid #e5e6eb;padding:.3em .6em .3em 0}\n"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    ".good{color:#00783e}.bad{color:#b3261e;font-weight:600}.dim{color:#646a73}\n"
    "td.o{min-width:11em}td.why{min-width:14em;overflow-wrap:anywhere}.w{overflow-x:auto}"
    "pre{white-space:pre-wrap;font:13px/1.45 ui-monospace,monospace}\n"
    "a{color:inherit}nav a{margin-right:1em}\n"
    "code{font:13px/1.45 ui-monospace,monospace;overflow-wrap:anywhere}\n"
    "@media(prefers-color-scheme:dark){body{color:#e6e8eb;background:#17191d}"
    "th{border-color:#4b5058}td{border-color:#2e3238}.good{color:#5fd08f}.bad{color:#ff8a80}"
    ".dim{color:#9aa0a8}}\n"
    "</style></head><body>\n";

/* Text from the cluster or the cloud: none of it is markup. */
static void add_escaped(struct ccm_buf *html, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        switch (*p) {
        case '<':
            ccm_buf_adds(html, "&lt;");
            break;
        case '>':
            ccm_buf_adds(html, "&gt;");
            break;
        case '&':
            ccm_buf_adds(html, "&amp;");
            break;
        case '"':
            ccm_buf_adds(html, "&quot;");
            break;
        case '\'':
            ccm_buf_adds(html, "&#39;");
            break;
        default:
            ccm_buf_addc(html, *p);
            break;
        }
    }
}

/* "3 s", "5 min", "2 h", "4 d" */
static void add_span(struct ccm_buf *html, int64_t ms)
{
    const int64_t s = ms < 0 ? 0 : ms / 1000;

    if (s < 120) {
        ccm_buf_addf(html, "%" PRId64 " s", s);
    } else if (s < 7200) {
        ccm_buf_addf(html, "%" PRId64 " min", s / 60);
    } else if (s < 172800) {
        ccm_buf_addf(html, "%" PRId64 " h", s / 3600);
    } else {
        ccm_buf_addf(html, "%" PRId64 " d", s / 86400);
    }
}

/* What /readyz and /livez say against it. */
static void add_wrong(const struct daemon_observed *seen, struct ccm_buf *html)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf wrong = { .max = 65536 };

    daemon_observe_live((void *)(uintptr_t)seen, &wrong);
    daemon_observe_ready((void *)(uintptr_t)seen, &wrong);
    if (wrong.len == 0) {
        ccm_buf_adds(html, "<p><span class=\"good\">Ready</span>.</p>\n");
        return;
    }
    ccm_buf_adds(html, "<p>Not ready:</p>\n<pre class=\"bad\">");
    add_escaped(html, ccm_buf_str(&wrong));
    ccm_buf_adds(html, "</pre>\n");
}

/* What the log said once and somebody may have missed. */
static void add_config(const struct daemon_observed *seen, struct ccm_buf *html)
{
    struct daemon_reload_status status;

    daemon_reload_status(seen->reload, &status);
    if (status.failing) {
        ccm_buf_adds(html, "<p class=\"bad\">The configuration file has problems, see the log: the "
                           "configuration from before counts.</p>\n");
    } else if (status.restart_needed > 0) {
        ccm_buf_addf(html,
                     "<p>Options that were changed but need a restart, see the log: %" PRIu64
                     ".</p>\n",
                     (uint64_t)status.restart_needed);
    }
}

/* Why nothing is changed at the moment. */
static void add_hold(const struct daemon_observed *seen, struct ccm_buf *html)
{
    struct kube_continuity_view view;

    kube_continuity_view(&seen->services->continuity, &view);
    if (view.held) {
        ccm_buf_adds(html, "<p class=\"bad\">Nothing is changed for ");
        add_span(html, view.held_for_ms);
        ccm_buf_adds(html, ", until the API server has answered consistently: ");
        add_escaped(html, view.reason);
        ccm_buf_adds(html, "</p>\n");
    }
}

static void add_head(const struct daemon_observed *seen, struct ccm_buf *html)
{
    char time[CCM_CLOCK_TEXT];
    struct kube_lease_status lease;

    ccm_clock_format(ccm_clock_wall_ms(), time, sizeof(time));
    ccm_buf_adds(html, head);
    ccm_buf_addf(html, "<h1>ccmd %s</h1>\n<p class=\"dim\">%s, up for ", CCM_VERSION, time);
    add_span(html, ccm_clock_boot_ms() - seen->begun_ms);
    ccm_buf_adds(html, "</p>\n<p>");
    if (seen->lease == NULL) {
        ccm_buf_adds(html, "<span class=\"good\">Works</span>, without leader election.");
        ccm_buf_adds(html, "</p>\n");
        return;
    }
    kube_lease_status(seen->lease, &lease);
    if (lease.leading) {
        ccm_buf_adds(html, "<span class=\"good\">Leads</span> as <code>");
        add_escaped(html, seen->identity);
    } else {
        ccm_buf_adds(html, lease.lost ? "<span class=\"bad\">Has lost the lease</span> to <code>"
                                      : "Stands by with warm caches; the leader is <code>");
        add_escaped(html, lease.holder[0] == '\0' ? "nobody" : lease.holder);
    }
    ccm_buf_adds(html, "</code>.");
    if (lease.error[0] != '\0') {
        ccm_buf_adds(html, " <span class=\"bad\">Lease: ");
        add_escaped(html, lease.error);
        ccm_buf_adds(html, "</span>");
    }
    ccm_buf_adds(html, "</p>\n");
}

/* --- what runs, what fails --- */

struct rows {
    struct ccm_buf *html;
    const char *plugin;
    int64_t now_ms;
    size_t count;
};

static void add_call(struct rows *rows, const char *plugin, const char *call, const char *what,
                     int64_t age_ms)
{
    if (rows->count++ == 0) {
        ccm_buf_adds(rows->html, "<div class=\"w\"><table><tr><th>plugin</th><th>object</th>"
                                 "<th class=\"n\">for</th></tr>\n");
    }
    ccm_buf_addf(rows->html, "<tr><td>%s</td><td>%s<code>", plugin, call);
    add_escaped(rows->html, what);
    ccm_buf_adds(rows->html, "</code></td><td class=\"n\">");
    add_span(rows->html, age_ms);
    ccm_buf_adds(rows->html, "</td></tr>\n");
}

static void add_running_row(void *arg, const char *id, const char *what, int64_t age_ms)
{
    struct rows *rows = arg;

    (void)id; /* it is for the log */
    add_call(rows, rows->plugin, "", what, age_ms);
}

/* A map() takes no time worth telling, unless something is wrong. */
static void add_map_row(void *arg, const char *plugin, const char *what, int64_t age_ms)
{
    if (age_ms >= MAP_SHOWN_MS) {
        add_call(arg, plugin, "map() of ", what, age_ms);
    }
}

static void add_stage_row(void *arg, const char *stage, const char *plugin, int64_t age_ms)
{
    add_call(arg, plugin, stage, "", age_ms);
}

/* As long as nothing else can be said. */
static void add_creating(const struct daemon_observed *seen, struct ccm_buf *html)
{
    struct rows rows = { .html = html };

    ccm_buf_adds(html, "<h1>ccmd</h1>\n<p>Plugins are being created.</p>\n");
    daemon_runners_list_stages(seen->runners, add_stage_row, &rows);
    ccm_buf_adds(html, rows.count == 0 ? "" : "</table></div>\n");
    ccm_buf_adds(html, "</body></html>\n");
}

static void add_running(const struct daemon_observed *seen, struct ccm_buf *html)
{
    struct daemon_runner_view view;
    struct rows rows = { .html = html };

    ccm_buf_adds(html, "<h2 id=\"running\">Running now</h2>\n");
    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        rows.plugin = view.name;
        if (view.controller != NULL) {
            sched_controller_list_running(view.controller, add_running_row, &rows);
        }
    }
    daemon_watches_list_running(seen->watches, add_map_row, &rows);
    daemon_runners_list_stages(seen->runners, add_stage_row, &rows);
    ccm_buf_adds(html, rows.count == 0 ? "<p class=\"dim\">Nothing.</p>\n" : "</table></div>\n");
}

static void add_next(struct ccm_buf *html, int64_t rest_ms)
{
    if (rest_ms <= 0) {
        ccm_buf_adds(html, "now");
        return;
    }
    ccm_buf_adds(html, "in ");
    add_span(html, rest_ms);
}

static void add_row(void *arg, const struct admin_trouble_item *item)
{
    struct rows *rows = arg;
    struct ccm_buf *html = rows->html;

    ccm_buf_addf(html, "<tr><td>%s</td><td class=\"o\"><code>", rows->plugin);
    add_escaped(html, item->key);
    ccm_buf_addf(html, "</code></td><td>%s</td><td class=\"why\">",
                 sched_verdict_kind_name(item->kind));
    add_escaped(html, item->message);
    ccm_buf_addf(html, "</td><td class=\"n\">%" PRIu32 "</td><td class=\"n\">", item->failures);
    add_span(html, rows->now_ms - item->since_ms);
    ccm_buf_adds(html, "</td><td class=\"n\">");
    add_next(html, item->next_ms - rows->now_ms);
    ccm_buf_adds(html, "</td></tr>\n");
    rows->count++;
}

static size_t count_failing(const struct daemon_observed *seen)
{
    struct daemon_runner_view view;
    size_t total = 0;

    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        total += admin_trouble_count(view.trouble);
    }
    return total;
}

static void add_failing(const struct daemon_observed *seen, struct ccm_buf *html)
{
    const size_t total = count_failing(seen);
    struct rows rows = { .html = html, .now_ms = ccm_clock_now_ms() };
    struct daemon_runner_view view;

    ccm_buf_addf(html, "<h2 id=\"failing\">Failing objects: <span class=\"%s\">%zu</span></h2>\n",
                 total == 0 ? "good" : "bad", total);
    if (total == 0) {
        return;
    }
    ccm_buf_adds(
        html, "<div class=\"w\"><table><tr><th>plugin</th><th>object</th><th>kind</th><th>why</th>"
              "<th class=\"n\">times</th><th class=\"n\">for</th>"
              "<th class=\"n\">next try</th></tr>\n");
    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        rows.plugin = view.name;
        admin_trouble_list(view.trouble, ROWS_MAX, add_row, &rows);
    }
    ccm_buf_adds(html, "</table></div>\n");
    ccm_buf_adds(html, "<p class=\"dim\">times: failures in a row. terminal: the object, or what "
                       "it names, has to be "
                       "changed; it is looked at again all the same.</p>\n");
    if (total > rows.count) {
        ccm_buf_addf(html, "<p class=\"dim\">and %zu more, that failed later.</p>\n",
                     total - rows.count);
    }
}

/* --- what is held back --- */

static void add_held_row(void *arg, const struct daemon_held_item *item)
{
    struct rows *rows = arg;
    struct ccm_buf *html = rows->html;

    ccm_buf_addf(html, "<tr><td>%s</td><td class=\"o\"><code>", rows->plugin);
    add_escaped(html, item->object);
    ccm_buf_addf(html, "</code></td><td class=\"n\">%" PRIu64 "</td><td class=\"why\">",
                 item->count);
    add_escaped(html, item->reason);
    ccm_buf_adds(html, "</td><td class=\"n\">");
    add_span(html, rows->now_ms - item->since_ms);
    ccm_buf_adds(html, "</td></tr>\n");
    rows->count++;
}

/* A table of what plugins say of objects. */
struct held_section {
    const char *head; /* before the sum */
    const char *columns;
    const char *foot;
    struct daemon_held *(*get)(const struct daemon_runner_view *view);
};

static struct daemon_held *get_held(const struct daemon_runner_view *view)
{
    return view->held;
}

static struct daemon_held *get_unserved(const struct daemon_runner_view *view)
{
    return view->unserved;
}

static const struct held_section held_removals = {
    "<h2 id=\"held\">Held removals: <span class=\"bad\">",
    "<th class=\"n\">held</th><th>why</th><th class=\"n\">for</th></tr>\n",
    "They go by and by, or at once after <code>ccmd allow-removals PLUGIN</code>.",
    get_held,
};

static const struct held_section unserved_ports = {
    "<h2 id=\"unserved\">Ports that nobody serves: <span class=\"bad\">",
    "<th class=\"n\">ports</th><th>why</th><th class=\"n\">for</th></tr>\n",
    "They have a load balancer, and no ready, or no healthy, backend behind it.",
    get_unserved,
};

/* Nothing at all, as nearly always, is not worth a heading. */
static void add_held(const struct daemon_observed *seen, const struct held_section *section,
                     struct ccm_buf *html)
{
    struct rows rows = { .html = html, .now_ms = ccm_clock_now_ms() };
    struct daemon_runner_view view;
    uint64_t total = 0;

    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        total += section->get(&view) == NULL ? 0 : daemon_held_sum(section->get(&view));
    }
    if (total == 0) {
        return;
    }
    ccm_buf_addf(html,
                 "%s%" PRIu64 "</span></h2>\n"
                 "<div class=\"w\"><table><tr><th>plugin</th><th>object</th>%s",
                 section->head, total, section->columns);
    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        rows.plugin = view.name;
        if (section->get(&view) != NULL) {
            daemon_held_list(section->get(&view), ROWS_MAX, add_held_row, &rows);
        }
    }
    ccm_buf_addf(html, "</table></div>\n<p class=\"dim\">%s</p>\n", section->foot);
}

/* --- what waits, and for what --- */

static void add_waiting_row(void *arg, const struct daemon_held_item *item)
{
    struct rows *rows = arg;
    struct ccm_buf *html = rows->html;

    if (rows->count++ == 0) {
        ccm_buf_adds(html, "<h2 id=\"waiting\">Waiting objects</h2>\n"
                           "<div class=\"w\"><table><tr><th>plugin</th><th>object</th>"
                           "<th>for what</th><th class=\"n\">for</th>"
                           "<th class=\"n\">goes on</th></tr>\n");
    }
    ccm_buf_addf(html, "<tr><td>%s</td><td class=\"o\"><code>", rows->plugin);
    add_escaped(html, item->object);
    ccm_buf_adds(html, "</code></td><td class=\"why\">");
    add_escaped(html, item->reason);
    ccm_buf_adds(html, "</td><td class=\"n\">");
    add_span(html, rows->now_ms - item->since_ms);
    ccm_buf_adds(html, "</td><td class=\"n\">");
    add_next(html, (int64_t)item->count - rows->now_ms);
    ccm_buf_adds(html, "</td></tr>\n");
}

static void add_waiting(const struct daemon_observed *seen, struct ccm_buf *html)
{
    struct rows rows = { .html = html, .now_ms = ccm_clock_now_ms() };
    struct daemon_runner_view view;

    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        rows.plugin = view.name;
        if (view.waiting != NULL) {
            daemon_held_list(view.waiting, ROWS_MAX, add_waiting_row, &rows);
        }
    }
    if (rows.count > 0) {
        ccm_buf_adds(html, "</table></div>\n<p class=\"dim\">They have not failed: they go on when "
                           "it is their turn.</p>\n");
    }
}

/* --- quotas that are used nearly up --- */

static void add_quota_row(void *arg, const struct daemon_held_item *item)
{
    struct rows *rows = arg;
    struct ccm_buf *html = rows->html;

    if (rows->count++ == 0) {
        ccm_buf_adds(html, "<h2 id=\"quotas\">Quotas used nearly up</h2>\n"
                           "<div class=\"w\"><table><tr><th>plugin</th><th>quota</th>"
                           "<th class=\"n\">used</th><th class=\"n\">of</th>"
                           "<th class=\"n\">for</th></tr>\n");
    }
    ccm_buf_addf(html, "<tr><td>%s</td><td class=\"why\">", rows->plugin);
    add_escaped(html, item->object);
    ccm_buf_addf(html, "</td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">", item->count);
    add_escaped(html, item->reason);
    ccm_buf_adds(html, "</td><td class=\"n\">");
    add_span(html, rows->now_ms - item->since_ms);
    ccm_buf_adds(html, "</td></tr>\n");
}

static void add_quotas(const struct daemon_observed *seen, struct ccm_buf *html)
{
    struct rows rows = { .html = html, .now_ms = ccm_clock_now_ms() };
    struct daemon_runner_view view;

    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        rows.plugin = view.name;
        if (view.quotas != NULL) {
            daemon_held_list(view.quotas, ROWS_MAX, add_quota_row, &rows);
        }
    }
    if (rows.count > 0) {
        ccm_buf_adds(html, "</table></div>\n<p class=\"dim\">At the limit the cloud refuses what "
                           "comes; limits.md has the formulas.</p>\n");
    }
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
static const char *state_of(const struct daemon_observed *seen,
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

static void add_plugins(const struct daemon_observed *seen, struct ccm_buf *html)
{
    struct daemon_runner_view view;

    ccm_buf_adds(
        html,
        "<h2 id=\"plugins\">Plugins</h2>\n<div class=\"w\"><table><tr><th>plugin</th><th>state</th>"
        "<th class=\"n\">ready</th><th class=\"n\">delayed</th>"
        "<th class=\"n\">running</th>"
        "<th class=\"n\">done</th><th class=\"n\">failed</th></tr>\n");
    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        const struct sched_controller_stats *stats = &view.stats;
        uint64_t ready = 0;

        for (size_t lane = 0; lane < SCHED_QUEUE_LANES; lane++) {
            ready += stats->queue.depth[lane];
        }
        ccm_buf_addf(html, "<tr><td>%s</td><td class=\"%s\">", view.name,
                     view.failed    ? "bad"
                     : view.started ? "good"
                                    : "dim");
        add_escaped(html, state_of(seen, &view));
        if (view.error[0] != '\0' && !view.started) {
            ccm_buf_adds(html, ": ");
            add_escaped(html, view.error);
        }
        ccm_buf_addf(html,
                     "</td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRIu64
                     "</td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRIu64
                     "</td><td class=\"n\">%" PRIu64 "</td></tr>\n",
                     ready, stats->queue.delayed, stats->running.running,
                     stats->succeeded + stats->requeued, sum_failed(stats));
    }
    ccm_buf_adds(html, "</table></div>\n");
}

static void add_caches(const struct daemon_observed *seen, struct ccm_buf *html)
{
    const int64_t now = ccm_clock_now_ms();
    struct daemon_watch_view view;

    ccm_buf_adds(
        html,
        "<h2 id=\"caches\">Caches</h2>\n<div class=\"w\"><table><tr><th>kind</th><th>state</th>"
        "<th class=\"n\">objects</th><th class=\"n\">lists</th>"
        "<th class=\"n\">events</th><th class=\"n\">last event</th></tr>\n");
    for (size_t i = 0; daemon_watches_get_view(seen->watches, i, &view); i++) {
        const bool good = (view.status.synced || view.status.absent) && view.status.failures == 0;
        const char *filled = view.status.synced ? "filled" : "not filled";

        ccm_buf_addf(html, "<tr><td>%s</td><td class=\"%s\">%s", view.name, good ? "good" : "bad",
                     view.status.absent ? "no such resource" : filled);
        if (view.status.failures > 0) {
            ccm_buf_adds(html, ", ");
            add_escaped(html, view.status.error);
        }
        ccm_buf_addf(html,
                     "</td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRIu64
                     "</td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">",
                     view.status.objects, view.status.lists, view.status.events);
        if (view.status.last_event_ms == 0) {
            ccm_buf_adds(html, "none yet");
        } else {
            add_span(html, now - view.status.last_event_ms);
            ccm_buf_adds(html, " ago");
        }
        ccm_buf_adds(html, "</td></tr>\n");
    }
    ccm_buf_adds(html, "</table></div>\n");
}

void daemon_observe_status(void *arg, struct ccm_buf *html)
{
    const struct daemon_observed *seen = arg;

    if (atomic_load(&seen->creating)) {
        ccm_buf_adds(html, head);
        add_creating(seen, html);
        return;
    }
    add_head(seen, html);
    add_wrong(seen, html);
    add_config(seen, html);
    add_hold(seen, html);
    ccm_buf_adds(html, "<nav><a href=\"#failing\">Failing objects</a>"
                       "<a href=\"#running\">Running now</a><a href=\"#plugins\">Plugins</a>"
                       "<a href=\"#caches\">Caches</a></nav>\n");
    add_failing(seen, html);
    add_waiting(seen, html);
    add_held(seen, &unserved_ports, html);
    add_held(seen, &held_removals, html);
    add_quotas(seen, html);
    add_running(seen, html);
    add_plugins(seen, html);
    add_caches(seen, html);
    ccm_buf_adds(html, "</body></html>\n");
}
