#include "alloc.h"
#include "jx.h"
#include "names.h"
#include "service.h"
#include "status.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <string.h>

#define SOURCE_RANGES_ANNOTATION "service.beta.kubernetes.io/load-balancer-source-ranges"

/* "\"A\", \"B\"" when the text is none of the list, else nothing. */
static void check_one_of(cJSON *faults, const char *field, const char *text,
                         const char *const *list)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf supported = { .max = 512 };

    for (size_t i = 0; list[i] != NULL; i++) {
        if (strcmp(list[i], text) == 0) {
            return;
        }
        ccm_buf_addf(&supported, "%s\"%s\"", i == 0 ? "" : ", ", list[i]);
    }
    ccm_ks_fault_unsupported(faults, field, text, ccm_buf_str(&supported));
}

static bool has_type(const cJSON *spec, const char *type)
{
    return strcmp(ccm_json_text(spec, "type"), type) == 0;
}

static bool is_headless(const cJSON *spec)
{
    return strcmp(ccm_json_text(spec, "clusterIP"), "None") == 0;
}

bool ccm_ks_service_families_known(struct ccm_ks_write *write)
{
    static const char *const policies[] = { "PreferDualStack", "RequireDualStack", "SingleStack",
                                            NULL };
    static const char *const known[] = { "IPv4", "IPv6", NULL };
    const cJSON *spec = ccm_json_get(write->object, "spec");
    const char *policy = ccm_json_text(spec, "ipFamilyPolicy");
    const cJSON *families = ccm_json_get(spec, "ipFamilies");
    const cJSON *family;
    int i = 0;

    if (policy[0] != '\0') {
        check_one_of(write->faults, "spec.ipFamilyPolicy", policy, policies);
    }
    if (cJSON_GetArraySize(families) > 2) {
        ccm_ks_fault_invalid(write->faults, "spec.ipFamilies", families,
                             "may only hold up to 2 values");
    }
    cJSON_ArrayForEach(family, families)
    {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf field = { .max = 64 };
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf quoted = { .max = 4096 };

        ccm_buf_addf(&field, "spec.ipFamilies[%d]", i++);
        check_one_of(write->faults, ccm_buf_str(&field), family->valuestring, known);
        if (family != families->child &&
            strcmp(family->valuestring, families->child->valuestring) == 0) {
            ccm_json_quote(&quoted, family->valuestring);
            ccm_ks_fault_duplicate(write->faults, ccm_buf_str(&field), ccm_buf_str(&quoted));
        }
    }
    return cJSON_GetArraySize(write->faults) == 0;
}

static void check_port_number(cJSON *faults, const char *field, const cJSON *value)
{
    if (!ccm_ks_jx_is_int(value, 1, 65535)) {
        CCM_CLEANUP(ccm_json_freep) cJSON *zero = cJSON_CreateNumber(0);

        ccm_ks_fault_invalid(faults, field, value == NULL ? zero : value,
                             "must be between 1 and 65535, inclusive");
    }
}

static bool seen_name(const cJSON *port)
{
    for (const cJSON *p = port->prev; p != NULL && p->next != NULL; p = p->prev) {
        if (strcmp(ccm_json_text(p, "name"), ccm_json_text(port, "name")) == 0) {
            return true;
        }
    }
    return false;
}

static void check_port_name(cJSON *faults, const char *field, const cJSON *port, bool required)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf quoted = { .max = 4096 };
    const char *name = ccm_json_text(port, "name");
    const char *bad = name[0] == '\0' ? NULL : ccm_ks_names_label(name);

    if (name[0] == '\0') {
        if (required) {
            ccm_ks_fault_required(faults, field, "");
        }
        return;
    }
    if (bad != NULL) {
        ccm_ks_fault_invalid_str(faults, field, name, "%s", bad);
    } else if (seen_name(port)) {
        ccm_json_quote(&quoted, name);
        ccm_ks_fault_duplicate(faults, field, ccm_buf_str(&quoted));
    }
}

