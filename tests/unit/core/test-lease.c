/* The Lease as leader election reads and writes it; the election itself is shown with real
 * processes, see tests/integration/test_leader.py. */
#include "kube/lease.h"
#include "kube/lease_record.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/attr.h"
#include "util/cleanup.h"

static void test_read(void **state)
{
    static const struct {
        const char *json;
        int result;
        const char *holder;
        int64_t duration_ms;
        int64_t transitions;
    } table[] = {
        { "{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":{\"holderIdentity\":\"a_1\","
          "\"leaseDurationSeconds\":15,\"leaseTransitions\":3}}",
          0, "a_1", 15000, 3 },
        { "{\"metadata\":{\"resourceVersion\":\"7\"}}", 0, "", 0, 0 },
        { "{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":{\"holderIdentity\":null,"
          "\"leaseDurationSeconds\":-5}}",
          0, "", 0, 0 },
        { "{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":{\"holderIdentity\":\"b\","
          "\"leaseDurationSeconds\":2000000000}}",
          0, "b", 3600000, 0 },
        /* What no server of ours would keep: nothing of it may lock anybody out. */
        { "{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":{\"holderIdentity\":7,"
          "\"leaseDurationSeconds\":\"long\",\"leaseTransitions\":[]}}",
          0, "", 0, 0 },
        { "{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":{\"holderIdentity\":\"c\","
          "\"leaseDurationSeconds\":1e300,\"leaseTransitions\":9223372036854775807}}",
          0, "c", 3600000, INT32_MAX },
        { "{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":{\"holderIdentity\":\"d\","
          "\"leaseDurationSeconds\":-1e300,\"leaseTransitions\":-9}}",
          0, "d", 0, 0 },
        { "{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":\"none\"}", 0, "", 0, 0 },
        { "{\"metadata\":{\"resourceVersion\":7},\"spec\":{}}", -EBADMSG, NULL, 0, 0 },
        { "{\"metadata\":{},\"spec\":{}}", -EBADMSG, NULL, 0, 0 },
        { "[]", -EBADMSG, NULL, 0, 0 },
        { "{\"metadata\":", -EBADMSG, NULL, 0, 0 },
        { "", -EBADMSG, NULL, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        CCM_CLEANUP(kube_lease_record_fini) struct kube_lease_record record = { 0 };
        struct ccm_error err = CCM_ERROR_INIT;

        assert_int_equal(
            kube_lease_record_read(table[i].json, strlen(table[i].json), &record, &err),
            table[i].result);
        if (table[i].result < 0) {
            assert_null(record.json);
            assert_int_equal(err.kind, CCM_ERROR_TRANSIENT);
            continue;
        }
        assert_string_equal(record.holder, table[i].holder);
        assert_int_equal(record.duration_ms, table[i].duration_ms);
        assert_int_equal(record.transitions, table[i].transitions);
        assert_string_equal(record.version, "7");
    }
}

/* "seen" changes with what a holder changes, and with nothing else. */
static void test_seen(void **state)
{
    static const struct {
        const char *json;
        bool same;
    } table[] = {
        { "{\"metadata\":{\"resourceVersion\":\"8\",\"labels\":{\"a\":\"b\"}},"
          "\"spec\":{\"holderIdentity\":\"a\",\"renewTime\":\"1\"}}",
          true },
        { "{\"metadata\":{\"resourceVersion\":\"8\"},"
          "\"spec\":{\"holderIdentity\":\"a\",\"renewTime\":\"2\"}}",
          false },
        { "{\"metadata\":{\"resourceVersion\":\"8\"},"
          "\"spec\":{\"holderIdentity\":\"b\",\"renewTime\":\"1\"}}",
          false },
        { "{\"metadata\":{\"resourceVersion\":\"8\"},"
          "\"spec\":{\"holderIdentity\":\"a\",\"renewTime\":\"1\",\"leaseTransitions\":1}}",
          false },
    };
    static const char first[] = "{\"metadata\":{\"resourceVersion\":\"7\"},"
                                "\"spec\":{\"holderIdentity\":\"a\",\"renewTime\":\"1\"}}";
    CCM_CLEANUP(kube_lease_record_fini) struct kube_lease_record before = { 0 };

    (void)state;
    assert_int_equal(kube_lease_record_read(first, strlen(first), &before, NULL), 0);
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        CCM_CLEANUP(kube_lease_record_fini) struct kube_lease_record after = { 0 };

        assert_int_equal(kube_lease_record_read(table[i].json, strlen(table[i].json), &after, NULL),
                         0);
        assert_int_equal(strcmp(before.seen, after.seen) == 0, table[i].same);
    }
}

static void test_print(void **state)
{
    static const char known[] =
        "{\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":\"ccm\","
        "\"resourceVersion\":\"7\",\"labels\":{\"k\":\"v\"}},"
        "\"spec\":{\"strategy\":\"x\",\"holderIdentity\":\"a\"}}";
    const struct kube_lease_claim claim = {
        .holder = "me_1",
        .duration_ms = 15000,
        .wall_ms = INT64_C(1767323045123),
        .transitions = 4,
        .acquired = "2026-01-01T00:00:00.000000Z",
    };
    const struct kube_lease_claim fresh = { .holder = "me_1",
                                            .duration_ms = 15000,
                                            .wall_ms = 1000 };
    CCM_CLEANUP(kube_lease_record_fini) struct kube_lease_record record = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };

    (void)state;
    kube_lease_record_print(&record, "kube-system", "ccm", &fresh, &buf);
    assert_string_equal(ccm_buf_str(&buf),
                        "{\"metadata\":{\"name\":\"ccm\",\"namespace\":\"kube-system\"},"
                        "\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\","
                        "\"spec\":{\"holderIdentity\":\"me_1\",\"leaseDurationSeconds\":15,"
                        "\"acquireTime\":\"1970-01-01T00:00:01.000000Z\","
                        "\"renewTime\":\"1970-01-01T00:00:01.000000Z\","
                        "\"leaseTransitions\":0}}");
    ccm_buf_reset(&buf);
    assert_int_equal(kube_lease_record_read(known, strlen(known), &record, NULL), 0);
    kube_lease_record_print(&record, "kube-system", "ccm", &claim, &buf);
    assert_string_equal(
        ccm_buf_str(&buf),
        "{\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":\"ccm\","
        "\"resourceVersion\":\"7\",\"labels\":{\"k\":\"v\"}},"
        "\"spec\":{\"strategy\":\"x\",\"holderIdentity\":\"me_1\","
        "\"leaseDurationSeconds\":15,\"acquireTime\":\"2026-01-01T00:00:00.000000Z\","
        "\"renewTime\":\"2026-01-02T03:04:05.123000Z\",\"leaseTransitions\":4}}");
}

/* The field has 32 bits: a server refuses one more, and nobody could take the Lease any more. */
static void test_transitions_do_not_overflow(void **state)
{
    static const char full[] =
        "{\"metadata\":{\"resourceVersion\":\"7\"},"
        "\"spec\":{\"holderIdentity\":\"a\",\"leaseTransitions\":2147483647}}";
    CCM_CLEANUP(kube_lease_record_fini) struct kube_lease_record record = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };

    (void)state;
    assert_int_equal(kube_lease_record_read(full, strlen(full), &record, NULL), 0);

    const struct kube_lease_claim claim = { .holder = "me",
                                            .duration_ms = 15000,
                                            .transitions = record.transitions + 1 };

    kube_lease_record_print(&record, "kube-system", "ccm", &claim, &buf);
    assert_non_null(strstr(ccm_buf_str(&buf), "\"leaseTransitions\":2147483647}"));
}

static void test_identity(void **state)
{
    char one[KUBE_LEASE_IDENTITY];
    char two[KUBE_LEASE_IDENTITY];

    (void)state;
    assert_int_equal(kube_lease_make_identity(one, sizeof(one)), 0);
    assert_int_equal(kube_lease_make_identity(two, sizeof(two)), 0);
    assert_string_not_equal(one, two);
    assert_int_equal(one[strlen(one) - 37], '_');
    assert_int_equal(one[strlen(one) - 22], '4'); /* version of the UUID */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),     cmocka_unit_test(test_seen),
        cmocka_unit_test(test_print),    cmocka_unit_test(test_transitions_do_not_overflow),
        cmocka_unit_test(test_identity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
