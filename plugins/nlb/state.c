#include "state.h"

#include "util/array.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- ends --- */

static void zone_fini(struct nlb_zone *zone)
{
    free(zone->zone_id);
    free(zone->vswitch_id);
    free(zone->address);
    free(zone->eip);
}

void nlb_lb_clear_zones(struct nlb_lb *lb)
{
    for (size_t i = 0; i < lb->zone_count; i++) {
        zone_fini(&lb->zones[i]);
    }
    free(lb->zones);
    lb->zones = NULL;
    lb->zone_count = 0;
}

static void lb_fini_own(struct lbc_lb *base)
{
    struct nlb_lb *lb = (struct nlb_lb *)base;

    free(lb->dns);
    free(lb->status);
    nlb_lb_clear_zones(lb);
    lbc_texts_fini(&lb->security_groups);
}

static void listener_fini_own(struct lbc_listener *listener)
{
    lbc_texts_fini(&((struct nlb_listener *)listener)->certs);
}

static void group_fini_own(struct lbc_group *base)
{
    struct nlb_group *group = (struct nlb_group *)base;

    free(group->type);
    free(group->family);
    free(group->vpc_id);
    lbc_texts_fini(&group->users);
    lbc_tags_fini(&group->tags);
}

static bool group_word_is_equal(const char *text, const char *fallback, const char *other)
{
    return ccm_text_equal_case(text == NULL ? fallback : text, other == NULL ? fallback : other);
}

/* The scheduler, if it is one of those that no group can be changed to; else NULL. */
static const char *group_fixed_scheduler(const struct nlb_group *group)
{
    const char *name = lbc_attrs_get(&group->lbc.attrs, nlb_group_field("Scheduler"));

    return name != NULL && (ccm_text_equal_case(name, "sch") || ccm_text_equal_case(name, "tch") ||
                            ccm_text_equal_case(name, "qch"))
               ? name
               : NULL;
}

static bool group_serves_hash(const struct nlb_group *group, const struct nlb_group *want)
{
    const char *wanted = group_fixed_scheduler(want);
    const char *present = group_fixed_scheduler(group);

    return wanted == NULL || (present != NULL && ccm_text_equal_case(wanted, present));
}

/* Nothing of this can be changed in place. */
static bool group_serves(const struct lbc_group *have, const struct lbc_group *desired)
{
    const struct nlb_group *group = (const struct nlb_group *)have;
    const struct nlb_group *want = (const struct nlb_group *)desired;

    return have->protocol == desired->protocol && group->any_port == want->any_port &&
           group_word_is_equal(group->type, "Instance", want->type) &&
           group_word_is_equal(group->family, "ipv4", want->family) &&
           group_serves_hash(group, want);
}

static void rule_fini(struct nlb_rule *rule)
{
    free(rule->id);
    free(rule->cidr);
    free(rule->protocol);
    free(rule->port_range);
    free(rule->description);
}

void nlb_security_group_fini(struct nlb_security_group *security_group)
{
    for (size_t i = 0; i < security_group->rule_count; i++) {
        rule_fini(&security_group->rules[i]);
    }
    free(security_group->rules);
    free(security_group->id);
    free(security_group->name);
    free(security_group->description);
    memset(security_group, 0, sizeof(*security_group));
}

/* --- the security group --- */

struct nlb_rule *nlb_security_group_new_rule(struct nlb_security_group *security_group)
{
    if (ccm_array_grow(&security_group->rules, &security_group->rule_cap,
                       security_group->rule_count + 1, sizeof(*security_group->rules)) < 0) {
        return NULL;
    }
    struct nlb_rule *rule = &security_group->rules[security_group->rule_count++];

    memset(rule, 0, sizeof(*rule));
    return rule;
}

void nlb_security_group_drop_rule(struct nlb_security_group *security_group, size_t at)
{
    rule_fini(&security_group->rules[at]);
    security_group->rule_count--;
    memmove(&security_group->rules[at], &security_group->rules[at + 1],
            (security_group->rule_count - at) * sizeof(*security_group->rules));
}

/* --- the load balancer --- */

static int zone_set(struct nlb_zone *zone, const char *zone_id, const char *vswitch_id,
                    const char *address, const char *eip)
{
    return lbc_text_set(&zone->zone_id, zone_id) < 0 ||
                   lbc_text_set(&zone->vswitch_id, vswitch_id) < 0 ||
                   lbc_text_set(&zone->address, address) < 0 || lbc_text_set(&zone->eip, eip) < 0
               ? -ENOMEM
               : 0;
}

const struct nlb_zone *nlb_lb_find_zone(const struct nlb_lb *lb, const char *zone_id)
{
    for (size_t i = 0; i < lb->zone_count; i++) {
        if (ccm_text_equal(lb->zones[i].zone_id, zone_id)) {
            return &lb->zones[i];
        }
    }
    return NULL;
}

