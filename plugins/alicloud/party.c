#include "alicloud/party.h"

#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_PARTS    (ALI_LATELY_PARTS - 1)
#define SWEEP_LEAST   64
#define NAMESPACE_MAX 256 /* of a namespace: 63 bytes in Kubernetes */

/* --- of late --- */

static int64_t lately_part(int64_t now_ms, int64_t span_ms)
{
    const int64_t length = span_ms / SPAN_PARTS;

    return now_ms / (length < 1 ? 1 : length);
}

/* What `part` would find in counts[index]. */
static int32_t lately_get(const struct ali_lately *lately, int64_t part, int index)
{
    const int64_t from = lately->part - (part - index);

    return from >= 0 && from < ALI_LATELY_PARTS ? lately->counts[from] : 0;
}

void ali_lately_add(struct ali_lately *lately, int64_t now_ms, int64_t span_ms)
{
    const int64_t part = lately_part(now_ms, span_ms);
    struct ali_lately next = { .part = part };

    for (int i = 0; i < ALI_LATELY_PARTS; i++) {
        next.counts[i] = lately_get(lately, part, i);
    }
    next.counts[0]++;
    *lately = next;
}

int64_t ali_lately_count(const struct ali_lately *lately, int64_t now_ms, int64_t span_ms)
{
    const int64_t part = lately_part(now_ms, span_ms);
    int64_t sum = 0;

    for (int i = 0; i < ALI_LATELY_PARTS; i++) {
        sum += lately_get(lately, part, i);
    }
    return sum;
}

int64_t ali_lately_wait_ms(const struct ali_lately *lately, int64_t limit, int64_t now_ms,
                           int64_t span_ms)
{
    const int64_t length = span_ms / SPAN_PARTS < 1 ? 1 : span_ms / SPAN_PARTS;
    const int64_t part = lately_part(now_ms, span_ms);
    int64_t left = ali_lately_count(lately, now_ms, span_ms);
    int oldest = ALI_LATELY_PARTS;

    while (left >= limit && oldest > 0) {
        left -= lately_get(lately, part, --oldest);
    }
    return oldest == ALI_LATELY_PARTS ? 0 : (part - oldest + ALI_LATELY_PARTS) * length - now_ms;
}

/* --- namespaces --- */

int ali_parties_init(struct ali_parties *parties)
{
    *parties = (struct ali_parties){ .all = ccm_strmap_new(free), .sweep_at = SWEEP_LEAST };
    return parties->all == NULL ? -ENOMEM : 0;
}

void ali_parties_fini(struct ali_parties *parties)
{
    ccm_strmap_free(parties->all);
    *parties = (struct ali_parties){ 0 };
}

static bool party_is_idle(const struct ali_party *party, int64_t now_ms, int64_t span_ms)
{
    for (int i = 0; i < ALI_PRIORITIES; i++) {
        if (party->waiting[i] > 0) {
            return false;
        }
    }
    return ali_lately_count(&party->had[0], now_ms, span_ms) == 0 &&
           ali_lately_count(&party->had[1], now_ms, span_ms) == 0;
}

static void parties_sweep(struct ali_parties *parties, int64_t now_ms, int64_t span_ms)
{
    void *cursor = NULL;
    const char *name = NULL;
    void *value = NULL;

    while (ccm_strmap_next(parties->all, &cursor, &name, &value)) {
        if (party_is_idle(value, now_ms, span_ms)) {
            ccm_strmap_del(parties->all, name);
        }
    }
    parties->sweep_at = 2 * ccm_strmap_len(parties->all);
    parties->sweep_at = parties->sweep_at < SWEEP_LEAST ? SWEEP_LEAST : parties->sweep_at;
}

struct ali_party *ali_parties_get(struct ali_parties *parties, const char *object, int64_t now_ms,
                                  int64_t span_ms)
{
    const char *end = object == NULL ? NULL : strchr(object, '/');
    char name[NAMESPACE_MAX] = "";
    struct ali_party *party = NULL;

    if (end != NULL) {
        ccm_text_printf(name, sizeof(name), "%.*s", (int)(end - object), object);
    }
    party = ccm_strmap_get(parties->all, name);
    if (party != NULL) {
        return party;
    }
    if (ccm_strmap_len(parties->all) >= parties->sweep_at) {
        parties_sweep(parties, now_ms, span_ms);
    }
    party = calloc(1, sizeof(*party));
    if (party != NULL && ccm_strmap_set(parties->all, name, party) < 0) {
        free(party);
        party = NULL;
    }
    return party;
}

/* --- turns --- */

int64_t ali_parties_enter(struct ali_parties *parties, struct ali_party *party,
                          enum ali_priority priority)
{
    const int64_t last = party->waiting[priority]++ == 0 ? 0 : party->last[priority];
    const int64_t served = parties->turns[priority];

    party->last[priority] = (last > served ? last : served) + 1;
    return party->last[priority];
}

void ali_parties_leave(struct ali_parties *parties, struct ali_party *party,
                       enum ali_priority priority, int64_t turn, bool served)
{
    party->waiting[priority]--;
    if (served && turn > parties->turns[priority]) {
        parties->turns[priority] = turn;
    }
    if (!served && turn == party->last[priority]) {
        party->last[priority]--;
    }
}

struct ali_lately *ali_party_had(struct ali_party *party, enum ali_priority priority)
{
    return &party->had[priority == ALI_PRIO_NEW ? 0 : 1];
}

void ali_parties_walk(struct ali_parties *parties)
{
    parties->walk++;
}

int64_t *ali_party_ahead(const struct ali_parties *parties, struct ali_party *party,
                         enum ali_priority priority)
{
    if (party->walk != parties->walk) {
        party->walk = parties->walk;
        party->ahead[0] = party->ahead[1] = 0;
    }
    return &party->ahead[priority == ALI_PRIO_NEW ? 0 : 1];
}
