#include "lbc/vswitch.h"

#include "lbc/instance.h"
#include "util/book.h"
#include "util/cleanup.h"
#include "util/lease_event.h"
#include "util/quota_use.h"
#include "util/text.h"

#include <stdlib.h>

struct vswitch {
    struct ccm_strmap *users; /* keys of Services */
    int64_t read_ms;          /* monotonic: when its turn was last taken; 0 = never */
    struct lbc_vswitch_use use;
    bool near;
};

struct lbc_vswitches {
    const struct ccm_host *host;
    const struct lbc_product *product;
    struct ccm_book items;       /* its lock guards all below */
    struct lbc_vswitch_use told; /* as in the metrics */
    bool failed;                 /* the last read; so it is logged once */
};

/* --- the set --- */

static void vswitch_free(void *arg)
{
    struct vswitch *item = arg;

    ccm_strmap_free(item->users);
    free(item);
}

struct lbc_vswitches *lbc_vswitches_new(const struct ccm_host *host,
                                        const struct lbc_product *product)
{
    struct lbc_vswitches *set = calloc(1, sizeof(*set));

    if (set == NULL) {
        return NULL;
    }
    set->host = host;
    set->product = product;
    if (ccm_book_init(&set->items, vswitch_free) < 0) {
        free(set);
        return NULL;
    }
    return set;
}

void lbc_vswitches_free(struct lbc_vswitches *set)
{
    if (set == NULL) {
        return;
    }
    ccm_book_fini(&set->items);
    free(set);
}

/* Made when missing; NULL on ENOMEM. */
static struct vswitch *vswitch_get(struct lbc_vswitches *set, const char *id)
{
    struct vswitch *item = ccm_strmap_get(set->items.map, id);

    if (item != NULL) {
        return item;
    }
    item = calloc(1, sizeof(*item));
    if (item == NULL) {
        return NULL;
    }
    item->users = ccm_strmap_new(NULL);
    if (item->users == NULL || ccm_strmap_set(set->items.map, id, item) < 0) {
        vswitch_free(item);
        return NULL;
    }
    return item;
}

/* --- what is told --- */

/* Without the figures of the moment: else each address would be an event. */
static void vswitch_stand(const struct lbc_vswitches *set, const char *id,
                          const struct vswitch *item)
{
    CCM_CLEANUP(ccm_freep) char *topic = ccm_text_format("vswitch-%s", id);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 900 };

    if (item->near) {
        ccm_buf_addf(&text,
                     "vSwitch %s: %d %% or more of its %llu addresses are used; without a free "
                     "one the cloud makes no load balancer there: free some, or let new load "
                     "balancers stand in another vSwitch (%s)",
                     id, CCM_QUOTA_NEAR, (unsigned long long)item->use.total,
                     set->product->vswitch_from);
    }

    const struct ccm_lease_standing what = {
        .warning = true,
        .topic = topic,
        .reason = item->near ? "QuotaNear" : "",
        .message = ccm_buf_str(&text),
    };

    if (topic != NULL) {
        ccm_lease_stand(set->host, set->product->component, &what);
    }
}

static void vswitch_tell(const struct lbc_vswitches *set, const char *id, struct vswitch *item)
{
    const bool was_near = item->near;

    item->near = ccm_quota_is_near(item->use.used, item->use.total, was_near);
    if (item->near || was_near) {
        ccm_quota_note(set->host, id, "addresses of the vSwitch", item->use.used,
                       item->near ? item->use.total : 0);
        vswitch_stand(set, id, item);
    }
}

static bool use_is_fuller(const struct lbc_vswitch_use *one, const struct lbc_vswitch_use *other)
{
    return one->total > 0 &&
           (other->total == 0 || one->used * other->total > other->used * one->total);
}

/* Of the one that is fullest. */
static void vswitches_measure(struct lbc_vswitches *set)
{
    struct lbc_vswitch_use top = { 0, 0 };
    void *cursor = NULL;
    void *value = NULL;
    const char *id = NULL;

    while (ccm_strmap_next(set->items.map, &cursor, &id, &value)) {
        const struct vswitch *item = value;

        if (use_is_fuller(&item->use, &top)) {
            top = item->use;
        }
    }
    if (top.used != set->told.used || top.total != set->told.total) {
        set->told = top;
        ccm_quota_measure(set->host, set->product->type, "addresses-per-vswitch", top.used,
                          top.total);
    }
}

/* --- who stands where, and when it is read --- */

static bool ids_have(const char *const *ids, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++) {
        if (ccm_text_equal(ids[i], id)) {
            return true;
        }
    }
    return false;
}

