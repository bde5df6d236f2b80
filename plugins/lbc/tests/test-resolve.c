/* Sets of backends, and pod addresses turned into interfaces. */
#include "check.h"
#include "lbc/model/resolve.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

static size_t calls;
static size_t asked;
static int result;

/* Stands in for the cloud: 10.* has an interface, 172.* is missing, the rest lies outside. */
static int find_interfaces(const struct lbc_cloud_caller *by, const struct lbc_addresses *addresses,
                           struct lbc_interface *ret, struct ccm_error *err)
{
    (void)by;
    calls++;
    asked = addresses->count;
    for (size_t i = 0; i < addresses->count; i++) {
        const char *one = addresses->items[i];

        ret[i].state = strncmp(one, "10.", 3) == 0    ? LBC_INTERFACE_FOUND
                       : strncmp(one, "172.", 4) == 0 ? LBC_INTERFACE_MISSING
                                                      : LBC_INTERFACE_FOREIGN;
        ccm_text_printf(ret[i].id, sizeof(ret[i].id), "eni-%s", one);
    }
    return result < 0 ? ccm_error_set(err, result, CCM_ERROR_TRANSIENT, "no answer") : 0;
}

static const struct lbc_cloud_ops cloud_ops = { .find_interfaces = find_interfaces };

static struct lbc_candidate pod(const char *address)
{
    return (
        struct lbc_candidate){ .address = address, .instance_id = "", .port = 8080, .weight = 100 };
}

static struct lbc_candidate instance(const char *id, uint32_t weight)
{
    return (
        struct lbc_candidate){ .address = "", .instance_id = id, .port = 30080, .weight = weight };
}

static void sets_expect_result(struct lbc_candidates *sets, size_t count, struct lbc_resolved *ret,
                               int expect)
{
    struct ccm_error err = CCM_ERROR_INIT;

    calls = 0;
    asked = 0;
    assert_int_equal(lbc_resolve(&cloud_ops, &(const struct lbc_cloud_caller){ .host = NULL }, sets,
                                 count, false, ret, &err),
                     expect);
    if (expect < 0) {
        assert_string_equal(err.message, "no answer");
    }
}

static void test_resolve(void **state)
{
    struct lbc_candidate first[] = { pod("10.0.0.2"), pod("10.0.0.1"), pod("172.0.0.1"),
                                     pod("192.0.0.1"), instance("i-1", 7) };
    struct lbc_candidate second[] = { pod("10.0.0.1"), pod("172.0.0.1") };
    struct lbc_candidates sets[] = { { .items = first, .len = 5 }, { .items = second, .len = 2 } };
    struct lbc_resolved ret[2];

    (void)state;
    memset(ret, 0, sizeof(ret));
    result = 0;
    sets_expect_result(sets, 2, ret, 0);
    assert_int_equal(calls, 1);
    assert_int_equal(asked, 4);
    assert_int_equal(ret[0].backends.len, 3);
    assert_string_equal(ret[0].backends.items[0].server_id, "i-1");
    assert_string_equal(ret[0].backends.items[0].server_ip, "");
    assert_int_equal(ret[0].backends.items[0].weight, 7);
    assert_string_equal(ret[0].backends.items[1].server_id, "eni-10.0.0.1");
    assert_string_equal(ret[0].backends.items[1].server_ip, "10.0.0.1");
    assert_string_equal(ccm_buf_str(&ret[0].invalid), "172.0.0.1");
    assert_string_equal(ccm_buf_str(&ret[0].foreign), "192.0.0.1");
    assert_int_equal(ret[1].backends.len, 1);
    assert_string_equal(ccm_buf_str(&ret[1].foreign), "");
    assert_false(ret[0].doubtful);
    assert_false(ret[1].doubtful);
    lbc_resolved_fini(&ret[0]);
    lbc_resolved_fini(&ret[1]);
}

/* One pod without interface says something about that pod, most of them about the answer. */
static void test_doubtful(void **state)
{
    static const struct {
        const char *pods[4];
        bool leaving; /* the last one */
        bool doubtful;
    } rows[] = {
        { { "172.0.0.1" }, false, true },
        { { "10.0.0.1", "172.0.0.1" }, false, false },
        { { "10.0.0.1", "172.0.0.1", "172.0.0.2" }, false, true },
        { { "10.0.0.1", "172.0.0.1", "172.0.0.2" }, true, false },
        { { "192.0.0.1", "172.0.0.1" }, false, false },
        { { "172.0.0.1", "172.0.0.2", "10.0.0.1", "10.0.0.2" }, false, false },
    };

    (void)state;
    result = 0;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct lbc_candidate items[4];
        struct lbc_candidates set = { .items = items };
        struct lbc_resolved ret;

        memset(&ret, 0, sizeof(ret));
        while (set.len < 4 && rows[i].pods[set.len] != NULL) {
            items[set.len] = pod(rows[i].pods[set.len]);
            set.len++;
        }
        items[set.len - 1].leaving = rows[i].leaving;
        sets_expect_result(&set, 1, &ret, 0);
        assert_int_equal(ret.doubtful, rows[i].doubtful);
        lbc_resolved_fini(&ret);
    }
}

static void test_instances_ask_nobody(void **state)
{
    struct lbc_candidate one = instance("i-1", 100);
    struct lbc_candidates set = { .items = &one, .len = 1 };
    struct lbc_resolved ret;

    (void)state;
    memset(&ret, 0, sizeof(ret));
    sets_expect_result(&set, 1, &ret, 0);
    assert_int_equal(calls, 0);
    lbc_resolved_fini(&ret);
}

