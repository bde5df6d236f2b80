#include "service.h"

#include "alloc.h"
#include "families.h"
#include "jx.h"
#include "status.h"
#include "util/cleanup.h"

#include <string.h>

#define PORTS_USED_UP "failed to allocate a nodePort: range is full"

static bool has_type(const cJSON *spec, const char *type)
{
    return strcmp(ccm_json_text(spec, "type"), type) == 0;
}

bool ccm_ks_service_needs_ip(const cJSON *spec)
{
    return has_type(spec, "ClusterIP") || has_type(spec, "NodePort") ||
           has_type(spec, "LoadBalancer");
}

bool ccm_ks_service_needs_node_port(const cJSON *spec)
{
    return has_type(spec, "NodePort") || has_type(spec, "LoadBalancer");
}

bool ccm_ks_service_needs_health_port(const cJSON *spec)
{
    return has_type(spec, "LoadBalancer") &&
           strcmp(ccm_json_text(spec, "externalTrafficPolicy"), "Local") == 0;
}

static void default_affinity(cJSON *spec)
{
    ccm_ks_jx_default_str(spec, "sessionAffinity", "None");

    const char *affinity = ccm_json_text(spec, "sessionAffinity");

    if (strcmp(affinity, "None") == 0) {
        ccm_ks_jx_del(spec, "sessionAffinityConfig");
    } else if (strcmp(affinity, "ClientIP") == 0) {
        cJSON *client =
            ccm_ks_jx_object(ccm_ks_jx_object(spec, "sessionAffinityConfig"), "clientIP");

        if (ccm_json_get(client, "timeoutSeconds") == NULL) {
            ccm_ks_jx_set_int(client, "timeoutSeconds", 10800);
        }
    }
}

static void default_ports(cJSON *spec)
{
    cJSON *port;

    cJSON_ArrayForEach(port, ccm_ks_jx_get(spec, "ports"))
    {
        const cJSON *target = ccm_json_get(port, "targetPort");

        ccm_ks_jx_default_str(port, "protocol", "TCP");
        if (target == NULL) {
            ccm_ks_jx_set_int(port, "targetPort", ccm_json_i64(port, "port", 0));
        }
    }
}

static void default_status(cJSON *object)
{
    cJSON *balancer = ccm_ks_jx_get(ccm_ks_jx_get(object, "status"), "loadBalancer");
    cJSON *item;

    cJSON_ArrayForEach(item, ccm_ks_jx_get(balancer, "ingress"))
    {
        if (ccm_json_text(item, "ip")[0] != '\0') {
            ccm_ks_jx_default_str(item, "ipMode", "VIP");
        }
    }
}

void ccm_ks_service_defaults(cJSON *object)
{
    cJSON *spec = ccm_ks_jx_object(object, "spec");

    default_affinity(spec);
    ccm_ks_jx_default_str(spec, "type", "ClusterIP");
    default_ports(spec);
    if (ccm_ks_service_needs_node_port(spec)) {
        ccm_ks_jx_default_str(spec, "externalTrafficPolicy", "Cluster");
    }
    if (ccm_ks_service_needs_ip(spec)) {
        ccm_ks_jx_default_str(spec, "internalTrafficPolicy", "Cluster");
    }
    if (has_type(spec, "LoadBalancer")) {
        if (ccm_json_get(spec, "allocateLoadBalancerNodePorts") == NULL) {
            ccm_ks_jx_set_bool(spec, "allocateLoadBalancerNodePorts", true);
        }
        default_status(object);
    }
}

static bool same(const cJSON *a, const cJSON *b, const char *name)
{
    return ccm_ks_jx_equal(ccm_json_get(a, name), ccm_json_get(b, name));
}

static bool has_node_port(const cJSON *spec, int64_t wanted)
{
    const cJSON *port;

    cJSON_ArrayForEach(port, ccm_json_get(spec, "ports"))
    {
        if (ccm_json_i64(port, "nodePort", 0) == wanted) {
            return true;
        }
    }
    return false;
}

/* The new ports name no node port that the old ones lack, and the other way round. */
static bool same_node_ports(const cJSON *spec, const cJSON *old)
{
    const cJSON *port;

    cJSON_ArrayForEach(port, ccm_json_get(spec, "ports"))
    {
        if (!has_node_port(old, ccm_json_i64(port, "nodePort", 0))) {
            return false;
        }
    }
    cJSON_ArrayForEach(port, ccm_json_get(old, "ports"))
    {
        if (!has_node_port(spec, ccm_json_i64(port, "nodePort", 0))) {
            return false;
        }
    }
    return true;
}

