/* Which load balancers are the Service's: by tags, by the default name, of which cluster. */
#include "check.h"
#include "lbc/lookup.h"
#include "lbc/rules/check.h"
#include "lbc/service/hash.h"
#include "objects.h"
#include "util/attr.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <string.h>

#define OWN   "a5e4dbfc9c2ae4642b0335607860aef6"
#define OTHER "a0123456789abcdef0123456789abcde"

static void put_tags(struct lbc_tags *tags, const char *owner, const char *cluster)
{
    if (owner != NULL) {
        assert_int_equal(lbc_tags_put(tags, LBC_TAG_OWNER, owner), 0);
    }
    if (cluster != NULL) {
        assert_int_equal(lbc_tags_put(tags, LBC_TAG_CLUSTER, cluster), 0);
    }
}

/* --- one load balancer --- */

static void test_owner(void **state)
{
    static const struct {
        const char *owner;
        const char *cluster;
        const char *name;
        enum lbc_owner whose;
        const char *refusal; /* NULL: it is the Service's */
    } cases[] = {
        { OWN, "c1", "front", LBC_OWNER_OURS, NULL },
        { OWN, NULL, "front", LBC_OWNER_OURS, NULL },
        { OWN, "c2", OWN, LBC_OWNER_OTHER, "belongs to cluster c2" },
        { NULL, NULL, OWN, LBC_OWNER_NONE, NULL },
        { NULL, "c1", OWN, LBC_OWNER_NONE, NULL },
        { NULL, "c2", OWN, LBC_OWNER_OTHER, "belongs to cluster c2" },
        { NULL, NULL, "front", LBC_OWNER_NONE, "lb-1 [front] has lost its tag" },
        { NULL, "c1", "front", LBC_OWNER_NONE, "has a name of its own" },
        { NULL, NULL, NULL, LBC_OWNER_NONE, "lb-1 [] has lost its tag" },
        { OTHER, "c1", OWN, LBC_OWNER_OTHER, "=" OTHER " of another owner in cluster c1" },
        { OTHER, NULL, OWN, LBC_OWNER_OTHER, "=" OTHER " of another owner, it" },
        { OTHER, "c2", OWN, LBC_OWNER_OTHER, "=" OTHER " of another owner in cluster c2" },
        { "", "c1", OWN, LBC_OWNER_OTHER, "of another owner" },
    };
    const struct ccm_object *service = &obj_service()->meta;

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
        struct ccm_error err = CCM_ERROR_INIT;

        put_tags(&tags, cases[i].owner, cases[i].cluster);
        assert_int_equal(lbc_owner_of_tags(&tags, service, "c1"), cases[i].whose);

        const int r = lbc_lookup_check(service, "c1", "lb-1", cases[i].name, &tags, &err);

        assert_int_equal(r, cases[i].refusal == NULL ? 0 : LBC_LOOKUP_NOT_OURS);
        if (r < 0) {
            assert_non_null(strstr(err.message, cases[i].refusal));
            assert_non_null(strstr(err.message, "left alone"));
            assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
        }
    }
}

static void test_names(void **state)
{
    static const struct {
        const char *name;
        bool is_default;
    } cases[] = {
        { OWN, true },
        { OTHER, true },
        { "", false },
        { "a", false },
        { "front", false },
        { "b5e4dbfc9c2ae4642b0335607860aef6", false },
        { "A5e4dbfc9c2ae4642b0335607860aef6", false },
        { "a5e4dbfc9c2ae4642b0335607860aefg", false },
        { "a5E4dbfc9c2ae4642b0335607860aef6", false },
        { "a5e4dbfc9c2ae4642b0335607860aef", false },
        { "a5e4dbfc9c2ae4642b0335607860aef67", false },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = obj_service();
        const struct lbc_check check = { .suffix = "name", .run = lbc_check_name };
        struct ccm_error err = CCM_ERROR_INIT;

        assert_int_equal(lbc_owner_is_lb_name(cases[i].name, '\0'), cases[i].is_default);
        obj_annotate(&service->meta, P "name", cases[i].name);
        assert_int_equal(lbc_check_run(&check, NULL, service, &err) < 0,
                         cases[i].is_default && strcmp(cases[i].name, OWN) != 0);
    }
}

