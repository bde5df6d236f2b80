#include "fields.h"

#include "util/attr.h"

#include <string.h>

#define TLS   (1U << LBC_TCPSSL)
#define LIST  NLB_FIELD_LIST
#define CASE_ NLB_FIELD_CASE
#define PPV2  NLB_FIELD_PPV2
#define CHECK NLB_FIELD_HEALTH
#define ZERO  LBC_FIELD_ZERO

const struct lbc_field nlb_listener_fields[] = {
    { "ProxyProtocolEnabled", NULL, NULL, 0, 0 },
    { "Ppv2PrivateLinkEpIdEnabled", NULL, NULL, 0, PPV2 },
    { "Ppv2PrivateLinkEpsIdEnabled", NULL, NULL, 0, PPV2 },
    { "Ppv2VpcIdEnabled", NULL, NULL, 0, PPV2 },
    { "IdleTimeout", NULL, NULL, 0, 0 },
    { "Cps", NULL, NULL, 0, ZERO },
    { "AlpnEnabled", NULL, NULL, TLS, 0 },
    { "AlpnPolicy", NULL, NULL, TLS, CASE_ },
    { "SecurityPolicyId", NULL, NULL, TLS, 0 },
    { "CertificateIds", NULL, NULL, TLS, LIST },
    { "CaCertificateIds", NULL, NULL, TLS, LIST },
    { "CaEnabled", NULL, NULL, TLS, 0 },
};
const size_t nlb_listener_field_count = CCM_ARRAY_LEN(nlb_listener_fields);

const struct lbc_field nlb_group_fields[] = {
    { "Scheduler", NULL, NULL, 0, CASE_ },
    { "ConnectionDrainEnabled", NULL, NULL, 0, 0 },
    { "ConnectionDrainTimeout", NULL, NULL, 0, ZERO },
    { "PreserveClientIpEnabled", NULL, NULL, 0, 0 },
    { "IpVersionAffinityMode", NULL, NULL, 0, CASE_ },
    { "ResourceGroupId", NULL, NULL, 0, LBC_FIELD_CREATE },
    { "HealthCheckEnabled", NULL, NULL, 0, CHECK },
    { "HealthCheckType", NULL, NULL, 0, CHECK | CASE_ },
    { "HealthCheckConnectPort", NULL, NULL, 0, CHECK | ZERO },
    { "HealthyThreshold", NULL, NULL, 0, CHECK },
    { "UnhealthyThreshold", NULL, NULL, 0, CHECK },
    { "HealthCheckConnectTimeout", NULL, NULL, 0, CHECK },
    { "HealthCheckInterval", NULL, NULL, 0, CHECK },
    { "HealthCheckDomain", NULL, NULL, 0, CHECK },
    { "HealthCheckUrl", NULL, NULL, 0, CHECK },
    { "HttpCheckMethod", NULL, NULL, 0, CHECK | CASE_ },
    { "HealthCheckHttpCode", NULL, NULL, 0, CHECK | LIST | CASE_ },
};
const size_t nlb_group_field_count = CCM_ARRAY_LEN(nlb_group_fields);

static const struct lbc_field *fields_find_name(const struct lbc_field *fields, size_t count,
                                                const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].name, name) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

const struct lbc_field *nlb_listener_field(const char *name)
{
    return fields_find_name(nlb_listener_fields, nlb_listener_field_count, name);
}

const struct lbc_field *nlb_group_field(const char *name)
{
    return fields_find_name(nlb_group_fields, nlb_group_field_count, name);
}

bool nlb_field_applies(const struct lbc_field *field, enum lbc_protocol protocol)
{
    return field->protocols == 0 || (field->protocols >> protocol & 1U) != 0;
}
