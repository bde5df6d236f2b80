#include "util/class_near.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/attr.h"

static void test_near(void **state)
{
    static const struct {
        const char *name;
        const char *known;
        bool near;
    } table[] = {
        { "example.com/nlb", "example.com/nlb", false }, /* it is that */
        { "example.com/nbl", "example.com/nlb", true },
        { "example.com/NLB", "example.com/nlb", true },
        { "example.com/", "example.com/nlb", true },
        { "example.com/anything-else", "example.com/nlb", true },
        { "exampel.com/nlb", "example.com/nlb", true },
        { "example.org/nlb", "example.com/nlb", true },
        { "other.io/nlb", "example.com/nlb", false },
        { "service.k8s.aws/nlb", "alibabacloud.com/nlb", false },
        { "nlb", "example.com/nlb", false },
        { "", "example.com/nlb", false },
        { "", "a", false },
        { "internal", "internat", true },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        assert_int_equal(ccm_class_is_near(table[i].name, table[i].known), table[i].near);
    }
}

static void test_text(void **state)
{
    char text[CCM_CLASS_NEAR_TEXT];
    char name[300];

    (void)state;
    ccm_class_write_near("a/b", "a/c", text);
    assert_non_null(strstr(text, "spec.loadBalancerClass [a/b] is none that is known here"));
    assert_non_null(strstr(text, "did you mean a/c?"));
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ccm_class_write_near(name, "a/c", text);
    assert_non_null(strstr(text, "did you mean a/c?"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near),
        cmocka_unit_test(test_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
