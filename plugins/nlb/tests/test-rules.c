/* Rules of the security group for source ranges: scenarios 12 and 13 of the specification. */
#include "notation.h"

#include "lbc/tests/objects.h"
#include "nlb/rules.h"
#include "util/cleanup.h"

#include <string.h>

#define DROP "rule - drop 0.0.0.0/0 100\n"

static const struct {
    const char *name;
    const char *want;
    const char *have;
    const char *add; /* "cidr cidr" */
    const char *modify;
    const char *remove;
} cases[] = {
    { "nothing at all", "", "", "", "", "" },
    { "one of ours too many", "", "rule r-1 accept 10.0.0.0/8 1\n", "", "", "10.0.0.0/8(r-1)" },
    { "one too few", "rule - accept 10.0.0.0/8 1\n", "", "10.0.0.0/8", "", "" },
    { "equal", "rule - accept 10.0.0.0/8 1\n" DROP,
      "rule r-1 accept 10.0.0.0/8 1\nrule r-2 drop 0.0.0.0/0 100\n", "", "", "" },
    { "another priority", "rule - accept 10.0.0.0/8 1\n", "rule r-1 accept 10.0.0.0/8 2\n", "",
      "10.0.0.0/8(r-1)", "" },
    { "another description", "rule - accept 10.0.0.0/8 1\n", "rule r-1 accept 10.0.0.0/8 1 !hand\n",
      "", "10.0.0.0/8(r-1)", "" },
    { "somebody's rule", "", "rule r-1 accept 10.0.0.0/8 1 !hand\n", "", "", "" },
    { "another policy", "rule - accept 10.0.0.0/8 1\n", "rule r-1 drop 10.0.0.0/8 1\n",
      "10.0.0.0/8", "", "10.0.0.0/8(r-1)" },
    { "mixed",
      "rule - accept 10.0.0.0/8 1\nrule - accept 10.1.0.0/16 1\nrule - accept 10.2.0.0/16 1\n",
      "rule r-1 accept 10.0.0.0/8 1\nrule r-2 accept 10.1.0.0/16 5\n"
      "rule r-3 accept 10.3.0.0/16 1\n",
      "10.2.0.0/16", "10.1.0.0/16(r-2)", "10.3.0.0/16(r-3)" },
    { "rules that let nobody in come first", "rule - accept 10.0.0.0/8 1\n" DROP, "",
      "0.0.0.0/0 10.0.0.0/8", "", "" },
    { "one block in two spellings", "rule - accept 10.0.0.0/8 1\nrule - accept 2001:db8::/32 1\n",
      "rule r-1 accept 10.1.2.3/8 1\nrule r-2 accept 2001:0DB8:0::/32 1\n", "", "", "" },
    { "families do not mix", "rule - drop ::/0 100\n" DROP, "rule r-1 drop 0.0.0.0/0 100\n", "::/0",
      "", "" },
    { "of two twins the equal one stays, and the other goes if it is ours",
      "rule - accept 10.0.0.0/8 1\n",
      "rule r-1 accept 10.0.0.0/8 5 !hand\nrule r-2 accept 10.0.0.0/8 7\n"
      "rule r-3 accept 10.0.0.0/8 1\n",
      "", "", "10.0.0.0/8(r-2)" },
    { "ours is changed rather than somebody's", "rule - accept 10.0.0.0/8 1\n",
      "rule r-1 accept 10.0.0.0/8 5 !hand\nrule r-2 accept 10.0.0.0/8 7\n", "", "10.0.0.0/8(r-2)",
      "" },
    { "a rule for something else than addresses", "rule - accept 10.0.0.0/8 1\n",
      "rule r-1 accept pl-1234 1 !hand\n", "10.0.0.0/8", "", "" },
};

static void rules_check_list(const char *name, const struct nlb_security_group *list,
                             const char *expected)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 1024 };

    for (size_t i = 0; i < list->rule_count; i++) {
        ccm_buf_addf(&text, "%s%s", i == 0 ? "" : " ", list->rules[i].cidr);
        if (list->rules[i].id != NULL) {
            ccm_buf_addf(&text, "(%s)", list->rules[i].id);
        }
    }
    if (strcmp(ccm_buf_str(&text), expected) != 0) {
        fail_msg("%s: %s instead of %s", name, ccm_buf_str(&text), expected);
    }
}

static void test_diff(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CCM_CLEANUP(nlb_rule_diff_fini) struct nlb_rule_diff diff = { .add = { .id = NULL } };
        CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { .lb = { .lbc.id = NULL } };
        CCM_CLEANUP(model_end) struct nlb_model model = { .lbc.explicit = 0 };

        read_model(&model, "guard\n");
        read_model(&model, cases[i].want);
        read_state(&have, "guard sg-1\n");
        read_state(&have, cases[i].have);
        assert_int_equal(nlb_rules_diff(&model.want.security_group, &have.security_group, &diff),
                         0);
        rules_check_list(cases[i].name, &diff.add, cases[i].add);
        rules_check_list(cases[i].name, &diff.modify, cases[i].modify);
        rules_check_list(cases[i].name, &diff.remove, cases[i].remove);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test_teardown(test_diff, obj_end) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