static void check_port(cJSON *faults, const cJSON *port, int index, bool name_required)
{
    static const char *const protocols[] = { "SCTP", "TCP", "UDP", NULL };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf field = { .max = 64 };
    const cJSON *target = ccm_json_get(port, "targetPort");
    char prefix[32];

    ccm_text_printf(prefix, sizeof(prefix), "spec.ports[%d]", index);
    ccm_buf_addf(&field, "%s.name", prefix);
    check_port_name(faults, ccm_buf_str(&field), port, name_required);
    ccm_buf_reset(&field);
    ccm_buf_addf(&field, "%s.port", prefix);
    check_port_number(faults, ccm_buf_str(&field), ccm_json_get(port, "port"));
    ccm_buf_reset(&field);
    ccm_buf_addf(&field, "%s.protocol", prefix);
    check_one_of(faults, ccm_buf_str(&field), ccm_json_text(port, "protocol"), protocols);
    ccm_buf_reset(&field);
    ccm_buf_addf(&field, "%s.targetPort", prefix);
    if (!cJSON_IsString(target)) {
        check_port_number(faults, ccm_buf_str(&field), target);
    } else if (ccm_ks_names_port(target->valuestring) != NULL) {
        ccm_ks_fault_invalid_str(faults, ccm_buf_str(&field), target->valuestring, "%s",
                                 ccm_ks_names_port(target->valuestring));
    }
}

static bool same_port(const cJSON *a, const cJSON *b)
{
    return ccm_json_i64(a, "port", 0) == ccm_json_i64(b, "port", 0) &&
           strcmp(ccm_json_text(a, "protocol"), ccm_json_text(b, "protocol")) == 0;
}

/* Node ports and (port, protocol) must each be there once. */
static void check_duplicates(cJSON *faults, const cJSON *ports)
{
    const cJSON *port;
    int i = 0;

    cJSON_ArrayForEach(port, ports)
    {
        for (const cJSON *p = ports->child; p != port; p = p->next) {
            CCM_CLEANUP(ccm_buf_fini) struct ccm_buf field = { .max = 64 };
            CCM_CLEANUP(ccm_buf_fini) struct ccm_buf value = { .max = 512 };

            if (!same_port(p, port)) {
                continue;
            }
            ccm_buf_addf(&field, "spec.ports[%d]", i);
            ccm_buf_addf(&value,
                         "{\"Name\":\"\",\"Protocol\":\"%s\",\"AppProtocol\":null,\"Port\":%d,"
                         "\"TargetPort\":0,\"NodePort\":0}",
                         ccm_json_text(port, "protocol"), (int)ccm_json_i64(port, "port", 0));
            if (ccm_json_i64(port, "nodePort", 0) != 0 &&
                ccm_json_i64(port, "nodePort", 0) == ccm_json_i64(p, "nodePort", 0)) {
                CCM_CLEANUP(ccm_buf_fini) struct ccm_buf node_field = { .max = 64 };
                char number[32];

                ccm_text_printf(number, sizeof(number), "%d",
                                (int)ccm_json_i64(port, "nodePort", 0));
                ccm_buf_addf(&node_field, "spec.ports[%d].nodePort", i);
                ccm_ks_fault_duplicate(faults, ccm_buf_str(&node_field), number);
            }
            ccm_ks_fault_duplicate(faults, ccm_buf_str(&field), ccm_buf_str(&value));
            break;
        }
        i++;
    }
}

static void check_ports(cJSON *faults, const cJSON *spec)
{
    const cJSON *ports = ccm_json_get(spec, "ports");
    const int count = cJSON_GetArraySize(ports);
    const cJSON *port;
    int i = 0;

    if (count == 0 && !is_headless(spec) && !has_type(spec, "ExternalName")) {
        ccm_ks_fault_required(faults, "spec.ports", "");
    }
    cJSON_ArrayForEach(port, ports)
    {
        check_port(faults, port, i++, count > 1);
    }
}

static void check_type(cJSON *faults, const cJSON *spec)
{
    if (has_type(spec, "LoadBalancer") && is_headless(spec)) {
        ccm_ks_fault_invalid_str(faults, "spec.clusterIPs[0]", "None",
                                 "may not be set to 'None' for LoadBalancer services");
    } else if (has_type(spec, "NodePort") && is_headless(spec)) {
        ccm_ks_fault_invalid_str(faults, "spec.clusterIPs[0]", "None",
                                 "may not be set to 'None' for NodePort services");
    } else if (has_type(spec, "ExternalName")) {
        const char *name = ccm_json_text(spec, "externalName");

        if (ccm_json_text(spec, "clusterIP")[0] != '\0') {
            ccm_ks_fault_forbidden(faults, "spec.clusterIP",
                                   "may not be set for ExternalName services");
        }
        if (name[0] == '\0') {
            ccm_ks_fault_required(faults, "spec.externalName", "");
        } else if (ccm_ks_names_subdomain(name) != NULL) {
            ccm_ks_fault_invalid_str(faults, "spec.externalName", name, "%s",
                                     ccm_ks_names_subdomain(name));
        }
    }
}