static void vswitches_leave(struct lbc_vswitches *set, const char *key, const char *const *ids,
                            size_t count)
{
    void *cursor = NULL;
    void *value = NULL;
    const char *id = NULL;

    while (ccm_strmap_next(set->items.map, &cursor, &id, &value)) {
        struct vswitch *item = value;

        if (ids_have(ids, count, id)) {
            continue;
        }
        ccm_strmap_del(item->users, key);
        if (ccm_strmap_len(item->users) == 0) {
            item->use = (struct lbc_vswitch_use){ 0, 0 };
            vswitch_tell(set, id, item);
            ccm_strmap_del(set->items.map, id);
        }
    }
}

void lbc_vswitches_hold(struct lbc_vswitches *set, const char *key, const char *const *ids,
                        size_t count)
{
    (void)ccm_book_open(&set->items);
    vswitches_leave(set, key, ids, count);
    for (size_t i = 0; i < count; i++) {
        struct vswitch *item = vswitch_get(set, ids[i]);

        if (item != NULL && ccm_strmap_set(item->users, key, NULL) < 0 &&
            ccm_strmap_len(item->users) == 0) {
            ccm_strmap_del(set->items.map, ids[i]);
        }
    }
    vswitches_measure(set);
    ccm_book_close(&set->items);
}

bool lbc_vswitches_take_turn(struct lbc_vswitches *set, const char *id, int64_t interval_ms)
{
    const int64_t now = set->host->now_ms(set->host);
    bool due = false;

    struct vswitch *item = ccm_strmap_get(ccm_book_open(&set->items), id);

    if (item != NULL && (item->read_ms == 0 || now - item->read_ms >= interval_ms)) {
        item->read_ms = now;
        due = true;
    }
    ccm_book_close(&set->items);
    return due;
}

void lbc_vswitches_return_turn(struct lbc_vswitches *set, const char *id)
{
    struct vswitch *item = ccm_strmap_get(ccm_book_open(&set->items), id);

    if (item != NULL) {
        item->read_ms = 0;
    }
    ccm_book_close(&set->items);
}

void lbc_vswitches_record(struct lbc_vswitches *set, const char *id,
                          const struct lbc_vswitch_use *use)
{
    struct vswitch *item = ccm_strmap_get(ccm_book_open(&set->items), id);

    set->failed = false;
    if (item != NULL) {
        item->use = *use;
        vswitch_tell(set, id, item);
        vswitches_measure(set);
    }
    ccm_book_close(&set->items);
}

/* --- in a pass --- */

static void vswitch_log(struct lbc_vswitches *set, const struct ccm_error *err)
{
    (void)ccm_book_open(&set->items);
    const bool first = !set->failed;

    set->failed = true;
    ccm_book_close(&set->items);
    if (first) {
        set->host->log(set->host, CCM_LEVEL_WARN, NULL,
                       "how many addresses vSwitches have left is not known: %s", err->message);
    }
}

static void vswitch_read(struct lbc_pass *pass, const char *id)
{
    struct lbc_vswitches *set = pass->lbc->vswitches;
    struct lbc_vswitch_use use = { 0, 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    const int r = pass->lbc->ops->read->vswitch(pass, id, &use, &err);

    if (r == 0) {
        lbc_vswitches_record(set, id, &use);
    } else if (lbc_error_is_put_off(&err)) {
        lbc_vswitches_return_turn(set, id);
    } else if (err.kind != CCM_ERROR_CANCELLED) {
        vswitch_log(set, &err);
    }
}

void lbc_vswitch_look(struct lbc_pass *pass)
{
    const struct lbc_read_ops *read = pass->lbc->ops->read;
    const struct ccm_host *host = pass->lbc->host;
    const char *ids[LBC_VSWITCHES_MAX];
    size_t count = 0;

    if (pass->lbc->dry || read->vswitches == NULL) {
        return;
    }
    if (lbc_pass_lb(pass)->id == NULL || host->option_int(host, NULL, lbc_opt_health.name) == 0) {
        lbc_vswitch_forget(pass->lbc, pass->entry->key);
        return;
    }
    if (!pass->audit) {
        return;
    }
    count = read->vswitches(pass->entry->state, ids, LBC_VSWITCHES_MAX);
    lbc_vswitches_hold(pass->lbc->vswitches, pass->entry->key, ids, count);
    for (size_t i = 0; i < count; i++) {
        if (lbc_vswitches_take_turn(pass->lbc->vswitches, ids[i], pass->lbc->audit.interval_ms)) {
            vswitch_read(pass, ids[i]);
        }
    }
}

void lbc_vswitch_forget(const struct lbc_instance *lbc, const char *key)
{
    lbc_vswitches_hold(lbc->vswitches, key, NULL, 0);
}