/* What is no Service has a letter before its uid: neither kind is taken for the other. */
static void test_names_of_other_kinds(void **state)
{
    (void)state;
    assert_true(lbc_owner_is_lb_name("ag5e4dbfc9c2ae4642b0335607860aef", 'g'));
    assert_false(lbc_owner_is_lb_name("ag5e4dbfc9c2ae4642b0335607860aef", '\0'));
    assert_false(lbc_owner_is_lb_name("ag5e4dbfc9c2ae4642b0335607860aef", 'h'));
    assert_false(lbc_owner_is_lb_name("ag5e4dbfc9c2ae4642b0335607860ae", 'g'));
    assert_false(lbc_owner_is_lb_name("agge4dbfc9c2ae4642b0335607860aef", 'g'));
    assert_false(lbc_owner_is_lb_name(OWN, 'g'));
}

/* --- an answer --- */

struct one {
    const char *id;
    const char *name;
    const char *owner;
    const char *cluster;
};

struct answer {
    struct one items[3]; /* ends with an id that is NULL */
    bool by_name;
    const char *taken;
    int result;
    uint64_t kind;
    const char *message;
};

static void check_answer(const struct answer *answer)
{
    CCM_CLEANUP(lbc_lookup_fini) struct lbc_lookup look;
    struct ccm_error err = CCM_ERROR_INIT;
    const char *taken = NULL;

    lbc_lookup_init(&look, &obj_service()->meta, "c1", answer->by_name);
    for (size_t i = 0; i < CCM_ARRAY_LEN(answer->items) && answer->items[i].id != NULL; i++) {
        const struct one *one = &answer->items[i];
        CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };

        put_tags(&tags, one->owner, one->cluster);
        if (lbc_lookup_offer(&look, one->id, one->name, &tags)) {
            assert_null(taken);
            taken = one->id;
        }
    }
    assert_int_equal(lbc_lookup_end(&look, &err), answer->result);
    if (answer->result == 0) {
        assert_int_equal(taken == NULL, answer->taken == NULL);
        assert_true(taken == NULL || strcmp(taken, answer->taken) == 0);
    } else {
        assert_int_equal(err.kind, answer->kind);
        assert_non_null(strstr(err.message, answer->message));
    }
}

