/* The fake host answers for raw resources as the daemon does. */
#include "support/fake_host.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define APPS "apps/v1", "deployments"

static struct ccm_raw raw_of(const char *key, const char *json)
{
    return (struct ccm_raw){
        .meta = { .struct_size = sizeof(struct ccm_raw), .kind = CCM_KIND_RAW, .key = key },
        .api_version = "apps/v1",
        .kind_name = "Deployment",
        .json = json,
    };
}

static const char *json_of(const struct ccm_object *object)
{
    return ((const struct ccm_raw *)(const void *)object)->json;
}

static void test_raw(void **state)
{
    struct fake_host *fake = fake_host_new();
    const struct ccm_host *host = fake_host_table(fake);
    const struct ccm_raw a = raw_of("default/a", "{\"n\":1}");
    const struct ccm_raw newer = raw_of("default/a", "{\"n\":2}");
    const struct ccm_raw b = raw_of("default/b", "{\"n\":3}");
    const struct ccm_object *const *list;
    size_t count = 7;

    (void)state;
    assert_null(host->get_raw(host, APPS, "default/a"));
    assert_int_equal(host->list_raw(host, APPS, &list, &count), -ENOTSUP); /* nobody watches it */
    assert_int_equal(count, 7);
    fake_host_watch_raw(fake, APPS);
    assert_int_equal(host->list_raw(host, APPS, &list, &count), 0);
    assert_int_equal(count, 0);
    assert_null(list);
    host->release_list(host, list, count);

    fake_host_put_raw(fake, APPS, &a);
    fake_host_put_raw(fake, APPS, &b);
    fake_host_put_raw(fake, APPS, &newer);

    const struct ccm_object *found = host->get_raw(host, APPS, "default/a");

    assert_non_null(found);
    assert_string_equal(json_of(found), "{\"n\":2}");
    assert_int_equal(fake_host_borrowed(fake), 1);
    host->release(host, found);
    assert_null(host->get_raw(host, APPS, "default/c"));
    assert_null(host->get_raw(host, "v1", "deployments", "default/a"));
    assert_null(host->get_raw(host, "apps/v1", "daemonsets", "default/a"));
    assert_null(host->get(host, CCM_KIND_RAW, "default/a")); /* that is for kinds with a type */
    assert_int_equal(host->list_raw(host, APPS, &list, &count), 0);
    assert_int_equal(count, 2);
    assert_int_equal(fake_host_borrowed(fake), 2);
    host->release_list(host, list, count);
    assert_int_equal(fake_host_borrowed(fake), 0);

    fake_host_remove_raw(fake, APPS, "default/a");
    fake_host_remove_raw(fake, APPS, "default/a");
    fake_host_remove_raw(fake, "v1", "none", "default/a");
    assert_null(host->get_raw(host, APPS, "default/a"));
    assert_int_equal(host->list_raw(host, APPS, &list, &count), 0);
    assert_int_equal(count, 1);
    assert_string_equal(list[0]->key, "default/b");
    host->release_list(host, list, count);
    fake_host_free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_raw) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
