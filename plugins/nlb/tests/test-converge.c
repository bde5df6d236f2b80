/*
 * Random wishes, random states, random failures: however often a run breaks off, the next ones get
 * there, nothing of others is touched on the way, and then there is nothing left to do. A failure
 * names its seed; CCM_TEST_SEED runs that one alone.
 */
#include "converge.h"

#include "lbc/tests/objects.h"
#include "nlb/owner_key.h"
#include "nlb/rules.h"
#include "tests/fuzz/oom.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 150
#define RUNS  4 /* with failures, before the one without */

static void trial_check_end(const struct trial *trial, bool ok, const char *what, const char *name)
{
    if (!ok) {
        fail_msg("seed %llu: %s: %s", (unsigned long long)trial->seed, what,
                 name == NULL ? "" : name);
    }
}

static enum lbc_owner owner_of(const struct trial *trial, const char *text, bool listener)
{
    enum lbc_owner owner = LBC_OWNER_NONE;

    assert_int_equal(nlb_name_parse(text, listener, &trial->service->meta, "c1", &owner), 0);
    return owner;
}

static const char *description_of(const struct nlb_group *group, const struct lbc_backend *one)
{
    return one->description == NULL ? group->lbc.name : one->description;
}

static void make_plan(const struct trial *trial, struct lbc_plan *plan,
                      struct lbc_problems *problems, size_t batch)
{
    const struct lbc_plan_input in = { .model = &trial->model.lbc,
                                       .have = &trial->have.lbc,
                                       .service = trial->service,
                                       .cluster_id = "c1",
                                       .batch = batch,
                                       .fresh = true };

    assert_int_equal(lbc_plan_ensure(plan, &nlb_plan_ops, &in, problems), 0);
    check_stages(plan);
    trial_check_end(trial, plan->waiting.len == 0, "waits", NULL);
}

/* --- what must hold in the end --- */

static void check_lb(const struct trial *trial)
{
    const struct nlb_lb *want = &trial->model.want.lb;
    const struct nlb_lb *have = &trial->have.lb;

    trial_check_end(trial, have->lbc.id != NULL, "no load balancer", NULL);
    for (size_t i = 0; i < NLB_LB_FIELD_COUNT; i++) {
        const bool is_type = i == NLB_LB_ADDRESS_TYPE || i == NLB_LB_IPV6_TYPE;

        /* Those of somebody else's load balancer are never changed. */
        if ((trial->model.lbc.explicit >> i & 1U) != 0 && !(trial->model.lbc.reused && is_type)) {
            trial_check_end(trial, ccm_text_equal_case(want->lbc.texts[i], have->lbc.texts[i]),
                            "field", want->lbc.texts[i]);
        }
    }
    for (size_t i = 0; i < want->zone_count; i++) {
        bool found = false;

        for (size_t k = 0; k < have->zone_count; k++) {
            found = found || (ccm_text_equal(want->zones[i].zone_id, have->zones[k].zone_id) &&
                              ccm_text_equal(want->zones[i].vswitch_id, have->zones[k].vswitch_id));
        }
        trial_check_end(trial, found, "no zone", want->zones[i].zone_id);
    }
    trial_check_end(trial,
                    trial->model.lbc.reused || !trial->model.zones_explicit ||
                        have->zone_count == want->zone_count,
                    "zones", NULL);
    for (size_t i = 0; i < want->lbc.tags.len; i++) {
        trial_check_end(trial,
                        ccm_text_equal(lbc_tags_get(&have->lbc.tags, want->lbc.tags.items[i].key),
                                       want->lbc.tags.items[i].value),
                        "tag", want->lbc.tags.items[i].key);
    }
}

static void check_security(const struct trial *trial)
{
    const struct nlb_security_group *want = &trial->model.want.security_group;
    const struct lbc_texts *joined = &trial->have.lb.security_groups;
    const char *id = trial->have.security_group.id;
    CCM_CLEANUP(nlb_rule_diff_fini) struct nlb_rule_diff diff = { .add = { .id = NULL } };
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts all = { .items = NULL };

    trial_check_end(trial, want->wanted == (id != NULL), "security group", id);
    trial_check_end(trial, id == NULL || lbc_texts_has(joined, id), "not joined", id);
    assert_int_equal(nlb_rules_diff(want, &trial->have.security_group, &diff), 0);
    trial_check_end(trial,
                    !want->wanted || (diff.add.rule_count == 0 && diff.modify.rule_count == 0 &&
                                      diff.remove.rule_count == 0),
                    "rules", NULL);
    if (trial->model.groups_explicit) {
        assert_int_equal(lbc_texts_copy(&all, &trial->model.want.lb.security_groups), 0);
        assert_int_equal(id == NULL ? 0 : lbc_texts_put(&all, id), 0);
        trial_check_end(trial, lbc_texts_equal(&all, joined), "joined groups", NULL);
    }
}

