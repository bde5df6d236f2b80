/* Probes: what they say against it, line by line. */
#include "admin/probes.h"

#include "util/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(struct ccm_buf *wrong, const char *text)
{
    assert_string_equal(ccm_buf_str(wrong), text);
    ccm_buf_reset(wrong);
}

static void test_live(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf wrong = { 0 };
    struct admin_probe_plugin plugin = { .name = "clb", .error = "", .limit_ms = 3000 };
    struct kube_reflector_status cache = { 0 };
    struct kube_lease_status lease = { 0 };

    (void)state;
    plugin.longest_ms = 3000; /* it is late, but may still heed its cancellation */
    admin_probe_live_plugin(&plugin, &wrong);
    plugin.failed = true; /* a new process would fail as well */
    admin_probe_live_plugin(&plugin, &wrong);
    admin_probe_live_cache("nodes", &cache, 1000, &wrong); /* not started */
    admin_probe_live_lease(&lease, 1000, &wrong);
    cache.due_ms = 1000;
    lease.due_ms = 1000;
    admin_probe_live_cache("nodes", &cache, 1000, &wrong);
    admin_probe_live_lease(&lease, 1000, &wrong);
    expect(&wrong, "");

    admin_probe_live_map("clb", "services default/web", 3000, 3000, &wrong);
    expect(&wrong, "");
    admin_probe_live_map("clb", "services default/web", 3001, 3000, &wrong);
    expect(&wrong,
           "plugin clb: map() has been running for 3 s at services default/web, and its cache "
           "stands still\n");

    plugin.longest_ms = 3001;
    admin_probe_live_plugin(&plugin, &wrong);
    expect(&wrong, "plugin clb: a reconcile has been running for 3 s and heeds no cancellation\n");
    admin_probe_live_cache("nodes", &cache, 1001, &wrong);
    expect(&wrong, "cache of nodes: its thread hangs\n");
    admin_probe_live_lease(&lease, 1001, &wrong);
    expect(&wrong, "leader election: its thread hangs\n");
    lease.lost = true;
    admin_probe_live_lease(&lease, 1001, &wrong);
    expect(&wrong, "");
}

static void test_ready_plugin(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf wrong = { 0 };
    struct admin_probe_plugin plugin = { .name = "clb", .error = "" };

    (void)state;
    admin_probe_ready_plugin(&plugin, false, &wrong); /* it waits for its turn */
    expect(&wrong, "");
    admin_probe_ready_plugin(&plugin, true, &wrong);
    expect(&wrong, "plugin clb: not started\n");
    plugin.error = "no region";
    admin_probe_ready_plugin(&plugin, true, &wrong);
    expect(&wrong, "plugin clb: not started: no region\n");
    plugin.failed = true;
    admin_probe_ready_plugin(&plugin, false, &wrong);
    expect(&wrong, "plugin clb: failed: no region\n");
    plugin = (struct admin_probe_plugin){ .name = "clb", .error = "", .started = true };
    admin_probe_ready_plugin(&plugin, true, &wrong);
    expect(&wrong, "");
}

static void test_ready_cache(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf wrong = { 0 };
    struct kube_reflector_status cache = { .error = "API server: denied" };

    (void)state;
    admin_probe_ready_cache("nodes", &cache, &wrong);
    expect(&wrong, "cache of nodes: not filled: API server: denied\n");
    cache.error[0] = '\0';
    admin_probe_ready_cache("nodes", &cache, &wrong);
    expect(&wrong, "cache of nodes: not filled\n");
    cache.synced = true;
    admin_probe_ready_cache("nodes", &cache, &wrong);
    expect(&wrong, "");
}

static void test_ready_lease(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf wrong = { 0 };
    struct kube_lease_status lease = { 0 };

    (void)state;
    admin_probe_ready_lease(&lease, &wrong);
    expect(&wrong, "lease: not looked at yet\n");
    lease = (struct kube_lease_status){ .holder = "other" };
    admin_probe_ready_lease(&lease, &wrong);
    expect(&wrong, "");
    lease = (struct kube_lease_status){ .holder = "other", .error = "denied" };
    admin_probe_ready_lease(&lease, &wrong);
    expect(&wrong, "lease: denied\n");
    lease = (struct kube_lease_status){ .leading = true };
    admin_probe_ready_lease(&lease, &wrong);
    expect(&wrong, "");
    lease = (struct kube_lease_status){ .lost = true };
    admin_probe_ready_lease(&lease, &wrong);
    expect(&wrong, "lease: lost\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_live),
        cmocka_unit_test(test_ready_plugin),
        cmocka_unit_test(test_ready_cache),
        cmocka_unit_test(test_ready_lease),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
