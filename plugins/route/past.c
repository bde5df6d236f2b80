#include "past.h"

#include "util/array.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct route_pasts {
    pthread_mutex_t lock; /* guards what follows; a leaf lock */
    struct route_past *items;
    size_t len;
    size_t cap;
};

struct route_pasts *route_pasts_new(void)
{
    struct route_pasts *pasts = calloc(1, sizeof(*pasts));

    if (pasts != NULL && pthread_mutex_init(&pasts->lock, NULL) != 0) {
        free(pasts);
        return NULL;
    }
    return pasts;
}

void route_past_list_free(struct route_past *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(list[i].node);
    }
    free(list);
}

void route_pasts_free(struct route_pasts *pasts)
{
    if (pasts != NULL) {
        route_past_list_free(pasts->items, pasts->len);
        ccm_lock_fini(&pasts->lock);
        free(pasts);
    }
}

static bool past_is_same(const struct route_past *a, const struct route_past *b)
{
    return route_net_compare(&a->net, &b->net) == 0 && strcmp(a->instance, b->instance) == 0 &&
           strcmp(a->node, b->node) == 0;
}

static void drop_locked(struct route_pasts *pasts, size_t index)
{
    free(pasts->items[index].node);
    memmove(pasts->items + index, pasts->items + index + 1,
            (pasts->len - index - 1) * sizeof(*pasts->items));
    pasts->len--;
}

/* Without memory it is forgotten: then it becomes an orphan. */
static void pasts_add_one(struct route_pasts *pasts, const struct route_past *past)
{
    char *name = strdup(past->node);
    bool known = false;

    ccm_lock(&pasts->lock);
    for (size_t i = 0; !known && i < pasts->len; i++) {
        known = past_is_same(&pasts->items[i], past);
        if (known) {
            pasts->items[i].loss = past->loss;
            pasts->items[i].since_ms = past->since_ms;
        }
    }
    if (!known && pasts->len >= ROUTE_PASTS_MAX) {
        drop_locked(pasts, 0);
    }
    if (!known && name != NULL &&
        ccm_array_grow(&pasts->items, &pasts->cap, pasts->len + 1, sizeof(*pasts->items)) == 0) {
        pasts->items[pasts->len] = *past;
        pasts->items[pasts->len++].node = name;
        name = NULL;
    }
    ccm_unlock(&pasts->lock);
    free(name);
}

static bool node_wants_route(const struct route_node *node, const struct ccm_cidr *net,
                             const char *instance)
{
    for (size_t i = 0; i < node->net_count; i++) {
        if (route_net_compare(&node->nets[i], net) == 0) {
            return strcmp(node->instance, instance) == 0;
        }
    }
    return false;
}

bool route_pasts_record(struct route_pasts *pasts, const struct ccm_node *before,
                        const struct ccm_node *after, enum route_loss loss, int64_t now_ms)
{
    struct route_node old;
    struct route_node new = { 0 };
    bool any = false;

    /* Both families in any case: an entry that is not listed is not deleted. */
    route_node_init(&old, before, "", true);
    if (after != NULL) {
        route_node_init(&new, after, "", true);
    }
    if (old.class_ == ROUTE_NODE_EXCLUDED || new.class_ == ROUTE_NODE_EXCLUDED ||
        old.instance[0] == '\0') {
        return false;
    }
    for (size_t i = 0; i < old.net_count; i++) {
        if (!node_wants_route(&new, &old.nets[i], old.instance)) {
            struct route_past past = {
                .node = (char *)before->meta.name,
                .net = old.nets[i],
                .loss = loss,
                .since_ms = now_ms,
            };

            memcpy(past.instance, old.instance, sizeof(past.instance));
            pasts_add_one(pasts, &past);
            any = true;
        }
    }
    return any;
}

static int pasts_copy_locked(const struct route_pasts *pasts, struct route_past **ret,
                             size_t *ret_count)
{
    struct route_past *list = calloc(pasts->len + 1, sizeof(*list));

    if (list == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < pasts->len; i++) {
        list[i] = pasts->items[i];
        list[i].node = strdup(pasts->items[i].node);
        if (list[i].node == NULL) {
            route_past_list_free(list, i);
            return -ENOMEM;
        }
    }
    *ret = list;
    *ret_count = pasts->len;
    return 0;
}

int route_pasts_copy(struct route_pasts *pasts, struct route_past **ret, size_t *ret_count)
{
    ccm_lock(&pasts->lock);

    const int r = pasts_copy_locked(pasts, ret, ret_count);

    ccm_unlock(&pasts->lock);
    return r;
}

bool route_pasts_has(struct route_pasts *pasts, const char *node)
{
    bool found = false;

    ccm_lock(&pasts->lock);
    for (size_t i = 0; !found && i < pasts->len; i++) {
        found = strcmp(pasts->items[i].node, node) == 0;
    }
    ccm_unlock(&pasts->lock);
    return found;
}

void route_pasts_forget(struct route_pasts *pasts, const struct route_past *past)
{
    ccm_lock(&pasts->lock);
    for (size_t i = 0; i < pasts->len; i++) {
        if (past_is_same(&pasts->items[i], past)) {
            drop_locked(pasts, i);
            break;
        }
    }
    ccm_unlock(&pasts->lock);
}
