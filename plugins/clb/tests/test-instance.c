/* Whole passes about the load balancer itself: what its annotations make of the cloud. */
#include "world.h"

#include "lbc/model/tags.h"
#include "lbc/service/marks.h"
#include "util/attr.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

#define CREATE "CreateLoadBalancer"

static void annotate(struct world *world, const char *suffix, const char *value)
{
    char key[160];

    ccm_text_printf(key, sizeof(key), P "%s", suffix);
    obj_annotate(&world->service->meta, key, value);
    world_put(world);
}

/* --- creation --- */

struct create_case {
    const char *name;
    const char *annotations[8]; /* suffix, value, ... */
    const char *sent[12];       /* parameter, value, ... */
};

static void test_create(void **state)
{
    static const struct create_case cases[] = {
        { "defaults",
          { NULL },
          { "AddressType", "internet", "LoadBalancerName", LB_NAME, "InstanceChargeType",
            "PayByCLCU", "DeleteProtection", "on", "ModificationProtectionStatus",
            "ConsoleProtection", "ModificationProtectionReason", "managed.by.ack" } },
        { "not sent",
          { NULL },
          { "VpcId", "", "VSwitchId", "", "LoadBalancerSpec", "", "Bandwidth", "",
            "InternetChargeType", "", "AddressIPVersion", "" } },
        { "tags",
          { "additional-resource-tags", "b=2=3, a = 1 ,acs:x=y,ack.aliyun.com=z,only" },
          { "Tag.1.Key", "kubernetes.do.not.delete", "Tag.2.Value", MINI_CLUSTER, "Tag.3.Value",
            "1", "Tag.4.Value", "2=3", "Tag.5.Key", "only", "Tag.6.Key", "" } },
        { "intranet",
          { "address-type", "intranet", "vswitch-id", "vsw-9", "ip", "10.0.0.9" },
          { "AddressType", "intranet", "VpcId", "vpc-1", "VSwitchId", "vsw-9", "Address",
            "10.0.0.9", "NetworkType", "" } },
        { "by specification",
          { "instance-charge-type", "paybyspec" },
          { "InstanceChargeType", "PayBySpec", "LoadBalancerSpec", "slb.s1.small" } },
        { "specification told",
          { "instance-charge-type", "PayBySpec", "spec", "slb.s2.small" },
          { "InstanceChargeType", "PayBySpec", "LoadBalancerSpec", "slb.s2.small" } },
        { "specification without effect is sent all the same",
          { "spec", "slb.s2.small" },
          { "InstanceChargeType", "PayByCLCU", "LoadBalancerSpec", "slb.s2.small" } },
        { "money and zones",
          { "charge-type", "paybybandwidth", "bandwidth", "45", "master-zoneid", "cn-hangzhou-a",
            "slave-zoneid", "cn-hangzhou-b" },
          { "InternetChargeType", "paybybandwidth", "Bandwidth", "45", "MasterZoneId",
            "cn-hangzhou-a", "SlaveZoneId", "cn-hangzhou-b" } },
        { "ipv6 and group",
          { "ip-version", "IPv6", "resource-group-id", "rg-1", "name", "front" },
          { "AddressIPVersion", "ipv6", "ResourceGroupId", "rg-1", "LoadBalancerName", "front" } },
        { "no protection",
          { "delete-protection", "off", "modification-protection", "NonProtection" },
          { "DeleteProtection", "off", "ModificationProtectionStatus", "NonProtection",
            "ModificationProtectionReason", "" } },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct world world;

        world_begin(&world);
        for (size_t a = 0; a < 8 && cases[i].annotations[a] != NULL; a += 2) {
            annotate(&world, cases[i].annotations[a], cases[i].annotations[a + 1]);
        }
        if (world_run(&world) != 0) {
            fail_msg("%s: %s", cases[i].name, world.err.message);
        }
        for (size_t p = 0; p < 12 && cases[i].sent[p] != NULL; p += 2) {
            if (strcmp(mini_last(CREATE, cases[i].sent[p]), cases[i].sent[p + 1]) != 0) {
                fail_msg("%s: %s=%s", cases[i].name, cases[i].sent[p],
                         mini_last(CREATE, cases[i].sent[p]));
            }
        }
        /* What was created is what is wanted, warm and cold. */
        world_settle(&world);
        mini_reset_log();
        if (world_run(&world) != 0) {
            fail_msg("%s: %s", cases[i].name, world.err.message);
        }
        world_restart(&world);
        if (world_run(&world) != 0) {
            fail_msg("%s: %s", cases[i].name, world.err.message);
        }
        if (strstr(mini_log(), "Set") != NULL || strstr(mini_log(), "Modify") != NULL ||
            strstr(mini_log(), "Tag") != NULL || strstr(mini_log(), "Create") != NULL) {
            fail_msg("%s: %s", cases[i].name, mini_log());
        }
        world_end(&world);
    }
}

