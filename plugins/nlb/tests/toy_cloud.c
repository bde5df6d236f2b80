#include "toy.h"

#include "nlb/names.h"
#include "nlb/nlb.h"
#include "nlb/rules.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

static void must(int r)
{
    assert_int_equal(r, 0);
}

/* The cloud says no. That is a mistake of the plan, unless an earlier step failed. */
static bool refuse(const struct toy *toy, const struct nlb_step *step, const char *why)
{
    if (toy->failures == 0) {
        fail_msg("seed %llu: %s %s: %s", (unsigned long long)toy->seed,
                 lbc_step_name(&nlb_steps, step->lbc.type),
                 step->lbc.group != NULL      ? step->lbc.group->id
                 : step->lbc.listener != NULL ? step->lbc.listener->id
                                              : "",
                 why);
    }
    return false;
}

static void never(const struct toy *toy, bool ok, const char *what)
{
    if (!ok) {
        fail_msg("seed %llu: %s", (unsigned long long)toy->seed, what);
    }
}

static bool is_ours(const struct toy *toy, const char *text, bool listener)
{
    enum lbc_owner owner = LBC_OWNER_NONE;

    assert_int_equal(nlb_name_parse(text, listener, &toy->service->meta, "c1", &owner), 0);
    return owner == LBC_OWNER_OURS;
}

static const char *description_of(const struct nlb_group *group, const struct lbc_backend *one)
{
    return one->description == NULL ? group->lbc.name : one->description;
}

static char *new_id(struct toy *toy, const char *kind)
{
    char *id = ccm_text_format("%s-%u", kind, ++toy->next_id);

    assert_non_null(id);
    return id;
}

/* --- the load balancer --- */

static bool has_guard(const struct toy *toy)
{
    const struct nlb_state *cloud = &toy->cloud;

    return cloud->security_group.id != NULL &&
           lbc_texts_has(&cloud->lb.security_groups, cloud->security_group.id);
}

static bool create_lb(struct toy *toy, const struct nlb_step *step)
{
    struct nlb_lb *lb = &toy->cloud.lb;

    if (lb->lbc.id != NULL) {
        return refuse(toy, step, "there is one");
    }
    must(nlb_lb_copy(lb, &step->lb));
    lbc_texts_fini(&lb->security_groups);
    lbc_tags_fini(&lb->lbc.tags);
    must(lbc_tags_copy(&lb->lbc.tags, &step->lbc.tags));
    must(nlb_lb_set(lb, NLB_LB_IPV6_TYPE, "Intranet"));
    must(nlb_lb_set(lb, NLB_LB_CROSS_ZONE, "true"));
    free(lb->lbc.id);
    lb->lbc.id = new_id(toy, "nlb");
    return true;
}

static bool set_zones(struct toy *toy, const struct nlb_step *step)
{
    nlb_lb_clear_zones(&toy->cloud.lb);
    for (size_t i = 0; i < step->lb.zone_count; i++) {
        const struct nlb_zone *zone = &step->lb.zones[i];

        must(nlb_lb_put_zone(&toy->cloud.lb, zone->zone_id, zone->vswitch_id, zone->address,
                             zone->eip));
    }
    return true;
}

static bool change_type(struct toy *toy, const struct nlb_step *step)
{
    struct nlb_lb *lb = &toy->cloud.lb;

    if (lb->lbc.texts[NLB_LB_ADDRESS_TYPE] != NULL &&
        ccm_text_equal_case(lb->lbc.texts[NLB_LB_ADDRESS_TYPE], step->lbc.value)) {
        return refuse(toy, step, "it is of that type");
    }
    must(nlb_lb_set(lb, NLB_LB_ADDRESS_TYPE, step->lbc.value));
    for (size_t i = 0; i < step->lb.zone_count; i++) {
        const struct nlb_zone *zone = &step->lb.zones[i];

        must(nlb_lb_put_zone(lb, zone->zone_id, zone->vswitch_id, NULL, zone->eip));
    }
    return true;
}

