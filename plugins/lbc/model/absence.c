#include "lbc/model/absence.h"

#include "lbc/model/endpoint.h"
#include "lbc/model/node.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"
#include "util/thread.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP_MS   (INT64_C(24) * 3600 * 1000)
#define NODES_MAX 60000 /* entries, some three per node; beyond it the old ones go, then all */
#define SWEEP_MS  60000

/* An endpoint of a slice that is missed. */
struct lost_endpoint {
    char *node; /* behind the address in one block */
    int64_t since_ms;
    char address[];
};

/* Of one Service. */
struct lost_slices {
    struct ccm_strmap *endpoints; /* by address */
    int64_t since_ms;             /* of the last one that was missed; 0 = none was */
    int64_t noted_ms;             /* of the last one that went */
    bool seen;                    /* one was deleted, and none has come since */
};

struct lbc_absence {
    const struct ccm_host *host;
    pthread_mutex_t lock;        /* guards the rest; a leaf */
    struct ccm_strmap *nodes;    /* "i", "a" or "n" and the id -> struct lbc_absent */
    struct ccm_strmap *services; /* key -> struct lost_slices */
    struct ccm_strmap *frozen;   /* keys of Services */
    int64_t swept_ms;
};

static void slices_free(void *value)
{
    struct lost_slices *lost = value;

    ccm_strmap_free(lost->endpoints);
    free(lost);
}

struct lbc_absence *lbc_absence_new(const struct ccm_host *host)
{
    struct lbc_absence *absence = calloc(1, sizeof(*absence));

    if (absence == NULL) {
        return NULL;
    }
    absence->host = host;
    absence->nodes = ccm_strmap_new(free);
    absence->services = ccm_strmap_new(slices_free);
    absence->frozen = ccm_strmap_new(NULL);
    if (absence->nodes == NULL || absence->services == NULL || absence->frozen == NULL ||
        pthread_mutex_init(&absence->lock, NULL) != 0) {
        ccm_strmap_free(absence->nodes);
        ccm_strmap_free(absence->services);
        ccm_strmap_free(absence->frozen);
        free(absence);
        return NULL;
    }
    return absence;
}

void lbc_absence_free(struct lbc_absence *absence)
{
    if (absence == NULL) {
        return;
    }
    ccm_strmap_free(absence->nodes);
    ccm_strmap_free(absence->services);
    ccm_strmap_free(absence->frozen);
    ccm_lock_fini(&absence->lock);
    free(absence);
}

static bool is_missed(const struct ccm_change *change)
{
    return change->struct_size > offsetof(struct ccm_change, flags) &&
           (change->flags & CCM_CHANGE_MISSING) != 0;
}

/* --- nodes --- */

static const char *format_key(enum lbc_absence_by by, const char *id, char *buf, size_t size)
{
    ccm_text_printf(buf, size, "%c%s", "ian"[by], id);
    return buf;
}

/* What is too old; of nodes all, when there are too many. */
static void sweep_locked(struct lbc_absence *absence, int64_t now)
{
    const bool full = ccm_strmap_len(absence->nodes) >= NODES_MAX;
    void *cursor = NULL;
    const char *key = NULL;
    void *value = NULL;

    if (!full && now - absence->swept_ms < SWEEP_MS) {
        return;
    }
    absence->swept_ms = now;
    while (ccm_strmap_next(absence->nodes, &cursor, &key, &value)) {
        if (full || now - ((const struct lbc_absent *)value)->since_ms > KEEP_MS) {
            ccm_strmap_del(absence->nodes, key);
        }
    }
    cursor = NULL;
    while (ccm_strmap_next(absence->services, &cursor, &key, &value)) {
        if (now - ((const struct lost_slices *)value)->noted_ms > KEEP_MS) {
            ccm_strmap_del(absence->services, key);
        }
    }
}

static void put_node_locked(struct lbc_absence *absence, enum lbc_absence_by by, const char *id,
                            const struct lbc_absent *absent)
{
    CCM_CLEANUP(ccm_freep) struct lbc_absent *copy = malloc(sizeof(*copy));
    char key[320];

    if (copy == NULL || ccm_text_empty(id)) {
        return;
    }
    *copy = *absent;
    if (ccm_strmap_set(absence->nodes, format_key(by, id, key, sizeof(key)), copy) == 0) {
        (void)CCM_STEAL(copy); /* the map owns it now */
    }
}

