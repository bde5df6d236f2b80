#include "unserved.h"

#include "util/text.h"

bool ccm_unserved_ranges(const struct ccm_service *service)
{
    return service->source_range_count > 0;
}

bool ccm_unserved_ip(const struct ccm_service *service)
{
    return service->load_balancer_ip[0] != '\0';
}

bool ccm_unserved_affinity(const struct ccm_service *service)
{
    return ccm_text_equal(service->session_affinity, "ClientIP");
}
