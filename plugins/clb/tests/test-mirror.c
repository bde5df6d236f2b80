/* Claims, and what counts as news. */
#include "check.h"

#include "clb/apply.h"
#include "clb/mirror.h"
#include "service/tests/objects.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

static struct clb_entry *claim(struct clb_store *store, const char *key, const char *uid)
{
    struct clb_entry *entry = NULL;

    assert_int_equal(clb_store_claim(store, key, uid, "", &entry), 0);
    return entry;
}

static void test_claims(void **state)
{
    struct clb_store *store = clb_store_new();
    struct clb_entry *entry = claim(store, "a/b", "u1");
    struct clb_entry *other = NULL;

    (void)state;
    assert_int_equal(clb_store_claim(store, "a/b", "u1", "", &other), -EBUSY);
    clb_store_forget(store, "a/b"); /* held: nothing happens */
    other = claim(store, "a/c", "u2");
    assert_ptr_not_equal(entry, other);
    clb_store_release(store, other);
    entry->valid = true;
    entry->attempt = 3;
    clb_store_release(store, entry);
    assert_true(claim(store, "a/b", "u1")->valid);
    clb_store_release(store, entry);
    /* A new object of the same name has nothing of the old one. */
    entry = claim(store, "a/b", "u9");
    assert_false(entry->valid);
    assert_int_equal(entry->attempt, 0);
    clb_store_release(store, entry);
    clb_store_forget(store, "a/b");
    clb_store_free(store);
}

static struct clb_entry *share(struct clb_store *store, const char *key)
{
    struct clb_entry *entry = NULL;

    assert_int_equal(clb_store_claim(store, key, key, "lb-1", &entry), 0);
    return entry;
}

/* Two Services with one load balancer: one mirror, one at a time; what is a Service's own stays. */
static void test_shared(void **state)
{
    struct clb_store *store = clb_store_new();
    struct clb_entry *entry = share(store, "a/b");
    struct clb_entry *other = NULL;

    (void)state;
    assert_int_equal(clb_store_claim(store, "a/c", "a/c", "lb-1", &other), -EBUSY);
    assert_int_equal(clb_store_claim(store, "a/c", "a/c", "lb-2", &other), 0);
    clb_store_release(store, other);
    entry->valid = true;
    assert_int_equal(clb_text_set(&entry->state.lb.id, "lb-1"), 0);
    assert_int_equal(clb_text_set(&entry->state.acl.id, "acl-1"), 0);
    clb_store_release(store, entry);
    other = share(store, "a/c");
    assert_true(other->valid);
    assert_string_equal(other->state.lb.id, "lb-1");
    assert_null(other->state.acl.id);
    /* What one finds wrong, the other reads again. */
    clb_entry_drop(other);
    clb_store_release(store, other);
    entry = share(store, "a/b");
    assert_false(entry->valid);
    assert_null(entry->state.lb.id);
    assert_string_equal(entry->state.acl.id, "acl-1");
    entry->valid = true;
    clb_store_release(store, entry);
    /* The mirror lives as long as somebody uses it. */
    clb_store_forget(store, "a/b");
    assert_true(share(store, "a/c")->valid);
    clb_store_release(store, other);
    clb_store_forget(store, "a/c");
    assert_false(share(store, "a/c")->valid);
    clb_store_free(store);
}

static void test_news(void **state)
{
    struct clb_store *store = clb_store_new();
    struct clb_entry *entry = claim(store, "a/b", "u1");

    (void)state;
    assert_true(clb_entry_news(entry, "t", "x"));
    assert_false(clb_entry_news(entry, "t", "x"));
    assert_true(clb_entry_news(entry, "other", "x"));
    assert_true(clb_entry_news(entry, "t", "y"));
    assert_false(clb_entry_news(entry, "t", ""));
    assert_true(clb_entry_news(entry, "t", "y"));
    clb_store_free(store);
}

#define THREADS 4
#define ROUNDS  2000

struct race {
    struct clb_store *store;
    int holders; /* guarded by the claim itself */
    int bad;
    int won;
};

static void *contend(void *arg)
{
    struct race *race = arg;

    for (int i = 0; i < ROUNDS; i++) {
        struct clb_entry *entry = NULL;

        if (clb_store_claim(race->store, "a/b", "u", "", &entry) == 0) {
            race->bad += race->holders++ != 0;
            race->won++;
            race->holders--;
            clb_store_release(race->store, entry);
        }
    }
    return NULL;
}

static void test_one_holder(void **state)
{
    struct race race = { .store = clb_store_new() };
    pthread_t threads[THREADS];

    (void)state;
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, contend, &race), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(race.bad, 0);
    assert_true(race.won > 0);
    clb_store_free(race.store);
}

static void test_token(void **state)
{
    struct ccm_service *service = obj_service();
    struct clb_lb lb = { .name = (char *)(uintptr_t) "n",
                         .address_type = (char *)(uintptr_t) "internet" };
    char first[CLB_TOKEN_SIZE];
    char other[CLB_TOKEN_SIZE];

    (void)state;
    clb_apply_token(service, &lb, 0, first);
    clb_apply_token(service, &lb, 0, other);
    assert_string_equal(first, other);
    assert_true(strlen(first) <= 64);
    clb_apply_token(service, &lb, 1, other);
    assert_string_not_equal(first, other);
    obj_label(&service->meta, CCM_LIFE_LB_LABEL, "lb-old");
    clb_apply_token(service, &lb, 0, other);
    assert_string_not_equal(first, other);
    obj_label(&service->meta, CCM_LIFE_LB_LABEL, NULL);
    lb.vswitch_id = (char *)(uintptr_t) "vsw-1";
    clb_apply_token(service, &lb, 0, other);
    assert_string_not_equal(first, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_news),
        cmocka_unit_test(test_one_holder),
        cmocka_unit_test_teardown(test_token, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
