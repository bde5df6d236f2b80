/* A crash whose log nobody reads. */
#include "util/crash.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Its standard error is a pipe that takes nothing more; records go to fd. */
static void child_crash(int fd)
{
    static const char bytes[4096];
    const char *const keys[] = { "default/web" };
    const uint64_t marks[] = { 7 };
    struct ccm_crash_call call = {
        .plugin = "toy", .stage = "reconcile", .keys = keys, .key_count = 1, .marks = marks
    };
    const struct rlimit none = { 0, 0 };
    int ends[2];

    if (pipe(ends) < 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) < 0) {
        _exit(1);
    }
    while (write(ends[1], bytes, sizeof(bytes)) > 0) {
    }
    if (fcntl(ends[1], F_SETFL, 0) < 0 || dup2(ends[1], STDERR_FILENO) < 0 ||
        setrlimit(RLIMIT_CORE, &none) < 0) {
        _exit(1);
    }
    ccm_crash_install();
    ccm_crash_set_record(fd, -1);
    ccm_crash_begin(&call);
    (void)raise(SIGABRT);
    _exit(1);
}

/* It ends by the signal, and what crashed is on record. */
static void test_log_that_nobody_reads(void **state)
{
    char name[] = "/tmp/test-crash-XXXXXX";
    const int fd = mkstemp(name);
    char record[128] = "";
    int status = 0;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(unlink(name), 0);

    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(60); /* a handler that waits for ever */
        child_crash(fd);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_true(pread(fd, record, sizeof(record) - 1, 0) > 0);
    assert_string_equal(record, "crash 1 0000000000000007 toy default/web\n");
    assert_int_equal(close(fd), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_log_that_nobody_reads) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
