#include "lbc/mirror.h"

#include "util/cleanup.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Where an entry stands; the lock guards it. */
struct lbc_place {
    const struct lbc_state_type *type;
    struct lbc_counts counts; /* what its mirror was counted with */
    bool busy;                /* it is claimed */
    bool touched;             /* see lbc_mirrors_touch(); handed over by the next claim */
    bool asked;               /* see lbc_mirrors_ask(); likewise handed over */
    bool again;               /* it was to be claimed while it was busy */
    bool blocked;             /* these three: see lbc_entry_set_blocked(); the holder sets them */
    bool freed;
    bool comes_back;
    uint64_t lane;             /* to be enqueued in */
    struct lbc_shared *shared; /* where the mirror is kept between claims; NULL: here */
    bool doubted;              /* its last pass left it in doubt: it is read again, even if
                                * another Service has read the load balancer since */
    struct lbc_shared *waits;  /* in whose queue it is */
    struct lbc_entry *next;    /* in that queue */
};

/* A reused load balancer. While an entry is claimed its content lives there. */
struct lbc_shared {
    char *id;
    size_t refs; /* entries that have it or queue for it; freed with the last one */
    bool busy;
    bool valid;
    struct lbc_state *state;
    struct lbc_entry *holder; /* whose jobs are under way there: `busy` for all others; or NULL */
    struct lbc_entry *first;  /* of the queue; only it may have the next claim */
    struct lbc_entry *last;
    unsigned woken_lanes; /* that the first was enqueued in, as bits; while it is not busy */
};

struct lbc_mirrors {
    const struct ccm_host *host;
    const struct lbc_state_type *type;
    struct lbc_usage *usage; /* NULL: nothing is counted */
    pthread_mutex_t lock; /* guards maps, references, queues and busy flags; held for look-ups, and
                             for enqueue(), which does not block */
    struct ccm_strmap *entries;
    struct ccm_strmap *shared; /* by id of the load balancer; owns nothing */
};

/* --- what they hold --- */

/* A state without a claim goes with all that it holds; without memory its servers count on.
 */
static void mirrors_uncount(const struct lbc_mirrors *mirrors, struct lbc_state *state)
{
    if (mirrors->usage != NULL && state->group_count > 0 && lbc_state_wake(state) == 0) {
        lbc_usage_remove_servers(mirrors->usage, state);
    }
}

static void mirrors_uncount_entry(const struct lbc_mirrors *mirrors, struct lbc_entry *entry)
{
    const struct lbc_counts none = { { 0 } };

    mirrors_uncount(mirrors, entry->state);
    if (mirrors->usage != NULL) {
        lbc_usage_replace(mirrors->usage, &entry->place->counts, &none);
    }
}

/* A claim ends. */
static void mirrors_count(const struct lbc_mirrors *mirrors, struct lbc_entry *entry)
{
    const struct lbc_counts fresh = lbc_usage_count(entry->state, lbc_entry_is_reused(entry));

    if (mirrors->usage != NULL) {
        lbc_usage_add_servers(mirrors->usage, entry->state);
        lbc_usage_replace(mirrors->usage, &entry->place->counts, &fresh);
        lbc_usage_claim(mirrors->usage, false);
    }
}

/* --- shared mirrors --- */

static void shared_free(const struct lbc_state_type *type, struct lbc_shared *shared)
{
    if (shared->state != NULL) {
        lbc_state_fini(shared->state, type);
    }
    free(shared->state);
    free(shared->id);
    free(shared);
}

static void shared_unref(struct lbc_mirrors *mirrors, struct lbc_shared *shared)
{
    if (shared == NULL || --shared->refs > 0) {
        return;
    }
    ccm_strmap_del(mirrors->shared, shared->id);
    mirrors_uncount(mirrors, shared->state);
    shared_free(mirrors->type, shared);
}

