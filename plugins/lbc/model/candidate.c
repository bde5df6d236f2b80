#include "lbc/model/candidate.h"
#include "lbc/names.h"

#include "ccm/object.h"
#include "lbc/model/empty.h"
#include "lbc/model/settings.h"
#include "util/array.h"
#include "util/cidr.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum lbc_backend_mode lbc_backend_mode(const struct ccm_service *service, bool pods_by_default)
{
    const char *type = ccm_object_annotation(&service->meta, lbc_names.backend_type);

    if (ccm_text_empty(type) ? pods_by_default : strcmp(type, lbc_names.pods) == 0) {
        return LBC_MODE_PODS;
    }
    return ccm_text_equal(service->external_traffic_policy, "Local") ? LBC_MODE_LOCAL
                                                                     : LBC_MODE_CLUSTER;
}

bool lbc_ruled_is(const struct lbc_ruled *ruled, const struct lbc_backend *backend)
{
    return (ruled->port == 0 || ruled->port == backend->port) &&
           ccm_ip_equal_text(ruled->address, backend->server_ip);
}

void lbc_candidates_fini(struct lbc_candidates *candidates)
{
    free(candidates->items);
    free(candidates->ruled);
    free(candidates->why);
    memset(candidates, 0, sizeof(*candidates));
}

static int candidates_add_one(struct lbc_candidates *to, const struct lbc_candidate *one,
                              struct ccm_error *err)
{
    if (ccm_array_grow(&to->items, &to->cap, to->len + 1, sizeof(*to->items)) < 0) {
        return ccm_error_nomem(err);
    }
    to->items[to->len++] = *one;
    return 0;
}

int lbc_candidates_add_ruled(struct lbc_candidates *to, const struct lbc_ruled *one)
{
    if (ccm_array_grow(&to->ruled, &to->ruled_cap, to->ruled_len + 1, sizeof(*to->ruled)) < 0) {
        return -ENOMEM;
    }
    to->ruled[to->ruled_len++] = *one;
    return 0;
}

/* One that is being stopped is removed, as others are. */
static int candidates_add_endpoint(struct lbc_candidates *to, const struct lbc_endpoint_ref *ref,
                                   enum lbc_own_rule rule, struct ccm_error *err)
{
    const struct lbc_ruled one = {
        .address = ref->endpoint->address,
        .pod = ref->endpoint->pod_name,
        .port = ref->port,
        .rule = rule,
    };

    return ref->leaving || lbc_candidates_add_ruled(to, &one) == 0 ? 0 : ccm_error_nomem(err);
}

/* The rule against it; negative: out of memory. */
static int find_rule(const struct lbc_candidate_input *in, const struct lbc_endpoint_ref *ref)
{
    if (ref->further) {
        return LBC_OWN_RULE_FURTHER;
    }
    return in->judge == NULL ? LBC_OWN_RULE_NONE : in->judge(in->judge_self, ref);
}

static int add_pod(const struct lbc_candidate_input *in, const struct lbc_endpoint_ref *ref,
                   struct lbc_candidates *to, struct ccm_error *err)
{
    const struct lbc_candidate one = {
        .address = ref->endpoint->address,
        .instance_id = "",
        .owner = lbc_endpoint_owner(ref->endpoint),
        .port = ref->port,
        .leaving = ref->leaving,
    };
    int rule = LBC_OWN_RULE_NONE;

    if (in->pods_only && ref->endpoint->pod_name[0] == '\0') {
        to->podless = one.address;
        return 0;
    }
    rule = find_rule(in, ref);
    if (rule < 0) {
        return ccm_error_nomem(err);
    }
    return rule == LBC_OWN_RULE_NONE
               ? candidates_add_one(to, &one, err)
               : candidates_add_endpoint(to, ref, (enum lbc_own_rule)rule, err);
}

/* The IPv4 one; NULL when the node has none (yet). */
static const char *internal_ip(const struct ccm_node *node)
{
    for (uint64_t i = 0; i < node->address_count; i++) {
        if (lbc_node_is_internal(node->addresses[i]) &&
            strchr(node->addresses[i]->address, ':') == NULL) {
            return node->addresses[i]->address;
        }
    }
    return NULL;
}

static int add_node(struct lbc_candidates *to, const struct lbc_node_entry *entry,
                    const struct ccm_service_port *port, bool leaving, struct ccm_error *err)
{
    const char *address = to->by_address ? internal_ip(entry->node) : "";
    const struct lbc_candidate one = {
        .address = address,
        .instance_id = to->by_address ? "" : entry->instance_id,
        .node = entry,
        .port = (uint16_t)port->node_port,
        .leaving = leaving,
    };

    return address == NULL ? 0 : candidates_add_one(to, &one, err);
}

