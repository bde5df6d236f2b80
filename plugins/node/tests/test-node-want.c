/* What has to be changed of a node, and the patches that do it. */
#include "node/patch.h"
#include "node/want.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MACHINE                                                                                    \
    "{\"InstanceId\":\"i-1\",\"InstanceType\":\"ecs.c6.xlarge\",\"ZoneId\":\"cn-hangzhou-a\","     \
    "\"RegionId\":\"cn-hangzhou\",\"InstanceChargeType\":\"PostPaid\",\"SpotStrategy\":"           \
    "\"SpotAsPriceGo\",\"Status\":\"Running\",\"Tags\":{\"Tag\":[{\"TagKey\":"                     \
    "\"ack.alibabacloud.com/nodepool-id\",\"TagValue\":\"np-123456\"}]},"                          \
    "\"PublicIpAddress\":{\"IpAddress\":[\"47.1.1.1\"]},\"EipAddress\":{\"IpAddress\":"            \
    "\"47.2.2.2\"},\"InnerIpAddress\":{\"IpAddress\":[\"10.9.9.9\"]},\"VpcAttributes\":{"          \
    "\"PrivateIpAddress\":{\"IpAddress\":[\"192.0.168.68\"]}},\"NetworkInterfaces\":{"             \
    "\"NetworkInterface\":[{\"Type\":\"Secondary\",\"NetworkInterfaceId\":\"eni-2\"},"             \
    "{\"Type\":\"Primary\",\"NetworkInterfaceId\":\"eni-1\",\"Ipv6Sets\":{\"Ipv6Set\":["           \
    "{\"Ipv6Address\":\"2408::1\"}]}}]}}"

struct kit {
    struct ccm_node node;
    struct ccm_pair pairs[12];
    const struct ccm_pair *labels[12];
    struct ccm_pair note;
    const struct ccm_pair *notes[1];
    struct ccm_taint taints[4];
    const struct ccm_taint *taint_list[4];
    struct ccm_node_address addresses[4];
    const struct ccm_node_address *address_list[4];
    struct node_subject subject;
    cJSON *machine;
    struct node_rules rules;
    uint32_t told;
    bool closed;
    struct node_want want;
};

static void kit_add_label(struct kit *kit, const char *key, const char *value)
{
    const size_t i = kit->node.meta.label_count++;

    kit->pairs[i] = (struct ccm_pair){ key, value };
    kit->labels[i] = &kit->pairs[i];
    kit->node.meta.labels = kit->labels;
}

static void kit_add_taint(struct kit *kit, const char *key)
{
    const size_t i = kit->node.taint_count++;

    kit->taints[i] = (struct ccm_taint){ key, "", "NoSchedule" };
    kit->taint_list[i] = &kit->taints[i];
    kit->node.taints = kit->taint_list;
}

static void kit_add_address(struct kit *kit, const char *type, const char *address)
{
    const size_t i = kit->node.address_count++;

    kit->addresses[i] = (struct ccm_node_address){ type, address };
    kit->address_list[i] = &kit->addresses[i];
    kit->node.addresses = kit->address_list;
}

static int fixture_begin(void **state)
{
    static struct kit kit;

    memset(&kit, 0, sizeof(kit));
    kit.node.meta = (struct ccm_object){ .struct_size = sizeof(kit.node),
                                         .kind = CCM_KIND_NODE,
                                         .key = "node-1",
                                         .name = "node-1",
                                         .namespace_ = "",
                                         .uid = "u-1",
                                         .resource_version = "7" };
    kit.node.provider_id = "cn-hangzhou.i-1";
    assert_int_equal(ccm_json_parse(MACHINE, strlen(MACHINE), &kit.machine), 0);
    *state = &kit;
    return 0;
}

static int fixture_end(void **state)
{
    struct kit *kit = *state;

    node_want_fini(&kit->want);
    cJSON_Delete(kit->machine);
    return 0;
}

static void kit_make(struct kit *kit)
{
    node_subject_init(&kit->subject, &kit->node);

    const struct node_sight sight = { .node = &kit->node,
                                      .subject = &kit->subject,
                                      .machine = kit->machine,
                                      .closed = kit->closed,
                                      .told = kit->told };

    node_want_fini(&kit->want);
    memset(&kit->want, 0, sizeof(kit->want));
    assert_int_equal(node_want_make(&kit->rules, &sight, &kit->want), 0);
}

