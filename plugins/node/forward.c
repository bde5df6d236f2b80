#include "forward.h"

#include "alicloud/error.h"
#include "util/cleanup.h"
#include "util/parallel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* So many changes are under way at once. */
#define WRITERS 5

/* New nodes of one region, at most NODE_BATCH_MAX. */
struct group {
    struct node_run *run;
    struct node_call call;
    struct node_item **items; /* borrowed */
    size_t len;
    struct ccm_strmap *found; /* interface -> its item of an answer; NULL until it was asked */
};

static bool item_is_to_forward(const struct node_item *item)
{
    return item->subject.fresh && item->machine != NULL &&
           node_machine_interface(item->machine)[0] != '\0';
}

static void item_close(struct node_run *run, struct node_item *item, const struct ccm_error *err,
                       bool shared)
{
    item->closed = true;
    node_run_fail(run, item, err, shared);
}

/* What nobody lists cannot be said to forward. */
static void item_close_missing(struct node_run *run, struct node_item *item)
{
    struct ccm_error err = CCM_ERROR_INIT;

    (void)ccm_error_set(&err, 0, CCM_ERROR_TRANSIENT,
                        "DescribeNetworkInterfaces: interface %.70s of instance %.70s is not in "
                        "the answer",
                        node_machine_interface(item->machine),
                        item->subject.instance); /* the failure is kept in the item */
    item_close(run, item, &err, false);
}

/* In a thread of its own; nothing but its item is written. */
static void item_forward(void *arg, size_t i)
{
    const struct group *group = arg;
    struct node_item *item = group->items[i];
    const char *id = node_machine_interface(item->machine);
    const cJSON *interface = ccm_strmap_get(group->found, id);

    if (interface == NULL || !ccm_json_bool(interface, "SourceDestCheck", false)) {
        return;
    }
    item->forwards = group->run->dry;
    item->closed =
        !item->forwards && node_api_forward(&group->call, item->subject.region, id, &item->err) < 0;
}

/* The errors of item_forward(), in one thread. */
static void group_collect(struct group *group)
{
    for (size_t i = 0; i < group->len; i++) {
        struct node_item *item = group->items[i];
        struct ccm_error err;

        if (!ccm_strmap_has(group->found, node_machine_interface(item->machine))) {
            item_close_missing(group->run, item);
        } else if (item->closed) {
            ccm_error_copy(&err, &item->err);
            (void)ccm_error_wrap(&err, 0, "Failed to disable source dest check for node");
            item_close(group->run, item, &err, false);
        }
    }
}

static int group_forward(struct group *group)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *ids = ccm_strmap_new(NULL);
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *found = ccm_strmap_new(NULL);
    CCM_CLEANUP(node_answers_fini) struct node_answers answers = { 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    int r = ids == NULL || found == NULL ? -ENOMEM : 0;

    for (size_t i = 0; i < group->len && r == 0; i++) {
        r = ccm_strmap_set(ids, node_machine_interface(group->items[i]->machine), NULL);
    }
    if (r < 0) {
        return r;
    }
    r = node_api_interfaces(&group->call, group->items[0]->subject.region, ids, &answers, found,
                            &err);
    if (r < 0) {
        (void)ccm_error_wrap(&err, r, "failed to disable source dest check");
        for (size_t i = 0; i < group->len; i++) {
            item_close(group->run, group->items[i], &err, true);
        }
        return 0;
    }
    group->found = found;
    ccm_parallel_run(group->len, WRITERS, item_forward, group);
    group_collect(group);
    return 0;
}

int node_forward(struct node_run *run)
{
    CCM_CLEANUP(ccm_freep) struct node_item **items = calloc(run->len + 1, sizeof(*items));
    size_t len = 0;
    int r = 0;

    if (items == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < run->len; i++) {
        if (item_is_to_forward(&run->items[i])) {
            items[len++] = &run->items[i];
        }
    }
    for (size_t first = 0; first < len && r == 0;) {
        struct group group = { .run = run, .call = node_run_call(run), .items = items + first };

        while (first + group.len < len && group.len < NODE_BATCH_MAX &&
               strcmp(items[first + group.len]->subject.region, items[first]->subject.region) ==
                   0) {
            group.len++;
        }
        r = group_forward(&group);
        first += group.len;
    }
    return r;
}
