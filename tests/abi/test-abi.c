/* Real plugin files against the loader and the registry: each bad one is refused by name and
 * reason, the others run. */
#include "plugin/registry.h"
#include "tools/inspect.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

/* A folder of our own with copies of the plugins, so that modes can be changed. */
struct fixture {
    char dir[64];
    const char *files[32]; /* names in dir, to be removed */
    size_t file_count;
};

static int fixture_begin(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    (void)umask(022); /* the old one does not matter in a test program */
    ccm_text_copy(fixture->dir, sizeof(fixture->dir), "/tmp/ccm-abi-XXXXXX");
    assert_non_null(mkdtemp(fixture->dir));
    *state = fixture;
    return 0;
}

static char *path_in(const struct fixture *fixture, const char *name)
{
    char *path = ccm_text_format("%s/%s", fixture->dir, name);

    assert_non_null(path);
    return path;
}

static int fixture_end(void **state)
{
    struct fixture *fixture = *state;

    for (size_t i = 0; i < fixture->file_count; i++) {
        CCM_CLEANUP(ccm_freep) char *path = path_in(fixture, fixture->files[i]);

        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(rmdir(fixture->dir), 0);
    free(fixture);
    return 0;
}

static void note(struct fixture *fixture, const char *name)
{
    assert_true(fixture->file_count < CCM_ARRAY_LEN(fixture->files));
    fixture->files[fixture->file_count++] = name;
}

static void write_file(struct fixture *fixture, const char *name, const char *data, size_t len)
{
    CCM_CLEANUP(ccm_freep) char *path = path_in(fixture, name);
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    note(fixture, name);
}

/* Copy <build>/tests/abi/from into the folder, as `to`; at most `limit` bytes of it. */
static void copy_part(struct fixture *fixture, const char *from, const char *to, size_t limit)
{
    CCM_CLEANUP(ccm_freep) char *source = ccm_text_format("%s/%s", CCM_TEST_ABI_DIR, from);
    CCM_CLEANUP(ccm_freep) char *data = NULL;
    size_t len = 0;

    assert_non_null(source);
    assert_int_equal(ccm_text_read_file(source, (size_t)64 << 20, &data, &len), 0);
    assert_true(limit == 0 || limit < len);
    write_file(fixture, to, data, limit == 0 ? len : limit);
}

static void copy_plugin(struct fixture *fixture, const char *name)
{
    copy_part(fixture, name, name, 0);
}

static void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", part, text);
    }
}

static void assert_refused(const struct fixture *fixture, const char *spec, int result,
                           const char *file, const char *reason)
{
    struct ccm_error err = CCM_ERROR_INIT;
    struct plugin_loaded_plugin *plugin = NULL;

    assert_int_equal(plugin_load(spec, fixture->dir, &plugin, &err), result);
    assert_null(plugin);
    assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
    assert_contains(err.message, file);
    assert_contains(err.message, reason);
}

static void test_good(void **state)
{
    struct fixture *fixture = *state;
    CCM_CLEANUP(plugin_freep) struct plugin_loaded_plugin *plugin = NULL;
    CCM_CLEANUP(ccm_freep) char *path = path_in(fixture, "good.so");
    struct ccm_error err = CCM_ERROR_INIT;

    copy_plugin(fixture, "good.so");
    assert_int_equal(plugin_load("good", fixture->dir, &plugin, &err), 0);
    assert_string_equal(plugin->desc->name, "good");
    assert_string_equal(plugin->path, path);
    assert_string_equal(plugin->desc->version, "1.2.3");
    assert_non_null(plugin->desc->stop);
    assert_null(plugin->desc->options[0]);
    assert_int_equal(plugin->desc->watches[0]->kind, CCM_KIND_SERVICE);
    assert_null(plugin->desc->watches[1]);
}

