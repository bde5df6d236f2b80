/* Steps for source ranges: the security group and its rules. */
#include "compare.h"
#include "plan_parts.h"
#include "rules.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RULES_PER_CALL  100
#define RULES_PER_GROUP 200
#define GROUPS_PER_LB   4

/* --- the group --- */

/* A step on our security group. */
static struct nlb_step *security_group_step(struct lbc_work *work, unsigned type)
{
    struct nlb_step *step = nlb_plan_lb_step(work, type);

    return step == NULL || lbc_text_set(&step->security_group.id,
                                        nlb_work_have(work)->security_group.id) < 0
               ? NULL
               : step;
}

static int name_step(struct lbc_work *work, unsigned type)
{
    const struct nlb_security_group *want = &nlb_work_model(work)->want.security_group;
    struct nlb_step *step = security_group_step(work, type);

    return step == NULL || lbc_text_set(&step->security_group.name, want->name) < 0 ||
                   lbc_text_set(&step->security_group.description, want->description) < 0
               ? -ENOMEM
               : 0;
}

static int rules_steps(struct lbc_work *work, unsigned type, const struct nlb_security_group *rules)
{
    struct nlb_step *step = NULL;

    for (size_t i = 0; i < rules->rule_count; i++) {
        if (i % RULES_PER_CALL == 0) {
            step = security_group_step(work, type);
        }
        struct nlb_rule *rule =
            step == NULL ? NULL : nlb_security_group_new_rule(&step->security_group);

        if (rule == NULL || nlb_rule_copy(rule, &rules->rules[i]) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

static void rule_describe_text(const struct nlb_rule *rule, char *text, size_t size)
{
    ccm_text_printf(text, size, "%s %s priority %d (%s)", rule->protocol, rule->port_range,
                    rule->priority, rule->description == NULL ? "" : rule->description);
}

/* Rules that we have just added have no known ids. */
static const struct nlb_rule *present_rule(const struct lbc_work *work, const struct nlb_rule *rule)
{
    const struct nlb_security_group *have = &nlb_work_have(work)->security_group;

    for (size_t i = 0; i < have->rule_count; i++) {
        if (rule->id != NULL ? ccm_text_equal(have->rules[i].id, rule->id)
                             : nlb_rule_is_twin(&have->rules[i], rule)) {
            return &have->rules[i];
        }
    }
    return NULL;
}

static int modify_step(struct lbc_work *work, const struct nlb_rule *rule)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf change = { .max = 1024 };
    const struct nlb_rule *present = present_rule(work, rule);
    struct nlb_step *step = security_group_step(work, NLB_STEP_MODIFY_RULE);
    struct nlb_rule *copy =
        step == NULL ? NULL : nlb_security_group_new_rule(&step->security_group);
    char from[256] = "";
    char to[256] = "";

    if (copy == NULL || nlb_rule_copy(copy, rule) < 0) {
        return -ENOMEM;
    }
    if (present != NULL) {
        rule_describe_text(present, from, sizeof(from));
    }
    rule_describe_text(rule, to, sizeof(to));
    lbc_compare_add_change(&change, "rule", from, to);
    return lbc_step_set_change(&step->lbc, &change);
}

/* New rules first, so that nobody who may come in is kept out meanwhile; when there is no room for
 * both, those that go make place, and they are never the ones that keep everybody else out. */
static int plan_rules(struct lbc_work *work)
{
    CCM_CLEANUP(nlb_rule_diff_fini) struct nlb_rule_diff diff = { 0 };
    const struct nlb_security_group *have = &nlb_work_have(work)->security_group;
    int r = nlb_rules_diff(&nlb_work_model(work)->want.security_group, have, &diff);
    const bool crowded = have->rule_count + diff.add.rule_count > RULES_PER_GROUP;

    if (r == 0 && crowded) {
        r = rules_steps(work, NLB_STEP_REMOVE_RULES, &diff.remove);
    }
    if (r == 0) {
        r = rules_steps(work, NLB_STEP_ADD_RULES, &diff.add);
    }
    for (size_t i = 0; r == 0 && i < diff.modify.rule_count; i++) {
        r = modify_step(work, &diff.modify.rules[i]);
    }
    return r < 0 || crowded ? r : rules_steps(work, NLB_STEP_REMOVE_RULES, &diff.remove);
}

static int plan_own_security_group(struct lbc_work *work)
{
    const struct nlb_security_group *want = &nlb_work_model(work)->want.security_group;
    const struct nlb_security_group *have = &nlb_work_have(work)->security_group;
    int r = 0;

    if (!want->wanted) {
        return 0;
    }
    if (have->id == NULL) {
        r = name_step(work, NLB_STEP_CREATE_SECURITY_GROUP);
    } else if (!ccm_text_equal(have->name, want->name) ||
               !ccm_text_equal(have->description, want->description)) {
        r = name_step(work, NLB_STEP_RENAME_SECURITY_GROUP);
    }
    return r < 0 ? r : plan_rules(work);
}

int nlb_plan_drop_security_group(struct lbc_work *work)
{
    struct nlb_step *step = NULL;

    if (nlb_work_have(work)->security_group.id == NULL) {
        return 0;
    }
    step = security_group_step(work, NLB_STEP_DELETE_SECURITY_GROUP);
    if (step == NULL) {
        return -ENOMEM;
    }
    step->lbc.last = true;
    return 0;
}

int nlb_plan_untag_security_group(struct lbc_work *work)
{
    struct nlb_step *step = NULL;

    if (nlb_work_have(work)->lb.lbc.id == NULL || nlb_work_have(work)->security_group.id == NULL) {
        return 0;
    }
    step = security_group_step(work, NLB_STEP_UNTAG_SECURITY_GROUP);
    if (step == NULL) {
        return -ENOMEM;
    }
    step->lbc.last = true;
    return 0;
}

int nlb_plan_stale_security_group(struct lbc_work *work)
{
    return nlb_work_model(work)->want.security_group.wanted || work->model->reused ||
                   nlb_work_model(work)->keep_security
               ? 0
               : nlb_plan_drop_security_group(work);
}

/* --- which ones are joined --- */

/* Ours is joined when its rules are complete, and nothing is left before what takes its place has
 * been joined: it is better to stay as it is than to open up. */
static int join_step(struct lbc_work *work, unsigned type, const struct lbc_texts *texts, bool own)
{
    struct nlb_step *step = NULL;

    if (texts->len == 0 && !own) {
        return 0;
    }
    step = nlb_plan_lb_step(work, type);
    if (step == NULL) {
        return -ENOMEM;
    }
    step->with_security_group = own;
    step->lbc.needs_security = own || type == NLB_STEP_LEAVE;
    return lbc_texts_copy(&step->lbc.texts, texts);
}

/* Only what an annotation speaks of, and our own one, is changed: others may have joined more. */
static int plan_joined(struct lbc_work *work)
{
    static const struct lbc_texts none = { 0 };
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts join = { 0 };
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts leave = { 0 };
    const struct nlb_model *model = nlb_work_model(work);
    const struct lbc_texts *wanted = &model->want.lb.security_groups;
    const struct lbc_texts *present = &nlb_work_lb(work)->security_groups;
    const char *own = nlb_work_have(work)->security_group.id;
    const bool wants_own = model->want.security_group.wanted;
    const bool joined = own != NULL && lbc_texts_has(present, own);
    const bool speaks = model->groups_explicit && !work->model->as_it_is;
    const bool leaves_own = !wants_own && joined && !(speaks && lbc_texts_has(wanted, own));
    bool crowded = false;
    int r = 0;

    if (speaks && (lbc_texts_put_missing(&join, wanted, present, NULL) < 0 ||
                   lbc_texts_put_missing(&leave, present, wanted, own) < 0)) {
        return -ENOMEM;
    }
    crowded = present->len + join.len + (wants_own && !joined) > GROUPS_PER_LB;
    if (crowded) {
        r = join_step(work, NLB_STEP_LEAVE, &leave, leaves_own);
    }
    if (r == 0) {
        r = join_step(work, NLB_STEP_JOIN, &none, wants_own && !joined);
    }
    if (r == 0) {
        r = join_step(work, NLB_STEP_JOIN, &join, false);
    }
    return r < 0 || crowded ? r : join_step(work, NLB_STEP_LEAVE, &leave, leaves_own);
}

int nlb_plan_security(struct lbc_work *work)
{
    const int r = nlb_work_model(work)->keep_security ? 0 : plan_own_security_group(work);

    return r < 0 || nlb_work_model(work)->keep_security ? r : plan_joined(work);
}
