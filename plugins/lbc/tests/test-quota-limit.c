/* Option account_quotas: what it says of a name, else what is published. */
#include "util/quota_use.h"

#include "support/fake_host.h"
#include "util/cleanup.h"
#include "util/parse.h"

#include "check.h"

static void test_limits(void **state)
{
    static const struct {
        const char *text;
        bool fits;
        uint64_t limit;
    } rows[] = {
        { "", true, 200 },
        { "backends=400", true, 400 },
        { "backends=0", true, 0 },
        { "routes=5, backends=0400", true, 400 },
        { "routes=5,backends=9999999", true, 9999999 },
        { "routes=5", true, 200 },
        { "backends=7, backends=8", true, 7 },
        { "routes=5 backends=400", false, 200 },
        { "backend=400", false, 200 },
        { "backends=", false, 200 },
        { "backends=12345678", false, 12345678 },
    };
    const struct ccm_option option = CCM_QUOTA_OPTION("backends|routes", "none");

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct fake_host *fake = fake_host_new();

        print_message("%s\n", rows[i].text);
        fake_host_option(fake, NULL, CCM_QUOTA_OPTION_NAME, rows[i].text);
        assert_int_equal(ccm_parse_matches(rows[i].text, option.pattern) == 1, rows[i].fits);
        assert_int_equal(ccm_quota_limit(fake_host_table(fake), "backends", 200), rows[i].limit);
        fake_host_free(fake);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_limits) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
