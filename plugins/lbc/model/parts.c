#include "lbc/model/parts.h"

#include "lbc/model/share.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The backends of one Service. */
struct part_set {
    struct lbc_candidates set;
    uint64_t worth;
    uint32_t *inside;
    uint32_t *weights;
};

struct part_sets {
    struct part_set *items;
    size_t len;
};

static void part_sets_fini(struct part_sets *parts)
{
    for (size_t i = 0; i < parts->len; i++) {
        lbc_candidates_fini(&parts->items[i].set);
        free(parts->items[i].inside);
        free(parts->items[i].weights);
    }
    free(parts->items);
}

/* --- one Service --- */

/* Order does not depend on that of slices and nodes: weights may go by it. */
static int candidate_compare(const void *a, const void *b)
{
    const struct lbc_candidate *left = a;
    const struct lbc_candidate *right = b;
    const int by_id = strcmp(left->instance_id, right->instance_id);
    const int by_address = by_id != 0 ? by_id : strcmp(left->address, right->address);

    return by_address != 0 ? by_address : (int)left->port - (int)right->port;
}

/* Heap; NULL on ENOMEM. */
static const struct ccm_object **part_select_slices(const struct lbc_candidate_input *in,
                                                    const struct ccm_service *service,
                                                    size_t *ret_count)
{
    const struct ccm_object **slices = calloc(in->slice_count + 1, sizeof(*slices));

    *ret_count = 0;
    for (size_t i = 0; slices != NULL && i < in->slice_count; i++) {
        const struct ccm_endpoint_slice *one = (const struct ccm_endpoint_slice *)in->slices[i];

        if (strcmp(one->service_name, service->meta.name) == 0 &&
            strcmp(one->meta.namespace_, service->meta.namespace_) == 0) {
            slices[(*ret_count)++] = in->slices[i];
        }
    }
    return slices;
}

static int part_build(const struct lbc_candidate_input *in, const struct lbc_part *target,
                      struct part_set *part, struct ccm_error *err)
{
    struct lbc_candidate_input own = *in;
    CCM_CLEANUP(ccm_freep)
    const struct ccm_object **slices = part_select_slices(in, target->service, &own.slice_count);
    int r = 0;

    if (slices == NULL) {
        return ccm_error_nomem(err);
    }
    own.service = target->service;
    own.slices = slices;
    if (in->mode != LBC_MODE_PODS) {
        own.mode = ccm_text_equal(target->service->external_traffic_policy, "Local")
                       ? LBC_MODE_LOCAL
                       : LBC_MODE_CLUSTER;
    }
    part->worth = target->weight;
    r = lbc_candidates_build(&own, target->port, &part->set, err);
    if (r == 0 && part->set.len > 0) {
        qsort(part->set.items, part->set.len, sizeof(*part->set.items), candidate_compare);
    }
    return r;
}

/* --- all of them --- */

static int part_add_weights(struct part_set *part, struct lbc_share *share)
{
    part->inside = calloc(part->set.len + 1, sizeof(*part->inside));
    part->weights = calloc(part->set.len + 1, sizeof(*part->weights));
    *share = (struct lbc_share){ part->worth, part->inside, part->weights, 0 };
    if (part->inside == NULL || part->weights == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < part->set.len; i++) {
        if (part->set.items[i].weight > 0) { /* else it takes nothing, as it leaves */
            part->inside[share->count++] = part->set.items[i].weight;
        }
    }
    return 0;
}

static int parts_set_weights(struct part_sets *parts, struct ccm_error *err)
{
    struct lbc_share shares[LBC_SHARE_SETS];

    for (size_t i = 0; i < parts->len; i++) {
        if (part_add_weights(&parts->items[i], &shares[i]) < 0) {
            return ccm_error_nomem(err);
        }
    }
    lbc_share_scale(shares, parts->len);
    for (size_t i = 0; i < parts->len; i++) {
        struct lbc_candidates *set = &parts->items[i].set;
        size_t at = 0;

        for (size_t j = 0; j < set->len; j++) {
            if (set->items[j].weight > 0) {
                set->items[j].weight = parts->items[i].weights[at++];
            }
        }
    }
    return 0;
}

