/* Which plugin a Service is for, by its class, what it carries, and the options. */
#include "alilb/class.h"
#include "lbc/keys.h"
#include "lbc/rules/rule.h"
#include "lbc/tests/check.h"
#include "lbc/tests/objects.h"
#include "support/fake_host.h"
#include "util/attr.h"
#include "util/text.h"

#include <string.h>

#define PLAIN_CLB ALILB_FINALIZER_CLB
#define PLAIN_NLB ALILB_FINALIZER_NLB

/* --- options --- */

struct options {
    const char *standard; /* NULL = the default of each */
    const char *clb;
    const char *nlb;
    const char *instance;
    bool by_type;
};

static const char *options_string(const struct ccm_lint_sink *sink, const char *group,
                                  const char *name)
{
    const struct options *options = sink->core;
    const char *found = NULL;
    const char *fallback = "";

    assert_string_equal(group, "alicloud");
    if (strcmp(name, "default_class") == 0) {
        found = options->standard;
        fallback = alilb_opt_standard.fallback;
    } else if (strcmp(name, "clb_class") == 0) {
        found = options->clb;
    } else if (strcmp(name, "nlb_class") == 0) {
        found = options->nlb;
        fallback = alilb_opt_nlb_class.fallback;
    } else if (strcmp(name, "instance") == 0) {
        found = options->instance;
    }
    return found == NULL ? fallback : found;
}

static int64_t options_int(const struct ccm_lint_sink *sink, const char *group, const char *name)
{
    (void)group;
    assert_string_equal(name, "type_annotation");
    return ((const struct options *)sink->core)->by_type;
}

/* "clb", "nlb", "" = nobody. Both plugins are asked: never both say yes. */
static const char *taker_of(const struct options *options, const struct ccm_service *service)
{
    const struct ccm_lint_sink sink = {
        .struct_size = sizeof(sink),
        .option_string = options_string,
        .option_int = options_int,
        .core = (void *)(uintptr_t)options,
    };
    struct lbc_choice clb = { 0 };
    struct lbc_choice nlb = { 0 };

    alilb_class_choose_clb(&sink, &clb);
    alilb_class_choose_nlb(&sink, &nlb);

    const bool by_clb = alilb_class_takes_clb(service, &clb);
    const bool by_nlb = alilb_class_takes_nlb(service, &nlb);

    assert_false(by_clb && by_nlb);
    return by_clb ? "clb" : by_nlb ? "nlb" : "";
}

/* --- who takes it --- */

static bool option_is_off(void *arg, const struct ccm_option *option)
{
    (void)arg;
    (void)option;
    return false;
}

static void test_class(void **state)
{
    static const struct {
        const char *class_;
        const char *type; /* the annotation; NULL = none */
        const char *taker;
        const char *typed; /* with option type_annotation */
        bool hint;
    } cases[] = {
        { "", NULL, "clb", "clb", false },
        { "", "", "clb", "clb", false },
        { "", "nlb", "clb", "nlb", true },
        { "", "alb", "clb", "", true },
        { ALILB_CLASS_NLB, NULL, "nlb", "nlb", false },
        /* The class says which kind it is: then the annotation is no promise. */
        { ALILB_CLASS_NLB, "nlb", "nlb", "nlb", false },
        { "somebody.else/lb", "nlb", "", "", false },
    };
    static const struct options plain = { 0 };
    static const struct options typed = { .by_type = true };
    static const struct lbc_rule hint = ALILB_TYPE_HINT;

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = obj_service();
        const struct lbc_rule_ask ask = { .service = service, .is_on = option_is_off };

        service->load_balancer_class = cases[i].class_;
        if (cases[i].type != NULL) {
            obj_annotate(&service->meta, P "type", cases[i].type);
        }
        if (strcmp(taker_of(&plain, service), cases[i].taker) != 0 ||
            strcmp(taker_of(&typed, service), cases[i].typed) != 0 ||
            lbc_rule_holds(&ask, &hint) != cases[i].hint) {
            fail_msg("case %zu", i);
        }
    }
}

