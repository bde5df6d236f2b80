#include "address.h"

#include "lbc/model/annotation.h"
#include "util/buf.h"
#include "util/cidr.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ZONE_MAPS LBC_ANNO_PREFIX "zone-maps"

/* The next address of a type: "" = the cloud is to choose; NULL = there is none. */
static const char *addresses_next(const cJSON **cursor, const char *type)
{
    while (*cursor != NULL) {
        const cJSON *one = *cursor;

        *cursor = one->next;
        if (strcmp(lbc_custom_text(one, "type", "IPAddress"), type) == 0) {
            return lbc_custom_text(one, "value", "");
        }
    }
    return NULL;
}

/* What is wrong with one by itself; NULL = nothing. */
static const char *address_find_fault(const cJSON *one)
{
    const char *type = lbc_custom_text(one, "type", "IPAddress");
    const char *value = lbc_custom_text(one, "value", "");
    struct ccm_ip ip;

    if (strcmp(type, GATEWAY_ALLOCATION_ID) == 0) {
        return strpbrk(value, ":, ") == NULL ? NULL : "a value of spec.addresses is no id";
    }
    if (strcmp(type, "IPAddress") != 0) {
        return "types of spec.addresses are IPAddress, for private addresses, "
               "and " GATEWAY_ALLOCATION_ID ", for elastic ones";
    }
    return value[0] == '\0' || (ccm_ip_parse(value, &ip) == 0 && ccm_ip_is_v4(&ip))
               ? NULL
               : "a value of spec.addresses is no IPv4 address";
}

/* One zone of zone-maps with what spec.addresses has for it. */
static void zone_add(struct ccm_buf *to, const char *zone, size_t len, const char *address,
                     const char *elastic)
{
    ccm_buf_addf(to, "%s%.*s", to->len == 0 ? "" : ",", (int)len, zone);
    if (!ccm_text_empty(address) || !ccm_text_empty(elastic)) {
        ccm_buf_addf(to, ":%s%s%s", address == NULL ? "" : address,
                     ccm_text_empty(elastic) ? "" : ":", elastic == NULL ? "" : elastic);
    }
}

/* All zones; NULL, or why not. */
static const char *zones_add(struct ccm_buf *to, const char *zones, const cJSON *addresses)
{
    const cJSON *private = addresses;
    const cJSON *elastic = addresses;
    const char *entry = NULL;
    size_t len = 0;

    while (ccm_parse_piece(&zones, ',', &entry, &len)) {
        const char *colon = memchr(entry, ':', len);

        if (colon != NULL && memchr(colon + 1, ':', len - (size_t)(colon + 1 - entry)) != NULL) {
            return "annotation " ZONE_MAPS " gives addresses already: spec.addresses cannot too";
        }
        zone_add(to, entry, len, addresses_next(&private, "IPAddress"),
                 addresses_next(&elastic, GATEWAY_ALLOCATION_ID));
    }
    return addresses_next(&private, "IPAddress") == NULL &&
                   addresses_next(&elastic, GATEWAY_ALLOCATION_ID) == NULL
               ? NULL
               : "spec.addresses has more addresses of a type than annotation " ZONE_MAPS
                 " has zones";
}

int gateway_addresses_place(const cJSON *spec, struct ccm_strmap *annotations, const char **ret_why)
{
    const cJSON *addresses = ccm_json_items(spec, "addresses");
    const char *zones = ccm_strmap_get(annotations, ZONE_MAPS);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 64U * 1024 };
    CCM_CLEANUP(ccm_freep) char *copy = NULL;

    *ret_why = NULL;
    for (const cJSON *one = addresses; one != NULL && *ret_why == NULL; one = one->next) {
        *ret_why = address_find_fault(one);
    }
    if (addresses == NULL || ccm_text_empty(zones) || *ret_why != NULL) {
        return 0;
    }
    *ret_why = zones_add(&text, zones, addresses);
    if (*ret_why != NULL) {
        return 0;
    }
    if (ccm_buf_error(&text) < 0 || (copy = strdup(ccm_buf_str(&text))) == NULL ||
        ccm_strmap_set(annotations, ZONE_MAPS, copy) < 0) {
        return -ENOMEM;
    }
    (void)CCM_STEAL(copy); /* the map owns it now */
    return 0;
}

int gateway_addresses_show(const cJSON *spec, cJSON *to)
{
    for (const cJSON *one = ccm_json_items(spec, "addresses"); one != NULL; one = one->next) {
        if (lbc_custom_text(one, "value", "")[0] == '\0') {
            continue;
        }

        cJSON *copy = cJSON_Duplicate(one, true);

        if (copy == NULL || !cJSON_AddItemToArray(to, copy)) {
            cJSON_Delete(copy);
            return -ENOMEM;
        }
    }
    return 0;
}
