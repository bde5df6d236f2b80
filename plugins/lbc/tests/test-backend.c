/* Sets of backends: order, identity, and that a set that has rested is what it was. */
#include "check.h"
#include "lbc/apply/record.h"

#include "lbc/model/backend.h"
#include "tests/fuzz/oom.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct lbc_backends *set, int type, const char *id, const char *ip, int port,
                int weight, const char *description)
{
    const struct lbc_backend one = {
        .server_id = (char *)(uintptr_t)id, /* copied */
        .server_ip = (char *)(uintptr_t)ip,
        .description = (char *)(uintptr_t)description,
        .port = (uint16_t)port,
        .weight = (uint8_t)weight,
        .type = (uint8_t)type,
    };

    assert_int_equal(lbc_backends_put(set, &one), 0);
}

static void copy(struct lbc_backends *to, const struct lbc_backends *from)
{
    for (size_t i = 0; i < from->len; i++) {
        assert_int_equal(lbc_backends_put(to, &from->items[i]), 0);
    }
}

static void check_equal(const struct lbc_backends *a, const struct lbc_backends *b)
{
    assert_int_equal(a->len, b->len);
    for (size_t i = 0; i < a->len; i++) {
        const struct lbc_backend *one = &a->items[i];
        const struct lbc_backend *two = &b->items[i];

        assert_int_equal(lbc_backend_compare(one, two), 0);
        assert_string_equal(one->server_id, two->server_id);
        assert_string_equal(one->server_ip, two->server_ip);
        assert_int_equal(one->description == NULL, two->description == NULL);
        if (one->description != NULL) {
            assert_string_equal(one->description, two->description);
        }
        assert_int_equal(one->port, two->port);
        assert_int_equal(one->weight, two->weight);
        assert_int_equal(one->type, two->type);
        assert_int_equal(one->leaving, two->leaving);
    }
}

/* Rest, wake, compare; the set is as before. */
static void check_rest(struct lbc_backends *set)
{
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends twin = { 0 };
    const size_t len = set->len;

    copy(&twin, set);
    lbc_backends_rest(set);
    assert_int_equal(set->len, len);
    assert_int_equal(set->rest != NULL, len > 0);
    if (len > 0) {
        assert_null(set->items); /* nobody takes it for an empty set by accident */
    }
    lbc_backends_rest(set); /* once more makes no difference */
    assert_int_equal(lbc_backends_wake(set), 0);
    assert_null(set->rest);
    assert_int_equal(lbc_backends_wake(set), 0);
    check_equal(set, &twin);
}

static void test_put(void **state)
{
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends set = { 0 };

    (void)state;
    put(&set, LBC_BACKEND_INSTANCE, "i-2", "10.0.0.2", 80, 1, NULL);
    put(&set, LBC_BACKEND_INSTANCE, "i-1", "10.0.0.1", 80, 1, NULL);
    put(&set, LBC_BACKEND_INSTANCE, "i-2", NULL, 80, 7, NULL);
    put(&set, LBC_BACKEND_INTERFACE, "eni-1", "2001:db8:0:0::1", 80, 1, NULL);
    put(&set, LBC_BACKEND_INTERFACE, "eni-1", "2001:db8::1", 80, 2, "x");
    assert_int_equal(set.len, 3);
    assert_string_equal(set.items[0].server_id, "i-1");
    assert_string_equal(set.items[0].server_ip, "");
    assert_int_equal(set.items[1].weight, 7);
    assert_string_equal(set.items[2].server_ip, "2001:db8::1");
    assert_string_equal(set.items[2].description, "x");
    lbc_backends_remove(&set, &set.items[0]);
    assert_int_equal(set.len, 2);
    assert_string_equal(set.items[0].server_id, "i-2");
}

