/* What of NLB may be left without Service; see alilb/orphans.h. */
#include "alilb/orphans.h"
#include "api.h"
#include "read.h"

static const struct alilb_orphan_kind kinds[] = {
    { .what = "load balancer",
      .list = &nlb_api_lbs,
      .id = "LoadBalancerId",
      .protect = &nlb_api_protect_lb,
      .off = "false",
      .on = "true",
      .shown = "DeletionProtectionConfig",
      .shown_in = "Enabled",
      .remove = &nlb_api_delete_lb },
    { .what = "server group",
      .list = &nlb_api_groups,
      .id = "ServerGroupId",
      .remove = &nlb_api_delete_group },
    { .what = "security group",
      .list = &nlb_api_security_groups,
      .id = "SecurityGroupId",
      .remove = &nlb_api_delete_security_group },
    { 0 },
};

const struct lbc_orphan_ops nlb_orphan_ops = {
    .list = alilb_orphans_list,
    .remove = alilb_orphans_remove,
    .kinds = kinds,
};
