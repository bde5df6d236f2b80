/* Endpoints with the address of a node: which pods are read, how often, and which rule applies. */
#include "check.h"
#include "lbc/model/own_rule.h"
#include "lbc/service/hosted.h"
#include "objects.h"
#include "support/fake_host.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define READY (CCM_ENDPOINT_READY | CCM_ENDPOINT_SERVING)

static struct fake_host *fake;
static struct ccm_pod pod;
static const char *pod_ips[] = { "10.0.0.11", "fd00::11" };

/* One node, and a pod with its network, which has an address of each family. */
static int fixture_begin(void **state)
{
    struct ccm_node *node = obj_node("n1", "cn-hangzhou.i-1");

    (void)state;
    obj_address(node, "10.0.0.11");
    obj_address(node, "fd00::11");
    pod = (struct ccm_pod){
        .meta = { .struct_size = sizeof(pod),
                  .kind = CCM_KIND_POD,
                  .key = "default/web-1",
                  .namespace_ = "default",
                  .name = "web-1",
                  .uid = "",
                  .resource_version = "" },
        .phase = "Running",
        .node_name = "n1",
        .ip = pod_ips[0],
        .host_network = 1,
        .ips = pod_ips,
        .ip_count = 2,
    };
    fake = fake_host_new();
    fake_host_put(fake, &node->meta);
    fake_host_put_live(fake, &pod.meta);
    return 0;
}

static int fixture_end(void **state)
{
    assert_int_equal(fake_host_borrowed(fake), 0);
    fake_host_free(fake);
    return obj_end(state);
}

/* A pass with one endpoint in a slice of that version; mark: of the uid of its pod, 0 = none. */
static int pass_judge_uid(struct lbc_hosted *hosted, const char *address, const char *name,
                          const char *version, uint64_t mark)
{
    struct ccm_endpoint_slice *slice = obj_slice("web-1");
    struct ccm_endpoint endpoint = { address, "n1", name, READY | (mark << 32) };
    const struct lbc_endpoint_ref ref = { .slice = slice, .endpoint = &endpoint, .port = 8080 };

    slice->meta.resource_version = version;
    return lbc_hosted_judge(hosted, &ref);
}

static int pass_judge_endpoint(struct lbc_hosted *hosted, const char *address, const char *name,
                               const char *version)
{
    return pass_judge_uid(hosted, address, name, version, 1);
}

static struct lbc_hosted next_pass(struct lbc_hosted *before)
{
    struct lbc_hosted hosted = { .host = fake_host_table(fake),
                                 .key = "default/web",
                                 .known = CCM_STEAL(before->found) };

    lbc_hosted_fini(before);
    return hosted;
}

static void test_whose_address(void **state)
{
    static const struct {
        const char *address;
        const char *pod;
        int rule;
        size_t fetches;
    } rows[] = {
        { "10.0.0.1", "web-1", LBC_OWN_RULE_NONE, 0 }, /* of no node */
        { "no address", "web-1", LBC_OWN_RULE_NONE, 0 },
        { "10.0.0.11", "", LBC_OWN_RULE_NODE_ADDRESS, 0 }, /* written by hand */
        { "10.0.0.11", "web-1", LBC_OWN_RULE_NONE, 1 },
        { "fd00:0::11", "web-1", LBC_OWN_RULE_NONE, 1 },        /* however it is written */
        { "10.0.0.11", "web-2", LBC_OWN_RULE_NODE_ADDRESS, 1 }, /* there is no such pod */
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const size_t before = fake_host_fetch_count(fake);
        struct lbc_hosted none = { 0 };
        struct lbc_hosted hosted = next_pass(&none);

        assert_int_equal(pass_judge_endpoint(&hosted, rows[i].address, rows[i].pod, "1"),
                         rows[i].rule);
        assert_int_equal(fake_host_fetch_count(fake) - before, rows[i].fetches);
        assert_false(hosted.failed || hosted.more);
        lbc_hosted_fini(&hosted);
    }
}

static void test_other_pods(void **state)
{
    struct lbc_hosted hosted = { .host = fake_host_table(fake), .key = "default/web" };

    (void)state;
    pod.host_network = 0;
    assert_int_equal(pass_judge_endpoint(&hosted, "10.0.0.11", "web-1", "1"),
                     LBC_OWN_RULE_NODE_ADDRESS);
    lbc_hosted_fini(&hosted);
    pod.host_network = 1;
    pod.ip = "10.0.0.12";
    pod.ip_count = 0;
    assert_int_equal(pass_judge_endpoint(&hosted, "10.0.0.11", "web-1", "1"),
                     LBC_OWN_RULE_NODE_ADDRESS);
    lbc_hosted_fini(&hosted);
    pod.ip = "10.0.0.11";
    pod.meta.struct_size = offsetof(struct ccm_pod, host_network); /* of an older core */
    assert_int_equal(pass_judge_endpoint(&hosted, "10.0.0.11", "web-1", "1"),
                     LBC_OWN_RULE_NODE_ADDRESS);
    lbc_hosted_fini(&hosted);
}

/* One read as long as the uid is the same; a pod without the network is read with each new slice.
 */
