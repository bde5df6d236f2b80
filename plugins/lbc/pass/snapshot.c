/* The cluster as one pass sees it: which nodes and slices it takes from the caches. */
#include "lbc/pass.h"

#include "lbc/model/candidate.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/strmap.h"

#include <errno.h>
#include <stdlib.h>

/* By the Service with and without what cannot be used of its annotations: the mode that needs more
 * nodes. */
static enum lbc_backend_mode snapshot_find_mode(const struct lbc_pass *pass)
{
    const bool pods = pass->lbc->pods_by_default;
    const enum lbc_backend_mode asked = lbc_backend_mode(pass->service, pods);
    const enum lbc_backend_mode used = lbc_backend_mode(lbc_pass_view(pass), pods);

    return asked < used ? asked : used;
}

/* --- nodes --- */

static int snapshot_add_node(struct lbc_pass *pass, size_t *cap, const char *name)
{
    const struct ccm_host *host = pass->lbc->host;
    const struct ccm_object *node = host->get(host, CCM_KIND_NODE, name);

    if (node == NULL) {
        return 0;
    }
    if (ccm_array_grow(&pass->snapshot.named, cap, pass->snapshot.node_count + 1,
                       sizeof(*pass->snapshot.named)) < 0) {
        host->release(host, node);
        return -ENOMEM;
    }
    pass->snapshot.named[pass->snapshot.node_count++] = node;
    return 0;
}

/* The nodes of a slice that are not among `seen`. */
static int snapshot_add_slice(struct lbc_pass *pass, size_t *cap, struct ccm_strmap *seen,
                              const struct ccm_endpoint_slice *slice)
{
    int r = 0;

    for (uint64_t i = 0; r == 0 && i < slice->endpoint_count; i++) {
        const char *name = slice->endpoints[i]->node_name;

        if (name[0] == '\0' || ccm_strmap_has(seen, name)) {
            continue;
        }
        r = ccm_strmap_set(seen, name, NULL);
        if (r == 0) {
            r = snapshot_add_node(pass, cap, name);
        }
    }
    return r;
}

static int snapshot_get_named(struct lbc_pass *pass)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *seen = ccm_strmap_new(NULL);
    size_t cap = 0;
    int r = seen == NULL ? -ENOMEM : 0;

    for (size_t i = 0; r == 0 && i < pass->snapshot.slice_count; i++) {
        r = snapshot_add_slice(pass, &cap, seen,
                               (const struct ccm_endpoint_slice *)pass->snapshot.slices[i]);
    }
    pass->snapshot.nodes = pass->snapshot.named;
    return r;
}

/* --- the whole --- */

int lbc_snapshot_take(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct ccm_host *host = pass->lbc->host;
    const enum lbc_backend_mode mode = snapshot_find_mode(pass);
    int r = 0;

    /* Nodes first: what endpoints say is the newer of both. */
    if (mode == LBC_MODE_CLUSTER) {
        r = host->list(host, CCM_KIND_NODE, NULL, NULL, &pass->snapshot.nodes,
                       &pass->snapshot.node_count);
    }
    if (r == 0) {
        r = host->list(host, CCM_KIND_ENDPOINT_SLICE, "service", pass->service->meta.key,
                       &pass->snapshot.slices, &pass->snapshot.slice_count);
    }
    if (r == 0 && mode == LBC_MODE_LOCAL) {
        r = snapshot_get_named(pass);
    }
    return r < 0 ? ccm_error_nomem(err) : 0;
}

void lbc_snapshot_drop(struct lbc_pass *pass)
{
    const struct ccm_host *host = pass->lbc->host;

    if (pass->snapshot.named == NULL) {
        host->release_list(host, pass->snapshot.nodes, pass->snapshot.node_count);
    }
    for (size_t i = 0; pass->snapshot.named != NULL && i < pass->snapshot.node_count; i++) {
        host->release(host, pass->snapshot.named[i]);
    }
    free(pass->snapshot.named);
    host->release_list(host, pass->snapshot.slices, pass->snapshot.slice_count);
    pass->snapshot = (struct lbc_snapshot){ .nodes = NULL };
}

const struct ccm_node *lbc_snapshot_find_server(const struct lbc_pass *pass, const char *server)
{
    const struct ccm_host *host = pass->lbc->host;
    const struct ccm_object *const *found = NULL;
    const struct ccm_object *one = NULL;
    size_t count = 0;

    if (host->list(host, CCM_KIND_NODE, "server", server, &found, &count) < 0) {
        return NULL;
    }
    for (size_t i = 0; one == NULL && i < count; i++) {
        if (lbc_node_is_server((const struct ccm_node *)found[i], server)) {
            one = host->get(host, CCM_KIND_NODE, found[i]->name);
        }
    }
    host->release_list(host, found, count);
    return (const struct ccm_node *)one;
}