/* With a reference of the caller's own. */
static struct lbc_shared *shared_ref(struct lbc_mirrors *mirrors, const char *id)
{
    struct lbc_shared *shared = ccm_strmap_get(mirrors->shared, id);

    if (shared != NULL) {
        shared->refs++;
        return shared;
    }
    shared = calloc(1, sizeof(*shared));
    if (shared == NULL) {
        return NULL;
    }
    shared->refs = 1;
    shared->id = strdup(id);
    shared->state = calloc(1, mirrors->type->size);
    if (shared->id == NULL || shared->state == NULL ||
        ccm_strmap_set(mirrors->shared, id, shared) < 0) {
        shared_free(mirrors->type, shared);
        return NULL;
    }
    return shared;
}

/* --- the queue for a shared mirror --- */

/* Takes over the caller's reference. */
static void join_queue(struct lbc_entry *entry, struct lbc_shared *shared)
{
    entry->place->waits = shared;
    entry->place->next = NULL;
    if (shared->first == NULL) {
        shared->first = entry;
    } else {
        shared->last->place->next = entry;
    }
    shared->last = entry;
}

static void unlink_waiter(struct lbc_shared *shared, const struct lbc_entry *entry)
{
    struct lbc_entry *before = NULL;

    for (struct lbc_entry *one = shared->first; one != entry; one = one->place->next) {
        before = one;
    }
    if (before == NULL) {
        shared->first = entry->place->next;
    } else {
        before->place->next = entry->place->next;
    }
    if (shared->last == entry) {
        shared->last = before;
    }
}

static bool lane_is_before(uint64_t a, uint64_t b)
{
    return a != b && (a == CCM_LANE_REMOVE || (b != CCM_LANE_REMOVE && a < b));
}

/* The first is in the way of all who queue, so it is enqueued in the most urgent lane of theirs,
 * and in the lane backends if one of them waits there: both have workers that the other has not.
 * The lanes as bits. */
static unsigned shared_choose_lanes(const struct lbc_shared *shared)
{
    uint64_t first = shared->first->place->lane;
    unsigned lanes = 0;

    for (const struct lbc_entry *one = shared->first; one != NULL; one = one->place->next) {
        first = lane_is_before(one->place->lane, first) ? one->place->lane : first;
        lanes |= 1U << one->place->lane;
    }
    return 1U << first | (first == CCM_LANE_REMOVE ? 0 : lanes & 1U << CCM_LANE_BACKENDS);
}

static void wake_first(struct lbc_mirrors *mirrors, struct lbc_shared *shared)
{
    if (shared->busy || shared->first == NULL) {
        return;
    }
    shared->woken_lanes = shared_choose_lanes(shared);
    for (uint64_t lane = 0; lane <= CCM_LANE_REMOVE; lane++) {
        if ((shared->woken_lanes >> lane & 1U) != 0) {
            mirrors->host->enqueue(mirrors->host, shared->first->key, lane, 0);
        }
    }
}

/* Somebody has come who may be in more of a hurry than the first was woken for. */
static void shared_hurry_first(struct lbc_mirrors *mirrors, struct lbc_shared *shared)
{
    if (!shared->busy && (shared_choose_lanes(shared) & ~shared->woken_lanes) != 0) {
        wake_first(mirrors, shared);
    }
}

/* Give up the place, if it has one; whose turn it is then may change. */
static void leave_queue(struct lbc_mirrors *mirrors, struct lbc_entry *entry)
{
    struct lbc_shared *shared = entry->place->waits;

    if (shared == NULL) {
        return;
    }
    const bool was_first = shared->first == entry;

    unlink_waiter(shared, entry);
    entry->place->waits = NULL;
    entry->place->next = NULL;
    if (was_first) {
        wake_first(mirrors, shared);
    }
    shared_unref(mirrors, shared);
}