static const char *wanted_label(const struct kit *kit, const char *key)
{
    for (size_t i = 0; i < NODE_LABELS; i++) {
        if (strcmp(node_labels[i].key, key) == 0) {
            return kit->want.labels[i];
        }
    }
    return NULL;
}

static bool is_dropped(const struct kit *kit, const char *key)
{
    for (size_t i = 0; i < NODE_LABELS; i++) {
        if (strcmp(node_labels[i].key, key) == 0) {
            return kit->want.drop[i];
        }
    }
    return false;
}

/* T1: all labels, the address, no taint. */
static void test_a_new_node(void **state)
{
    struct kit *kit = *state;

    kit_add_taint(kit, NODE_TAINT_NEW);
    kit_make(kit);
    assert_string_equal(wanted_label(kit, "beta.kubernetes.io/instance-type"), "ecs.c6.xlarge");
    assert_string_equal(wanted_label(kit, "node.kubernetes.io/instance-type"), "ecs.c6.xlarge");
    assert_string_equal(wanted_label(kit, "failure-domain.beta.kubernetes.io/zone"),
                        "cn-hangzhou-a");
    assert_string_equal(wanted_label(kit, "topology.kubernetes.io/zone"), "cn-hangzhou-a");
    assert_string_equal(wanted_label(kit, "failure-domain.beta.kubernetes.io/region"),
                        "cn-hangzhou");
    assert_string_equal(wanted_label(kit, "topology.kubernetes.io/region"), "cn-hangzhou");
    assert_string_equal(wanted_label(kit, NODE_LABEL_SEEN), "PostPaid");
    assert_string_equal(wanted_label(kit, "node.alibabacloud.com/spot-strategy"), "SpotAsPriceGo");
    assert_string_equal(wanted_label(kit, "node.alibabacloud.com/nodepool-id"), "np-123456");
    assert_true(kit->want.untaint);
    assert_false(kit->want.set_network);
    kit->rules.network = true;
    kit->closed = true;
    kit_make(kit);
    assert_true(kit->want.set_network);
    assert_false(kit->want.untaint);
}

/* T2 and section 2. */
static void test_kinds(void **state)
{
    static const struct {
        const char *provider;
        const char *label;
        enum node_kind kind;
        bool excluded;
    } rows[] = {
        { "cn-hangzhou.i-123456", NULL, NODE_ECS, false },
        { "alicloud://cn-hangzhou.i-123456", NULL, NODE_ECS, false },
        { "e01-123456", "alibabacloud.com/lingjun-worker", NODE_LINGJUN, false },
        { "e01-123456", NULL, NODE_NONE, false },
        { "unknown-provider-id", NULL, NODE_NONE, false },
        { "", NULL, NODE_UNNAMED, false },
        { "ack-hybrid://123456", NULL, NODE_NONE, true },
        { "x://a.b", NULL, NODE_NONE, false },
        { "cn-hangzhou.i-1", "service.alibabacloud.com/exclude-node", NODE_ECS, true },
        { "cn-hangzhou.i-1", "service.beta.kubernetes.io/exclude-node", NODE_ECS, true },
    };
    struct kit *kit = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        kit->node.provider_id = rows[i].provider;
        kit->node.meta.label_count = 0;
        if (rows[i].label != NULL) {
            kit_add_label(kit, rows[i].label, "true");
        }
        node_subject_init(&kit->subject, &kit->node);
        assert_int_equal(kit->subject.kind, rows[i].kind);
        assert_int_equal(kit->subject.excluded, rows[i].excluded);
    }
}

static void check_addresses(const struct kit *kit, const char *const *wanted)
{
    size_t i = 0;

    for (; wanted[i] != NULL; i++) {
        assert_true(i < kit->want.addresses.len);
        assert_string_equal(kit->want.addresses.items[i].address, wanted[i]);
    }
    assert_int_equal(kit->want.addresses.len, i);
}