static void drop_node_locked(struct lbc_absence *absence, enum lbc_absence_by by, const char *id)
{
    char key[320];

    if (!ccm_text_empty(id) && ccm_strmap_len(absence->nodes) > 0) {
        ccm_strmap_del(absence->nodes, format_key(by, id, key, sizeof(key)));
    }
}

static void set_text(char *to, size_t size, const char *text)
{
    to[0] = '\0';
    if (text != NULL && strlen(text) < size) {
        ccm_text_copy(to, size, text);
    }
}

static struct lbc_absent absent_of(const struct lbc_absence *absence, const struct ccm_node *node,
                                   bool seen)
{
    struct lbc_absent absent = { .seen = seen, .since_ms = absence->host->now_ms(absence->host) };

    set_text(absent.name, sizeof(absent.name), node->meta.name);
    set_text(absent.instance, sizeof(absent.instance), lbc_node_instance_id(node));
    return absent;
}

static void node_went_locked(struct lbc_absence *absence, const struct ccm_node *node, bool seen)
{
    const struct lbc_absent absent = absent_of(absence, node, seen);

    sweep_locked(absence, absent.since_ms);
    put_node_locked(absence, LBC_ABSENCE_BY_NAME, node->meta.name, &absent);
    put_node_locked(absence, LBC_ABSENCE_BY_INSTANCE, lbc_node_instance_id(node), &absent);
    for (uint64_t i = 0; i < node->address_count; i++) {
        if (lbc_node_is_internal(node->addresses[i])) {
            put_node_locked(absence, LBC_ABSENCE_BY_ADDRESS, node->addresses[i]->address, &absent);
        }
    }
}

static bool is_same_family(const char *a, const char *b)
{
    return (strchr(a, ':') == NULL) == (strchr(b, ':') == NULL);
}

static bool node_has_family(const struct ccm_node *node, const char *address)
{
    for (uint64_t i = 0; i < node->address_count; i++) {
        if (lbc_node_is_internal(node->addresses[i]) &&
            is_same_family(node->addresses[i]->address, address)) {
            return true;
        }
    }
    return false;
}

/* Addresses that others took the place of have gone; a node that has none any more may have lost
 * them by mistake. */
static void addresses_went_locked(struct lbc_absence *absence, const struct ccm_node *before,
                                  const struct ccm_node *after)
{
    for (uint64_t i = 0; i < before->address_count; i++) {
        const struct ccm_node_address *one = before->addresses[i];

        if (lbc_node_is_internal(one) && !lbc_node_has_address(after, one->address)) {
            const struct lbc_absent absent =
                absent_of(absence, after, node_has_family(after, one->address));

            sweep_locked(absence, absent.since_ms);
            put_node_locked(absence, LBC_ABSENCE_BY_ADDRESS, one->address, &absent);
        }
    }
}

static void node_came_locked(struct lbc_absence *absence, const struct ccm_node *node)
{
    drop_node_locked(absence, LBC_ABSENCE_BY_NAME, node->meta.name);
    drop_node_locked(absence, LBC_ABSENCE_BY_INSTANCE, lbc_node_instance_id(node));
    for (uint64_t i = 0; i < node->address_count; i++) {
        drop_node_locked(absence, LBC_ABSENCE_BY_ADDRESS, node->addresses[i]->address);
    }
}

void lbc_absence_record_node(struct lbc_absence *absence, const struct ccm_change *change)
{
    const struct ccm_node *before = (const struct ccm_node *)change->before;
    const struct ccm_node *after = (const struct ccm_node *)change->after;

    ccm_lock(&absence->lock);
    /* A node of another instance that goes by the name of the first has taken its place. */
    if (before != NULL && (after == NULL || !ccm_text_equal(lbc_node_instance_id(before),
                                                            lbc_node_instance_id(after)))) {
        node_went_locked(absence, before, !is_missed(change));
    } else if (before != NULL) {
        addresses_went_locked(absence, before, after);
    }
    if (after != NULL) {
        node_came_locked(absence, after);
    }
    ccm_unlock(&absence->lock);
}

void lbc_absence_find_node(struct lbc_absence *absence, enum lbc_absence_by by, const char *id,
                           struct lbc_absent *ret)
{
    char key[320];

    ccm_lock(&absence->lock);
    const struct lbc_absent *known =
        ccm_strmap_get(absence->nodes, format_key(by, id, key, sizeof(key)));

