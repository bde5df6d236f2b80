/* Annotations that cannot be used, collected, and the Service without them. */
#include "lbc/rules/refusal.h"

#include "lbc/rules/rule.h"
#include "lbc/tests/check.h"
#include "lbc/tests/objects.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define OLDER LBC_ANNO_LEGACY_PREFIX

static const struct lbc_anno rows[] = {
    { .name = "id", .type = LBC_ANNO_TEXT, .decides = LBC_DECIDES_ALL },
    { .name = "size", .type = LBC_ANNO_INT, .max = 9 },
    { .name = "mode", .type = LBC_ANNO_ENUM, .values = "fast|slow" },
    { .name = "tls", .group = LBC_ANNO_LISTENER, .on = 1U << LBC_UDP, .type = LBC_ANNO_SWITCH },
    { .name = "idle", .group = LBC_ANNO_LISTENER, .type = LBC_ANNO_INT, .max = 9 },
    { .name = "switch", .type = LBC_ANNO_BOOL },
    { .name = "who",
      .group = LBC_ANNO_BACKEND,
      .type = LBC_ANNO_ENUM,
      .values = "all",
      .decides = LBC_DECIDES_BACKENDS },
    { .name = "backend-label",
      .group = LBC_ANNO_BACKEND,
      .type = LBC_ANNO_ENUM,
      .values = "a=b",
      .decides = LBC_DECIDES_BACKENDS },
    { .name = "protocol-port",
      .group = LBC_ANNO_LISTENER,
      .type = LBC_ANNO_TEXT,
      .decides = LBC_DECIDES_PORTS },
};
static const struct lbc_anno_table table = {
    .rows = rows, .count = CCM_ARRAY_LEN(rows), .kind = "TOY", .foreign = ""
};

static int check_size(const struct lbc_checked *it, struct ccm_error *err)
{
    return strcmp(it->value, "7") == 0
               ? ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "size must not be 7")
               : 0;
}

static const struct lbc_check checks[] = { { .suffix = "size", .run = check_size }, { 0 } };
static const struct lbc_rule hints[] = { { 0 } };

static const struct lbc_protocols protocols = { .known = 1U << LBC_TCP,
                                                .refusal = { "protocol [", "] is none" } };

static const char *row_say_unclear(const struct lbc_anno *row, const char *value)
{
    return row->type == LBC_ANNO_BOOL && strcmp(value, "true") == 0 ? "true" : NULL;
}

static const struct lbc_lint_rules rules = {
    .annotations = &table,
    .checks = checks,
    .rows = hints,
    .protocols = &protocols,
    .unclear = row_say_unclear,
};

static struct ccm_service *with(const char *const (*pairs)[2])
{
    struct ccm_service *service = obj_service();

    obj_port(service, "web", "TCP", 80, "8080", 30080);
    for (; (*pairs)[0] != NULL; pairs++) {
        obj_annotate(&service->meta, (*pairs)[0], (*pairs)[1]);
    }
    return service;
}

static void copy_text(void *arg, const struct lbc_found *found)
{
    ccm_text_copy(arg, 200, found->text);
}

