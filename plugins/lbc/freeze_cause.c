/* Why a backend that is there is not wanted: was it sent away, or is something missing? */
#include "lbc/freeze_pass.h"

#include "lbc/model/endpoint.h"
#include "lbc/pass.h"
#include "util/text.h"

#include <string.h>

/* --- the nodes of the pass --- */

/* Out of memory: it stays NULL, and every node counts as missing, from now on. */
static void index_nodes(struct lbc_freeze *freeze)
{
    if (freeze->by_server != NULL) {
        return;
    }
    freeze->by_server = ccm_strmap_new(NULL);
    for (size_t i = 0; freeze->by_server != NULL && i < freeze->nodes->len; i++) {
        struct lbc_node_entry *entry = &freeze->nodes->items[i];
        const char *id = lbc_node_instance_id(entry->node);
        int r = id == NULL ? 0 : ccm_strmap_set(freeze->by_server, id, entry);

        for (uint64_t a = 0; r == 0 && a < entry->node->address_count; a++) {
            if (lbc_node_is_internal(entry->node->addresses[a])) {
                r = ccm_strmap_set(freeze->by_server, entry->node->addresses[a]->address, entry);
            }
        }
        if (r < 0) {
            ccm_strmap_free(freeze->by_server);
            freeze->by_server = NULL;
        }
    }
}

void lbc_freeze_drop_other(struct lbc_freeze *freeze)
{
    if (freeze->other.node != NULL) {
        freeze->pass->lbc->host->release(freeze->pass->lbc->host, &freeze->other.node->meta);
        freeze->other.node = NULL;
    }
}

/* One that the pass did not take, as no endpoint names it. Valid until the next such look. */
static const struct lbc_node_entry *freeze_find_other(struct lbc_freeze *freeze, const char *server)
{
    const struct ccm_node *node = lbc_snapshot_find_server(freeze->pass, server);

    lbc_freeze_drop_other(freeze);
    if (node == NULL) {
        return NULL;
    }
    freeze->other = (struct lbc_node_entry){
        .node = node,
        .use = lbc_node_classify(node, &freeze->nodes->rules),
    };
    return &freeze->other;
}

static const struct lbc_node_entry *freeze_find_node(struct lbc_freeze *freeze, const char *server)
{
    const struct lbc_node_entry *found = NULL;

    index_nodes(freeze);
    if (freeze->by_server == NULL) {
        return NULL;
    }
    found = ccm_strmap_get(freeze->by_server, server);
    return found == NULL && freeze->mode != LBC_MODE_CLUSTER ? freeze_find_other(freeze, server)
                                                             : found;
}

/* Whose node port it is; NULL = of another port it is the Service that changed. */
static const struct ccm_service *freeze_find_port(const struct lbc_freeze *freeze, uint16_t port)
{
    const struct ccm_service *service = freeze->pass->service;
    const struct lbc_model_ops *ops = freeze->pass->lbc->ops->model;

    if (ops->find_node_port != NULL) {
        return ops->find_node_port(service, port);
    }
    for (uint64_t i = 0; i < service->port_count; i++) {
        if (service->ports[i]->node_port == port) {
            return service;
        }
    }
    return NULL;
}

/* Whether only nodes with pods are backends at that port. */
static bool freeze_is_local(const struct lbc_freeze *freeze, uint16_t port)
{
    const struct ccm_service *service = freeze_find_port(freeze, port);

    return freeze->mode != LBC_MODE_PODS && service != NULL &&
           ccm_text_equal(service->external_traffic_policy, "Local");
}

/* --- endpoints that are there --- */

/* Find the next address of the slices: *slice and *at begin with 0. */
static const struct ccm_endpoint *next_endpoint(const struct lbc_pass *pass, size_t *slice,
                                                uint64_t *at)
{
    while (*slice < pass->snapshot.slice_count) {
        const struct ccm_endpoint_slice *one =
            (const struct ccm_endpoint_slice *)pass->snapshot.slices[*slice];

        if (*at < lbc_endpoint_size(one)) {
            return lbc_endpoint_at(one, (*at)++);
        }
        (*slice)++;
        *at = 0;
    }
    return NULL;
}

