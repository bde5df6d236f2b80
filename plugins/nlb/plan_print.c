#include "plan.h"

#include "util/text.h"

static const char *const names[] = {
    [NLB_STEP_CREATE_LB] = "create load balancer",
    [NLB_STEP_TAG] = "tag load balancer",
    [NLB_STEP_UNTAG] = "untag load balancer",
    [NLB_STEP_PROTECT] = "set protection",
    [NLB_STEP_ADDRESS_TYPE] = "change address type",
    [NLB_STEP_ZONES] = "change zones",
    [NLB_STEP_IPV6] = "change IPv6 address type",
    [NLB_STEP_ATTRIBUTE] = "update load balancer",
    [NLB_STEP_DETACH] = "detach bandwidth package",
    [NLB_STEP_ATTACH] = "attach bandwidth package",
    [NLB_STEP_CREATE_SECURITY_GROUP] = "create security group",
    [NLB_STEP_ADD_RULES] = "add security group rules",
    [NLB_STEP_MODIFY_RULE] = "change security group rule",
    [NLB_STEP_REMOVE_RULES] = "remove security group rules",
    [NLB_STEP_RENAME_SECURITY_GROUP] = "rename security group",
    [NLB_STEP_JOIN] = "join security groups",
    [NLB_STEP_LEAVE] = "leave security groups",
    [NLB_STEP_DELETE_LISTENER] = "delete listener",
    [NLB_STEP_CREATE_GROUP] = "create server group",
    [NLB_STEP_UPDATE_GROUP] = "update server group",
    [NLB_STEP_ADD] = "add servers",
    [NLB_STEP_REMOVE] = "remove servers",
    [NLB_STEP_UPDATE] = "update servers",
    [NLB_STEP_CREATE_LISTENER] = "create listener",
    [NLB_STEP_UPDATE_LISTENER] = "update listener",
    [NLB_STEP_ADD_CERTS] = "add certificates",
    [NLB_STEP_REMOVE_CERTS] = "remove certificates",
    [NLB_STEP_DELETE_LB] = "delete load balancer",
    [NLB_STEP_UNTAG_GROUP] = "untag server group",
    [NLB_STEP_DELETE_GROUP] = "delete server group",
    [NLB_STEP_DELETE_SECURITY_GROUP] = "delete security group",
};

const char *nlb_step_name(enum nlb_step_type type)
{
    return names[type];
}

bool nlb_step_secures(enum nlb_step_type type)
{
    return type == NLB_STEP_CREATE_SECURITY_GROUP || type == NLB_STEP_ADD_RULES ||
           type == NLB_STEP_MODIFY_RULE || type == NLB_STEP_REMOVE_RULES || type == NLB_STEP_JOIN;
}

static void print_port(const struct nlb_step *step, struct ccm_buf *text)
{
    if (step->port == 0) {
        return;
    }
    ccm_buf_addf(text, " %u", step->port);
    if (step->listener.range) {
        ccm_buf_addf(text, "-%u", step->listener.lbc.last_port);
    }
    ccm_buf_addf(text, "/%s", lbc_protocol_name(step->protocol));
}

static void print_backends(const struct lbc_backends *set, struct ccm_buf *text)
{
    for (size_t i = 0; i < set->len; i++) {
        const struct lbc_backend *one = &set->items[i];

        ccm_buf_addf(text, "%s%s%s%s:%u=%u", i == 0 ? " [" : " ", one->server_id,
                     one->type == LBC_BACKEND_ENI ? "/" : "",
                     one->type == LBC_BACKEND_ENI ? one->server_ip : "", one->port, one->weight);
    }
    if (set->len > 0) {
        ccm_buf_addc(text, ']');
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

static void print_lists(const struct nlb_step *step, struct ccm_buf *text)
{
    for (size_t i = 0; i < step->tags.len; i++) {
        ccm_buf_addf(text, " %s=%s", step->tags.items[i].key, step->tags.items[i].value);
    }
    for (size_t i = 0; i < step->texts.len; i++) {
        ccm_buf_addf(text, " %s", step->texts.items[i]);
    }
    if (step->with_security_group) {
        ccm_buf_adds(text, " (for source ranges)");
    }
}

static void print_step(const struct nlb_step *step, struct ccm_buf *text)
{
    ccm_buf_adds(text, names[step->type]);
    print_port(step, text);
    if (step->group.lbc.name != NULL) {
        ccm_buf_addf(text, " %s%s", step->type == NLB_STEP_CREATE_LISTENER ? "-> " : "",
                     step->group.lbc.name);
    }
    if (step->id != NULL) {
        ccm_buf_addf(text, " (%s)", step->id);
    }
    if (step->value != NULL) {
        ccm_buf_addf(text, " %s", step->value);
    }
    if (step->security_group.name != NULL) {
        ccm_buf_addf(text, " %s", step->security_group.name);
    }
    print_lists(step, text);
    print_zones(&step->lb, text);
    print_rules(&step->security_group, text);
    print_backends(&step->group.lbc.backends, text);
    if (step->change != NULL) {
        ccm_buf_addf(text, ": %s", step->change);
    }
    ccm_buf_addc(text, '\n');
}

void nlb_plan_print(const struct nlb_plan *plan, struct ccm_buf *text)
{
    for (size_t i = 0; i < plan->len; i++) {
        print_step(&plan->steps[i], text);
    }
}
