#include "model.h"

#include "annotation_text.h"
#include "annotations.h"
#include "lbc/model/owner.h"
#include "lint.h"
#include "model_listeners.h"
#include "model_parts.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_port(const struct lbc_builder *b, const struct ccm_service_port *port,
                      enum lbc_protocol protocol, struct ccm_error *err)
{
    if (port->port < 1 || port->port > UINT16_MAX) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "port out of range");
    }
    if (protocol != LBC_OTHER &&
        lbc_state_listener_on(b->model->want, protocol, (uint16_t)port->port,
                              (uint16_t)port->port) != NULL) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "two ports of the Service ask for the same listener");
    }
    return 0;
}

/* An annotation that is refused leaves it open what the port is to be. It was told for all ports
 * at once. Then whatever listens there stays. */
static int find_protocol(const struct lbc_builder *b, struct lbc_desired_port *want,
                         struct ccm_error *err)
{
    int r = lbc_setting_protocol(b->in->service, want->port, &clb_protocols, &want->protocol, err);

    want->open = r == -EINVAL && lbc_refusals_has(b->in->refused, "protocol-port");
    if (want->open) {
        want->protocol = LBC_OTHER;
        r = 0;
    }
    return r < 0 ? r : check_port(b, want->port, want->protocol, err);
}

static int build_group(struct lbc_builder *b, struct lbc_desired_port *want, struct ccm_error *err)
{
    int r;

    lbc_model_choose_group(b, want);
    want->open = want->open || (lbc_refusals_has(b->in->refused, "vgroup-port") &&
                                b->model->reused && want->chosen[0] == '\0');
    r = clb_model_group(b, want, err);
    want->broken = want->open || r < 0;
    b->model->incomplete = b->model->incomplete || want->open;
    if (r < 0 && r != -ENOMEM) {
        lbc_model_report_port(b, want, err);
        return 0;
    }
    return r;
}

static int build_port(struct lbc_builder *b, struct lbc_desired_port *want, struct ccm_error *err)
{
    int r = find_protocol(b, want, err);

    want->weight = ((const struct clb_model *)b->model)->weight;
    if (r < 0) {
        lbc_model_report_port(b, want, err);
        return 0;
    }
    r = build_group(b, want, err);
    if (r < 0) {
        return r;
    }
    r = clb_model_listener(b, want, err);
    if (r == -EINVAL) {
        lbc_model_report_port(b, want, err);
        return 0;
    }
    return r;
}

static int build_acl(struct lbc_builder *b, struct ccm_error *err)
{
    static const char *const suffixes[] = { "acl-status", "acl-id", "acl-type" };
    struct clb_state *want = (struct clb_state *)b->model->want;
    bool kept = false;
    int r = 0;

    for (size_t i = 0; i < CCM_ARRAY_LEN(suffixes); i++) {
        kept = kept || lbc_refusals_has(b->in->refused, suffixes[i]);
    }
    r = kept ? -EINVAL : clb_model_acl(want, b->in->service, b->in->extras, err);
    if (r != -EINVAL) {
        return r;
    }
    if (!kept) {
        lbc_problems_add(b->problems, err, NULL);
    }
    return clb_model_keep_acl(want) < 0 ? ccm_error_nomem(err) : 0;
}

/* The address family of present backends; otherwise: as annotations say. */
static enum lbc_families find_families(const struct lbc_group *shown, enum lbc_families otherwise)
{
    for (size_t i = 0; shown != NULL && i < shown->backends.len; i++) {
        const struct lbc_backend *one = &shown->backends.items[i];

        if (one->type != LBC_BACKEND_INSTANCE) {
            return strchr(one->server_ip, ':') != NULL ? LBC_IPV6 : LBC_IPV4;
        }
    }
    return otherwise;
}

static int begin_ports(struct lbc_builder *b, struct ccm_error *err)
{
    struct clb_model *model = (struct clb_model *)b->model;

    (void)err;
    model->extras = b->in->extras;
    b->families = find_families(b->in->shown, b->model->ipv6 ? LBC_IPV6 : LBC_IPV4);
    b->drop_unschedulable =
        ccm_text_equal(lbc_anno_get(&b->in->service->meta, "remove-unscheduled-backend"), "on");
    b->other_protocol = "other";
    model->keep_version = lbc_refusals_has(b->in->refused, "ip-version");
    model->keep_status = lbc_refusals_has(b->in->refused, "external-ip-type");
    return 0;
}

/* --- somebody else's load balancer --- */

static const struct lbc_fixed_attr fixed_attrs[] = { { "address type", CLB_LB_ADDRESS_TYPE },
                                                     { NULL, 0 } };

/* One with a public address is reached from everywhere. */
static const char *lb_vpc_remedy(const struct lbc_model *model, const struct lbc_lb *lb)
{
    (void)model; /* whatever is asked for */
    return ccm_text_equal_case(lb->texts[CLB_LB_ADDRESS_TYPE], "intranet")
               ? "a private load balancer must be in the VPC of the cluster; name another one"
               : NULL;
}

/* Of the shared-performance class, which knows no network interfaces, unless an annotation has it
 * changed before there are backends. */
static const char *lb_unfit(const struct lbc_model *model, const struct lbc_lb *lb, bool pods)
{
    const char *spec = lb->texts[CLB_LB_SPEC];
    const bool shared = ccm_text_equal_case(lb->texts[CLB_LB_CHARGE], "PayBySpec") &&
                        (ccm_text_empty(spec) || ccm_text_equal(spec, "slb.s0.share"));

    return pods && shared && !lbc_model_is_explicit(model, CLB_LB_SPEC) &&
                   !lbc_model_is_explicit(model, CLB_LB_CHARGE)
               ? "its specification is shared-performance and takes no pods as backends: set "
                 "annotation spec to slb.s1.small or a larger one, or take annotation "
                 "backend-type eni away"
               : NULL;
}

const struct lbc_model_ops clb_model_ops = {
    .size = sizeof(struct clb_model),
    .type = &clb_state_type,
    .rules = &clb_rules,
    .lb = clb_model_lb,
    .begin = begin_ports,
    .port = build_port,
    .end = build_acl,
    .check_group = clb_model_check_group,
    .fixed = fixed_attrs,
    .vpc_remedy = lb_vpc_remedy,
    .unfit = lb_unfit,
};
