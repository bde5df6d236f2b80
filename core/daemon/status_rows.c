#include "daemon/status_rows.h"

#include "ccm/error.h"
#include "daemon/unserved.h"
#include "kube/cache/store.h"
#include "kube/object/object.h"
#include "util/array.h"
#include "util/attr.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- failures --- */

const char *status_kind_text(uint64_t kind)
{
    static const struct {
        uint64_t kind;
        const char *text;
    } kinds[] = {
        { CCM_ERROR_TRANSIENT, "did not work, for a passing reason: tried again by itself" },
        { CCM_ERROR_THROTTLED, "too many calls for the cloud: goes on by itself" },
        { CCM_ERROR_CONFLICT, "another client changed it in between: ccmd tries again" },
        { CCM_ERROR_NOT_FOUND, "something it needs is not there: tried again by itself" },
        { CCM_ERROR_AUTH, "refused: rights, quota or account: look at rights, quota and account; "
                          "tried again by itself" },
        { CCM_ERROR_TERMINAL, "cannot work as it is: change the object, or what it names" },
        { CCM_ERROR_CANCELLED, "was broken off: tried again by itself" },
        { CCM_ERROR_BUG,
          "an answer that nobody expected: please report it; tried again by itself" },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(kinds); i++) {
        if (kinds[i].kind == kind) {
            return kinds[i].text;
        }
    }
    return "failed: tried again by itself";
}

static bool cause_is_word(char c)
{
    return isalnum((unsigned char)c) || strchr("-_./:", c) != NULL;
}

static void cause_add(uint64_t *hash, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        *hash = (*hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    }
}

/* A word with a digit in it is a number or an id, and one with the object's name is about it. */
static bool cause_word_varies(const char *word, size_t len, const char *name)
{
    const size_t name_len = strlen(name);

    for (size_t i = 0; i < len; i++) {
        if (isdigit((unsigned char)word[i]) ||
            (name_len > 0 && len - i >= name_len && memcmp(word + i, name, name_len) == 0)) {
            return true;
        }
    }
    return false;
}

/* The same number for messages that differ only in ids, numbers and the name of their object. */
static uint64_t cause_hash_text(const char *plugin, uint64_t kind, const char *key,
                                const char *message)
{
    const char *slash = strrchr(key, '/');
    const char *name = slash == NULL ? key : slash + 1;
    uint64_t hash = ccm_text_hash(plugin) ^ kind;
    const char *p = message;

    while (*p != '\0') {
        size_t len = 0;

        while (p[len] != '\0' && cause_is_word(p[len])) {
            len++;
        }
        if (len == 0) {
            cause_add(&hash, p, 1);
            p++;
        } else if (cause_word_varies(p, len, name)) {
            cause_add(&hash, "*", 1);
            p += len;
        } else {
            cause_add(&hash, p, len);
            p += len;
        }
    }
    return hash >> 1; /* a number of a link, which fits into what links are parsed to */
}

/* --- words --- */

static const struct {
    const char *name;
    const char *words; /* of one */
    const char *many;
} states[STATUS_STATES] = {
    [STATUS_FAILING] = { "failing", "fails", "fail" },
    [STATUS_WAITING] = { "waiting", "waits", "wait" },
    [STATUS_UNSERVED] = { "unserved", "serves nobody", "serve nobody" },
    [STATUS_HELD] = { "held", "has removals held", "have removals held" },
    [STATUS_NEW] = { "new", "not looked at yet", "not looked at yet" },
    [STATUS_WELL] = { "well", "well", "well" },
};

const char *status_state_name(enum status_state state)
{
    return states[state].name;
}

const char *status_state_words(enum status_state state)
{
    return states[state].words;
}

const char *status_state_verb(enum status_state state, size_t count)
{
    return count == 1 ? states[state].words : states[state].many;
}

enum status_state status_state_parse(const char *name)
{
    for (size_t i = 0; i < STATUS_STATES; i++) {
        if (ccm_text_equal(states[i].name, name)) {
            return (enum status_state)i;
        }
    }
    return STATUS_STATES;
}

/* --- words --- */

static void status_row_fini(struct status_row *row)
{
    free(row->key);
    free(row->why);
}

