#include "controller.h"

#include "lbc/model/owner.h"
#include "lbc/reuse.h"
#include "read.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

/* An entry with a name and no address says nothing about the load balancer. */
static bool reuse_matches_status(const struct ccm_service *service, const char *address)
{
    for (uint64_t i = 0; i < service->ingress_count; i++) {
        const struct ccm_ingress *one = service->ingress[i];

        if (ccm_text_equal(one->ip, address) ||
            (ccm_text_empty(one->ip) && !ccm_text_empty(one->hostname))) {
            return true;
        }
    }
    return service->ingress_count == 0;
}

static int check_address(const struct lbc_pass *pass, struct ccm_error *err)
{
    const struct ccm_service *service = pass->service;
    const struct clb_lb *lb = &clb_actual(pass->entry)->lb;
    CCM_CLEANUP(ccm_freep) char *reason = NULL;

    if (reuse_matches_status(service, lb->address)) {
        return 0;
    }
    reason = ccm_text_format("service has been associated with ip [%s], cannot be bound to ip [%s]",
                             service->ingress[0]->ip, lb->address);
    return reason == NULL ? ccm_error_nomem(err) : lbc_reuse_refuse(lb->id, reason, err);
}

static int read_own_id(struct lbc_pass *pass, char **ret, struct ccm_error *err)
{
    CCM_CLEANUP(clb_lb_fini) struct clb_lb own = { 0 };
    struct alilb_call call = clb_pass_call(pass, LBC_PRIO_SPEC);
    const int r = clb_read_lb(&call, pass->service, &own, err);

    if (r == 0) {
        *ret = CCM_STEAL(own.id);
    }
    return r;
}

int clb_check_reuse(struct lbc_pass *pass, const struct clb_model *model, struct ccm_error *err)
{
    const struct clb_lb *lb = &clb_actual(pass->entry)->lb;
    int r = lbc_reuse_check_tags(pass, lb->id, &lb->tags, err);

    if (r == 0 && !model->show_eip) {
        r = check_address(pass, err);
    }
    return r < 0 ? r : lbc_reuse_check_label(pass, lb->id, read_own_id, err);
}

bool clb_is_served(const struct lbc_pass *pass)
{
    const struct clb_state *have = clb_actual(pass->entry);
    const struct ccm_object *meta = &pass->service->meta;
    const char *cluster_id = lbc_cluster_id(pass->lbc);

    for (size_t i = 0; i < have->lbc.group_count; i++) {
        const char *name = have->lbc.groups[i]->name;

        if (name != NULL && lbc_owner_parse(name, false, meta, cluster_id) == LBC_OWNER_OURS) {
            return true;
        }
    }
    for (size_t i = 0; i < have->lbc.listener_count; i++) {
        const char *text = clb_listener_at(have, i)->lbc.description;

        if (text != NULL && lbc_owner_parse(text, true, meta, cluster_id) == LBC_OWNER_OURS) {
            return true;
        }
    }
    return false;
}

int clb_check_match(struct lbc_pass *pass, struct clb_model *model, struct ccm_error *err)
{
    const struct clb_lb *lb = &clb_actual(pass->entry)->lb;
    const bool typed = (model->lbc.explicit >> CLB_LB_ADDRESS_TYPE & 1U) != 0;
    const bool is_private = ccm_text_equal_case(lb->address_type, "intranet");
    const struct lbc_reuse_fact facts[] = {
        { "address type", typed ? model->want.lb.address_type : NULL, lb->address_type,
          "its address type is never changed; name another load balancer, or set annotation "
          "address-type to what it is" },
        { "VPC", is_private ? ali_vpc_id(alilb_client(&pass->lbc->cloud)) : NULL, lb->vpc_id,
          "a private load balancer must be in the VPC of the cluster; name another one" },
    };
    int r = lbc_reuse_check_facts(lb->id, facts, CCM_ARRAY_LEN(facts), err);

    if (r == -EPERM && clb_is_served(pass)) {
        lbc_problems_add(&pass->problems, err, NULL);
        ccm_error_clear(err);
        model->lbc.mismatch = true;
        r = 0;
    }
    return r;
}
