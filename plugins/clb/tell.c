#include "tell.h"

#include "lbc/model/annotation.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

/* What the cloud documents for names of groups and descriptions of backends, in bytes. */
#define NAME_MAX_DOCUMENTED 80

/* Slices of one family may come first, endpoints before their nodes: nothing is kept as long as
 * nothing is there. */
static enum lbc_hold told_hold(const struct lbc_pass *pass, const struct clb_group *want)
{
    const struct clb_state *have = clb_have(pass->entry);
    const struct clb_group *found = want->id != NULL ? clb_state_group_by_id(have, want->id)
                                                     : clb_state_group_by_name(have, want->name);
    const bool may_be_early = want->hold == LBC_HOLD_FAMILY || want->hold == LBC_HOLD_NAMELESS;

    return may_be_early && (found == NULL || found->backends.len == 0) ? LBC_HOLD_NONE : want->hold;
}

void clb_tell_groups(struct lbc_pass *pass, const struct clb_model *model)
{
    const char *none = "";
    enum lbc_hold hold = LBC_HOLD_NONE;

    for (size_t i = 0; i < model->want.group_count; i++) {
        if (model->want.groups[i].backends.len == 0) {
            none = "There are no available nodes for LoadBalancer";
        }
        hold = hold == LBC_HOLD_NONE ? told_hold(pass, &model->want.groups[i]) : hold;
    }
    lbc_pass_tell_groups(pass, none, hold);
}

static bool is_told(const struct clb_model *model, enum clb_lb_field_id id)
{
    return (model->told >> id & 1U) != 0;
}

static void tell_charge(struct lbc_pass *pass, const struct clb_model *model)
{
    const bool traffic = is_told(model, CLB_LB_TRAFFIC_CHARGE) &&
                         !ccm_text_equal(clb_have(pass->entry)->lb.address_type, "internet");

    lbc_pass_advise(pass, true, "charge-type", "NoEffect",
                    traffic ? "annotation charge-type has no effect on an intranet load balancer"
                            : "");
}

static void tell_limits(struct lbc_pass *pass, const struct clb_model *model)
{
    const struct lbc_tags *tags = &clb_have(pass->entry)->lb.tags;
    const char *key = model->reused ? CLB_TAG_REUSE : CLB_TAG_OWNER;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf names = { .max = 900 };
    char full[160] = "";

    for (size_t i = 0; i < model->want.group_count; i++) {
        const char *name = clb_group_key(&model->want.groups[i]);

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
        (void)snprintf(full, sizeof(full), "the load balancer has %zu tags already, %s is left out",
                       tags->len, key); /* fits */
    }
    lbc_pass_say(pass, true, "tags", "TooManyTags", full); /* it is the cloud that changed */
}

/* It counts for the quota of lists, and its name says whose it is. */
static void tell_acl(struct lbc_pass *pass)
{
    const struct clb_acl *acl = &clb_have(pass->entry)->acl;
    char text[200] = "";

    if (acl->bound) {
        (void)snprintf(text, sizeof(text),
                       "access list [%s] is not needed any more, but the cloud keeps it bound to a "
                       "listener: it is deleted with the Service",
                       acl->id); /* ids are short */
    }
    lbc_pass_say(pass, true, "acl", "AccessListKept", text);
}

void clb_tell_model(struct lbc_pass *pass, const struct clb_model *model)
{
    lbc_pass_advise_preserve(pass, model->preserve && !model->reused);
    tell_charge(pass, model);
    tell_limits(pass, model);
    tell_acl(pass);
}
