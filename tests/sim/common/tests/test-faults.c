/* Fault rules: what they match, how often they act, what is refused. */
#include "common/effect.h"
#include "common/faults.h"
#include "util/cleanup.h"
#include "util/json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void control(struct ccm_sim_faults *faults, const char *method, const char *body,
                    unsigned status)
{
    struct ccm_sim_request req = { .method = method, .body = body, .body_len = strlen(body) };
    struct ccm_sim_reply reply = { .status = 200 };

    ccm_sim_faults_control(faults, &req, &reply);
    assert_int_equal(reply.status, status);
    ccm_buf_fini(&reply.body);
}

static int faults_pick_one(struct ccm_sim_faults *faults, const char *action, const char *port,
                           bool background)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params params = { 0 };
    CCM_CLEANUP(ccm_sim_effect_fini) struct ccm_sim_effect effect = { .truncate = -1 };

    assert_int_equal(ccm_sim_params_set(&params, "ListenerPort", port), 0);
    return ccm_sim_faults_pick(faults, action, "/api/v1/nodes", &params, background, &effect);
}

static void freep(struct ccm_sim_faults **faults)
{
    ccm_sim_faults_free(*faults);
}

static void test_match(void **state)
{
    static const struct {
        const char *match;
        int hit;
    } rows[] = {
        { "{}", 1 },
        { "{\"action\":\"CreateLoadBalancer\"}", 1 },
        { "{\"action\":\"Create*\"}", 1 },
        { "{\"action\":\"Delete*\"}", 0 },
        { "{\"path\":\"/api/*/nodes\"}", 1 },
        { "{\"path\":\"/api/*/pods\"}", 0 },
        { "{\"params\":{\"ListenerPort\":\"80\"}}", 1 },
        { "{\"params\":{\"ListenerPort\":\"8?\"}}", 1 },
        { "{\"params\":{\"ListenerPort\":\"81\"}}", 0 },
        { "{\"params\":{\"Other\":\"*\"}}", 0 },
        { "{\"p\":0}", 0 },
        { "{\"p\":1}", 1 },
        { "{\"nth\":2}", 0 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(freep) struct ccm_sim_faults *faults = ccm_sim_faults_new();
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { 0 };

        ccm_buf_addf(&body, "{\"match\":%s,\"effect\":{\"delay_ms\":1}}", rows[i].match);
        control(faults, "POST", ccm_buf_str(&body), 200);
        assert_int_equal(faults_pick_one(faults, "CreateLoadBalancer", "80", false), rows[i].hit);
    }
}

static void test_counting(void **state)
{
    static const struct {
        const char *rule;
        const char *hits; /* of five calls, '1' = hit */
    } rows[] = {
        { "{\"effect\":{\"cut\":\"before\"}}", "11111" },
        { "{\"effect\":{\"cut\":\"before\"},\"count\":2}", "11000" },
        { "{\"match\":{\"nth\":3},\"effect\":{\"cut\":\"after\"}}", "00100" },
        { "{\"match\":{\"nth\":2},\"effect\":{\"cut\":\"after\"},\"count\":3}", "01110" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(freep) struct ccm_sim_faults *faults = ccm_sim_faults_new();

        control(faults, "POST", rows[i].rule, 200);
        for (const char *p = rows[i].hits; *p != '\0'; p++) {
            assert_int_equal(faults_pick_one(faults, "A", "80", false), *p - '0');
        }
    }
}

static void test_first_rule_wins(void **state)
{
    CCM_CLEANUP(freep) struct ccm_sim_faults *faults = ccm_sim_faults_new();
    struct ccm_sim_effect effect = { .truncate = -1 };
    struct ccm_sim_params none = { 0 };

    (void)state;
    control(faults, "POST",
            "[{\"effect\":{\"code\":\"First\"},\"count\":1},{\"effect\":{\"code\":\"Second\"}}]",
            200);
    assert_int_equal(ccm_sim_faults_pick(faults, "A", "/", &none, false, &effect), 1);
    assert_string_equal(effect.code, "First");
    ccm_sim_effect_fini(&effect);
    assert_int_equal(ccm_sim_faults_pick(faults, "A", "/", &none, false, &effect), 1);
    assert_string_equal(effect.code, "Second");
    ccm_sim_effect_fini(&effect);
    control(faults, "DELETE", "", 200);
    assert_int_equal(ccm_sim_faults_pick(faults, "A", "/", &none, false, &effect), 0);
}

/* Half of many calls, the same ones each time. */
static void test_probability(void **state)
{
    int hits[2] = { 0 };

    (void)state;
    for (size_t run = 0; run < 2; run++) {
        CCM_CLEANUP(freep) struct ccm_sim_faults *faults = ccm_sim_faults_new();

        control(faults, "POST", "{\"match\":{\"p\":0.5},\"effect\":{\"cut\":\"before\"}}", 200);
        for (int i = 0; i < 1000; i++) {
            hits[run] += faults_pick_one(faults, "A", "80", false);
        }
    }
    assert_in_range(hits[0], 400, 600);
    assert_int_equal(hits[0], hits[1]);
}

static void test_background(void **state)
{
    CCM_CLEANUP(freep) struct ccm_sim_faults *faults = ccm_sim_faults_new();

    (void)state;
    control(faults, "POST", "{\"effect\":{\"cut\":\"before\"}}", 200);
    assert_int_equal(faults_pick_one(faults, "GET /x", "80", true), 0);
    control(faults, "POST", "{\"match\":{\"action\":\"GET /x\"},\"effect\":{\"cut\":\"before\"}}",
            200);
    assert_int_equal(faults_pick_one(faults, "GET /x", "80", true), 1);
}

static void test_refused(void **state)
{
    static const char *const rows[] = {
        "",
        "7",
        "{}",
        "{\"effect\":{}}",
        "{\"effect\":{\"delay_ms\":0}}",
        "{\"effect\":{\"delay_ms\":-1}}",
        "{\"effect\":{\"delay_ms\":\"5\"}}",
        "{\"effect\":{\"delay_ms\":1.5}}",
        "{\"effect\":{\"http\":99}}",
        "{\"effect\":{\"cut\":\"during\"}}",
        "{\"effect\":{\"cut\":\"before\",\"code\":\"X\"}}",
        "{\"effect\":{\"cut\":\"after\",\"truncate\":1}}",
        "{\"effect\":{\"message\":\"alone\"}}",
        "{\"effect\":{\"color\":\"red\"}}",
        "{\"effect\":{\"code\":7}}",
        "{\"match\":{\"nth\":0},\"effect\":{\"code\":\"X\"}}",
        "{\"match\":{\"p\":2},\"effect\":{\"code\":\"X\"}}",
        "{\"match\":{\"verb\":\"x\"},\"effect\":{\"code\":\"X\"}}",
        "{\"match\":[],\"effect\":{\"code\":\"X\"}}",
        "{\"effect\":{\"code\":\"X\"},\"count\":0}",
        "{\"effect\":{\"code\":\"X\"},\"times\":1}",
        "[{\"effect\":{\"code\":\"X\"}},{}]",
    };
    CCM_CLEANUP(freep) struct ccm_sim_faults *faults = ccm_sim_faults_new();

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        control(faults, "POST", rows[i], 400);
    }
    /* A list with one bad rule sets none of its rules. */
    assert_int_equal(faults_pick_one(faults, "A", "80", false), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match),           cmocka_unit_test(test_counting),
        cmocka_unit_test(test_first_rule_wins), cmocka_unit_test(test_probability),
        cmocka_unit_test(test_background),      cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
