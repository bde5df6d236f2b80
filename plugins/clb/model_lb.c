#include "model.h"

#include "clb.h"
#include "lbc/model/annotation.h"
#include "lbc/model/owner.h"
#include "lbc/model/settings.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* --- attributes --- */

/* Values that people write in any case, as the cloud writes them. */
static const char *lb_canonical_value(enum clb_lb_field_id id, const char *value)
{
    static const char *const known[] = { "PayBySpec", "PayByCLCU", "ipv4", "ipv6" };

    for (size_t i = 0; (id == CLB_LB_CHARGE || id == CLB_LB_IP_VERSION) && i < CCM_ARRAY_LEN(known);
         i++) {
        if (ccm_text_equal_case(known[i], value)) {
            return known[i];
        }
    }
    return value;
}

/* The number 0 is no wish. */
static bool is_unset(enum clb_lb_field_id id, const char *value)
{
    uint32_t number = 0;

    return value[0] == '\0' || (id == CLB_LB_BANDWIDTH && ccm_parse_u32(value, 0, 0, &number) == 0);
}

static int lb_read_annotations(struct clb_model *model, const struct ccm_service *service)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < CLB_LB_FIELD_COUNT; i++) {
        const enum clb_lb_field_id id = (enum clb_lb_field_id)i;
        const char *value = lbc_anno_get(&service->meta, clb_lb_fields[i].annotation);

        if (is_unset(id, value)) {
            continue;
        }
        model->lbc.explicit |= 1U << id;
        if (clb_lb_fields[i].offset != SIZE_MAX) {
            r = clb_lb_set(&model->want.lb, id, lb_canonical_value(id, value));
        }
    }
    return r;
}

/* What creation asks for when nobody says otherwise. */
static int fill_defaults(struct clb_lb *lb, const struct ccm_service *service)
{
    char name[LBC_OWNER_LB_NAME];

    lbc_owner_lb_name(&service->meta, name);

    const struct {
        enum clb_lb_field_id id;
        const char *value;
    } defaults[] = {
        { CLB_LB_NAME, name },
        { CLB_LB_ADDRESS_TYPE, "internet" },
        { CLB_LB_CHARGE, "PayByCLCU" },
        { CLB_LB_MODIFICATION, "ConsoleProtection" },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(defaults); i++) {
        if (clb_lb_get(lb, defaults[i].id) == NULL &&
            clb_lb_set(lb, defaults[i].id, defaults[i].value) < 0) {
            return -ENOMEM;
        }
    }
    if (ccm_text_equal(lb->network_type, "classic")) {
        return lbc_text_set(&lb->vswitch_id, NULL);
    }
    return 0;
}

int clb_model_lb(struct clb_model *model, const struct ccm_service *service)
{
    const struct ccm_object *meta = &service->meta;
    struct clb_lb *lb = &model->want.lb;

    lbc_model_init(&model->lbc, &clb_state_type, &model->want.lbc, service);
    model->show_eip = ccm_text_equal(lbc_anno_get(meta, "external-ip-type"), "eip");
    model->hostname = lbc_anno_get(meta, "hostname");
    model->lbc.keep_weights = ccm_text_equal_case(lbc_anno_get(meta, "ignore-weight-update"), "on");
    lb->protect = !ccm_text_equal(lbc_anno_get(meta, "delete-protection"), "off");
    model->weight = lbc_setting_weight(service, model->lbc.reused &&
                                                    lbc_anno_get(meta, "vgroup-port")[0] != '\0');
    if (lbc_text_set(&lb->id, lbc_anno_get(meta, "id")) < 0 ||
        lb_read_annotations(model, service) < 0 || fill_defaults(lb, service) < 0 ||
        lbc_setting_tags(service, model->lbc.reused, &lb->tags) < 0) {
        return -ENOMEM;
    }
    model->lbc.ipv6 = ccm_text_equal(lb->ip_version, "ipv6") &&
                      ccm_text_equal_case(lbc_anno_get(meta, "backend-ip-version"), "ipv6");
    return 0;
}

void clb_model_keep_lb(struct clb_model *model)
{
    model->lbc.as_it_is = true;
    model->lbc.explicit &= 1U << CLB_LB_ADDRESS_TYPE;
    lbc_tags_fini(&model->want.lb.tags);
}