/* What others lack in the load balancer may be theirs now. */
static void wake_blocked(struct lbc_mirrors *mirrors, struct lbc_entry *by)
{
    void *cursor = NULL;
    void *value = NULL;

    by->place->freed = false;
    while (by->place->shared->refs > 1 &&
           ccm_strmap_next(mirrors->entries, &cursor, NULL, &value)) {
        struct lbc_entry *entry = value;

        /* No other entry has a claim on the load balancer, so no thread writes to its members. */
        if (entry != by && entry->place->shared == by->place->shared && entry->place->blocked) {
            entry->place->blocked = false;
            mirrors->host->enqueue(mirrors->host, entry->key, entry->place->lane, 0);
        }
    }
}

/* It will not come back for its jobs, so their outcome stays unknown: the next one reads. */
static void entry_let_in(struct lbc_mirrors *mirrors, struct lbc_entry *entry)
{
    struct lbc_shared *shared = entry->place->shared;

    if (shared == NULL || shared->holder != entry) {
        return;
    }
    shared->holder = NULL;
    shared->busy = false;
    shared->valid = false;
    wake_first(mirrors, shared);
    if (entry->place->freed) {
        wake_blocked(mirrors, entry);
    }
}

static void entry_leave_shared(struct lbc_mirrors *mirrors, struct lbc_entry *entry)
{
    entry_let_in(mirrors, entry);
    shared_unref(mirrors, entry->place->shared);
    entry->place->shared = NULL;
}

/* --- entries --- */

static void entry_free_aside(struct lbc_entry *entry)
{
    if (entry->aside != NULL) {
        lbc_state_fini(entry->aside, entry->place->type);
    }
    free(entry->aside);
    entry->aside = NULL;
}

static void entry_clear(struct lbc_entry *entry)
{
    entry_free_aside(entry);
    lbc_state_fini(entry->state, entry->place->type);
    lbc_underway_fini(&entry->underway);
    lbc_tags_fini(&entry->applied.tags);
    ccm_strmap_free(entry->pods.states);
    ccm_strmap_free(entry->pods.hosted);
    lbc_freeze_memory_fini(&entry->freeze);
    lbc_empty_memory_fini(&entry->empty);
    free(entry->health.text);
    free(entry->uid);
    entry->place->blocked = entry->place->freed = entry->place->comes_back = false;
    *entry = (struct lbc_entry){
        .key = entry->key,
        .state = entry->state,
        .place = entry->place,
    };
}

static void entry_free(void *value)
{
    struct lbc_entry *entry = value;

    if (entry->place != NULL && entry->state != NULL) {
        entry_clear(entry);
    }
    free(entry->state);
    free(entry->place);
    free(entry->key);
    free(entry);
}

static struct lbc_entry *entry_new(const struct lbc_state_type *type, const char *key)
{
    struct lbc_entry *entry = calloc(1, sizeof(*entry));

    if (entry == NULL) {
        return NULL;
    }
    entry->key = strdup(key);
    entry->state = calloc(1, type->size);
    entry->place = calloc(1, sizeof(*entry->place));
    if (entry->key == NULL || entry->state == NULL || entry->place == NULL) {
        entry_free(entry);
        return NULL;
    }
    entry->place->type = type;
    return entry;
}

static int add_locked(struct lbc_mirrors *mirrors, const char *key, struct lbc_entry **ret)
{
    struct lbc_entry *entry = entry_new(mirrors->type, key);

    if (entry == NULL || ccm_strmap_set(mirrors->entries, key, entry) < 0) {
        if (entry != NULL) {
            entry_free(entry);
        }
        return -ENOMEM;
    }
    *ret = entry;
    return 0;
}

static int start_over(struct lbc_mirrors *mirrors, struct lbc_entry *entry, const char *uid)
{
    entry_leave_shared(mirrors, entry);
    mirrors_uncount_entry(mirrors, entry);
    entry_clear(entry);
    entry->uid = strdup(uid);
    return entry->uid == NULL ? -ENOMEM : 0;
}

