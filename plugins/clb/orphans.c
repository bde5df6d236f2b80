/* What of CLB may be left without Service; see alilb/orphans.h. */
#include "alilb/orphans.h"
#include "api.h"
#include "controller.h"
#include "model_listeners.h"
#include "read.h"

static const struct alilb_orphan_kind kinds[] = {
    { .what = "load balancer",
      .list = &clb_api_tagged_lbs,
      .id = "LoadBalancerId",
      .protect = &clb_api_protect_lb,
      .off = "off",
      .on = "on",
      .shown = "DeleteProtection",
      .remove = &clb_api_delete_lb },
    { .what = "access list",
      .list = &clb_api_acls,
      .untagged = true,
      .extras = CLB_EXTRA_RANGES,
      .id = "AclId",
      .remove = &clb_api_delete_acl },
    { 0 },
};

const struct lbc_orphan_ops clb_orphan_ops = {
    .list = alilb_orphans_list,
    .remove = alilb_orphans_remove,
    .kinds = kinds,
};