/* What belongs to the old type goes with it, unless the writer changed it in the same write. */
static void drop_of_old_type(cJSON *spec, const cJSON *old)
{
    cJSON *port;

    if (ccm_ks_service_needs_ip(old) && !ccm_ks_service_needs_ip(spec)) {
        static const char *const names[] = { "clusterIP", "clusterIPs", "ipFamilies",
                                             "ipFamilyPolicy" };

        for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
            if (same(spec, old, names[i])) {
                ccm_ks_jx_del(spec, names[i]);
            }
        }
    }
    if (ccm_ks_service_needs_node_port(old) && !ccm_ks_service_needs_node_port(spec)) {
        if (same_node_ports(spec, old)) {
            cJSON_ArrayForEach(port, ccm_ks_jx_get(spec, "ports"))
            {
                ccm_ks_jx_del(port, "nodePort");
            }
        }
        if (same(spec, old, "externalTrafficPolicy")) {
            ccm_ks_jx_del(spec, "externalTrafficPolicy");
        }
    }
    if (ccm_ks_service_needs_health_port(old) && !ccm_ks_service_needs_health_port(spec) &&
        same(spec, old, "healthCheckNodePort")) {
        ccm_ks_jx_del(spec, "healthCheckNodePort");
    }
    if (has_type(old, "LoadBalancer") && !has_type(spec, "LoadBalancer")) {
        if (same(spec, old, "allocateLoadBalancerNodePorts")) {
            ccm_ks_jx_del(spec, "allocateLoadBalancerNodePorts");
        }
        if (same(spec, old, "loadBalancerClass")) {
            ccm_ks_jx_del(spec, "loadBalancerClass");
        }
    }
}

/* A writer that leaves out what the server chose keeps it; node ports follow the name of the port.
 */
static void keep_chosen(cJSON *spec, const cJSON *old)
{
    cJSON *port;
    const cJSON *before;

    if (ccm_ks_service_needs_ip(spec) && ccm_ks_service_needs_ip(old)) {
        if (ccm_json_text(spec, "clusterIP")[0] == '\0' &&
            ccm_json_get(spec, "clusterIPs") == NULL) {
            ccm_ks_jx_carry(spec, old, "clusterIP");
        }
        if (ccm_json_get(spec, "clusterIPs") == NULL && same(spec, old, "clusterIP")) {
            ccm_ks_jx_carry(spec, old, "clusterIPs");
        }
        if (ccm_json_get(spec, "ipFamilies") == NULL) {
            ccm_ks_jx_carry(spec, old, "ipFamilies");
        }
        if (ccm_json_get(spec, "ipFamilyPolicy") == NULL) {
            ccm_ks_jx_carry(spec, old, "ipFamilyPolicy");
        }
    }
    if (ccm_ks_service_needs_node_port(spec) && ccm_ks_service_needs_node_port(old)) {
        cJSON_ArrayForEach(port, ccm_ks_jx_get(spec, "ports"))
        {
            cJSON_ArrayForEach(before, ccm_json_get(old, "ports"))
            {
                const int64_t number = ccm_json_i64(before, "nodePort", 0);

                if (ccm_json_i64(port, "nodePort", 0) == 0 && number != 0 &&
                    strcmp(ccm_json_text(port, "name"), ccm_json_text(before, "name")) == 0 &&
                    !has_node_port(spec, number)) {
                    ccm_ks_jx_set_int(port, "nodePort", number);
                }
            }
        }
    }
    if (ccm_ks_service_needs_health_port(spec) && ccm_ks_service_needs_health_port(old) &&
        ccm_json_get(spec, "healthCheckNodePort") == NULL) {
        ccm_ks_jx_carry(spec, old, "healthCheckNodePort");
    }
}

static void ip_fault(struct ccm_ks_write *write, const char *ip, const char *why)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *list = cJSON_CreateArray();

    (void)cJSON_AddItemToArray(list, cJSON_CreateString(ip)); /* ENOMEM: see jx.h */
    ccm_ks_fault_invalid(write->faults, "spec.clusterIPs", list, "failed to allocate IP %s: %s", ip,
                         why);
}

static void set_cluster_ip(cJSON *spec, const char *ip)
{
    cJSON *list = cJSON_CreateArray();

    (void)cJSON_AddItemToArray(list, cJSON_CreateString(ip)); /* ENOMEM: see jx.h */
    ccm_ks_jx_set_str(spec, "clusterIP", ip);
    ccm_ks_jx_set(spec, "clusterIPs", list);
}

static void allocate_ip(struct ccm_ks_write *write, cJSON *spec)
{
    const cJSON *first = ccm_json_items(spec, "clusterIPs");
    char chosen[48];

    if (!ccm_ks_service_needs_ip(spec)) {
        return;
    }
    ccm_ks_families_default(write, spec);
    if (ccm_json_text(spec, "clusterIP")[0] == '\0' && cJSON_IsString(first)) {
        ccm_ks_jx_set_str(spec, "clusterIP", first->valuestring);
    }

    const char *ip = ccm_json_text(spec, "clusterIP");

    if (ip[0] == '\0') {
        if (ccm_ks_families_ip(write, spec, false, chosen)) {
            set_cluster_ip(spec, chosen);
        }
        return;
    }
    if (first == NULL) {
        CCM_CLEANUP(ccm_freep) char *copy = strdup(ip);

        set_cluster_ip(spec, copy == NULL ? "" : copy);
        ip = ccm_json_text(spec, "clusterIP");
    }
    if (strcmp(ip, "None") == 0 ||
        strcmp(ip, ccm_json_text(ccm_json_get(write->old, "spec"), "clusterIP")) == 0) {
        return;
    }
    if (!ccm_ks_families_in_range(write, ip)) {
        ip_fault(
            write, ip,
            "the provided IP is not in the valid range. The range of valid IPs is 10.96.0.0/12");
    } else if (ccm_ks_alloc_ip_taken(write->alloc, ip, write->old)) {
        ip_fault(write, ip, "provided IP is already allocated");
    }
}

