#include "item.h"

#include "gateway.h"
#include "util/array.h"
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

const char *gateway_text(const cJSON *parent, const char *name, const char *fallback)
{
    const char *text = ccm_json_text(parent, name);

    return ccm_text_empty(text) ? fallback : text;
}

char *gateway_key(const char *namespace_, const char *name)
{
    return ccm_text_format("%s/%s", namespace_, name);
}

/* --- one --- */

/* The reference moves in. What is no JSON was never stored by a server. */
static int item_fill(const struct ccm_object *object, struct gateway_item *ret)
{
    const char *text = ((const struct ccm_raw *)object)->json;

    ret->object = object;
    return ccm_json_parse(text, strlen(text), &ret->json) < 0 ? -ENOMEM : 0;
}

void gateway_item_fini(const struct ccm_host *host, struct gateway_item *item)
{
    if (item->object != NULL) {
        host->release(host, item->object);
    }
    ccm_json_freep(&item->json);
    item->object = NULL;
}

int gateway_item_get(const struct ccm_host *host, const char *api_version, const char *resource,
                     const char *key, struct gateway_item *ret)
{
    const struct ccm_object *object = host->get_raw(host, api_version, resource, key);

    *ret = (struct gateway_item){ .api_version = api_version };
    return object == NULL ? 0 : item_fill(object, ret);
}

int gateway_route_get(const struct ccm_host *host, enum gateway_route_kind kind, const char *key,
                      struct gateway_item *ret)
{
    int r = 0;

    *ret = (struct gateway_item){ .kind = kind };
    for (size_t i = 0; r == 0 && ret->object == NULL && i < CCM_ARRAY_LEN(route_versions); i++) {
        r = gateway_item_get(host, route_versions[i], gateway_route_names[kind].resource, key, ret);
        ret->kind = kind;
    }
    return r;
}

char *gateway_class_of(const struct ccm_object *gateway)
{
    const char *text = ((const struct ccm_raw *)gateway)->json;
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    return ccm_json_parse(text, strlen(text), &json) < 0
               ? NULL
               : strdup(gateway_text(ccm_json_get(json, "spec"), "gatewayClassName", ""));
}

/* --- several --- */

void gateway_items_fini(const struct ccm_host *host, struct gateway_items *items)
{
    for (size_t i = 0; i < items->len; i++) {
        gateway_item_fini(host, &items->items[i]);
    }
    free(items->items);
    *items = (struct gateway_items){ 0 };
}

static int items_add(struct gateway_items *to, struct gateway_item head)
{
    if (ccm_array_grow(&to->items, &to->cap, to->len + 1, sizeof(*to->items)) < 0) {
        return -ENOMEM;
    }
    to->items[to->len] = head;
    return 0;
}

static int items_list_version(const struct ccm_host *host, struct gateway_item head,
                              const char *index, const char *value, struct gateway_items *ret)
{
    const char *resource = gateway_route_names[head.kind].resource;
    const struct ccm_object *const *found = NULL;
    size_t count = 0;
    int r = host->list_raw_by(host, head.api_version, resource, index, value, &found, &count);

    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct ccm_object *one =
            host->get_raw(host, head.api_version, resource, found[i]->key);

        if (one == NULL) {
            continue; /* gone since */
        }
        r = items_add(ret, head);
        if (r == 0) {
            r = item_fill(one, &ret->items[ret->len++]);
        } else {
            host->release(host, one);
        }
    }
    host->release_list(host, found, count);
    return r;
}

int gateway_routes_list(const struct ccm_host *host, const char *index, const char *value,
                        struct gateway_items *ret)
{
    int r = 0;

    *ret = (struct gateway_items){ 0 };
    for (unsigned kind = 0; r == 0 && kind < GATEWAY_ROUTE_KINDS; kind++) {
        struct gateway_item head = { .kind = (enum gateway_route_kind)kind };

        r = -ENOENT;
        for (size_t i = 0; r == -ENOENT && i < CCM_ARRAY_LEN(route_versions); i++) {
            head.api_version = route_versions[i];
            r = items_list_version(host, head, index, value, ret);
        }
        r = r == -ENOMEM ? r : 0; /* no version of it: there are none */
    }
    return r;
}

void gateway_objects_list(const struct ccm_host *host, const char *api_version,
                          const char *resource, const struct ccm_object *const **ret,
                          size_t *ret_count)
{
    *ret = NULL;
    *ret_count = 0;
    if (host->list_raw(host, api_version, resource, ret, ret_count) < 0) {
        *ret = NULL;
        *ret_count = 0;
    }
}