/* --- the store --- */

struct lbc_mirrors *lbc_mirrors_new(const struct ccm_host *host, const struct lbc_state_type *type)
{
    struct lbc_mirrors *mirrors = calloc(1, sizeof(*mirrors));

    if (mirrors == NULL) {
        return NULL;
    }
    mirrors->host = host;
    mirrors->type = type;
    mirrors->entries = ccm_strmap_new(entry_free);
    mirrors->shared = ccm_strmap_new(NULL);
    if (mirrors->entries == NULL || mirrors->shared == NULL ||
        pthread_mutex_init(&mirrors->lock, NULL) != 0) {
        ccm_strmap_free(mirrors->entries);
        ccm_strmap_free(mirrors->shared);
        free(mirrors);
        return NULL;
    }
    return mirrors;
}

void lbc_mirrors_count(struct lbc_mirrors *mirrors, struct lbc_usage *usage)
{
    mirrors->usage = usage;
}

void lbc_mirrors_free(struct lbc_mirrors *mirrors)
{
    void *cursor = NULL;
    void *value = NULL;

    if (mirrors == NULL) {
        return;
    }
    mirrors->usage = NULL; /* with all that was counted */
    while (ccm_strmap_next(mirrors->entries, &cursor, NULL, &value)) {
        struct lbc_entry *entry = value;

        shared_unref(mirrors, entry->place->shared);
        shared_unref(mirrors, entry->place->waits); /* with its queue: none of it is enqueued */
    }
    ccm_strmap_free(mirrors->entries);
    ccm_strmap_free(mirrors->shared);
    ccm_lock_fini(&mirrors->lock);
    free(mirrors);
}

/* Into the queue of `shared`, whose reference is taken over; once there it stays where it is. */
static int mirrors_queue_locked(struct lbc_mirrors *mirrors, struct lbc_entry *entry,
                                struct lbc_shared *shared)
{
    if (entry->place->waits == shared) {
        shared_unref(mirrors, shared);
    } else {
        leave_queue(mirrors, entry);
        join_queue(entry, shared);
    }
    shared_hurry_first(mirrors, entry->place->waits);
    return -EBUSY;
}

void lbc_entry_forget_tags(struct lbc_entry *entry)
{
    lbc_tags_fini(&entry->applied.tags);
    entry->applied.known = false;
}

/* It goes over to another load balancer: what it has put on the one before is not on that. */
static void entry_forget_marks(struct lbc_entry *entry)
{
    lbc_entry_forget_tags(entry);
    lbc_change_forget_lb(&entry->change);
}

/* Let the entry have the shared mirror, whose reference is taken over, and its content. */
static void mirrors_attach_locked(struct lbc_mirrors *mirrors, struct lbc_entry *entry,
                                  struct lbc_shared *shared)
{
    shared->busy = true;
    shared->holder = NULL;
    leave_queue(mirrors, entry); /* enqueues none of this queue: it is busy */
    if (shared == entry->place->shared) {
        shared_unref(mirrors, shared);
    } else {
        shared_unref(mirrors, entry->place->shared);
        mirrors_uncount(mirrors, entry->state);
        lbc_entry_drop(entry);
        entry_forget_marks(entry);
        entry->place->shared = shared;
        entry->place->doubted = false;
    }
    lbc_state_move(entry->state, shared->state, mirrors->type);
    entry->valid = shared->valid && !entry->place->doubted;
}

/* Its own mirror is that of the load balancer: it is not shared. */
static bool has_own(const struct lbc_entry *entry, const char *lb_id)
{
    return entry->place->shared == NULL && entry->valid &&
           ccm_text_equal(lbc_state_lb(entry->state)->id, lb_id);
}

/* Who holds it goes before all that queue. */
static bool shared_may_enter(const struct lbc_shared *shared, const struct lbc_entry *entry)
{
    return shared->busy ? shared->holder == entry : shared->first == NULL || shared->first == entry;
}

