#include "inventory.h"

#include "api_group.h"
#include "api_lb.h"
#include "api_listener.h"
#include "lbc/model/owner.h"
#include "lbc/pass.h"
#include "names.h"
#include "nlb.h"
#include "read.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* What belongs to one Service. */
struct item {
    bool found;
    bool twice; /* two load balancers carry the tag: the Service has to be told, by its own look */
    struct nlb_state state;
};

struct nlb_inventory {
    const char *cluster_id;      /* while it is read */
    struct ccm_strmap *items;    /* by name of the load balancer, which is also its ownership tag */
    struct ccm_strmap *by_lb;    /* id of the load balancer -> item, not owned */
    struct ccm_strmap *by_group; /* id of the group -> item, not owned */
};

static void item_free(void *value)
{
    struct item *item = value;

    if (item != NULL) {
        nlb_state_fini(&item->state);
    }
    free(item);
}

void nlb_inventory_free(struct nlb_inventory *inventory)
{
    if (inventory == NULL) {
        return;
    }
    ccm_strmap_free(inventory->by_lb);
    ccm_strmap_free(inventory->by_group);
    ccm_strmap_free(inventory->items);
    free(inventory);
}

static void inventory_freep(struct nlb_inventory **inventory)
{
    nlb_inventory_free(*inventory);
}

/* An empty item for each that is expected. */
static struct nlb_inventory *inventory_new(const struct ccm_strmap *expected)
{
    CCM_CLEANUP(inventory_freep) struct nlb_inventory *inventory = calloc(1, sizeof(*inventory));
    void *cursor = NULL;
    const char *name = NULL;

    if (inventory == NULL) {
        return NULL;
    }
    inventory->items = ccm_strmap_new(item_free);
    inventory->by_lb = ccm_strmap_new(NULL);
    inventory->by_group = ccm_strmap_new(NULL);
    if (inventory->items == NULL || inventory->by_lb == NULL || inventory->by_group == NULL) {
        return NULL;
    }
    while (ccm_strmap_next(expected, &cursor, &name, NULL) != 0) {
        struct item *item = calloc(1, sizeof(*item));

        if (item == NULL || ccm_strmap_set(inventory->items, name, item) < 0) {
            free(item);
            return NULL;
        }
    }
    return CCM_STEAL(inventory);
}

/* The item that a resource with these tags belongs to. */
static struct item *inventory_find_owner(const struct nlb_inventory *inventory,
                                         const struct lbc_tags *tags)
{
    const char *owner = lbc_tags_get(tags, NLB_TAG_OWNER);

    return owner == NULL ||
                   !ccm_text_equal(lbc_tags_get(tags, NLB_TAG_CLUSTER), inventory->cluster_id)
               ? NULL
               : ccm_strmap_get(inventory->items, owner);
}

static int inventory_add_lb(void *arg, const cJSON *json, struct ccm_error *err)
{
    struct nlb_inventory *inventory = arg;
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb lb = { 0 };
    struct item *item;
    int r = nlb_read_parse_lb(json, &lb);

    if (r < 0) {
        return alilb_refuse(r, "load balancer", err);
    }
    item = inventory_find_owner(inventory, &lb.tags);
    if (item == NULL || ccm_strmap_has(inventory->by_lb, lb.id) != 0) {
        return 0;
    }
    item->twice = item->found;
    item->found = true;
    r = ccm_strmap_set(inventory->by_lb, lb.id, item);
    if (r == 0 && !item->twice) {
        item->state.lb = lb;
        memset(&lb, 0, sizeof(lb));
    }
    return r < 0 ? ccm_error_nomem(err) : 0;
}

static int inventory_add_listener(void *arg, const cJSON *json, struct ccm_error *err)
{
    struct nlb_inventory *inventory = arg;
    struct item *item = ccm_strmap_get(inventory->by_lb, ccm_json_text(json, "LoadBalancerId"));
    struct nlb_listener *listener = NULL;
    int r;

    if (item == NULL ||
        nlb_state_listener_by_id(&item->state, ccm_json_text(json, "ListenerId")) != NULL) {
        return 0;
    }
    listener = nlb_state_new_listener(&item->state);
    r = listener == NULL ? -ENOMEM : nlb_read_parse_listener(json, listener);
    return r < 0 ? alilb_refuse(r, "listener", err) : 0;
}

static int inventory_add_group(void *arg, const cJSON *json, struct ccm_error *err)
{
    struct nlb_inventory *inventory = arg;
    CCM_CLEANUP(nlb_group_fini) struct nlb_group group = { 0 };
    struct nlb_group *kept = NULL;
    struct item *item;
    const int r = nlb_read_parse_group(json, &group);

    if (r < 0) {
        return alilb_refuse(r, "server group", err);
    }
    item = inventory_find_owner(inventory, &group.tags);
    if (item == NULL || ccm_strmap_has(inventory->by_group, group.lbc.id) != 0) {
        return 0;
    }
    kept = nlb_state_new_group(&item->state);
    if (kept == NULL || ccm_strmap_set(inventory->by_group, group.lbc.id, item) < 0) {
        return ccm_error_nomem(err);
    }
    *kept = group;
    memset(&group, 0, sizeof(group));
    return 0;
}

