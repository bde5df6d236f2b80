#include "look.h"

#include "util/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Calls of one run that look for ids which the cloud does not take; of a hundred one takes 14. */
#define HALVES_MAX 60

/* Items of a call that has silent ones: the rest is room for nodes that are there for certain. */
#define LOST_MAX 80

/* One call: items of one region. */
struct batch {
    struct node_run *run;
    struct node_item **items; /* borrowed */
    size_t len;
    char witness[ALI_PROVIDER_PART]; /* asked for besides; "" = none */
    struct ccm_strmap *others;       /* further ones that are there for certain; NULL = none */
    struct ccm_strmap *ids;          /* that are asked for */
    struct ccm_strmap *found;        /* instance -> its item of the answer to this call */
};

static void batch_fini(struct batch *batch)
{
    ccm_strmap_free(batch->others);
    ccm_strmap_free(batch->ids);
    ccm_strmap_free(batch->found);
}

static bool item_is_asked(const struct node_item *item)
{
    return item->subject.kind == NODE_ECS && !item->subject.excluded;
}

static bool item_is_lost(const struct node_item *item)
{
    return node_item_object(item)->ready == CCM_CONDITION_UNKNOWN;
}

static bool item_is_alive(const struct node_item *item)
{
    return node_item_object(item)->ready == CCM_CONDITION_TRUE;
}

/* Its instance is there, and in the answer if that is a whole one. */
static bool item_is_certain(const struct node_item *item)
{
    return item_is_alive(item) && ccm_object_label(item->object, NODE_LABEL_SEEN) != NULL;
}

static bool batch_has(const struct batch *batch, bool (*is)(const struct node_item *item))
{
    for (size_t i = 0; i < batch->len; i++) {
        if (is(batch->items[i])) {
            return true;
        }
    }
    return false;
}

/* ---- who is there for certain ---- */

static bool node_is_witness(const struct ccm_node *node, const char *region,
                            struct node_subject *ret)
{
    if (node->ready != CCM_CONDITION_TRUE || node->meta.deleted_ms != 0 ||
        ccm_object_label(&node->meta, NODE_LABEL_SEEN) == NULL) {
        return false; /* one of another account is ready, too, and in no answer */
    }
    node_subject_init(ret, node);
    return ret->kind == NODE_ECS && !ret->excluded && strcmp(ret->region, region) == 0;
}

/* One whose instance this process has seen goes before one that only says so of itself. */
static int batch_find_witness(struct batch *batch, const char *region)
{
    const struct node_control *control = batch->run->control;
    const struct ccm_host *host = control->host;
    const struct ccm_object *const *objects = NULL;
    bool seen = false;
    size_t count = 0;
    const int r = host->list(host, CCM_KIND_NODE, NULL, NULL, &objects, &count);

    for (size_t i = 0; r == 0 && i < count && !seen; i++) {
        struct node_subject subject;

        if (!node_is_witness((const struct ccm_node *)objects[i], region, &subject)) {
            continue;
        }
        seen = node_memory_facts(control->memory, objects[i]->name) != 0;
        if (seen || batch->witness[0] == '\0') {
            memcpy(batch->witness, subject.instance, sizeof(batch->witness));
        }
    }
    host->release_list(host, objects, count);
    return r;
}

/* Nodes that nobody hears of need one who is there for certain. */
static int batch_choose_witness(struct batch *batch)
{
    return batch_has(batch, item_is_lost) && !batch_has(batch, item_is_certain)
               ? batch_find_witness(batch, batch->items[0]->subject.region)
               : 0;
}

/* As many as the call takes; where there are more, each look takes others. 0 or -ENOMEM. */
static int batch_add_others(struct batch *batch)
{
    static char seen[] = "";
    const struct node_control *control = batch->run->control;
    const struct ccm_host *host = control->host;
    const size_t room = NODE_BATCH_MAX - batch->len - (batch->witness[0] == '\0' ? 0 : 1);
    const struct ccm_object *const *nodes = NULL;
    size_t count = 0;
    int r = 0;

    batch->others = ccm_strmap_new(NULL);
    if (batch->others == NULL || host->list(host, CCM_KIND_NODE, NULL, NULL, &nodes, &count) < 0) {
        return -ENOMEM;
    }
    for (size_t i = 0; r == 0 && i < count && ccm_strmap_len(batch->others) < room; i++) {
        const size_t at = (i + (size_t)batch->run->started_ms) % count;
        struct node_subject subject;

        if (node_is_witness((const struct ccm_node *)nodes[at], batch->items[0]->subject.region,
                            &subject)) {
            r = ccm_strmap_set(batch->others, subject.instance,
                               node_memory_facts(control->memory, nodes[at]->name) != 0 ? seen
                                                                                        : NULL);
        }
    }
    host->release_list(host, nodes, count);
    return r;
}

