#include "report.h"

#include "net.h"
#include "order.h"
#include "picture.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/strmap.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_DIGITS   16
#define REQUEST_LEN 36
#define TAG_SIZE    33 /* "a" and the uid without its dashes, as much as fits */

static const char time_shape[] = "0000-00-00T00:00:00Z";
static FILE *report;
static const char *plugins_at;
static unsigned step_count;
static struct ccm_strmap *names;  /* uid of an object, and tag made of it -> its name */
static struct ccm_strmap *counts; /* line of a step -> how often; 0 = once is all that matters */
static void (*next_after)(const struct sim_call *call);

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

/* "2026-09-21T21:30:27Z" */
static bool is_time(const char *text)
{
    size_t i = 0;

    while (time_shape[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == time_shape[i]) {
        if (time_shape[++i] == '\0') {
            return true;
        }
    }
    return false;
}

/* "lb-0123456789abcdef", or the number of a request; *ret_prefix: the length of what stays. */
static bool is_id(const char *word, size_t len, size_t *ret_prefix)
{
    *ret_prefix = len > ID_DIGITS ? len - ID_DIGITS : 0;
    if (len == REQUEST_LEN && word[8] == '-' && word[13] == '-' && word[18] == '-') {
        *ret_prefix = 0;
        return true;
    }
    return *ret_prefix > 0 && word[*ret_prefix - 1] == '-' &&
           strspn(word + *ret_prefix, "0123456789abcdef") == ID_DIGITS;
}

static size_t add_word(struct ccm_buf *ret, const char *text)
{
    char word[256];
    size_t len = 0;
    size_t prefix = 0;
    const char *name = NULL;

    while (is_word(text[len]) && len < sizeof(word) - 1) {
        len++;
    }
    (void)snprintf(word, sizeof(word), "%.*s", (int)len, text);
    name = len == 0 ? NULL : ccm_strmap_get(names, word);
    if (name != NULL) {
        ccm_buf_adds(ret, name);
    } else if (is_id(word, len, &prefix)) {
        ccm_buf_addf(ret, "%.*s*", (int)prefix, word);
    } else {
        ccm_buf_add(ret, text, len == 0 ? 1 : len);
    }
    return len == 0 ? 1 : len;
}

/* Uids become names of objects, ids lose their number; times and the folder of the plugins go. */
static void add_normal(struct ccm_buf *ret, const char *text)
{
    while (*text != '\0') {
        if (ccm_text_starts(text, plugins_at)) {
            ccm_buf_adds(ret, "PLUGINS");
            text += strlen(plugins_at);
        } else if (is_time(text)) {
            ccm_buf_adds(ret, "TIME");
            text += sizeof(time_shape) - 1;
        } else if (ccm_text_starts(text, "within ")) { /* 5 min: until it is tried again */
            ccm_buf_adds(ret, "within a time");
            text += strlen("within ");
            text += strspn(text, "0123456789");
            text += strspn(text, " smin");
        } else {
            text += add_word(ret, text);
        }
    }
}

static void report_note(bool counted, const char *line)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf normal = { 0 };

    add_normal(&normal, line);

    const char *key = ccm_buf_str(&normal);
    const uintptr_t count = counted ? (uintptr_t)ccm_strmap_get(counts, key) + 1 : 0;

    if (ccm_strmap_set(counts, key, (void *)count) < 0) {
        abort();
    }
}

/* The tag of what an object owns in the cloud begins with "a", that of a Gateway with "ag". */
static void name_object(const char *uid, const char *kind, const char *name)
{
    char tag[TAG_SIZE];
    size_t len = 0;

    (void)snprintf(tag, sizeof(tag), "a%s", strcmp(kind, "Gateway") == 0 ? "g" : "");
    len = strlen(tag);
    for (const char *c = uid; *c != '\0' && len < sizeof(tag) - 1; c++) {
        tag[len] = *c;
        len += *c == '-' ? 0 : 1;
    }
    tag[len] = '\0';
    if (uid[0] != '\0' &&
        (ccm_strmap_set(names, uid, ccm_text_format("uid of %s %s", kind, name)) < 0 ||
         ccm_strmap_set(names, tag, ccm_text_format("%s %s", kind, name)) < 0)) {
        abort();
    }
}