static void check_servers(const struct trial *trial, const struct nlb_group *want,
                          const struct nlb_group *have)
{
    for (size_t i = 0; i < want->lbc.backends.len; i++) {
        const struct lbc_backend *one = &want->lbc.backends.items[i];
        const struct lbc_backend *twin = lbc_backends_find(&have->lbc.backends, one);

        trial_check_end(trial, twin != NULL || one->leaving, "no server", one->server_id);
        if (twin == NULL || owner_of(trial, description_of(have, twin), false) != LBC_OWNER_OURS ||
            want->lbc.add_only) {
            continue;
        }
        trial_check_end(trial, ccm_text_equal(description_of(have, twin), want->lbc.name),
                        "description", one->server_id);
        trial_check_end(trial,
                        one->leaving ? twin->weight == 0
                                     : trial->model.lbc.keep_weights || twin->weight == one->weight,
                        "weight", one->server_id);
    }
    for (size_t i = 0; i < have->lbc.backends.len && !want->lbc.add_only && !want->lbc.frozen_by;
         i++) {
        const struct lbc_backend *one = &have->lbc.backends.items[i];

        trial_check_end(trial,
                        owner_of(trial, description_of(have, one), false) != LBC_OWNER_OURS ||
                            lbc_backends_find(&want->lbc.backends, one) != NULL,
                        "a server too many", one->server_id);
    }
}

/* Told attributes, lists as sets of at most two. */
static void check_attrs(const struct trial *trial, const struct lbc_attrs *want,
                        const struct lbc_attrs *have, enum lbc_protocol protocol)
{
    for (size_t i = 0; i < want->len; i++) {
        const struct lbc_attr *attr = &want->items[i];
        const char *value = lbc_attrs_get(have, attr->row);
        const bool fallback =
            value == NULL &&
            (strcmp(attr->value, "0") == 0 || strcmp(attr->value, "Wrr") == 0 ||
             strcmp(attr->value, "http_2xx") == 0 || strcmp(attr->value, "true") == 0 ||
             strcmp(attr->value, "false") == 0);

        if (!lbc_attr_applies(attr->row, protocol) || fallback) {
            continue;
        }
        trial_check_end(trial,
                        ccm_text_equal(attr->value, value) ||
                            (value != NULL && (attr->row->cloud & LBC_ATTR_LIST) != 0 &&
                             strlen(value) == strlen(attr->value)),
                        "attribute", attr->row->field);
    }
}

/* Whether the port is somebody else's, so that the wish cannot be met. */
static bool is_refused(const struct trial *trial, const struct nlb_listener *want)
{
    for (size_t i = 0; i < trial->have.lbc.listener_count; i++) {
        const struct nlb_listener *have = nlb_listener_at(&trial->have, i);

        if (lbc_listener_clash(&want->lbc, &have->lbc) &&
            owner_of(trial, have->lbc.description, true) != LBC_OWNER_OURS) {
            return true;
        }
    }
    /* On a load balancer with broken ports listeners stay that would go otherwise. */
    return trial->model.lbc.incomplete;
}

static void check_listener(const struct trial *trial, const struct nlb_listener *want)
{
    const struct nlb_listener *have = nlb_state_listener_like(&trial->have, want);
    const struct lbc_group *group = lbc_state_group_for(&trial->have.lbc, want->lbc.group);

    if (is_refused(trial, want)) {
        return;
    }
    trial_check_end(trial, group != NULL, "no group", want->lbc.group->name);
    trial_check_end(trial, have != NULL, "no listener", want->lbc.description);
    trial_check_end(trial, ccm_text_equal(have->lbc.group_id, group->id), "group of",
                    want->lbc.description);
    trial_check_end(trial, ccm_text_equal(have->lbc.description, want->lbc.description),
                    "description", have->lbc.description);
    check_attrs(trial, &want->lbc.attrs, &have->lbc.attrs, want->lbc.protocol);
    if (want->lbc.certs_known && have->lbc.certs_known) {
        trial_check_end(trial, lbc_texts_equal(&want->certs, &have->certs), "certificates",
                        have->lbc.description);
    }
}

static void check_stale(const struct trial *trial)
{
    if (trial->model.lbc.incomplete) {
        return;
    }
    for (size_t i = 0; i < trial->have.lbc.listener_count && !trial->model.lbc.reused; i++) {
        const struct nlb_listener *have = nlb_listener_at(&trial->have, i);

        trial_check_end(trial, nlb_state_listener_like(&trial->model.want, have) != NULL,
                        "a listener too many", have->lbc.id);
    }
    for (size_t i = 0; i < trial->have.lbc.group_count; i++) {
        const struct nlb_group *have = nlb_group_at(&trial->have, i);
        bool excused = owner_of(trial, have->lbc.name, false) != LBC_OWNER_OURS;

        for (size_t k = 0; k < have->lbc.backends.len; k++) {
            excused = excused || owner_of(trial, description_of(have, &have->lbc.backends.items[k]),
                                          false) != LBC_OWNER_OURS;
        }
        for (size_t k = 0; k < trial->have.lbc.listener_count; k++) {
            excused = excused ||
                      ccm_text_equal(nlb_listener_at(&trial->have, k)->lbc.group_id, have->lbc.id);
        }
        for (size_t k = 0; k < trial->model.want.lbc.group_count; k++) {
            excused = excused || nlb_state_group_for(&trial->have,
                                                     nlb_group_at(&trial->model.want, k)) == have;
        }
        trial_check_end(trial, excused, "a group too many", have->lbc.id);
    }
}