static bool change_package(struct toy *toy, const struct nlb_step *step)
{
    struct nlb_lb *lb = &toy->cloud.lb;
    const bool attach = step->lbc.type == NLB_STEP_ATTACH;

    if (attach != ccm_text_empty(lb->lbc.texts[NLB_LB_PACKAGE])) {
        return refuse(toy, step, "wrong package");
    }
    must(nlb_lb_set(lb, NLB_LB_PACKAGE, attach ? step->lbc.value : ""));
    return true;
}

static bool change_lb(struct toy *toy, const struct nlb_step *step)
{
    struct nlb_lb *lb = &toy->cloud.lb;

    for (size_t i = 0; i < step->lbc.tags.len; i++) {
        if (step->lbc.type == LBC_STEP_TAG) {
            must(lbc_tags_put(&lb->lbc.tags, step->lbc.tags.items[i].key,
                              step->lbc.tags.items[i].value));
        } else {
            lbc_tags_remove(&lb->lbc.tags, step->lbc.tags.items[i].key);
        }
    }
    for (size_t i = 0; i < NLB_LB_FIELD_COUNT; i++) {
        if (step->lb.lbc.texts[i] != NULL) {
            must(nlb_lb_set(lb, (enum nlb_lb_field)i, step->lb.lbc.texts[i]));
        }
    }
    if (step->lbc.type == NLB_STEP_IPV6) {
        must(nlb_lb_set(lb, NLB_LB_IPV6_TYPE, step->lbc.value));
    }
    return true;
}

static bool join(struct toy *toy, const struct nlb_step *step)
{
    struct lbc_texts *joined = &toy->cloud.lb.security_groups;
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts ids = { 0 };

    must(lbc_texts_copy(&ids, &step->lbc.texts));
    if (step->with_security_group) {
        CCM_CLEANUP(nlb_rule_diff_fini) struct nlb_rule_diff diff = { .add = { .id = NULL } };

        never(toy, toy->cloud.security_group.id != NULL, "joined before it is made");
        must(nlb_rules_diff(&toy->model.want.security_group, &toy->cloud.security_group, &diff));
        never(toy, diff.add.rule_count == 0 && diff.modify.rule_count == 0,
              "joined before its rules are complete");
        must(lbc_texts_put(&ids, toy->cloud.security_group.id));
    }
    if (joined->len + ids.len > 4) {
        return refuse(toy, step, "more than four");
    }
    for (size_t i = 0; i < ids.len; i++) {
        if (lbc_texts_has(joined, ids.items[i])) {
            return refuse(toy, step, "it is joined");
        }
    }
    for (size_t i = 0; i < ids.len; i++) {
        must(lbc_texts_put(joined, ids.items[i]));
    }
    return true;
}

static bool leave(struct toy *toy, const struct nlb_step *step)
{
    struct lbc_texts *joined = &toy->cloud.lb.security_groups;

    for (size_t i = 0; i < step->lbc.texts.len; i++) {
        if (!lbc_texts_has(joined, step->lbc.texts.items[i])) {
            return refuse(toy, step, "it is not joined");
        }
        lbc_texts_remove(joined, step->lbc.texts.items[i]);
    }
    if (step->with_security_group) {
        never(toy, !toy->model.want.security_group.wanted, "left while it is wanted");
        lbc_texts_remove(joined, toy->cloud.security_group.id);
    }
    return true;
}

/* --- the security group --- */

static bool create_guard(struct toy *toy, const struct nlb_step *step)
{
    struct nlb_security_group *security_group = &toy->cloud.security_group;

    if (security_group->id != NULL) {
        return refuse(toy, step, "there is one");
    }
    security_group->id = new_id(toy, "sg");
    must(lbc_text_set(&security_group->name, step->security_group.name));
    must(lbc_text_set(&security_group->description, step->security_group.description));
    return true;
}

static bool rename_guard(struct toy *toy, const struct nlb_step *step)
{
    must(lbc_text_set(&toy->cloud.security_group.name, step->security_group.name));
    must(lbc_text_set(&toy->cloud.security_group.description, step->security_group.description));
    return toy->cloud.security_group.id != NULL;
}

