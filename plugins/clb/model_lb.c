/* What a Service wants of the load balancer itself. */
#include "model.h"

#include "clb.h"
#include "lbc/model/annotation.h"
#include "lbc/model/lb_attrs.h"
#include "lbc/model/owner.h"
#include "lbc/model/settings.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* What creation asks for when nobody says otherwise. */
static int fill_defaults(struct clb_lb *lb, const struct ccm_service *service)
{
    char name[LBC_OWNER_LB_NAME];

    lbc_owner_lb_name(&service->meta, name);
    if ((lb->lbc.texts[CLB_LB_NAME] == NULL &&
         lbc_text_set(&lb->lbc.texts[CLB_LB_NAME], name) < 0) ||
        lbc_lb_add_defaults(&clb_annotations, lb->lbc.texts) < 0) {
        return -ENOMEM;
    }
    return ccm_text_equal(lb->lbc.texts[CLB_LB_NETWORK], "classic")
               ? lbc_text_set(&lb->lbc.texts[CLB_LB_VSWITCH], NULL)
               : 0;
}

enum lbc_families clb_model_families(const struct ccm_service *service)
{
    return lbc_anno_says(&service->meta, "ip-version", "ipv6") &&
                   lbc_anno_says(&service->meta, "backend-ip-version", "ipv6")
               ? LBC_IPV6
               : LBC_IPV4;
}

int clb_model_lb(struct clb_model *model, const struct ccm_service *service)
{
    const struct ccm_object *meta = &service->meta;
    struct clb_lb *lb = &model->want.lb;

    lbc_model_init(&model->lbc, &clb_state_type, &model->want.lbc, service);
    model->show_eip = ccm_text_equal(lbc_anno_get(meta, "external-ip-type"), "eip");
    model->hostname = lbc_anno_get(meta, "hostname");
    model->lbc.keep_weights = lbc_anno_says(meta, "ignore-weight-update", "on");
    lb->protect = !ccm_text_equal(lbc_anno_get(meta, "delete-protection"), "off");
    model->weight = lbc_setting_weight(service, model->lbc.reused &&
                                                    lbc_anno_get(meta, "vgroup-port")[0] != '\0');
    if (lbc_text_set(&lb->lbc.id, lbc_anno_get(meta, "id")) < 0 ||
        lbc_lb_add_wishes(&clb_annotations, service, lb->lbc.texts, &model->lbc.explicit) < 0 ||
        fill_defaults(lb, service) < 0 ||
        lbc_setting_tags(service, model->lbc.reused, &lb->lbc.tags) < 0) {
        return -ENOMEM;
    }
    model->lbc.ipv6 = clb_model_families(service) == LBC_IPV6;
    return 0;
}
