/* What a Service wants of the load balancer itself. */
#include "model_parts.h"

#include "lbc/model/annotation.h"
#include "util/text.h"

#include <errno.h>

enum lbc_families clb_model_families(const struct ccm_service *service)
{
    return lbc_anno_says(&service->meta, "ip-version", "ipv6") &&
                   lbc_anno_says(&service->meta, "backend-ip-version", "ipv6")
               ? LBC_IPV6
               : LBC_IPV4;
}

/* The status shows what it shows while another name cannot be used. */
static const char *model_choose_hostname(const struct lbc_model_input *in)
{
    if (!lbc_refusals_has(in->refused, "hostname")) {
        return lbc_anno_get(&in->service->meta, "hostname");
    }
    return in->service->ingress_count == 0 ? "" : in->service->ingress[0]->hostname;
}

int clb_model_lb(struct lbc_model *base, const struct lbc_model_input *in)
{
    const struct ccm_object *meta = &in->service->meta;
    struct clb_model *model = (struct clb_model *)base;
    struct clb_lb *lb = &model->want.lb;

    if (lbc_model_init(base, &clb_annotations, &model->want.lbc, in) < 0) {
        return -ENOMEM;
    }
    model->show_eip = ccm_text_equal(lbc_anno_get(meta, "external-ip-type"), "eip");
    model->hostname = model_choose_hostname(in);
    model->weight = lbc_setting_weight(
        in->service, base->reused && lbc_anno_get(meta, "vgroup-port")[0] != '\0');
    base->keep_weights = lbc_anno_says(meta, "ignore-weight-update", "on");
    base->ipv6 = clb_model_families(in->service) == LBC_IPV6;
    return ccm_text_equal(lb->lbc.texts[CLB_LB_NETWORK], "classic")
               ? lbc_text_set(&lb->lbc.texts[CLB_LB_VSWITCH], NULL)
               : 0;
}