static size_t rule_at(const struct nlb_security_group *security_group, const char *id)
{
    for (size_t i = 0; i < security_group->rule_count; i++) {
        if (ccm_text_equal(security_group->rules[i].id, id)) {
            return i;
        }
    }
    return SIZE_MAX;
}

static bool is_wanted_rule(const struct toy *toy, const struct nlb_rule *rule)
{
    for (size_t i = 0; i < toy->model.want.security_group.rule_count; i++) {
        if (nlb_rule_is_twin(&toy->model.want.security_group.rules[i], rule)) {
            return true;
        }
    }
    return false;
}

static bool change_rules(struct toy *toy, const struct nlb_step *step)
{
    struct nlb_security_group *security_group = &toy->cloud.security_group;

    if (security_group->id == NULL) {
        return refuse(toy, step, "no security group");
    }
    for (size_t i = 0; i < step->security_group.rule_count; i++) {
        const struct nlb_rule *rule = &step->security_group.rules[i];
        const size_t at = rule->id == NULL ? SIZE_MAX : rule_at(security_group, rule->id);

        if (step->lbc.type == NLB_STEP_ADD_RULES) {
            struct nlb_rule *fresh = nlb_security_group_new_rule(security_group);

            must(nlb_rule_copy(fresh, rule));
            fresh->id = new_id(toy, "r");
        } else if (at == SIZE_MAX) {
            return refuse(toy, step, "no such rule");
        } else if (step->lbc.type == NLB_STEP_MODIFY_RULE) {
            must(nlb_rule_copy(&security_group->rules[at], rule));
        } else {
            never(toy, !rule->drop || !is_wanted_rule(toy, rule), "opened up");
            nlb_security_group_drop_rule(security_group, at);
        }
    }
    return true;
}

static bool delete_guard(struct toy *toy, const struct nlb_step *step)
{
    if (has_guard(toy)) {
        return refuse(toy, step, "it is joined");
    }
    nlb_security_group_fini(&toy->cloud.security_group);
    toy->cloud.security_group.known = true;
    return true;
}

/* --- groups --- */

static struct nlb_group *group_of(const struct toy *toy, const struct nlb_step *step)
{
    return step->lbc.group != NULL
               ? nlb_state_group_by_id(&toy->cloud, step->lbc.group->id)
               : nlb_state_group_for(&toy->cloud, (const struct nlb_group *)step->lbc.want);
}

static bool create_group(struct toy *toy, const struct nlb_step *step)
{
    struct nlb_group *group = nlb_state_new_group(&toy->cloud);

    must(nlb_group_copy_identity(group, (const struct nlb_group *)step->lbc.want));
    must(lbc_attrs_copy(&group->lbc.attrs, &step->lbc.want->attrs));
    free(group->lbc.id);
    group->lbc.id = new_id(toy, "g");
    must(lbc_texts_put(&toy->fresh, group->lbc.id));
    return true;
}

/* No group can be changed to a hash. */
static bool keeps_hash(const struct nlb_group *group, const struct lbc_attrs *next)
{
    const struct lbc_anno *field = nlb_group_field("Scheduler");
    const char *value = lbc_attrs_get(next, field);

    return value == NULL || !ccm_text_ends(value, "ch") ||
           ccm_text_equal(value, lbc_attrs_get(&group->lbc.attrs, field));
}

static bool update_group(struct toy *toy, const struct nlb_step *step)
{
    struct nlb_group *group = group_of(toy, step);

    never(toy, keeps_hash(group, &step->lbc.attrs), "a scheduler was changed to a hash");
    never(toy, is_ours(toy, group->lbc.name, false), "somebody's group was changed");
    lbc_attrs_fini(&group->lbc.attrs);
    must(lbc_attrs_copy(&group->lbc.attrs, &step->lbc.attrs));
    return true;
}

static void change_server(struct toy *toy, const struct nlb_step *step, struct nlb_group *group,
                          const struct lbc_backend *one)
{
    struct lbc_backend next = *one;

    if (step->lbc.type == LBC_STEP_REMOVE) {
        lbc_backends_remove(&group->lbc.backends, one);
        return;
    }
    next.description =
        ccm_text_equal(step->lbc.want->name, group->lbc.name) ? NULL : step->lbc.want->name;
    next.leaving = false;
    must(lbc_backends_put(&group->lbc.backends, &next));
    (void)toy; /* nothing to count */
}

