#include "lbc/apply/diff.h"

#include "util/text.h"

#include <errno.h>

void lbc_diff_fini(struct lbc_diff *diff)
{
    lbc_backends_fini(&diff->add);
    lbc_backends_fini(&diff->remove);
    lbc_backends_fini(&diff->update);
}

static const char *diff_describe(const struct lbc_group *have, const struct lbc_backend *one)
{
    return one->description == NULL ? have->name : one->description;
}

static bool diff_owns(const struct lbc_diff_rules *rules, const struct lbc_group *have,
                      const struct lbc_backend *one)
{
    return rules->owns(rules->self, diff_describe(have, one));
}

/* --- ports that have chosen the same group --- */

static bool diff_shares(const struct lbc_group *a, const struct lbc_group *b)
{
    return a == b || (a->id != NULL && ccm_text_equal(a->id, b->id));
}

static const struct lbc_group *diff_first_wanting(const struct lbc_group *want,
                                                  const struct lbc_diff_rules *rules,
                                                  const struct lbc_backend *one)
{
    for (size_t i = 0; i < rules->want->group_count; i++) {
        const struct lbc_group *group = rules->want->groups[i];

        if (diff_shares(want, group) && !group->broken &&
            lbc_backends_find(&group->backends, one) != NULL) {
            return group;
        }
    }
    return NULL;
}

bool lbc_diff_speaks(const struct lbc_group *want, const struct lbc_diff_rules *rules)
{
    size_t i = 0;

    while (!diff_shares(want, rules->want->groups[i])) {
        i++;
    }
    return rules->want->groups[i] == want;
}

bool lbc_diff_forbids(const struct lbc_group *want, const struct lbc_diff_rules *rules,
                      bool removal)
{
    for (size_t i = 0; i < rules->want->group_count; i++) {
        const struct lbc_group *group = rules->want->groups[i];

        if (diff_shares(want, group) &&
            (group->add_only || (removal && (group->frozen_by || group->broken)))) {
            return true;
        }
    }
    return false;
}

size_t lbc_diff_count_desired(const struct lbc_group *want, const struct lbc_diff_rules *rules)
{
    size_t count = 0;

    for (size_t i = 0; i < rules->want->group_count; i++) {
        const struct lbc_group *group = rules->want->groups[i];

        for (size_t b = 0; diff_shares(want, group) && b < group->backends.len; b++) {
            count += group->backends.items[b].leaving ? 0 : 1;
        }
    }
    return count;
}

/* --- one group --- */

/* The largest weight of what is there already and ours; that of `one` when there is none. */
static uint8_t diff_peer_weight(const struct lbc_group *have, const struct lbc_diff_rules *rules,
                                const struct lbc_backend *one)
{
    int weight = -1;

    for (size_t i = 0; i < have->backends.len; i++) {
        const struct lbc_backend *peer = &have->backends.items[i];

        if (!peer->leaving && peer->weight > weight && diff_owns(rules, have, peer)) {
            weight = peer->weight;
        }
    }
    return weight < 0 ? one->weight : (uint8_t)weight;
}

static int diff_add(const struct lbc_group *have, const struct lbc_diff_rules *rules,
                    const struct lbc_backend *one, struct lbc_diff *ret)
{
    struct lbc_backend next = *one;

    if (rules->peer_weights) {
        next.weight = diff_peer_weight(have, rules, one);
    }
    return lbc_backends_put(&ret->add, &next);
}

/* Somebody else's backend stays as it is, even if we want it as well. */
static int diff_update(const struct lbc_group *want, const struct lbc_group *have,
                       const struct lbc_diff_rules *rules, const struct lbc_backend *one,
                       const struct lbc_backend *twin, struct lbc_diff *ret)
{
    const char *description = diff_describe(have, twin);
    struct lbc_backend next = *one;

    if (one->leaving) {
        next.weight = 0;
    } else if (rules->keep_weights) {
        next.weight = twin->weight;
    }
    if (one->kept || !rules->owns(rules->self, description) ||
        (ccm_text_equal(description, lbc_group_key(want)) && twin->weight == next.weight)) {
        return 0;
    }
    next.leaving = false;
    return lbc_backends_put(&ret->update, &next);
}

static int diff_desired(const struct lbc_group *want, const struct lbc_group *have,
                        const struct lbc_diff_rules *rules, const struct lbc_backend *one,
                        struct lbc_diff *ret)
{
    const struct lbc_backend *twin = lbc_backends_find(&have->backends, one);

    if (diff_first_wanting(want, rules, one) != want) {
        return 0;
    }
    if (twin == NULL) {
        return one->leaving ? 0 : diff_add(have, rules, one, ret);
    }
    if (twin->leaving) {
        ret->waits = ret->waits || !one->leaving;
        return 0;
    }
    return diff_update(want, have, rules, one, twin, ret);
}

int lbc_backends_diff(const struct lbc_group *want, const struct lbc_group *have,
                      const struct lbc_diff_rules *rules, struct lbc_diff *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < want->backends.len; i++) {
        r = diff_desired(want, have, rules, &want->backends.items[i], ret);
    }
    for (size_t i = 0; r == 0 && i < have->backends.len; i++) {
        const struct lbc_backend *one = &have->backends.items[i];

        if (!one->leaving && diff_owns(rules, have, one) &&
            diff_first_wanting(want, rules, one) == NULL) {
            r = lbc_backends_put(&ret->remove, one);
        }
    }
    return r;
}

size_t lbc_diff_count_own(const struct lbc_group *have, const struct lbc_diff_rules *rules)
{
    size_t count = 0;

    for (size_t i = 0; i < have->backends.len; i++) {
        const struct lbc_backend *one = &have->backends.items[i];

        count += !one->leaving && diff_owns(rules, have, one) ? 1 : 0;
    }
    return count;
}

int lbc_diff_list_own(const struct lbc_group *have, const struct lbc_diff_rules *rules,
                      struct lbc_backends *ret, bool *ret_foreign)
{
    int r = 0;

    *ret_foreign = false;
    for (size_t i = 0; r == 0 && i < have->backends.len; i++) {
        const struct lbc_backend *one = &have->backends.items[i];

        if (!diff_owns(rules, have, one)) {
            *ret_foreign = true;
        } else if (!one->leaving) {
            r = lbc_backends_put(ret, one);
        }
    }
    return r;
}
