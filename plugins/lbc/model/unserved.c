#include "lbc/model/unserved.h"

#include "lbc/model/settings.h"
#include "util/text.h"

bool lbc_unserved_ranges(const struct ccm_service *service)
{
    return lbc_setting_limits_sources(service);
}

bool lbc_unserved_ip(const struct ccm_service *service)
{
    return service->load_balancer_ip[0] != '\0';
}

bool lbc_unserved_affinity(const struct ccm_service *service)
{
    return ccm_text_equal(service->session_affinity, "ClientIP");
}

bool lbc_unserved_family(const struct ccm_service *service, enum lbc_families wanted)
{
    unsigned present = 0;

    for (uint64_t i = 0; i < service->ip_family_count; i++) {
        present |= ccm_text_equal(service->ip_families[i], "IPv4")   ? (unsigned)LBC_IPV4
                   : ccm_text_equal(service->ip_families[i], "IPv6") ? (unsigned)LBC_IPV6
                                                                     : 0;
    }
    return present != 0 && (present & (unsigned)wanted) != (unsigned)wanted;
}

bool lbc_unserved_applies(const struct lbc_unserved *field, const struct ccm_service *service)
{
    return field->is_set != NULL ? field->is_set(service)
                                 : field->families_of(service) == field->families &&
                                       lbc_unserved_family(service, field->families);
}
