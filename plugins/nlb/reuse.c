#include "controller.h"

#include "ccm/object.h"
#include "lbc/reuse.h"
#include "names.h"
#include "read.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

static bool reuse_matches_status(const struct ccm_service *service, const char *dns)
{
    for (uint64_t i = 0; i < service->ingress_count; i++) {
        if (ccm_text_equal(service->ingress[i]->hostname, dns)) {
            return true;
        }
    }
    return service->ingress_count == 0;
}

static int check_address(const struct lbc_pass *pass, struct ccm_error *err)
{
    const struct ccm_service *service = pass->service;
    const struct nlb_lb *lb = &((const struct nlb_state *)pass->entry->state)->lb;
    CCM_CLEANUP(ccm_freep) char *reason = NULL;

    if (reuse_matches_status(service, lb->dns)) {
        return 0;
    }
    reason = ccm_text_format("service has been associated with dnsname [%s], cannot be bound to "
                             "dnsname [%s]: delete and "
                             "recreate the service",
                             service->ingress[0]->hostname, lb->dns == NULL ? "" : lb->dns);
    return reason == NULL ? ccm_error_nomem(err) : lbc_reuse_refuse(lb->id, reason, err);
}

static int read_own_id(struct lbc_pass *pass, char **ret, struct ccm_error *err)
{
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb own = { 0 };
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_SPEC);
    const int r = nlb_read_lb(&call, pass->service, &own, err);

    if (r == 0) {
        *ret = CCM_STEAL(own.id);
    }
    return r;
}

int nlb_check_reuse(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct nlb_lb *lb = &((const struct nlb_state *)pass->entry->state)->lb;
    int r = lbc_reuse_check_tags(pass, lb->id, &lb->tags, err);

    if (r == 0) {
        r = check_address(pass, err);
    }
    return r < 0 ? r : lbc_reuse_check_label(pass, lb->id, read_own_id, err);
}

/* *ret: something of the Service is there; only a controller can have put it there. */
static int find_served(const struct lbc_pass *pass, bool *ret)
{
    const struct nlb_state *have = pass->entry->state;
    const struct ccm_object *meta = &pass->service->meta;
    const char *cluster_id = lbc_cluster_id(pass->lbc);
    enum lbc_owner owner = LBC_OWNER_NONE;
    int r = 0;

    for (size_t i = 0; r == 0 && owner != LBC_OWNER_OURS && i < have->lbc.group_count; i++) {
        r = nlb_name_parse(nlb_group_at(have, i)->lbc.name, false, meta, cluster_id, &owner);
    }
    for (size_t i = 0; r == 0 && owner != LBC_OWNER_OURS && i < have->lbc.listener_count; i++) {
        r = nlb_name_parse(nlb_listener_at(have, i)->lbc.description, true, meta, cluster_id,
                           &owner);
    }
    *ret = owner == LBC_OWNER_OURS;
    return r;
}

/* Instances and interfaces are reached within their VPC only. */
static bool needs_vpc(const struct nlb_model *model)
{
    for (size_t i = 0; i < model->want.lbc.group_count; i++) {
        const char *type = nlb_group_at(&model->want, i)->type; /* NULL: Instance */

        if (type == NULL || !ccm_text_equal_case(type, "Ip")) {
            return true;
        }
    }
    return false;
}

static const char *explicit_field(const struct nlb_model *model, enum nlb_lb_field field)
{
    return (model->lbc.explicit >> field & 1U) != 0 ? model->want.lb.fields[field] : NULL;
}

int nlb_check_match(struct lbc_pass *pass, struct ccm_error *err)
{
    struct nlb_model *model = pass->model;
    const struct nlb_lb *lb = &((const struct nlb_state *)pass->entry->state)->lb;
    const struct lbc_reuse_fact facts[] = {
        { "address type", explicit_field(model, NLB_LB_ADDRESS_TYPE),
          lb->fields[NLB_LB_ADDRESS_TYPE],
          "its address type is never changed; name another load balancer, or set annotation "
          "address-type to what it is" },
        { "IPv6 address type", explicit_field(model, NLB_LB_IPV6_TYPE),
          lb->fields[NLB_LB_IPV6_TYPE],
          "its address type is never changed; name another load balancer, or set annotation "
          "ipv6-address-type to what it is" },
        { "VPC", needs_vpc(model) ? ali_vpc_id(alilb_client(&pass->lbc->cloud)) : NULL, lb->vpc_id,
          "only backends by address reach another VPC; set annotation server-group-type to Ip, "
          "or name another load balancer" },
    };
    int r = lbc_reuse_check_facts(lb->id, facts, CCM_ARRAY_LEN(facts), err);
    bool served = false;

    if (r == -EPERM && find_served(pass, &served) < 0) {
        return ccm_error_nomem(err);
    }
    if (served) {
        lbc_problems_add(&pass->problems, err, NULL);
        ccm_error_clear(err);
        model->lbc.mismatch = true;
        r = 0;
    }
    return r;
}
