#include "lbc/usage.h"

#include "util/array.h"
#include "util/strmap.h"
#include "util/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* How many objects have how much of something: the most is found from above. */
struct spread {
    uint32_t *at; /* at[n]: objects that have n; 0 is not counted */
    size_t cap;
    size_t top; /* nobody has more */
};

struct lbc_usage {
    pthread_mutex_t lock;       /* guards all below */
    struct ccm_strmap *servers; /* id -> number of groups, as a pointer */
    struct spread spread[LBC_QUOTA_SERVERS + 1];
    size_t sum[LBC_QUOTA_COUNT];
    size_t claims;
};

struct lbc_usage *lbc_usage_new(void)
{
    struct lbc_usage *usage = calloc(1, sizeof(*usage));

    if (usage == NULL) {
        return NULL;
    }
    usage->servers = ccm_strmap_new(NULL);
    if (usage->servers == NULL || pthread_mutex_init(&usage->lock, NULL) != 0) {
        ccm_strmap_free(usage->servers);
        free(usage);
        return NULL;
    }
    return usage;
}

void lbc_usage_free(struct lbc_usage *usage)
{
    if (usage == NULL) {
        return;
    }
    for (size_t i = 0; i <= LBC_QUOTA_SERVERS; i++) {
        free(usage->spread[i].at);
    }
    ccm_strmap_free(usage->servers);
    ccm_lock_fini(&usage->lock);
    free(usage);
}

/* One object has `fresh` instead of `old`. Out of memory leaves it out, which `at` then tells by
 * being too small or 0. */
static void spread_move(struct spread *spread, size_t old, size_t fresh)
{
    const size_t cap = spread->cap;

    if (fresh >= spread->cap &&
        ccm_array_grow(&spread->at, &spread->cap, fresh + 1, sizeof(*spread->at)) == 0) {
        memset(spread->at + cap, 0, (spread->cap - cap) * sizeof(*spread->at));
    }
    if (old > 0 && old < spread->cap && spread->at[old] > 0) {
        spread->at[old]--;
    }
    if (fresh > 0 && fresh < spread->cap) {
        spread->at[fresh]++;
        spread->top = fresh > spread->top ? fresh : spread->top;
    }
    while (spread->top > 0 && spread->at[spread->top] == 0) {
        spread->top--;
    }
}

struct lbc_counts lbc_usage_count(const struct lbc_state *state, bool reused)
{
    struct lbc_counts counts = { { 0 } };

    for (size_t i = 0; i < state->group_count; i++) {
        counts.of[LBC_QUOTA_BACKENDS] += (uint32_t)state->groups[i]->backends.len;
    }
    counts.of[LBC_QUOTA_LISTENERS] = (uint32_t)state->listener_count;
    counts.of[LBC_QUOTA_GROUPS] = (uint32_t)state->group_count;
    counts.of[LBC_QUOTA_LBS] = lbc_state_lb(state)->id != NULL && !reused ? 1 : 0;
    return counts;
}

void lbc_usage_replace(struct lbc_usage *usage, struct lbc_counts *old,
                       const struct lbc_counts *fresh)
{
    ccm_lock(&usage->lock);
    for (size_t i = 0; i < LBC_QUOTA_COUNT; i++) {
        if (i < LBC_QUOTA_SERVERS) {
            spread_move(&usage->spread[i], old->of[i], fresh->of[i]);
        }
        usage->sum[i] += fresh->of[i];
        usage->sum[i] -= old->of[i];
    }
    ccm_unlock(&usage->lock);
    *old = *fresh;
}

static void usage_move_server(struct lbc_usage *usage, const char *id, bool comes)
{
    const size_t old = (size_t)(uintptr_t)ccm_strmap_get(usage->servers, id);
    const size_t fresh = comes ? old + 1 : old - (old > 0 ? 1 : 0);

    if (fresh == 0) {
        ccm_strmap_del(usage->servers, id);
    } else if (ccm_strmap_set(usage->servers, id, (void *)(uintptr_t)fresh) < 0) {
        return;
    }
    spread_move(&usage->spread[LBC_QUOTA_SERVERS], old, fresh);
}

static void usage_move_servers(struct lbc_usage *usage, const struct lbc_state *state, bool come)
{
    ccm_lock(&usage->lock);
    for (size_t i = 0; i < state->group_count; i++) {
        const struct lbc_backends *set = &state->groups[i]->backends;

        for (size_t k = 0; set->items != NULL && k < set->len; k++) {
            if (set->items[k].type == LBC_BACKEND_INSTANCE) {
                usage_move_server(usage, set->items[k].server_id, come);
            }
        }
    }
    ccm_unlock(&usage->lock);
}

void lbc_usage_add_servers(struct lbc_usage *usage, const struct lbc_state *state)
{
    usage_move_servers(usage, state, true);
}

void lbc_usage_remove_servers(struct lbc_usage *usage, const struct lbc_state *state)
{
    usage_move_servers(usage, state, false);
}

void lbc_usage_claim(struct lbc_usage *usage, bool begins)
{
    ccm_lock(&usage->lock);
    usage->claims += begins ? 1 : 0;
    usage->claims -= begins ? 0 : 1;
    ccm_unlock(&usage->lock);
}

size_t lbc_usage_top(struct lbc_usage *usage, enum lbc_quota quota, bool *ret_whole)
{
    ccm_lock(&usage->lock);
    const bool summed = quota == LBC_QUOTA_GROUPS || quota == LBC_QUOTA_LBS;
    const size_t top = summed ? usage->sum[quota] : usage->spread[quota].top;

    *ret_whole = quota != LBC_QUOTA_SERVERS || usage->claims == 0;
    ccm_unlock(&usage->lock);
    return top;
}

bool lbc_usage_find_server(struct lbc_usage *usage, char **ret)
{
    void *cursor = NULL;
    void *value = NULL;
    const char *id = NULL;

    *ret = NULL;
    ccm_lock(&usage->lock);
    while (*ret == NULL && ccm_strmap_next(usage->servers, &cursor, &id, &value)) {
        if ((size_t)(uintptr_t)value == usage->spread[LBC_QUOTA_SERVERS].top) {
            *ret = strdup(id);
        }
    }
    ccm_unlock(&usage->lock);
    return *ret != NULL;
}