/* What shows that the answer is a whole one. */
static int batch_add_certain(struct batch *batch)
{
    const int r = batch_choose_witness(batch);

    return r == 0 && batch_has(batch, item_is_lost) ? batch_add_others(batch) : r;
}

/* Of the others only those that this process has seen stay: of these the cloud takes the ids.
 * Whether one was taken out; or -ENOMEM. */
static int batch_drop_unseen(struct batch *batch)
{
    struct ccm_strmap *seen = ccm_strmap_new(NULL);
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    int r = seen == NULL ? -ENOMEM : 0;

    while (r == 0 && batch->others != NULL &&
           ccm_strmap_next(batch->others, &cursor, &id, &value) != 0) {
        r = value == NULL ? 0 : ccm_strmap_set(seen, id, value);
    }
    if (r < 0 || batch->others == NULL) {
        ccm_strmap_free(seen);
        return r;
    }
    r = ccm_strmap_len(seen) < ccm_strmap_len(batch->others);
    ccm_strmap_free(batch->others);
    batch->others = seen;
    return r;
}

/* A RAM policy that shows a part of the instances alone hides those of ready nodes as well. One
 * that this process has not seen may only say of itself that it was: it takes two of these. */
static bool batch_lacks_others(const struct batch *batch)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *seen = NULL;
    int lacking = 0;

    while (batch->others != NULL && ccm_strmap_next(batch->others, &cursor, &id, &seen) != 0) {
        if (!ccm_strmap_has(batch->found, id)) {
            lacking += seen != NULL ? 2 : 1;
        }
    }
    return lacking > 1;
}

/* Whoever is ready and was seen before is there: an answer without it lacks others as well. */
static bool batch_lacks_alive(const struct batch *batch)
{
    for (size_t i = 0; i < batch->len; i++) {
        const struct node_item *item = batch->items[i];

        if (item_is_certain(item) && !ccm_strmap_has(batch->found, item->subject.instance)) {
            return true;
        }
    }
    return false;
}

/* An instance that nobody asked for: what was asked for may be there under another name. */
static bool batch_has_stranger(const struct batch *batch)
{
    void *cursor = NULL;
    const char *id = NULL;

    while (ccm_strmap_next(batch->found, &cursor, &id, NULL) != 0) {
        if (!ccm_strmap_has(batch->ids, id)) {
            return true;
        }
    }
    return false;
}

/* An instance that is there for certain, and in the answer; NULL: the answer proves nothing. */
static const char *batch_confirm(const struct batch *batch)
{
    if (batch_lacks_alive(batch) || batch_lacks_others(batch) || batch_has_stranger(batch)) {
        return NULL;
    }
    for (size_t i = 0; i < batch->len; i++) {
        const char *id = batch->items[i]->subject.instance;

        if (item_is_alive(batch->items[i]) && ccm_strmap_has(batch->found, id)) {
            return id;
        }
    }
    return batch->witness[0] != '\0' && ccm_strmap_has(batch->found, batch->witness)
               ? batch->witness
               : NULL;
}

/* ---- one call ---- */

static int batch_collect_ids(struct batch *batch)
{
    void *cursor = NULL;
    const char *id = NULL;
    int r = 0;

    ccm_strmap_free(batch->ids);
    ccm_strmap_free(batch->found);
    batch->ids = ccm_strmap_new(NULL);
    batch->found = ccm_strmap_new(NULL);
    if (batch->ids == NULL || batch->found == NULL) {
        return -ENOMEM;
    }
    r = batch->witness[0] == '\0' ? 0 : ccm_strmap_set(batch->ids, batch->witness, NULL);
    while (batch->others != NULL && r == 0 &&
           ccm_strmap_next(batch->others, &cursor, &id, NULL) != 0) {
        r = ccm_strmap_set(batch->ids, id, NULL);
    }
    for (size_t i = 0; i < batch->len && r == 0; i++) {
        r = ccm_strmap_set(batch->ids, batch->items[i]->subject.instance, NULL);
    }
    return r;
}

