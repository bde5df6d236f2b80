#include "lbc/model/node.h"

#include "ccm/object.h"
#include "lbc/keys.h"
#include "lbc/names.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool has_any_label(const struct ccm_node *node, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (ccm_object_label(&node->meta, keys[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* Its successor, node-role.kubernetes.io/control-plane, excludes no node: where every node has it,
 * nothing would serve. The label of is_excluded(), which kubeadm sets, excludes one. */
static bool is_master(const struct ccm_node *node)
{
    return ccm_object_label(&node->meta, "node-role.kubernetes.io/master") != NULL;
}

/* Labels that take a node out of this controller's sight altogether. */
static bool node_is_left_out(const struct ccm_node *node)
{
    const char *const keys[] = { lbc_names.exclude_node,
                                 "service.beta.kubernetes.io/exclude-node" };

    return has_any_label(node, keys, CCM_ARRAY_LEN(keys)) ||
           (lbc_names.foreign_node != NULL &&
            ccm_text_starts(node->provider_id, lbc_names.foreign_node));
}

static bool is_excluded(const struct ccm_node *node)
{
    static const char *const keys[] = { "alpha.service-controller.kubernetes.io/exclude-balancer",
                                        "node.kubernetes.io/exclude-from-external-load-balancers" };

    return node_is_left_out(node) || has_any_label(node, keys, CCM_ARRAY_LEN(keys));
}

static bool is_virtual(const struct ccm_node *node)
{
    return ccm_text_equal(ccm_object_label(&node->meta, "type"), "virtual-kubelet");
}

static bool has_taint(const struct ccm_node *node, const char *key)
{
    for (uint64_t i = 0; i < node->taint_count; i++) {
        if (strcmp(node->taints[i]->key, key) == 0) {
            return true;
        }
    }
    return false;
}

int lbc_node_check_labels(const char *labels, const char **ret_entry, size_t *ret_len)
{
    const char *cursor = labels;
    const char *entry = NULL;
    size_t len = 0;

    while (labels[0] != '\0' && ccm_parse_piece(&cursor, ',', &entry, &len)) {
        const char *equals = memchr(entry, '=', len);

        if (equals == NULL || equals == entry) {
            *ret_entry = entry;
            *ret_len = len;
            return -EINVAL;
        }
    }
    return 0;
}

static bool has_label_entry(const struct ccm_node *node, const char *entry, size_t len)
{
    const char *equals = memchr(entry, '=', len);

    for (uint64_t i = 0; equals != NULL && i < node->meta.label_count; i++) {
        const struct ccm_pair *pair = node->meta.labels[i];
        const size_t key_len = (size_t)(equals - entry);
        const size_t rest = len - key_len - 1;
        const char *more = memchr(equals + 1, '=', rest); /* no value has one: it ends there */
        const size_t value_len = more == NULL ? rest : (size_t)(more - equals) - 1;

        if (strlen(pair->key) == key_len && memcmp(pair->key, entry, key_len) == 0 &&
            strlen(pair->value) == value_len && memcmp(pair->value, equals + 1, value_len) == 0) {
            return true;
        }
    }
    return false;
}

bool lbc_node_has_labels(const struct ccm_node *node, const struct lbc_node_rules *rules)
{
    const char *labels = rules->labels;
    const char *cursor = labels;
    const char *entry = NULL;
    size_t len = 0;

    while (labels[0] != '\0' && ccm_parse_piece(&cursor, ',', &entry, &len)) {
        if (!has_label_entry(node, entry, len)) {
            return false;
        }
    }
    return true;
}

/* What stands behind the last slash. */
static const char *node_find_last_part(const char *id)
{
    const char *slash = strrchr(id, '/');

    return !ccm_text_starts(id, lbc_names.provider) || slash == NULL || slash[1] == '\0'
               ? NULL
               : slash + 1;
}

/* "region.instance" */
static const char *node_skip_prefix(const char *id)
{
    return ccm_text_starts(id, LBC_NODE_CLOUD_PREFIX) ? id + strlen(LBC_NODE_CLOUD_PREFIX) : id;
}

bool lbc_node_is_elsewhere(const struct ccm_node *node, const char *region)
{
    const char *id = node_skip_prefix(node->provider_id);
    const size_t len = strlen(region);

    return lbc_names.provider == NULL && lbc_node_instance_id(node) != NULL &&
           (strncmp(id, region, len) != 0 || id[len] != '.');
}