static void test_vswitch_fallback(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    annotate(&world, "address-type", "intranet");
    assert_int_equal(world_run(&world), 0);

    const char *first = strcmp(mini_last(CREATE, "VSwitchId"), "vsw-1") == 0 ? "vsw-1" : "vsw-2";

    world_end(&world);
    world_begin(&world);
    annotate(&world, "address-type", "intranet");
    mini_full_vswitch(first);
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_log(), CREATE " DescribeVSwitches " CREATE));
    assert_string_not_equal(mini_last(CREATE, "VSwitchId"), first);
    world_end(&world);
    world_begin(&world);
    annotate(&world, "address-type", "intranet");
    mini_full_vswitch("");
    assert_true(world_run(&world) < 0);
    assert_non_null(strstr(world.err.message, "no available vsw found"));
    annotate(&world, "vswitch-id", "vsw-7");
    mini_reset_log();
    assert_true(world_run(&world) < 0);
    assert_null(strstr(mini_log(), "DescribeVSwitches"));
    world_end(&world);
}

/* --- changes --- */

struct change_case {
    const char *name;
    const char *before[8]; /* annotations at creation */
    const char *after[8];  /* changes; value "-" removes */
    const char *log;
    const char *dump; /* part of it; NULL = not looked at */
};

static void apply_changes(struct world *world, const char *const *list)
{
    for (size_t a = 0; a < 8 && list[a] != NULL; a += 2) {
        annotate(world, list[a], strcmp(list[a + 1], "-") == 0 ? NULL : list[a + 1]);
    }
}

static const struct change_case changes[] = {
    { "name", { NULL }, { "name", "front" }, "SetLoadBalancerName", "lb front " },
    { "delete protection",
      { NULL },
      { "delete-protection", "off" },
      "SetLoadBalancerDeleteProtection",
      "internet open\n" },
    { "modification protection",
      { NULL },
      { "modification-protection", "NonProtection" },
      "SetLoadBalancerModificationProtection",
      "ModificationProtectionStatus NonProtection\n" },
    { "both protections",
      { "delete-protection", "off", "modification-protection", "NonProtection" },
      { "delete-protection", "on", "modification-protection", "ConsoleProtection" },
      "SetLoadBalancerDeleteProtection SetLoadBalancerModificationProtection",
      "ModificationProtectionStatus ConsoleProtection\n" },
    { "specification",
      { "instance-charge-type", "PayBySpec", "spec", "slb.s1.small" },
      { "spec", "slb.s2.small" },
      "ModifyLoadBalancerInstanceSpec",
      "LoadBalancerSpec slb.s2.small\n" },
    { "specification of no effect",
      { "spec", "slb.s1.small" },
      { "spec", "slb.s2.small" },
      "",
      NULL },
    { "charge by use",
      { "instance-charge-type", "PayBySpec" },
      { "instance-charge-type", "PayByCLCU" },
      "ModifyLoadBalancerInstanceChargeType",
      "InstanceChargeType PayByCLCU\n" },
    { "bandwidth",
      { "instance-charge-type", "PayBySpec", "charge-type", "paybybandwidth", "bandwidth", "5" },
      { "bandwidth", "20" },
      "ModifyLoadBalancerInternetSpec",
      "Bandwidth 20\n" },
    { "bandwidth of no effect",
      { "charge-type", "paybytraffic", "bandwidth", "5" },
      { "bandwidth", "20" },
      "",
      NULL },
    { "back to traffic",
      { "instance-charge-type", "PayBySpec", "charge-type", "paybybandwidth", "bandwidth", "5" },
      { "charge-type", "paybytraffic" },
      "ModifyLoadBalancerInternetSpec",
      "InternetChargeType paybytraffic\n" },
    { "tag added",
      { NULL },
      { "additional-resource-tags", "Key1=Value1" },
      "TagResources",
      "tag Key1=Value1\n" },
    { "tag changed and removed",
      { "additional-resource-tags", "Key1=Value1,Key2=Value2" },
      { "additional-resource-tags", "Key1=Value3" },
      "TagResources UntagResources",
      "tag Key1=Value3\ntag ack." },
    { "tags given up",
      { "additional-resource-tags", "Key1=Value1" },
      { "additional-resource-tags", "-" },
      "UntagResources",
      "tag ack.aliyun.com=" MINI_CLUSTER "\ntag kube" },
    { "all at once",
      { NULL },
      { "name", "n", "delete-protection", "off", "modification-protection", "NonProtection",
        "additional-resource-tags", "k=v" },
      "TagResources SetLoadBalancerDeleteProtection SetLoadBalancerModificationProtection "
      "SetLoadBalancerName",
      NULL },
};