void status_rows_fini(struct status_rows *rows)
{
    for (size_t i = 0; i < rows->len; i++) {
        status_row_fini(&rows->items[i]);
    }
    free(rows->items);
    *rows = (struct status_rows){ 0 };
}

/* The keys of one plugin, while its rows are put together. */
struct collector {
    struct status_rows *rows;
    struct ccm_strmap *by_key; /* key -> index + 1 of the row */
    const struct daemon_runner_view *view;
    const struct daemon_host_services *services;
    size_t plugin_index;
    size_t first; /* row of this plugin */
};

static struct status_row *collector_find(const struct collector *c, const char *key)
{
    const size_t at = (size_t)(uintptr_t)ccm_strmap_get(c->by_key, key);

    return at == 0 ? NULL : &c->rows->items[at - 1];
}

static struct status_row *collector_get(struct collector *c, const char *key)
{
    struct status_rows *rows = c->rows;
    struct status_row *row = collector_find(c, key);
    CCM_CLEANUP(ccm_freep) char *copy = NULL;
    CCM_CLEANUP(ccm_freep) char *why = NULL;

    if (row != NULL) {
        return row;
    }
    copy = strdup(key);
    why = strdup("");
    if (copy == NULL || why == NULL ||
        ccm_array_grow(&rows->items, &rows->cap, rows->len + 1, sizeof(*rows->items)) < 0 ||
        ccm_strmap_set(c->by_key, key, (void *)(uintptr_t)(rows->len + 1)) < 0) {
        rows->incomplete = true;
        return NULL;
    }
    row = &rows->items[rows->len++];
    *row = (struct status_row){
        .plugin = c->view->name,
        .plugin_index = c->plugin_index,
        .key = CCM_STEAL(copy),
        .why = CCM_STEAL(why),
        .state = STATUS_NEW,
        .running_ms = -1,
    };
    return row;
}

static void status_row_set_why(struct status_row *row, const char *why)
{
    char *copy = strdup(why);

    if (copy != NULL) { /* else the row has none */
        free(row->why);
        row->why = copy;
    }
}

static void collect_known_row(void *arg, const char *key)
{
    struct status_row *row = collector_get(arg, key);

    if (row != NULL) {
        row->comes = true;
    }
}

static void collect_queued_row(void *arg, const char *key)
{
    struct status_row *row = collector_get(arg, key);

    if (row != NULL) {
        row->queued = true;
    }
}

static void collect_running_row(void *arg, const char *id, const char *what, int64_t age_ms)
{
    struct status_row *row = collector_find(arg, what); /* of a batch it is no key */

    (void)id; /* it is for the log */
    if (row != NULL) {
        row->running_ms = age_ms;
    }
}

/* The kinds of notes are in the order of the states. A row that only a note would have is none:
 * what is said need not be about an object. */
static void collect_object_row(void *arg, const struct daemon_object *object)
{
    struct collector *c = arg;
    const struct daemon_note *failing = object->notes[DAEMON_NOTE_FAILING];
    struct status_row *row = object->passes > 0 || failing != NULL ? collector_get(c, object->key)
                                                                   : collector_find(c, object->key);

    if (row == NULL) {
        return;
    }
    row->passes = object->passes;
    row->last_ms = object->last_ms;
    row->next_ms = object->next_ms;
    row->state = object->passes > 0 ? STATUS_WELL : STATUS_NEW;
    if (failing != NULL) {
        row->kind = failing->detail;
        row->failures = (uint32_t)failing->count;
    }
    for (size_t i = DAEMON_NOTE_KINDS; i-- > 0;) {
        const struct daemon_note *note = object->notes[i];

        if (note != NULL && i < STATUS_NEW) {
            row->state = (enum status_state)i;
            row->since_ms = note->since_ms;
            status_row_set_why(row, daemon_note_text(note));
        }
    }
    if (row->state == STATUS_WAITING) {
        row->next_ms = (int64_t)object->notes[DAEMON_NOTE_WAITING]->detail;
    }
}