static void check_one_range(cJSON *faults, const char *field, const char *start, size_t len)
{
    char range[128];

    if (len >= sizeof(range)) {
        len = sizeof(range) - 1;
    }
    memcpy(range, start, len);
    range[len] = '\0';
    if (ccm_ks_names_cidr(range) != NULL) {
        ccm_ks_fault_invalid_str(faults, field, range, "%s", ccm_ks_names_cidr(range));
    }
}

static void check_source_ranges(cJSON *faults, const cJSON *object, const cJSON *spec)
{
    const cJSON *ranges = ccm_json_get(spec, "loadBalancerSourceRanges");
    const char *annotation = ccm_json_str(ccm_json_path(object, "metadata", "annotations", NULL),
                                          SOURCE_RANGES_ANNOTATION);
    const cJSON *item;
    const char *start;
    size_t len;
    int i = 0;

    if (ranges != NULL && !has_type(spec, "LoadBalancer")) {
        ccm_ks_fault_forbidden(faults, "spec.LoadBalancerSourceRanges",
                               "may only be used when `type` is 'LoadBalancer'");
        return;
    }
    cJSON_ArrayForEach(item, ranges)
    {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf field = { .max = 64 };
        const char *cursor = item->valuestring;

        ccm_buf_addf(&field, "spec.LoadBalancerSourceRanges[%d]", i++);
        if (ccm_parse_piece(&cursor, '\n', &start, &len)) {
            check_one_range(faults, ccm_buf_str(&field), start, len);
        }
    }
    if (ranges == NULL && !ccm_text_empty(annotation)) {
        const char *cursor = annotation;

        while (ccm_parse_piece(&cursor, ',', &start, &len)) {
            check_one_range(faults, "metadata.annotations[" SOURCE_RANGES_ANNOTATION "]", start,
                            len);
        }
    }
}

static void check_class(struct ccm_ks_write *write, const cJSON *spec)
{
    const cJSON *old = ccm_json_get(write->old, "spec");
    const cJSON *name = ccm_json_get(spec, "loadBalancerClass");

    if (name != NULL && !has_type(spec, "LoadBalancer")) {
        ccm_ks_fault_forbidden(write->faults, "spec.loadBalancerClass",
                               "may only be used when `type` is 'LoadBalancer'");
        return;
    }
    if (name != NULL && ccm_ks_names_qualified(name->valuestring) != NULL) {
        ccm_ks_fault_invalid(write->faults, "spec.loadBalancerClass", name, "%s",
                             ccm_ks_names_qualified(name->valuestring));
        return;
    }
    if (old != NULL && has_type(old, "LoadBalancer") && has_type(spec, "LoadBalancer") &&
        !ccm_ks_jx_equal(name, ccm_json_get(old, "loadBalancerClass"))) {
        ccm_ks_fault_invalid(write->faults, "spec.loadBalancerClass", name,
                             "may not change once set");
    }
}

