/* What the parts of this plugin share: names and limits. */
#ifndef CCM_NLB_NLB_H
#define CCM_NLB_NLB_H

#include "alilb/class.h"
#include "lbc/model/settings.h"

#define NLB_FINALIZER            ALILB_FINALIZER_NLB
#define NLB_COMPONENT            "nlb-controller"
#define NLB_SECURITY_GROUP_LABEL "service.k8s.alibaba/security-group-id"
#define NLB_PUBLIC_OPTION        "disable_public_nlb"
#define NLB_NAME_MAX             128 /* bytes of the name of a server group */
#define NLB_TEXT_MAX             256 /* bytes of a description */
#define NLB_BATCH_MAX            200 /* servers per call */
#define NLB_CERTS_MAX            15  /* additional certificates per call */

#endif