static void test_answers(void **state)
{
    static const struct answer answers[] = {
        { { { NULL, NULL, NULL, NULL } }, false, NULL, 0, 0, NULL },
        { { { "lb-1", OWN, OWN, "c1" } }, false, "lb-1", 0, 0, NULL },
        /* The right one among others. */
        { { { "lb-2", "b", OTHER, "c1" }, { "lb-1", "a", OWN, NULL } }, false, "lb-1", 0, 0, NULL },
        { { { "lb-2", OWN, OWN, "c2" }, { "lb-1", OWN, OWN, "c1" } }, false, "lb-1", 0, 0, NULL },
        { { { "lb-1", OWN, OWN, "c1" }, { "lb-2", OWN, OWN, NULL } },
          false,
          NULL,
          -EEXIST,
          CCM_ERROR_TERMINAL,
          "find multiple loadbalances by tag, lbIds[lb-1,lb-2]" },
        { { { "lb-2", OWN, OWN, "c2" } },
          false,
          NULL,
          LBC_LOOKUP_NOT_OURS,
          CCM_ERROR_TERMINAL,
          "lb-2 carries the same name or tag but belongs to cluster c2" },
        /* Nothing that was asked for: no answer. */
        { { { "lb-2", OWN, OTHER, "c1" }, { "lb-3", "c", NULL, NULL } },
          false,
          NULL,
          -EBADMSG,
          CCM_ERROR_TRANSIENT,
          "holds lb-2, which does not carry tag " LBC_TAG_OWNER "=" OWN },
        { { { "lb-1", OWN, NULL, NULL } }, false, NULL, -EBADMSG, CCM_ERROR_TRANSIENT, "lb-1" },
        /* By name only what has no owner. */
        { { { "lb-1", OWN, NULL, NULL } }, true, "lb-1", 0, 0, NULL },
        { { { "lb-1", OWN, NULL, "c1" } }, true, "lb-1", 0, 0, NULL },
        { { { "lb-2", OWN, OTHER, "c1" } }, true, NULL, 0, 0, NULL },
        { { { "lb-2", OWN, OTHER, "c1" }, { "lb-1", OWN, NULL, NULL } }, true, "lb-1", 0, 0, NULL },
        { { { "lb-1", OWN, OWN, "c1" } }, true, "lb-1", 0, 0, NULL },
        { { { "lb-3", OWN "7", NULL, NULL } }, true, NULL, 0, 0, NULL },
        { { { "lb-1", OWN, NULL, NULL }, { "lb-2", OWN, NULL, NULL } },
          true,
          NULL,
          -EEXIST,
          CCM_ERROR_TERMINAL,
          "find multiple loadbalances by name, lbIds[lb-1,lb-2]" },
        { { { "lb-2", OWN, NULL, "c2" } },
          true,
          NULL,
          LBC_LOOKUP_NOT_OURS,
          CCM_ERROR_TERMINAL,
          "belongs to cluster c2" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(answers); i++) {
        check_answer(&answers[i]);
    }
}

/* --- a release: of several those that are known to be its own --- */

static void test_releases(void **state)
{
    static const struct {
        const char *label; /* NULL: the Service has none */
        struct one items[2];
        int result;
        bool leaves;
        const char *taken; /* when neither */
        const char *several;
    } cases[] = {
        { "lb-1", { { "lb-1", "front", OWN, "c1" } }, 0, false, "lb-1", NULL },
        { NULL, { { "lb-2", "twin", OWN, "c1" } }, 0, false, "lb-2", NULL },
        /* One of another cluster stays, and is named. */
        { NULL,
          { { "lb-2", OWN, OWN, "c2" }, { "lb-1", OWN, OWN, "c1" } },
          0,
          false,
          "lb-1",
          "lb-2,lb-1 (goes)" },
        { "lb-1",
          { { "lb-1", "front", OWN, "c1" }, { "lb-2", "twin", OWN, "c1" } },
          0,
          false,
          "lb-1",
          "lb-1 (goes),lb-2" },
        /* What the label names is gone, or lost its tag: it is looked for first. */
        { "lb-1", { { "lb-2", "twin", OWN, "c1" } }, 0, true, NULL, "lb-2" },
        { "lb-1",
          { { "lb-2", "twin", OWN, "c1" }, { "lb-3", "twin", OWN, NULL } },
          0,
          true,
          NULL,
          "lb-2,lb-3" },
        { "lb-1", { { "lb-2", OWN, OWN, "c1" } }, 0, false, "lb-2", NULL },
        { NULL,
          { { "lb-2", "twin", OWN, "c1" }, { "lb-3", "twin", OWN, NULL } },
          LBC_LOOKUP_NOT_OURS,
          false,
          NULL,
          NULL },
        { "lb-1", { { NULL, NULL, NULL, NULL } }, 0, false, NULL, NULL },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(lbc_lookup_fini) struct lbc_lookup look;
        struct ccm_service *service = obj_service();
        struct ccm_error err = CCM_ERROR_INIT;
        struct lbc_lookup_how how = { .any = true };
        const char *taken = NULL;

        obj_label(&service->meta, LBC_LIFE_LB_LABEL, cases[i].label);
        lbc_lookup_init(&look, &service->meta, "c1", false);
        look.any = true;
        for (size_t j = 0; j < 2 && cases[i].items[j].id != NULL; j++) {
            const struct one *one = &cases[i].items[j];
            CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };

            put_tags(&tags, one->owner, one->cluster);
            taken = lbc_lookup_offer(&look, one->id, one->name, &tags) ? one->id : taken;
        }
        assert_int_equal(lbc_lookup_settle(&look, &how, &err), cases[i].result);
        CCM_CLEANUP(ccm_freep) char *several = how.several;
        assert_true(ccm_text_equal(several, cases[i].several));
        assert_int_equal(lbc_lookup_leaves(&look), cases[i].leaves);
        if (cases[i].taken != NULL) {
            assert_string_equal(taken, cases[i].taken);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_other_kinds),
        cmocka_unit_test_teardown(test_owner, obj_end),
        cmocka_unit_test_teardown(test_names, obj_end),
        cmocka_unit_test_teardown(test_answers, obj_end),
        cmocka_unit_test_teardown(test_releases, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
