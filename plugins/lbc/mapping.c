/* From changes of objects to keys in the queue: which Services a change concerns. Runs in the
 * reflector's thread; no I/O. */
#include "lbc/instance.h"
#include "lbc/names.h"

#include "lbc/model/annotation.h"
#include "lbc/model/candidate.h"
#include "lbc/model/class.h"
#include "lbc/model/endpoint.h"
#include "lbc/model/node.h"
#include "lbc/model/object.h"
#include "lbc/pass.h"
#include "lbc/report/figures.h"
#include "lbc/service/condition.h"
#include "lbc/service/hash.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

/* Node events come in bursts; this lets one pass serve several of them. */
#define NODE_DELAY_MS 50

/* Whether the Service concerns this controller: its class is ours, or it still has our finalizer,
 * or it is of another type now and has our condition, which no other controller removes. */
static bool mapping_concerns_service(const struct lbc_instance *lbc,
                                     const struct ccm_service *service)
{
    return lbc_owns(lbc, service) ||
           lbc_object_has_finalizer(&service->meta, lbc->life.finalizer) ||
           lbc_pass_has_old_condition(lbc, service);
}

static bool mapping_owns(const void *arg, const struct ccm_service *service)
{
    return lbc_owns(arg, service);
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

/* It was never finished. */
static bool is_new(const struct ccm_service *service)
{
    return ccm_object_label(&service->meta, lbc_names.hash_label) == NULL;
}

/* Where a change of its backends waits. One that is still to be made, or to be read after a restart
 * (maybe with all others, see inventory.h), is served by its own pass, which takes long: it is kept
 * out of the lane that never waits for such work. */
static uint64_t mapping_choose_lane(const struct lbc_instance *lbc,
                                    const struct ccm_service *service, uint64_t making)
{
    if (is_new(service) && service->ingress_count == 0) {
        return making;
    }
    return lbc_mirrors_has(lbc->mirrors, service->meta.key) ? CCM_LANE_BACKENDS : CCM_LANE_SPEC;
}

/* Deletions and new objects go first; Services that a restart finds finished come behind them. */
static uint64_t lane_of(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    if (lbc_pass_is_unwanted(lbc, service)) {
        return CCM_LANE_REMOVE;
    }
    return is_new(service) ? CCM_LANE_URGENT : CCM_LANE_SPEC;
}

static void mapping_enqueue_service(const struct lbc_instance *lbc,
                                    const struct ccm_service *service, uint64_t lane)
{
    lbc->host->enqueue(lbc->host, service->meta.key, lane, 0);
}

/* What changed, as an event where people are used to one. False: nothing that matters. */
static bool service_changed(const struct lbc_instance *lbc, const struct ccm_service *before,
                            const struct ccm_service *after)
{
    if (lbc_owns(lbc, before) != lbc_owns(lbc, after)) {
        lbc_life_event(&lbc->life, after, false, "TypeChanged", "type change %s - %s", before->type,
                       after->type);
        return true;
    }
    if (strcmp(before->meta.uid, after->meta.uid) != 0) {
        return true;
    }
    if (!lbc_object_same_annotations(&before->meta, &after->meta)) {
        lbc_life_event(&lbc->life, after, false, "AnnotationChanged",
                       "The service will be updated because the annotations has been changed.");
        return true;
    }
    if (!same_spec(before, after)) {
        lbc_life_event(&lbc->life, after, false, "ServiceSpecChanged",
                       "The service will be updated because the spec has been changed.");
        return true;
    }
    if ((before->meta.deleted_ms != 0) != (after->meta.deleted_ms != 0)) {
        lbc_life_event(
            &lbc->life, after, false, "DeleteTimestampChanged",
            "The service will be updated because the delete timestamp has been changed.");
        return true;
    }
    /* Our finalizer came after the Service had stopped being ours: it has to go again. */
    if (!lbc_owns(lbc, after) && lbc_object_has_finalizer(&after->meta, lbc->life.finalizer) &&
        !lbc_object_has_finalizer(&before->meta, lbc->life.finalizer)) {
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

    return has_lost_label(before, after, lbc_names.hash_label) &&
           (lbc_hash_service(after, hash) < 0 || lbc_hash_compare(after, hash) != LBC_HASH_SAME);
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

static bool has_other_finalizer(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    return lbc_object_has_other_finalizer(&service->meta, lbc_names.finalizers,
                                          lbc->life.finalizer);
}

/* What was there is not as it was; where we have changed it ourselves, the pass sees that. One of
 * another product that lets go takes away what both keep at the same place. */
static bool is_touched(const struct lbc_instance *lbc, const struct ccm_service *before,
                       const struct ccm_service *after)
{
    if (!lbc_owns(lbc, after) || after->meta.deleted_ms != 0) {
        return false; /* it is to be taken away */
    }
    return (lbc_object_has_finalizer(&before->meta, lbc->life.finalizer) &&
            !lbc_object_has_finalizer(&after->meta, lbc->life.finalizer)) ||
           (has_other_finalizer(lbc, before) && !has_other_finalizer(lbc, after)) ||
           has_lost_label(before, after, lbc_names.lb_label) ||
           has_lost_label(before, after, lbc->life.reused_label) ||
           has_lost_label(before, after, lbc->life.extra_label) || has_lost_hash(before, after) ||
           has_lost_address(before, after);
}

static void service_updated(const struct lbc_instance *lbc, const struct ccm_service *before,
                            const struct ccm_service *after)
{
    const bool finalizer = lbc_object_has_finalizer(&after->meta, lbc->life.finalizer);

    if (!lbc_owns(lbc, before) && !lbc_owns(lbc, after) && !finalizer) {
        /* An earlier leader has written the condition late. */
        if (mapping_concerns_service(lbc, after) && !mapping_concerns_service(lbc, before)) {
            mapping_enqueue_service(lbc, after, CCM_LANE_REMOVE);
        }
        return;
    }
    if (lbc_class_is_elsewhere(after) && !finalizer) {
        if (lbc_owns(lbc, before)) { /* what is said about it ends */
            mapping_enqueue_service(lbc, after, CCM_LANE_REMOVE);
        }
        return;
    }
    const bool touched = is_touched(lbc, before, after);

    if (touched) {
        lbc_mirrors_touch(lbc->mirrors, after->meta.key);
    }
    if (service_changed(lbc, before, after) || touched) {
        if (lbc->inventory != NULL) {
            lbc_inventory_record_edit(lbc->inventory, &after->meta);
        }
        uint64_t lane = lbc_owns(lbc, before) ? CCM_LANE_SPEC : CCM_LANE_URGENT;

        if (lbc_pass_is_unwanted(lbc, after)) {
            lane = CCM_LANE_REMOVE;
        }
        mapping_enqueue_service(lbc, after, lane);
    }
}

/* Whoever leads: a standby that takes over knows since when it is waited. */
static void mapping_note_wish(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    if (lbc_pass_is_unwanted(lbc, service) || lbc_class_is_elsewhere(service)) {
        lbc_figures_end_wish(lbc->figures, service->meta.key, false);
    } else if (service->ingress_count == 0) {
        lbc_figures_begin_wish(lbc->figures, service->meta.key);
    } else {
        lbc_figures_meet_wish(lbc->figures, service->meta.key);
    }
}

static void map_service(void *self, const struct ccm_change *change)
{
    const struct lbc_instance *lbc = self;
    const struct ccm_service *before = (const struct ccm_service *)change->before;
    const struct ccm_service *after = (const struct ccm_service *)change->after;

    lbc_absence_record_service(lbc->absence, change);
    if (after != NULL) {
        mapping_note_wish(lbc, after);
    }
    if (change->type == CCM_CHANGE_UPDATED) {
        service_updated(lbc, before, after);
    } else if (change->type == CCM_CHANGE_ADDED && mapping_concerns_service(lbc, after)) {
        mapping_enqueue_service(lbc, after, lane_of(lbc, after));
    } else if (change->type == CCM_CHANGE_DELETED && mapping_concerns_service(lbc, before)) {
        /* Nothing is left to do in the cloud, but what is remembered about it can go. */
        mapping_enqueue_service(lbc, before, CCM_LANE_BULK);
    }
}

static void enqueue_named(const struct lbc_instance *lbc, const struct ccm_endpoint_slice *slice)
{
    char key[512];
    const int len =
        snprintf(key, sizeof(key), "%s/%s", slice->meta.namespace_, slice->service_name);

    if (slice->service_name[0] == '\0' || len < 0 || (size_t)len >= sizeof(key)) {
        return;
    }
    const struct ccm_object *object = lbc->host->get(lbc->host, CCM_KIND_SERVICE, key);

    if (object == NULL) {
        return;
    }
    if (lbc_owns(lbc, (const struct ccm_service *)object)) {
        lbc->host->enqueue(
            lbc->host, key,
            mapping_choose_lane(lbc, (const struct ccm_service *)object, CCM_LANE_URGENT), 0);
    }
    lbc->host->release(lbc->host, object);
}

static void map_slice(void *self, const struct ccm_change *change)
{
    const struct lbc_instance *lbc = self;
    const struct ccm_endpoint_slice *before = (const struct ccm_endpoint_slice *)change->before;
    const struct ccm_endpoint_slice *after = (const struct ccm_endpoint_slice *)change->after;

    lbc_absence_record_slice(lbc->absence, change, mapping_owns, lbc);
    if (before != NULL && after != NULL && !lbc_endpoints_differ(before, after)) {
        return;
    }
    if (before != NULL) {
        enqueue_named(lbc, before);
    }
    if (after != NULL &&
        (before == NULL || strcmp(before->service_name, after->service_name) != 0)) {
        enqueue_named(lbc, after);
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
static bool depends_on_nodes(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    return lbc_backend_mode(service, lbc->pods_by_default) != LBC_MODE_PODS;
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
static void mapping_log_nameless(const struct lbc_instance *lbc, const struct ccm_change *change)
{
    const struct ccm_node *before = (const struct ccm_node *)change->before;
    const struct ccm_node *after = (const struct ccm_node *)change->after;

    if (is_nameless(change->after) &&
        !(is_nameless(change->before) && ccm_text_equal(before->provider_id, after->provider_id))) {
        lbc->host->log(lbc->host, CCM_LEVEL_WARN, after->meta.name,
                       "the node takes no traffic: its spec.providerID [%s] is not "
                       "{region}.{instance id}",
                       after->provider_id);
    }
}

/* Fans out to every Service with nodes as backends. Who loses one is served as if a pod had gone:
 * traffic that is lost does not wait for work of others. */
static void map_node(void *self, const struct ccm_change *change)
{
    const struct lbc_instance *lbc = self;
    const struct ccm_object *const *services = NULL;
    size_t count = 0;

    const bool leaves = lbc_node_leaves((const struct ccm_node *)change->before,
                                        (const struct ccm_node *)change->after, lbc->any_node);

    lbc_absence_record_node(lbc->absence, change);
    if (!lbc->any_node) {
        mapping_log_nameless(lbc, change);
    }
    if (!node_matters(change)) {
        return;
    }
    if (lbc->host->list(lbc->host, CCM_KIND_SERVICE, NULL, NULL, &services, &count) < 0) {
        lbc->host->log(lbc->host, CCM_LEVEL_ERROR, NULL,
                       "node change not passed on: out of memory");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct ccm_service *service = (const struct ccm_service *)services[i];

        if (lbc_owns(lbc, service) && depends_on_nodes(lbc, service)) {
            lbc->host->enqueue(lbc->host, service->meta.key,
                               leaves ? mapping_choose_lane(lbc, service, CCM_LANE_BULK)
                                      : CCM_LANE_BULK,
                               NODE_DELAY_MS);
        }
    }
    lbc->host->release_list(lbc->host, services, count);
}

static const struct ccm_watch watch_service = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_SERVICE,
    .map = map_service,
    .keys = lbc_keys,
};
static const struct ccm_watch watch_slice = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_ENDPOINT_SLICE,
    .map = map_slice,
};
static const struct ccm_watch watch_node = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_NODE,
    .map = map_node,
    .keys = lbc_keys,
};
const struct ccm_watch *const lbc_watches[] = { &watch_service, &watch_slice, &watch_node, NULL };

#define RIGHT(what, how)                                                                           \
    {                                                                                              \
        .struct_size = sizeof(struct ccm_right), .api_version = "v1", .resource = (what),          \
        .verbs = (how)                                                                             \
    }

static const struct ccm_right right_service = RIGHT("services", "patch"); /* the finalizer */
static const struct ccm_right right_status = RIGHT("services/status", "patch");
static const struct ccm_right right_pod = RIGHT("pods", "get"); /* gates, hostNetwork */
static const struct ccm_right right_pod_status = RIGHT("pods/status", "patch");
const struct ccm_right *const lbc_rights[] = { &right_service, &right_status, &right_pod,
                                               &right_pod_status, NULL };
