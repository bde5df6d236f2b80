/* The fake host offers all that the daemon does, and writes are judged as a server would. */
#include "support/fake_host.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define API     "example.com/v1"
#define BUCKETS API, "buckets"
#define WRITE(...)                                                                                 \
    (&(const struct ccm_raw_call){ .struct_size = sizeof(struct ccm_raw_call),                     \
                                   .api_version = API,                                             \
                                   .resource = "buckets",                                          \
                                   .namespace_ = "default",                                        \
                                   __VA_ARGS__ })

/* Whoever appends a member to the table gives it to the fake host, too. */
static void test_no_member_is_missing(void **state)
{
    struct fake_host *fake = fake_host_new();
    const struct ccm_host *host = fake_host_table(fake);
    const unsigned char *bytes = (const unsigned char *)host;

    (void)state;
    assert_int_equal(host->struct_size, sizeof(struct ccm_host));
    for (size_t at = offsetof(struct ccm_host, log); at < sizeof(*host); at += sizeof(void *)) {
        void *member = NULL;

        memcpy(&member, bytes + at, sizeof(member));
        if (member == NULL) {
            fail_msg("the member at %zu of %zu is NULL", at, sizeof(*host));
        }
    }
    fake_host_free(fake);
}

static struct ccm_raw make_bucket(const char *key, const char *json)
{
    return (struct ccm_raw){
        .meta = { .struct_size = sizeof(struct ccm_raw),
                  .kind = CCM_KIND_RAW,
                  .key = key,
                  .namespace_ = "default",
                  .name = strchr(key, '/') + 1,
                  .uid = "u1",
                  .resource_version = "7" },
        .api_version = API,
        .kind_name = "Bucket",
        .json = json,
    };
}

static void test_writes_are_kept_and_judged(void **state)
{
    struct fake_host *fake = fake_host_new();
    const struct ccm_host *host = fake_host_table(fake);
    const struct ccm_raw one = make_bucket("default/one", "{}");
    const char *body =
        "{\"kind\":\"Bucket\",\"metadata\":{\"name\":\"two\",\"namespace\":\"default\"}}";
    const struct ccm_object *object = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    fake_host_put_raw(fake, BUCKETS, &one);
    assert_int_equal(host->fetch_raw(host, NULL, WRITE(.name = "one"), &object, &err), 0);
    assert_ptr_equal(object, &one.meta);
    host->release(host, object);
    assert_int_equal(host->fetch_raw(host, NULL, WRITE(.name = "no"), &object, &err), -ENOENT);
    assert_int_equal(err.kind, CCM_ERROR_NOT_FOUND);

    assert_int_equal(host->create_raw(host, NULL, WRITE(.body = body), &object, &err), 0);
    assert_string_equal(object->key, "default/two");
    assert_string_equal(object->name, "two");
    assert_string_equal(object->uid, "uid-1");
    assert_string_equal(((const struct ccm_raw *)(const void *)object)->json, body);
    host->release(host, object);
    assert_int_equal(host->create_raw(host, NULL,
                                      WRITE(.body = "{\"metadata\":{\"name\":\"one\"}}"), NULL,
                                      &err),
                     -EEXIST);
    assert_int_equal(err.kind, CCM_ERROR_CONFLICT);

    assert_int_equal(host->patch_raw(host, NULL,
                                     WRITE(.name = "one", .subresource = "status", .uid = "u1",
                                           .patch = CCM_PATCH_MERGE, .body = "{\"a\":1}"),
                                     NULL, &err),
                     0);
    assert_int_equal(
        host->patch_raw(host, NULL, WRITE(.name = "one", .resource_version = "6"), NULL, &err),
        -EBUSY);
    assert_int_equal(err.kind, CCM_ERROR_CONFLICT);
    assert_int_equal(host->update_raw(host, NULL, WRITE(.name = "one", .uid = "u2"), NULL, &err),
                     -EBUSY);
    assert_int_equal(host->delete_raw(host, NULL, WRITE(.name = "one", .uid = "u1"), &err), 0);

    const struct fake_raw_call *patch = fake_host_raw_call(fake, 4);

    assert_int_equal(fake_host_raw_call_count(fake), 8);
    assert_string_equal(patch->verb, "patch");
    assert_string_equal(patch->key, "default/one");
    assert_string_equal(patch->subresource, "status");
    assert_string_equal(patch->body, "{\"a\":1}");
    assert_int_equal(patch->patch, CCM_PATCH_MERGE);
    assert_string_equal(fake_host_raw_call(fake, 7)->verb, "delete");
    assert_null(fake_host_raw_call(fake, 8));

    fake_host_raw_result(fake, -EACCES, CCM_ERROR_AUTH);
    assert_int_equal(host->delete_raw(host, NULL, WRITE(.name = "one"), &err), -EACCES);
    assert_int_equal(err.kind, CCM_ERROR_AUTH);
    fake_host_raw_result(fake, 0, 0);
    fake_host_dry_run(fake, true);
    assert_int_equal(host->delete_raw(host, NULL, WRITE(.name = "one"), &err), -ECANCELED);
    assert_int_equal(host->fetch_raw(host, NULL, WRITE(.name = "one"), NULL, &err), 0);
    assert_int_equal(fake_host_borrowed(fake), 0);
    fake_host_free(fake);
}