/* Another port of the Service with this node port and the same protocol, before `port`. */
static bool port_used_before(const cJSON *port, int64_t number)
{
    for (const cJSON *p = port->prev; p != NULL && p->next != NULL; p = p->prev) {
        if (ccm_json_i64(p, "nodePort", 0) == number &&
            strcmp(ccm_json_text(p, "protocol"), ccm_json_text(port, "protocol")) == 0 &&
            ccm_json_i64(p, "port", 0) != ccm_json_i64(port, "port", 0)) {
            return true;
        }
    }
    return false;
}

static void check_requested_port(struct ccm_ks_write *write, const cJSON *port, int index)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf field = { .max = 64 };
    const cJSON *value = ccm_json_get(port, "nodePort");
    const int64_t number = ccm_json_i64(port, "nodePort", 0);

    ccm_buf_addf(&field, "spec.ports[%d].nodePort", index);
    if (number < CCM_KS_PORT_MIN || number > CCM_KS_PORT_MAX) {
        ccm_ks_fault_invalid(write->faults, ccm_buf_str(&field), value,
                             "provided port is not in the valid range. The range of valid ports is "
                             "%d-%d",
                             CCM_KS_PORT_MIN, CCM_KS_PORT_MAX);
    } else if (ccm_ks_alloc_port_taken(write->alloc, (int)number, write->old) ||
               port_used_before(port, number)) {
        ccm_ks_fault_invalid(write->faults, ccm_buf_str(&field), value,
                             "provided port is already allocated");
    }
}

/* The node port another port of the same number has (TCP and UDP share one); 0 = none. */
static int64_t shared_port(const cJSON *spec, const cJSON *port)
{
    const cJSON *other;

    cJSON_ArrayForEach(other, ccm_json_get(spec, "ports"))
    {
        if (other != port && ccm_json_i64(other, "port", 0) == ccm_json_i64(port, "port", 0) &&
            ccm_json_i64(other, "nodePort", 0) != 0) {
            return ccm_json_i64(other, "nodePort", 0);
        }
    }
    return 0;
}

static void allocate_ports(struct ccm_ks_write *write, cJSON *spec)
{
    const bool wanted =
        has_type(spec, "NodePort") || (has_type(spec, "LoadBalancer") &&
                                       ccm_json_bool(spec, "allocateLoadBalancerNodePorts", true));
    cJSON *port;
    int i = 0;

    if (!ccm_ks_service_needs_node_port(spec)) {
        return;
    }
    cJSON_ArrayForEach(port, ccm_ks_jx_get(spec, "ports"))
    {
        if (ccm_json_i64(port, "nodePort", 0) != 0) {
            check_requested_port(write, port, i);
        } else if (wanted) {
            int64_t number = shared_port(spec, port);

            if (number == 0) {
                number = ccm_ks_alloc_port(write->alloc, write->object, write->old);
            }
            write->failure = number == 0 ? PORTS_USED_UP : write->failure;
            ccm_ks_jx_set_int(port, "nodePort", number);
        }
        i++;
    }
    if (ccm_ks_service_needs_health_port(spec) &&
        ccm_json_i64(spec, "healthCheckNodePort", 0) == 0) {
        const int port_number = ccm_ks_alloc_port(write->alloc, write->object, write->old);

        write->failure = port_number == 0 ? PORTS_USED_UP : write->failure;
        ccm_ks_jx_set_int(spec, "healthCheckNodePort", port_number);
    }
}

void ccm_ks_service_prepare(struct ccm_ks_write *write)
{
    cJSON *spec = ccm_ks_jx_object(write->object, "spec");
    const cJSON *old = ccm_json_get(write->old, "spec");

    if (write->status) {
        return;
    }
    if (write->old != NULL) {
        keep_chosen(spec, old);
        ccm_ks_families_trim(spec, old);
        drop_of_old_type(spec, old);
    }
    if (!has_type(spec, "LoadBalancer")) {
        cJSON *status = ccm_ks_jx_object(write->object, "status");

        ccm_ks_jx_set(status, "loadBalancer", cJSON_CreateObject());
    }
    if (ccm_ks_service_needs_ip(spec) && ccm_ks_service_families_known(write)) {
        ccm_ks_families_check(write, spec);
    }
    if (cJSON_GetArraySize(write->faults) == 0) {
        allocate_ip(write, spec);
        ccm_ks_families_second(write, spec);
        allocate_ports(write, spec);
    }
}
