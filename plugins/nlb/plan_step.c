/* Plans: what all parts build on: steps, and whose something is. */
#include "names.h"
#include "plan_parts.h"
#include "util/text.h"

/* --- steps --- */

struct nlb_step *nlb_plan_new_step(struct nlb_work *work, unsigned type, unsigned stage)
{
    return (struct nlb_step *)lbc_work_new_step(&work->lbc, type, stage);
}

struct nlb_step *nlb_plan_lb_step(struct nlb_work *work, unsigned type)
{
    return (struct nlb_step *)lbc_work_lb_step(&work->lbc, type);
}

/* --- the product --- */

static const struct lbc_anno *plan_find_field(const char *name, enum lbc_protocol protocol)
{
    const struct lbc_anno *field = nlb_listener_field(name);

    return field != NULL && lbc_attr_applies(field, protocol) ? field : NULL;
}

void nlb_taken_port(const struct lbc_listener *listener, char ret[static LBC_TAKEN_PORT])
{
    const char *protocol = lbc_protocol_lower(listener->protocol);

    if (listener->is_range) {
        ccm_text_printf(ret, LBC_TAKEN_PORT, "%u_%u-%s", listener->port, listener->last_port,
                        protocol);
    } else {
        ccm_text_printf(ret, LBC_TAKEN_PORT, "%u-%s", listener->port, protocol);
    }
}

/* None of another load balancer. */
static bool plan_may_restore(const struct lbc_work *work, const struct lbc_group *group)
{
    const struct lbc_texts *users =
        group == NULL ? NULL : &((const struct nlb_group *)group)->users;

    return users != NULL &&
           (users->len == 0 || lbc_texts_has(users, ((const struct nlb_work *)work)->lb->id));
}

const struct lbc_plan_ops nlb_plan_ops = {
    .steps = &nlb_steps,
    .parse_owner = nlb_name_parse,
    .is_key = nlb_name_is_key,
    .find_field = plan_find_field,
    .taken_port = nlb_taken_port,
    .update_group = nlb_plan_update_group,
    .may_restore = plan_may_restore,
    .sweeps = true,
};