static int inventory_add_server(void *arg, const cJSON *json, struct ccm_error *err)
{
    struct nlb_inventory *inventory = arg;
    const char *group_id = ccm_json_text(json, "ServerGroupId");
    const struct item *item = ccm_strmap_get(inventory->by_group, group_id);
    struct nlb_group *group = item == NULL ? NULL : nlb_state_group_by_id(&item->state, group_id);
    const int r = group == NULL ? 0 : alilb_parse_backend(json, &group->lbc);

    return r < 0 ? alilb_refuse(r, "server", err) : 0;
}

static void set_known(struct nlb_inventory *inventory, bool listeners, bool groups)
{
    void *cursor = NULL;
    void *value = NULL;

    while (ccm_strmap_next(inventory->items, &cursor, NULL, &value) != 0) {
        struct nlb_state *state = &((struct item *)value)->state;

        state->lbc.listeners_known = listeners;
        state->lbc.groups_known = groups;
        for (size_t i = 0; groups && i < state->lbc.group_count; i++) {
            nlb_group_at(state, i)->lbc.unread = false;
        }
    }
}

static int read_all(struct alilb_call *call, struct nlb_inventory *inventory, bool *ret_useful,
                    struct ccm_error *err)
{
    const char *cluster = inventory->cluster_id;
    int r = alilb_list(call, &nlb_api_lbs, ALILB_TEXTS(NLB_TAG_CLUSTER, cluster), inventory_add_lb,
                       inventory, err);

    /* To the end or not at all: else a second owner of a tag could go unseen. */
    *ret_useful = r == 0;
    if (r < 0) {
        return r;
    }
    r = alilb_list(call, &nlb_api_listeners, ALILB_TEXTS(NULL), inventory_add_listener, inventory,
                   err);
    if (r < 0) {
        return r;
    }
    set_known(inventory, true, false);
    r = alilb_list(call, &nlb_api_groups, ALILB_TEXTS(NLB_TAG_CLUSTER, cluster),
                   inventory_add_group, inventory, err);
    r = r < 0 ? r
              : alilb_list(call, &nlb_api_servers, ALILB_TEXTS(NULL), inventory_add_server,
                           inventory, err);
    if (r == 0) {
        set_known(inventory, true, true);
    }
    return r;
}

int nlb_inventory_read(struct alilb_call *call, const struct ccm_strmap *expected,
                       struct nlb_inventory **ret, struct ccm_error *err)
{
    CCM_CLEANUP(inventory_freep) struct nlb_inventory *inventory = inventory_new(expected);
    bool useful = false;
    int r;

    *ret = NULL;
    if (inventory == NULL) {
        return ccm_error_nomem(err);
    }
    inventory->cluster_id = call->cluster_id;
    r = read_all(call, inventory, &useful, err);
    inventory->cluster_id = NULL;
    if (useful) {
        *ret = CCM_STEAL(inventory);
    }
    return r;
}

/* One of our listeners uses a group that was not listed: its tags are gone. So it may be when
 * memory is too short to tell: then the Service looks for itself. */
static bool lacks_group(const struct nlb_state *state, const struct ccm_service *service,
                        const char *cluster_id)
{
    for (size_t i = 0; i < state->lbc.listener_count; i++) {
        const struct nlb_listener *one = nlb_listener_at(state, i);
        enum lbc_owner owner = LBC_OWNER_NONE;

        if (one->lbc.group_id != NULL && nlb_state_group_by_id(state, one->lbc.group_id) == NULL &&
            (nlb_name_parse(one->lbc.description, true, &service->meta, cluster_id, &owner) < 0 ||
             owner == LBC_OWNER_OURS)) {
            return true;
        }
    }
    return false;
}

bool nlb_inventory_take(struct nlb_inventory *inventory, const struct ccm_service *service,
                        const char *cluster_id, struct nlb_state *state)
{
    char name[LBC_OWNER_LB_NAME];
    struct item *item;

    lbc_owner_lb_name(&service->meta, name);
    item = ccm_strmap_take(inventory->items, name);

    const bool usable = item != NULL && item->found && !item->twice;

    if (usable) {
        if (!item->state.lbc.listeners_known) {
            lbc_state_forget_listeners(&item->state.lbc);
        }
        if (!item->state.lbc.groups_known || lacks_group(&item->state, service, cluster_id)) {
            lbc_state_forget_groups(&item->state.lbc);
        }
        *state = item->state;
        memset(&item->state, 0, sizeof(item->state));
    }
    item_free(item);
    return usable;
}

/* --- the table --- */

static int inventory_load(struct lbc_instance *lbc, const struct ccm_request *req,
                          const struct ccm_strmap *expected, void **ret, struct ccm_error *err)
{
    struct nlb_inventory *inventory = NULL;
    struct alilb_call call = alilb_call_for_all(lbc, req);
    const int r = nlb_inventory_read(&call, expected, &inventory, err);

    *ret = inventory;
    return r;
}

static bool inventory_take(void *content, struct lbc_instance *lbc,
                           const struct ccm_service *service, void *state)
{
    return nlb_inventory_take(content, service, lbc_cluster_id(lbc), state);
}

static void free_content(void *content)
{
    nlb_inventory_free(content);
}

const struct lbc_inventory_ops nlb_inventory_ops = {
    .load = inventory_load,
    .take = inventory_take,
    .free = free_content,
};
