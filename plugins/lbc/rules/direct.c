#include "lbc/rules/direct.h"
#include "lbc/names.h"

#include "lbc/model/annotation.h"
#include "lbc/model/candidate.h"
#include "util/text.h"

#include <stdint.h>

bool lbc_direct_is_open(const struct lbc_direct *in)
{
    const struct ccm_object *meta = &in->service->meta;

    return lbc_backend_mode(in->service, in->pods_by_default) != LBC_MODE_PODS &&
           ccm_text_empty(ccm_object_annotation(meta, lbc_names.backend_type)) &&
           lbc_anno_get(meta, "backend-label")[0] == '\0';
}

static bool direct_fits_endpoint(const struct ccm_node *node, const struct ccm_endpoint *endpoint)
{
    return endpoint->pod_name[0] != '\0' && (node->meta.traits & CCM_NODE_VPC_PODS) != 0 &&
           !lbc_node_is_server(node, endpoint->address);
}

/* Adds those that fit to *count; false: one does not. */
static bool direct_fits_slice(const struct lbc_direct *in, const struct ccm_endpoint_slice *slice,
                              size_t *count)
{
    for (uint64_t i = 0; i < slice->endpoint_count; i++) {
        const struct ccm_endpoint *endpoint = slice->endpoints[i];
        const struct lbc_node_entry *entry = lbc_node_table_get(in->nodes, endpoint->node_name);

        if ((endpoint->flags & CCM_ENDPOINT_READY) == 0 ||
            (entry != NULL && entry->use == LBC_NODE_VIRTUAL)) {
            continue; /* a pod on a virtual node is a backend already */
        }
        if (entry == NULL || !direct_fits_endpoint(entry->node, endpoint)) {
            return false;
        }
        *count += 1;
    }
    return true;
}

bool lbc_direct_fits(const struct lbc_direct *in)
{
    size_t count = 0;

    for (size_t i = 0; i < in->slice_count; i++) {
        if (!direct_fits_slice(in, (const struct ccm_endpoint_slice *)in->slices[i], &count)) {
            return false;
        }
    }
    return count > 0;
}

void lbc_direct_write(struct ccm_buf *text)
{
    ccm_buf_addf(
        text,
        "nodes are the backends, but the pods have addresses of the VPC (Terway) and could "
        "be: annotation %s: \"%s\", or option default_backend_type for all Services, saves "
        "the hop over a node, shows the pods their clients' addresses and needs no node "
        "ports. The value \"%s\" keeps nodes, and this hint away",
        lbc_names.backend_type, lbc_names.pods, lbc_names.nodes);
}
