#include "patch.h"

#include "util/cleanup.h"
#include "util/jsonw.h"

#include <stdio.h>
#include <string.h>

static void op_begin(struct ccm_jsonw *w, const char *op, const char *path)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "op", op);
    ccm_jsonw_str(w, "path", path);
}

/* value NULL: the operation has none. */
static void op_write(struct ccm_jsonw *w, const char *op, const char *path, const char *value)
{
    op_begin(w, op, path);
    if (value != NULL) {
        ccm_jsonw_str(w, "value", value);
    }
    ccm_jsonw_close(w, '}');
}

/* "/metadata/labels/KEY", with the '/' of the key as "~1". */
static void label_format_path(struct ccm_buf *path, const char *key)
{
    ccm_buf_adds(path, "/metadata/labels/");
    for (; *key != '\0'; key++) {
        if (*key == '/') {
            ccm_buf_adds(path, "~1");
        } else {
            ccm_buf_addc(path, *key);
        }
    }
}

static void op_write_label(struct ccm_jsonw *w, const char *op, const char *key, const char *value)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf path = { .max = 256 };

    label_format_path(&path, key);
    op_write(w, op, ccm_buf_str(&path), value);
}

/* A node has labels from kubelet; one without any gets the map first, of this version alone. */
static void op_write_labels(struct ccm_jsonw *w, const struct ccm_node *node,
                            const struct node_want *want)
{
    bool map = node->meta.label_count > 0;

    for (size_t i = 0; i < NODE_LABELS; i++) {
        if (want->labels[i] != NULL && !map) {
            op_write(w, "test", "/metadata/resourceVersion", node->meta.resource_version);
            op_begin(w, "add", "/metadata/labels");
            ccm_jsonw_raw(w, "value", "{}");
            ccm_jsonw_close(w, '}');
            map = true;
        }
        if (want->labels[i] != NULL) {
            op_write_label(w, "add", node_labels[i].key, want->labels[i]);
        } else if (want->drop[i]) {
            op_write_label(w, "remove", node_labels[i].key, NULL);
        }
    }
}

/* From the last one on, so that those before keep their places. */
static void op_write_untaint(struct ccm_jsonw *w, const struct ccm_node *node,
                             const struct node_want *want)
{
    for (uint64_t i = node->taint_count; i-- > 0;) {
        const char *key = node->taints[i]->key;
        char path[64];

        if (!(want->untaint && strcmp(key, NODE_TAINT_NEW) == 0) &&
            !(want->start && strcmp(key, NODE_TAINT_STOPPED) == 0)) {
            continue;
        }
        (void)snprintf(path, sizeof(path), "/spec/taints/%llu/key",
                       (unsigned long long)i); /* always fits */
        op_write(w, "test", path, key);
        path[strlen(path) - strlen("/key")] = '\0';
        op_write(w, "remove", path, NULL);
    }
}

static void op_write_stop(struct ccm_jsonw *w, const struct ccm_node *node)
{
    if (node->taint_count == 0) {
        op_write(w, "test", "/metadata/resourceVersion", node->meta.resource_version);
        op_begin(w, "add", "/spec/taints");
        ccm_jsonw_open(w, "value", '[');
        ccm_jsonw_open(w, NULL, '{');
    } else {
        op_begin(w, "add", "/spec/taints/-");
        ccm_jsonw_open(w, "value", '{');
    }
    ccm_jsonw_str(w, "key", NODE_TAINT_STOPPED);
    ccm_jsonw_str(w, "effect", "NoSchedule");
    ccm_jsonw_close(w, '}');
    if (node->taint_count == 0) {
        ccm_jsonw_close(w, ']');
    }
    ccm_jsonw_close(w, '}');
}

void node_patch_object(struct ccm_buf *body, const struct ccm_node *node,
                       const struct node_want *want)
{
    struct ccm_jsonw w = { .buf = body };

    ccm_jsonw_open(&w, NULL, '[');
    op_write(&w, "test", "/metadata/uid", node->meta.uid);
    op_write_labels(&w, node, want);
    if (want->provider[0] != '\0') {
        op_write(&w, "add", "/spec/providerID", want->provider);
    }
    op_write_untaint(&w, node, want);
    if (want->stop) {
        op_write_stop(&w, node);
    }
    ccm_jsonw_close(&w, ']');
}

static void status_write_addresses(struct ccm_jsonw *w, const struct ccm_node *node,
                                   const struct node_addresses *list)
{
    ccm_jsonw_open(w, "addresses", '[');
    for (size_t i = 0; i < list->len; i++) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "type", list->items[i].type);
        ccm_jsonw_str(w, "address", list->items[i].address);
        ccm_jsonw_close(w, '}');
    }
    /* Without it, items of one type would take the place of each other. */
    if (node->address_count > 0) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "$patch", "replace");
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
}

static void status_write_network(struct ccm_jsonw *w, const char *now)
{
    ccm_jsonw_open(w, "conditions", '[');
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "type", "NetworkUnavailable");
    ccm_jsonw_str(w, "status", "True");
    ccm_jsonw_str(w, "reason", "NoRouteCreated");
    ccm_jsonw_str(w, "message", "Node created without a route");
    ccm_jsonw_str(w, "lastTransitionTime", now);
    ccm_jsonw_close(w, '}');
    ccm_jsonw_close(w, ']');
}

void node_patch_status(struct ccm_buf *body, const struct ccm_node *node,
                       const struct node_want *want, const char *now)
{
    struct ccm_jsonw w = { .buf = body };

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_open(&w, "metadata", '{');
    ccm_jsonw_str(&w, "uid", node->meta.uid);
    ccm_jsonw_str(&w, "resourceVersion", node->meta.resource_version);
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_open(&w, "status", '{');
    if (want->set_addresses) {
        status_write_addresses(&w, node, &want->addresses);
    }
    if (want->set_network) {
        status_write_network(&w, now);
    }
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_close(&w, '}');
}
