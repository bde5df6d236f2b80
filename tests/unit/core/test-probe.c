/* Probes: what they say against it, line by line. */
#include "probe.h"

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
    struct ccm_probe_plugin plugin = { .name = "clb", .error = "", .timeout_ms = 1000 };
    struct ccm_reflector_status cache = { 0 };
    struct ccm_lease_status lease = { 0 };

    (void)state;
    plugin.longest_ms = 3000; /* it is late, but may still heed its cancellation */
    ccm_probe_live_plugin(&plugin, &wrong);
    plugin.failed = true; /* a new process would fail as well */
    ccm_probe_live_plugin(&plugin, &wrong);
    ccm_probe_live_cache("nodes", &cache, 1000, &wrong); /* not started */
    ccm_probe_live_lease(&lease, 1000, &wrong);
    cache.due_ms = 1000;
    lease.due_ms = 1000;
    ccm_probe_live_cache("nodes", &cache, 1000, &wrong);
    ccm_probe_live_lease(&lease, 1000, &wrong);
    expect(&wrong, "");

    ccm_probe_live_map("clb", "services default/web", 3000, 1000, &wrong);
    expect(&wrong, "");
    ccm_probe_live_map("clb", "services default/web", 3001, 1000, &wrong);
    expect(&wrong,
           "plugin clb: map() has been running for 3 s at services default/web, and its cache "
           "stands still\n");

    plugin.longest_ms = 3001;
    ccm_probe_live_plugin(&plugin, &wrong);
    expect(&wrong, "plugin clb: a reconcile has been running for 3 s and heeds no cancellation\n");
    ccm_probe_live_cache("nodes", &cache, 1001, &wrong);
    expect(&wrong, "cache of nodes: its thread hangs\n");
    ccm_probe_live_lease(&lease, 1001, &wrong);
    expect(&wrong, "leader election: its thread hangs\n");
    lease.lost = true;
    ccm_probe_live_lease(&lease, 1001, &wrong);
    expect(&wrong, "");
}

static void test_ready_plugin(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf wrong = { 0 };
    struct ccm_probe_plugin plugin = { .name = "clb", .error = "" };

    (void)state;
    ccm_probe_ready_plugin(&plugin, false, &wrong); /* it waits for its turn */
    expect(&wrong, "");
    ccm_probe_ready_plugin(&plugin, true, &wrong);
    expect(&wrong, "plugin clb: not started\n");
    plugin.error = "no region";
    ccm_probe_ready_plugin(&plugin, true, &wrong);
    expect(&wrong, "plugin clb: not started: no region\n");
    plugin.failed = true;
    ccm_probe_ready_plugin(&plugin, false, &wrong);
    expect(&wrong, "plugin clb: failed: no region\n");
    plugin = (struct ccm_probe_plugin){ .name = "clb", .error = "", .started = true };
    ccm_probe_ready_plugin(&plugin, true, &wrong);
    expect(&wrong, "");
}

static void test_ready_cache(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf wrong = { 0 };
    struct ccm_reflector_status cache = { .error = "API server: denied" };

    (void)state;
    ccm_probe_ready_cache("nodes", &cache, &wrong);
    expect(&wrong, "cache of nodes: not filled: API server: denied\n");
    cache.error[0] = '\0';
    ccm_probe_ready_cache("nodes", &cache, &wrong);
    expect(&wrong, "cache of nodes: not filled\n");
    cache.synced = true;
    ccm_probe_ready_cache("nodes", &cache, &wrong);
    expect(&wrong, "");
}

static void test_ready_lease(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf wrong = { 0 };
    struct ccm_lease_status lease = { 0 };

    (void)state;
    ccm_probe_ready_lease(&lease, &wrong);
    expect(&wrong, "lease: not looked at yet\n");
    lease = (struct ccm_lease_status){ .holder = "other" };
    ccm_probe_ready_lease(&lease, &wrong);
    expect(&wrong, "");
    lease = (struct ccm_lease_status){ .holder = "other", .error = "denied" };
    ccm_probe_ready_lease(&lease, &wrong);
    expect(&wrong, "lease: denied\n");
    lease = (struct ccm_lease_status){ .leading = true };
    ccm_probe_ready_lease(&lease, &wrong);
    expect(&wrong, "");
    lease = (struct ccm_lease_status){ .lost = true };
    ccm_probe_ready_lease(&lease, &wrong);
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
