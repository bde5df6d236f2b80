/* For how long servers are left out that the cloud refused, and for whom. */
#include "check.h"

#include "lbc/apply/unknown.h"
#include "support/fake_host.h"
#include "util/attr.h"

#include <stdio.h>

static struct ccm_error error_make_refusal(const char *code)
{
    struct ccm_error err = CCM_ERROR_INIT;

    (void)ccm_error_set(&err, 0, CCM_ERROR_CONFLICT, "refused: %s", code); /* sets the text */
    (void)snprintf(err.code, sizeof(err.code), "%s", code);                /* short */
    return err;
}

static struct lbc_backend backend_make_server(const char *id, enum lbc_backend_type type,
                                              uint16_t port)
{
    return (struct lbc_backend){ .server_id = (char *)(uintptr_t)id,
                                 .server_ip = (char *)(uintptr_t) "10.0.0.1",
                                 .port = port,
                                 .type = (uint8_t)type };
}

/* Twice as long each time, ten minutes at most; from the beginning when it was long ago. */
static void test_times(void **state)
{
    static const struct {
        enum lbc_backend_type type;
        int64_t later_ms; /* since the refusal before */
        uint64_t expect;
    } rows[] = {
        { LBC_BACKEND_INSTANCE, 0, 10000 },
        { LBC_BACKEND_INSTANCE, 0, 10000 }, /* of another thread */
        { LBC_BACKEND_INSTANCE, 9999, 10000 },
        { LBC_BACKEND_INSTANCE, 10000, 20000 },
        { LBC_BACKEND_INSTANCE, 20000, 40000 },
        { LBC_BACKEND_INSTANCE, 300000, 80000 },
        { LBC_BACKEND_INSTANCE, 80000, 160000 },
        { LBC_BACKEND_INSTANCE, 160000, 320000 },
        { LBC_BACKEND_INSTANCE, 320000, 600000 },
        { LBC_BACKEND_INSTANCE, 600000, 600000 },
        { LBC_BACKEND_INSTANCE, 1200001, 10000 },
        { LBC_BACKEND_INTERFACE, 0, 2000 },
        { LBC_BACKEND_INTERFACE, 2000, 4000 },
    };
    struct fake_host *fake = fake_host_new();
    struct lbc_unknown *unknown = lbc_unknown_new(fake_host_table(fake));
    const struct ccm_error why = error_make_refusal("Unknown");

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const struct lbc_backend one = backend_make_server("a", rows[i].type, 80);

        fake_host_advance(fake, rows[i].later_ms);
        if (lbc_unknown_record(unknown, &one, "", &why) != rows[i].expect) {
            fail_msg("row %zu", i);
        }
    }
    lbc_unknown_free(unknown);
    fake_host_free(fake);
}

/* Many old refusals make room for new ones, and those of now are kept. */
static void test_old_ones_go_first(void **state)
{
    struct fake_host *fake = fake_host_new();
    struct lbc_unknown *unknown = lbc_unknown_new(fake_host_table(fake));
    const struct lbc_backend kept = backend_make_server("kept", LBC_BACKEND_INSTANCE, 80);
    struct ccm_error why = error_make_refusal("Unknown");

    (void)state;
    for (int i = 0; i < 2000; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "i-%d", i); /* four digits at most */
        const struct lbc_backend one = backend_make_server(id, LBC_BACKEND_INSTANCE, 80);

        if (i == 990) {
            fake_host_advance(fake, 700000);
            (void)lbc_unknown_record(unknown, &kept, "", &why);
        }
        (void)lbc_unknown_record(unknown, &one, "", &why);
        if (i == 1900) {
            assert_int_equal(lbc_unknown_find(unknown, &kept, "", false, &why), 10000);
        }
    }
    assert_int_equal(lbc_unknown_find(unknown, &kept, "", false, &why), 0);
    lbc_unknown_free(unknown);
    fake_host_free(fake);
}

static void test_who_does_without(void **state)
{
    struct fake_host *fake = fake_host_new();
    struct lbc_unknown *unknown = lbc_unknown_new(fake_host_table(fake));
    const struct lbc_backend all = backend_make_server("i-1", LBC_BACKEND_INSTANCE, 80);
    const struct lbc_backend other_port = backend_make_server("i-1", LBC_BACKEND_INSTANCE, 443);
    const struct lbc_backend of_one = backend_make_server("i-2", LBC_BACKEND_INSTANCE, 80);
    const struct ccm_error unknown_to_all = error_make_refusal("Unknown");
    const struct ccm_error does_not_fit = error_make_refusal("Elsewhere");
    struct ccm_error why = CCM_ERROR_INIT;

    (void)state;
    /* How long each of them waits, test_times() checks. */
    (void)lbc_unknown_record(unknown, &all, "", &unknown_to_all);
    (void)lbc_unknown_record(unknown, &of_one, "ns/web", &does_not_fit);
    fake_host_advance(fake, 4000);
    assert_int_equal(lbc_unknown_find(unknown, &other_port, "ns/any", false, &why), 6000);
    assert_string_equal(why.code, "Unknown");
    assert_int_equal(lbc_unknown_find(unknown, &of_one, "ns/web", false, &why), 6000);
    assert_string_equal(why.code, "Elsewhere");
    assert_int_equal(lbc_unknown_find(unknown, &of_one, "ns/other", false, &why), 0);
    fake_host_advance(fake, 6000);
    assert_int_equal(lbc_unknown_find(unknown, &all, "ns/any", false, &why), 0);
    assert_int_equal(lbc_unknown_find(unknown, &all, "ns/any", true, &why), 1);
    assert_int_equal(lbc_unknown_record(unknown, &all, "", &unknown_to_all), 20000);
    lbc_unknown_forget(unknown);
    assert_int_equal(lbc_unknown_find(unknown, &all, "ns/any", false, &why), 0);
    lbc_unknown_free(unknown);
    fake_host_free(fake);
}

/* By reason; the last place takes all further ones. */
static void test_left_out(void **state)
{
    static const char *const codes[] = { "A", "B", "A", "C", "D", "E" };
    struct lbc_left_out left_out = { .len = 0 };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(codes); i++) {
        const struct ccm_error why = error_make_refusal(codes[i]);
        char id[8];
        struct lbc_backend one;

        (void)snprintf(id, sizeof(id), "i-%zu", i); /* one digit */
        one = backend_make_server(id, LBC_BACKEND_INSTANCE, 80);
        assert_int_equal(lbc_left_out_add(&left_out, &one, i == 1 ? 0 : 9000 - i, &why), 0);
        one.port = 443;
        assert_true(lbc_left_out_has(&left_out, &one));
    }
    assert_int_equal(left_out.len, LBC_LEFT_OUT_REASONS);
    assert_int_equal(left_out.parts[0].backends.len, 2);
    assert_int_equal(left_out.parts[3].backends.len, 2);
    assert_string_equal(left_out.parts[3].why.code, "E");
    assert_int_equal(left_out.again_ms, 8995);
    lbc_left_out_fini(&left_out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_old_ones_go_first),
        cmocka_unit_test(test_who_does_without),
        cmocka_unit_test(test_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