static int bind_locked(struct lbc_mirrors *mirrors, struct lbc_entry *entry, const char *lb_id)
{
    const bool alone = ccm_text_empty(lb_id) || has_own(entry, lb_id);
    struct lbc_shared *shared = alone ? NULL : shared_ref(mirrors, lb_id);

    if (shared == NULL && !alone) {
        return -ENOMEM;
    }
    if (shared != entry->place->shared) {
        entry_let_in(mirrors, entry);
    }
    if (shared != NULL && !shared_may_enter(shared, entry)) {
        return mirrors_queue_locked(mirrors, entry, shared);
    }
    if (shared != NULL) {
        mirrors_attach_locked(mirrors, entry, shared);
        return 0;
    }
    leave_queue(mirrors, entry);
    if (entry->place->shared != NULL) {
        entry_leave_shared(mirrors, entry);
        mirrors_uncount(mirrors, entry->state);
        lbc_entry_drop(entry);
        entry_forget_marks(entry);
    }
    return 0;
}

static int mirrors_acquire_locked(struct lbc_mirrors *mirrors, const char *key, const char *uid,
                                  const char *lb_id, uint64_t lane, struct lbc_entry **ret)
{
    struct lbc_entry *entry = ccm_strmap_get(mirrors->entries, key);
    int r = entry == NULL ? add_locked(mirrors, key, &entry) : 0;

    if (r < 0) {
        return r;
    }
    entry->place->lane = lane;
    if (entry->place->busy) {
        entry->place->again = true;
        return -EBUSY;
    }
    if (!ccm_text_equal(entry->uid, uid)) {
        r = start_over(mirrors, entry, uid);
    }
    if (r == 0) {
        r = bind_locked(mirrors, entry, lb_id);
    }
    if (r == 0) {
        entry->place->busy = true;
        entry->look.touched = entry->look.touched || entry->place->touched;
        entry->place->touched = false;
        entry->look.asked = entry->look.asked || entry->place->asked;
        entry->place->asked = false;
        *ret = entry;
    }
    return r;
}

/* Its content goes back, and others are let in, unless the entry comes back for its jobs. */
static void entry_give_back_shared(struct lbc_mirrors *mirrors, struct lbc_entry *entry)
{
    struct lbc_shared *shared = entry->place->shared;
    const bool underway = entry->underway.len > 0;

    lbc_state_move(shared->state, entry->state, mirrors->type);
    entry->place->doubted = !entry->valid;
    shared->valid = entry->valid && (!underway || entry->place->comes_back);
    entry->valid = false;
    if (underway && entry->place->comes_back) {
        shared->holder = entry;
        return;
    }
    shared->busy = false;
    wake_first(mirrors, shared);
    if (entry->place->freed) {
        wake_blocked(mirrors, entry);
    }
}

static void mirrors_give_back(struct lbc_mirrors *mirrors, struct lbc_entry *entry)
{
    lbc_state_rest(entry->state);
    ccm_lock(&mirrors->lock);
    entry->place->busy = false;
    if (entry->place->shared != NULL) {
        entry_give_back_shared(mirrors, entry);
    }
    entry->place->freed = entry->place->freed && entry->place->shared != NULL &&
                          entry->place->shared->holder == entry;
    if (entry->place->again) {
        entry->place->again = false;
        mirrors->host->enqueue(mirrors->host, entry->key, entry->place->lane, 0);
    }
    ccm_unlock(&mirrors->lock);
}

static enum lbc_own entry_find_own(const struct lbc_entry *entry)
{
    const struct lbc_creation *creation = &entry->creation;

    if (entry->place->shared == NULL && lbc_entry_known_id(entry) != NULL) {
        return LBC_OWN_KNOWN;
    }
    return entry->releasing || creation->sent || creation->late || !creation->bound_here
               ? LBC_OWN_MAYBE
               : LBC_OWN_NONE;
}

