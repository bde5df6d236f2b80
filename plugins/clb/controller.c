#include "controller.h"
#include "alilb/class.h"
#include "annotations.h"
#include "clb.h"
#include "inventory.h"
#include "lbc/model/annotation.h"
#include "lbc/model/owner.h"
#include "lint.h"
#include "model_listeners.h"
#include "unserved.h"
#include "util/cleanup.h"

#include <errno.h>
#include <string.h>

static const char *reused_id(const struct ccm_service *service)
{
    return lbc_anno_get(&service->meta, "id");
}

static void model_fini(void *model)
{
    clb_model_fini(model);
}

static const struct lbc_tags *model_get_tags(const void *model)
{
    return &((const struct clb_model *)model)->want.lb.tags;
}

/* An access list for spec.loadBalancerSourceRanges: once no listener is bound to it nothing tells
 * that there is one. */
static bool needs_mark(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    return (lbc->extras & CLB_EXTRA_RANGES) != 0 && service->source_range_count > 0;
}

static bool state_has_port(const struct lbc_pass *pass, const char *port)
{
    const struct clb_state *have = clb_actual(pass->entry);

    for (size_t i = 0; i < have->lbc.listener_count; i++) {
        const struct clb_listener *one = clb_listener_at(have, i);
        char name[LBC_TAKEN_PORT];

        clb_taken_port(&one->lbc, name);
        if (strcmp(name, port) == 0) {
            return one->lbc.description != NULL &&
                   lbc_owner_parse(one->lbc.description, true, &pass->service->meta,
                                   lbc_cluster_id(pass->lbc)) == LBC_OWNER_OURS;
        }
    }
    return !have->lbc.listeners_known; /* nobody has looked */
}

const struct lbc_names clb_names = {
    .finalizer = CLB_FINALIZER,
    .component = CLB_COMPONENT,
    .extra_label = CLB_ACL_LABEL,
    .type = "CLBType",
    .public_option = CLB_PUBLIC_OPTION,
    .plugin = "clb",
};

/* spec.loadBalancerSourceRanges, which is no annotation's fault. */
static int refuse_acl(const struct lbc_instance *lbc, struct lbc_refusals *refusals)
{
    CCM_CLEANUP(clb_state_fini) struct clb_state ignored = { .lb = { .id = NULL } };
    struct ccm_error err = CCM_ERROR_INIT;
    const int r = clb_model_acl(&ignored, refusals->service, lbc->extras, &err);

    return r == -EINVAL ? lbc_refusals_add(refusals, NULL, &err) : r;
}

const struct lbc_ops clb_ops = {
    .cloud = &alilb_cloud_ops,
    .is_ours = alilb_class_is_clb,
    .reused_id = reused_id,
    .mirror = &clb_state_type,
    .annotations = &clb_annotations,
    .unserved = clb_unserved,
    .hints = clb_hints,
    .inventory = &clb_inventory_ops,
    .invalid_text = "has invalid backend in vservergroups",
    .missing_text = { "Not sync pods [", "] whose eni is invalid" },
    .rules = &clb_rules,
    .refuse = refuse_acl,
    .needs_mark = needs_mark,
    .model_size = sizeof(struct clb_model),
    .model_fini = model_fini,
    .sync = clb_sync,
    .publish = clb_publish,
    .emit_events = clb_emit_events,
    .has_listener = state_has_port,
    .tags = model_get_tags,
    .release = clb_release,
    .check_owner = clb_check_owner,
    .release_by_label = true,
};