static int build_pods(const struct lbc_candidate_input *in, const struct lbc_endpoints *endpoints,
                      struct lbc_candidates *ret, struct ccm_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < endpoints->len; i++) {
        r = add_pod(in, &endpoints->items[i], ret, err);
    }
    return r;
}

/* The node of an endpoint. *ret NULL: none, or none that is known. Without a name the endpoint may
 * be on a virtual node. */
static int candidate_find_node(const struct lbc_candidate_input *in,
                               const struct lbc_endpoint_ref *ref, struct lbc_candidates *set,
                               struct lbc_node_entry **ret, struct ccm_error *err)
{
    const char *name = ref->endpoint->node_name;

    *ret = name[0] == '\0' ? NULL : lbc_node_table_get(in->nodes, name);
    if (name[0] != '\0') {
        return 0;
    }
    set->nameless = set->nameless == NULL ? ref->endpoint->address : set->nameless;
    return candidates_add_endpoint(set, ref, LBC_OWN_RULE_NODELESS, err);
}

/* Count the pod, by each of its addresses; the node comes in with its first one. One that leaves
 * counts only where no other is: what is put twice becomes one backend. */
static int count_local(const struct ccm_service_port *port, const struct lbc_endpoint_ref *ref,
                       struct lbc_node_entry *entry, struct lbc_candidates *ret,
                       struct ccm_error *err)
{
    const uint32_t before = entry->pods;

    entry->pods += ref->leaving ? 0 : 1;
    return before == 0 ? add_node(ret, entry, port, ref->leaving, err) : 0;
}

static int build_local(const struct lbc_candidate_input *in, const struct ccm_service_port *port,
                       const struct lbc_endpoints *endpoints, struct lbc_candidates *ret,
                       struct ccm_error *err)
{
    for (size_t i = 0; i < endpoints->len; i++) {
        struct lbc_node_entry *entry = NULL;
        int r = candidate_find_node(in, &endpoints->items[i], ret, &entry, err);

        if (entry != NULL && entry->use == LBC_NODE_VIRTUAL) {
            r = add_pod(in, &endpoints->items[i], ret, err);
        } else if (entry != NULL && entry->use == LBC_NODE_BACKEND) {
            r = count_local(port, &endpoints->items[i], entry, ret, err);
        }
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static int build_cluster(const struct lbc_candidate_input *in, const struct ccm_service_port *port,
                         const struct lbc_endpoints *endpoints, struct lbc_candidates *ret,
                         struct ccm_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < in->nodes->len; i++) {
        if (in->nodes->items[i].use == LBC_NODE_BACKEND) {
            r = add_node(ret, &in->nodes->items[i], port, false, err);
        }
    }
    for (size_t i = 0; r == 0 && i < endpoints->len; i++) {
        struct lbc_node_entry *entry = NULL;

        r = candidate_find_node(in, &endpoints->items[i], ret, &entry, err);
        if (entry != NULL && entry->use == LBC_NODE_VIRTUAL) {
            r = add_pod(in, &endpoints->items[i], ret, err);
        }
    }
    return r;
}

/* Copy the pod counters of the nodes to the candidates, and say how many backends there were before
 * those of one node became one. */
static void count_pods(struct lbc_candidates *ret, uint32_t *ret_total, uint32_t *ret_max)
{
    uint32_t total = 0;
    uint32_t max = 0;

    for (size_t i = 0; i < ret->len; i++) {
        struct lbc_candidate *one = &ret->items[i];

        one->pods = one->node == NULL ? 0 : one->node->pods;
        max = one->pods > max ? one->pods : max;
        if (!one->leaving) {
            total += one->node == NULL ? 1 : one->pods;
        }
    }
    *ret_total = total;
    *ret_max = max;
}

/* Those that a rule is against take their share where they are present. */
static uint32_t count_staying(const struct lbc_candidates *set)
{
    uint32_t count = 0;

    for (size_t i = 0; i < set->len; i++) {
        count += set->items[i].leaving ? 0 : 1;
    }
    for (size_t i = 0; i < set->ruled_len; i++) {
        count += set->ruled[i].rule == LBC_OWN_RULE_NODELESS ? 0 : 1;
    }
    return count;
}

static void candidates_set_weights(const struct lbc_candidate_input *in, struct lbc_candidates *ret)
{
    struct lbc_weight_rule rule = in->weight;
    uint32_t total = count_staying(ret);
    uint32_t max = 0;

    rule.local = in->mode == LBC_MODE_LOCAL;
    if (rule.local) {
        count_pods(ret, &total, &max);
    }
    for (size_t i = 0; i < ret->len; i++) {
        struct lbc_candidate *one = &ret->items[i];

        one->weight = one->leaving ? 0 : lbc_weight_compute(&rule, one->pods, max, total);
    }
}

int lbc_candidates_check_port(enum lbc_backend_mode mode, const struct ccm_service_port *port,
                              struct ccm_error *err)
{
    if (mode == LBC_MODE_PODS || (port->node_port >= 1 && port->node_port <= UINT16_MAX)) {
        return 0;
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         LBC_NO_NODE_PORT ": set annotation %s to %s", lbc_names.backend_type,
                         lbc_names.pods);
}

/* A Service that is not to have the family any more loses its backends: others may get the
 * addresses. */
static bool awaits_family(const struct lbc_candidate_input *in, const struct lbc_candidates *set)
{
    return in->mode != LBC_MODE_CLUSTER && set->len == 0 &&
           !lbc_setting_lacks_family(in->service, in->families) &&
           lbc_endpoints_elsewhere(in->slices, in->slice_count, in->families);
}

/* Endpoints of it may be anywhere. */
static bool has_large_slice(const struct lbc_candidate_input *in)
{
    for (size_t i = 0; i < in->slice_count; i++) {
        if (in->slices[i]->too_large != NULL) {
            return true;
        }
    }
    return false;
}

static enum lbc_frozen_by candidates_frozen_by(const struct lbc_candidate_input *in,
                                               const struct lbc_candidates *set)
{
    if (has_large_slice(in)) {
        return LBC_FROZEN_BY_LARGE;
    }
    return awaits_family(in, set) ? LBC_FROZEN_BY_FAMILY : LBC_FROZEN_BY_NONE;
}

static int candidates_explain_empty(const struct lbc_candidate_input *in,
                                    const struct lbc_endpoints *endpoints,
                                    struct lbc_candidates *ret, struct ccm_error *err)
{
    size_t ready = 0;

