/* Who decides which libraries a plugin brings along: RUNPATHs and the files that they lead to. */
#include "plugin/loader.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#define RUN_PATH "$ORIGIN/brought" /* of needing.so, as its build has it */

/* dir/needing.so and dir/brought/libbrought.so, both sound; the tests spoil what they need. */
struct fixture {
    char dir[64];
    char plugin[96];
    char brought[96];
    char library[128];
};

static void copy_file(const char *from, const char *to, const char *run_path)
{
    CCM_CLEANUP(ccm_freep) char *source = ccm_text_format("%s/%s", CCM_TEST_ABI_DIR, from);
    CCM_CLEANUP(ccm_freep) char *data = NULL;
    size_t len = 0;
    FILE *file;

    assert_non_null(source);
    assert_int_equal(ccm_text_read_file(source, (size_t)64 << 20, &data, &len), 0);
    if (run_path != NULL) {
        char *place = memmem(data, len, RUN_PATH, sizeof(RUN_PATH));

        assert_non_null(place);
        assert_true(strlen(run_path) < sizeof(RUN_PATH));
        memcpy(place, run_path, strlen(run_path) + 1);
    }
    file = fopen(to, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static int fixture_begin(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    (void)umask(022); /* the old one does not matter in a test program */
    ccm_text_copy(fixture->dir, sizeof(fixture->dir), "/tmp/ccm-needed-XXXXXX");
    assert_non_null(mkdtemp(fixture->dir));
    ccm_text_printf(fixture->plugin, sizeof(fixture->plugin), "%s/needing.so", fixture->dir);
    ccm_text_printf(fixture->brought, sizeof(fixture->brought), "%s/brought", fixture->dir);
    ccm_text_printf(fixture->library, sizeof(fixture->library), "%s/libbrought.so",
                    fixture->brought);
    assert_int_equal(mkdir(fixture->brought, 0755), 0);
    copy_file("brought/libbrought.so", fixture->library, NULL);
    copy_file("needing.so", fixture->plugin, NULL);
    *state = fixture;
    return 0;
}

static int fixture_end(void **state)
{
    struct fixture *fixture = *state;

    (void)remove(fixture->library); /* a test may have done so */
    assert_int_equal(remove(fixture->plugin), 0);
    assert_int_equal(rmdir(fixture->brought), 0);
    assert_int_equal(rmdir(fixture->dir), 0);
    free(fixture);
    return 0;
}

static void assert_load(const struct fixture *fixture, int result, const char *reason)
{
    CCM_CLEANUP(plugin_freep) struct plugin_loaded_plugin *plugin = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    if (plugin_load(fixture->plugin, NULL, 0, &plugin, &err) != result ||
        strstr(err.message, reason) == NULL) {
        fail_msg("\"%s\" instead of \"%s\"", err.message, reason);
    }
}

/* First, since a library that the process has once is not looked for again. */
static void test_library_that_somebody_else_can_change(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(chmod(fixture->library, 0666), 0);
    assert_load(fixture, -EACCES, "libbrought.so: the file can be written by others");
    assert_int_equal(chmod(fixture->library, 0644), 0);
    assert_int_equal(chmod(fixture->brought, 0777), 0);
    assert_load(fixture, -EACCES, "/brought can be written by others");
    assert_int_equal(remove(fixture->library), 0);
    assert_load(fixture, -EACCES, "/brought can be written by others");
    assert_int_equal(chmod(fixture->brought, 01777), 0);
    assert_load(fixture, -EACCES, "take that folder out of the RUNPATH");
    assert_int_equal(chmod(fixture->brought, 0755), 0);
    assert_load(fixture, -ENOEXEC, "libbrought.so: cannot open shared object file");
}

static void test_library_that_is_none(void **state)
{
    struct fixture *fixture = *state;
    FILE *file = fopen(fixture->library, "we");

    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_load(fixture, -ENOEXEC, "libbrought.so: the file is empty");
}

static void test_run_paths(void **state)
{
    static const struct {
        const char *run_path;
        int result;
        const char *reason;
    } rows[] = {
        { "", -EACCES, "its RUNPATH holds \"\"" },
        { "lib", -EACCES, "its RUNPATH holds \"lib\"" },
        { "/usr/lib:", -EACCES, "its RUNPATH holds \"\"" },
        { "/usr/lib/$LIB", -EACCES, "its RUNPATH holds \"/usr/lib/$LIB\"" },
        { "$ORIGINbrought", -EACCES, "its RUNPATH holds \"$ORIGINbrought\"" },
        { "/nowhere", -ENOEXEC, "cannot be loaded: libbrought.so" },
        { "${ORIGIN}/nope", -ENOEXEC, "cannot be loaded: libbrought.so" },
        { "$ORIGIN", -ENOEXEC, "cannot be loaded: libbrought.so" },
        { RUN_PATH, 0, "" },
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        copy_file("needing.so", fixture->plugin, rows[i].run_path);
        assert_load(fixture, rows[i].result, rows[i].reason);
    }
}

/* Anybody might make it. It has to be short: it takes the place of RUN_PATH. */
static void test_run_path_that_is_not_there_yet(void **state)
{
    struct fixture *fixture = *state;
    char folder[] = "/tmp/n-XXXXXX";

    assert_non_null(mkdtemp(folder)); /* a name that nobody else has */
    assert_int_equal(rmdir(folder), 0);
    copy_file("needing.so", fixture->plugin, folder);
    assert_load(fixture, -EACCES, "take that folder out of the RUNPATH");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_library_that_somebody_else_can_change, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_library_that_is_none, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_run_path_that_is_not_there_yet, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_run_paths, fixture_begin, fixture_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
