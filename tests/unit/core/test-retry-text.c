/* When a failure is tried again, in words. */
#include "util/retry_text.h"

#include "util/attr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_words(void **state CCM_UNUSED)
{
    static const struct {
        uint64_t kind;
        uint64_t next_ms;
        uint64_t most_ms;
        const char *words;
    } cases[] = {
        { CCM_ERROR_TRANSIENT, 1500, 1200000,
          "Tried again within 2 s, later at least every 20 min, and as soon as the Service "
          "changes" },
        { CCM_ERROR_CONFLICT, 100, 7200000,
          "Tried again within 1 s, later at least every 2 h, and as soon as the Service changes" },
        { CCM_ERROR_AUTH, 600000, 600000,
          "Tried again within 10 min, and as soon as the Service changes" },
        { CCM_ERROR_TERMINAL, 600000, 3600000,
          "Tried again as soon as the Service changes, else within 10 min, later at least every 60 "
          "min" },
        { CCM_ERROR_BUG, 119001, 119001,
          "Tried again as soon as the Service changes, else within 2 min" },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        char text[CCM_RETRY_TEXT];

        ccm_retry_format("Service", cases[i].kind, cases[i].next_ms, cases[i].most_ms, text);
        assert_string_equal(text, cases[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_words) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