static void test_collected(void **state)
{
    static const struct {
        const char *const pairs[4][2];
        const char *fails;
        const char *idle;
        const char *unclear;
    } cases[] = {
        { { { P "size", "3" }, { P "mode", "fast" } }, "", "", "" },
        { { { P "size", "10" }, { P "mode", "x" } },
          "size must be integer, got [10], error: value out of range (annotation " P
          "size must be an integer from 0 to 9); annotation " P
          "mode must be one of [fast|slow], got [x]",
          "",
          "" },
        { { { P "size", "7" }, { P "tls", "x" } },
          "size must not be 7 (annotation " P "size must be an integer from 0 to 9)",
          "annotation tls has no effect here; besides: annotation " P
          "tls must be one of [on|off], got [x]",
          "" },
        /* A load balancer of somebody else keeps its listeners. */
        { { { P "id", "lb-1" }, { P "idle", "x" } },
          "",
          "annotation idle has no effect here; besides: idle must be integer, got [x], "
          "error: invalid syntax (annotation " P "idle must be an integer from 0 to 9)",
          "" },
        { { { P "protocol-port", "x:80" } },
          "protocol [x] is none (annotation " P "protocol-port)",
          "",
          "" },
        { { { P "switch", "true" } },
          "",
          "",
          "annotation switch: true was without effect under the controller that ccmd replaces, so "
          "it is left alone" },
        { { { P "switch", "yes" } },
          "annotation " P "switch must be one of [on|off|true|false], got [yes]",
          "",
          "" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct lbc_refusals refusals = LBC_REFUSALS_INIT;
        struct ccm_error err = CCM_ERROR_INIT;
        const struct ccm_service *service = with(cases[i].pairs);
        char unclear[200];
        const struct lbc_rule_ask ask = { .kinds = 1U << LBC_FOUND_UNCLEAR,
                                          .rules = &rules,
                                          .service = service,
                                          .found = copy_text,
                                          .arg = unclear };

        assert_int_equal(lbc_refusals_collect(&refusals, &rules, service), 0);
        assert_string_equal(ccm_buf_str(&refusals.problems.text), cases[i].fails);
        assert_string_equal(ccm_buf_str(&refusals.idle), cases[i].idle);
        unclear[0] = '\0';
        lbc_rules_find(&ask);
        assert_string_equal(unclear, cases[i].unclear);
        assert_int_equal(lbc_refusals_sum(&refusals, &err),
                         cases[i].fails[0] == '\0' ? 0 : -EINVAL);
        assert_string_equal(err.message, cases[i].fails);
        lbc_refusals_fini(&refusals);
    }
}

/* A bad value hides the good one under the older key as well. What is read port by port stays. */
static void test_view(void **state)
{
    static const char *const pairs[][2] = {
        { P "size", "10" },   { OLDER "size", "3" },
        { P "mode", "slow" }, { P "protocol-port", "x:80" },
        { "other/key", "v" }, { P "switch", "true" },
        { P "who", "some" },  { NULL, NULL },
    };
    struct lbc_refusals refusals = LBC_REFUSALS_INIT;
    const struct ccm_service *service = with(pairs);
    const struct ccm_service *view = NULL;

    (void)state;
    assert_int_equal(lbc_refusals_collect(&refusals, &rules, service), 0);
    view = lbc_refusals_view(&refusals);
    assert_non_null(view);
    assert_false(lbc_anno_is_set(&view->meta, "size"));
    assert_false(lbc_anno_is_set(&view->meta, "switch"));
    assert_false(lbc_anno_is_set(&view->meta, "who"));
    assert_string_equal(lbc_anno_get(&view->meta, "mode"), "slow");
    assert_string_equal(lbc_anno_get(&view->meta, "protocol-port"), "x:80");
    assert_int_equal(view->meta.annotation_count, 3);
    assert_ptr_equal(view->ports, service->ports);
    assert_true(lbc_refusals_has(&refusals, "switch") && lbc_refusals_has(&refusals, "size"));
    assert_true(lbc_refusals_fails(&refusals, &rows[1]) &&
                !lbc_refusals_fails(&refusals, &rows[5]));
    assert_true(lbc_refusals_decide(&refusals, LBC_DECIDES_PORTS));
    assert_false(lbc_refusals_decide(&refusals, LBC_DECIDES_ALL));
    lbc_refusals_fini(&refusals);
}

/* Labels of nodes choose among nodes alone. */
static void test_hold(void **state)
{
    static const struct {
        const char *const pairs[3][2];
        bool nodes;
        bool pods;
    } cases[] = {
        { { { P "size", "10" } }, false, false },
        { { { P "who", "some" } }, true, true },
        { { { P "backend-label", "x" } }, true, false },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct lbc_refusals refusals = LBC_REFUSALS_INIT;

        assert_int_equal(lbc_refusals_collect(&refusals, &rules, with(cases[i].pairs)), 0);
        assert_int_equal(lbc_refusals_freeze(&refusals, false), cases[i].nodes);
        assert_int_equal(lbc_refusals_freeze(&refusals, true), cases[i].pods);
        lbc_refusals_fini(&refusals);
    }
}

static void test_added(void **state)
{
    static const char *const pairs[][2] = { { P "size", "10" }, { NULL, NULL } };
    struct lbc_refusals refusals = LBC_REFUSALS_INIT;
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    assert_int_equal(lbc_refusals_collect(&refusals, &rules, with(pairs)), 0);
    (void)ccm_error_set(&err, -EPERM, CCM_ERROR_TERMINAL, "not for you"); /* as said */
    assert_int_equal(lbc_refusals_add(&refusals, "id", &err), 0);
    assert_int_equal(lbc_refusals_add(&refusals, "size", &err), 0);
    assert_int_equal(refusals.problems.count, 2);
    assert_true(lbc_refusals_decide(&refusals, LBC_DECIDES_ALL));
    assert_int_equal(lbc_refusals_add(&refusals, NULL, &err), 0);
    assert_int_equal(refusals.len, 2);
    lbc_refusals_fini(&refusals);
}

/* All of them are named within what an event holds. */
static void test_many(void **state)
{
    static const char *const pairs[][2] = {
        { P "size", "10" }, { P "mode", "x" }, { P "who", "some" }, { NULL, NULL }
    };
    struct lbc_refusals refusals = LBC_REFUSALS_INIT;
    struct ccm_service *service = with(pairs);
    char value[900];

    (void)state;
    memset(value, 'x', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    obj_annotate(&service->meta, P "mode", value);
    assert_int_equal(lbc_refusals_collect(&refusals, &rules, service), 0);
    assert_int_equal(lbc_refusals_shorten(&refusals), 0);
    /* The longest gives way: the others keep what they must be. */
    assert_string_equal(ccm_buf_str(&refusals.problems.text),
                        "size must be integer, got [10], error: value out of range (annotation " P
                        "size must be an integer from 0 to 9); annotation " P
                        "mode must be one of [fast|slow], got "
                        "[xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...]; "
                        "annotation " P "who must be one of [all], got [some]");
    lbc_refusals_fini(&refusals);
}

/* What it must be goes before key and value do; what no annotation is to blame for stays. */
static void test_hints_give_way(void **state)
{
    static const char *const pairs[][2] = { { P "size", "10" },
                                            { P "idle", "11" },
                                            { NULL, NULL } };
    struct lbc_refusals refusals = LBC_REFUSALS_INIT;
    struct ccm_error err = CCM_ERROR_INIT;
    char text[500];

    (void)state;
    memset(text, 'y', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(lbc_refusals_collect(&refusals, &rules, with(pairs)), 0);
    (void)ccm_error_set(&err, -EINVAL, CCM_ERROR_TERMINAL, "%s", text); /* the text is wanted */
    assert_int_equal(lbc_refusals_add(&refusals, NULL, &err), 0);
    assert_int_equal(lbc_refusals_shorten(&refusals), 0);

    const char *all = ccm_buf_str(&refusals.problems.text);

    assert_true(ccm_text_starts(all, text));
    assert_non_null(strstr(all, "; size must be integer, got [10], error: value out of range "
                                "(annotation " P "size); idle must be integer, got [11]"));
    assert_in_range(refusals.problems.text.len, 600, 800);
    lbc_refusals_fini(&refusals);
}

/* Nor is any number of them, of whatever length, more than that they cannot be used. */
static void test_very_many(void **state)
{
    static const char *const names[] = { "size", "mode", "who", "idle", "switch", "backend-label" };
    struct lbc_refusals refusals = LBC_REFUSALS_INIT;
    struct ccm_service *service = obj_service();
    char value[1000];

    (void)state;
    memset(value, 'x', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        char key[LBC_ANNO_KEY_MAX];

        ccm_text_printf(key, sizeof(key), P "%s", names[i]);
        obj_annotate(&service->meta, key, value);
    }
    refusals.problems.text.max = 4096; /* less than all of them take */
    refusals.problems.cause.max = 4096;
    assert_int_equal(lbc_refusals_collect(&refusals, &rules, service), 0);
    assert_int_equal(lbc_refusals_shorten(&refusals), 0);
    assert_true(ccm_text_starts(
        ccm_buf_str(&refusals.problems.text),
        "annotations that cannot be used: size; mode; idle; switch; who; backend-label: "));
    assert_in_range(refusals.problems.text.len, 800, 3000);
    assert_int_equal(ccm_buf_error(&refusals.problems.text), 0);
    assert_non_null(lbc_refusals_view(&refusals));
    lbc_refusals_fini(&refusals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_collected, obj_end),
        cmocka_unit_test_teardown(test_view, obj_end),
        cmocka_unit_test_teardown(test_hold, obj_end),
        cmocka_unit_test_teardown(test_added, obj_end),
        cmocka_unit_test_teardown(test_many, obj_end),
        cmocka_unit_test_teardown(test_hints_give_way, obj_end),
        cmocka_unit_test_teardown(test_very_many, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
