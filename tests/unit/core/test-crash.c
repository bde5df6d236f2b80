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

/* Its standard error is a pipe that takes nothing more. */
static void child_crash(void)
{
    static const char bytes[4096];
    const char *const keys[] = { "default/web" };
    struct ccm_crash_call call = {
        .plugin = "toy", .stage = "reconcile", .keys = keys, .key_count = 1
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
    ccm_crash_begin(&call);
    (void)raise(SIGABRT);
    _exit(1);
}

/* It ends by the signal. */
static void test_log_that_nobody_reads(void **state)
{
    int status = 0;
    const pid_t child = fork();

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(60); /* a handler that waits for ever */
        child_crash();
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_log_that_nobody_reads) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
