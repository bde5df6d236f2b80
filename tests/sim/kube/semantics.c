#include "jx.h"
#include "kinds.h"
#include "names.h"
#include "status.h"
#include "util/base64.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <limits.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

/* --- Node --- */

static bool has_taint(const cJSON *taints, const char *key)
{
    const cJSON *taint;

    cJSON_ArrayForEach(taint, taints)
    {
        if (strcmp(ccm_json_text(taint, "key"), key) == 0) {
            return true;
        }
    }
    return false;
}

/* A new Node is tainted until somebody finds it ready; that somebody is not the API server. */
static void add_not_ready(cJSON *spec)
{
    cJSON *taints = ccm_ks_jx_get(spec, "taints");
    cJSON *taint = cJSON_CreateObject();

    if (has_taint(taints, "node.kubernetes.io/not-ready")) {
        cJSON_Delete(taint);
        return;
    }
    if (!cJSON_IsArray(taints)) {
        taints = cJSON_CreateArray();
        ccm_ks_jx_set(spec, "taints", taints);
    }
    ccm_ks_jx_set_str(taint, "key", "node.kubernetes.io/not-ready");
    ccm_ks_jx_set_str(taint, "effect", "NoSchedule");
    (void)cJSON_AddItemToArray(taints, taint); /* ENOMEM: see jx.h */
}

void ccm_ks_node_prepare(struct ccm_ks_write *write)
{
    cJSON *spec = ccm_ks_jx_object(write->object, "spec");
    const cJSON *cidrs = ccm_json_get(spec, "podCIDRs");
    const char *cidr = ccm_json_text(spec, "podCIDR");

    if (write->old == NULL) {
        add_not_ready(spec);
    }
    if (cidr[0] != '\0' && cidrs == NULL) {
        cJSON *list = cJSON_CreateArray();

        (void)cJSON_AddItemToArray(list, cJSON_CreateString(cidr)); /* ENOMEM: see jx.h */
        ccm_ks_jx_set(spec, "podCIDRs", list);
    } else if (cidr[0] == '\0' && cidrs != NULL && cJSON_IsString(cidrs->child)) {
        ccm_ks_jx_set_str(spec, "podCIDR", cidrs->child->valuestring);
    }
}

static void check_cidrs(struct ccm_ks_write *write, const cJSON *spec)
{
    const cJSON *cidrs = ccm_json_get(spec, "podCIDRs");
    const cJSON *old = ccm_json_path(write->old, "spec", "podCIDRs", NULL);
    const cJSON *item;
    int families[2] = { 0, 0 };
    int i = 0;

    cJSON_ArrayForEach(item, cidrs)
    {
        char field[48];

        ccm_text_printf(field, sizeof(field), "spec.podCIDRs[%d]", i++);
        if (ccm_ks_names_cidr(item->valuestring) != NULL) {
            ccm_ks_fault_invalid_str(write->faults, field, item->valuestring, "%s",
                                     ccm_ks_names_cidr(item->valuestring));
        }
        families[strchr(item->valuestring, ':') == NULL ? 0 : 1]++;
    }
    if (families[0] > 1 || families[1] > 1) {
        ccm_ks_fault_invalid(write->faults, "spec.podCIDRs", cidrs,
                             "may specify no more than one CIDR for each IP family");
    }
    if (old != NULL && !ccm_ks_jx_equal(old, cidrs)) {
        ccm_ks_fault_forbidden(write->faults, "spec.podCIDRs",
                               "node updates may not change podCIDR except from \"\" to valid");
    }
}

static void check_taints(struct ccm_ks_write *write, const cJSON *spec)
{
    static const char *const supported = "\"NoExecute\", \"NoSchedule\", \"PreferNoSchedule\"";
    const cJSON *taint;
    int i = 0;

    cJSON_ArrayForEach(taint, ccm_json_get(spec, "taints"))
    {
        const char *key = ccm_json_text(taint, "key");
        const char *effect = ccm_json_text(taint, "effect");
        char field[48];

        ccm_text_printf(field, sizeof(field), "metadata.taints[%d].key", i);
        if (ccm_ks_names_qualified(key) != NULL) {
            ccm_ks_fault_invalid_str(write->faults, field, key, "%s", ccm_ks_names_qualified(key));
        }
        ccm_text_printf(field, sizeof(field), "metadata.taints[%d].effect", i++);
        if (effect[0] == '\0') {
            ccm_ks_fault_required(write->faults, field, "");
        } else if (strcmp(effect, "NoSchedule") != 0 && strcmp(effect, "NoExecute") != 0 &&
                   strcmp(effect, "PreferNoSchedule") != 0) {
            ccm_ks_fault_unsupported(write->faults, field, effect, supported);
        }
    }
}

