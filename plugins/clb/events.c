#include "events.h"

#include "lbc/model/annotation.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

/* What the cloud documents for names of groups and descriptions of backends, in bytes. */
#define NAME_MAX_DOCUMENTED 80

/* Slices of one family may come first, endpoints before their nodes: nothing is kept as long as
 * nothing is there. */
static enum lbc_frozen_by group_frozen_by(const struct lbc_pass *pass, const struct lbc_group *want)
{
    const struct clb_state *have = clb_actual(pass->entry);
    const struct lbc_group *found = lbc_state_group_for(&have->lbc, want);
    const bool may_be_early =
        want->frozen_by == LBC_FROZEN_BY_FAMILY || want->frozen_by == LBC_FROZEN_BY_NAMELESS;

    return may_be_early && (found == NULL || found->backends.len == 0) ? LBC_FROZEN_BY_NONE
                                                                       : want->frozen_by;
}

void clb_emit_group_events(struct lbc_pass *pass, const struct clb_model *model)
{
    const char *none = "";
    enum lbc_frozen_by frozen_by = LBC_FROZEN_BY_NONE;

    for (size_t i = 0; i < model->want.lbc.group_count; i++) {
        if (model->want.lbc.groups[i]->backends.len == 0) {
            none = "There are no available nodes for LoadBalancer";
        }
        frozen_by = frozen_by == LBC_FROZEN_BY_NONE
                        ? group_frozen_by(pass, model->want.lbc.groups[i])
                        : frozen_by;
    }
    lbc_pass_emit_group_events(pass, none, frozen_by);
}

static bool model_is_explicit(const struct clb_model *model, enum clb_lb_field id)
{
    return (model->lbc.explicit >> id & 1U) != 0;
}

static void pass_emit_charge(struct lbc_pass *pass, const struct clb_model *model)
{
    const bool traffic = model_is_explicit(model, CLB_LB_TRAFFIC_CHARGE) &&
                         !ccm_text_equal(clb_actual(pass->entry)->lb.address_type, "internet");

    lbc_pass_advise(pass, true, "charge-type", "NoEffect",
                    traffic ? "annotation charge-type has no effect on an intranet load balancer"
                            : "");
}

static void pass_emit_limits(struct lbc_pass *pass, const struct clb_model *model)
{
    const struct lbc_tags *tags = &clb_actual(pass->entry)->lb.tags;
    const char *key = model->lbc.reused ? CLB_TAG_REUSE : CLB_TAG_OWNER;
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
    if (tags->len >= CLB_TAGS_MAX && lbc_tags_get(tags, key) == NULL) {
        ccm_text_printf(full, sizeof(full),
                        "the load balancer has %zu tags already, %s is left out", tags->len, key);
    }
    lbc_pass_emit_event(pass, true, "tags", "TooManyTags", full); /* it is the cloud that changed */
}

/* It counts for the quota of lists, and its name says whose it is. */
static void pass_emit_acl(struct lbc_pass *pass)
{
    const struct clb_acl *acl = &clb_actual(pass->entry)->acl;
    char text[200] = "";

    if (acl->bound) {
        ccm_text_printf(
            text, sizeof(text),
            "access list [%s] is not needed any more, but the cloud keeps it bound to a "
            "listener: it is deleted with the Service",
            acl->id);
    }
    lbc_pass_emit_event(pass, true, "acl", "AccessListKept", text);
}

void clb_emit_model_events(struct lbc_pass *pass, const struct clb_model *model)
{
    lbc_pass_advise_preserve(pass, model->lbc.preserve && !model->lbc.reused);
    pass_emit_charge(pass, model);
    pass_emit_limits(pass, model);
    pass_emit_acl(pass);
}
