/* Which files may become plugins: names, owners, modes, links. */
#include "plugin/trust.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* dir/in/x.so is a trusted file; the tests spoil what they need. */
struct fixture {
    char dir[64];
    char *in;
    char *file;
    char *link; /* not there yet */
};

static char *joined(const char *dir, const char *name)
{
    char *path = ccm_text_format("%s/%s", dir, name);

    assert_non_null(path);
    return path;
}

static int fixture_begin(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    (void)umask(022); /* the old one does not matter in a test program */
    ccm_text_copy(fixture->dir, sizeof(fixture->dir), "/tmp/ccm-trust-XXXXXX");
    assert_non_null(mkdtemp(fixture->dir));
    fixture->in = joined(fixture->dir, "in");
    fixture->file = joined(fixture->in, "x.so");
    fixture->link = joined(fixture->dir, "link.so");
    assert_int_equal(mkdir(fixture->in, 0755), 0);

    const int fd = open(fixture->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    assert_int_equal(write(fd, "data", 4), 4);
    assert_int_equal(close(fd), 0);
    *state = fixture;
    return 0;
}

static int fixture_end(void **state)
{
    struct fixture *fixture = *state;

    (void)remove(fixture->link); /* most tests make none */
    assert_int_equal(remove(fixture->file), 0);
    assert_int_equal(rmdir(fixture->in), 0);
    assert_int_equal(rmdir(fixture->dir), 0);
    free(fixture->in);
    free(fixture->file);
    free(fixture->link);
    free(fixture);
    return 0;
}

static void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", part, text);
    }
}

static void assert_refused(const char *spec, const char *plugin_dir, int result, const char *first,
                           const char *second)
{
    struct ccm_error err = CCM_ERROR_INIT;
    char *path = NULL;
    int fd = -1;

    assert_int_equal(plugin_trust_open(spec, plugin_dir, &path, &fd, &err), result);
    assert_null(path);
    assert_int_equal(fd, -1);
    assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
    assert_contains(err.message, first);
    assert_contains(err.message, second);
}

