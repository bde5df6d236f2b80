#include "util/base64.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_decode(void **state CCM_UNUSED)
{
    static const struct {
        const char *text;
        const char *bytes;
        size_t len;
    } good[] = {
        { "", "", 0 },
        { "Zg==", "f", 1 },
        { "Zm8=", "fo", 2 },
        { "Zm9v", "foo", 3 },
        { "Zm9v\n YmFy\t", "foobar", 6 },
        { "//79+w==", "\xff\xfe\xfd\xfb", 4 },
        { "AAA=", "\0\0", 2 },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(good); i++) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = 64 };

        assert_int_equal(ccm_base64_decode(&buf, good[i].text), 0);
        assert_int_equal(buf.len, good[i].len);
        assert_memory_equal(ccm_buf_str(&buf), good[i].bytes, good[i].len);
    }
}

static void test_encode(void **state CCM_UNUSED)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *text;
    } cases[] = {
        { "", 0, "" },         { "f", 1, "Zg==" },
        { "fo", 2, "Zm8=" },   { "foobar", 6, "Zm9vYmFy" },
        { "\0\0", 2, "AAA=" }, { "\xff\xfe\xfd\xfb", 4, "//79+w==" },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = 64 };

        ccm_base64_encode(&buf, cases[i].bytes, cases[i].len);
        assert_string_equal(ccm_buf_str(&buf), cases[i].text);
    }
}

static void test_refuse(void **state CCM_UNUSED)
{
    static const char *const bad[] = { "Z",    "Zg",   "Zg=",      "Zg===", "Zm8",   "Zm9v=",
                                       "====", "=Zg=", "Zg==Zg==", "Zm-_",  "Zm9v!", "Zm9v\x01" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(bad); i++) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = 64 };

        assert_int_equal(ccm_base64_decode(&buf, bad[i]), -EBADMSG);
    }
}

static void test_limit(void **state CCM_UNUSED)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = 2 };

    assert_int_equal(ccm_base64_decode(&buf, "Zm9v"), -EMSGSIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_encode),
        cmocka_unit_test(test_refuse),
        cmocka_unit_test(test_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
