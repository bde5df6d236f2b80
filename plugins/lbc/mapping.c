#include "lbc/mapping.h"

#include "lbc/inventory.h"
#include "lbc/mirror.h"
#include "lbc/model/annotation.h"
#include "lbc/model/candidate.h"
#include "lbc/model/class.h"
#include "lbc/model/endpoint.h"
#include "lbc/model/node.h"
#include "lbc/model/object.h"
#include "lbc/service/hash.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

/* Whether the Service concerns this controller: its class, or because it was ours and still carries
 * the finalizer, which nobody else will take away. */
static bool mapping_concerns_service(const struct lbc_mapping *mapping,
                                     const struct ccm_service *service)
{
    return mapping->is_ours(service) ||
           lbc_object_has_finalizer(&service->meta, mapping->finalizer);
}

static void mapping_emit_event(const struct lbc_mapping *mapping, const struct ccm_service *service,
                               const char *reason, const char *message)
{
    const struct ccm_event event = {
        .struct_size = sizeof(event),
        .object = &service->meta,
        .component = mapping->component,
        .reason = reason,
        .message = message,
    };

    mapping->host->event(mapping->host, &event);
}

static bool same_port(const struct ccm_service_port *a, const struct ccm_service_port *b)
{
    return a->port == b->port && a->target_port == b->target_port && a->node_port == b->node_port &&
           strcmp(a->name, b->name) == 0 && strcmp(a->protocol, b->protocol) == 0 &&
           strcmp(a->app_protocol, b->app_protocol) == 0 &&
           strcmp(a->target_port_name, b->target_port_name) == 0;
}

static bool same_texts(const char *const *a, uint64_t a_count, const char *const *b,
                       uint64_t b_count)
{
    if (a_count != b_count) {
        return false;
    }
    for (uint64_t i = 0; i < a_count; i++) {
        if (strcmp(a[i], b[i]) != 0) {
            return false;
        }
    }
    return true;
}

static bool same_ports(const struct ccm_service *a, const struct ccm_service *b)
{
    if (a->port_count != b->port_count) {
        return false;
    }
    for (uint64_t i = 0; i < a->port_count; i++) {
        if (!same_port(a->ports[i], b->ports[i])) {
            return false;
        }
    }
    return true;
}

static bool same_spec(const struct ccm_service *a, const struct ccm_service *b)
{
    return same_ports(a, b) && ccm_text_equal(a->meta.too_large, b->meta.too_large) &&
           ccm_text_equal(a->type, b->type) &&
           ccm_text_equal(a->load_balancer_class, b->load_balancer_class) &&
           ccm_text_equal(a->external_traffic_policy, b->external_traffic_policy) &&
           ccm_text_equal(a->load_balancer_ip, b->load_balancer_ip) &&
           ccm_text_equal(a->session_affinity, b->session_affinity) &&
           a->session_affinity_timeout_s == b->session_affinity_timeout_s &&
           ccm_text_equal(a->cluster_ip, b->cluster_ip) &&
           a->health_check_node_port == b->health_check_node_port &&
           a->allocate_node_ports == b->allocate_node_ports &&
           a->publish_not_ready_addresses == b->publish_not_ready_addresses &&
           same_texts(a->source_ranges, a->source_range_count, b->source_ranges,
                      b->source_range_count) &&
           same_texts(a->ip_families, a->ip_family_count, b->ip_families, b->ip_family_count);
}

/* Deletions and new objects go first; Services that a restart finds finished come behind them. */
static uint64_t lane_of(const struct ccm_service *service)
{
    if (lbc_class_needs_delete(service) ||
        ccm_object_label(&service->meta, LBC_HASH_LABEL) == NULL) {
        return CCM_LANE_URGENT;
    }
    return CCM_LANE_SPEC;
}

static void mapping_enqueue_service(const struct lbc_mapping *mapping,
                                    const struct ccm_service *service, uint64_t lane)
{
    mapping->host->enqueue(mapping->host, service->meta.key, lane, 0);
}

