#include "lbc/model/endpoint.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* An older core has none. */
static uint64_t slice_count_further(const struct ccm_endpoint_slice *slice)
{
    return slice->meta.struct_size > offsetof(struct ccm_endpoint_slice, further_count)
               ? slice->further_count
               : 0;
}

uint64_t lbc_endpoint_size(const struct ccm_endpoint_slice *slice)
{
    return slice->endpoint_count + slice_count_further(slice);
}

const struct ccm_endpoint *lbc_endpoint_at(const struct ccm_endpoint_slice *slice, uint64_t i)
{
    return i < slice->endpoint_count ? slice->endpoints[i]
                                     : slice->further[i - slice->endpoint_count];
}

uint64_t lbc_endpoint_owner(const struct ccm_endpoint *endpoint)
{
    const uint64_t node = endpoint->node_name[0] == '\0' ? 0 : ccm_text_hash(endpoint->node_name);

    return node ^ (endpoint->flags & CCM_ENDPOINT_POD_MARK);
}

void lbc_endpoints_fini(struct lbc_endpoints *endpoints)
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

bool lbc_endpoint_is_usable(const struct ccm_endpoint *endpoint, const struct ccm_strmap *accepted)
{
    const bool ready = (endpoint->flags & CCM_ENDPOINT_READY) != 0 ||
                       (accepted != NULL && ccm_strmap_has(accepted, endpoint->address));

    return ready && (endpoint->flags & CCM_ENDPOINT_TERMINATING) == 0;
}

static bool is_leaving(const struct ccm_endpoint *endpoint)
{
    const uint64_t both = CCM_ENDPOINT_SERVING | CCM_ENDPOINT_TERMINATING;

    return (endpoint->flags & both) == both;
}

static int endpoints_add_ref(struct lbc_endpoints *to, struct ccm_strmap *seen,
                             const struct lbc_endpoint_ref *ref)
{
    const char *address = ref->endpoint->address;
    int r;

    if (address[0] == '\0' || ccm_strmap_has(seen, address)) {
        return 0;
    }
    r = ccm_strmap_set(seen, address, NULL);
    if (r == 0) {
        r = ccm_array_grow(&to->items, &to->cap, to->len + 1, sizeof(*to->items));
    }
    if (r == 0) {
        to->items[to->len++] = *ref;
    }
    return r;
}

static enum lbc_families family_of(const struct ccm_endpoint_slice *slice)
{
    if (ccm_text_equal(slice->address_type, "IPv4")) {
        return LBC_IPV4;
    }
    return ccm_text_equal(slice->address_type, "IPv6") ? LBC_IPV6 : (enum lbc_families)0;
}

/* One round over the slices. */
enum round {
    ROUND_FIRST,   /* first addresses of those that may take traffic */
    ROUND_FURTHER, /* the others of these */
    ROUND_LEAVING, /* first addresses of those that are leaving */
};

static int add_slice(struct lbc_endpoints *to, struct ccm_strmap *seen,
                     const struct ccm_endpoint_slice *slice, const struct lbc_endpoint_query *query,
                     enum round round)
{
    const uint16_t port = query->any_port ? 0 : slice_port(slice, query->port);
    const bool further = round == ROUND_FURTHER;
    const uint64_t end = further ? lbc_endpoint_size(slice) : slice->endpoint_count;
    int r = 0;

    if ((port == 0 && !query->any_port) || (family_of(slice) & query->families) == 0) {
        return 0;
    }
    for (uint64_t i = further ? slice->endpoint_count : 0; r == 0 && i < end; i++) {
        const struct lbc_endpoint_ref ref = {
            .slice = slice,
            .endpoint = lbc_endpoint_at(slice, i),
            .port = port,
            .further = further,
            .leaving = round == ROUND_LEAVING,
        };

        if (ref.leaving ? is_leaving(ref.endpoint)
                        : lbc_endpoint_is_usable(ref.endpoint, query->accepted)) {
            r = endpoints_add_ref(to, seen, &ref);
        }
    }
    return r;
}

int lbc_endpoints_collect(const struct ccm_object *const *slices, size_t count,
                          const struct lbc_endpoint_query *query, struct lbc_endpoints *ret)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *seen = ccm_strmap_new(NULL);
    int r = seen == NULL ? -ENOMEM : 0;

    for (int round = ROUND_FIRST; round <= (query->leaving ? ROUND_LEAVING : ROUND_FURTHER);
         round++) {
        for (size_t i = 0; r == 0 && i < count; i++) {
            r = add_slice(ret, seen, (const struct ccm_endpoint_slice *)slices[i], query,
                          (enum round)round);
        }
    }
    return r;
}

void lbc_endpoints_count(const struct ccm_object *const *slices, size_t count,
                         const struct lbc_endpoint_query *query, struct lbc_endpoint_census *ret)
{
    for (size_t i = 0; i < count; i++) {
        const struct ccm_endpoint_slice *slice = (const struct ccm_endpoint_slice *)slices[i];

        if ((family_of(slice) & query->families) == 0) {
            continue;
        }
        if (!query->any_port && slice_port(slice, query->port) == 0) {
            ret->without_port += slice->endpoint_count;
            continue;
        }
        for (uint64_t e = 0; e < slice->endpoint_count; e++) {
            if (lbc_endpoint_is_usable(slice->endpoints[e], query->accepted)) {
                ret->ready++;
            } else if ((slice->endpoints[e]->flags & CCM_ENDPOINT_TERMINATING) != 0) {
                ret->stopping++;
            } else {
                ret->unready++;
            }
        }
    }
}

static bool has_usable(const struct ccm_endpoint_slice *slice)
{
    for (uint64_t i = 0; i < slice->endpoint_count; i++) {
        if (lbc_endpoint_is_usable(slice->endpoints[i], NULL)) {
            return true;
        }
    }
    return false;
}

bool lbc_endpoints_elsewhere(const struct ccm_object *const *slices, size_t count,
                             enum lbc_families families)
{
    bool elsewhere = false;

    for (size_t i = 0; i < count; i++) {
        const struct ccm_endpoint_slice *slice = (const struct ccm_endpoint_slice *)slices[i];

        if ((family_of(slice) & families) != 0) {
            return false;
        }
        elsewhere = elsewhere || (family_of(slice) != 0 && has_usable(slice));
    }
    return elsewhere;
}

static bool same_endpoint(const struct ccm_endpoint *a, const struct ccm_endpoint *b)
{
    return a->flags == b->flags && strcmp(a->address, b->address) == 0 &&
           strcmp(a->node_name, b->node_name) == 0 && strcmp(a->pod_name, b->pod_name) == 0;
}

bool lbc_endpoints_differ(const struct ccm_endpoint_slice *before,
                          const struct ccm_endpoint_slice *after)
{
    if (before->endpoint_count != after->endpoint_count ||
        lbc_endpoint_size(before) != lbc_endpoint_size(after) ||
        before->port_count != after->port_count ||
        strcmp(before->service_name, after->service_name) != 0) {
        return true;
    }
    for (uint64_t i = 0; i < lbc_endpoint_size(after); i++) {
        if (!same_endpoint(lbc_endpoint_at(before, i), lbc_endpoint_at(after, i))) {
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