static void test_names(void **state)
{
    static const struct options own = { .clb = "a.example/clb,b.example/clb",
                                        .nlb = "a.example/nlb" };
    static const struct {
        const char *class_;
        const char *taker;
    } cases[] = {
        { "", "clb" },          { "a.example/clb", "clb" }, { "b.example/clb", "clb" },
        { "b.example/cl", "" }, { "a.example/nlb", "nlb" }, { ALILB_CLASS_NLB, "" },
        { "a.example", "" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = obj_service();

        service->load_balancer_class = cases[i].class_;
        if (strcmp(taker_of(&own, service), cases[i].taker) != 0) {
            fail_msg("case %zu", i);
        }
        service->type = "ClusterIP";
        assert_string_equal(taker_of(&own, service), "");
    }
}

/* Services without class, by what they carry. */
static void test_carried(void **state)
{
    static const struct {
        const char *finalizers[2];
        const char *id; /* label; NULL = none */
        bool served;    /* its status has an address */
        const char *clb;
        const char *nlb;
        const char *none;  /* whose it is with default_class clb, nlb, none, */
        const char *other; /* and in an instance "b" with none */
    } cases[] = {
        { { 0 }, NULL, false, "clb", "nlb", "", "" },
        { { PLAIN_CLB }, NULL, false, "clb", "clb", "clb", "" },
        { { PLAIN_CLB }, "lb-1", true, "clb", "clb", "clb", "" },
        /* What it is on its way to go from has a class or the other default. */
        { { PLAIN_NLB }, "nlb-1", true, "clb", "nlb", "nlb", "" },
        { { PLAIN_CLB, PLAIN_NLB }, "nlb-1", true, "clb", "clb", "clb", "" },
        /* Somebody took the finalizer away. */
        { { 0 }, "lb-1", true, "clb", "clb", "clb", "clb" },
        { { 0 }, "nlb-1", true, "clb", "nlb", "nlb", "nlb" },
        /* A copy of a manifest has the label, and no address. */
        { { 0 }, "lb-1", false, "clb", "nlb", "", "" },
        /* Another one's. */
        { { PLAIN_CLB "-b" }, "lb-1", true, "", "", "", "clb" },
        { { PLAIN_NLB "-b" }, "nlb-1", true, "", "", "", "nlb" },
        { { PLAIN_CLB "-c" }, "lb-1", true, "", "", "", "" },
        { { "example.com/finalizer" }, NULL, false, "clb", "nlb", "", "" },
    };
    static const struct options clb = { .standard = "clb" };
    static const struct options nlb = { .standard = "nlb" };
    static const struct options none = { .standard = "none" };
    static const struct options other = { .standard = "none", .instance = "b" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = obj_service();

        for (size_t j = 0; j < 2 && cases[i].finalizers[j] != NULL; j++) {
            obj_finalizer(&service->meta, cases[i].finalizers[j]);
        }
        if (cases[i].id != NULL) {
            obj_label(&service->meta, LBC_LIFE_LB_LABEL, cases[i].id);
        }
        service->ingress_count = cases[i].served ? 1 : 0;
        if (strcmp(taker_of(&clb, service), cases[i].clb) != 0 ||
            strcmp(taker_of(&nlb, service), cases[i].nlb) != 0 ||
            strcmp(taker_of(&none, service), cases[i].none) != 0 ||
            strcmp(taker_of(&other, service), cases[i].other) != 0) {
            fail_msg("case %zu: %s %s %s %s", i, taker_of(&clb, service), taker_of(&nlb, service),
                     taker_of(&none, service), taker_of(&other, service));
        }
    }
}

/* --- options that cannot be --- */

static void test_check(void **state)
{
    static const struct {
        const char *clb;
        const char *nlb;
        const char *other;
        const char *instance;
        const char *expected; /* NULL = nothing */
    } cases[] = {
        { "", ALILB_CLASS_NLB, "", "", NULL },
        { "a/clb, b/clb", "a/nlb", "x.example/lb", "b-2", NULL },
        { "a/lb", "b/lb, a/lb", "", "",
          "options clb_class and nlb_class of group alicloud both have class a/lb" },
        { "", "a/lb", "a/lb", "", "options nlb_class and other_class" },
        { "a/lb", "", "a/lb", "", "options other_class and clb_class" },
        { "a//lb", "", "", "", "option clb_class of group alicloud: [a//lb] is no name" },
        { "", "a/nlb,", "", "", "option nlb_class of group alicloud: [] is no name" },
        { "", "a b", "", "", "option nlb_class of group alicloud: [a b] is no name" },
        { "", "", "", "B", "option instance of group alicloud: [B] is not" },
        { "", "", "", "a-very-long-name-of-an-instance", "option instance" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct fake_host *fake = fake_host_new();
        char text[ALILB_CLASS_TEXT];
        const char *found = NULL;

        fake_host_option(fake, "alicloud", "clb_class", cases[i].clb);
        fake_host_option(fake, "alicloud", "nlb_class", cases[i].nlb);
        fake_host_option(fake, "alicloud", "other_class", cases[i].other);
        fake_host_option(fake, "alicloud", "instance", cases[i].instance);
        found = alilb_class_check(fake_host_table(fake), text);
        if (cases[i].expected == NULL
                ? found != NULL
                : found == NULL || !ccm_text_starts(found, cases[i].expected)) {
            fail_msg("case %zu: %s", i, found == NULL ? "nothing" : found);
        }
        fake_host_free(fake);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_class, obj_end),
        cmocka_unit_test_teardown(test_names, obj_end),
        cmocka_unit_test_teardown(test_carried, obj_end),
        cmocka_unit_test(test_check),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