static bool change_servers(struct toy *toy, const struct nlb_step *step)
{
    struct nlb_group *group = group_of(toy, step);

    if (lbc_texts_has(&toy->fresh, group->lbc.id)) {
        return refuse(toy, step, "the group is still being made");
    }
    for (size_t i = 0; i < step->lbc.backends.len; i++) {
        const struct lbc_backend *one = &step->lbc.backends.items[i];
        const struct lbc_backend *present = lbc_backends_find(&group->lbc.backends, one);

        if ((present == NULL) != (step->lbc.type == LBC_STEP_ADD)) {
            return refuse(toy, step, "it is there, or it is not");
        }
        never(toy, present == NULL || is_ours(toy, description_of(group, present), false),
              "somebody's server was touched");
        never(toy, present == NULL || !present->leaving, "it is being taken out");
        change_server(toy, step, group, one);
    }
    return true;
}

static bool delete_group(struct toy *toy, const struct nlb_step *step)
{
    const struct nlb_group *group = group_of(toy, step);

    never(toy, is_ours(toy, group->lbc.name, false), "somebody's group was deleted");
    for (size_t i = 0; i < group->lbc.backends.len; i++) {
        never(toy, is_ours(toy, description_of(group, &group->lbc.backends.items[i]), false),
              "a group with somebody's server was deleted");
    }
    for (size_t i = 0; i < toy->cloud.lbc.listener_count; i++) {
        if (ccm_text_equal(nlb_listener_at(&toy->cloud, i)->lbc.group_id, group->lbc.id)) {
            return refuse(toy, step, "it is in use");
        }
    }
    lbc_state_drop_group(&toy->cloud.lbc, &group->lbc);
    return true;
}

/* --- listeners --- */

static struct nlb_listener *listener_of(const struct toy *toy, const struct nlb_step *step)
{
    return step->lbc.listener != NULL
               ? nlb_state_listener_by_id(&toy->cloud, step->lbc.listener->id)
               : nlb_state_listener_like(&toy->cloud, (struct nlb_listener *)step->lbc.to);
}

static bool fits(struct toy *toy, const struct nlb_step *step, const struct nlb_group *group)
{
    if (lbc_texts_has(&toy->fresh, group->lbc.id)) {
        return refuse(toy, step, "the group is still being made");
    }
    return (group->any_port == step->lbc.to->is_range &&
            group->lbc.protocol == step->lbc.protocol) ||
           refuse(toy, step, "the group does not fit");
}

static bool create_listener(struct toy *toy, const struct nlb_step *step)
{
    const struct nlb_group *group = group_of(toy, step);
    struct nlb_listener *listener = NULL;

    never(toy, !toy->model.want.security_group.wanted || has_guard(toy), "open to everybody");
    for (size_t i = 0; i < toy->cloud.lbc.listener_count; i++) {
        if (lbc_listener_clash(&nlb_listener_at(&toy->cloud, i)->lbc, step->lbc.to)) {
            return refuse(toy, step, "the port is taken");
        }
    }
    if (!fits(toy, step, group)) {
        return false;
    }
    listener = nlb_state_new_listener(&toy->cloud);
    must(nlb_listener_copy(listener, (struct nlb_listener *)step->lbc.to));
    listener->certs_known = step->lbc.protocol == LBC_TCPSSL;
    free(listener->lbc.id);
    listener->lbc.id = new_id(toy, "l");
    must(lbc_text_set(&listener->lbc.group_id, group->lbc.id));
    return true;
}