static void test_addresses(void **state)
{
    struct kit *kit = *state;

    kit_add_address(kit, "InternalIP", "1.2.3.4");
    kit_add_address(kit, "Hostname", "node-1");
    kit_make(kit);
    assert_true(kit->want.set_addresses);
    check_addresses(kit, (const char *const[]){ "47.1.1.1", "47.2.2.2", "10.9.9.9", "192.0.168.68",
                                                "node-1", NULL });
    kit->rules.ipv6 = true;
    kit_make(kit);
    check_addresses(kit, (const char *const[]){ "47.1.1.1", "47.2.2.2", "10.9.9.9", "192.0.168.68",
                                                "2408::1", "node-1", NULL });
}

/* --node-ip: one of a family takes the place of its like; two families are a list. */
static void test_node_ip(void **state)
{
    struct kit *kit = *state;

    kit->rules.ipv6 = true;
    kit_add_address(kit, "Hostname", "node-1");
    kit->notes[0] = &kit->note;
    kit->node.meta.annotations = kit->notes;
    kit->node.meta.annotation_count = 1;
    kit->note = (struct ccm_pair){ "alpha.kubernetes.io/provided-node-ip", "192.0.168.68" };
    kit_make(kit);
    check_addresses(kit, (const char *const[]){ "47.1.1.1", "47.2.2.2", "192.0.168.68", "2408::1",
                                                "node-1", NULL });
    kit->note.value = "192.0.168.68, 2408:0::1";
    kit_make(kit);
    check_addresses(kit, (const char *const[]){ "47.1.1.1", "47.2.2.2", "192.0.168.68", "2408::1",
                                                "node-1", NULL });
    kit->note.value = "10.1.1.1";
    kit_make(kit);
    assert_string_equal(kit->want.no_address, "10.1.1.1");
    assert_false(node_want_has_object(&kit->want));
    assert_false(node_want_has_status(&kit->want));
}

/* A list that lacks them is no order to take them away. */
static void test_a_machine_without_addresses(void **state)
{
    struct kit *kit = *state;

    kit_add_address(kit, "InternalIP", "192.0.168.68");
    kit_add_address(kit, "Hostname", "node-1");
    kit_add_taint(kit, NODE_TAINT_NEW);
    kit->rules.ipv6 = true;
    kit->rules.network = true;
    cJSON_DeleteItemFromObject(kit->machine, "PublicIpAddress");
    cJSON_DeleteItemFromObject(kit->machine, "EipAddress");
    cJSON_DeleteItemFromObject(kit->machine, "InnerIpAddress");
    cJSON_DeleteItemFromObject(kit->machine, "VpcAttributes");
    cJSON_DeleteItemFromObject(kit->machine, "NetworkInterfaces");
    kit_make(kit);
    assert_true(kit->want.unaddressed);
    assert_false(node_want_has_status(&kit->want));
    assert_false(node_want_has_object(&kit->want));
}

/* Section 7: missing values leave labels, those that are ours go when the cloud had them. */
static void test_values_that_go(void **state)
{
    struct kit *kit = *state;

    kit_add_label(kit, "node.alibabacloud.com/nodepool-id", "np-1");
    kit_add_label(kit, "topology.kubernetes.io/zone", "cn-hangzhou-b");
    kit->told = node_want_facts(kit->machine);
    cJSON_DeleteItemFromObject(kit->machine, "Tags");
    cJSON_DeleteItemFromObject(kit->machine, "ZoneId");
    kit_make(kit);
    assert_true(is_dropped(kit, "node.alibabacloud.com/nodepool-id"));
    assert_false(is_dropped(kit, "topology.kubernetes.io/zone"));
    assert_null(wanted_label(kit, "topology.kubernetes.io/zone"));
    kit->told = 0;
    kit_make(kit);
    assert_false(is_dropped(kit, "node.alibabacloud.com/nodepool-id"));
}