/* The world has created something. */
static void note_object(const struct sim_call *call)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    if (call->side == SIM_KUBE && call->writes && call->status < 300 &&
        ccm_json_parse(call->answer, strlen(call->answer), &json) == 0) {
        const cJSON *meta = ccm_json_get(json, "metadata");

        name_object(ccm_json_text(meta, "uid"), ccm_json_text(json, "kind"),
                    ccm_json_text(meta, "name"));
    }
}

/* That it was repeated is not said: the moment decides whether it is a new event or a series. Those
 * about the Lease are of the daemon itself, and name the watch that noticed something first. */
static void note_event(const struct sim_call *call)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    CCM_CLEANUP(ccm_freep) char *line = NULL;

    if (strcmp(call->method, "POST") != 0 || call->status >= 300 ||
        ccm_json_parse(call->body, strlen(call->body), &json) < 0) {
        return;
    }
    const cJSON *object = ccm_json_get(json, "involvedObject");

    if (strcmp(ccm_json_text(object, "kind"), "Lease") == 0) {
        return;
    }
    line = ccm_text_format("event %s %s: %s %s: %s", ccm_json_text(object, "kind"),
                           ccm_json_text(object, "name"), ccm_json_text(json, "type"),
                           ccm_json_text(json, "reason"), ccm_json_text(json, "message"));
    report_note(false, line);
}

/* What has times of its own is left out: what nodes and routes read, calls that fail and are tried
 * again, and what is read anew when a cache has had it for long. Which node stands for a batch is a
 * matter of the schedule. */
static void note_call(const struct sim_call *call)
{
    const bool is_own = strchr(call->key, '/') != NULL; /* of a Service or a Gateway */
    const bool is_cached = strcmp(call->action, "DescribeNetworkInterfaces") == 0;
    CCM_CLEANUP(ccm_freep) char *line = NULL;

    if (call->status < 300 && (call->writes || (is_own && !is_cached))) {
        line = ccm_text_format("%s %s: %s", call->writes ? "write" : "read",
                               is_own ? call->key : "nodes", call->action);
        report_note(true, line);
    }
}

static void report_after(const struct sim_call *call)
{
    next_after(call);
    if (call->instance == SIM_WORLD_SIDE) {
        note_object(call);
    } else if (strstr(call->path, "/events") != NULL) {
        note_event(call);
    } else if (strstr(call->path, "/leases") == NULL && !ccm_text_starts(call->path, "/latest/")) {
        note_call(call);
    }
}

void sim_report_begin(const char *path, const char *plugin_dir)
{
    report = fopen(path, "w");
    names = ccm_strmap_new(free);
    counts = ccm_strmap_new(NULL);
    plugins_at = plugin_dir;
    next_after = sim_net.after;
    sim_net.after = report_after;
    if (report == NULL || names == NULL || counts == NULL) {
        sim_fail("%s cannot be written", path);
    }
}

static void note_state(void)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf picture = { .max = (size_t)64 * 1024 * 1024 };
    const char *at = NULL;

    sim_picture_take(&picture, true);
    for (at = ccm_buf_str(&picture); *at != '\0'; at += strcspn(at, "\n") + 1) {
        CCM_CLEANUP(ccm_freep)
        char *line = ccm_text_format("state %.*s", (int)strcspn(at, "\n"), at);

        report_note(false, line);
    }
}

static int line_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void sim_report_step(const char *title)
{
    char **lines = NULL;
    size_t len = 0;
    void *cursor = NULL;
    const char *key = NULL;
    void *value = NULL;

    if (report == NULL) {
        return;
    }
    note_state();
    lines = calloc(ccm_strmap_len(counts) + 1, sizeof(*lines));
    while (lines != NULL && ccm_strmap_next(counts, &cursor, &key, &value)) {
        lines[len++] = value == NULL ? ccm_text_format("%s", key)
                                     : ccm_text_format("%s, %zu times", key, (size_t)value);
    }
    if (len > 0) {
        qsort(lines, len, sizeof(*lines), line_compare);
    }
    (void)fprintf(report, "step %u: %s\n", ++step_count, title);
    for (size_t i = 0; i < len; i++) {
        (void)fprintf(report, "%s\n", lines[i]);
        free(lines[i]);
    }
    (void)fflush(report);
    free(lines);
    ccm_strmap_free(counts);
    counts = ccm_strmap_new(NULL);
}

void sim_report_finding(const char *text)
{
    if (report != NULL) {
        (void)fprintf(report, "step %u: the run ends with a finding\nfinding %s\n", ++step_count,
                      text);
        (void)fflush(report);
    }
}
