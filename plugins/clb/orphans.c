/* What of CLB may be left without Service; see alilb/orphans.h. */
#include "alilb/orphans.h"
#include "api.h"
#include "controller.h"
#include "model_listeners.h"

static const struct alilb_orphan_kind kinds[] = {
    { .what = "load balancer",
      .list = &clb_api_tagged_lbs,
      .id = "LoadBalancerId",
      .protect = &clb_api_protect_lb,
      .off = "off",
      .remove = &clb_api_delete_lb },
    { .what = "access list",
      .list = &clb_api_acls,
      .untagged = true,
      .extras = CLB_EXTRA_RANGES,
      .id = "AclId",
      .remove = &clb_api_delete_acl },
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

const struct lbc_orphan_ops clb_orphan_ops = { .list = orphans_list, .remove = orphans_remove };