/* What changed, as an event where people are used to one. False: nothing that matters. */
static bool service_changed(const struct lbc_mapping *mapping, const struct ccm_service *before,
                            const struct ccm_service *after)
{
    if (mapping->is_ours(before) != mapping->is_ours(after)) {
        char message[128];

        ccm_text_printf(message, sizeof(message), "type change %s - %s", before->type, after->type);
        mapping_emit_event(mapping, after, "TypeChanged", message);
        return true;
    }
    if (strcmp(before->meta.uid, after->meta.uid) != 0) {
        return true;
    }
    if (!lbc_object_same_annotations(&before->meta, &after->meta)) {
        mapping_emit_event(mapping, after, "AnnotationChanged",
                           "The service will be updated because the annotations has been changed.");
        return true;
    }
    if (!same_spec(before, after)) {
        mapping_emit_event(mapping, after, "ServiceSpecChanged",
                           "The service will be updated because the spec has been changed.");
        return true;
    }
    if ((before->meta.deleted_ms != 0) != (after->meta.deleted_ms != 0)) {
        mapping_emit_event(
            mapping, after, "DeleteTimestampChanged",
            "The service will be updated because the delete timestamp has been changed.");
        return true;
    }
    /* Our finalizer came after the Service had stopped being ours: it has to go again. */
    if (!mapping->is_ours(after) && lbc_object_has_finalizer(&after->meta, mapping->finalizer) &&
        !lbc_object_has_finalizer(&before->meta, mapping->finalizer)) {
        return true;
    }
    return false;
}

/* --- what we keep on a Service --- */

static bool has_lost_label(const struct ccm_service *before, const struct ccm_service *after,
                           const char *key)
{
    const char *was = key == NULL ? NULL : ccm_object_label(&before->meta, key);

    return !ccm_text_empty(was) && !ccm_text_equal(was, ccm_object_label(&after->meta, key));
}

/* A new hash is what we write after each change. */
static bool has_lost_hash(const struct ccm_service *before, const struct ccm_service *after)
{
    char hash[LBC_HASH_TEXT];

    return has_lost_label(before, after, LBC_HASH_LABEL) &&
           (lbc_hash_service(after, hash) < 0 ||
            !ccm_text_equal(ccm_object_label(&after->meta, LBC_HASH_LABEL), hash));
}

/* Clearing the status is how an operator asks for a new load balancer. */
static bool has_lost_address(const struct ccm_service *before, const struct ccm_service *after)
{
    if (before->ingress_count == 0 || before->ingress_count != after->ingress_count) {
        return before->ingress_count != 0;
    }
    for (uint64_t i = 0; i < before->ingress_count; i++) {
        if (!ccm_text_equal(before->ingress[i]->ip, after->ingress[i]->ip) ||
            !ccm_text_equal(before->ingress[i]->hostname, after->ingress[i]->hostname)) {
            return true;
        }
    }
    return false;
}

/* What was there is not as it was; where we have changed it ourselves, the pass sees that. */
static bool is_touched(const struct lbc_mapping *mapping, const struct ccm_service *before,
                       const struct ccm_service *after)
{
    if (!mapping->is_ours(after) || after->meta.deleted_ms != 0) {
        return false; /* it is to be taken away */
    }
    return (lbc_object_has_finalizer(&before->meta, mapping->finalizer) &&
            !lbc_object_has_finalizer(&after->meta, mapping->finalizer)) ||
           has_lost_label(before, after, LBC_LIFE_LB_LABEL) ||
           has_lost_label(before, after, mapping->extra_label) || has_lost_hash(before, after) ||
           has_lost_address(before, after);
}

static void service_updated(const struct lbc_mapping *mapping, const struct ccm_service *before,
                            const struct ccm_service *after)
{
    const bool finalizer = lbc_object_has_finalizer(&after->meta, mapping->finalizer);

    if (!mapping->is_ours(before) && !mapping->is_ours(after) && !finalizer) {
        return;
    }
    if (lbc_class_is_elsewhere(after) && !finalizer) {
        return;
    }
    const bool touched = is_touched(mapping, before, after);

    if (touched && mapping->mirrors != NULL) {
        lbc_mirrors_touch(mapping->mirrors, after->meta.key);
    }
    if (service_changed(mapping, before, after) || touched) {
        if (mapping->inventory != NULL) {
            lbc_inventory_record_edit(mapping->inventory, &after->meta);
        }
        mapping_enqueue_service(mapping, after,
                                lbc_class_needs_delete(after) || !mapping->is_ours(before)
                                    ? CCM_LANE_URGENT
                                    : CCM_LANE_SPEC);
    }
}

void lbc_mapping_service(const struct lbc_mapping *mapping, const struct ccm_change *change)
{
    const struct ccm_service *before = (const struct ccm_service *)change->before;
    const struct ccm_service *after = (const struct ccm_service *)change->after;

    lbc_absence_record_service(mapping->absence, change);
    if (change->type == CCM_CHANGE_UPDATED) {
        service_updated(mapping, before, after);
    } else if (change->type == CCM_CHANGE_ADDED && mapping_concerns_service(mapping, after)) {
        mapping_enqueue_service(mapping, after, lane_of(after));
    } else if (change->type == CCM_CHANGE_DELETED && mapping_concerns_service(mapping, before)) {
        /* Nothing is left to do in the cloud, but what is remembered about it can go. */
        mapping_enqueue_service(mapping, before, CCM_LANE_BULK);
    }
}