enum lbc_own lbc_mirrors_find_own(struct lbc_mirrors *mirrors, const char *key, const char *uid)
{
    ccm_lock(&mirrors->lock);
    const struct lbc_entry *entry = ccm_strmap_get(mirrors->entries, key);
    const enum lbc_own own =
        entry == NULL || !ccm_text_equal(entry->uid, uid) ? LBC_OWN_MAYBE : entry_find_own(entry);

    ccm_unlock(&mirrors->lock);
    return own;
}

bool lbc_mirrors_has(struct lbc_mirrors *mirrors, const char *key)
{
    ccm_lock(&mirrors->lock);
    const bool has = ccm_strmap_has(mirrors->entries, key);

    ccm_unlock(&mirrors->lock);
    return has;
}

int lbc_mirrors_acquire(struct lbc_mirrors *mirrors, const char *key, const char *uid,
                        const char *lb_id, uint64_t lane, struct lbc_entry **ret)
{
    struct lbc_entry *entry = NULL;

    ccm_lock(&mirrors->lock);
    int r = mirrors_acquire_locked(mirrors, key, uid, lb_id, lane, &entry);

    ccm_unlock(&mirrors->lock);
    if (r < 0) {
        return r;
    }
    r = lbc_state_wake(entry->state);
    if (r < 0) {
        mirrors_give_back(mirrors, entry);
        return r;
    }
    if (mirrors->usage != NULL) {
        lbc_usage_claim(mirrors->usage, true);
        lbc_usage_remove_servers(mirrors->usage, entry->state);
    }
    *ret = entry;
    return 0;
}

void lbc_mirrors_release(struct lbc_mirrors *mirrors, struct lbc_entry *entry)
{
    mirrors_count(mirrors, entry);
    mirrors_give_back(mirrors, entry);
}

void lbc_mirrors_touch(struct lbc_mirrors *mirrors, const char *key)
{
    ccm_lock(&mirrors->lock);
    struct lbc_entry *entry = ccm_strmap_get(mirrors->entries, key);

    if (entry != NULL) {
        entry->place->touched = true;
    }
    ccm_unlock(&mirrors->lock);
}

void lbc_mirrors_ask(struct lbc_mirrors *mirrors, const char *key)
{
    ccm_lock(&mirrors->lock);
    struct lbc_entry *entry = ccm_strmap_get(mirrors->entries, key);

    if (entry != NULL) {
        entry->place->asked = true;
    }
    ccm_unlock(&mirrors->lock);
}

static int mirrors_view_locked(struct lbc_mirrors *mirrors, struct lbc_entry *entry,
                               void (*fn)(void *arg, const struct lbc_entry *entry, bool valid),
                               void *arg)
{
    struct lbc_shared *shared = entry->place->shared;

    if (entry->place->busy || (shared != NULL && shared->busy)) {
        return -EBUSY;
    }
    if (shared != NULL) {
        lbc_state_move(entry->state, shared->state, mirrors->type);
    }
    const int r = lbc_state_wake(entry->state);

    if (r == 0) {
        fn(arg, entry, shared == NULL ? entry->valid : shared->valid);
    }
    lbc_state_rest(entry->state);
    if (shared != NULL) {
        lbc_state_move(shared->state, entry->state, mirrors->type);
    }
    return r;
}

int lbc_mirrors_view(struct lbc_mirrors *mirrors, const char *key,
                     void (*fn)(void *arg, const struct lbc_entry *entry, bool valid), void *arg)
{
    ccm_lock(&mirrors->lock);
    struct lbc_entry *entry = ccm_strmap_get(mirrors->entries, key);
    const int r = entry == NULL || entry->uid == NULL
                      ? -ENOENT
                      : mirrors_view_locked(mirrors, entry, fn, arg);

    ccm_unlock(&mirrors->lock);
    return r;
}