static void assert_trusted(const char *spec, const char *plugin_dir, const char *resolved)
{
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(ccm_freep) char *path = NULL;
    CCM_CLEANUP(ccm_closep) int fd = -1;
    char data[4] = "";

    if (plugin_trust_open(spec, plugin_dir, &path, &fd, &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_string_equal(path, resolved);
    assert_int_equal(read(fd, data, sizeof(data)), 4);
    assert_memory_equal(data, "data", 4);
    assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
}

static void test_names(void **state)
{
    static const struct {
        const char *text;
        bool is_name;
    } rows[] = {
        { "clb", true },
        { "a-1", true },
        { "0", true },
        { "abcdefghijklmnopqrstuvwxyz012345", true },
        { "abcdefghijklmnopqrstuvwxyz0123456", false },
        { "", false },
        { NULL, false },
        { "Clb", false },
        { "clb.so", false },
        { "../clb", false },
        { "a/b", false },
        { "a b", false },
        { "a_b", false },
        { "\xc3\xa4", false },
    };

    (void)state; /* no fixture */
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        assert_int_equal(plugin_trust_is_name(rows[i].text), rows[i].is_name);
    }
}

static void test_specs(void **state)
{
    struct fixture *fixture = *state;
    CCM_CLEANUP(ccm_freep) char *dots = joined(fixture->in, "../in/./x.so");
    CCM_CLEANUP(ccm_freep) char *missing = joined(fixture->in, "y.so");

    assert_trusted("x", fixture->in, fixture->file);
    assert_trusted(fixture->file, NULL, fixture->file);
    assert_trusted(dots, "not used", fixture->file);
    assert_trusted("x.so", fixture->in, fixture->file);
    assert_refused("x.o", fixture->in, -EINVAL, "x.o: ", "nor a file name NAME.so");
    assert_refused("..so", fixture->in, -EINVAL, "..so: ", "nor a file name NAME.so");
    assert_refused("x\n.so", fixture->in, -EINVAL, "neither", "nor a file name NAME.so");
    assert_refused("in/x.so", fixture->dir, -EINVAL, "in/x.so: ", "neither an absolute path");
    assert_refused("", fixture->in, -EINVAL, "neither", "plugin name");
    assert_refused("x", "plugins", -EINVAL, "x: ", "\"plugins\", which is not an absolute path");
    assert_refused("x", NULL, -EINVAL, "x: ", "not an absolute path");
    assert_refused("y", fixture->in, -ENOENT, missing, "no such file");
    assert_refused(fixture->in, NULL, -EACCES, fixture->in, "not a regular file but a folder");
    assert_refused("/", NULL, -EACCES, "/: ", "not a regular file");
    assert_refused("/dev/null", NULL, -EACCES, "/dev/null: ", "not a regular file");
}

static void test_modes(void **state)
{
    static const struct {
        mode_t mode;
        const char *reason; /* NULL = trusted */
    } rows[] = {
        { 0644, NULL },
        { 0600, NULL },
        { 0555, NULL },
        { 0664, "the file can be written by its group (mode 0664): chmod go-w " },
        { 0646, "the file can be written by others (mode 0646): chmod go-w " },
        { 0666, "the file can be written by others (mode 0666): chmod go-w " },
        { 01666, "the file can be written by others (mode 1666): chmod go-w " },
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        assert_int_equal(chmod(fixture->file, rows[i].mode), 0);
        if (rows[i].reason == NULL) {
            assert_trusted("x", fixture->in, fixture->file);
        } else {
            assert_refused("x", fixture->in, -EACCES, rows[i].reason, fixture->file);
        }
    }
}

static void test_folder_modes(void **state)
{
    struct fixture *fixture = *state;
    CCM_CLEANUP(ccm_freep)
    char *remedy = ccm_text_format("%s: folder %s can be written by its group (mode 0770): chmod "
                                   "go-w %s",
                                   fixture->file, fixture->dir, fixture->dir);

    assert_non_null(remedy);
    assert_int_equal(chmod(fixture->in, 0757), 0);
    assert_refused("x", fixture->in, -EACCES, fixture->in, "can be written by others (mode 0757)");
    assert_int_equal(chmod(fixture->in, 0755), 0);
    assert_int_equal(chmod(fixture->dir, 0770), 0);
    assert_refused("x", fixture->in, -EACCES, remedy, "");
    assert_int_equal(chmod(fixture->dir, 0700), 0);
    assert_trusted("x", fixture->in, fixture->file);
}

/* Sticky: others may add files, but not replace ours. */
static void test_sticky_folder(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(chmod(fixture->dir, 01777), 0);
    if (geteuid() == 0) {
        assert_trusted("x", fixture->in, fixture->file);
    } else {
        assert_refused("x", fixture->in, -EACCES, fixture->dir, "can be written by others");
    }
}

static void test_owners(void **state)
{
    struct fixture *fixture = *state;

    if (geteuid() != 0) {
        skip(); /* only root can give files away */
    }
    assert_int_equal(chown(fixture->file, 12345, 0), 0);
    assert_refused("x", fixture->in, -EACCES, "the file belongs to uid 12345, neither to root",
                   "chown root ");
    assert_int_equal(chown(fixture->file, 0, 0), 0);
    assert_int_equal(chown(fixture->dir, 12345, 0), 0);
    assert_refused("x", fixture->in, -EACCES, "belongs to uid 12345", fixture->dir);
    assert_int_equal(seteuid(12345), 0);
    assert_trusted("x", fixture->in, fixture->file);
    /* Sticky, but the user's own: only root is believed to mean that. */
    assert_int_equal(chmod(fixture->dir, 01777), 0);
    assert_refused("x", fixture->in, -EACCES, "can be written by others (mode 1777)", fixture->dir);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(chown(fixture->dir, 0, 0), 0);
    assert_trusted("x", fixture->in, fixture->file);
}

/* What counts is where a link ends, and also who could have turned it. */
static void test_links(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(symlink("in/x.so", fixture->link), 0);
    assert_trusted("link", fixture->dir, fixture->file);
    assert_int_equal(chmod(fixture->in, 0777), 0);
    assert_refused("link", fixture->dir, -EACCES, fixture->file, "can be written by others");
    assert_int_equal(chmod(fixture->in, 0755), 0);
    assert_int_equal(remove(fixture->link), 0);
    assert_int_equal(symlink("/etc/passwd-of-nobody", fixture->link), 0);
    assert_refused("link", fixture->dir, -ENOENT, fixture->link, "no such file");
    assert_int_equal(remove(fixture->link), 0);
    assert_int_equal(symlink("link.so", fixture->link), 0);
    assert_refused("link", fixture->dir, -ELOOP, fixture->link, ": ");
}

static void test_link_in_a_folder_of_others(void **state)
{
    struct fixture *fixture = *state;
    CCM_CLEANUP(ccm_freep) char *open_dir = joined(fixture->dir, "open");
    CCM_CLEANUP(ccm_freep) char *link = joined(open_dir, "x.so");

    assert_int_equal(mkdir(open_dir, 0700), 0);
    assert_int_equal(chmod(open_dir, 0777), 0);
    assert_int_equal(symlink("../in/x.so", link), 0);
    assert_refused("x", open_dir, -EACCES, open_dir, "can be written by others (mode 0777)");
    assert_int_equal(remove(link), 0);
    assert_int_equal(rmdir(open_dir), 0);
}

static void test_pipe_does_not_block(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(mkfifo(fixture->link, 0600), 0);
    assert_refused("link", fixture->dir, -EACCES, fixture->link, "not a regular file");
}

static void test_same(void **state)
{
    struct fixture *fixture = *state;
    struct ccm_error err = CCM_ERROR_INIT;
    struct stat st;

    assert_int_equal(stat(fixture->file, &st), 0);
    assert_int_equal(plugin_trust_same(fixture->file, &st, &err), 0);

    const int fd = open(fixture->file, O_WRONLY | O_APPEND | O_CLOEXEC);

    assert_int_equal(write(fd, "!", 1), 1);
    assert_int_equal(close(fd), 0);
    assert_int_equal(plugin_trust_same(fixture->file, &st, &err), -EACCES);
    assert_contains(err.message, fixture->file);
    assert_contains(err.message, "while it was being loaded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test_setup_teardown(test_specs, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_modes, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_folder_modes, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_sticky_folder, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_owners, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_links, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_link_in_a_folder_of_others, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_pipe_does_not_block, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_same, fixture_begin, fixture_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
