#include "address.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Nodes that are asked about in one call, by their addresses. */
struct query_batch {
    struct node_run *run;
    struct node_item **items; /* borrowed */
    size_t len;
    struct ccm_strmap *found; /* instance -> its item of an answer */
};

/* The only IPv4 address inside, or NULL. */
static const char *item_find_address(const struct node_item *item)
{
    const struct ccm_node *node = node_item_object(item);
    const char *found = NULL;

    for (uint64_t i = 0; i < node->address_count; i++) {
        if (strcmp(node->addresses[i]->type, "InternalIP") != 0 ||
            strchr(node->addresses[i]->address, ':') != NULL) {
            continue;
        }
        if (found != NULL) {
            return NULL;
        }
        found = node->addresses[i]->address;
    }
    return found;
}

static void item_refuse(struct node_run *run, struct node_item *item, const char *why)
{
    struct ccm_error err = CCM_ERROR_INIT;

    (void)ccm_error_set(&err, 0, CCM_ERROR_NOT_FOUND,
                        "no provider id, and %s: start kubelet with --provider-id",
                        why); /* the failure is kept in the item */
    node_run_fail(run, item, &err, false);
}

/* Whether another node says that it has the instance already. */
static bool is_taken(const struct node_run *run, const struct node_item *item, const char *id)
{
    const struct ccm_host *host = run->control->host;
    const struct ccm_object *const *objects = NULL;
    size_t count = 0;
    bool taken = host->list(host, CCM_KIND_NODE, "server", id, &objects, &count) < 0;

    for (size_t i = 0; i < count && !taken; i++) {
        taken = strcmp(objects[i]->name, item->object->name) != 0;
    }
    host->release_list(host, objects, count);
    return taken;
}

static void item_match(const struct query_batch *batch, struct node_item *item)
{
    const char *address = item_find_address(item);
    const cJSON *match = NULL;
    const char *id = NULL;
    void *cursor = NULL;
    void *value = NULL;
    size_t matches = 0;

    while (ccm_strmap_next(batch->found, &cursor, &id, &value) != 0) {
        if (node_machine_has_address(value, address)) {
            match = value;
            matches++;
        }
    }
    if (matches != 1) {
        item_refuse(batch->run, item,
                    matches == 0 ? "no instance of the VPC has its InternalIP"
                                 : "several instances of the VPC have its InternalIP");
        return;
    }
    id = ccm_json_text(match, "InstanceId");
    if (is_taken(batch->run, item, id)) {
        item_refuse(batch->run, item, "the instance with its InternalIP is another node's");
        return;
    }
    item->answer = NODE_FOUND;
    item->machine = match;
    ccm_text_copy(item->subject.region, sizeof(item->subject.region),
                  ccm_json_text(match, "RegionId"));
    ccm_text_copy(item->subject.instance, sizeof(item->subject.instance), id);
}

static int batch_query(struct query_batch *batch)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *ips = ccm_strmap_new(NULL);
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *found = ccm_strmap_new(NULL);
    const struct node_call call = node_run_call(batch->run);
    struct ccm_error err = CCM_ERROR_INIT;
    int r = ips == NULL || found == NULL ? -ENOMEM : 0;

    for (size_t i = 0; i < batch->len && r == 0; i++) {
        r = ccm_strmap_set(ips, item_find_address(batch->items[i]), NULL);
    }
    if (r < 0) {
        return r;
    }
    r = node_api_addresses(&call, ips, &batch->run->answers, found, &err);
    batch->found = found;
    for (size_t i = 0; i < batch->len; i++) {
        if (r < 0) {
            node_run_fail(batch->run, batch->items[i], &err, true);
        } else {
            item_match(batch, batch->items[i]);
        }
    }
    return 0;
}

int node_address_look(struct node_run *run)
{
    CCM_CLEANUP(ccm_freep) struct node_item **items = calloc(run->len + 1, sizeof(*items));
    size_t len = 0;
    int r = 0;

    if (items == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < run->len; i++) {
        struct node_item *item = &run->items[i];

        if (item->subject.kind != NODE_UNNAMED || !item->subject.fresh || item->subject.excluded) {
            continue;
        }
        if (item_find_address(item) == NULL) {
            item_refuse(run, item, "not exactly one InternalIP to find its instance by");
        } else {
            items[len++] = item;
        }
    }
    for (size_t first = 0; first < len && r == 0; first += NODE_BATCH_MAX) {
        const size_t rest = len - first;
        struct query_batch batch = { .run = run,
                                     .items = items + first,
                                     .len = rest < NODE_BATCH_MAX ? rest : NODE_BATCH_MAX };

        r = batch_query(&batch);
    }
    return r;
}