int nlb_lb_put_zone(struct nlb_lb *lb, const char *zone_id, const char *vswitch_id,
                    const char *address, const char *eip)
{
    struct nlb_zone fresh = { 0 };
    struct nlb_zone *zones = lb->zones;
    size_t at = 0;

    if (zone_set(&fresh, zone_id, vswitch_id, address, eip) < 0) {
        zone_fini(&fresh);
        return -ENOMEM;
    }
    while (at < lb->zone_count && strcmp(zones[at].zone_id, zone_id) < 0) {
        at++;
    }
    if (at < lb->zone_count && strcmp(zones[at].zone_id, zone_id) == 0) {
        zone_fini(&zones[at]);
        zones[at] = fresh;
        return 0;
    }
    /* Ten at most: one more at a time will do. */
    zones = realloc(zones, (lb->zone_count + 1) * sizeof(*zones));
    if (zones == NULL) {
        zone_fini(&fresh);
        return -ENOMEM;
    }
    lb->zones = zones;
    memmove(&zones[at + 1], &zones[at], (lb->zone_count - at) * sizeof(*zones));
    zones[at] = fresh;
    lb->zone_count++;
    return 0;
}

/* --- copies --- */

int nlb_lb_copy_zones(struct nlb_lb *to, const struct nlb_lb *from)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < from->zone_count; i++) {
        const struct nlb_zone *zone = &from->zones[i];

        r = nlb_lb_put_zone(to, zone->zone_id, zone->vswitch_id, zone->address, zone->eip);
    }
    return r;
}

static int lb_copy_own(struct lbc_lb *base, const struct lbc_lb *like)
{
    struct nlb_lb *to = (struct nlb_lb *)base;
    const struct nlb_lb *from = (const struct nlb_lb *)like;
    int r = lbc_text_set(&to->dns, from->dns) < 0 || lbc_text_set(&to->status, from->status) < 0
                ? -ENOMEM
                : 0;

    if (r == 0) {
        r = nlb_lb_copy_zones(to, from);
    }
    return r < 0 ? r : lbc_texts_copy(&to->security_groups, &from->security_groups);
}

int nlb_group_copy_identity(struct nlb_group *to, const struct nlb_group *from)
{
    const char *scheduler = group_fixed_scheduler(from);

    to->lbc.protocol = from->lbc.protocol;
    to->lbc.port = from->lbc.port;
    to->any_port = from->any_port;
    if (scheduler != NULL &&
        lbc_attrs_set(&to->lbc.attrs, nlb_group_field("Scheduler"), scheduler, true) < 0) {
        return -ENOMEM;
    }
    return lbc_text_set(&to->lbc.id, from->lbc.id) < 0 ||
                   lbc_text_set(&to->lbc.name, from->lbc.name) < 0 ||
                   lbc_text_set(&to->type, from->type) < 0 ||
                   lbc_text_set(&to->family, from->family) < 0 ||
                   lbc_text_set(&to->vpc_id, from->vpc_id) < 0
               ? -ENOMEM
               : 0;
}

int nlb_rule_copy(struct nlb_rule *to, const struct nlb_rule *from)
{
    to->ipv6 = from->ipv6;
    to->drop = from->drop;
    to->priority = from->priority;
    return lbc_text_set(&to->id, from->id) < 0 || lbc_text_set(&to->cidr, from->cidr) < 0 ||
                   lbc_text_set(&to->protocol, from->protocol) < 0 ||
                   lbc_text_set(&to->port_range, from->port_range) < 0 ||
                   lbc_text_set(&to->description, from->description) < 0
               ? -ENOMEM
               : 0;
}

/* --- what cannot be read --- */

static void recall_attrs(struct lbc_attrs *attrs, const struct lbc_attrs *before)
{
    for (size_t i = 0; i < attrs->len; i++) {
        const struct lbc_attr *attr = lbc_attrs_find(before, attrs->items[i].row);

        if (attr != NULL) {
            attrs->items[i].explicit = attr->explicit;
        }
    }
}

void nlb_state_recall(struct nlb_state *state, const struct nlb_state *before)
{
    if (!ccm_text_equal(state->lb.lbc.id, before->lb.lbc.id)) {
        return;
    }
    state->lb.lbc.explicit = before->lb.lbc.explicit;
    for (size_t i = 0; i < state->lbc.listener_count; i++) {
        struct nlb_listener *one = nlb_listener_at(state, i);
        const struct nlb_listener *twin = nlb_state_listener_by_id(before, one->lbc.id);

        if (twin != NULL) {
            recall_attrs(&one->lbc.attrs, &twin->lbc.attrs);
        }
    }
    for (size_t i = 0; i < state->lbc.group_count; i++) {
        struct nlb_group *one = nlb_group_at(state, i);
        const struct nlb_group *twin = nlb_state_group_by_id(before, one->lbc.id);

        if (twin != NULL) {
            recall_attrs(&one->lbc.attrs, &twin->lbc.attrs);
        }
    }
}

/* --- the type --- */

static void state_fini_own(struct lbc_state *state)
{
    nlb_security_group_fini(&((struct nlb_state *)state)->security_group);
}

LBC_STATE_CHECK(struct nlb_state);
_Static_assert(NLB_LB_FIELD_COUNT <= LBC_LB_TEXTS, "each attribute has a text");

const struct lbc_state_type nlb_state_type = {
    .size = sizeof(struct nlb_state),
    .lb_size = sizeof(struct nlb_lb),
    .group_size = sizeof(struct nlb_group),
    .listener_size = sizeof(struct nlb_listener),
    .fini = state_fini_own,
    .lb_fini = lb_fini_own,
    .lb_copy = lb_copy_own,
    .group_fini = group_fini_own,
    .listener_fini = listener_fini_own,
    .group_serves = group_serves,
    .protocol_name = lbc_protocol_name,
};
