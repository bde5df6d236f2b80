#include "lingjun.h"

#include "util/text.h"

#include <string.h>

static bool item_is_lost_lingjun(const struct node_item *item)
{
    return item->subject.kind == NODE_LINGJUN && !item->subject.excluded &&
           node_item_object(item)->ready == CCM_CONDITION_UNKNOWN;
}

/* So many are asked about: whoever says of itself that it is ready need not be there. */
#define WITNESSES 3

/* One whose node is ready, the first behind `skip` others. "" = there is none. */
static int lingjun_find_witness(const struct node_run *run, size_t skip, char *ret, size_t size)
{
    const struct ccm_host *host = run->control->host;
    const struct ccm_object *const *objects = NULL;
    size_t count = 0;
    const int r = host->list(host, CCM_KIND_NODE, NULL, NULL, &objects, &count);

    ret[0] = '\0';
    for (size_t i = 0; r == 0 && i < count && ret[0] == '\0'; i++) {
        const struct ccm_node *node = (const struct ccm_node *)objects[i];
        struct node_subject subject;

        node_subject_init(&subject, node);
        if (subject.kind == NODE_LINGJUN && !subject.excluded &&
            node->ready == CCM_CONDITION_TRUE && strlen(node->provider_id) < size && skip-- == 0) {
            ccm_text_copy(ret, size, node->provider_id);
        }
    }
    host->release_list(host, objects, count);
    return r;
}

/* 1: it is there, 0: it is not, negative with err: nobody knows. */
static int lingjun_ask(const struct node_run *run, const char *id, struct ccm_error *err)
{
    const struct node_call call = node_run_call(run);
    const int r = node_api_lingjun(&call, id, err);

    if (r < 0 && strstr(err->code, "RESOURCE_NOT_FOUND") == NULL &&
        strstr(err->message, "RESOURCE_NOT_FOUND") == NULL) {
        return r;
    }
    return r == 0 ? 1 : 0;
}

/* Whether the cloud shows one that has to be there, as lingjun_ask(). */
static int item_find_witness(const struct node_run *run, struct node_item *item,
                             struct ccm_error *err)
{
    int there = 0;

    for (size_t i = 0; i < WITNESSES && there == 0; i++) {
        if (lingjun_find_witness(run, i, item->witness, sizeof(item->witness)) < 0 ||
            item->witness[0] == '\0') {
            return 0;
        }
        ccm_error_clear(err);
        there = lingjun_ask(run, item->witness, err);
    }
    return there;
}

static void item_look(struct node_run *run, struct node_item *item)
{
    struct ccm_error err = CCM_ERROR_INIT;
    int there = lingjun_ask(run, node_item_object(item)->provider_id, &err);

    if (there == 0) {
        const int witness = item_find_witness(run, item, &err);

        item->answer = witness == 1 ? NODE_ABSENT : NODE_UNPROVED;
        there = witness < 0 ? witness : 0;
    } else if (there == 1) {
        item->answer = NODE_FOUND;
    }
    if (there < 0) {
        node_run_fail(run, item, &err, false);
    }
}

void node_lingjun_look(struct node_run *run)
{
    for (size_t i = 0; i < run->len; i++) {
        if (item_is_lost_lingjun(&run->items[i])) {
            item_look(run, &run->items[i]);
        }
    }
}
