#include "api.h"

#include "alicloud/params.h"
#include "annotations.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <errno.h>

static void params_add_list(struct ali_params *params, const char *name, const char *list)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts texts = { 0 };

    if (lbc_texts_split(&texts, list) < 0) {
        params->error = -ENOMEM;
        return;
    }
    for (size_t i = 0; i < texts.len; i++) {
        ali_param_item(params, name, i + 1, texts.items[i]);
    }
}

static void params_add_attr(struct ali_params *params, const struct lbc_anno *row, bool create,
                            const char *value)
{
    const char *name = create && row->create_name != NULL ? row->create_name : row->field;
    char full[96];

    ccm_text_printf(full, sizeof(full), "%s%s",
                    (row->cloud & NLB_ATTR_HEALTH) != 0 ? "HealthCheckConfig." : "", name);
    if ((row->cloud & LBC_ATTR_LIST) != 0) {
        params_add_list(params, full, value);
    } else {
        ali_param_opt(params, full, value);
    }
}

void nlb_api_add_attrs(struct ali_params *params, const struct lbc_attrs *attrs,
                       enum lbc_protocol protocol, bool create)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf ppv2 = { .max = 1024 };
    struct ccm_jsonw w = { .buf = &ppv2 };
    bool any = false;

    ccm_jsonw_open(&w, NULL, '{');
    for (size_t i = 0; i < attrs->len; i++) {
        const struct lbc_attr *attr = &attrs->items[i];

        if (attr->kept || !lbc_attr_applies(attr->row, protocol) ||
            (!create && (attr->row->cloud & LBC_ATTR_CREATE) != 0)) {
            continue;
        }
        if ((attr->row->cloud & NLB_ATTR_PPV2) != 0) {
            ccm_jsonw_bool(&w, attr->row->field, ccm_text_equal(attr->value, "true"));
            any = true;
        } else {
            params_add_attr(params, attr->row, create, attr->value);
        }
    }
    ccm_jsonw_close(&w, '}');
    if (ccm_buf_error(&ppv2) < 0) {
        params->error = ccm_buf_error(&ppv2);
    } else if (any) {
        ali_param_add(params, "ProxyProtocolV2Config", ccm_buf_str(&ppv2));
    }
}