static void test_bad_descriptors(void **state)
{
    static const struct {
        const char *file;
        int result;
        const char *reason;
    } rows[] = {
        { "no-symbol.so", -ENOEXEC, "does not export the symbol ccm_plugin" },
        { "wrong-major.so", -EINVAL, "built for plugin ABI 2, this ccmd has ABI 1" },
        { "short.so", -EINVAL, "its descriptor has 96 bytes, ABI 1.0 has 120" },
        { "null-callback.so", -EINVAL, "lacks .destroy" },
        { "unknown-flag.so", -EINVAL, "its flags 0x10000000000 are not known" },
        { "bad-name.so", -EINVAL, "its name \"../clb\" is not [a-z0-9-]{1,32}" },
        { "bad-option.so", -EINVAL, "option batch: its default: 17 is not in 1..16" },
        { "undefined.so", -ENOEXEC, "cannot be loaded: undefined symbol: nobody_defines_this" },
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(ccm_freep) char *path = path_in(fixture, rows[i].file);

        copy_plugin(fixture, rows[i].file);
        assert_refused(fixture, path, rows[i].result, path, rows[i].reason);
    }
}

static void test_no_shared_object(void **state)
{
    static const char script[] = "#!/bin/sh\nexit 0\n";
    static const char text[] =
        "plugins are compiled code, and this is a text of more than 64 bytes.";
    struct fixture *fixture = *state;

    write_file(fixture, "script.so", script, sizeof(script) - 1);
    assert_refused(fixture, "script", -ENOEXEC, "/script.so", "not a shared object");
    write_file(fixture, "empty.so", "", 0);
    assert_refused(fixture, "empty", -ENOEXEC, "/empty.so", "not a shared object");
    write_file(fixture, "text.so", text, sizeof(text) - 1);
    assert_refused(fixture, "text", -ENOEXEC, "/text.so", "not a shared object");
    copy_part(fixture, "good.so", "header.so", 100);
    assert_refused(fixture, "header", -ENOEXEC, "/header.so", "cut off");
    copy_part(fixture, "good.so", "half.so", 9000);
    assert_refused(fixture, "half", -ENOEXEC, "/half.so", "cut off");
}

static void test_modes(void **state)
{
    struct fixture *fixture = *state;
    CCM_CLEANUP(ccm_freep) char *path = path_in(fixture, "good.so");

    copy_plugin(fixture, "good.so");
    assert_int_equal(chmod(path, 0646), 0);
    assert_refused(fixture, "good", -EACCES, path,
                   "can be written by others (mode 0646): chmod go-w");
    assert_int_equal(chmod(path, 0664), 0);
    assert_refused(fixture, path, -EACCES, path, "can be written by its group");
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(chmod(fixture->dir, 0777), 0);
    assert_refused(fixture, "good", -EACCES, fixture->dir, "(mode 0777): chmod go-w");
    assert_int_equal(chmod(fixture->dir, 0700), 0);
}

static void test_link_to_a_trusted_file(void **state)
{
    struct fixture *fixture = *state;
    CCM_CLEANUP(plugin_freep) struct plugin_loaded_plugin *plugin = NULL;
    CCM_CLEANUP(ccm_freep) char *target = path_in(fixture, "good.so");
    CCM_CLEANUP(ccm_freep) char *link = path_in(fixture, "link.so");
    struct ccm_error err = CCM_ERROR_INIT;

    copy_plugin(fixture, "good.so");
    assert_int_equal(symlink("good.so", link), 0);
    note(fixture, "link.so");
    assert_int_equal(plugin_load("link", fixture->dir, &plugin, &err), 0);
    assert_string_equal(plugin->path, target);
}

