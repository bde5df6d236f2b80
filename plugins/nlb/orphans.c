/* What of NLB may be left without Service; see alilb/orphans.h. */
#include "alilb/orphans.h"
#include "api.h"
#include "controller.h"

static const struct alilb_orphan_kind kinds[] = {
    { .what = "load balancer",
      .list = &nlb_api_lbs,
      .id = "LoadBalancerId",
      .protect = &nlb_api_protect_lb,
      .off = "false",
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

static int orphans_list(struct lbc_instance *lbc, const struct ccm_request *req,
                        struct lbc_orphan_list *to, struct ccm_error *err)
{
    return alilb_orphans_list(kinds, lbc, req, to, err);
}

static int orphans_remove(struct lbc_instance *lbc, const struct ccm_request *req, unsigned kind,
                          const char *id, struct ccm_error *err)
{
    return alilb_orphans_remove(&kinds[kind], lbc, req, id, err);
}

const struct lbc_orphan_ops nlb_orphan_ops = { .list = orphans_list, .remove = orphans_remove };
