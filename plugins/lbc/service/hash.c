#include "lbc/service/hash.h"

#include "lbc/names.h"
#include "lbc/service/goyaml.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#define YAML_MAX ((size_t)4 * 1024 * 1024)

static bool is_zero(const cJSON *item)
{
    if (cJSON_IsArray(item) || cJSON_IsObject(item)) {
        return item->child == NULL;
    }
    if (cJSON_IsString(item)) {
        return item->valuestring[0] == '\0';
    }
    if (cJSON_IsNumber(item)) {
        return item->valuedouble == 0.0;
    }
    return cJSON_IsNull(item) || cJSON_IsFalse(item);
}

/* Depth is bounded by the parser (1,000) or by the fixed shape that hash_service builds. */
static void hash_prune_item(cJSON *item)
{
    cJSON *child = item->child;

    if (!cJSON_IsArray(item) && !cJSON_IsObject(item)) {
        return;
    }
    while (child != NULL) {
        cJSON *next = child->next;

        /* Looked at before its own members go: a map that only pruning empties stays. */
        if (cJSON_IsObject(item) &&
            (is_zero(child) || ccm_text_equal(child->string, lbc_names.hash_ignored))) {
            cJSON_Delete(cJSON_DetachItemViaPointer(item, child));
        } else {
            hash_prune_item(child);
        }
        child = next;
    }
}

static void prune_top(cJSON *list)
{
    cJSON *child = NULL;

    hash_prune_item(list);
    child = list->child;
    while (child != NULL) {
        cJSON *next = child->next;

        if (is_zero(child)) {
            cJSON_Delete(cJSON_DetachItemViaPointer(list, child));
        }
        child = next;
    }
}

int lbc_hash_list(cJSON *list, char ret[LBC_HASH_TEXT])
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf yaml = { .max = YAML_MAX };
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int len = 0;

    if (!cJSON_IsArray(list)) {
        return -EINVAL;
    }
    prune_top(list);
    const int r = lbc_yaml_emit(&yaml, list);

    if (r == -EBADMSG) { /* there the text is empty then, and so its hash is taken */
        ccm_buf_fini(&yaml);
    } else if (r < 0) {
        return r;
    }
    if (EVP_Digest(ccm_buf_str(&yaml), yaml.len, digest, &len, EVP_sha224(), NULL) != 1 ||
        len * 2 + 1 != LBC_HASH_TEXT) {
        return -ENOMEM;
    }
    for (unsigned int i = 0; i < len; i++) {
        ccm_text_printf(ret + (size_t)i * 2, 3, "%02x", digest[i]);
    }
    return 0;
}

/* Each helper returns whether memory sufficed. */
static bool hash_add_text(cJSON *map, const char *name, const char *text)
{
    return cJSON_AddStringToObject(map, name, text) != NULL;
}

static bool add_port(cJSON *list, const struct ccm_service_port *port)
{
    cJSON *map = cJSON_CreateObject();

    if (map == NULL || !cJSON_AddItemToArray(list, map)) {
        cJSON_Delete(map);
        return false;
    }
    return hash_add_text(map, "name", port->name) &&
           hash_add_text(map, "protocol", port->protocol) &&
           hash_add_text(map, "appProtocol", port->app_protocol) &&
           cJSON_AddNumberToObject(map, "port", (double)port->port) != NULL &&
           (port->target_port_name[0] != '\0'
                ? hash_add_text(map, "targetPort", port->target_port_name)
                : cJSON_AddNumberToObject(map, "targetPort", (double)port->target_port) != NULL) &&
           cJSON_AddNumberToObject(map, "nodePort", (double)port->node_port) != NULL;
}

static cJSON *hash_append_item(cJSON *list, cJSON *item)
{
    if (item != NULL && !cJSON_AddItemToArray(list, item)) {
        cJSON_Delete(item);
        return NULL;
    }
    return item;
}

static bool add_ports(cJSON *list, const struct ccm_service *service)
{
    cJSON *ports = hash_append_item(list, cJSON_CreateArray());

    for (uint64_t i = 0; ports != NULL && i < service->port_count; i++) {
        if (!add_port(ports, service->ports[i])) {
            return false;
        }
    }
    return ports != NULL;
}

static bool add_annotations(cJSON *list, const struct ccm_service *service)
{
    cJSON *map = hash_append_item(list, cJSON_CreateObject());

    for (uint64_t i = 0; map != NULL && i < service->meta.annotation_count; i++) {
        const struct ccm_pair *pair = service->meta.annotations[i];

        if (!hash_add_text(map, pair->key, pair->value)) {
            return false;
        }
    }
    return map != NULL;
}

static bool add_deletion(cJSON *list, const struct ccm_service *service)
{
    char text[CCM_CLOCK_TEXT] = "";

    if (service->meta.deleted_ms != 0) {
        ccm_clock_format(service->meta.deleted_ms, text, sizeof(text));
    }
    return hash_append_item(list, cJSON_CreateString(text)) != NULL;
}

static bool add_ranges(cJSON *list, const struct ccm_service *service)
{
    if (service->source_range_count == 0) {
        return true;
    }
    cJSON *ranges = hash_append_item(list, cJSON_CreateArray());

    for (uint64_t i = 0; ranges != NULL && i < service->source_range_count; i++) {
        if (hash_append_item(ranges, cJSON_CreateString(service->source_ranges[i])) == NULL) {
            return false;
        }
    }
    return ranges != NULL;
}

int lbc_hash_service(const struct ccm_service *service, char ret[LBC_HASH_TEXT])
{
    CCM_CLEANUP(ccm_json_freep) cJSON *list = cJSON_CreateArray();

    if (list == NULL || !add_ports(list, service) ||
        hash_append_item(list, cJSON_CreateString(service->type)) == NULL ||
        hash_append_item(list, cJSON_CreateString(service->external_traffic_policy)) == NULL ||
        hash_append_item(list, cJSON_CreateString(service->load_balancer_class)) == NULL ||
        !add_annotations(list, service) || !add_deletion(list, service) ||
        !add_ranges(list, service)) {
        return -ENOMEM;
    }
    return lbc_hash_list(list, ret);
}