const char *lbc_node_instance_id(const struct ccm_node *node)
{
    const char *id = node_skip_prefix(node->provider_id);

    if (lbc_names.provider != NULL) {
        return node_find_last_part(node->provider_id);
    }
    const char *dot = strchr(id, '.');

    if (dot == NULL || dot == id || dot[1] == '\0' || strchr(dot + 1, '.') != NULL) {
        return NULL;
    }
    return dot + 1;
}

/* The first thing that decides what a node is used for. */
enum node_bar {
    NODE_BAR_LABEL,
    NODE_BAR_MASTER,
    NODE_BAR_REMOVED,
    NODE_BAR_CORDONED,
    NODE_BAR_VIRTUAL,
    NODE_BAR_EXCLUDED,
    NODE_BAR_NO_ID,
    NODE_BAR_NOT_READY,
    NODE_BAR_NONE,
};

static const struct {
    enum lbc_node_use use;
    const char *words;
} node_bars[] = {
    [NODE_BAR_LABEL] = { LBC_NODE_DROPPED,
                         "nodes without the labels of annotation backend-label:" },
    [NODE_BAR_MASTER] = { LBC_NODE_DROPPED, "master nodes" },
    [NODE_BAR_REMOVED] = { LBC_NODE_DROPPED, "nodes that the autoscaler removes" },
    [NODE_BAR_CORDONED] = { LBC_NODE_DROPPED,
                            "unschedulable nodes (annotation remove-unscheduled-backend)" },
    [NODE_BAR_VIRTUAL] = { LBC_NODE_VIRTUAL, NULL },
    [NODE_BAR_EXCLUDED] = { LBC_NODE_EXCLUDED, "nodes excluded by label" },
    [NODE_BAR_NO_ID] = { LBC_NODE_DROPPED, "nodes without providerID" },
    [NODE_BAR_NOT_READY] = { LBC_NODE_NOT_READY, "nodes NotReady" },
    [NODE_BAR_NONE] = { LBC_NODE_BACKEND, NULL },
};

static enum node_bar node_find_bar(const struct ccm_node *node, const struct lbc_node_rules *rules)
{
    if (!lbc_node_has_labels(node, rules)) {
        return NODE_BAR_LABEL;
    }
    if (is_master(node)) {
        return NODE_BAR_MASTER;
    }
    if (has_taint(node, "ToBeDeletedByClusterAutoscaler")) {
        return NODE_BAR_REMOVED;
    }
    if (rules->drop_unschedulable && node->unschedulable != 0) {
        return NODE_BAR_CORDONED;
    }
    if (is_virtual(node)) {
        return NODE_BAR_VIRTUAL;
    }
    if (is_excluded(node)) {
        return NODE_BAR_EXCLUDED;
    }
    if (!rules->any_id && lbc_node_instance_id(node) == NULL) {
        return NODE_BAR_NO_ID;
    }
    return node->has_conditions != 0 && node->ready == CCM_CONDITION_TRUE ? NODE_BAR_NONE
                                                                          : NODE_BAR_NOT_READY;
}

bool lbc_node_is_silent(const struct ccm_node *node)
{
    return node->has_conditions != 0 && node->ready == CCM_CONDITION_ABSENT;
}

enum lbc_node_use lbc_node_classify(const struct ccm_node *node, const struct lbc_node_rules *rules)
{
    return node_bars[node_find_bar(node, rules)].use;
}

const char *lbc_node_explain(const struct ccm_node *node, const struct lbc_node_rules *rules)
{
    return node_bars[node_find_bar(node, rules)].words;
}

bool lbc_node_skippable(const struct ccm_node *node)
{
    return node->meta.label_count > 0 && (node_is_left_out(node) || is_master(node));
}

bool lbc_node_is_internal(const struct ccm_node_address *address)
{
    return strcmp(address->type, "InternalIP") == 0;
}

bool lbc_node_has_address(const struct ccm_node *node, const char *address)
{
    for (uint64_t i = 0; i < node->address_count; i++) {
        if (lbc_node_is_internal(node->addresses[i]) &&
            strcmp(node->addresses[i]->address, address) == 0) {
            return true;
        }
    }
    return false;
}

