#include "service/class.h"

#include "service/object.h"
#include "util/text.h"

static bool is_load_balancer(const struct ccm_service *service)
{
    return ccm_text_equal(service->type, "LoadBalancer");
}

bool ccm_class_is_tunnel(const struct ccm_service *service)
{
    return ccm_object_annotation(&service->meta, CCM_CLASS_TUNNEL_KEY) != NULL;
}

bool ccm_class_is_clb(const struct ccm_service *service)
{
    return is_load_balancer(service) && ccm_text_empty(service->load_balancer_class) &&
           !ccm_class_is_tunnel(service) &&
           ccm_text_empty(ccm_object_annotation(&service->meta, CCM_CLASS_KEY));
}

bool ccm_class_is_nlb(const struct ccm_service *service)
{
    return is_load_balancer(service) && ccm_text_equal(service->load_balancer_class, CCM_CLASS_NLB);
}

bool ccm_class_is_typed_clb(const struct ccm_service *service)
{
    return ccm_class_is_clb(service) &&
           ccm_text_empty(ccm_object_annotation(&service->meta, CCM_CLASS_TYPE_KEY));
}

bool ccm_class_is_typed_nlb(const struct ccm_service *service)
{
    return ccm_class_is_nlb(service) ||
           (ccm_class_is_clb(service) &&
            ccm_text_equal(ccm_object_annotation(&service->meta, CCM_CLASS_TYPE_KEY), "nlb"));
}

bool ccm_class_needs_delete(const struct ccm_service *service)
{
    return service->meta.deleted_ms != 0 || !is_load_balancer(service);
}
