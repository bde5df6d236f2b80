/* Plans as text: names of steps, and what of a line is the product's own. */
#include "plan.h"
#include "util/text.h"

static const struct lbc_step_row rows[] = {
    [NLB_STEP_PROTECT] = { .name = "set protection" },
    [NLB_STEP_ADDRESS_TYPE] = { .name = "change address type" },
    [NLB_STEP_ZONES] = { .name = "change zones" },
    [NLB_STEP_IPV6] = { .name = "change IPv6 address type", .value = LBC_SETS(NLB_LB_IPV6_TYPE) },
    [NLB_STEP_ATTRIBUTE] = { .name = "update load balancer" },
    [NLB_STEP_DETACH] = { .name = "detach bandwidth package" },
    [NLB_STEP_ATTACH] = { .name = "attach bandwidth package", .value = LBC_SETS(NLB_LB_PACKAGE) },
    [NLB_STEP_CREATE_SECURITY_GROUP] = { .name = "create security group" },
    [NLB_STEP_ADD_RULES] = { .name = "add security group rules" },
    [NLB_STEP_MODIFY_RULE] = { .name = "change security group rule" },
    [NLB_STEP_REMOVE_RULES] = { .name = "remove security group rules" },
    [NLB_STEP_RENAME_SECURITY_GROUP] = { .name = "rename security group" },
    [NLB_STEP_JOIN] = { .name = "join security groups" },
    [NLB_STEP_LEAVE] = { .name = "leave security groups" },
    [LBC_STEP_UPDATE] = { .name = "update servers" },
    [LBC_STEP_RESTORE_LISTENER] = { .name = "update listener" },
    [NLB_STEP_ADD_CERTS] = { .name = "add certificates" },
    [NLB_STEP_REMOVE_CERTS] = { .name = "remove certificates" },
    [NLB_STEP_UNTAG_SECURITY_GROUP] = { .name = "untag security group" },
    [NLB_STEP_UNTAG_GROUP] = { .name = "untag server group" },
    [NLB_STEP_DELETE_SECURITY_GROUP] = { .name = "delete security group" },
};

/* --- the parts of a line --- */

static const char *step_get_id(const struct nlb_step *step)
{
    const struct lbc_step *lbc = &step->lbc;

    if (step->security_group.id != NULL) {
        return step->security_group.id;
    }
    if (lbc->listener != NULL) {
        return lbc->listener->id;
    }
    return lbc->group == NULL || lbc->type == LBC_STEP_CREATE_LISTENER ? NULL : lbc->group->id;
}

static void print_about(const struct lbc_step *step, const struct lbc_plan_input *in,
                        struct ccm_buf *text)
{
    const char *id = step_get_id((const struct nlb_step *)step);

    (void)in;
    if (step->want != NULL && step->want->name != NULL) {
        ccm_buf_addf(text, " %s%s", step->type == LBC_STEP_CREATE_LISTENER ? "-> " : "",
                     step->want->name);
    }
    if (id != NULL) {
        ccm_buf_addf(text, " (%s)", id);
    }
}

static void print_zones(const struct nlb_lb *lb, struct ccm_buf *text)
{
    for (size_t i = 0; i < lb->zone_count; i++) {
        const struct nlb_zone *zone = &lb->zones[i];

        ccm_buf_addf(text, " %s:%s", zone->zone_id,
                     zone->vswitch_id == NULL ? "" : zone->vswitch_id);
        if (zone->address != NULL || zone->eip != NULL) {
            ccm_buf_addf(text, ":%s", zone->address == NULL ? "" : zone->address);
        }
        if (zone->eip != NULL) {
            ccm_buf_addf(text, ":%s", zone->eip);
        }
    }
}

static void print_rules(const struct nlb_security_group *security_group, struct ccm_buf *text)
{
    for (size_t i = 0; i < security_group->rule_count; i++) {
        const struct nlb_rule *rule = &security_group->rules[i];

        ccm_buf_addf(text, " %s %s", rule->drop ? "drop" : "accept",
                     rule->cidr == NULL ? "?" : rule->cidr);
    }
}

static void print_details(const struct lbc_step *base, const struct lbc_plan_input *in,
                          struct ccm_buf *text)
{
    const struct nlb_step *step = (const struct nlb_step *)base;

    (void)in;
    if (step->security_group.name != NULL) {
        ccm_buf_addf(text, " %s", step->security_group.name);
    }
    if (step->with_security_group) {
        ccm_buf_adds(text, " (for source ranges)");
    }
    print_zones(&step->lb, text);
    print_rules(&step->security_group, text);
}

static void step_fini(struct lbc_step *base)
{
    struct nlb_step *step = (struct nlb_step *)base;

    nlb_lb_fini(&step->lb);
    nlb_security_group_fini(&step->security_group);
}

const struct lbc_step_table nlb_steps = {
    .size = sizeof(struct nlb_step),
    .state = &nlb_state_type,
    .fini = step_fini,
    .rows = rows,
    .print_about = print_about,
    .print_details = print_details,
};