static void test_changes(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(changes); i++) {
        struct world world;

        world_begin(&world);
        mini_show_all();
        apply_changes(&world, changes[i].before);
        world_steady(&world);
        apply_changes(&world, changes[i].after);
        if (world_run(&world) != 0) {
            fail_msg("%s: %s", changes[i].name, world.err.message);
        }
        if (strcmp(mini_writes(), changes[i].log) != 0) {
            fail_msg("%s: %s", changes[i].name, mini_log());
        }
        mini_next_day();
        if (changes[i].dump != NULL && strstr(mini_dump(), changes[i].dump) == NULL) {
            fail_msg("%s:\n%s", changes[i].name, mini_dump());
        }
        world_settle(&world);
        mini_reset_log();
        assert_int_equal(world_run(&world), 0);
        assert_string_equal(mini_log(), "");
        world_end(&world);
    }
}

/* What is sent although the cloud refuses it, as it does today. */
static void test_refused(void **state)
{
    static const struct {
        const char *annotations[6];
        bool present;
        const char *action;
        const char *sent[4];
        const char *code;
    } cases[] = {
        { { "instance-charge-type", "PayBySpec" },
          true,
          "ModifyLoadBalancerInstanceChargeType",
          { "LoadBalancerSpec", "slb.s1.small" },
          "Forbidden.LcuToSpec" },
        { { "instance-charge-type", "PayBySpec", "spec", "slb.s2.small" },
          true,
          "ModifyLoadBalancerInstanceChargeType",
          { "LoadBalancerSpec", "slb.s2.small" },
          "Forbidden.LcuToSpec" },
        { { "address-type", "intranet", "network-type", "classic", "vswitch-id", "vsw-9" },
          false,
          CREATE,
          { "VpcId", "vpc-1", "VSwitchId", "" },
          "MissingParam.VSwitchId" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct world world;

        world_begin(&world);
        if (cases[i].present) {
            world_steady(&world);
        }
        for (size_t a = 0; a < 6 && cases[i].annotations[a] != NULL; a += 2) {
            annotate(&world, cases[i].annotations[a], cases[i].annotations[a + 1]);
        }
        assert_true(world_run(&world) < 0);
        assert_non_null(strstr(world.err.message, cases[i].code));
        assert_string_equal(mini_writes(), cases[i].action);
        for (size_t p = 0; p < 4 && cases[i].sent[p] != NULL; p += 2) {
            assert_string_equal(mini_last(cases[i].action, cases[i].sent[p]), cases[i].sent[p + 1]);
        }
        world_end(&world);
    }
}

/* The reason of the protection, and what traffic charge needs beside itself. */
static void test_parameters_of_changes(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    annotate(&world, "modification-protection", "NonProtection");
    annotate(&world, "instance-charge-type", "PayBySpec");
    annotate(&world, "bandwidth", "30");
    world_steady(&world);
    annotate(&world, "modification-protection", "ConsoleProtection");
    annotate(&world, "charge-type", "paybybandwidth");
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(
        mini_last("SetLoadBalancerModificationProtection", "ModificationProtectionReason"),
        "managed.by.ack");
    assert_string_equal(mini_last("ModifyLoadBalancerInternetSpec", "Bandwidth"), "30");
    world_end(&world);
}

/* Somebody's tags are not ours to remove, neither warm nor after a restart. */
static void test_foreign_tags(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    mini_show_all();
    annotate(&world, "additional-resource-tags", "a=1,b=2");
    world_steady(&world);
    mini_tag("cost", "center");
    world_restart(&world);
    assert_int_equal(world_run(&world), 0);
    annotate(&world, "additional-resource-tags", "b=2");
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_writes(), "UntagResources");
    assert_string_equal(mini_last("UntagResources", "TagKey.1"), "a");
    assert_string_equal(mini_last("UntagResources", "TagKey.2"), "");
    assert_non_null(strstr(mini_dump(), "tag cost=center\n"));
    world_end(&world);
}

