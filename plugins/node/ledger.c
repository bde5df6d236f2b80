#include "ledger.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define BODY_MAX  ((size_t)2048)
#define TIME_MAX  INT64_C(99999999999)
#define COUNT_MAX 1000000
/* So long after it was sent an API server may still execute a request (--request-timeout). */
#define OPEN_MS 60000

/* ---- reading ---- */

/* "SECONDS:COUNT" */
static int note_parse(const char *start, size_t len, struct node_ledger_note *ret)
{
    char text[32];
    uint32_t count = 0;
    char *colon = NULL;

    if (len >= sizeof(text)) {
        return -EINVAL;
    }
    memcpy(text, start, len);
    text[len] = '\0';
    colon = strchr(text, ':');
    if (colon == NULL) {
        return -EINVAL;
    }
    *colon = '\0';
    if (ccm_parse_i64(text, 0, TIME_MAX, &ret->at_s) < 0 ||
        ccm_parse_u32(colon + 1, 1, COUNT_MAX, &count) < 0) {
        return -EINVAL;
    }
    ret->count = count;
    return 0;
}

/* A letter, digit, or "-_.": what stands in a name needs no escape in JSON, and ends no piece. */
static bool name_is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const char c = text[i];

        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              c == '-' || c == '_' || c == '.')) {
            return false;
        }
    }
    return len > 0;
}

/* "UID/VERSION" */
static int name_parse(const char *start, size_t len, struct node_ledger_name *ret)
{
    const char *slash = memchr(start, '/', len);
    const size_t uid = slash == NULL ? len : (size_t)(slash - start);
    const size_t version = slash == NULL ? 0 : len - uid - 1;

    if (uid >= sizeof(ret->uid) || version >= sizeof(ret->version) || !name_is_plain(start, uid) ||
        version == 0 || !name_is_plain(slash + 1, version)) {
        return -EINVAL;
    }
    memcpy(ret->uid, start, uid);
    ret->uid[uid] = '\0';
    memcpy(ret->version, slash + 1, version);
    ret->version[version] = '\0';
    return 0;
}

static void text_add_note(struct node_ledger_text *text, struct node_ledger_note note,
                          int64_t now_s)
{
    /* One of the future was written by another clock: it counts from now on. */
    note.at_s = note.at_s > now_s ? now_s : note.at_s;
    if (text->len > 0 && note.at_s < text->notes[text->len - 1].at_s) {
        note.at_s = text->notes[text->len - 1].at_s;
    }
    if (text->len == NODE_LEDGER_NOTES) {
        note.count += text->notes[--text->len].count;
    }
    text->notes[text->len++] = note;
}

/* A node twice, or one too many: what it belongs to counts as if it was not there. */
static void text_add_name(struct node_ledger_text *text, const struct node_ledger_name *name)
{
    for (size_t i = 0; i < text->name_count; i++) {
        if (strcmp(text->names[i].uid, name->uid) == 0) {
            return;
        }
    }
    if (text->name_count < NODE_LEDGER_OPEN) {
        text->names[text->name_count] = *name;
        text->names[text->name_count++].note = text->len - 1;
    }
}

void node_ledger_parse(const char *text, int64_t since_s, int64_t now_s,
                       struct node_ledger_text *ret)
{
    const char *cursor = text == NULL ? "" : text;
    const char *start = NULL;
    size_t size = 0;
    bool follows = false; /* a note that counts */

    *ret = (struct node_ledger_text){ 0 };
    while (ccm_parse_piece(&cursor, ' ', &start, &size)) {
        struct node_ledger_note note;
        struct node_ledger_name name = { 0 };

        if (note_parse(start, size, &note) == 0) {
            follows = note.at_s > since_s;
            if (follows) {
                text_add_note(ret, note, now_s);
            }
        } else if (follows && name_parse(start, size, &name) == 0) {
            text_add_name(ret, &name);
            follows = false;
        }
    }
}

static uint64_t text_sum(const struct node_ledger_text *text)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < text->len; i++) {
        sum += text->notes[i].count;
    }
    return sum;
}

/* All nodes by uid; NULL: out of memory. */
static struct ccm_strmap *nodes_map_uids(const struct ccm_object *const *objects, size_t count)
{
    struct ccm_strmap *uids = ccm_strmap_new(NULL);

    for (size_t i = 0; uids != NULL && i < count; i++) {
        if (ccm_strmap_set(uids, objects[i]->uid, (void *)(uintptr_t)objects[i]) < 0) {
            ccm_strmap_free(uids);
            uids = NULL;
        }
    }
    return uids;
}