/* Whether the group has all servers that it is to have. */
static bool is_full(const struct toy *toy, const struct nlb_group *group)
{
    for (size_t i = 0; i < toy->model.want.lbc.group_count; i++) {
        const struct nlb_group *want = nlb_group_at(&toy->model.want, i);

        if (nlb_state_group_for(&toy->cloud, want) != group) {
            continue;
        }
        for (size_t k = 0; k < want->lbc.backends.len; k++) {
            if (!want->lbc.backends.items[k].leaving &&
                lbc_backends_find(&group->lbc.backends, &want->lbc.backends.items[k]) == NULL) {
                return false;
            }
        }
    }
    return true;
}

static bool update_listener(struct toy *toy, const struct nlb_step *step)
{
    const struct nlb_group *group = group_of(toy, step);
    struct nlb_listener *listener = listener_of(toy, step);

    if (!fits(toy, step, group)) {
        return false;
    }
    never(toy,
          !toy->model.lbc.reused || is_ours(toy, listener->lbc.description, true) ||
              !nlb_name_is_key(listener->lbc.description),
          "another Service's listener was changed");
    never(toy, ccm_text_equal(listener->lbc.group_id, group->lbc.id) || is_full(toy, group),
          "sent to a group that is still being filled");
    lbc_attrs_fini(&listener->lbc.attrs);
    must(lbc_attrs_copy(&listener->lbc.attrs, &step->lbc.to->attrs));
    must(lbc_text_set(&listener->lbc.description, step->lbc.to->description));
    must(lbc_text_set(&listener->lbc.group_id, group->lbc.id));
    return true;
}

static bool change_certs(struct toy *toy, const struct nlb_step *step)
{
    struct nlb_listener *listener = listener_of(toy, step);
    const bool add = step->lbc.type == NLB_STEP_ADD_CERTS;

    for (size_t i = 0; i < step->lbc.texts.len; i++) {
        if (lbc_texts_has(&listener->certs, step->lbc.texts.items[i]) == add) {
            return refuse(toy, step, "it is there, or it is not");
        }
        if (add) {
            must(lbc_texts_put(&listener->certs, step->lbc.texts.items[i]));
        } else {
            lbc_texts_remove(&listener->certs, step->lbc.texts.items[i]);
        }
    }
    return (step->lbc.texts.len <= NLB_CERTS_MAX && listener->certs.len <= 25) ||
           refuse(toy, step, "too many certificates");
}

static bool delete_listener(struct toy *toy, const struct nlb_step *step)
{
    const struct nlb_listener *listener = listener_of(toy, step);

    never(toy, !toy->model.lbc.reused || is_ours(toy, listener->lbc.description, true),
          "somebody's listener was deleted");
    must(lbc_texts_put(&toy->dying, step->lbc.listener->id)); /* gone when the stage is over */
    return true;
}

/* --- a run, as apply.c has it --- */

static bool execute(struct toy *toy, const struct nlb_step *step)
{
    static bool (*const actions[])(struct toy * toy, const struct nlb_step *step) = {
        [LBC_STEP_CREATE_LB] = create_lb,
        [LBC_STEP_TAG] = change_lb,
        [LBC_STEP_UNTAG] = change_lb,
        [NLB_STEP_PROTECT] = change_lb,
        [NLB_STEP_ADDRESS_TYPE] = change_type,
        [NLB_STEP_ZONES] = set_zones,
        [NLB_STEP_IPV6] = change_lb,
        [NLB_STEP_ATTRIBUTE] = change_lb,
        [NLB_STEP_DETACH] = change_package,
        [NLB_STEP_ATTACH] = change_package,
        [NLB_STEP_CREATE_SECURITY_GROUP] = create_guard,
        [NLB_STEP_ADD_RULES] = change_rules,
        [NLB_STEP_MODIFY_RULE] = change_rules,
        [NLB_STEP_REMOVE_RULES] = change_rules,
        [NLB_STEP_RENAME_SECURITY_GROUP] = rename_guard,
        [NLB_STEP_JOIN] = join,
        [NLB_STEP_LEAVE] = leave,
        [LBC_STEP_DELETE_LISTENER] = delete_listener,
        [LBC_STEP_CREATE_GROUP] = create_group,
        [LBC_STEP_UPDATE_GROUP] = update_group,
        [LBC_STEP_ADD] = change_servers,
        [LBC_STEP_REMOVE] = change_servers,
        [LBC_STEP_UPDATE] = change_servers,
        [LBC_STEP_CREATE_LISTENER] = create_listener,
        [LBC_STEP_UPDATE_LISTENER] = update_listener,
        [NLB_STEP_ADD_CERTS] = change_certs,
        [NLB_STEP_REMOVE_CERTS] = change_certs,
        [LBC_STEP_DELETE_GROUP] = delete_group,
        [NLB_STEP_DELETE_SECURITY_GROUP] = delete_guard,
    };

    assert_true(step->lbc.type < sizeof(actions) / sizeof(actions[0]));
    assert_non_null(actions[step->lbc.type]);
    return actions[step->lbc.type](toy, step);
}