static void test_label_values(void **state)
{
    static const struct {
        const char *value;
        bool valid;
    } rows[] = {
        { "", true },
        { "a", true },
        { "a-b_c.d", true },
        { "-a", false },
        { "a.", false },
        { "bad value!", false },
        { "0123456789012345678901234567890123456789012345678901234567890ab", true },
        { "0123456789012345678901234567890123456789012345678901234567890abc", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(node_label_is_valid(rows[i].value), rows[i].valid);
    }
}

static void check_patch(struct kit *kit, const char *wanted)
{
    struct ccm_buf body = { 0 };

    node_patch_object(&body, &kit->node, &kit->want);
    assert_string_equal(ccm_buf_str(&body), wanted);
    ccm_buf_fini(&body);
}

/* Taints go by their place, from the last one on, each under a test. */
static void test_patch_of_taints(void **state)
{
    struct kit *kit = *state;

    kit_add_taint(kit, NODE_TAINT_NEW);
    kit_add_taint(kit, "mine");
    kit_add_taint(kit, NODE_TAINT_NEW);
    kit->want.untaint = true;
    check_patch(
        kit, "[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"u-1\"},"
             "{\"op\":\"test\",\"path\":\"/spec/taints/2/key\",\"value\":\"" NODE_TAINT_NEW "\"},"
             "{\"op\":\"remove\",\"path\":\"/spec/taints/2\"},"
             "{\"op\":\"test\",\"path\":\"/spec/taints/0/key\",\"value\":\"" NODE_TAINT_NEW "\"},"
             "{\"op\":\"remove\",\"path\":\"/spec/taints/0\"}]");
    kit->want.untaint = false;
    kit->want.stop = true;
    check_patch(kit, "[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"u-1\"},"
                     "{\"op\":\"add\",\"path\":\"/spec/taints/-\",\"value\":{\"key\":"
                     "\"" NODE_TAINT_STOPPED "\",\"effect\":\"NoSchedule\"}}]");
    kit->node.taint_count = 0;
    check_patch(kit, "[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"u-1\"},"
                     "{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":\"7\"},"
                     "{\"op\":\"add\",\"path\":\"/spec/taints\",\"value\":[{\"key\":"
                     "\"" NODE_TAINT_STOPPED "\",\"effect\":\"NoSchedule\"}]}]");
}

static void test_patch_of_labels(void **state)
{
    struct kit *kit = *state;

    kit_add_label(kit, "a", "b");
    kit->want.labels[0] = "x";
    kit->want.drop[8] = true;
    check_patch(kit,
                "[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"u-1\"},"
                "{\"op\":\"add\",\"path\":\"/metadata/labels/beta.kubernetes.io~1instance-type\","
                "\"value\":\"x\"},{\"op\":\"remove\",\"path\":"
                "\"/metadata/labels/node.alibabacloud.com~1nodepool-id\"}]");
}

static void test_patch_of_the_status(void **state)
{
    struct kit *kit = *state;
    struct ccm_buf body = { 0 };

    kit_add_address(kit, "Hostname", "node-1");
    kit->rules.network = true;
    kit_add_taint(kit, NODE_TAINT_NEW);
    cJSON_DeleteItemFromObject(kit->machine, "PublicIpAddress");
    cJSON_DeleteItemFromObject(kit->machine, "EipAddress");
    cJSON_DeleteItemFromObject(kit->machine, "InnerIpAddress");
    kit_make(kit);
    node_patch_status(&body, &kit->node, &kit->want, "2026-01-02T03:04:05Z");
    assert_string_equal(
        ccm_buf_str(&body),
        "{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"7\"},\"status\":{\"addresses\":["
        "{\"type\":\"InternalIP\",\"address\":\"192.0.168.68\"},{\"type\":\"Hostname\",\"address\":"
        "\"node-1\"},{\"$patch\":\"replace\"}],\"conditions\":[{\"type\":\"NetworkUnavailable\","
        "\"status\":\"True\",\"reason\":\"NoRouteCreated\",\"message\":\"Node created without a "
        "route\",\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"}]}}");
    ccm_buf_fini(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_new_node, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_kinds, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_addresses, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_node_ip, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_values_that_go, fixture_begin, fixture_end),
        cmocka_unit_test(test_label_values),
        cmocka_unit_test_setup_teardown(test_patch_of_taints, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_patch_of_labels, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_patch_of_the_status, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_a_machine_without_addresses, fixture_begin,
                                        fixture_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