/* Another instance has put a tag on since, and recorded it on the Service: that record counts, not
 * what this one remembers. */
static void test_tags_of_another_instance(void **state)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags theirs = { 0 };
    char marks[LBC_MARKS_TEXT];
    struct world world;

    (void)state;
    world_begin(&world);
    mini_show_all();
    annotate(&world, "additional-resource-tags", "a=1");
    world_steady(&world);
    assert_int_equal(world_run(&world), 0);
    mini_tag("c", "3");
    assert_int_equal(lbc_tags_put(&theirs, "a", "1"), 0);
    assert_int_equal(lbc_tags_put(&theirs, "c", "3"), 0);
    assert_int_equal(lbc_marks_format(OBJ_UID, &theirs, NULL, marks), 0);
    obj_label(&world.service->meta, LBC_LIFE_TAGS_LABEL, marks);
    annotate(&world, "additional-resource-tags", "b=2");
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(mini_dump(), "tag b=2\n"));
    assert_null(strstr(mini_dump(), "tag a=1\n"));
    assert_null(strstr(mini_dump(), "tag c=3\n"));
    world_end(&world);
}

struct immutable_case {
    const char *suffix;
    const char *value;
    const char *message;
};

static void test_immutable(void **state)
{
    static const struct immutable_case cases[] = {
        { "address-type", "intranet", "LoadBalancer AddressType once created. delete and retry" },
        { "resource-group-id", "rg-2", "ResourceGroupId once created" },
        { "network-type", "vpc", "LoadBalancer network type once created" },
        { "master-zoneid", "cn-hangzhou-b", "LoadBalancer master zone id once created" },
        { "slave-zoneid", "cn-hangzhou-a", "LoadBalancer slave zone id once created" },
        { "ip-version", "ipv6", "LoadBalancer AddressIPVersion once created" },
        { "ip", "1.1.1.1", "LoadBalancer address once created" },
        { "vswitch-id", "vsw-2", "LoadBalancer vSwitch once created. delete and retry" },
    };
    struct world world;

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        world_begin(&world);
        world_steady(&world);
        mini_set_attr("ResourceGroupId", "rg-1");
        mini_set_attr("MasterZoneId", "cn-hangzhou-a");
        mini_set_attr("SlaveZoneId", "cn-hangzhou-b");
        mini_set_attr("VSwitchId", "vsw-1");
        world_restart(&world);
        annotate(&world, cases[i].suffix, cases[i].value);
        assert_true(world_run(&world) < 0);
        assert_int_equal(world.err.kind, CCM_ERROR_TERMINAL);
        if (strstr(world.err.message, cases[i].message) == NULL) {
            fail_msg("%s: %s", cases[i].suffix, world.err.message);
        }
        annotate(&world, cases[i].suffix, NULL);
        assert_int_equal(world_run(&world), 0);
        world_end(&world);
    }
}

/* Two refusals in one event, and the rest of the Service is served. */
static void test_immutable_together(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    annotate(&world, "master-zoneid", "cn-hangzhou-a");
    annotate(&world, "slave-zoneid", "cn-hangzhou-b");
    world_steady(&world);
    annotate(&world, "master-zoneid", "cn-hangzhou-b");
    annotate(&world, "slave-zoneid", "cn-hangzhou-a");
    annotate(&world, "name", "front");
    assert_true(world_run(&world) < 0);
    assert_string_equal(mini_writes(), "SetLoadBalancerName");

    const char *event = world_event(&world);

    assert_non_null(strstr(event, "alicloud: can not change LoadBalancer master zone id once"));
    assert_non_null(strstr(event, "alicloud: can not change LoadBalancer slave zone id once"));
    assert_true(world_run(&world) < 0);
    assert_null(world_event(&world));
    world_end(&world);
}

/* --- status --- */

static const char *last_patch(struct world *world)
{
    return fake_host_patch(world->fake, fake_host_patch_count(world->fake) - 1)->body;
}

