#include "fields.h"

#include "util/attr.h"

#include <string.h>

#define TCP  (1U << LBC_TCP)
#define UDP  (1U << LBC_UDP)
#define L4   (TCP | UDP)
#define L7   (1U << LBC_HTTP | 1U << LBC_HTTPS)
#define ANY_ (L4 | L7)

#define HTTP  (1U << LBC_HTTP)
#define HTTPS (1U << LBC_HTTPS)

#define TOP    LBC_FIELD_TOP
#define ZERO   LBC_FIELD_ZERO
#define CREATE LBC_FIELD_CREATE

const struct lbc_field clb_fields[] = {
    { "Scheduler", NULL, NULL, ANY_, TOP },
    { "Bandwidth", NULL, NULL, L4 | HTTPS, TOP },
    { "AclId", NULL, NULL, ANY_, TOP },
    { "AclType", NULL, NULL, ANY_, TOP },
    { "AclStatus", NULL, NULL, ANY_, TOP },
    { "HealthCheckConnectPort", NULL, NULL, ANY_, 0 },
    { "HealthCheckInterval", "healthCheckInterval", NULL, ANY_, 0 },
    { "HealthyThreshold", NULL, NULL, ANY_, 0 },
    { "UnhealthyThreshold", NULL, NULL, ANY_, 0 },
    { "HealthCheckConnectTimeout", NULL, NULL, L4, 0 },
    { "HealthCheckSwitch", NULL, "HealthCheck", L4, 0 },
    { "HealthCheck", NULL, NULL, L7, 0 },
    { "HealthCheckTimeout", NULL, NULL, L7, 0 },
    { "HealthCheckMethod", NULL, NULL, L7, 0 },
    { "HealthCheckHttpCode", NULL, NULL, TCP | L7, 0 },
    { "HealthCheckURI", NULL, NULL, TCP | L7, 0 },
    { "HealthCheckType", NULL, NULL, TCP, 0 },
    { "HealthCheckDomain", NULL, NULL, TCP | L7, 0 },
    { "PersistenceTimeout", NULL, NULL, TCP, ZERO },
    { "EstablishedTimeout", NULL, NULL, TCP, 0 },
    { "ConnectionDrain", NULL, NULL, L4, 0 },
    { "ConnectionDrainTimeout", NULL, NULL, L4, 0 },
    { "ProxyProtocolV2Enabled", NULL, NULL, L4, 0 },
    { "StickySession", NULL, NULL, L7, 0 },
    { "StickySessionType", NULL, NULL, L7, 0 },
    { "CookieTimeout", NULL, NULL, L7, 0 },
    { "Cookie", NULL, NULL, L7, 0 },
    { "XForwardedFor_proto", NULL, NULL, L7, 0 },
    { "XForwardedFor_SLBPORT", NULL, NULL, L7, 0 },
    { "XForwardedFor_ClientSrcPort", NULL, NULL, L7, 0 },
    { "IdleTimeout", NULL, NULL, L7, 0 },
    { "RequestTimeout", NULL, NULL, L7, 0 },
    { "ServerCertificateId", NULL, NULL, HTTPS, 0 },
    { "EnableHttp2", NULL, NULL, HTTPS, 0 },
    { "TLSCipherPolicy", NULL, NULL, HTTPS, 0 },
    { "ListenerForward", NULL, NULL, HTTP, CREATE },
    { "ForwardPort", NULL, NULL, HTTP, CREATE },
};
const size_t clb_field_count = CCM_ARRAY_LEN(clb_fields);

const struct lbc_field *clb_field_find(const char *name)
{
    for (size_t i = 0; i < clb_field_count; i++) {
        if (strcmp(clb_fields[i].name, name) == 0) {
            return &clb_fields[i];
        }
    }
    return NULL;
}

bool clb_field_applies(const struct lbc_field *field, enum lbc_protocol protocol)
{
    return (field->protocols >> protocol & 1U) != 0;
}

const char *clb_field_create_name(const struct lbc_field *field, enum lbc_protocol protocol)
{
    const bool l4 = protocol == LBC_TCP || protocol == LBC_UDP;

    return field->create_name != NULL && l4 ? field->create_name : field->name;
}