/* blocked: a port of somebody else's load balancer is refused, so nothing else of it is changed,
 * and groups for such ports are not made. */
static void check_end(const struct trial *trial, bool blocked)
{
    if (!blocked) {
        check_lb(trial);
    }
    if (!trial->model.lbc.reused) {
        check_security(trial);
    }
    for (size_t i = 0; i < trial->model.want.lbc.group_count; i++) {
        const struct nlb_group *want = nlb_group_at(&trial->model.want, i);
        const struct nlb_group *have = nlb_state_group_for(&trial->have, want);

        trial_check_end(trial, have != NULL || blocked, "no group", want->lbc.name);
        if (have != NULL) {
            check_servers(trial, want, have);
            check_attrs(trial, &want->lbc.attrs, &have->lbc.attrs, want->lbc.protocol);
        }
    }
    for (size_t i = 0; i < trial->model.want.lbc.listener_count; i++) {
        if (!nlb_listener_at(&trial->model.want, i)->lbc.broken &&
            lbc_model_has_listeners(&trial->model.lbc)) {
            check_listener(trial, nlb_listener_at(&trial->model.want, i));
        }
    }
    check_stale(trial);
}

/* --- one world --- */

/* Some runs, each of which may fail somewhere, then one that does not. */
static void run_all(struct trial *trial, size_t batch)
{
    for (unsigned i = 0; i <= RUNS; i++) {
        CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { .steps = NULL };
        CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;

        trial_read(trial);
        make_plan(trial, &plan, &problems, batch);
        trial->fail_at =
            i < RUNS && plan.len > 0 ? trial_dice(trial, (unsigned)plan.len) : TRIAL_NEVER;
        trial->executed = trial_dice(trial, 2) == 0;
        const bool ok = trial_run(trial, &plan);

        trial_check_end(trial, ok || i < RUNS, "failed without a reason", NULL);
    }
}

static void run_world(uint64_t seed)
{
    CCM_CLEANUP(trial_fini) struct trial trial;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf before = { .max = 65536 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf after = { .max = 65536 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 65536 };
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { .steps = NULL };
    CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;

    trial_init(&trial, seed);
    trial_begin_cloud(&trial);
    trial_read(&trial);
    trial_list_foreign(&trial, &before);
    run_all(&trial, 1 + seed % 3);
    trial_read(&trial);
    make_plan(&trial, &plan, &problems, 200);
    lbc_plan_print(&plan, NULL, &text);
    trial_check_end(&trial, plan.len == 0, "there is more to do", ccm_buf_str(&text));
    check_end(&trial, trial.model.lbc.reused && plan.blocked);
    trial_list_foreign(&trial, &after);
    trial_end_cloud(&trial);
    trial_check_end(&trial, strcmp(ccm_buf_str(&before), ccm_buf_str(&after)) == 0,
                    "somebody's things changed", ccm_buf_str(&after));
}

/* Out of memory at any moment: an error, or the plan that it would have been. */
static void run_short_of_memory(uint64_t seed)
{
    CCM_CLEANUP(trial_fini) struct trial trial;
    size_t steps = 0;
    bool failed = true;

    trial_init(&trial, seed);
    for (size_t at = 0; failed; at++) {
        CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { .steps = NULL };
        CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;
        const struct lbc_plan_input in = { .model = &trial.model.lbc,
                                           .have = &trial.start.lbc,
                                           .service = trial.service,
                                           .cluster_id = "c1",
                                           .fresh = true };

        oom_begin(at, false); /* 0: never */
        const int r = lbc_plan_ensure(&plan, &nlb_plan_ops, &in, &problems);

        failed = oom_end() || at == 0;
        steps = at == 0 ? plan.len : steps;
        trial_check_end(&trial, r == -ENOMEM || (r == 0 && plan.len == steps), "a plan with a gap",
                        NULL);
    }
}

static void test_out_of_memory(void **state)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        run_short_of_memory(seed);
        assert_int_equal(obj_end(state), 0);
    }
}

static void test_converge(void **state)
{
    const char *only = getenv("CCM_TEST_SEED");
    uint32_t seed = 0;

    if (only != NULL) {
        assert_int_equal(ccm_parse_u32(only, 0, UINT32_MAX, &seed), 0);
        run_world(seed);
        return;
    }
    for (seed = 0; seed < SEEDS; seed++) {
        run_world(seed);
        assert_int_equal(obj_end(state), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_converge, obj_end),
        cmocka_unit_test_teardown(test_out_of_memory, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
