#include "model.h"

#include "util/text.h"

#include <string.h>

#define LINGJUN_LABEL "alibabacloud.com/lingjun-worker"
/* Machines of another platform, which initialises them itself. */
#define TIANWEN_LABEL "alibabacloud.com/lingjun-tianwen-environment"
#define NODE_IP       "alpha.kubernetes.io/provided-node-ip"

bool node_is_tainted(const struct ccm_node *node, const char *key)
{
    for (uint64_t i = 0; i < node->taint_count; i++) {
        if (strcmp(node->taints[i]->key, key) == 0) {
            return true;
        }
    }
    return false;
}

static enum node_kind subject_find_kind(struct node_subject *ret, const struct ccm_node *node)
{
    if (node->provider_id[0] == '\0') {
        return NODE_UNNAMED;
    }
    if (ali_provider_parse(node->provider_id, ret->region, ret->instance) == 0) {
        return NODE_ECS;
    }
    ret->region[0] = '\0';
    ret->instance[0] = '\0';
    return ccm_text_equal(ccm_object_label(&node->meta, LINGJUN_LABEL), "true") &&
                   ccm_object_label(&node->meta, TIANWEN_LABEL) == NULL
               ? NODE_LINGJUN
               : NODE_NONE;
}

void node_subject_init(struct node_subject *ret, const struct ccm_node *node)
{
    memset(ret, 0, sizeof(*ret));
    ret->kind = subject_find_kind(ret, node);
    ret->excluded = ali_node_is_excluded(node);
    ret->fresh = node_is_tainted(node, NODE_TAINT_NEW);
    ret->stopped = node_is_tainted(node, NODE_TAINT_STOPPED);
}

static bool addresses_equal(const struct ccm_node *a, const struct ccm_node *b)
{
    if (a->address_count != b->address_count) {
        return false;
    }
    for (uint64_t i = 0; i < a->address_count; i++) {
        if (strcmp(a->addresses[i]->type, b->addresses[i]->type) != 0 ||
            strcmp(a->addresses[i]->address, b->addresses[i]->address) != 0) {
            return false;
        }
    }
    return true;
}

bool node_differs(const struct ccm_node *before, const struct ccm_node *after)
{
    struct node_subject was;
    struct node_subject is;

    node_subject_init(&was, before);
    node_subject_init(&is, after);
    return strcmp(before->meta.uid, after->meta.uid) != 0 ||
           strcmp(before->provider_id, after->provider_id) != 0 || was.kind != is.kind ||
           was.excluded != is.excluded || (is.fresh && !was.fresh) ||
           (is.kind == NODE_UNNAMED && is.fresh && !addresses_equal(before, after)) ||
           (is.stopped && before->ready != after->ready) ||
           (before->ready != CCM_CONDITION_UNKNOWN && after->ready == CCM_CONDITION_UNKNOWN) ||
           !ccm_text_equal(ccm_object_annotation(&before->meta, NODE_IP),
                           ccm_object_annotation(&after->meta, NODE_IP));
}