    if (known != NULL) {
        *ret = *known;
    } else {
        *ret = (struct lbc_absent){ .since_ms = absence->host->now_ms(absence->host) };
        if (by == LBC_ABSENCE_BY_INSTANCE) {
            set_text(ret->instance, sizeof(ret->instance), id);
        }
        sweep_locked(absence, ret->since_ms);
        put_node_locked(absence, by, id, ret);
    }
    ccm_unlock(&absence->lock);
}

/* --- slices --- */

static struct lost_slices *slices_of_locked(struct lbc_absence *absence, const char *key)
{
    const int64_t now = absence->host->now_ms(absence->host);
    struct lost_slices *lost = NULL;

    sweep_locked(absence, now);
    lost = ccm_strmap_get(absence->services, key);
    if (lost != NULL) {
        lost->noted_ms = now;
        return lost;
    }
    lost = calloc(1, sizeof(*lost));
    if (lost == NULL) {
        return NULL;
    }
    lost->noted_ms = now;
    lost->endpoints = ccm_strmap_new(free);
    if (lost->endpoints == NULL || ccm_strmap_set(absence->services, key, lost) < 0) {
        slices_free(lost);
        return NULL;
    }
    return lost;
}

static void put_endpoint(struct lost_slices *lost, const struct ccm_endpoint *endpoint)
{
    const size_t address = strlen(endpoint->address) + 1;
    const size_t node = strlen(endpoint->node_name) + 1;
    CCM_CLEANUP(ccm_freep)
    struct lost_endpoint *one = malloc(sizeof(*one) + address + node);

    if (one == NULL) {
        return;
    }
    one->since_ms = lost->since_ms;
    memcpy(one->address, endpoint->address, address);
    one->node = one->address + address;
    memcpy(one->node, endpoint->node_name, node);
    if (ccm_strmap_set(lost->endpoints, endpoint->address, one) == 0) {
        (void)CCM_STEAL(one); /* the map owns it now */
    }
}

static void slice_missed_locked(struct lbc_absence *absence, const char *key,
                                const struct ccm_endpoint_slice *slice)
{
    struct lost_slices *lost = slices_of_locked(absence, key);

    if (lost == NULL) {
        return;
    }
    lost->since_ms = absence->host->now_ms(absence->host);
    for (uint64_t i = 0; i < lbc_endpoint_size(slice); i++) {
        put_endpoint(lost, lbc_endpoint_at(slice, i));
    }
}

/* A slice of a Service that is not known goes because the cache does not hold it any more, not
 * because somebody deleted it. */
static bool slice_is_deleted(const struct lbc_absence *absence, const char *key,
                             bool (*is_ours)(const void *arg, const struct ccm_service *service),
                             const void *arg)
{
    const struct ccm_host *host = absence->host;
    const struct ccm_object *object = host->get(host, CCM_KIND_SERVICE, key);
    const bool ours = object != NULL && is_ours(arg, (const struct ccm_service *)object);

    if (object != NULL) {
        host->release(host, object);
    }
    return ours;
}

static void slice_deleted_locked(struct lbc_absence *absence, const char *key)
{
    struct lost_slices *lost = slices_of_locked(absence, key);

    if (lost != NULL) {
        lost->seen = true;
    }
}

/* What a slice that is there tells, it decides from now on. */
static void slice_came_locked(struct lbc_absence *absence, const char *key,
                              const struct ccm_endpoint_slice *slice)
{
    struct lost_slices *lost = ccm_strmap_get(absence->services, key);

    if (lost == NULL) {
        return;
    }
    for (uint64_t i = 0; i < lbc_endpoint_size(slice); i++) {
        ccm_strmap_del(lost->endpoints, lbc_endpoint_at(slice, i)->address);
    }
    lost->seen = false;
    if (ccm_strmap_len(lost->endpoints) == 0) {
        ccm_strmap_del(absence->services, key);
    }
}

/* "" when it is too long or of no Service. */
static void key_of_slice(const struct ccm_endpoint_slice *slice, char *key, size_t size)
{
    const int len = snprintf(key, size, "%s/%s", slice->meta.namespace_, slice->service_name);

    if (slice->service_name[0] == '\0' || len < 0 || (size_t)len >= size) {
        key[0] = '\0';
    }
}

static void slice_went(struct lbc_absence *absence, const struct ccm_change *change,
                       bool (*is_ours)(const void *arg, const struct ccm_service *service),
                       const void *arg)
{
    const struct ccm_endpoint_slice *slice = (const struct ccm_endpoint_slice *)change->before;
    const bool missed = is_missed(change);
    char key[512];

    key_of_slice(slice, key, sizeof(key));
    if (key[0] == '\0' || (!missed && !slice_is_deleted(absence, key, is_ours, arg))) {
        return;
    }
    ccm_lock(&absence->lock);
    if (missed) {
        slice_missed_locked(absence, key, slice);
    } else {
        slice_deleted_locked(absence, key);
    }
    ccm_unlock(&absence->lock);
}