/* Nodes that are still there are open, and count in no note. */
static void text_take_open(struct node_ledger_text *text, const struct ccm_strmap *uids)
{
    size_t kept = 0;

    for (size_t i = 0; i < text->name_count; i++) {
        if (ccm_strmap_has(uids, text->names[i].uid)) {
            text->notes[text->names[i].note].count--;
            text->names[kept++] = text->names[i];
        }
    }
    text->name_count = kept;
}

static void ledger_set_keeper(struct node_ledger *ledger, const struct ccm_object *keeper)
{
    ccm_text_copy(ledger->keeper, sizeof(ledger->keeper), keeper->name);
    ccm_text_copy(ledger->keeper_uid, sizeof(ledger->keeper_uid), keeper->uid);
}

/* Several nodes may have one, of different age: the one with most has all of the others. */
static void ledger_find(struct node_ledger *ledger, const struct ccm_object *const *objects,
                        size_t count, const struct ccm_strmap *uids, int64_t since_s, int64_t now_s,
                        struct node_ledger_text *ret)
{
    uint64_t most = 0;

    *ret = (struct node_ledger_text){ 0 };
    for (size_t i = 0; i < count; i++) {
        struct node_ledger_text text;

        node_ledger_parse(ccm_object_annotation(objects[i], NODE_LEDGER), since_s, now_s, &text);
        text_take_open(&text, uids);

        /* Of two that are alike in this the one that knows of more. */
        const uint64_t worth = text_sum(&text) * (NODE_LEDGER_OPEN + 1) + text.name_count;

        if (worth > most) {
            most = worth;
            *ret = text;
            ledger_set_keeper(ledger, objects[i]);
        }
    }
}

static void ledger_open(struct node_ledger *ledger, const struct ccm_object *node,
                        const char *version, int64_t at_ms)
{
    struct node_ledger_open *open = &ledger->open[ledger->open_count++];

    *open = (struct node_ledger_open){ .at_ms = at_ms };
    ccm_text_copy(open->name, sizeof(open->name), node->name);
    ccm_text_copy(open->uid, sizeof(open->uid), node->uid);
    ccm_text_copy(open->version, sizeof(open->version), version);
}

int node_ledger_read(struct node_ledger *ledger, const struct node_run *run,
                     struct ccm_removal_budget *budget)
{
    const struct node_control *control = run->control;
    const struct ccm_host *host = control->host;
    const int64_t now_s = host->wall_ms(host) / 1000;
    const struct ccm_object *const *objects = NULL;
    struct node_ledger_text text;
    size_t count = 0;

    if (ledger->known) {
        return 0;
    }
    if (host->list(host, CCM_KIND_NODE, NULL, NULL, &objects, &count) < 0) {
        return -1;
    }

    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *uids = nodes_map_uids(objects, count);

    ledger->known = uids != NULL;
    if (uids != NULL) {
        ledger_find(ledger, objects, count, uids, now_s - control->rule.window_ms / 1000, now_s,
                    &text);
        for (size_t i = 0; i < text.name_count; i++) {
            ledger_open(ledger, ccm_strmap_get(uids, text.names[i].uid), text.names[i].version,
                        run->started_ms - (now_s - text.notes[text.names[i].note].at_s) * 1000);
        }

        const uint64_t size = count + text_sum(&text);

        for (size_t i = 0; i < text.len; i++) {
            ccm_removal_record(budget, &control->rule, size, text.notes[i].count,
                               run->started_ms - (now_s - text.notes[i].at_s) * 1000);
        }
    }
    host->release_list(host, objects, count);
    return ledger->known ? 0 : -1;
}

/* ---- what is open ---- */

static struct node_ledger_open *ledger_find_open(struct node_ledger *ledger, const char *uid)
{
    for (size_t i = 0; i < ledger->open_count; i++) {
        if (strcmp(ledger->open[i].uid, uid) == 0) {
            return &ledger->open[i];
        }
    }
    return NULL;
}

void node_ledger_close(struct node_ledger *ledger, const char *uid)
{
    struct node_ledger_open *open = ledger_find_open(ledger, uid);

    if (open != NULL) {
        *open = ledger->open[--ledger->open_count];
    }
}

size_t node_ledger_count_others(const struct node_ledger *ledger, const char *uid)
{
    size_t count = 0;

    for (size_t i = 0; i < ledger->open_count; i++) {
        count += strcmp(ledger->open[i].uid, uid) == 0 ? 0 : 1;
    }
    return count;
}