static void check_policies(cJSON *faults, const cJSON *spec)
{
    static const char *const policies[] = { "Cluster", "Local", NULL };
    const char *external = ccm_json_text(spec, "externalTrafficPolicy");
    const char *internal = ccm_json_text(spec, "internalTrafficPolicy");
    const bool reachable =
        ccm_ks_service_needs_node_port(spec) || ccm_json_get(spec, "externalIPs") != NULL;

    if (external[0] != '\0' && !reachable) {
        ccm_ks_fault_invalid_str(faults, "spec.externalTrafficPolicy", external,
                                 "may only be set for externally-accessible services");
    } else if (external[0] != '\0') {
        check_one_of(faults, "spec.externalTrafficPolicy", external, policies);
    }
    if (internal[0] != '\0') {
        check_one_of(faults, "spec.internalTrafficPolicy", internal, policies);
    }
    if (ccm_json_i64(spec, "healthCheckNodePort", 0) != 0 &&
        !ccm_ks_service_needs_health_port(spec)) {
        ccm_ks_fault_invalid(
            faults, "spec.healthCheckNodePort", ccm_json_get(spec, "healthCheckNodePort"),
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
    }
}

/* What may not change in the life of a Service. */
static void check_fixed(struct ccm_ks_write *write, const cJSON *spec)
{
    const cJSON *old = ccm_json_get(write->old, "spec");

    if (old == NULL) {
        return;
    }
    if (ccm_ks_service_needs_ip(old) && ccm_ks_service_needs_ip(spec) &&
        strcmp(ccm_json_text(old, "clusterIP"), ccm_json_text(spec, "clusterIP")) != 0) {
        ccm_ks_fault_invalid(write->faults, "spec.clusterIPs[0]", ccm_json_get(spec, "clusterIPs"),
                             "may not change once set");
    }
    if (ccm_ks_service_needs_ip(old) && ccm_ks_service_needs_ip(spec) &&
        !ccm_ks_jx_equal(cJSON_GetArrayItem(ccm_json_get(old, "ipFamilies"), 0),
                         cJSON_GetArrayItem(ccm_json_get(spec, "ipFamilies"), 0))) {
        ccm_ks_fault_invalid(write->faults, "spec.ipFamilies[0]",
                             cJSON_GetArrayItem(ccm_json_get(spec, "ipFamilies"), 0),
                             "field is immutable");
    }
    if (ccm_ks_service_needs_health_port(old) && ccm_ks_service_needs_health_port(spec) &&
        ccm_json_i64(old, "healthCheckNodePort", 0) !=
            ccm_json_i64(spec, "healthCheckNodePort", 0)) {
        ccm_ks_fault_forbidden(write->faults, "spec.healthCheckNodePort", "field is immutable");
    }
}

static void check_spec(struct ccm_ks_write *write, const cJSON *spec)
{
    static const char *const types[] = { "ClusterIP", "ExternalName", "LoadBalancer", "NodePort",
                                         NULL };
    static const char *const affinities[] = { "ClientIP", "None", NULL };

    check_type(write->faults, spec);
    check_ports(write->faults, spec);
    check_one_of(write->faults, "spec.sessionAffinity", ccm_json_text(spec, "sessionAffinity"),
                 affinities);
    check_one_of(write->faults, "spec.type", ccm_json_text(spec, "type"), types);
    check_duplicates(write->faults, ccm_json_get(spec, "ports"));
    check_source_ranges(write->faults, write->object, spec);
    check_class(write, spec);
    check_policies(write->faults, spec);
    check_fixed(write, spec);
}

static void check_ingress(cJSON *faults, const cJSON *item, int index)
{
    static const char *const modes[] = { "Proxy", "VIP", NULL };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf field = { .max = 128 };
    const char *ip = ccm_json_text(item, "ip");
    const char *mode = ccm_json_text(item, "ipMode");
    const char *host = ccm_json_text(item, "hostname");

    ccm_buf_addf(&field, "status.loadBalancer.ingress[%d].ip", index);
    if (ip[0] != '\0' && !ccm_ks_names_is_ip(ip)) {
        ccm_ks_fault_invalid_str(faults, ccm_buf_str(&field), ip,
                                 "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    }
    ccm_buf_adds(&field, "Mode");
    if (ip[0] == '\0' && mode[0] != '\0') {
        ccm_ks_fault_forbidden(faults, ccm_buf_str(&field),
                               "may not be specified when `ip` is not set");
    } else if (mode[0] != '\0') {
        check_one_of(faults, ccm_buf_str(&field), mode, modes);
    }
    ccm_buf_reset(&field);
    ccm_buf_addf(&field, "status.loadBalancer.ingress[%d].hostname", index);
    if (host[0] != '\0' && ccm_ks_names_is_ip(host)) {
        ccm_ks_fault_invalid_str(faults, ccm_buf_str(&field), host,
                                 "must be a DNS name, not an IP address");
    } else if (host[0] != '\0' && ccm_ks_names_subdomain(host) != NULL) {
        ccm_ks_fault_invalid_str(faults, ccm_buf_str(&field), host, "%s",
                                 ccm_ks_names_subdomain(host));
    }
}

static void check_status(struct ccm_ks_write *write)
{
    const cJSON *ingress = ccm_json_path(write->object, "status", "loadBalancer", "ingress", NULL);
    const cJSON *item;
    int i = 0;

    if (ingress != NULL && !has_type(ccm_json_get(write->object, "spec"), "LoadBalancer")) {
        ccm_ks_fault_forbidden(write->faults, "status.loadBalancer.ingress",
                               "may only be used when `spec.type` is 'LoadBalancer'");
        return;
    }
    cJSON_ArrayForEach(item, ingress)
    {
        check_ingress(write->faults, item, i++);
    }
}

void ccm_ks_service_validate(struct ccm_ks_write *write)
{
    if (write->status) {
        check_status(write);
    } else {
        check_spec(write, ccm_json_get(write->object, "spec"));
    }
}
