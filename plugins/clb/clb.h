/* What the parts of this plugin share: names and limits. */
#ifndef CCM_CLB_H
#define CCM_CLB_H

#include "alilb/class.h"
#include "lbc/model/settings.h"

#define CLB_FINALIZER     ALILB_FINALIZER_CLB
#define CLB_ACL_LABEL     "service.k8s.alibaba/access-list-id"
#define CLB_COMPONENT     "service-controller"
#define CLB_BATCH_DEFAULT 40
#define CLB_PUBLIC_OPTION "disable_public_slb"
#define CLB_BATCH_SMALL   20 /* what CreateVServerGroup takes, and all calls of some regions */

#endif
