#include "daemon/crash_mark.h"

#include "ccm/version.h"
#include "kube/object/object.h"
#include "util/cleanup.h"

#include <sys/stat.h>

/* FNV-1a. */
static uint64_t mark_add_bytes(uint64_t mark, const void *bytes, size_t len)
{
    const unsigned char *from = bytes;

    for (size_t i = 0; i < len; i++) {
        mark = (mark ^ from[i]) * UINT64_C(0x100000001b3);
    }
    return mark;
}

static uint64_t mark_add_text(uint64_t mark, const char *text)
{
    return mark_add_bytes(mark, text, strlen(text) + 1);
}

static uint64_t mark_add_number(uint64_t mark, int64_t number)
{
    return mark_add_bytes(mark, &number, sizeof(number));
}

static uint64_t mark_add_pairs(uint64_t mark, const struct ccm_pair *const *pairs, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        mark = mark_add_text(mark_add_text(mark, pairs[i]->key), pairs[i]->value);
    }
    return mark_add_number(mark, (int64_t)count);
}

/* A Service has no generation. */
static uint64_t mark_add_service(uint64_t mark, const struct ccm_service *service)
{
    mark = mark_add_text(mark, service->type);
    mark = mark_add_text(mark, service->load_balancer_class);
    mark = mark_add_text(mark, service->external_traffic_policy);
    mark = mark_add_text(mark, service->load_balancer_ip);
    mark = mark_add_text(mark, service->session_affinity);
    for (uint64_t i = 0; i < service->port_count; i++) {
        const struct ccm_service_port *port = service->ports[i];

        mark = mark_add_text(mark_add_text(mark, port->name), port->protocol);
        mark = mark_add_text(mark_add_number(mark, port->port), port->target_port_name);
        mark = mark_add_number(mark_add_number(mark, port->target_port), port->node_port);
    }
    for (uint64_t i = 0; i < service->source_range_count; i++) {
        mark = mark_add_text(mark, service->source_ranges[i]);
    }
    return mark;
}

static uint64_t mark_add_node(uint64_t mark, const struct ccm_node *node)
{
    mark = mark_add_text(mark, node->provider_id);
    for (uint64_t i = 0; i < node->pod_cidr_count; i++) {
        mark = mark_add_text(mark, node->pod_cidrs[i]);
    }
    return mark;
}

static uint64_t mark_add_object(uint64_t mark, const struct ccm_object *object)
{
    mark = mark_add_text(mark, object->uid);
    mark = mark_add_number(mark, object->generation);
    mark = mark_add_number(mark, object->deleted_ms);
    mark = mark_add_pairs(mark, object->labels, object->label_count);
    mark = mark_add_pairs(mark, object->annotations, object->annotation_count);
    if (object->kind == CCM_KIND_SERVICE) {
        return mark_add_service(mark, (const struct ccm_service *)(const void *)object);
    }
    if (object->kind == CCM_KIND_NODE) {
        return mark_add_node(mark, (const struct ccm_node *)(const void *)object);
    }
    return object->generation != 0 ? mark : mark_add_text(mark, object->resource_version);
}

static struct kube_store *mark_find_store(const struct daemon_host_services *services,
                                          const struct ccm_watch *watch)
{
    if (watch->kind != CCM_KIND_RAW) {
        return watch->kind < DAEMON_HOST_KINDS ? services->stores[watch->kind] : NULL;
    }
    for (size_t i = 0; i < services->raw_count; i++) {
        if (services->raw[i].watch == watch) {
            return services->raw[i].store;
        }
    }
    return NULL;
}

static const struct ccm_object *mark_get_object(const struct daemon_host_services *services,
                                                const struct ccm_watch *watch, const char *key)
{
    struct kube_store *store = mark_find_store(services, watch);

    return store == NULL ? NULL : kube_store_get(store, key);
}

uint64_t daemon_crash_mark_of_plugin(const struct plugin_loaded_plugin *plugin)
{
    uint64_t mark = mark_add_text(UINT64_C(0xcbf29ce484222325), CCM_VERSION);
    struct stat about;

    mark = mark_add_text(mark, plugin->desc->version == NULL ? "" : plugin->desc->version);
    if (stat(plugin->path, &about) == 0) { /* one that is built again has no other version yet */
        mark = mark_add_number(mark, about.st_size);
        mark = mark_add_number(mark, about.st_mtime);
    }
    return mark;
}

uint64_t daemon_crash_mark_of_key(const struct daemon_host_services *services,
                                  const struct ccm_plugin *desc, uint64_t of_plugin,
                                  const char *key)
{
    uint64_t mark = of_plugin;

    for (const struct ccm_watch *const *watch = desc->watches; *watch != NULL; watch++) {
        CCM_CLEANUP(kube_object_unrefp)
        const struct ccm_object *object = mark_get_object(services, *watch, key);

        mark = object == NULL ? mark_add_number(mark, 0) : mark_add_object(mark, object);
    }
    return mark;
}

const struct ccm_object *daemon_crash_mark_find_object(const struct daemon_host_services *services,
                                                       const struct ccm_plugin *desc,
                                                       const char *key)
{
    const struct ccm_object *object = NULL;

    for (const struct ccm_watch *const *w = desc->watches; *w != NULL && object == NULL; w++) {
        object = mark_get_object(services, *w, key);
    }
    return object;
}
