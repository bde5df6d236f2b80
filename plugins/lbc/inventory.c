#include "lbc/inventory.h"
#include "lbc/names.h"

#include "lbc/controller.h"
#include "lbc/model/class.h"
#include "lbc/model/owner.h"
#include "lbc/service/hash.h"
#include "util/cleanup.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define WORTH_MIN 2      /* Services; for fewer, looking for each costs no more */
#define KEEP_MS   120000 /* what nobody took by then is old */

enum phase {
    NEW,     /* nobody has worked yet */
    WANTED,  /* there are Services that gain by it */
    READING, /* one thread reads; nobody else touches `expected` and `items` */
    READY,
    OVER,
};

struct lbc_inventory {
    pthread_mutex_t lock; /* guards all. Only host->list(), once, and host->enqueue() are called
                             under it, and ops->settle() */
    enum phase phase;
    int64_t until_ms;
    struct ccm_strmap *expected; /* by name of the load balancer, who has not asked yet */
    struct ccm_strmap *waiting;  /* keys to be enqueued -> uint64_t, lane */
    struct ccm_strmap
        *edited;     /* who has changed since the reading began, by name of the load balancer */
    bool all_edited; /* nobody knows who: there was no memory for it */
    struct lbc_survey *items;
};

struct lbc_inventory *lbc_inventory_new(void)
{
    struct lbc_inventory *inventory = calloc(1, sizeof(*inventory));

    if (inventory == NULL) {
        return NULL;
    }
    inventory->waiting = ccm_strmap_new(free);
    inventory->edited = ccm_strmap_new(NULL);
    if (inventory->waiting == NULL || inventory->edited == NULL ||
        pthread_mutex_init(&inventory->lock, NULL) != 0) {
        ccm_strmap_free(inventory->waiting);
        ccm_strmap_free(inventory->edited);
        free(inventory);
        return NULL;
    }
    return inventory;
}

static void end_locked(struct lbc_inventory *inventory)
{
    ccm_strmap_free(inventory->expected);
    ccm_strmap_free(inventory->edited);
    inventory->expected = NULL;
    inventory->edited = NULL;
    lbc_survey_free(inventory->items);
    inventory->items = NULL;
    inventory->phase = OVER;
}

void lbc_inventory_free(struct lbc_inventory *inventory)
{
    if (inventory == NULL) {
        return;
    }
    end_locked(inventory);
    ccm_strmap_free(inventory->waiting);
    ccm_lock_fini(&inventory->lock);
    free(inventory);
}

/* --- whom it is for --- */

/* Those that gain: an earlier run finished them, with a load balancer of their own. */
static enum lbc_claim inventory_claim(struct lbc_instance *lbc, const struct ccm_service *service)
{
    return lbc_owns(lbc, service) && !lbc_class_needs_delete(service) &&
                   ccm_object_label(&service->meta, lbc_names.hash_label) != NULL &&
                   ccm_text_empty(lbc_reused_id(lbc, service))
               ? LBC_CLAIM_OWN
               : LBC_CLAIM_NONE;
}

/* --- one reading --- */

static void wake_locked(struct lbc_instance *lbc)
{
    struct lbc_inventory *inventory = lbc->inventory;
    void *cursor = NULL;
    void *lane = NULL;
    const char *key = NULL;

    while (ccm_strmap_next(inventory->waiting, &cursor, &key, &lane) != 0) {
        lbc->host->enqueue(lbc->host, key, *(const uint64_t *)lane, 0);
        ccm_strmap_del(inventory->waiting, key);
    }
}

int lbc_inventory_read(struct lbc_instance *lbc, const struct ccm_request *req,
                       const struct ccm_strmap *expected, struct lbc_survey **ret,
                       struct ccm_error *err)
{
    const struct lbc_inventory_ops *ops = lbc->ops->inventory;
    struct lbc_survey *items = lbc_survey_new(lbc, expected);
    const int r = items == NULL ? ccm_error_nomem(err) : ops->list(lbc, req, items, err);

    *ret = NULL;
    if (r < 0) {
        lbc_survey_free(items);
        return r;
    }
    *ret = items;
    return ops->fill == NULL ? 0 : ops->fill(lbc, req, items, err);
}

static void inventory_read_and_wake(struct lbc_instance *lbc, const struct ccm_request *req)
{
    struct lbc_inventory *inventory = lbc->inventory;
    struct ccm_error err = CCM_ERROR_INIT;
    struct lbc_survey *items = NULL;

    if (lbc_inventory_read(lbc, req, inventory->expected, &items, &err) < 0) {
        lbc->host->log(lbc->host, CCM_LEVEL_WARN, NULL,
                       "inventory of load balancers is not complete, each Service looks for "
                       "itself: %s",
                       err.message);
    }
    ccm_lock(&inventory->lock);
    inventory->items = items;
    inventory->phase = READY;
    inventory->until_ms = lbc->host->now_ms(lbc->host) + KEEP_MS;
    if (items == NULL) {
        end_locked(inventory);
    }
    wake_locked(lbc);
    ccm_unlock(&inventory->lock);
}

