#include "item.h"

#include "gateway.h"
#include "lbc/custom/change.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct gateway_route_name gateway_route_names[GATEWAY_ROUTE_KINDS] = {
    [GATEWAY_TCP_ROUTE] = { "TCPRoute", "tcproutes" },
    [GATEWAY_UDP_ROUTE] = { "UDPRoute", "udproutes" },
    [GATEWAY_TLS_ROUTE] = { "TLSRoute", "tlsroutes" },
};

/* What the server has of them, the first is taken. */
static const char *const route_versions[] = { GATEWAY_V1, GATEWAY_V1ALPHA2 };

int gateway_route_get(const struct ccm_host *host, enum gateway_route_kind kind, const char *key,
                      struct lbc_custom_item *ret)
{
    int r = 0;

    *ret = (struct lbc_custom_item){ .kind = kind };
    for (size_t i = 0; r == 0 && ret->object == NULL && i < CCM_ARRAY_LEN(route_versions); i++) {
        r = lbc_custom_item_get(host, route_versions[i], gateway_route_names[kind].resource, key,
                                ret);
        ret->kind = kind;
    }
    return r;
}

char *gateway_class_of(const struct ccm_object *gateway)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    const cJSON *spec = lbc_custom_parse_spec(gateway, &json);

    return json == NULL ? NULL : strdup(lbc_custom_text(spec, "gatewayClassName", ""));
}

int gateway_routes_list(const struct ccm_host *host, const char *index, const char *value,
                        struct lbc_custom_items *ret)
{
    int r = 0;

    *ret = (struct lbc_custom_items){ 0 };
    for (unsigned kind = 0; r == 0 && kind < GATEWAY_ROUTE_KINDS; kind++) {
        struct lbc_custom_item head = { .kind = (enum gateway_route_kind)kind };

        r = -ENOENT;
        for (size_t i = 0; r == -ENOENT && i < CCM_ARRAY_LEN(route_versions); i++) {
            head.api_version = route_versions[i];
            r = lbc_custom_items_add_by(host, head, gateway_route_names[kind].resource, index,
                                        value, ret);
        }
        r = r == -ENOMEM ? r : 0; /* no version of it: there are none */
    }
    return r;
}
