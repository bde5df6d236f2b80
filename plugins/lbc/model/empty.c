#include "lbc/model/empty.h"

#include "lbc/model/named.h"
#include "lbc/names.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 800

#define LABELS_SHOWN 150 /* most bytes of the labels that are asked for */

/* --- endpoints --- */

static void empty_add_endpoints(const struct lbc_candidate_input *in,
                                const struct ccm_service_port *port,
                                const struct lbc_endpoint_census *census, struct ccm_buf *text)
{
    const struct ccm_object *meta = &in->service->meta;
    const size_t others = census->unready + census->stopping;

    if (others == 0 && census->without_port > 0) {
        ccm_buf_addf(text,
                     "none of its %zu endpoint(s) has the port \"%s\": let a container of the pods "
                     "name its port so, or give targetPort as a number",
                     census->without_port,
                     port->target_port_name[0] == '\0' ? port->name : port->target_port_name);
    } else if (others == 0) {
        ccm_buf_addf(text,
                     "it has no endpoint: no pod matches the selector of the Service, or none has "
                     "an address yet: compare `kubectl get service %s -n %s -o "
                     "jsonpath={.spec.selector}` with `kubectl get pods -n %s --show-labels`",
                     meta->name, meta->namespace_, meta->namespace_);
    } else if (census->unready == 0) {
        ccm_buf_addf(text, "no endpoint is ready: %zu being stopped", census->stopping);
    } else {
        ccm_buf_addf(text, "no endpoint is ready: %zu not ready", census->unready);
        if (census->stopping > 0) {
            ccm_buf_addf(text, ", %zu being stopped", census->stopping);
        }
        ccm_buf_adds(text, "; see the readiness probes of the pods");
    }
}

/* --- nodes --- */

/* The nodes that ready endpoints are on. */
static void empty_collect_local(const struct lbc_candidate_input *in,
                                const struct lbc_endpoints *endpoints, struct lbc_named *ret)
{
    for (size_t i = 0; i < endpoints->len; i++) {
        const char *name = endpoints->items[i].endpoint->node_name;
        const struct lbc_node_entry *entry = lbc_node_table_get(in->nodes, name);

        if (endpoints->items[i].leaving || endpoints->items[i].further) {
            continue;
        }
        if (name[0] == '\0') {
            lbc_named_add(ret, "endpoints without node:", endpoints->items[i].endpoint->address);
        } else {
            lbc_named_add(ret,
                          entry == NULL ? "nodes that are not known"
                                        : lbc_node_explain(entry->node, &in->nodes->rules),
                          name);
        }
    }
}

static void empty_add_local(const struct lbc_candidate_input *in,
                            const struct lbc_endpoints *endpoints, struct ccm_buf *text)
{
    CCM_CLEANUP(lbc_named_fini) struct lbc_named nodes = { 0 };

    empty_collect_local(in, endpoints, &nodes);
    ccm_buf_adds(text, "its ready endpoints are only on ");
    lbc_named_format(&nodes, ", ", text);
    ccm_buf_adds(text, "; let pods run on other nodes (evict these), or set externalTrafficPolicy "
                       "to Cluster");
}

static void empty_add_cluster(const struct lbc_candidate_input *in, struct ccm_buf *text)
{
    CCM_CLEANUP(lbc_named_fini) struct lbc_named nodes = { 0 };
    const char *labels = in->nodes->rules.labels;
    bool lacks = false;
    char words[LABELS_SHOWN + 200];

    ccm_text_printf(words, sizeof(words),
                    "the labels [%.*s] of annotation %sbackend-label are missing on",
                    (int)ccm_text_utf8_cut(labels, LABELS_SHOWN), labels, lbc_names.annotations);
    for (size_t i = 0; i < in->nodes->len; i++) {
        const struct ccm_node *node = in->nodes->items[i].node;

        if (!lbc_node_has_labels(node, &in->nodes->rules)) {
            lbc_named_add(&nodes, words, node->meta.name);
            lacks = true;
        } else {
            lbc_named_add(&nodes, lbc_node_explain(node, &in->nodes->rules), node->meta.name);
        }
    }
    if (nodes.count == 0) {
        ccm_buf_adds(text, "the cluster has no node that could take traffic");
        return;
    }
    ccm_buf_addf(text, "none of %zu node(s) may take traffic: ", nodes.count);
    lbc_named_format(&nodes, ", ", text);
    if (lacks) {
        ccm_buf_adds(text, ": label the nodes, or correct the annotation");
    }
}

char *lbc_empty_explain(const struct lbc_candidate_input *in, const struct ccm_service_port *port,
                        const struct lbc_endpoints *endpoints, bool no_candidate)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = TEXT_MAX };
    struct lbc_endpoint_census census = { 0 };
    const struct lbc_endpoint_query query = {
        .port = port,
        .families = in->families,
        .any_port = in->any_port,
        .accepted = in->accepted,
    };

    lbc_endpoints_count(in->slices, in->slice_count, &query, &census);
    if (census.ready == 0) {
        empty_add_endpoints(in, port, &census, &text);
    }
    if (no_candidate && in->mode == LBC_MODE_CLUSTER) {
        ccm_buf_adds(&text, text.len == 0 ? "" : "; and ");
        empty_add_cluster(in, &text);
    } else if (no_candidate && in->mode == LBC_MODE_LOCAL && census.ready > 0) {
        empty_add_local(in, endpoints, &text);
    }
    return text.len == 0 ? NULL : strdup(ccm_buf_str(&text));
}