static void test_rest(void **state)
{
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends set = { 0 };
    char long_id[400];

    (void)state;
    check_rest(&set);
    memset(long_id, 'x', sizeof(long_id) - 1);
    long_id[sizeof(long_id) - 1] = '\0';
    put(&set, LBC_BACKEND_INSTANCE, "", "", 0, 0, NULL);
    put(&set, LBC_BACKEND_INSTANCE, "i-1", "", 30080, 100, NULL);
    put(&set, LBC_BACKEND_INSTANCE, "i-1", "", 30081, 100, "by hand");
    put(&set, LBC_BACKEND_INSTANCE, "i-10", "", 30081, 0, "by hand");
    put(&set, LBC_BACKEND_INSTANCE, "i-2", "", 65535, 255, "");
    put(&set, LBC_BACKEND_INSTANCE, long_id, "", 1, 1, long_id);
    long_id[300] = 'y';
    put(&set, LBC_BACKEND_INSTANCE, long_id, "", 1, 1, "by another hand");
    put(&set, LBC_BACKEND_INTERFACE, "eni-1", "10.0.0.1", 80, 100, NULL);
    put(&set, LBC_BACKEND_INTERFACE, "eni-1", "010.0.0.1", 80, 100,
        NULL); /* not as we would write it */
    put(&set, LBC_BACKEND_INTERFACE, "eni-1", "", 80, 100, NULL);
    put(&set, LBC_BACKEND_INTERFACE, "eni-1", "none", 80, 100, NULL);
    put(&set, LBC_BACKEND_INTERFACE, "eni-2", "2001:db8::1", 80, 100, NULL);
    put(&set, LBC_BACKEND_INTERFACE, "eni-2", "::ffff:10.0.0.1", 80, 100, NULL);
    put(&set, LBC_BACKEND_INTERFACE, "eni-2", "::1", 256, 1, NULL);
    put(&set, LBC_BACKEND_IP, "10.0.0.1", "", 80, 100, NULL);
    put(&set, LBC_BACKEND_IP, "2001:db8::1", "", 80, 100, "x");
    set.items[3].leaving = true;
    check_rest(&set);
    lbc_backends_rest(&set); /* and is freed as it rests */
}

/* --- at random --- */

static uint32_t seed;

static uint32_t any(uint32_t below)
{
    seed = seed * 1664525U + 1013904223U;
    return (seed >> 8) % below;
}

static void put_any(struct lbc_backends *set)
{
    static const char *const prefixes[] = { "i-", "i-bp1", "eni-bp1abcdef", "" };
    static const char *const told[] = { NULL, NULL, NULL, "", "k8s/80/web", "hand" };
    char id[64];
    char ip[64];

    ccm_text_printf(id, sizeof(id), "%s%x", prefixes[any(4)], any(1U << (1 + any(20))));
    if (any(3) == 0) {
        ccm_text_printf(ip, sizeof(ip), "2001:db8:%x::%x", any(65536), any(65536));
    } else {
        ccm_text_printf(ip, sizeof(ip), "10.%u.%u.%u", any(256), any(256), any(300));
    }
    put(set, (int)any(3), id, ip, (int)(any(2) == 0 ? 80 : any(65536)), (int)any(101),
        told[any(6)]);
    set->items[any((uint32_t)set->len)].leaving = any(4) == 0;
}

static void test_random(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 300; round++) {
        CCM_CLEANUP(lbc_backends_fini) struct lbc_backends set = { 0 };

        seed = round;
        for (uint32_t left = any(80); left > 0; left--) {
            put_any(&set);
            if (any(20) == 0) {
                check_rest(&set); /* what has rested goes on as ever */
            }
            if (any(10) == 0) {
                lbc_backends_remove(&set, &set.items[any((uint32_t)set.len)]);
            }
        }
        check_rest(&set);
    }
}

/* Whatever allocation fails: it stays awake, or it still rests, and nothing of it is lost. */
static void test_no_memory(void **state)
{
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends set = { 0 };
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends twin = { 0 };
    bool failed = true;

    (void)state;
    seed = 1;
    for (size_t i = 0; i < 30; i++) {
        put_any(&set);
    }
    copy(&twin, &set);
    for (size_t at = 1; failed; at++) {
        oom_begin(at, false);
        lbc_backends_rest(&set);
        failed = oom_end();
        if (failed) {
            assert_null(set.rest);
            check_equal(&set, &twin);
        }
    }
    assert_non_null(set.rest);
    failed = true;
    for (size_t at = 1; failed; at++) {
        oom_begin(at, false);
        const int r = lbc_backends_wake(&set);

        failed = oom_end();
        assert_int_equal(r, failed ? -ENOMEM : 0);
        assert_int_equal(set.rest != NULL, failed);
        assert_int_equal(set.len, twin.len);
    }
    check_equal(&set, &twin);
}

