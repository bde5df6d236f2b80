#include "duplicate.h"

#include "events.h"
#include "util/text.h"

#include <string.h>

/* Another node with the same region and instance; NULL: there is none. */
static const char *duplicate_find(const struct node_item *item,
                                  const struct ccm_object *const *objects, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct node_subject other;

        node_subject_init(&other, (const struct ccm_node *)objects[i]);
        if (strcmp(objects[i]->name, item->object->name) != 0 && other.kind == NODE_ECS &&
            strcmp(other.instance, item->subject.instance) == 0 &&
            strcmp(other.region, item->subject.region) == 0) {
            return objects[i]->name;
        }
    }
    return NULL;
}

static void duplicate_emit(struct node_run *run, const struct node_item *item)
{
    const struct ccm_host *host = run->control->host;
    const struct ccm_object *const *objects = NULL;
    const char *other = NULL;
    size_t count = 0;
    char text[400] = "";

    if (host->list(host, CCM_KIND_NODE, "server", item->subject.instance, &objects, &count) < 0) {
        return; /* nothing is known, and nothing is said */
    }
    other = duplicate_find(item, objects, count);
    if (other != NULL) {
        ccm_text_printf(
            text, sizeof(text),
            "Node %.200s has the same instance %.70s: delete the one whose kubelet does "
            "not run any more",
            other, item->subject.instance);
    }
    node_stand(run->control, item->object,
               &(const struct node_standing){
                   .reason = "DuplicateProviderID", .topic = NODE_TOPIC_TWIN, .message = text });
    host->release_list(host, objects, count);
}

void node_duplicates_emit(struct node_run *run)
{
    for (size_t i = 0; i < run->len; i++) {
        if (run->items[i].subject.kind == NODE_ECS && !run->items[i].subject.excluded) {
            duplicate_emit(run, &run->items[i]);
        }
    }
}