static size_t found_by(const struct ccm_host *host, const char *index, const char *value)
{
    const struct ccm_object *const *list = NULL;
    size_t count = 0;

    assert_int_equal(host->list_raw_by(host, BUCKETS, index, value, &list, &count), 0);
    host->release_list(host, list, count);
    return count;
}

static void test_objects_are_found_by_an_index(void **state)
{
    static const struct ccm_index by_class = { .struct_size = sizeof(by_class),
                                               .name = "class",
                                               .path = "spec.classes" };
    static const struct ccm_index by_owner = { .struct_size = sizeof(by_owner),
                                               .name = "owner",
                                               .label = "owner",
                                               .flags = CCM_INDEX_NAMESPACED };
    static const struct ccm_pair label = { "owner", "me" };
    static const struct ccm_pair *const labels[] = { &label };
    struct fake_host *fake = fake_host_new();
    const struct ccm_host *host = fake_host_table(fake);
    const struct ccm_object *const *list = NULL;
    struct ccm_raw one = make_bucket("default/one", "{\"spec\":{\"classes\":[\"a\",\"b\"]}}");
    struct ccm_raw two = make_bucket("default/two", "{\"spec\":{\"classes\":[\"b\"]}}");
    size_t count = 0;

    (void)state;
    two.meta.labels = labels;
    two.meta.label_count = 1;
    fake_host_index_raw(fake, BUCKETS, &by_class);
    fake_host_index_raw(fake, BUCKETS, &by_owner);
    fake_host_put_raw(fake, BUCKETS, &one);
    fake_host_put_raw(fake, BUCKETS, &two);
    assert_int_equal(found_by(host, "class", "a"), 1);
    assert_int_equal(found_by(host, "class", "b"), 2);
    assert_int_equal(found_by(host, "class", "c"), 0);
    assert_int_equal(found_by(host, "owner", "default/me"), 1);
    assert_int_equal(found_by(host, "owner", "me"), 0);
    assert_int_equal(host->list_raw_by(host, BUCKETS, "other", "a", &list, &count), -ENOTSUP);
    assert_int_equal(fake_host_borrowed(fake), 0);
    fake_host_free(fake);
}

static void test_pauses_and_notes(void **state)
{
    struct fake_host *fake = fake_host_new();
    const struct ccm_host *host = fake_host_table(fake);
    const int64_t now = fake_host_now(fake);

    (void)state;
    host->throttle(host, "account", now + 500);
    host->throttle(host, "account", now + 200); /* the latest counts */
    assert_int_equal(host->paused_until(host, "account"), now + 500);
    assert_int_equal(host->paused_until(host, "other"), 0);
    assert_int_equal(fake_host_paused_until(fake), 0);
    host->throttle(host, NULL, now + 300);
    assert_int_equal(fake_host_paused_until(fake), now + 300);
    fake_host_advance(fake, 400);
    assert_int_equal(fake_host_paused_until(fake), 0);
    assert_int_equal(host->paused_until(host, "account"), now + 500);
    host->throttle(host, "account", 0);
    assert_int_equal(host->paused_until(host, "account"), 0);

    host->withdraw(host, "default/web");
    assert_int_equal(fake_host_withdraw_count(fake), 1);
    assert_string_equal(fake_host_withdrawn(fake, 0), "default/web");
    host->note_waiting(host, "default/web", 300, "a job");
    assert_string_equal(fake_host_waiting(fake, "default/web"), "300: a job");
    host->note_waiting(host, "default/web", 0, NULL);
    assert_null(fake_host_waiting(fake, "default/web"));
    host->note_call(host, "default/web", 0, "Create: ok");
    assert_string_equal(fake_host_noted_call(fake, "default/web"), "Create: ok");
    fake_host_free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_member_is_missing),
        cmocka_unit_test(test_writes_are_kept_and_judged),
        cmocka_unit_test(test_objects_are_found_by_an_index),
        cmocka_unit_test(test_pauses_and_notes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