static void batch_settle(const struct batch *batch)
{
    const char *witness = batch_confirm(batch);

    for (size_t i = 0; i < batch->len; i++) {
        struct node_item *item = batch->items[i];

        item->machine = ccm_strmap_get(batch->found, item->subject.instance);
        item->answer = item->machine != NULL ? NODE_FOUND
                       : witness != NULL     ? NODE_ABSENT
                                             : NODE_UNPROVED;
        if (item->answer == NODE_ABSENT) {
            memcpy(item->witness, witness, strlen(witness) + 1);
        }
    }
}

/* One of the ids is none in the eyes of the cloud: it says so of all of them. */
static bool error_is_about_ids(const struct ccm_error *err)
{
    return err->http_status == 400 &&
           (strstr(err->code, "InstanceId") != NULL || strstr(err->message, "InstanceId") != NULL);
}

static int batch_ask(struct batch *batch);

/* Whoever it is about is found by halves, so that all others have their answer. */
static int batch_ask_halves(const struct batch *batch)
{
    const size_t half = batch->len / 2;
    int r = 0;

    for (int i = 0; i < 2 && r == 0; i++) {
        CCM_CLEANUP(batch_fini)
        struct batch part = { .run = batch->run,
                              .items = batch->items + (i == 0 ? 0 : half),
                              .len = i == 0 ? half : batch->len - half };

        batch->run->halves++;
        r = batch_add_certain(&part);
        r = r < 0 ? r : batch_ask(&part);
    }
    return r;
}

static int batch_ask(struct batch *batch)
{
    struct node_run *run = batch->run;
    const struct node_call call = node_run_call(run);
    const char *region = batch->items[0]->subject.region;
    struct ccm_error err = CCM_ERROR_INIT;
    int r = batch_collect_ids(batch);

    if (r < 0) {
        return r;
    }
    r = node_api_instances(&call, region, batch->ids, &run->answers, batch->found, &err);
    if (r == 0) {
        batch_settle(batch);
        return 0;
    }

    const bool about_ids = error_is_about_ids(&err);

    const int dropped = about_ids ? batch_drop_unseen(batch) : 0; /* it may be about one of these */

    if (dropped != 0) {
        return dropped < 0 ? dropped : batch_ask(batch);
    }
    if (about_ids && batch->len > 1 && run->halves < HALVES_MAX) {
        return batch_ask_halves(batch);
    }
    for (size_t i = 0; i < batch->len; i++) {
        node_run_fail(run, batch->items[i], &err, !about_ids || batch->len > 1);
    }
    return r == -ENOMEM ? r : 0;
}

/* ---- all of them ---- */

/* As many of the items, which are sorted by region, as one call takes. */
static int batch_fill(struct batch *batch, struct node_item **items, size_t len)
{
    const char *region = items[0]->subject.region;

    batch->items = items;
    while (batch->len < len && batch->len < NODE_BATCH_MAX &&
           strcmp(items[batch->len]->subject.region, region) == 0) {
        batch->len++;
    }
    if (batch->len > LOST_MAX && batch_has(batch, item_is_lost)) {
        batch->len = LOST_MAX;
    }
    return batch_add_certain(batch);
}

static int compare_regions(const void *a, const void *b)
{
    const struct node_item *const *left = a;
    const struct node_item *const *right = b;

    return strcmp((*left)->subject.region, (*right)->subject.region);
}

int node_look(struct node_run *run)
{
    CCM_CLEANUP(ccm_freep)
    struct node_item **asked = calloc(run->len + 1, sizeof(*asked));
    size_t len = 0;

    if (asked == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < run->len; i++) {
        if (item_is_asked(&run->items[i])) {
            asked[len++] = &run->items[i];
        }
    }
    qsort(asked, len, sizeof(*asked), compare_regions);
    for (size_t first = 0; first < len;) {
        CCM_CLEANUP(batch_fini) struct batch batch = { .run = run };
        int r = batch_fill(&batch, asked + first, len - first);

        r = r < 0 ? r : batch_ask(&batch);
        if (r < 0) {
            return -ENOMEM;
        }
        first += batch.len;
    }
    return 0;
}

int node_look_again(struct node_run *run, struct node_item *item)
{
    CCM_CLEANUP(batch_fini) struct batch batch = { .run = run, .items = &item, .len = 1 };
    int r = batch_find_witness(&batch, item->subject.region);

    item->answer = NODE_NOT_ASKED;
    r = r < 0 ? r : batch_ask(&batch);
    return r < 0 ? -ENOMEM : 0;
}