static void enqueue_named(const struct lbc_mapping *mapping, const struct ccm_endpoint_slice *slice)
{
    char key[512];
    const int len =
        snprintf(key, sizeof(key), "%s/%s", slice->meta.namespace_, slice->service_name);

    if (slice->service_name[0] == '\0' || len < 0 || (size_t)len >= sizeof(key)) {
        return;
    }
    const struct ccm_object *object = mapping->host->get(mapping->host, CCM_KIND_SERVICE, key);

    if (object == NULL) {
        return;
    }
    if (mapping->is_ours((const struct ccm_service *)object)) {
        mapping->host->enqueue(mapping->host, key, CCM_LANE_BACKENDS, 0);
    }
    mapping->host->release(mapping->host, object);
}

void lbc_mapping_slice(const struct lbc_mapping *mapping, const struct ccm_change *change)
{
    const struct ccm_endpoint_slice *before = (const struct ccm_endpoint_slice *)change->before;
    const struct ccm_endpoint_slice *after = (const struct ccm_endpoint_slice *)change->after;

    lbc_absence_record_slice(mapping->absence, change, mapping->is_ours);
    if (before != NULL && after != NULL && !lbc_endpoints_differ(before, after)) {
        return;
    }
    if (before != NULL) {
        enqueue_named(mapping, before);
    }
    if (after != NULL &&
        (before == NULL || strcmp(before->service_name, after->service_name) != 0)) {
        enqueue_named(mapping, after);
    }
}

static bool node_matters(const struct ccm_change *change)
{
    const struct ccm_node *before = (const struct ccm_node *)change->before;
    const struct ccm_node *after = (const struct ccm_node *)change->after;

    if (before == NULL || after == NULL) {
        return !lbc_node_skippable(before == NULL ? after : before);
    }
    return !(lbc_node_skippable(before) && lbc_node_skippable(after)) &&
           lbc_node_differs(before, after);
}

/* Whether nodes are backends of the Service, whatever its pods do. */
static bool depends_on_nodes(const struct lbc_mapping *mapping, const struct ccm_service *service)
{
    switch (lbc_backend_mode(service, mapping->pods_by_default)) {
    case LBC_MODE_PODS:
        return false;
    case LBC_MODE_CLUSTER:
        return true;
    case LBC_MODE_LOCAL:
    default:
        return !mapping->filter_nodes ||
               !ccm_text_empty(lbc_anno_get(&service->meta, "backend-label")) ||
               !ccm_text_empty(lbc_anno_get(&service->meta, "remove-unscheduled-backend"));
    }
}

/* It would take traffic if anybody could tell which instance it is. A node that joins has no
 * provider id at first. */
static bool is_nameless(const struct ccm_object *object)
{
    const struct ccm_node *node = (const struct ccm_node *)object;

    return node != NULL && !lbc_node_skippable(node) && lbc_node_instance_id(node) == NULL &&
           (!ccm_text_empty(node->provider_id) || node->ready == CCM_CONDITION_TRUE);
}

/* Once per node and change. */
static void mapping_log_nameless(const struct lbc_mapping *mapping, const struct ccm_change *change)
{
    const struct ccm_node *before = (const struct ccm_node *)change->before;
    const struct ccm_node *after = (const struct ccm_node *)change->after;

    if (is_nameless(change->after) &&
        !(is_nameless(change->before) && ccm_text_equal(before->provider_id, after->provider_id))) {
        mapping->host->log(mapping->host, CCM_LEVEL_WARN, after->meta.name,
                           "the node takes no traffic: its spec.providerID [%s] is not "
                           "{region}.{instance id}",
                           after->provider_id);
    }
}

void lbc_mapping_node(const struct lbc_mapping *mapping, const struct ccm_change *change,
                      uint64_t delay_ms)
{
    const struct ccm_object *const *services = NULL;
    size_t count = 0;

    lbc_absence_record_node(mapping->absence, change);
    mapping_log_nameless(mapping, change);
    if (!node_matters(change)) {
        return;
    }
    if (mapping->host->list(mapping->host, CCM_KIND_SERVICE, NULL, NULL, &services, &count) < 0) {
        mapping->host->log(mapping->host, CCM_LEVEL_ERROR, NULL,
                           "node change not passed on: out of memory");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct ccm_service *service = (const struct ccm_service *)services[i];

        if (mapping->is_ours(service) && depends_on_nodes(mapping, service)) {
            mapping->host->enqueue(mapping->host, service->meta.key, CCM_LANE_BULK, delay_ms);
        }
    }
    mapping->host->release_list(mapping->host, services, count);
}
