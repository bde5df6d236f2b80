/* What a person should know about a Service that is not a failure: as events, once per change. */
#include "controller.h"

#include "lbc/model/annotation.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

/* What the cloud documents for names of groups and descriptions of backends, in bytes. */
#define NAME_MAX_DOCUMENTED 80

/* Of a load balancer of the Service's own the annotations tell. */
static void pass_emit_charge(struct lbc_pass *pass, const struct clb_model *model)
{
    const bool traffic =
        model->lbc.reused && lbc_model_is_explicit(&model->lbc, CLB_LB_TRAFFIC_CHARGE) &&
        !ccm_text_equal(clb_actual(pass)->lb.lbc.texts[CLB_LB_ADDRESS_TYPE], "internet");

    lbc_pass_advise(pass, true, "charge-type", "NoEffect",
                    traffic ? "annotation charge-type has no effect on an intranet load balancer"
                            : "");
}

static void pass_emit_limits(struct lbc_pass *pass, const struct clb_model *model)
{
    const struct lbc_tags *tags = &clb_actual(pass)->lb.lbc.tags;
    const char *key = model->lbc.reused ? LBC_TAG_REUSE : LBC_TAG_OWNER;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf names = { .max = 900 };
    char full[160] = "";

    for (size_t i = 0; i < model->want.lbc.group_count; i++) {
        const char *name = lbc_group_key(model->want.lbc.groups[i]);

        if (strlen(name) > NAME_MAX_DOCUMENTED) {
            ccm_buf_addf(&names, "%s%s", names.len == 0 ? "" : ", ", name);
        }
    }
    if (names.len > 0) {
        ccm_buf_addf(&names,
                     ": longer than the documented %d characters of a group's name; should "
                     "the cloud cut it, then backends are not recognised any more",
                     NAME_MAX_DOCUMENTED);
    }
    lbc_pass_advise(pass, true, "name-length", "NameTooLong", ccm_buf_str(&names));
    if (tags->len >= LBC_TAGS_MAX && lbc_tags_get(tags, key) == NULL) {
        ccm_text_printf(full, sizeof(full),
                        "the load balancer has %zu tags already, %s is left out", tags->len, key);
    }
    lbc_pass_emit_standing(pass, "tags", "TooManyTags", full); /* it is the cloud that changed */
}

/* It counts for the quota of lists, and its name says whose it is. */
static void pass_emit_acl(struct lbc_pass *pass)
{
    const struct clb_acl *acl = &clb_actual(pass)->acl;
    char text[200] = "";

    if (acl->bound) {
        ccm_text_printf(
            text, sizeof(text),
            "access list [%s] is not needed any more, but the cloud keeps it bound to a "
            "listener: it is deleted with the Service",
            acl->id);
    }
    lbc_pass_emit_standing(pass, "acl", "AccessListKept", text);
}

void clb_emit_events(struct lbc_pass *pass)
{
    const struct clb_model *model = clb_desired(pass);

    pass_emit_charge(pass, model);
    pass_emit_limits(pass, model);
    pass_emit_acl(pass);
}
