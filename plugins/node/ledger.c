#include "ledger.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define BODY_MAX  ((size_t)2048)
#define TIME_MAX  INT64_C(99999999999)
#define COUNT_MAX 1000000

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

size_t node_ledger_parse(const char *text, int64_t since_s, int64_t now_s,
                         struct node_ledger_note *notes)
{
    const char *cursor = text == NULL ? "" : text;
    const char *start = NULL;
    size_t size = 0;
    size_t len = 0;

    while (ccm_parse_piece(&cursor, ' ', &start, &size)) {
        struct node_ledger_note note;

        if (note_parse(start, size, &note) < 0 || note.at_s <= since_s) {
            continue;
        }
        /* One of the future was written by another clock: it counts from now on. */
        note.at_s = note.at_s > now_s ? now_s : note.at_s;
        if (len > 0 && note.at_s < notes[len - 1].at_s) {
            note.at_s = notes[len - 1].at_s;
        }
        if (len == NODE_LEDGER_NOTES) {
            note.count += notes[--len].count;
        }
        notes[len++] = note;
    }
    return len;
}

static uint64_t notes_sum(const struct node_ledger_note *notes, size_t len)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < len; i++) {
        sum += notes[i].count;
    }
    return sum;
}

static void ledger_set_keeper(struct node_ledger *ledger, const struct ccm_object *keeper)
{
    ccm_text_copy(ledger->keeper, sizeof(ledger->keeper), keeper->name);
    ccm_text_copy(ledger->keeper_uid, sizeof(ledger->keeper_uid), keeper->uid);
}

/* Several nodes may have one, of different age: the one with most has all of the others. */
static const char *ledger_find(struct node_ledger *ledger, const struct ccm_object *const *objects,
                               size_t count, int64_t since_s, int64_t now_s)
{
    struct node_ledger_note notes[NODE_LEDGER_NOTES];
    const char *best = NULL;
    uint64_t most = 0;

    for (size_t i = 0; i < count; i++) {
        const char *text = ccm_object_annotation(objects[i], NODE_LEDGER);
        const uint64_t sum = notes_sum(notes, node_ledger_parse(text, since_s, now_s, notes));

        if (sum > most) {
            most = sum;
            best = text;
            ledger_set_keeper(ledger, objects[i]);
        }
    }
    return best;
}

int node_ledger_read(struct node_ledger *ledger, const struct node_run *run,
                     struct ccm_removal_budget *budget)
{
    const struct node_control *control = run->control;
    const struct ccm_host *host = control->host;
    const int64_t now_s = host->wall_ms(host) / 1000;
    const int64_t since_s = now_s - control->rule.window_ms / 1000;
    struct node_ledger_note notes[NODE_LEDGER_NOTES];
    const struct ccm_object *const *objects = NULL;
    size_t count = 0;

    if (ledger->known) {
        return 0;
    }
    if (host->list(host, CCM_KIND_NODE, NULL, NULL, &objects, &count) < 0) {
        return -1;
    }

    const size_t len = node_ledger_parse(ledger_find(ledger, objects, count, since_s, now_s),
                                         since_s, now_s, notes);
    const uint64_t size = count + notes_sum(notes, len);

    host->release_list(host, objects, count);
    for (size_t i = 0; i < len; i++) {
        ccm_removal_record(budget, &control->rule, size, notes[i].count,
                           run->started_ms - (now_s - notes[i].at_s) * 1000);
    }
    ledger->known = true;
    return 0;
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

/* What counts still, and one more at this moment when there is one. */
static void ledger_format(struct ccm_buf *text, const struct node_run *run,
                          const struct ccm_removal_budget *budget, bool more)
{
    const struct ccm_host *host = run->control->host;
    const int64_t wall_ms = host->wall_ms(host);

    for (size_t i = 0; i < budget->len; i++) {
        const struct ccm_removal_moment *note = &budget->notes[i];

        if (note->gone > 0 && note->gone_ms + run->control->rule.window_ms > run->started_ms) {
            ccm_buf_addf(text, "%s%" PRId64 ":%" PRIu32, text->len == 0 ? "" : " ",
                         (wall_ms - (run->started_ms - note->gone_ms)) / 1000,
                         note->gone > COUNT_MAX ? COUNT_MAX : note->gone);
        }
    }
    if (more) {
        ccm_buf_addf(text, "%s%" PRId64 ":1", text->len == 0 ? "" : " ", wall_ms / 1000);
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
                      const struct node_item *item, const struct ccm_removal_budget *budget,
                      struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = BODY_MAX };

    ledger_format(&text, run, budget, true);
    if (ccm_buf_error(&text) < 0) {
        return ccm_error_nomem(err);
    }
    return ledger_write_text(ledger, run, item->object->name, ccm_buf_str(&text), err);
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
    ledger_format(&text, run, budget, false);
    if (text.len == 0 || ccm_buf_error(&text) < 0) {
        return; /* nothing counts any more, or the next time */
    }
    if (ledger_write_text(ledger, run, NULL, ccm_buf_str(&text), &err) < 0) {
        host->log(host, CCM_LEVEL_WARN, ledger->keeper,
                  "what was deleted is noted at no node that stays: %s", err.message);
    }
}