/* What one more backend costs at rest, named as the cloud names things. */
static void test_bytes(void **state)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    static const struct {
        int type;
        const char *prefix;
        size_t most;
    } cases[] = { { LBC_BACKEND_INSTANCE, "i-bp1", 24 },
                  { LBC_BACKEND_INTERFACE, "eni-bp1", 28 },
                  { LBC_BACKEND_IP, NULL, 20 } };

    (void)state;
    seed = 7;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CCM_CLEANUP(lbc_backends_fini) struct lbc_backends set = { 0 };

        for (size_t n = 0; n < 1000; n++) {
            char id[32] = "";
            char ip[32];

            ccm_text_printf(ip, sizeof(ip), "10.%zu.%zu.1", n / 256, n % 256);
            (void)snprintf(id, sizeof(id), "%s", cases[i].prefix == NULL ? ip : cases[i].prefix);
            for (size_t at = strlen(id); cases[i].prefix != NULL && at < 22; at++) {
                id[at] = letters[any(36)];
            }
            put(&set, cases[i].type, id, ip, 30080, 100, NULL);
        }
        lbc_backends_rest(&set);
        assert_non_null(set.rest);
        assert_in_range(malloc_usable_size(set.rest) / 1000, 1, cases[i].most);
    }
}

static struct lbc_backend member(const char *address, unsigned weight)
{
    return (struct lbc_backend){ .type = LBC_BACKEND_IP,
                                 .server_id = (char *)(uintptr_t)address, /* copied */
                                 .port = 80,
                                 .weight = (uint8_t)weight };
}

/* What a group has once a step is done. */
static void test_members(void **state)
{
    static const struct {
        unsigned type;
        const char *address;
        const char *expected;
    } rows[] = {
        { LBC_STEP_CREATE_GROUP, "10.0.0.3", "10.0.0.3=9 " },
        { LBC_STEP_ADD, "10.0.0.3", "10.0.0.1=1 10.0.0.2=2 10.0.0.3=9 " },
        { LBC_STEP_UPDATE, "10.0.0.2", "10.0.0.1=1 10.0.0.2=9 " },
        { LBC_STEP_REMOVE, "10.0.0.1", "10.0.0.2=2 " },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct lbc_backend one = member("10.0.0.1", 1);
        const struct lbc_backend two = member("10.0.0.2", 2);
        const struct lbc_backend about = member(rows[i].address, 9);
        struct lbc_group group = { .id = NULL };
        struct lbc_step step = { .type = rows[i].type };
        struct lbc_backends members = { 0 };
        struct ccm_buf text = { .max = 200 };

        assert_int_equal(lbc_backends_put(&group.backends, &one), 0);
        assert_int_equal(lbc_backends_put(&group.backends, &two), 0);
        assert_int_equal(lbc_backends_put(&step.backends, &about), 0);
        step.group = rows[i].type == LBC_STEP_CREATE_GROUP ? NULL : &group;
        assert_int_equal(lbc_step_list_members(&step, &members), 0);
        for (size_t k = 0; k < members.len; k++) {
            ccm_buf_addf(&text, "%s=%u ", members.items[k].server_id, members.items[k].weight);
        }
        assert_string_equal(ccm_buf_str(&text), rows[i].expected);
        assert_int_equal(group.backends.len, 2);
        ccm_buf_fini(&text);
        lbc_backends_fini(&members);
        lbc_backends_fini(&step.backends);
        lbc_backends_fini(&group.backends);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),   cmocka_unit_test(test_put),
        cmocka_unit_test(test_rest),      cmocka_unit_test(test_random),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