static void test_memory(void **state)
{
    struct lbc_hosted none = { 0 };
    struct lbc_hosted hosted = next_pass(&none);

    (void)state;
    for (int port = 0; port < 2; port++) {
        assert_int_equal(pass_judge_endpoint(&hosted, "10.0.0.11", "web-1", "1"),
                         LBC_OWN_RULE_NONE);
        assert_int_equal(pass_judge_endpoint(&hosted, "10.0.0.11", "web-2", "1"),
                         LBC_OWN_RULE_NODE_ADDRESS);
    }
    assert_int_equal(fake_host_fetch_count(fake), 2);
    hosted = next_pass(&hosted);
    assert_int_equal(pass_judge_endpoint(&hosted, "10.0.0.11", "web-1", "1"), LBC_OWN_RULE_NONE);
    assert_int_equal(pass_judge_endpoint(&hosted, "10.0.0.11", "web-2", "1"),
                     LBC_OWN_RULE_NODE_ADDRESS);
    assert_int_equal(fake_host_fetch_count(fake), 2);
    hosted = next_pass(&hosted);
    assert_int_equal(pass_judge_endpoint(&hosted, "10.0.0.11", "web-1", "2"), LBC_OWN_RULE_NONE);
    assert_int_equal(fake_host_fetch_count(fake), 2);
    assert_int_equal(pass_judge_endpoint(&hosted, "10.0.0.11", "web-2", "2"),
                     LBC_OWN_RULE_NODE_ADDRESS);
    assert_int_equal(fake_host_fetch_count(fake), 3);
    /* A pass in which it was no endpoint forgets it. */
    hosted = next_pass(&hosted);
    hosted = next_pass(&hosted);
    assert_int_equal(pass_judge_endpoint(&hosted, "10.0.0.11", "web-1", "2"), LBC_OWN_RULE_NONE);
    assert_int_equal(fake_host_fetch_count(fake), 4);
    lbc_hosted_fini(&hosted);
}

/* The pod is deleted, and the EndpointSlice names it on. An endpoint with the uid of another pod,
 * or without a uid in a changed EndpointSlice, is judged by what is there now. */
static void test_a_pod_that_is_gone(void **state)
{
    static const struct {
        uint64_t before;
        uint64_t after;
        const char *version;
        int rule;
    } rows[] = {
        { 1, 1, "2", LBC_OWN_RULE_NONE },         { 1, 2, "1", LBC_OWN_RULE_NODE_ADDRESS },
        { 1, 0, "1", LBC_OWN_RULE_NODE_ADDRESS }, { 0, 0, "1", LBC_OWN_RULE_NONE },
        { 0, 0, "2", LBC_OWN_RULE_NODE_ADDRESS }, { 0, 1, "1", LBC_OWN_RULE_NODE_ADDRESS },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct lbc_hosted none = { 0 };
        struct lbc_hosted hosted = next_pass(&none);

        fake_host_fetch_result(fake, 0, 0);
        assert_int_equal(pass_judge_uid(&hosted, "10.0.0.11", "web-1", "1", rows[i].before),
                         LBC_OWN_RULE_NONE);
        fake_host_fetch_result(fake, -ENOENT, CCM_ERROR_NOT_FOUND);
        hosted = next_pass(&hosted);
        assert_int_equal(
            pass_judge_uid(&hosted, "10.0.0.11", "web-1", rows[i].version, rows[i].after),
            rows[i].rule);
        lbc_hosted_fini(&hosted);
    }
}

/* No answer is no answer: it is told, nobody else is asked for in that pass, and the next one tries
 * again. */
static void test_failure(void **state)
{
    struct lbc_hosted none = { 0 };
    struct lbc_hosted hosted = next_pass(&none);

    (void)state;
    fake_host_fetch_result(fake, -EIO, CCM_ERROR_TRANSIENT);
    assert_int_equal(pass_judge_endpoint(&hosted, "10.0.0.11", "web-1", "1"), LBC_OWN_RULE_UNREAD);
    assert_int_equal(pass_judge_endpoint(&hosted, "10.0.0.11", "web-2", "1"), LBC_OWN_RULE_UNREAD);
    assert_int_equal(fake_host_fetch_count(fake), 1);
    assert_true(hosted.failed);
    assert_non_null(strstr(fake_host_log_text(fake),
                           "warn default/web: pod default/web-1 has the address of a node, and "
                           "cannot be read: "));
    fake_host_fetch_result(fake, 0, 0);
    hosted = next_pass(&hosted);
    assert_int_equal(pass_judge_endpoint(&hosted, "10.0.0.11", "web-1", "1"), LBC_OWN_RULE_NONE);
    assert_false(hosted.failed);
    lbc_hosted_fini(&hosted);
}

/* A pass reads so many and no more; the next one reads further ones. */
static void test_many(void **state)
{
    struct lbc_hosted none = { 0 };
    struct lbc_hosted hosted = next_pass(&none);
    size_t unasked = 0;

    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        unasked = 0;
        for (int i = 0; i < 150; i++) {
            char name[16];

            ccm_text_printf(name, sizeof(name), "other-%d", i);
            unasked += pass_judge_endpoint(&hosted, "10.0.0.11", name, "1") == LBC_OWN_RULE_UNASKED
                           ? 1
                           : 0;
        }
        assert_int_equal(fake_host_fetch_count(fake), pass == 0 ? 100 : 150);
        assert_int_equal(unasked, pass == 0 ? 50 : 0);
        assert_true(hosted.more == (pass == 0));
        hosted = next_pass(&hosted);
    }
    lbc_hosted_fini(&hosted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whose_address, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_other_pods, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_memory, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_a_pod_that_is_gone, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_failure, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_many, fixture_begin, fixture_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