static void test_failure(void **state)
{
    struct lbc_candidate one = pod("10.0.0.1");
    struct lbc_candidates set = { .items = &one, .len = 1 };
    struct lbc_resolved ret;

    (void)state;
    memset(&ret, 0, sizeof(ret));
    result = -EIO;
    sets_expect_result(&set, 1, &ret, -EIO);
    assert_int_equal(ret.backends.len, 0);
    lbc_resolved_fini(&ret);
}

static struct lbc_backend backend(const char *id, const char *ip, uint16_t port, uint8_t weight)
{
    return (struct lbc_backend){ .server_id = (char *)(uintptr_t)id,
                                 .server_ip = (char *)(uintptr_t)ip,
                                 .port = port,
                                 .weight = weight,
                                 .type =
                                     ip[0] == '\0' ? LBC_BACKEND_INSTANCE : LBC_BACKEND_INTERFACE };
}

static void test_set(void **state)
{
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends set = { 0 };
    const struct lbc_backend all[] = {
        backend("eni-2", "10.0.0.1", 80, 1), backend("i-2", "", 80, 1), backend("i-1", "", 81, 1),
        backend("eni-2", "10.0.0.0", 80, 1), backend("i-1", "", 80, 1),
    };
    const struct lbc_backend heavier = backend("i-1", "", 81, 9);
    const struct lbc_backend missing = backend("i-1", "", 82, 1);

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(all); i++) {
        assert_int_equal(lbc_backends_put(&set, &all[i]), 0);
    }
    for (size_t i = 1; i < set.len; i++) {
        assert_true(lbc_backend_compare(&set.items[i - 1], &set.items[i]) < 0);
    }
    assert_int_equal(set.len, 5);
    assert_int_equal(lbc_backends_put(&set, &heavier), 0);
    assert_int_equal(set.len, 5);
    assert_int_equal(lbc_backends_find(&set, &heavier)->weight, 9);
    assert_null(lbc_backends_find(&set, &missing));
    lbc_backends_remove(&set, &missing);
    assert_int_equal(set.len, 5);
    for (size_t i = 0; i < CCM_ARRAY_LEN(all); i++) {
        lbc_backends_remove(&set, &all[i]);
    }
    assert_int_equal(set.len, 0);
}

/* Groups of type Ip: nobody is asked, nodes and pods are addresses, those of one address are one.
 */
static void test_addresses(void **state)
{
    struct lbc_candidate all[] = { pod("10.0.0.9"), pod("10.0.0.8"), pod("10.0.0.9") };
    struct lbc_candidates set = { .items = all, .len = 3, .by_address = true };
    struct lbc_resolved ret;

    (void)state;
    memset(&ret, 0, sizeof(ret));
    all[1].leaving = true;
    sets_expect_result(&set, 1, &ret, 0);
    assert_int_equal(calls, 0);
    assert_int_equal(ret.backends.len, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct lbc_backend *one = &ret.backends.items[i];

        assert_int_equal(one->type, LBC_BACKEND_IP);
        assert_string_equal(one->server_id, i == 0 ? "10.0.0.8" : "10.0.0.9");
        assert_string_equal(one->server_ip, one->server_id);
        assert_true(one->leaving == (i == 0));
    }
    lbc_resolved_fini(&ret);
}

/* A pod that goes away loses its interface first: no reason to hold anything back. */
static void test_leaving_without_interface(void **state)
{
    struct lbc_candidate one = pod("172.0.0.1");
    struct lbc_candidates set = { .items = &one, .len = 1 };
    struct lbc_resolved ret;

    (void)state;
    memset(&ret, 0, sizeof(ret));
    one.leaving = true;
    result = 0;
    sets_expect_result(&set, 1, &ret, 0);
    assert_int_equal(ret.backends.len, 0);
    assert_string_equal(ccm_buf_str(&ret.invalid), "");
    lbc_resolved_fini(&ret);
}

/* Address and type are identity; IPv6 addresses are one however they are written. */
static void test_set_of_addresses(void **state)
{
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends set = { 0 };
    struct lbc_backend long_form = backend("FD00:0:0:0:0:0:0:1", "", 0, 1);
    struct lbc_backend short_form = backend("fd00::1", "", 0, 2);
    const struct lbc_backend eni = backend("eni-1", "fd00:0::1", 0, 3);
    struct lbc_backend found;

    (void)state;
    assert_int_equal(sizeof(struct lbc_backend), 3 * sizeof(char *) + 8); /* there are many */
    long_form.type = LBC_BACKEND_IP;
    short_form.type = LBC_BACKEND_IP;
    short_form.leaving = true;
    assert_int_equal(lbc_backends_put(&set, &long_form), 0);
    assert_int_equal(lbc_backends_put(&set, &short_form), 0);
    assert_int_equal(lbc_backends_put(&set, &eni), 0);
    assert_int_equal(set.len, 2);
    found = *lbc_backends_find(&set, &short_form);
    assert_int_equal(found.weight, 2);
    assert_true(found.leaving);
    assert_ptr_equal(found.server_id, found.server_ip);
    assert_string_equal(set.items[0].server_ip, "fd00::1");
    short_form.description = (char *)(uintptr_t) "text";
    assert_int_equal(lbc_backends_put(&set, &short_form), 0);
    assert_string_equal(lbc_backends_find(&set, &short_form)->description, "text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resolve),
        cmocka_unit_test(test_doubtful),
        cmocka_unit_test(test_instances_ask_nobody),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_leaving_without_interface),
        cmocka_unit_test(test_set_of_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