static const struct ccm_endpoint *find_endpoint(const struct lbc_pass *pass, const char *address)
{
    size_t slice = 0;
    uint64_t at = 0;
    const struct ccm_endpoint *one = next_endpoint(pass, &slice, &at);

    while (one != NULL && strcmp(one->address, address) != 0) {
        one = next_endpoint(pass, &slice, &at);
    }
    return one;
}

/* Whether pods that may take traffic are on the node; name NULL: on any that is not there. */
static bool has_pods(const struct lbc_freeze *freeze, const char *name)
{
    size_t slice = 0;
    uint64_t at = 0;
    const struct ccm_endpoint *one = next_endpoint(freeze->pass, &slice, &at);

    for (; one != NULL; one = next_endpoint(freeze->pass, &slice, &at)) {
        if (lbc_endpoint_is_usable(one, freeze->pass->readiness.accepted) &&
            (name == NULL ? lbc_node_table_get(freeze->nodes, one->node_name) == NULL
                          : strcmp(one->node_name, name) == 0)) {
            return true;
        }
    }
    return false;
}

/* --- causes --- */

/* The address that the backend has, if it would be desired but for a rule. */
static const struct lbc_ruled *freeze_find_ruled(const struct lbc_freeze *freeze,
                                                 const struct lbc_backend *one)
{
    const struct lbc_model *model = freeze->pass->model;

    for (size_t i = 0; one->type != LBC_BACKEND_INSTANCE && i < model->want->group_count; i++) {
        const struct lbc_candidates *set = &model->sets[i];

        for (size_t j = 0; j < set->ruled_len; j++) {
            if (lbc_ruled_is(&set->ruled[j], one)) {
                return &set->ruled[j];
            }
        }
    }
    return NULL;
}

static enum lbc_freeze_cause rule_cause(enum lbc_own_rule rule, struct lbc_freeze_case *ret)
{
    *ret = (struct lbc_freeze_case){ .cause = LBC_FREEZE_RULE, .rule = rule };
    return LBC_FREEZE_RULE;
}

static enum lbc_freeze_cause cause_of(enum lbc_freeze_cause cause, const struct lbc_absent *absent,
                                      struct lbc_freeze_case *ret)
{
    *ret = (struct lbc_freeze_case){
        .cause = cause,
        .seen = absent->seen,
        .since_ms = absent->since_ms,
    };
    return cause;
}

/* Without any slice nobody knows who serves, if there ever was one. */
static enum lbc_freeze_cause find_lost_slices(struct lbc_freeze *freeze,
                                              struct lbc_freeze_case *ret)
{
    const struct lbc_pass *pass = freeze->pass;
    const bool first = lbc_hash_may_hold(pass->hash.verdict) && !pass->entry->freeze.decided;
    struct lbc_absent lost;

    if (pass->snapshot.slice_count > 0 ||
        !lbc_absence_lost_slices(pass->lbc->absence, pass->service->meta.key, first, &lost)) {
        return LBC_FREEZE_NONE;
    }
    return cause_of(LBC_FREEZE_SLICE, &lost, ret);
}

/* A node that is there, or of which at least the name is known, has no pods any more. */
static enum lbc_freeze_cause find_lost_pods(struct lbc_freeze *freeze, const char *node,
                                            struct lbc_freeze_case *ret)
{
    struct lbc_absent lost;

    if (lbc_absence_find_endpoint_on(freeze->pass->lbc->absence, freeze->pass->service->meta.key,
                                     node, &lost)) {
        return cause_of(LBC_FREEZE_SLICE, &lost, ret);
    }
    return find_lost_slices(freeze, ret);
}

static enum lbc_freeze_cause find_missing_node(struct lbc_freeze *freeze,
                                               const struct lbc_backend *one,
                                               struct lbc_freeze_case *ret,
                                               struct lbc_absent *absent)
{
    const enum lbc_absence_by by =
        one->type == LBC_BACKEND_INSTANCE ? LBC_ABSENCE_BY_INSTANCE : LBC_ABSENCE_BY_ADDRESS;

