/* Names under which the admin server answers. */
#include "admin/hostname.h"
#include "util/attr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_names(void **state)
{
    static const struct {
        const char *host;
        bool local;
    } rows[] = {
        { NULL, true },
        { "127.0.0.1", true },
        { "127.0.0.1:10258", true },
        { "10.1.2.3:10258", true },
        { "[::1]", true },
        { "[fd00::1]:10258", true },
        { "localhost", true },
        { "localhost:8080", true },
        { "ccmd.kube-system.svc:10258", true },
        { "ccmd.kube-system.svc.cluster.local", true },
        { "", false },
        { ":80", false },
        { "evil.example", false },
        { "evil.example:10258", false },
        { "localhost.evil.example", false },
        { "ccmd.kube-system.svc.evil.example", false },
        { "127.0.0.1.evil.example", false },
        { "127.0.0.1:80x", false },
        { "[::1", false },
        { "[::1]x", false },
        { "[evil.example]", false },
        { "127.1", false },
    };

    (void)state; /* no fixture */
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        if (admin_hostname_is_local(rows[i].host) != rows[i].local) {
            fail_msg("%s", rows[i].host);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
