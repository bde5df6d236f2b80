/* Carries out steps about security groups. */
#include "alicloud/params.h"
#include "api.h"
#include "apply_parts.h"
#include "lbc/apply/token.h"
#include "read.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

static bool is_same_rule(const struct nlb_rule *a, const struct nlb_rule *b)
{
    if (a->id != NULL && b->id != NULL) {
        return strcmp(a->id, b->id) == 0;
    }
    return a->drop == b->drop && a->ipv6 == b->ipv6 && ccm_text_equal(a->cidr, b->cidr);
}

static struct nlb_rule *find_rule(const struct nlb_security_group *security_group,
                                  const struct nlb_rule *like)
{
    for (size_t i = 0; i < security_group->rule_count; i++) {
        if (is_same_rule(&security_group->rules[i], like)) {
            return &security_group->rules[i];
        }
    }
    return NULL;
}

/* --- sending --- */

int nlb_apply_create_security_group(struct lbc_apply *apply, struct lbc_step *step,
                                    struct ccm_error *err)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
    const struct nlb_security_group *desired = &nlb_step_of(step)->security_group;
    const char *wanted =
        apply->model == NULL ? NULL : nlb_apply_model(apply)->want.lb.lbc.texts[NLB_LB_GROUP];
    const char *resource_group =
        wanted != NULL ? wanted : ali_resource_group_id(alilb_apply_call(apply)->ali);
    struct lbc_token hash = LBC_TOKEN_INIT;
    char token[LBC_TOKEN_SIZE];
    const struct alilb_args args = {
        .texts = { desired->name, desired->description, "enterprise", nlb_apply_vpc(apply),
                   resource_group, token },
        .tags = &tags,
    };

    if (nlb_apply_marks(apply, &tags) < 0) {
        return ccm_error_nomem(err);
    }
    /* The same for a creation whose answer got lost, so that there are never two. */
    lbc_token_add(&hash, desired->name);
    lbc_token_add(&hash, desired->description);
    lbc_token_add(&hash, nlb_apply_vpc(apply));
    lbc_token_add(&hash, resource_group);
    lbc_token_add_tags(&hash, &tags);
    lbc_token_write(&hash, apply->service, *apply->attempt, token);
    return nlb_apply_check_token(
        apply, alilb_apply_write(apply, step, &nlb_api_create_security_group, &args, err), err);
}

static int rules_send(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    const struct nlb_security_group *changed = &nlb_step_of(step)->security_group;
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    const struct alilb_args args = { .texts = { nlb_apply_have(apply)->security_group.id },
                                     .params = &params };

    for (size_t i = 0; i < changed->rule_count; i++) {
        char prefix[40];

        ccm_text_printf(prefix, sizeof(prefix), "Permissions.%zu.", i + 1);
        nlb_api_add_rule(&params, prefix, &changed->rules[i]);
    }
    return alilb_apply_write(
        apply, step, step->type == NLB_STEP_ADD_RULES ? &nlb_api_add_rules : &nlb_api_remove_rules,
        &args, err);
}

int nlb_apply_rules(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    const int r = rules_send(apply, step, err);

    if (step->type == NLB_STEP_REMOVE_RULES) {
        return lbc_apply_forgive(apply, r, err);
    }
    /* A token that was used before is answered with a group that may be gone by now: another one.
     */
    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        (*apply->attempt)++;
    }
    return r;
}

/* The cloud tells the ids of rules only when they are read. */
int nlb_apply_modify_rule(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    struct nlb_security_group *security_group = &nlb_apply_have(apply)->security_group;
    const struct nlb_rule *rule = &nlb_step_of(step)->security_group.rules[0];
    const struct nlb_rule *present = find_rule(security_group, rule);

    if (rule->id == NULL && (present == NULL || present->id == NULL)) {
        const int r = nlb_read_rules(alilb_apply_call(apply), security_group, err);

        if (r < 0) {
            return r;
        }
        present = find_rule(security_group, rule);
    }
    const char *id = rule->id != NULL || present == NULL ? rule->id : present->id;
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    const struct alilb_args args = { .texts = { security_group->id, id }, .params = &params };

    if (id == NULL) {
        return ccm_error_set(err, -ENOENT, CCM_ERROR_CONFLICT,
                             "the security group has no rule for %s any more", rule->cidr);
    }
    nlb_api_add_rule(&params, "", rule);
    return alilb_apply_write(apply, step, &nlb_api_modify_rule, &args, err);
}

