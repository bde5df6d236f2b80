#include "lbc/usage.h"

#include "util/array.h"
#include "util/book.h"

#include <stdlib.h>
#include <string.h>

/* How many objects have how much of something: the most is found from above. */
struct spread {
    uint32_t *at; /* at[n]: objects that have n; 0 is not counted */
    size_t cap;
    size_t top; /* nobody has more */
};

struct lbc_usage {
    struct ccm_book servers; /* id -> number of groups, as a pointer; its lock guards the rest */
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
    if (ccm_book_init(&usage->servers, NULL) < 0) {
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
    ccm_book_fini(&usage->servers);
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
    (void)ccm_book_open(&usage->servers);
    for (size_t i = 0; i < LBC_QUOTA_COUNT; i++) {
        if (i < LBC_QUOTA_SERVERS) {
            spread_move(&usage->spread[i], old->of[i], fresh->of[i]);
        }
        usage->sum[i] += fresh->of[i];
        usage->sum[i] -= old->of[i];
    }
    ccm_book_close(&usage->servers);
    *old = *fresh;
}

static void usage_move_server(struct lbc_usage *usage, const char *id, bool comes)
{
    const size_t old = (size_t)(uintptr_t)ccm_strmap_get(usage->servers.map, id);
    const size_t fresh = comes ? old + 1 : old - (old > 0 ? 1 : 0);

    if (fresh == 0) {
        ccm_strmap_del(usage->servers.map, id);
    } else if (ccm_strmap_set(usage->servers.map, id, (void *)(uintptr_t)fresh) < 0) {
        return;
    }
    spread_move(&usage->spread[LBC_QUOTA_SERVERS], old, fresh);
}

static void usage_move_servers(struct lbc_usage *usage, const struct lbc_state *state, bool come)
{
    (void)ccm_book_open(&usage->servers);
    for (size_t i = 0; i < state->group_count; i++) {
        const struct lbc_backends *set = &state->groups[i]->backends;

        for (size_t k = 0; set->items != NULL && k < set->len; k++) {
            if (set->items[k].type == LBC_BACKEND_INSTANCE) {
                usage_move_server(usage, set->items[k].server_id, come);
            }
        }
    }
    ccm_book_close(&usage->servers);
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
    (void)ccm_book_open(&usage->servers);
    usage->claims += begins ? 1 : 0;
    usage->claims -= begins ? 0 : 1;
    ccm_book_close(&usage->servers);
}

size_t lbc_usage_top(struct lbc_usage *usage, enum lbc_quota quota, bool *ret_whole)
{
    (void)ccm_book_open(&usage->servers);
    const bool summed = quota == LBC_QUOTA_GROUPS || quota == LBC_QUOTA_LBS;
    const size_t top = summed ? usage->sum[quota] : usage->spread[quota].top;

    *ret_whole = quota != LBC_QUOTA_SERVERS || usage->claims == 0;
    ccm_book_close(&usage->servers);
    return top;
}

bool lbc_usage_find_server(struct lbc_usage *usage, char **ret)
{
    void *cursor = NULL;
    void *value = NULL;
    const char *id = NULL;

    *ret = NULL;
    const struct ccm_strmap *servers = ccm_book_open(&usage->servers);

    while (*ret == NULL && ccm_strmap_next(servers, &cursor, &id, &value)) {
        if ((size_t)(uintptr_t)value == usage->spread[LBC_QUOTA_SERVERS].top) {
            *ret = strdup(id);
        }
    }
    ccm_book_close(&usage->servers);
    return *ret != NULL;
}