void lbc_absence_record_slice(struct lbc_absence *absence, const struct ccm_change *change,
                              bool (*is_ours)(const void *arg, const struct ccm_service *service),
                              const void *arg)
{
    const struct ccm_endpoint_slice *before = (const struct ccm_endpoint_slice *)change->before;
    const struct ccm_endpoint_slice *after = (const struct ccm_endpoint_slice *)change->after;
    char key[512];

    if (after == NULL ||
        (before != NULL && strcmp(before->service_name, after->service_name) != 0)) {
        slice_went(absence, change, is_ours, arg);
    }
    if (after == NULL) {
        return;
    }
    key_of_slice(after, key, sizeof(key));
    ccm_lock(&absence->lock);
    slice_came_locked(absence, key, after);
    ccm_unlock(&absence->lock);
}

void lbc_absence_record_service(struct lbc_absence *absence, const struct ccm_change *change)
{
    if (change->after != NULL || is_missed(change)) {
        return;
    }
    ccm_lock(&absence->lock);
    ccm_strmap_del(absence->services, change->before->key);
    ccm_unlock(&absence->lock);
}

bool lbc_absence_find_endpoint(struct lbc_absence *absence, const char *key, const char *address,
                               struct lbc_absent *ret)
{
    ccm_lock(&absence->lock);
    const struct lost_slices *lost = ccm_strmap_get(absence->services, key);
    const struct lost_endpoint *one =
        lost == NULL ? NULL : ccm_strmap_get(lost->endpoints, address);

    if (one != NULL) {
        *ret = (struct lbc_absent){ .since_ms = one->since_ms };
    }
    ccm_unlock(&absence->lock);
    return one != NULL;
}

bool lbc_absence_find_endpoint_on(struct lbc_absence *absence, const char *key, const char *node,
                                  struct lbc_absent *ret)
{
    bool found = false;

    ccm_lock(&absence->lock);
    const struct lost_slices *lost = ccm_strmap_get(absence->services, key);
    void *cursor = NULL;
    void *value = NULL;

    while (!found && lost != NULL && ccm_strmap_next(lost->endpoints, &cursor, NULL, &value)) {
        const struct lost_endpoint *one = value;

        found = strcmp(one->node, node) == 0;
        if (found) {
            *ret = (struct lbc_absent){ .since_ms = one->since_ms };
        }
    }
    ccm_unlock(&absence->lock);
    return found;
}

bool lbc_absence_lost_slices(struct lbc_absence *absence, const char *key, bool first,
                             struct lbc_absent *ret)
{
    bool missing = false;

    ccm_lock(&absence->lock);
    struct lost_slices *lost = ccm_strmap_get(absence->services, key);

    if (lost == NULL && first) {
        lost = slices_of_locked(absence, key);
        if (lost != NULL) {
            lost->since_ms = absence->host->now_ms(absence->host);
        }
    }
    if (lost != NULL) {
        *ret = (struct lbc_absent){ .since_ms = lost->since_ms };
        missing = lost->since_ms != 0 && !lost->seen;
    }
    ccm_unlock(&absence->lock);
    return missing;
}

/* --- who is held back --- */

bool lbc_absence_set_frozen(struct lbc_absence *absence, const char *key, bool frozen)
{
    ccm_lock(&absence->lock);
    const bool before = ccm_strmap_has(absence->frozen, key) != 0;

    if (!frozen) {
        ccm_strmap_del(absence->frozen, key);
    } else if (ccm_strmap_set(absence->frozen, key, NULL) < 0) {
        absence->host->log(absence->host, CCM_LEVEL_ERROR, key,
                           "out of memory: allow-removals will not wake this Service");
    }
    ccm_unlock(&absence->lock);
    return before;
}

void lbc_absence_list_frozen(struct lbc_absence *absence, void (*fn)(void *arg, const char *key),
                             void *arg)
{
    void *cursor = NULL;
    const char *key = NULL;

    ccm_lock(&absence->lock);
    while (ccm_strmap_next(absence->frozen, &cursor, &key, NULL)) {
        fn(arg, key);
    }
    ccm_unlock(&absence->lock);
}
