#include "service/endpoint.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ccm_endpoints_fini(struct ccm_endpoints *endpoints)
{
    free(endpoints->items);
    memset(endpoints, 0, sizeof(*endpoints));
}

static bool is_port(int64_t port)
{
    return port >= 1 && port <= UINT16_MAX;
}

/* 0 = this slice does not serve the port. */
static uint16_t slice_port(const struct ccm_endpoint_slice *slice,
                           const struct ccm_service_port *port)
{
    for (uint64_t i = 0; i < slice->port_count; i++) {
        if (strcmp(slice->ports[i]->name, port->name) == 0 && is_port(slice->ports[i]->port)) {
            return (uint16_t)slice->ports[i]->port;
        }
    }
    return port->target_port_name[0] == '\0' && is_port(port->target_port)
               ? (uint16_t)port->target_port
               : 0;
}

static bool usable(const struct ccm_endpoint *endpoint, const struct ccm_strmap *accepted)
{
    const bool ready = (endpoint->flags & CCM_ENDPOINT_READY) != 0 ||
                       (accepted != NULL && ccm_strmap_has(accepted, endpoint->address));

    return ready && (endpoint->flags & CCM_ENDPOINT_TERMINATING) == 0 &&
           endpoint->address[0] != '\0';
}

static int add(struct ccm_endpoints *to, struct ccm_strmap *seen,
               const struct ccm_endpoint *endpoint, uint16_t port)
{
    int r;

    if (ccm_strmap_has(seen, endpoint->address)) {
        return 0;
    }
    r = ccm_strmap_set(seen, endpoint->address, NULL);
    if (r == 0) {
        r = ccm_array_grow(&to->items, &to->cap, to->len + 1, sizeof(*to->items));
    }
    if (r == 0) {
        to->items[to->len++] = (struct ccm_endpoint_ref){ endpoint, port };
    }
    return r;
}

int ccm_endpoints_collect(const struct ccm_object *const *slices, size_t count,
                          const struct ccm_service_port *port, bool ipv6,
                          const struct ccm_strmap *accepted, struct ccm_endpoints *ret)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *seen = ccm_strmap_new(NULL);
    int r = seen == NULL ? -ENOMEM : 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct ccm_endpoint_slice *slice = (const struct ccm_endpoint_slice *)slices[i];
        const uint16_t number = slice_port(slice, port);

        if (number == 0 || !ccm_text_equal(slice->address_type, ipv6 ? "IPv6" : "IPv4")) {
            continue;
        }
        for (uint64_t e = 0; r == 0 && e < slice->endpoint_count; e++) {
            if (usable(slice->endpoints[e], accepted)) {
                r = add(ret, seen, slice->endpoints[e], number);
            }
        }
    }
    return r;
}

static bool same_endpoint(const struct ccm_endpoint *a, const struct ccm_endpoint *b)
{
    return a->flags == b->flags && strcmp(a->address, b->address) == 0 &&
           strcmp(a->node_name, b->node_name) == 0;
}

bool ccm_endpoints_differ(const struct ccm_endpoint_slice *before,
                          const struct ccm_endpoint_slice *after)
{
    if (before->endpoint_count != after->endpoint_count ||
        before->port_count != after->port_count ||
        strcmp(before->service_name, after->service_name) != 0) {
        return true;
    }
    for (uint64_t i = 0; i < after->endpoint_count; i++) {
        if (!same_endpoint(before->endpoints[i], after->endpoints[i])) {
            return true;
        }
    }
    for (uint64_t i = 0; i < after->port_count; i++) {
        if (before->ports[i]->port != after->ports[i]->port ||
            strcmp(before->ports[i]->name, after->ports[i]->name) != 0 ||
            strcmp(before->ports[i]->protocol, after->ports[i]->protocol) != 0) {
            return true;
        }
    }
    return false;
}