static void test_hostname_and_eip(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    annotate(&world, "external-ip-type", "eip");
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(last_patch(&world), "[{\"ip\":\"" LB_IP "\"}]"));
    assert_non_null(strstr(world_event(&world),
                           "FailedSetEIPAddress: get eip error, set external ip to slb ip"));
    (void)world_event(&world); /* EnsuredLoadBalancer */
    world_settle(&world);
    mini_eips("8.8.0.1,8.8.0.2");
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(last_patch(&world), "[{\"ip\":\"8.8.0.1\"},{\"ip\":\"8.8.0.2\"}]"));
    world_settle(&world);
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), "");
    annotate(&world, "hostname", "a.example.com");
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(last_patch(&world), "[{\"hostname\":\"a.example.com\"}]"));
    annotate(&world, "hostname", NULL);
    assert_int_equal(world_run(&world), 0);
    assert_non_null(strstr(last_patch(&world), "8.8.0.2"));
    world_end(&world);
}

/* --- deletion --- */

static void test_preserve(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    mini_show_all();
    annotate(&world, "preserve-lb-on-delete", "true");
    assert_int_equal(world_run(&world), 0);
    (void)world_event(&world); /* EnsuredLoadBalancer */
    assert_string_equal(world_event(&world),
                        "PreservedOnDelete: The lb [" LB_ID "] will be preserved "
                        "after the service is deleted.");
    world_steady(&world);
    assert_int_equal(world_run(&world), 0);
    assert_null(world_event(&world));
    world.service->meta.deleted_ms = 1;
    world_put(&world);
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), "DescribeLoadBalancers "
                                    "SetLoadBalancerDeleteProtection "
                                    "SetLoadBalancerModificationProtection UntagResources");
    assert_non_null(strstr(mini_dump(), "internet open\n"));
    assert_non_null(strstr(mini_dump(), "tcp 80 running"));
    assert_non_null(strstr(mini_dump(), "tcp 443 running"));
    assert_non_null(strstr(mini_dump(), "group k8s/30080"));
    assert_null(strstr(mini_dump(), "tag "));
    assert_string_equal(world_event(&world), "CleanLoadBalancer: Clean load balancer");
    /* Once more, as after a crash: nothing is left to do, and no tag call without keys is made. */
    world_restart(&world);
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), "DescribeLoadBalancers DescribeLoadBalancers");
    assert_non_null(strstr(mini_dump(), "tcp 80 running"));
    world_end(&world);
}

static void test_preserve_means_yes(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    annotate(&world, "preserve-lb-on-delete", "False");
    world_steady(&world);
    world.service->meta.deleted_ms = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_dump(), "");
    world_end(&world);
}

static void test_useless_annotations_are_told(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    annotate(&world, "address-type", "intranet");
    annotate(&world, "charge-type", "paybybandwidth");
    annotate(&world, "bandwidth", "5");
    annotate(&world, "vgroup-port", "rsp-1:80");
    annotate(&world, "weight", "60");
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(
        world_event(&world),
        "NoEffect: annotation " P "vgroup-port has no effect without annotation id; "
        "annotation " P "weight has no effect without annotations id and vgroup-port; "
        "annotation " P "charge-type has no effect on an intranet load balancer");
    (void)world_event(&world); /* EnsuredLoadBalancer */
    assert_null(world_event(&world));
    world_settle(&world);
    assert_int_equal(world_run(&world), 0);
    assert_null(world_event(&world));
    world_end(&world);
}

static void test_tag_limit(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    for (int i = 0; i < 18; i++) {
        char key[8];

        ccm_text_printf(key, sizeof(key), "k%d", i);
        mini_tag(key, "v");
    }
    mini_untag();
    mini_tag("last", "v");
    world_restart(&world);
    assert_int_equal(world_run(&world), 0);
    assert_null(strstr(mini_log(), "TagResources"));
    assert_non_null(strstr(world_event(&world), "TooManyTags: the load balancer has 20 tags"));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create),
        cmocka_unit_test(test_vswitch_fallback),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_parameters_of_changes),
        cmocka_unit_test(test_foreign_tags),
        cmocka_unit_test(test_tags_of_another_instance),
        cmocka_unit_test(test_immutable),
        cmocka_unit_test(test_immutable_together),
        cmocka_unit_test(test_hostname_and_eip),
        cmocka_unit_test(test_preserve),
        cmocka_unit_test(test_preserve_means_yes),
        cmocka_unit_test(test_useless_annotations_are_told),
        cmocka_unit_test(test_tag_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