/* Old plugin, new core; new plugin, old core. */
static void test_other_minors(void **state)
{
    struct fixture *fixture = *state;
    CCM_CLEANUP(plugin_registry_freep) struct plugin_registry *registry = plugin_registry_new();
    const struct ccm_host host = { .abi_major = CCM_ABI_MAJOR, .struct_size = sizeof(host) };
    const char *const names[] = { "frozen", "future", "frozen-1-1" };

    copy_plugin(fixture, "frozen.so");
    copy_plugin(fixture, "future.so");
    copy_plugin(fixture, "frozen-1-1.so");
    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        struct plugin_entry *entry = NULL;

        assert_int_equal(plugin_registry_load(registry, names[i], NULL, fixture->dir, true, &entry),
                         0);
        assert_int_equal(plugin_registry_create(registry, entry, &host), 0);
        assert_int_equal(plugin_registry_start(registry, entry), 0);
        assert_int_equal(plugin_registry_status(registry, entry, NULL), PLUGIN_STATE_STARTED);
    }

    const struct ccm_plugin *future = plugin_registry_at(registry, 1)->loaded->desc;

    assert_true(future->struct_size > sizeof(struct ccm_plugin));
    assert_string_equal(future->options[0]->name, "interval_ms");
    assert_int_equal(future->options[0]->max, 1000);
    assert_string_equal(future->watches[0]->resource, "deployments");
}

static void test_same_name_twice(void **state)
{
    struct fixture *fixture = *state;
    CCM_CLEANUP(plugin_registry_freep) struct plugin_registry *registry = plugin_registry_new();
    CCM_CLEANUP(ccm_freep) char *a = path_in(fixture, "twin-a.so");
    CCM_CLEANUP(ccm_freep) char *b = path_in(fixture, "twin-b.so");
    struct plugin_entry *entry = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    copy_plugin(fixture, "twin-a.so");
    copy_plugin(fixture, "twin-b.so");
    assert_int_equal(plugin_registry_load(registry, "twin", a, NULL, false, NULL), 0);
    assert_int_equal(plugin_registry_load(registry, "twin", b, NULL, false, &entry), -EEXIST);
    assert_int_equal(plugin_registry_status(registry, entry, &err), PLUGIN_STATE_FAILED);
    assert_contains(err.message, a);
    assert_contains(err.message, b);
    assert_contains(err.message, "a plugin named \"twin\" is loaded already");
    assert_null(entry->loaded);
}

static void test_configured_under_another_name(void **state)
{
    struct fixture *fixture = *state;
    CCM_CLEANUP(plugin_registry_freep) struct plugin_registry *registry = plugin_registry_new();
    CCM_CLEANUP(ccm_freep) char *path = path_in(fixture, "good.so");
    struct plugin_entry *entry = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    copy_plugin(fixture, "good.so");
    assert_int_equal(plugin_registry_load(registry, "fine", path, NULL, false, &entry), -EINVAL);
    assert_int_equal(plugin_registry_status(registry, entry, &err), PLUGIN_STATE_FAILED);
    assert_contains(err.message, "calls it \"fine\", its own name is \"good\"");
}

/* A refused one, three failing ones and a sound one in one daemon: the sound one runs. */
static void test_failures_leave_the_others_running(void **state)
{
    struct fixture *fixture = *state;
    CCM_CLEANUP(plugin_registry_freep) struct plugin_registry *registry = plugin_registry_new();
    const struct ccm_host host = { .abi_major = CCM_ABI_MAJOR, .struct_size = sizeof(host) };
    static const struct {
        const char *name;
        int load, create, start;
        enum plugin_state state;
        const char *message;
    } rows[] = {
        { "missing", -ENOENT, -EINVAL, -EINVAL, PLUGIN_STATE_FAILED, "/missing.so: no such file" },
        { "failing-create", 0, -EACCES, -EINVAL, PLUGIN_STATE_FAILED,
          "/failing-create.so: create: the moon is full" },
        { "positive-create", 0, -EPROTO, -EINVAL, PLUGIN_STATE_FAILED,
          "/positive-create.so: create: returned 7" },
        { "failing-start", 0, 0, -EAGAIN, PLUGIN_STATE_CREATED,
          "/failing-start.so: start: no credentials" },
        { "terminal-start", 0, 0, -EINVAL, PLUGIN_STATE_FAILED,
          "/terminal-start.so: start: no credentials" },
        { "good", 0, 0, 0, PLUGIN_STATE_STARTED, "" },
    };

    copy_plugin(fixture, "failing-create.so");
    copy_plugin(fixture, "positive-create.so");
    copy_plugin(fixture, "failing-start.so");
    copy_plugin(fixture, "terminal-start.so");
    copy_plugin(fixture, "good.so");
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct ccm_error err = CCM_ERROR_INIT;
        struct plugin_entry *entry = NULL;
        const bool critical = i == 4;

        assert_int_equal(
            plugin_registry_load(registry, rows[i].name, NULL, fixture->dir, critical, &entry),
            rows[i].load);
        assert_int_equal(plugin_registry_create(registry, entry, &host), rows[i].create);
        assert_int_equal(plugin_registry_start(registry, entry), rows[i].start);
        assert_int_equal(plugin_registry_status(registry, entry, &err), rows[i].state);
        assert_contains(err.message, rows[i].message);
    }
    assert_int_equal(plugin_registry_len(registry), CCM_ARRAY_LEN(rows));
    assert_string_equal(plugin_registry_critical_failure(registry)->name, "terminal-start");
}