    lbc_absence_find_node(freeze->pass->lbc->absence, by, one->server_id, absent);

    const char *name = absent->name[0] == '\0' ? NULL : absent->name;

    if (freeze_is_local(freeze, one->port) && !has_pods(freeze, name)) {
        return name == NULL ? find_lost_slices(freeze, ret) : find_lost_pods(freeze, name, ret);
    }
    return cause_of(LBC_FREEZE_NODE, absent, ret);
}

static enum lbc_freeze_cause find_node_cause(struct lbc_freeze *freeze,
                                             const struct lbc_backend *one,
                                             struct lbc_freeze_case *ret, struct lbc_absent *absent)
{
    const struct lbc_node_entry *entry = freeze_find_node(freeze, one->server_id);

    if (freeze_find_port(freeze, one->port) == NULL) {
        return LBC_FREEZE_NONE;
    }
    if (entry == NULL) {
        return find_missing_node(freeze, one, ret, absent);
    }
    ccm_text_copy(absent->name, sizeof(absent->name), entry->node->meta.name);
    if (entry->use != LBC_NODE_NOT_READY && entry->use != LBC_NODE_BACKEND) {
        return LBC_FREEZE_NONE;
    }
    const bool lacks =
        freeze_is_local(freeze, one->port) && !has_pods(freeze, entry->node->meta.name);
    const bool may_have = lacks && has_pods(freeze, ""); /* those of endpoints without nodeName */

    if (lacks && !may_have) {
        return find_lost_pods(freeze, entry->node->meta.name, ret);
    }
    if (entry->use == LBC_NODE_NOT_READY) {
        return lbc_node_is_silent(entry->node) ? rule_cause(LBC_OWN_RULE_SILENT, ret)
                                               : cause_of(LBC_FREEZE_NOT_READY, absent, ret);
    }
    return may_have ? rule_cause(LBC_OWN_RULE_NODELESS, ret) : LBC_FREEZE_NONE;
}

/* A pod that is a backend itself; in other modes than PODS those of virtual nodes are. */
static enum lbc_freeze_cause find_pod_cause(struct lbc_freeze *freeze, const char *address,
                                            struct lbc_freeze_case *ret, struct lbc_absent *absent)
{
    struct lbc_absence *absence = freeze->pass->lbc->absence;
    const struct ccm_endpoint *endpoint = find_endpoint(freeze->pass, address);
    struct lbc_absent lost;

    if (endpoint != NULL && freeze->mode != LBC_MODE_PODS && endpoint->node_name[0] != '\0' &&
        lbc_endpoint_is_usable(endpoint, freeze->pass->readiness.accepted) &&
        lbc_node_table_get(freeze->nodes, endpoint->node_name) == NULL) {
        lbc_absence_find_node(absence, LBC_ABSENCE_BY_NAME, endpoint->node_name, absent);
        ccm_text_copy(absent->name, sizeof(absent->name), endpoint->node_name);
        return cause_of(LBC_FREEZE_NODE, absent, ret);
    }
    if (endpoint != NULL) {
        return LBC_FREEZE_NONE;
    }
    if (lbc_absence_find_endpoint(absence, freeze->pass->service->meta.key, address, &lost)) {
        return cause_of(LBC_FREEZE_SLICE, &lost, ret);
    }
    return find_lost_slices(freeze, ret);
}

static bool is_pod(const struct lbc_freeze *freeze, const struct lbc_backend *one)
{
    return one->type == LBC_BACKEND_INTERFACE ||
           (one->type == LBC_BACKEND_IP &&
            (freeze->mode == LBC_MODE_PODS || freeze_find_port(freeze, one->port) == NULL));
}

enum lbc_freeze_cause lbc_freeze_find_cause(struct lbc_freeze *freeze,
                                            const struct lbc_backend *one,
                                            struct lbc_freeze_case *ret_case,
                                            struct lbc_absent *ret_absent)
{
    const struct lbc_ruled *ruled = freeze_find_ruled(freeze, one);

