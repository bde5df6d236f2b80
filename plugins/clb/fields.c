#include "fields.h"

#include "util/attr.h"
#include "util/text.h"

#include <string.h>

#define TCP  (1U << CLB_TCP)
#define UDP  (1U << CLB_UDP)
#define L4   (TCP | UDP)
#define L7   (1U << CLB_HTTP | 1U << CLB_HTTPS)
#define ANY_ (L4 | L7)

const struct clb_field clb_fields[] = {
    { "Scheduler", NULL, ANY_, true, false },
    { "Bandwidth", NULL, L4 | 1U << CLB_HTTPS, true, false },
    { "AclId", NULL, ANY_, true, false },
    { "AclType", NULL, ANY_, true, false },
    { "AclStatus", NULL, ANY_, true, false },
    { "HealthCheckConnectPort", NULL, ANY_, false, false },
    { "HealthCheckInterval", "healthCheckInterval", L4, false, false },
    { "HealthyThreshold", NULL, ANY_, false, false },
    { "UnhealthyThreshold", NULL, ANY_, false, false },
    { "HealthCheckConnectTimeout", NULL, L4, false, false },
    { "HealthCheckSwitch", NULL, L4, false, false },
    { "HealthCheckHttpCode", NULL, TCP | L7, false, false },
    { "HealthCheckURI", NULL, TCP | L7, false, false },
    { "HealthCheckType", NULL, TCP, false, false },
    { "HealthCheckDomain", NULL, TCP | L7, false, false },
    { "PersistenceTimeout", NULL, TCP, false, true },
    { "EstablishedTimeout", NULL, TCP, false, false },
    { "ConnectionDrain", NULL, L4, false, false },
    { "ConnectionDrainTimeout", NULL, L4, false, false },
    { "ProxyProtocolV2Enabled", NULL, L4, false, false },
};
const size_t clb_field_count = CCM_ARRAY_LEN(clb_fields);

static const char *const lower_names[] = { "tcp", "udp", "http", "https", "other" };
static const char *const upper_names[] = { "TCP", "UDP", "HTTP", "HTTPS", "OTHER" };

const struct clb_field *clb_field_find(const char *name)
{
    for (size_t i = 0; i < clb_field_count; i++) {
        if (strcmp(clb_fields[i].name, name) == 0) {
            return &clb_fields[i];
        }
    }
    return NULL;
}

bool clb_field_applies(const struct clb_field *field, enum clb_protocol protocol)
{
    return (field->protocols >> protocol & 1U) != 0;
}

const char *clb_protocol_name(enum clb_protocol protocol)
{
    return lower_names[protocol];
}

const char *clb_protocol_upper(enum clb_protocol protocol)
{
    return upper_names[protocol];
}

enum clb_protocol clb_protocol_parse(const char *text)
{
    for (size_t i = 0; i < CLB_OTHER; i++) {
        if (ccm_text_equal_case(text, lower_names[i])) {
            return (enum clb_protocol)i;
        }
    }
    return CLB_OTHER;
}