/* False: out of memory, then it looks for itself. */
static bool inventory_add_waiter_locked(struct lbc_inventory *inventory, const char *key,
                                        uint64_t lane)
{
    CCM_CLEANUP(ccm_freep) uint64_t *copy = malloc(sizeof(*copy));

    if (copy == NULL) {
        return false;
    }
    *copy = lane;
    if (ccm_strmap_set(inventory->waiting, key, copy) < 0) {
        return false;
    }
    (void)CCM_STEAL(copy); /* the map owns it now */
    return true;
}

/* Who was made later has nothing to wait for. */
static bool inventory_expects(const struct lbc_inventory *inventory,
                              const struct ccm_service *service)
{
    char name[LBC_OWNER_LB_NAME];

    lbc_owner_lb_name(&service->meta, name);
    return ccm_strmap_has(inventory->expected, name);
}

/* What this Service has to do: read, wait, or neither. */
static void enter_locked(struct lbc_instance *lbc, const struct ccm_request *req,
                         const struct ccm_service *service, bool *ret_read, bool *ret_wait)
{
    struct lbc_inventory *inventory = lbc->inventory;

    /* Only what is there when work begins counts: later Services are known from their creation. */
    if (inventory->phase == NEW) {
        inventory->expected = lbc_survey_names(lbc, inventory_claim);
        inventory->phase = WANTED;
        if (inventory->expected == NULL || ccm_strmap_len(inventory->expected) < WORTH_MIN) {
            end_locked(inventory);
        }
    }
    if ((inventory->phase != WANTED && inventory->phase != READING) ||
        inventory_claim(lbc, service) == LBC_CLAIM_NONE || !inventory_expects(inventory, service)) {
        return;
    }
    if (inventory->phase == WANTED) {
        inventory->phase = READING;
        *ret_read = true;
        return;
    }
    *ret_wait = inventory_add_waiter_locked(inventory, service->meta.key, req->lane);
}

bool lbc_inventory_prepare(struct lbc_instance *lbc, const struct ccm_request *req,
                           const struct ccm_service *service)
{
    struct lbc_inventory *inventory = lbc->inventory;
    bool read = false;
    bool wait = false;

    if (inventory == NULL || lbc->ops->inventory->list == NULL) {
        return false;
    }
    ccm_lock(&inventory->lock);
    enter_locked(lbc, req, service, &read, &wait);
    ccm_unlock(&inventory->lock);
    if (read) {
        inventory_read_and_wake(lbc, req);
    }
    return wait;
}

/* --- its use --- */

void lbc_inventory_record_edit(struct lbc_inventory *inventory, const struct ccm_object *service)
{
    char name[LBC_OWNER_LB_NAME];

    lbc_owner_lb_name(service, name);
    ccm_lock(&inventory->lock);
    if ((inventory->phase == READING || inventory->phase == READY) &&
        ccm_strmap_set(inventory->edited, name, NULL) < 0) {
        inventory->all_edited = true;
    }
    ccm_unlock(&inventory->lock);
}

/* One of our listeners uses a group that was not listed: its tags are gone. So it may be when
 * memory is too short to tell: then the Service looks for itself. */
static bool state_lacks_group(const struct lbc_instance *lbc, const struct ccm_service *service,
                              const struct lbc_state *state)
{
    for (size_t i = 0; i < state->listener_count; i++) {
        const struct lbc_listener *one = state->listeners[i];
        enum lbc_owner owner = LBC_OWNER_NONE;

        if (one->group_id != NULL && lbc_state_group_by_id(state, one->group_id) == NULL &&
            (lbc_plan_parse_owner(lbc->ops->change->rules, one->description, true, &service->meta,
                                  lbc_cluster_id(lbc), &owner) < 0 ||
             owner == LBC_OWNER_OURS)) {
            return true;
        }
    }
    return false;
}

void lbc_inventory_settle(const struct lbc_instance *lbc, const struct ccm_service *service,
                          struct lbc_state *state)
{
    if (!state->listeners_known) {
        lbc_state_forget_listeners(state);
    }
    if (!state->groups_known || state_lacks_group(lbc, service, state)) {
        lbc_state_forget_groups(state);
    }
}

static bool inventory_take_locked(struct lbc_instance *lbc, const struct ccm_service *service,
                                  struct lbc_state *state)
{
    struct lbc_inventory *inventory = lbc->inventory;
    char name[LBC_OWNER_LB_NAME];
    bool taken;

    if (inventory->phase == READY && lbc->host->now_ms(lbc->host) >= inventory->until_ms) {
        end_locked(inventory);
    }
    lbc_owner_lb_name(&service->meta, name);
    if (inventory->phase != READY || !ccm_strmap_has(inventory->expected, name)) {
        return false;
    }
    taken = !inventory->all_edited && !ccm_strmap_has(inventory->edited, name) &&
            lbc_survey_take(inventory->items, service, state);
    if (taken) {
        lbc_inventory_settle(lbc, service, state);
    }
    ccm_strmap_del(inventory->expected, name);
    if (ccm_strmap_len(inventory->expected) == 0) {
        end_locked(inventory);
    }
    return taken;
}

bool lbc_inventory_take(struct lbc_instance *lbc, const struct ccm_service *service,
                        struct lbc_state *state)
{
    struct lbc_inventory *inventory = lbc->inventory;

    if (inventory == NULL) {
        return false;
    }
    ccm_lock(&inventory->lock);
    const bool taken = inventory_take_locked(lbc, service, state);

    ccm_unlock(&inventory->lock);
    return taken;
}