void ccm_ks_node_validate(struct ccm_ks_write *write)
{
    const cJSON *spec = ccm_json_get(write->object, "spec");
    const char *provider = ccm_json_text(ccm_json_get(write->old, "spec"), "providerID");

    if (write->status) {
        return;
    }
    check_taints(write, spec);
    check_cidrs(write, spec);
    if (provider[0] != '\0' && strcmp(provider, ccm_json_text(spec, "providerID")) != 0) {
        ccm_ks_fault_forbidden(write->faults, "spec.providerID",
                               "node updates may not change providerID except from \"\" to valid");
    }
}

/* --- EndpointSlice, Endpoints --- */

void ccm_ks_slice_defaults(cJSON *object)
{
    cJSON *port;

    cJSON_ArrayForEach(port, ccm_ks_jx_get(object, "ports"))
    {
        ccm_ks_jx_default_str(port, "name", "");
        ccm_ks_jx_default_str(port, "protocol", "TCP");
    }
}

static bool address_fits(const char *type, const char *address)
{
    if (strcmp(type, "FQDN") == 0) {
        return ccm_ks_names_subdomain(address) == NULL;
    }
    return ccm_ks_names_is_ip(address) &&
           (strchr(address, ':') != NULL) == (strcmp(type, "IPv6") == 0);
}

static void check_endpoint(struct ccm_ks_write *write, const cJSON *endpoint, int index)
{
    const char *type = ccm_json_text(write->object, "addressType");
    const cJSON *addresses = ccm_json_get(endpoint, "addresses");
    const cJSON *item;
    char field[64];
    int i = 0;

    if (cJSON_GetArraySize(addresses) == 0) {
        ccm_text_printf(field, sizeof(field), "endpoints[%d].addresses", index);
        ccm_ks_fault_required(write->faults, field, "must contain at least 1 address");
    }
    cJSON_ArrayForEach(item, addresses)
    {
        ccm_text_printf(field, sizeof(field), "endpoints[%d].addresses[%d]", index, i++);
        if (!address_fits(type, item->valuestring)) {
            ccm_ks_fault_invalid_str(
                write->faults, field, item->valuestring,
                "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        }
    }
}

void ccm_ks_slice_validate(struct ccm_ks_write *write)
{
    const char *type = ccm_json_text(write->object, "addressType");
    const cJSON *endpoints = ccm_json_get(write->object, "endpoints");
    const cJSON *endpoint;
    int i = 0;

    if (write->old != NULL && strcmp(ccm_json_text(write->old, "addressType"), type) != 0) {
        ccm_ks_fault_invalid_str(write->faults, "addressType", type, "field is immutable");
        return;
    }
    if (type[0] == '\0') {
        ccm_ks_fault_required(write->faults, "addressType", "");
        return;
    }
    if (strcmp(type, "IPv4") != 0 && strcmp(type, "IPv6") != 0 && strcmp(type, "FQDN") != 0) {
        ccm_ks_fault_unsupported(write->faults, "addressType", type,
                                 "\"FQDN\", \"IPv4\", \"IPv6\"");
        return;
    }
    if (cJSON_GetArraySize(endpoints) > 1000) {
        ccm_ks_fault_too_long(write->faults, "endpoints", "must have at most 1000 items");
        return;
    }
    cJSON_ArrayForEach(endpoint, endpoints)
    {
        check_endpoint(write, endpoint, i++);
    }
}

void ccm_ks_endpoints_defaults(cJSON *object)
{
    cJSON *subset;
    cJSON *port;

    cJSON_ArrayForEach(subset, ccm_ks_jx_get(object, "subsets"))
    {
        cJSON_ArrayForEach(port, ccm_ks_jx_get(subset, "ports"))
        {
            ccm_ks_jx_default_str(port, "protocol", "TCP");
        }
    }
}

/* --- Namespace --- */

void ccm_ks_namespace_prepare(struct ccm_ks_write *write)
{
    cJSON *meta = ccm_ks_jx_object(write->object, "metadata");
    cJSON *status = ccm_ks_jx_object(write->object, "status");

    if (write->old == NULL) {
        cJSON *finalizers = cJSON_CreateArray();

        (void)cJSON_AddItemToArray(finalizers, cJSON_CreateString("kubernetes")); /* see jx.h */
        ccm_ks_jx_set(ccm_ks_jx_object(write->object, "spec"), "finalizers", finalizers);
        ccm_ks_jx_set_str(status, "phase", "Active");
    } else if (!write->status) {
        ccm_ks_jx_carry(write->object, write->old, "spec");
    }
    ccm_ks_jx_set_str(ccm_ks_jx_object(meta, "labels"), "kubernetes.io/metadata.name",
                      ccm_json_text(meta, "name"));
}

/* --- Pod --- */

static void default_container(cJSON *container)
{
    const char *image = ccm_json_text(container, "image");
    const char *name = strrchr(image, '/') == NULL ? image : strrchr(image, '/');
    const char *tag = strchr(name, ':');
    const bool moves = tag == NULL ? strchr(name, '@') == NULL : strcmp(tag, ":latest") == 0;

    (void)ccm_ks_jx_object(container, "resources"); /* shown even when empty */
    ccm_ks_jx_default_str(container, "terminationMessagePath", "/dev/termination-log");
    ccm_ks_jx_default_str(container, "terminationMessagePolicy", "File");
    ccm_ks_jx_default_str(container, "imagePullPolicy", moves ? "Always" : "IfNotPresent");
}

void ccm_ks_pod_defaults(cJSON *object)
{
    cJSON *spec = ccm_ks_jx_object(object, "spec");
    cJSON *container;

    ccm_ks_jx_default_str(spec, "restartPolicy", "Always");
    ccm_ks_jx_default_str(spec, "dnsPolicy", "ClusterFirst");
    ccm_ks_jx_default_str(spec, "schedulerName", "default-scheduler");
    if (ccm_json_get(spec, "terminationGracePeriodSeconds") == NULL) {
        ccm_ks_jx_set_int(spec, "terminationGracePeriodSeconds", 30);
    }
    (void)ccm_ks_jx_object(spec, "securityContext"); /* shown even when empty */
    cJSON_ArrayForEach(container, ccm_ks_jx_get(spec, "containers"))
    {
        default_container(container);
    }
}

void ccm_ks_pod_prepare(struct ccm_ks_write *write)
{
    cJSON *status = ccm_ks_jx_object(write->object, "status");

    if (write->old == NULL) {
        ccm_ks_jx_set_str(status, "phase", "Pending");
        ccm_ks_jx_set_str(status, "qosClass", "BestEffort");
    }
}

/* --- Lease --- */

void ccm_ks_lease_validate(struct ccm_ks_write *write)
{
    const cJSON *spec = ccm_json_get(write->object, "spec");
    const cJSON *duration = ccm_json_get(spec, "leaseDurationSeconds");
    const cJSON *transitions = ccm_json_get(spec, "leaseTransitions");

    if (duration != NULL && ccm_json_i64(spec, "leaseDurationSeconds", 0) <= 0) {
        ccm_ks_fault_invalid(write->faults, "spec.leaseDurationSeconds", duration,
                             "must be greater than 0");
    }
    if (transitions != NULL && ccm_json_i64(spec, "leaseTransitions", 0) < 0) {
        ccm_ks_fault_invalid(write->faults, "spec.leaseTransitions", transitions,
                             "must be greater than or equal to 0");
    }
}

static cJSON *bytes_as_text(const char *text)
{
    const size_t len = strlen(text);
    CCM_CLEANUP(ccm_freep) char *coded = calloc(len / 3 + 1, 5);

    if (coded == NULL || len > INT_MAX) {
        return NULL;
    }
    (void)EVP_EncodeBlock((unsigned char *)coded, (const unsigned char *)text,
                          (int)len); /* cannot fail */
    return cJSON_CreateString(coded);
}

void ccm_ks_secret_defaults(cJSON *object)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, ccm_json_get(object, "stringData"))
    {
        ccm_ks_jx_set(ccm_ks_jx_object(object, "data"), item->string,
                      bytes_as_text(item->valuestring));
    }
    ccm_ks_jx_del(object, "stringData");
    ccm_ks_jx_default_str(object, "type", "Opaque");
}

