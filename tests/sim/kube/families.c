#include "families.h"

#include "alloc.h"
#include "jx.h"
#include "status.h"
#include "util/cleanup.h"

#include <arpa/inet.h>
#include <string.h>

#define RANGE6 "fd00:10:96::"

static void add_text(cJSON *list, const char *text)
{
    (void)cJSON_AddItemToArray(list, cJSON_CreateString(text)); /* ENOMEM: see jx.h */
}

static void trim(cJSON *spec, const cJSON *old, const char *name)
{
    cJSON *list = ccm_ks_jx_get(spec, name);

    if (cJSON_GetArraySize(list) == 2 && ccm_ks_jx_equal(list, ccm_json_get(old, name))) {
        cJSON_DeleteItemFromArray(list, 1);
    }
}

void ccm_ks_families_trim(cJSON *spec, const cJSON *old)
{
    if (strcmp(ccm_json_text(spec, "ipFamilyPolicy"), "SingleStack") == 0 &&
        strcmp(ccm_json_text(old, "ipFamilyPolicy"), "SingleStack") != 0) {
        trim(spec, old, "ipFamilies");
        trim(spec, old, "clusterIPs");
    }
}

void ccm_ks_families_check(struct ccm_ks_write *write, const cJSON *spec)
{
    const char *policy = ccm_json_text(spec, "ipFamilyPolicy");
    const cJSON *families = ccm_json_get(spec, "ipFamilies");
    const bool several = cJSON_GetArraySize(families) > 1 ||
                         cJSON_GetArraySize(ccm_json_get(spec, "clusterIPs")) > 1;
    const cJSON *family;
    int i = 0;

    if (several && (policy[0] == '\0' || strcmp(policy, "SingleStack") == 0)) {
        ccm_ks_fault_invalid(write->faults, "spec.ipFamilyPolicy",
                             ccm_json_get(spec, "ipFamilyPolicy"),
                             "must be RequireDualStack or PreferDualStack when multiple %s are "
                             "specified",
                             cJSON_GetArraySize(families) > 1 ? "ipFamilies" : "clusterIPs");
    }
    if (write->dual_stack) {
        return;
    }
    if (strcmp(policy, "RequireDualStack") == 0) {
        ccm_ks_fault_invalid_str(write->faults, "spec.ipFamilyPolicy", policy,
                                 "this cluster is not configured for dual-stack services");
    }
    cJSON_ArrayForEach(family, families)
    {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf field = { .max = 64 };

        ccm_buf_addf(&field, "spec.ipFamilies[%d]", i++);
        if (strcmp(family->valuestring, "IPv6") == 0) {
            ccm_ks_fault_invalid_str(write->faults, ccm_buf_str(&field), family->valuestring,
                                     "not configured on this cluster");
        }
    }
}

static const char *other(const char *family)
{
    return strcmp(family, "IPv4") == 0 ? "IPv6" : "IPv4";
}

void ccm_ks_families_default(const struct ccm_ks_write *write, cJSON *spec)
{
    cJSON *families = ccm_ks_jx_get(spec, "ipFamilies");

    ccm_ks_jx_default_str(spec, "ipFamilyPolicy", "SingleStack");
    if (families == NULL) {
        families = cJSON_CreateArray();
        add_text(families, strchr(ccm_json_text(spec, "clusterIP"), ':') == NULL ? "IPv4" : "IPv6");
        ccm_ks_jx_set(spec, "ipFamilies", families);
    }
    if (write->dual_stack && cJSON_GetArraySize(families) == 1 &&
        strcmp(ccm_json_text(spec, "ipFamilyPolicy"), "SingleStack") != 0) {
        add_text(families, other(families->child->valuestring));
    }
}

bool ccm_ks_families_ip(const struct ccm_ks_write *write, const cJSON *spec, bool second,
                        char ret[48])
{
    const cJSON *family = cJSON_GetArrayItem(ccm_json_get(spec, "ipFamilies"), second ? 1 : 0);

    return cJSON_IsString(family) && strcmp(family->valuestring, "IPv6") == 0
               ? ccm_ks_alloc_ip6(write->alloc, ret)
               : ccm_ks_alloc_ip(write->alloc, ret);
}

void ccm_ks_families_second(struct ccm_ks_write *write, cJSON *spec)
{
    cJSON *ips = ccm_ks_jx_get(spec, "clusterIPs");
    char chosen[48];

    if (cJSON_GetArraySize(ccm_json_get(spec, "ipFamilies")) == 2 && cJSON_GetArraySize(ips) == 1 &&
        strcmp(ips->child->valuestring, "None") != 0 &&
        ccm_ks_families_ip(write, spec, true, chosen)) {
        add_text(ips, chosen);
    }
}

bool ccm_ks_families_in_range(const struct ccm_ks_write *write, const char *ip)
{
    struct in_addr address;

    if (write->dual_stack && strncmp(ip, RANGE6, strlen(RANGE6)) == 0) {
        return true;
    }
    return inet_pton(AF_INET, ip, &address) == 1 && (ntohl(address.s_addr) >> 20) == 0x0A6;
}