const struct ccm_object *status_row_find_object(const struct daemon_observed *seen,
                                                const struct status_row *row)
{
    struct daemon_runner_view view;

    if (row->plugin_index == STATUS_NOBODY) {
        struct kube_store *store = seen->services->stores[CCM_KIND_SERVICE];

        return store == NULL ? NULL : kube_store_get(store, row->key);
    }
    if (!daemon_runners_get_view(seen->runners, row->plugin_index, &view) || view.loaded == NULL) {
        return NULL;
    }
    return daemon_host_find_object(seen->services, view.loaded->desc, row->key);
}

/* Keys of a plugin's own, such as that of a round over all objects, are nobody's while all is well.
 */
static bool status_row_counts(const struct status_row *row)
{
    return row->exists || row->state == STATUS_FAILING || row->state == STATUS_WAITING ||
           (row->running_ms >= 0 && row->passes == 0);
}

static void collector_end(struct collector *c)
{
    struct status_rows *rows = c->rows;
    size_t kept = c->first;

    for (size_t i = c->first; i < rows->len; i++) {
        struct status_row *row = &rows->items[i];
        CCM_CLEANUP(kube_object_unrefp)
        const struct ccm_object *object =
            daemon_host_find_object(c->services, c->view->loaded->desc, row->key);

        row->exists = object != NULL;
        if (row->state == STATUS_FAILING) {
            row->cause = cause_hash_text(row->plugin, row->kind, row->key, row->why);
        }
        if (!status_row_counts(row)) {
            status_row_fini(row);
            continue;
        }
        rows->counts[row->state]++;
        rows->items[kept++] = *row;
    }
    rows->len = kept;
}

static void collect_plugin(struct collector *c)
{
    const struct sched_queue_calm known = { .horizon_ms = SCHED_QUEUE_DELAY_MAX_MS };
    const struct sched_queue_calm ready = { .horizon_ms = 0 };
    const struct daemon_runner_view *view = c->view;

    c->by_key = ccm_strmap_new(NULL);
    c->first = c->rows->len;
    if (c->by_key == NULL) {
        c->rows->incomplete = true;
        return;
    }
    sched_controller_list_left(view->controller, &known, collect_known_row, c);
    sched_controller_list_left(view->controller, &ready, collect_queued_row, c);
    daemon_objects_list(view->objects, collect_object_row, c);
    sched_controller_list_running(view->controller, collect_running_row, c);
    collector_end(c);
    ccm_strmap_free(c->by_key);
}

static void collect_nobody_row(void *arg, const char *object, int64_t since_ms, const char *reason)
{
    struct status_rows *rows = arg;
    CCM_CLEANUP(ccm_freep) char *key = strdup(object);
    CCM_CLEANUP(ccm_freep) char *why = strdup(reason);

    if (key == NULL || why == NULL ||
        ccm_array_grow(&rows->items, &rows->cap, rows->len + 1, sizeof(*rows->items)) < 0) {
        rows->incomplete = true;
        return;
    }

    const uint64_t cause = cause_hash_text(STATUS_NOBODY_NAME, CCM_ERROR_TERMINAL, key, why);

    rows->items[rows->len++] = (struct status_row){
        .plugin = STATUS_NOBODY_NAME,
        .plugin_index = STATUS_NOBODY,
        .state = STATUS_FAILING,
        .kind = CCM_ERROR_TERMINAL,
        .cause = cause,
        .since_ms = since_ms,
        .running_ms = -1,
        .exists = true,
        .key = CCM_STEAL(key),
        .why = CCM_STEAL(why),
    };
    rows->counts[STATUS_FAILING]++;
}

void status_rows_collect(const struct daemon_observed *seen, const char *plugin,
                         struct status_rows *ret)
{
    struct daemon_runner_view view;

    *ret = (struct status_rows){ 0 };
    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        struct collector c = {
            .rows = ret,
            .view = &view,
            .services = seen->services,
            .plugin_index = i,
        };

        if (view.controller != NULL && view.loaded != NULL &&
            (plugin == NULL || ccm_text_equal(plugin, view.name))) {
            collect_plugin(&c);
        }
    }
    if (plugin == NULL || ccm_text_equal(plugin, STATUS_NOBODY_NAME)) {
        daemon_unserved_list(seen->services->unserved, collect_nobody_row, ret);
    }
}