/* base.h counts in self: 1 for each reconcile, 100 for stop, 10000 for destroy. */
static void test_life_ends_in_order(void **state)
{
    struct fixture *fixture = *state;
    CCM_CLEANUP(plugin_registry_freep) struct plugin_registry *registry = plugin_registry_new();
    const struct ccm_host host = { .abi_major = CCM_ABI_MAJOR, .struct_size = sizeof(host) };
    const struct ccm_request request = { .struct_size = sizeof(request) };
    struct ccm_result result = { .struct_size = sizeof(result) };
    struct ccm_error err = CCM_ERROR_INIT;
    struct plugin_entry *entry = NULL;

    copy_plugin(fixture, "good.so");
    assert_int_equal(plugin_registry_load(registry, "good", NULL, fixture->dir, true, &entry), 0);
    assert_int_equal(plugin_registry_create(registry, entry, &host), 0);
    assert_int_equal(plugin_registry_start(registry, entry), 0);

    const int *calls = entry->self;
    const int before = *calls;

    assert_int_equal(entry->loaded->desc->reconcile(entry->self, &request, &result, &err), 0);
    assert_int_equal(*calls - before, 1);
    plugin_registry_stop(registry);
    plugin_registry_stop(registry);
    assert_int_equal(*calls - before, 101);
    assert_int_equal(plugin_registry_status(registry, entry, NULL), PLUGIN_STATE_STOPPED);
    plugin_registry_destroy(registry);
    plugin_registry_destroy(registry);
    assert_int_equal(*calls - before, 10101);
    assert_null(plugin_registry_critical_failure(registry));
}

static void test_print(void **state)
{
    struct fixture *fixture = *state;
    CCM_CLEANUP(plugin_freep) struct plugin_loaded_plugin *plugin = NULL;
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    size_t len = 0;

    copy_plugin(fixture, "future.so");
    assert_int_equal(plugin_load("future", fixture->dir, &plugin, &err), 0);

    FILE *out = open_memstream(&text, &len);

    assert_non_null(out);
    tool_inspect_print(out, plugin, NULL);
    assert_int_equal(fclose(out), 0);
    assert_contains(text, "future 9.0\n");
    assert_contains(text, "comes from a later minor\n");
    assert_contains(text, plugin->path);
    assert_contains(text,
                    "abi       1 (this ccmd: 1.1, built for a newer minor than this ccmd has)");
    assert_contains(text, "watches   apps/v1/deployments\n");
    assert_contains(text, "    interval_ms: number 1..1000, default 500\n        Time between");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_good, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_bad_descriptors, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_no_shared_object, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_modes, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_link_to_a_trusted_file, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_other_minors, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_same_name_twice, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_configured_under_another_name, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_failures_leave_the_others_running, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_life_ends_in_order, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_print, fixture_begin, fixture_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