bool lbc_node_is_server(const struct ccm_node *node, const char *server)
{
    return ccm_text_equal(lbc_node_instance_id(node), server) || lbc_node_has_address(node, server);
}

static bool same_labels(const struct ccm_node *a, const struct ccm_node *b)
{
    if (a->meta.label_count != b->meta.label_count) {
        return false;
    }
    for (uint64_t i = 0; i < a->meta.label_count; i++) {
        if (strcmp(a->meta.labels[i]->key, b->meta.labels[i]->key) != 0 ||
            strcmp(a->meta.labels[i]->value, b->meta.labels[i]->value) != 0) {
            return false;
        }
    }
    return true;
}

static bool same_taints(const struct ccm_node *a, const struct ccm_node *b)
{
    if (a->taint_count != b->taint_count) {
        return false;
    }
    for (uint64_t i = 0; i < a->taint_count; i++) {
        if (strcmp(a->taints[i]->key, b->taints[i]->key) != 0 ||
            strcmp(a->taints[i]->effect, b->taints[i]->effect) != 0) {
            return false;
        }
    }
    return true;
}

static bool is_ready(const struct ccm_node *node)
{
    return node->ready == CCM_CONDITION_TRUE;
}

/* Backends of some groups are known by them. */
static bool node_has_addresses_of(const struct ccm_node *node, const struct ccm_node *other)
{
    for (uint64_t i = 0; i < other->address_count; i++) {
        if (lbc_node_is_internal(other->addresses[i]) &&
            !lbc_node_has_address(node, other->addresses[i]->address)) {
            return false;
        }
    }
    return true;
}

bool lbc_node_differs(const struct ccm_node *before, const struct ccm_node *after)
{
    return is_ready(before) != is_ready(after) || before->unschedulable != after->unschedulable ||
           !ccm_text_equal(before->provider_id, after->provider_id) ||
           !same_labels(before, after) || !same_taints(before, after) ||
           !node_has_addresses_of(before, after) || !node_has_addresses_of(after, before);
}

/* A label that it had is another one now: Services may choose their nodes by it. */
static bool node_lost_label(const struct ccm_node *before, const struct ccm_node *after)
{
    for (uint64_t i = 0; i < before->meta.label_count; i++) {
        const struct ccm_pair *had = before->meta.labels[i];

        if (!ccm_text_equal(ccm_object_label(&after->meta, had->key), had->value)) {
            return true;
        }
    }
    return false;
}

bool lbc_node_leaves(const struct ccm_node *before, const struct ccm_node *after, bool any_id)
{
    const struct lbc_node_rules any = { .any_id = any_id, .labels = "" };

    if (before == NULL || lbc_node_classify(before, &any) != LBC_NODE_BACKEND) {
        return false;
    }
    return after == NULL || lbc_node_classify(after, &any) != LBC_NODE_BACKEND ||
           !ccm_text_equal(before->provider_id, after->provider_id) ||
           (before->unschedulable == 0 && after->unschedulable != 0) ||
           node_lost_label(before, after) || (any_id && !node_has_addresses_of(after, before));
}

int lbc_node_table_init(struct lbc_node_table *table, const struct ccm_object *const *nodes,
                        size_t count, const struct lbc_node_rules *rules)
{
    memset(table, 0, sizeof(*table));
    table->rules = *rules;
    table->by_name = ccm_strmap_new(NULL);
    table->items = calloc(count == 0 ? 1 : count, sizeof(*table->items));
    if (table->by_name == NULL || table->items == NULL) {
        lbc_node_table_fini(table);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        const struct ccm_node *node = (const struct ccm_node *)nodes[i];
        struct lbc_node_entry *entry = &table->items[table->len];

        entry->node = node;
        entry->use = lbc_node_classify(node, rules);
        entry->instance_id = entry->use == LBC_NODE_BACKEND ? lbc_node_instance_id(node) : NULL;
        if (ccm_strmap_set(table->by_name, node->meta.name, entry) < 0) {
            lbc_node_table_fini(table);
            return -ENOMEM;
        }
        table->len++;
    }
    return 0;
}

void lbc_node_table_fini(struct lbc_node_table *table)
{
    ccm_strmap_free(table->by_name);
    free(table->items);
    memset(table, 0, sizeof(*table));
}

struct lbc_node_entry *lbc_node_table_get(const struct lbc_node_table *table, const char *name)
{
    return ccm_strmap_get(table->by_name, name);
}