int nlb_apply_rename_security_group(struct lbc_apply *apply, struct lbc_step *step,
                                    struct ccm_error *err)
{
    const struct nlb_security_group *set = &nlb_step_of(step)->security_group;

    return alilb_write(
        alilb_apply_call(apply), &nlb_api_rename_security_group,
        ALILB_TEXTS(nlb_apply_have(apply)->security_group.id, set->name, set->description), NULL,
        err);
}

int nlb_apply_delete_security_group(struct lbc_apply *apply, struct lbc_step *step,
                                    struct ccm_error *err)
{
    const char *id = nlb_apply_have(apply)->security_group.id;

    (void)step;
    return lbc_apply_forgive(apply,
                             alilb_write(alilb_apply_call(apply), &nlb_api_delete_security_group,
                                         ALILB_TEXTS(id), NULL, err),
                             err);
}

/* Whoever may not do that keeps one that is named as without Service. */
int nlb_apply_untag_security_group(struct lbc_apply *apply, struct lbc_step *step,
                                   struct ccm_error *err)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags marks = { 0 };
    const struct alilb_tagging untagging = { .type = "securitygroup",
                                             .id = nlb_apply_have(apply)->security_group.id,
                                             .tags = &marks,
                                             .remove = true };
    int r = nlb_apply_marks(apply, &marks);

    if (r < 0) {
        return ccm_error_nomem(err);
    }
    r = alilb_change_tags(alilb_apply_call(apply), ALI_ECS, &untagging, &step->sent, err);
    if (r < 0 && err->kind == CCM_ERROR_AUTH) {
        ccm_error_clear(err);
        return 0;
    }
    return lbc_apply_forgive(apply, r, err);
}

/* --- the mirror --- */

/* The new content of a rule; it keeps the id that is known. */
static int security_group_record_rule(struct nlb_security_group *security_group,
                                      const struct nlb_rule *rule)
{
    struct nlb_rule *present = find_rule(security_group, rule);
    char *id = NULL;

    if (present == NULL) {
        present = nlb_security_group_new_rule(security_group);
    }
    if (present == NULL) {
        return -ENOMEM;
    }
    id = rule->id == NULL ? CCM_STEAL(present->id) : NULL;

    const int r = nlb_rule_copy(present, rule);

    if (id != NULL) {
        free(present->id);
        present->id = id;
    }
    return r;
}

static void drop_rule(struct nlb_security_group *security_group, const struct nlb_rule *rule)
{
    for (size_t i = security_group->rule_count; i > 0; i--) {
        if (is_same_rule(&security_group->rules[i - 1], rule)) {
            nlb_security_group_drop_rule(security_group, i - 1);
        }
    }
}

int nlb_apply_rules_done(struct lbc_apply *apply, struct lbc_step *step)
{
    struct nlb_security_group *security_group = &nlb_apply_have(apply)->security_group;
    const struct nlb_security_group *changed = &nlb_step_of(step)->security_group;
    int r = 0;

    for (size_t i = 0; r == 0 && i < changed->rule_count; i++) {
        if (step->type == NLB_STEP_REMOVE_RULES) {
            drop_rule(security_group, &changed->rules[i]);
        } else {
            r = security_group_record_rule(security_group, &changed->rules[i]);
        }
    }
    return r;
}

int nlb_apply_rename_security_group_done(struct lbc_apply *apply, struct lbc_step *step)
{
    struct nlb_security_group *security_group = &nlb_apply_have(apply)->security_group;
    const struct nlb_security_group *desired = &nlb_step_of(step)->security_group;

    return lbc_text_set(&security_group->name, desired->name) < 0 ||
                   lbc_text_set(&security_group->description, desired->description) < 0
               ? -ENOMEM
               : 0;
}

int nlb_apply_create_security_group_done(struct lbc_apply *apply, struct lbc_step *step)
{
    struct nlb_security_group *security_group = &nlb_apply_have(apply)->security_group;

    security_group->known = true;
    return lbc_text_set(&security_group->id, step->sent.made_id) < 0
               ? -ENOMEM
               : nlb_apply_rename_security_group_done(apply, step);
}

int nlb_apply_security_group_gone(struct lbc_apply *apply, struct lbc_step *step)
{
    struct nlb_security_group *security_group = &nlb_apply_have(apply)->security_group;

    (void)step;
    nlb_security_group_fini(security_group);
    memset(security_group, 0, sizeof(*security_group));
    security_group->known = true;
    (*apply->attempt)++; /* the next one is another one */
    return 0;
}