/* The same pod may stand behind two Services: it takes what both would send. */
static void merged_fold(struct lbc_candidates *all)
{
    size_t kept = 0;

    for (size_t i = 0; i < all->len; i++) {
        const struct lbc_candidate *one = &all->items[i];
        struct lbc_candidate *before = kept == 0 ? NULL : &all->items[kept - 1];

        if (before != NULL && candidate_compare(before, one) == 0) {
            const uint32_t sum = before->weight + one->weight;

            before->weight = sum > LBC_SHARE_MAX ? LBC_SHARE_MAX : sum;
            before->leaving = before->leaving && one->leaving;
        } else {
            all->items[kept++] = *one;
        }
    }
    all->len = kept;
}

static int merged_add_part(struct lbc_candidates *to, const struct lbc_candidates *part)
{
    if (part->len == 0) {
        return 0;
    }
    if (ccm_array_grow(&to->items, &to->cap, to->len + part->len, sizeof(*to->items)) < 0) {
        return -ENOMEM;
    }
    memcpy(&to->items[to->len], part->items, part->len * sizeof(*to->items));
    to->len += part->len;
    return 0;
}

static int merged_add_ruled(struct lbc_candidates *to, const struct lbc_candidates *part)
{
    if (part->ruled_len == 0) {
        return 0;
    }
    if (ccm_array_grow(&to->ruled, &to->ruled_cap, to->ruled_len + part->ruled_len,
                       sizeof(*to->ruled)) < 0) {
        return -ENOMEM;
    }
    memcpy(&to->ruled[to->ruled_len], part->ruled, part->ruled_len * sizeof(*to->ruled));
    to->ruled_len += part->ruled_len;
    return 0;
}

/* What is said of a part holds for the whole where all parts say so, or one is reason enough. */
static void merge_findings(struct lbc_candidates *to, struct lbc_candidates *part)
{
    to->nameless = to->nameless == NULL ? part->nameless : to->nameless;
    to->podless = to->podless == NULL ? part->podless : to->podless;
    to->no_ready = to->no_ready && part->no_ready;
    if (to->frozen_by == LBC_FROZEN_BY_NONE) {
        to->frozen_by = part->frozen_by;
    }
    if (to->why == NULL) {
        to->why = CCM_STEAL(part->why);
    }
}

static int parts_merge(struct part_sets *parts, struct lbc_candidates *ret, struct ccm_error *err)
{
    ret->no_ready = true;
    for (size_t i = 0; i < parts->len; i++) {
        if (merged_add_part(ret, &parts->items[i].set) < 0 ||
            merged_add_ruled(ret, &parts->items[i].set) < 0) {
            return ccm_error_nomem(err);
        }
        merge_findings(ret, &parts->items[i].set);
    }
    if (parts->len > 1 && ret->len > 0) {
        qsort(ret->items, ret->len, sizeof(*ret->items), candidate_compare);
    }
    merged_fold(ret);
    if (!ret->no_ready && ret->len > 0) {
        free(ret->why);
        ret->why = NULL;
    }
    return 0;
}

int lbc_parts_build(const struct lbc_candidate_input *in, const struct ccm_service_port *port,
                    const struct lbc_part *parts, size_t count, struct lbc_candidates *ret,
                    struct ccm_error *err)
{
    CCM_CLEANUP(part_sets_fini) struct part_sets sets = { NULL, 0 };
    int r = 0;

    ret->port = port;
    ret->by_address = in->by_address;
    sets.items = calloc(count + 1, sizeof(*sets.items));
    if (sets.items == NULL) {
        return ccm_error_nomem(err);
    }
    for (size_t i = 0; r == 0 && i < count && sets.len < LBC_SHARE_SETS; i++) {
        if (parts[i].weight > 0) {
            r = part_build(in, &parts[i], &sets.items[sets.len++], err);
        }
    }
    /* One alone keeps the weights that it would have behind a Service of its own. */
    if (r == 0 && sets.len > 1) {
        r = parts_set_weights(&sets, err);
    }
    return r < 0 ? r : parts_merge(&sets, ret, err);
}