enum fate {
    FATE_UNKNOWN,
    FATE_GONE,
    FATE_NEVER_DELETED,
};

static enum fate open_find_fate(const struct node_ledger_open *open, const struct node_run *run)
{
    const struct node_control *control = run->control;
    const struct ccm_host *host = control->host;
    const int64_t wait_ms = control->rule.window_ms < OPEN_MS ? control->rule.window_ms : OPEN_MS;
    const struct ccm_object *node = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    enum fate fate = FATE_UNKNOWN;

    if (host->fetch(host, run->req, CCM_KIND_NODE, "", open->name, &node, &err) < 0) {
        return err.kind == CCM_ERROR_NOT_FOUND ? FATE_GONE : FATE_UNKNOWN;
    }
    if (strcmp(node->uid, open->uid) != 0 || node->deleted_ms != 0) {
        fate = FATE_GONE;
    } else if (strcmp(node->resource_version, open->version) != 0 ||
               run->started_ms - open->at_ms >= wait_ms) {
        fate = FATE_NEVER_DELETED;
    }
    host->release(host, node);
    return fate;
}

void node_ledger_ask(struct node_ledger *ledger, const struct node_run *run,
                     struct ccm_removal_budget *budget, size_t size)
{
    for (size_t i = ledger->open_count; i > 0; i--) {
        struct node_ledger_open *open = &ledger->open[i - 1];

        if (open->asked_ms == run->started_ms) {
            continue;
        }
        open->asked_ms = run->started_ms;

        const enum fate fate = open_find_fate(open, run);

        if (fate == FATE_GONE) {
            ccm_removal_record(budget, &run->control->rule, size, 1, run->started_ms);
        }
        if (fate != FATE_UNKNOWN) {
            *open = ledger->open[--ledger->open_count];
        }
    }
}

/* ---- writing ---- */

static bool ledger_is_kept_by(const struct node_ledger *ledger, const struct ccm_object *object)
{
    return strcmp(object->name, ledger->keeper) == 0 &&
           strcmp(object->uid, ledger->keeper_uid) == 0;
}

/* Who keeps it beside `gone` (NULL: nobody goes): a node that stays and is ready, who has it goes
 * first. NULL: there is none. */
static const struct ccm_object *ledger_choose(const struct node_ledger *ledger, const char *gone,
                                              const struct ccm_object *const *objects, size_t count)
{
    const struct ccm_object *best = NULL;
    int most = 0;

    for (size_t i = 0; i < count; i++) {
        const struct ccm_node *node = (const struct ccm_node *)objects[i];
        const int worth = 1 + (objects[i]->deleted_ms == 0 ? 4 : 0) +
                          (node->ready == CCM_CONDITION_TRUE ? 2 : 0) +
                          (ledger_is_kept_by(ledger, objects[i]) ? 1 : 0);

        if (worth > most && (gone == NULL || strcmp(objects[i]->name, gone) != 0)) {
            best = objects[i];
            most = worth;
        }
    }
    return best;
}

static void text_add_deletions(struct ccm_buf *text, int64_t at_s, uint32_t count)
{
    ccm_buf_addf(text, "%s%" PRId64 ":%" PRIu32, text->len == 0 ? "" : " ", at_s,
                 count > COUNT_MAX ? COUNT_MAX : count);
}

/* Without a name that can be written it counts whatever becomes of the node. */
static void text_add_open(struct ccm_buf *text, int64_t at_s, const char *uid, const char *version)
{
    text_add_deletions(text, at_s, 1);
    if (name_is_plain(uid, strlen(uid)) && name_is_plain(version, strlen(version))) {
        ccm_buf_addf(text, " %.63s/%.63s", uid, version);
    }
}

/* What counts still, what is open, and this node, which goes now (NULL: none does). */
static void ledger_format(struct ccm_buf *text, const struct node_ledger *ledger,
                          const struct node_run *run, const struct ccm_removal_budget *budget,
                          const struct ccm_object *going)
{
    const struct ccm_host *host = run->control->host;
    const int64_t wall_ms = host->wall_ms(host);

    for (size_t i = 0; i < budget->len; i++) {
        const struct ccm_removal_moment *note = &budget->notes[i];

        if (note->gone > 0 && note->gone_ms + run->control->rule.window_ms > run->started_ms) {
            text_add_deletions(text, (wall_ms - (run->started_ms - note->gone_ms)) / 1000,
                               note->gone);
        }
    }
    for (size_t i = 0; i < ledger->open_count; i++) {
        const struct node_ledger_open *open = &ledger->open[i];

        if (going == NULL || strcmp(open->uid, going->uid) != 0) {
            text_add_open(text, (wall_ms - (run->started_ms - open->at_ms)) / 1000, open->uid,
                          open->version);
        }
    }
    if (going != NULL) {
        text_add_open(text, wall_ms / 1000, going->uid, going->resource_version);
    }
}

