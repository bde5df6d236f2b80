/* Whose Service is it: of the plugin for CLB, or of that for NLB? Disjoint. Pure. Every thread. */
#ifndef CCM_ALILB_CLASS_H
#define CCM_ALILB_CLASS_H

#include "ccm/object.h"
#include "ccm/option.h"

#include <stdbool.h>

#define ALILB_CLASS_NLB "alibabacloud.com/nlb"
#define ALILB_TYPE_KEY  "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-type"

/* Group alicloud, type_annotation: whether annotation loadbalancer-type counts. */
extern const struct ccm_option alilb_opt_type;

/* No load-balancer class of any kind, no tunnel. */
bool alilb_class_is_clb(const struct ccm_service *service);
/* The class of NLB. */
bool alilb_class_is_nlb(const struct ccm_service *service);

/* The same where annotation loadbalancer-type counts (option type_annotation): "nlb" without any
 * class makes it an NLB, and whatever is not empty keeps CLB away. */
bool alilb_class_is_typed_clb(const struct ccm_service *service);
bool alilb_class_is_typed_nlb(const struct ccm_service *service);

/* The annotation does nothing where the option is off: first row of the plugins' hints. */
bool alilb_class_has_none(const struct ccm_service *service);
#define ALILB_TYPE_HINT                                                                            \
    {                                                                                              \
        ALILB_TYPE_KEY, alilb_class_has_none,                                                      \
            "has no effect without option type_annotation of group alicloud: an NLB is asked for " \
            "by spec.loadBalancerClass " ALILB_CLASS_NLB,                                          \
            &alilb_opt_type, false                                                                 \
    }
/* Its row among the annotations; see lbc/model/annotation.h. */
#define ALILB_TYPE_ROW                                                                             \
    {                                                                                              \
        .name = ALILB_TYPE_KEY, .group = LBC_ANNO_CLASS, .flags = LBC_ANNO_FIXED,                  \
        .example = "nlb",                                                                          \
        .help = "Kind of load balancer of a Service without class: nlb, or empty for CLB. Counts " \
                "only with option type_annotation."                                                \
    }

#endif
