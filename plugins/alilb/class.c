#include "alilb/class.h"

#include "ccm/object.h"
#include "lbc/model/class.h"
#include "util/text.h"

const struct ccm_option alilb_opt_type = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .group = "alicloud",
    .name = "type_annotation",
    .fallback = "false",
    .help = "Let annotation service.beta.kubernetes.io/alibaba-cloud-loadbalancer-type choose the "
            "kind of load balancer of Services without loadBalancerClass: nlb for plugin nlb, none "
            "for plugin clb, anything else for neither.",
};

bool alilb_class_is_clb(const struct ccm_service *service)
{
    return lbc_class_is_default(service);
}

bool alilb_class_is_nlb(const struct ccm_service *service)
{
    return lbc_class_is(service, ALILB_CLASS_NLB);
}

bool alilb_class_is_typed_clb(const struct ccm_service *service)
{
    return alilb_class_is_clb(service) &&
           ccm_text_empty(ccm_object_annotation(&service->meta, ALILB_TYPE_KEY));
}

bool alilb_class_is_typed_nlb(const struct ccm_service *service)
{
    return alilb_class_is_nlb(service) ||
           (alilb_class_is_clb(service) &&
            ccm_text_equal(ccm_object_annotation(&service->meta, ALILB_TYPE_KEY), "nlb"));
}

bool alilb_class_has_none(const struct ccm_service *service)
{
    return ccm_text_empty(service->load_balancer_class);
}