    for (size_t i = 0; i < endpoints->len; i++) {
        ready += endpoints->items[i].leaving ? 0 : 1;
    }
    ret->no_ready = ready == 0;
    if (ready > 0 && ret->len > 0) {
        return 0;
    }
    ret->why = lbc_empty_explain(in, ret->port, endpoints, ret->len == 0);
    return ret->why == NULL && ready == 0 ? ccm_error_nomem(err) : 0;
}

int lbc_candidates_build(const struct lbc_candidate_input *in, const struct ccm_service_port *port,
                         struct lbc_candidates *ret, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_endpoints_fini) struct lbc_endpoints endpoints = { 0 };
    const struct lbc_endpoint_query query = {
        .port = port,
        .families = in->families,
        .any_port = in->any_port,
        .leaving = in->draining,
        .accepted = in->accepted,
    };
    int r = lbc_candidates_check_port(in->mode, port, err);

    if (r < 0) {
        return r;
    }
    if (lbc_endpoints_collect(in->slices, in->slice_count, &query, &endpoints) < 0) {
        return ccm_error_nomem(err);
    }
    for (size_t i = 0; i < in->nodes->len; i++) {
        in->nodes->items[i].pods = 0;
    }
    ret->port = port;
    ret->by_address = in->by_address;
    switch (in->mode) {
    case LBC_MODE_PODS:
        r = build_pods(in, &endpoints, ret, err);
        break;
    case LBC_MODE_LOCAL:
        r = build_local(in, port, &endpoints, ret, err);
        break;
    case LBC_MODE_CLUSTER:
        r = build_cluster(in, port, &endpoints, ret, err);
        break;
    }
    ret->frozen_by = candidates_frozen_by(in, ret);
    if (r == 0) {
        candidates_set_weights(in, ret);
        r = candidates_explain_empty(in, &endpoints, ret, err);
    }
    return r;
}

int lbc_candidates_reserve(struct lbc_candidates **sets, size_t *cap, size_t need)
{
    const size_t before = *cap;

    if (ccm_array_grow(sets, cap, need, sizeof(**sets)) < 0) {
        return -ENOMEM;
    }
    if (*cap > before) {
        memset(*sets + before, 0, (*cap - before) * sizeof(**sets));
    }
    return 0;
}

void lbc_candidates_target(enum lbc_backend_mode mode, const struct ccm_service_port *port,
                           char *ret, size_t size)
{
    if (mode == LBC_MODE_PODS && port->target_port_name[0] != '\0') {
        ccm_text_copy(ret, size, port->target_port_name);
        return;
    }
    const int64_t number = mode != LBC_MODE_PODS    ? port->node_port
                           : port->target_port != 0 ? port->target_port
                                                    : port->port;

    ccm_text_printf(ret, size, "%lld", (long long)number);
}