/* What it needs is missing because of a failure that was told already. */
static bool is_blocked(const struct toy *toy, const struct nlb_step *step)
{
    const bool listener = step->lbc.type == LBC_STEP_UPDATE_LISTENER ||
                          step->lbc.type == NLB_STEP_ADD_CERTS ||
                          step->lbc.type == NLB_STEP_REMOVE_CERTS;
    const struct nlb_group *group = step->lbc.want == NULL ? NULL : group_of(toy, step);
    bool lacks = false;

    if ((step->lbc.last && toy->earlier > 0) || (step->lbc.needs_security && toy->insecure) ||
        (listener && listener_of(toy, step) == NULL)) {
        return true;
    }
    if (step->lbc.want == NULL || step->lbc.type == LBC_STEP_CREATE_GROUP) {
        return false;
    }
    if (group == NULL) {
        return true;
    }
    lacks = lbc_texts_has(&toy->lacking, group->lbc.id);
    if (step->lbc.type == LBC_STEP_UPDATE_LISTENER) {
        return lacks && !ccm_text_equal(listener_of(toy, step)->lbc.group_id, group->lbc.id);
    }
    return lacks && step->lbc.type == LBC_STEP_REMOVE &&
           group->lbc.backends.len <= step->lbc.backends.len;
}

/* It keeps somebody out. */
static bool type_secures(unsigned type)
{
    return type == NLB_STEP_CREATE_SECURITY_GROUP || type == NLB_STEP_ADD_RULES ||
           type == NLB_STEP_MODIFY_RULE || type == NLB_STEP_REMOVE_RULES || type == NLB_STEP_JOIN;
}

static void count_failure(struct toy *toy, const struct nlb_step *step)
{
    const struct nlb_group *group = step->lbc.type == LBC_STEP_ADD ? group_of(toy, step) : NULL;

    toy->failures++;
    toy->insecure = toy->insecure || type_secures(step->lbc.type);
    if (group != NULL) {
        must(lbc_texts_put(&toy->lacking, group->lbc.id));
    }
}

static void end_stage(struct toy *toy)
{
    for (size_t i = 0; i < toy->dying.len; i++) {
        lbc_state_drop_listener(&toy->cloud.lbc,
                                lbc_state_listener_by_id(&toy->cloud.lbc, toy->dying.items[i]));
    }
    lbc_texts_fini(&toy->dying);
    lbc_texts_fini(&toy->fresh);
    toy->earlier = toy->failures;
}

bool toy_run(struct toy *toy, const struct lbc_plan *plan)
{
    toy->failures = 0;
    toy->earlier = 0;
    toy->insecure = false;
    lbc_texts_fini(&toy->lacking);
    for (size_t i = 0; i < plan->len; i++) {
        const struct nlb_step *step = nlb_step_at(plan, i);

        if (i > 0 && step->lbc.stage != plan->steps[i - 1]->stage) {
            end_stage(toy);
        }
        if (is_blocked(toy, step)) {
            continue;
        }
        if (i == toy->fail_at) {
            count_failure(toy, step);
            if (toy->executed) {
                (void)execute(toy, step); /* nobody hears of it */
            }
        } else if (!execute(toy, step)) {
            count_failure(toy, step);
        }
        if (step->lbc.type == LBC_STEP_CREATE_LB && toy->failures > 0) {
            break;
        }
    }
    end_stage(toy);
    return toy->failures == 0;
}
