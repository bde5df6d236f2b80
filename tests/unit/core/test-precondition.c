#include "kube/client/precondition.h"
#include "util/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct row {
    const char *body;
    const char *uid;
    const char *version;
    const char *wanted; /* NULL = refused */
} rows[] = {
    { "{}", "u", "7", "{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"7\"}}" },
    { " { \"a\" : 1 } ", "u", NULL, "{ \"a\" : 1 ,\"metadata\":{\"uid\":\"u\"}}" },
    { "{\"metadata\":{}}", "", "7", "{\"metadata\":{\"resourceVersion\":\"7\"}}" },
    { "{\"metadata\":null,\"a\":1}", "u", "",
      "{\"metadata\":null,\"a\":1,\"metadata\":{\"uid\":\"u\"}}" },
    { "{\"metadata\":{\"name\":\"x\"},\"n\":123456789012345678901}", "u", NULL,
      "{\"metadata\":{\"name\":\"x\",\"uid\":\"u\"},\"n\":123456789012345678901}" },
    { "{\"s\":{\"metadata\":{\"x\":\"}\\\"{\"}},\"metadata\":{\"l\":[{}]}}", "u", NULL,
      "{\"s\":{\"metadata\":{\"x\":\"}\\\"{\"}},\"metadata\":{\"l\":[{}],\"uid\":\"u\"}}" },
    { "{\"meta\\u0064ata\":{\"name\":\"x\"}}", "u", NULL,
      "{\"meta\\u0064ata\":{\"name\":\"x\",\"uid\":\"u\"}}" },
    { "{\"metadat\\\"\":{},\"\":1}", "u", NULL,
      "{\"metadat\\\"\":{},\"\":1,\"metadata\":{\"uid\":\"u\"}}" },
    { "{\"metadata\":{\"uid\":\"u\"}}", "u", NULL, "{\"metadata\":{\"uid\":\"u\"}}" },
    { "{\"metadata\":{\"uid\":\"other\"}}", "u", NULL, NULL },
    { "{\"metadata\":{\"resourceVersion\":\"6\"}}", "u", "7", NULL },
    { "{\"n\":[1,true,null,\"a\"],\"b\":false}", "\"", NULL,
      "{\"n\":[1,true,null,\"a\"],\"b\":false,\"metadata\":{\"uid\":\"\\\"\"}}" },
    { "[]", "u", NULL, NULL },
    { "{", "u", NULL, NULL },
    { "", "u", NULL, NULL },
};

static void adds_what_is_asked_for(void **state)
{
    (void)state; /* no fixture */
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct ccm_buf made = { .max = 4096 };
        struct ccm_error err = CCM_ERROR_INIT;
        const int r =
            kube_precondition_add(rows[i].body, rows[i].uid, rows[i].version, &made, &err);

        if (rows[i].wanted == NULL) {
            assert_int_equal(r, -EINVAL);
            assert_int_equal(err.kind, CCM_ERROR_BUG);
        } else {
            assert_int_equal(r, 0);
            assert_string_equal(ccm_buf_str(&made), rows[i].wanted);
        }
        ccm_buf_fini(&made);
    }
}

static void is_told_when_there_is_no_room(void **state)
{
    struct ccm_buf made = { .max = 8 };
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state; /* no fixture */
    assert_int_equal(kube_precondition_add("{\"a\":1}", "u", NULL, &made, &err), -ENOMEM);
    ccm_buf_fini(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_what_is_asked_for),
        cmocka_unit_test(is_told_when_there_is_no_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