void ccm_ks_secret_validate(struct ccm_ks_write *write)
{
    const char *type = ccm_json_text(write->object, "type");
    const cJSON *item;

    if (write->old != NULL && strcmp(type, ccm_json_text(write->old, "type")) != 0) {
        ccm_ks_fault_invalid_str(write->faults, "type", type, "field is immutable");
    }
    cJSON_ArrayForEach(item, ccm_json_get(write->object, "data"))
    {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf bytes = { .max = (size_t)2 * 1024 * 1024 };
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf field = { .max = 512 };

        ccm_buf_addf(&field, "data[%s]", item->string);
        if (ccm_base64_decode(&bytes, item->valuestring) < 0) {
            ccm_ks_fault_invalid_str(write->faults, ccm_buf_str(&field),
                                     "<secret contents redacted>", "illegal base64 data");
        }
    }
}

void ccm_ks_ingress_validate(struct ccm_ks_write *write)
{
    const cJSON *spec = ccm_json_get(write->object, "spec");

    if (!write->status && ccm_json_items(spec, "rules") == NULL &&
        ccm_json_get(spec, "defaultBackend") == NULL) {
        CCM_CLEANUP(ccm_json_freep) cJSON *none = cJSON_CreateArray();

        ccm_ks_fault_invalid(write->faults, "spec", none,
                             "either `defaultBackend` or `rules` must be specified");
    }
}
