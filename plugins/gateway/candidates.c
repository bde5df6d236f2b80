#include "candidates.h"

#include "view.h"

#include <string.h>

/* A listener that no route serves has nobody to blame. */
static int candidates_explain_routeless(const struct gateway_port *port, struct lbc_candidates *ret,
                                        struct ccm_error *err)
{
    if (ret->len > 0 || ret->why != NULL) {
        return 0;
    }
    ret->no_ready = true;
    ret->why = strdup(port->listener->attached == 0
                          ? "no route is attached to the listener"
                          : "the oldest route of the listener sends to no Service that is there");
    return ret->why == NULL ? ccm_error_nomem(err) : 0;
}

int gateway_candidates_build(const struct lbc_candidate_input *in,
                             const struct ccm_service_port *port, struct lbc_candidates *ret,
                             struct ccm_error *err)
{
    const struct gateway_port *own = (const struct gateway_port *)port;
    const int r = lbc_parts_build(in, port, own->targets->items, own->targets->len, ret, err);

    return r < 0 ? r : candidates_explain_routeless(own, ret, err);
}

const struct ccm_service *gateway_find_node_port(const struct ccm_service *service, uint16_t port)
{
    for (uint64_t i = 0; i < service->port_count; i++) {
        const struct gateway_targets *targets =
            ((const struct gateway_port *)service->ports[i])->targets;

        for (size_t j = 0; j < targets->len; j++) {
            if (targets->items[j].port->node_port == port) {
                return targets->items[j].service;
            }
        }
    }
    return NULL;
}
