#include "lbc/model/class.h"

#include "lbc/model/object.h"
#include "util/text.h"

const struct ccm_option lbc_opt_type = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .group = "alicloud",
    .name = "type_annotation",
    .fallback = "false",
    .help = "Let annotation service.beta.kubernetes.io/alibaba-cloud-loadbalancer-type choose the "
            "kind of load balancer of Services without loadBalancerClass: nlb for plugin nlb, none "
            "for plugin clb, anything else for neither.",
};

static bool is_load_balancer(const struct ccm_service *service)
{
    return ccm_text_equal(service->type, "LoadBalancer");
}

bool lbc_class_is_tunnel(const struct ccm_service *service)
{
    return lbc_object_annotation(&service->meta, LBC_CLASS_TUNNEL_KEY) != NULL;
}

bool lbc_class_is_clb(const struct ccm_service *service)
{
    return is_load_balancer(service) && ccm_text_empty(service->load_balancer_class) &&
           !lbc_class_is_tunnel(service) &&
           ccm_text_empty(lbc_object_annotation(&service->meta, LBC_CLASS_KEY));
}

bool lbc_class_is_nlb(const struct ccm_service *service)
{
    return is_load_balancer(service) && ccm_text_equal(service->load_balancer_class, LBC_CLASS_NLB);
}

bool lbc_class_is_typed_clb(const struct ccm_service *service)
{
    return lbc_class_is_clb(service) &&
           ccm_text_empty(lbc_object_annotation(&service->meta, LBC_CLASS_TYPE_KEY));
}

bool lbc_class_is_typed_nlb(const struct ccm_service *service)
{
    return lbc_class_is_nlb(service) ||
           (lbc_class_is_clb(service) &&
            ccm_text_equal(lbc_object_annotation(&service->meta, LBC_CLASS_TYPE_KEY), "nlb"));
}

bool lbc_class_needs_delete(const struct ccm_service *service)
{
    return service->meta.deleted_ms != 0 || !is_load_balancer(service);
}
