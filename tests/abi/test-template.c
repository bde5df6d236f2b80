/* The template plugin, from its file, against a host that counts: it greets once, and again when
 * the value changes. */
#include "plugin/loader.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

static struct {
    const struct ccm_object *object; /* what the cache holds */
    int enqueued;
    int events;
    int borrowed; /* get() without release() */
    char message[256];
    bool dry_run;
    int plans;
} fake;

static void fake_log(const struct ccm_host *host, uint64_t level, const char *object,
                     const char *format, ...)
{
    (void)host; /* nothing is written */
    (void)level;
    (void)object;
    (void)format;
}

static const char *fake_option_string(const struct ccm_host *host, const char *group,
                                      const char *name)
{
    (void)host; /* one plugin, one host */
    assert_null(group);
    assert_string_equal(name, "annotation");
    return "example.com/hello";
}

static const struct ccm_object *fake_get(const struct ccm_host *host, uint64_t kind,
                                         const char *key)
{
    (void)host;
    assert_int_equal(kind, CCM_KIND_SERVICE);
    assert_string_equal(key, "default/web");
    fake.borrowed += fake.object != NULL;
    return fake.object;
}

static void fake_release(const struct ccm_host *host, const struct ccm_object *object)
{
    (void)host;
    assert_ptr_equal(object, fake.object);
    fake.borrowed--;
}

static void fake_event(const struct ccm_host *host, const struct ccm_event *event)
{
    (void)host;
    assert_ptr_equal(event->object, fake.object);
    assert_string_equal(event->reason, "TemplateSeen");
    assert_int_equal(event->warning, 0);
    ccm_text_copy(fake.message, sizeof(fake.message), event->message);
    fake.events++;
}

static void fake_enqueue(const struct ccm_host *host, const char *key, uint64_t lane,
                         uint64_t delay_ms)
{
    (void)host;
    assert_string_equal(key, "default/web");
    assert_int_equal(lane, CCM_LANE_SPEC);
    assert_int_equal(delay_ms, 0);
    fake.enqueued++;
}

static bool fake_dry_run(const struct ccm_host *host)
{
    (void)host;
    return fake.dry_run;
}

static void fake_plan(const struct ccm_host *host, const char *object, const char *steps)
{
    (void)host;
    assert_string_equal(object, "default/web");
    assert_string_equal(steps, "greet it with an event");
    fake.plans++;
}

static const struct ccm_host host = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(host),
    .log = fake_log,
    .option_string = fake_option_string,
    .get = fake_get,
    .release = fake_release,
    .event = fake_event,
    .enqueue = fake_enqueue,
    .dry_run = fake_dry_run,
    .plan = fake_plan,
};

static const struct ccm_pair pair_a = { "example.com/hello", "a" };
static const struct ccm_pair pair_b = { "example.com/hello", "b" };
static const struct ccm_pair pair_other = { "example.com/other", "a" };
static const struct ccm_pair *const list_a[] = { &pair_a };
static const struct ccm_pair *const list_b[] = { &pair_other, &pair_b };
static const struct ccm_pair *const list_other[] = { &pair_other };

#define SERVICE(list, count)                                                                       \
    {                                                                                              \
        .struct_size = sizeof(struct ccm_service), .kind = CCM_KIND_SERVICE, .key = "default/web", \
        .annotations = (list), .annotation_count = (count)                                         \
    }
static const struct ccm_object with_a = SERVICE(list_a, 1);
static const struct ccm_object with_b = SERVICE(list_b, 2);
static const struct ccm_object without = SERVICE(list_other, 1);

/* The build tree may be writable by a group; the loader is meant to mind. */
static struct plugin_loaded_plugin *load(void)
{
    CCM_CLEANUP(ccm_freep) char *data = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    struct plugin_loaded_plugin *plugin = NULL;
    char dir[] = "/tmp/ccm-template-XXXXXX";
    size_t len = 0;

    assert_int_equal(ccm_text_read_file(CCM_TEST_TEMPLATE, (size_t)64 << 20, &data, &len), 0);
    assert_non_null(mkdtemp(dir));

    CCM_CLEANUP(ccm_freep) char *path = ccm_text_format("%s/template.so", dir);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    assert_int_equal(write(fd, data, len), len);
    assert_int_equal(close(fd), 0);

    const int r = plugin_load("template", dir, &plugin, &err);

    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(dir), 0);
    if (r < 0) {
        fail_msg("%s", err.message);
    }
    return plugin;
}

static void test_map_and_reconcile(void **state)
{
    static const struct {
        const struct ccm_object *before, *after;
        int enqueued;
    } rows[] = {
        { NULL, &with_a, 1 },     { &with_a, &with_a, 0 },  { &with_a, &with_b, 1 },
        { &without, &with_a, 1 }, { &with_a, &without, 0 }, { NULL, &without, 0 },
        { &with_a, NULL, 0 },
    };
    const char *const keys[] = { "default/web" };
    const struct ccm_request request = { .struct_size = sizeof(request),
                                         .keys = keys,
                                         .key_count = 1 };
    struct ccm_result result = { .struct_size = sizeof(result) };
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(plugin_freep) struct plugin_loaded_plugin *plugin = load();
    void *self = NULL;

    (void)state; /* no fixture */
    assert_int_equal(plugin->desc->create(&host, &self, &err), 0);
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const struct ccm_change change = { .struct_size = sizeof(change),
                                           .type = rows[i].before == NULL  ? CCM_CHANGE_ADDED
                                                   : rows[i].after == NULL ? CCM_CHANGE_DELETED
                                                                           : CCM_CHANGE_UPDATED,
                                           .before = rows[i].before,
                                           .after = rows[i].after };

        fake.enqueued = 0;
        plugin->desc->watches[0]->map(self, &change);
        assert_int_equal(fake.enqueued, rows[i].enqueued);
    }

    const struct ccm_object *const held[] = { &with_a, &without, NULL };
    const int events[] = { 1, 0, 0 };

    for (size_t i = 0; i < CCM_ARRAY_LEN(held); i++) {
        fake.object = held[i];
        fake.events = 0;
        assert_int_equal(plugin->desc->reconcile(self, &request, &result, &err), 0);
        assert_int_equal(fake.events, events[i]);
        assert_int_equal(fake.borrowed, 0);
    }
    assert_string_equal(fake.message,
                        "Service default/web carries the annotation example.com/hello");
    assert_int_equal(fake.plans, 0);
    fake.dry_run = true;
    fake.object = &with_a;
    fake.events = 0;
    assert_int_equal(plugin->desc->reconcile(self, &request, &result, &err), 0);
    assert_int_equal(fake.events, 0);
    assert_int_equal(fake.plans, 1);
    plugin->desc->destroy(self);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_map_and_reconcile) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