    memset(ret_absent, 0, sizeof(*ret_absent));
    if (ruled != NULL) {
        ccm_text_copy(ret_absent->name, sizeof(ret_absent->name),
                      ruled->pod[0] == '\0' ? ruled->address : ruled->pod);
        return rule_cause(ruled->rule, ret_case);
    }
    if (is_pod(freeze, one)) {
        return find_pod_cause(freeze, one->server_ip, ret_case, ret_absent);
    }
    /* Instances of a Service whose pods are backends now: a person changed it. */
    return freeze->mode == LBC_MODE_PODS ? LBC_FREEZE_NONE
                                         : find_node_cause(freeze, one, ret_case, ret_absent);
}

/* --- for people --- */

/* Another interface has the address by now. */
static bool is_replaced(const struct lbc_freeze *freeze, const struct lbc_backend *one)
{
    const struct lbc_state *want = freeze->pass->model->want;

    for (size_t i = 0; one->type == LBC_BACKEND_INTERFACE && i < want->group_count; i++) {
        const struct lbc_backends *set = &want->groups[i]->backends;

        for (size_t k = 0; k < set->len; k++) {
            if (ccm_text_equal(set->items[k].server_ip, one->server_ip) &&
                !ccm_text_equal(set->items[k].server_id, one->server_id)) {
                return true;
            }
        }
    }
    return false;
}

static const char *explain_pod(struct lbc_freeze *freeze, const struct lbc_backend *one)
{
    const struct ccm_endpoint *endpoint = find_endpoint(freeze->pass, one->server_ip);

    if (endpoint == NULL) {
        return freeze->mode != LBC_MODE_PODS && freeze_find_node(freeze, one->server_ip) != NULL
                   ? "nodes, at a port that is not the Service's:"
                   : "pods gone:";
    }
    if ((endpoint->flags & CCM_ENDPOINT_TERMINATING) != 0) {
        return "pods being stopped:";
    }
    if (is_replaced(freeze, one)) {
        return "addresses that another network interface has now:";
    }
    return lbc_endpoint_is_usable(endpoint, freeze->pass->readiness.accepted)
               ? "pods that are no backends any more:"
               : "pods not ready:";
}

const char *lbc_freeze_explain(struct lbc_freeze *freeze, const struct lbc_backend *one,
                               const char **ret_name)
{
    const char *words = NULL;

    *ret_name = one->type == LBC_BACKEND_INTERFACE ? one->server_ip : one->server_id;
    if (is_pod(freeze, one)) {
        return explain_pod(freeze, one);
    }
    if (freeze->mode == LBC_MODE_PODS || freeze_find_port(freeze, one->port) == NULL) {
        return "nodes, as the Service was changed:";
    }
    const struct lbc_node_entry *entry = freeze_find_node(freeze, one->server_id);

    if (entry == NULL) {
        return "nodes deleted:";
    }
    *ret_name = entry->node->meta.name;
    words = lbc_node_explain(entry->node, &freeze->nodes->rules);
    return words == NULL ? "nodes without a ready pod:" : words;
}

const struct ccm_node *lbc_freeze_find_node(struct lbc_freeze *freeze,
                                            const struct lbc_backend *one)
{
    const struct lbc_node_entry *entry =
        is_pod(freeze, one) ? NULL : freeze_find_node(freeze, one->server_id);

    return entry == NULL ? NULL : entry->node;
}

bool lbc_freeze_serves(struct lbc_freeze *freeze, const struct lbc_backend *one)
{
    if (is_pod(freeze, one)) {
        const struct ccm_endpoint *endpoint = find_endpoint(freeze->pass, one->server_ip);

        return endpoint != NULL &&
               lbc_endpoint_is_usable(endpoint, freeze->pass->readiness.accepted);
    }
    const struct ccm_node *node = lbc_freeze_find_node(freeze, one);

    return node != NULL && node->ready == CCM_CONDITION_TRUE &&
           freeze_find_port(freeze, one->port) != NULL &&
           (!freeze_is_local(freeze, one->port) || has_pods(freeze, node->meta.name));
}