void lbc_mirrors_forget(struct lbc_mirrors *mirrors, const char *key)
{
    ccm_lock(&mirrors->lock);
    struct lbc_entry *entry = ccm_strmap_get(mirrors->entries, key);

    if (entry != NULL && !entry->place->busy) {
        leave_queue(mirrors, entry);
        entry_leave_shared(mirrors, entry);
        mirrors_uncount_entry(mirrors, entry);
        ccm_strmap_del(mirrors->entries, key);
    }
    ccm_unlock(&mirrors->lock);
}

/* --- the holder's --- */

const char *lbc_entry_acquired_id(const struct lbc_entry *entry)
{
    return entry->place->shared == NULL ? "" : entry->place->shared->id;
}

bool lbc_entry_is_reused(const struct lbc_entry *entry)
{
    return entry->place->shared != NULL;
}

void lbc_entry_set_blocked(struct lbc_entry *entry, bool blocked)
{
    entry->place->blocked = blocked;
}

void lbc_entry_set_freed(struct lbc_entry *entry)
{
    entry->place->freed = true;
}

void lbc_entry_set_coming_back(struct lbc_entry *entry, bool comes_back)
{
    entry->place->comes_back = comes_back;
}

bool lbc_entry_comes_back(const struct lbc_entry *entry)
{
    return entry->place->comes_back;
}

bool lbc_entry_has_lb(const struct lbc_entry *entry)
{
    return entry->valid && lbc_state_lb(entry->state)->id != NULL &&
           (!lbc_release_is_gone(&entry->release) || lbc_entry_is_reused(entry));
}

void lbc_entry_drop(struct lbc_entry *entry)
{
    lbc_state_fini(entry->state, entry->place->type);
    entry_free_aside(entry);
    entry->valid = false;
}

const char *lbc_entry_known_id(const struct lbc_entry *entry)
{
    const char *id = lbc_state_lb(entry->state)->id;

    return id != NULL || entry->aside == NULL ? id : lbc_state_lb(entry->aside)->id;
}

/* What is not believed any more is no better than what was believed of the same one before. Only
 * groups that were created since then are known from nowhere else. */
static bool entry_can_go_aside(const struct lbc_entry *entry)
{
    const char *id = lbc_state_lb(entry->state)->id;

    if (id == NULL) { /* another Service has dropped the load balancer that they share */
        return entry->aside == NULL && entry->state->group_count > 0;
    }
    return entry->valid || entry->aside == NULL ||
           !ccm_text_equal(lbc_state_lb(entry->aside)->id, id);
}

void lbc_entry_put_aside(struct lbc_entry *entry)
{
    struct lbc_state *copy = entry_can_go_aside(entry) ? malloc(entry->place->type->size) : NULL;
    const char *id = lbc_state_lb(entry->state)->id;

    if (copy == NULL) { /* also out of memory: then repairs are not reported */
        if (entry->aside != NULL &&
            (id == NULL || ccm_text_equal(lbc_state_lb(entry->aside)->id, id))) {
            lbc_state_keep_groups(entry->aside, entry->state);
        }
        lbc_state_fini(entry->state, entry->place->type);
        entry->valid = false;
        return;
    }
    entry_free_aside(entry);
    memcpy(copy, entry->state, entry->place->type->size);
    memset(entry->state, 0, entry->place->type->size);
    entry->aside = copy;
    entry->valid = false;
}

void lbc_entry_take_back(struct lbc_entry *entry)
{
    if (entry->aside == NULL) {
        return; /* out of memory: it is read again */
    }
    lbc_state_fini(entry->state, entry->place->type);
    memcpy(entry->state, entry->aside, entry->place->type->size);
    free(entry->aside);
    entry->aside = NULL;
    entry->valid = true;
}

void lbc_entry_end_aside(struct lbc_entry *entry)
{
    if (entry->valid) {
        entry_free_aside(entry);
    }
}