static int ledger_patch(const struct node_run *run, const char *keeper, const char *text,
                        struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = BODY_MAX };
    const struct ccm_host *host = run->control->host;

    ccm_buf_addf(&body, "{\"metadata\":{\"annotations\":{\"" NODE_LEDGER "\":\"%s\"}}}", text);
    if (ccm_buf_error(&body) < 0) {
        return ccm_error_nomem(err);
    }

    const struct ccm_patch patch = {
        .struct_size = sizeof(patch),
        .kind = CCM_KIND_NODE,
        .type = CCM_PATCH_STRATEGIC,
        .name = keeper,
        .body = ccm_buf_str(&body),
    };
    const int r = host->patch(host, run->req, &patch, err);

    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        err->kind = CCM_ERROR_CONFLICT; /* not the node that goes: another keeps it the next time */
    }
    return r < 0 ? ccm_error_wrap(err, r, "note the deletion") : 0;
}

static int ledger_write_text(struct node_ledger *ledger, const struct node_run *run,
                             const char *gone, const char *text, struct ccm_error *err)
{
    const struct ccm_host *host = run->control->host;
    const struct ccm_object *const *objects = NULL;
    size_t count = 0;
    int r = 0;

    if (host->list(host, CCM_KIND_NODE, NULL, NULL, &objects, &count) < 0) {
        return ccm_error_set(err, -EAGAIN, CCM_ERROR_TRANSIENT, "the nodes are not known");
    }

    const struct ccm_object *keeper = ledger_choose(ledger, gone, objects, count);

    if (keeper != NULL) {
        r = ledger_patch(run, keeper->name, text, err);
    }
    if (keeper != NULL && r == 0) {
        ledger_set_keeper(ledger, keeper);
    }
    host->release_list(host, objects, count);
    return r;
}

int node_ledger_write(struct node_ledger *ledger, const struct node_run *run,
                      const struct ccm_object *node, const struct ccm_removal_budget *budget,
                      struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = BODY_MAX };

    if (node_ledger_count_others(ledger, node->uid) == NODE_LEDGER_OPEN) {
        return ccm_error_set(err, -EAGAIN, CCM_ERROR_TRANSIENT,
                             "what has become of %zu deletions is not known", NODE_LEDGER_OPEN);
    }
    ledger_format(&text, ledger, run, budget, node);
    if (ccm_buf_error(&text) < 0) {
        return ccm_error_nomem(err);
    }

    const int r = ledger_write_text(ledger, run, node->name, ccm_buf_str(&text), err);

    if (r == 0) {
        node_ledger_close(ledger, node->uid);
        ledger_open(ledger, node, node->resource_version, run->started_ms);
    }
    return r;
}

static bool ledger_is_lost(const struct node_ledger *ledger, const struct ccm_host *host)
{
    const struct ccm_object *keeper = NULL;
    bool kept = false;

    if (ledger->keeper[0] == '\0') {
        return false;
    }
    keeper = host->get(host, CCM_KIND_NODE, ledger->keeper);
    if (keeper != NULL) {
        kept = ledger_is_kept_by(ledger, keeper) && keeper->deleted_ms == 0;
        host->release(host, keeper);
    }
    return !kept;
}

void node_ledger_move(struct node_ledger *ledger, const struct node_run *run,
                      const struct ccm_removal_budget *budget)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = BODY_MAX };
    const struct ccm_host *host = run->control->host;
    struct ccm_error err = CCM_ERROR_INIT;

    if (!ledger_is_lost(ledger, host)) {
        return;
    }
    ledger_format(&text, ledger, run, budget, NULL);
    if (text.len == 0 || ccm_buf_error(&text) < 0) {
        return; /* nothing counts any more, or the next time */
    }
    if (ledger_write_text(ledger, run, NULL, ccm_buf_str(&text), &err) < 0) {
        host->log(host, CCM_LEVEL_WARN, ledger->keeper,
                  "what was deleted is noted at no node that stays: %s", err.message);
    }
}
