/* NLB's part of a pass that releases. */
#include "controller.h"

#include "read.h"
#include "util/cleanup.h"

/* Whether there may be a security group for source ranges. */
static bool release_needs_security_group(const struct lbc_pass *pass)
{
    const struct nlb_state *have = nlb_actual(pass);

    return lbc_pass_is_marked(pass) ||
           (!lbc_entry_is_reused(pass->entry) &&
            (pass->service->source_range_count > 0 || have->lb.security_groups.len > 0));
}

int nlb_release_read(struct lbc_pass *pass, struct ccm_error *err)
{
    struct nlb_model *model = nlb_desired(pass);
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_REMOVE);
    struct nlb_state *have = nlb_actual(pass);
    const struct nlb_need need = {
        .want = &model->want,
        .listeners = model->lbc.reused && have->lb.lbc.id != NULL,
        .scan = model->lbc.reused,
        .security_group = release_needs_security_group(pass),
        .before = (const struct nlb_state *)pass->entry->aside,
        .doubtful = lbc_pass_may_lack_parts(pass),
        .ends = true,
    };

    if (!pass->entry->releasing && lbc_pass_was_read_early(pass)) {
        have->lbc.groups_known = false;
    }
    if (lbc_entry_is_reused(pass->entry) && nlb_model_chosen(model, pass->service) < 0) {
        return ccm_error_nomem(err);
    }
    const int r = nlb_read_parts(&call, pass->service, &need, have, err);

    if (r == 0) {
        pass->entry->audit.read_ms = pass->lbc->host->now_ms(pass->lbc->host);
    }
    return r;
}
