/* From the cloud's answers to the model: pages, spellings, rubbish, and who may have what. */
#include "nlb/read.h"

#include "alilb/tests/sim_cloud.h"
#include "lbc/service/hash.h"
#include "lbc/tests/objects.h"
#include "nlb/nlb.h"
#include "util/cleanup.h"

#include "lbc/tests/check.h"

#include <errno.h>
#include <string.h>

#define NAME "a5e4dbfc9c2ae4642b0335607860aef6"
#define MARKS                                                                                      \
    "[{'Key':'kubernetes.do.not.delete','Value':'" NAME "'},{'Key':'ack.aliyun.com','Value':'c1'}" \
    "]"
#define GUARD_MARKS(cluster)                                                                       \
    "{'Tag':[{'TagKey':'kubernetes.do.not.delete','TagValue':'" NAME                               \
    "'},{'TagKey':'ack.aliyun.com','TagValue':'" cluster "'}]}"

static cJSON *parse(const char *json)
{
    cJSON *tree = NULL;
    char *text = strdup(json);

    assert_non_null(text);
    for (char *p = text; *p != '\0'; p++) {
        *p = *p == '\'' ? '"' : *p;
    }
    assert_int_equal(ccm_json_parse(text, strlen(text), &tree), 0);
    free(text);
    return tree;
}

/* --- single things --- */

static void test_lb(void **state)
{
    static const char *const texts[] = {
        /* As the list has it, and as the attribute action has it. */
        "{'LoadBalancerId':'nlb-1','DNSName':'d','VpcId':'vpc-9','LoadBalancerStatus':'Active',"
        "'LoadBalancerName':'n','AddressType':'Internet','AddressIpVersion':'ipv4',"
        "'CrossZoneEnabled':true,'SecurityGroupIds':['sg-2','sg-1'],'Tags':[{'Key':'k',"
        "'Value':'v'}],'DeletionProtectionConfig':{'Enabled':true},"
        "'ModificationProtectionConfig':{'Status':'ConsoleProtection'},'ZoneMappings':[{'ZoneId':"
        "'z-b','VSwitchId':'vsw-b','LoadBalancerAddresses':[{'PrivateIPv4Address':'10.0.0.2',"
        "'AllocationId':'eip-2'}]},{'ZoneId':'z-a','VSwitchId':'vsw-a'}]}",
        "{'LoadBalancerId':'nlb-1','DNSName':'d','VpcId':'vpc-9','LoadBalancerStatus':'Active',"
        "'LoadBalancerName':'n','AddressType':'Internet','AddressIpVersion':'ipv4',"
        "'CrossZoneEnabled':'true','SecurityGroupIds':['sg-1','sg-2'],'Tags':[{'TagKey':'k',"
        "'TagValue':'v'}],'DeletionProtectionConfig':{'Enabled':'true'},'BandwidthPackageId':null,"
        "'ModificationProtectionConfig':{'Status':'ConsoleProtection'},'ZoneMappings':[{'ZoneId':"
        "'z-a','VSwitchId':'vsw-a','LoadBalancerAddresses':[]},{'ZoneId':'z-b','VSwitchId':'vsw-b',"
        "'LoadBalancerAddresses':[{'PrivateIPv4Address':'10.0.0.2','AllocationId':'eip-2'}]}]}",
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(texts); i++) {
        CCM_CLEANUP(ccm_json_freep) cJSON *json = parse(texts[i]);
        CCM_CLEANUP(nlb_lb_fini) struct nlb_lb lb = { 0 };

        assert_int_equal(nlb_read_parse_lb(json, &lb), 0);
        assert_string_equal(lb.lbc.id, "nlb-1");
        assert_string_equal(lb.dns, "d");
        assert_string_equal(lb.lbc.vpc_id, "vpc-9");
        assert_string_equal(lb.status, "Active");
        assert_string_equal(lb.lbc.texts[NLB_LB_CROSS_ZONE], "true");
        assert_string_equal(lb.lbc.texts[NLB_LB_PROTECT], "true");
        assert_string_equal(lb.lbc.texts[NLB_LB_MODIFICATION], "ConsoleProtection");
        assert_string_equal(lb.lbc.texts[NLB_LB_PACKAGE], "");
        assert_null(lb.lbc.texts[NLB_LB_IPV6_TYPE]);
        assert_int_equal(lb.security_groups.len, 2);
        assert_string_equal(lbc_tags_get(&lb.lbc.tags, "k"), "v");
        assert_int_equal(lb.zone_count, 2);
        assert_string_equal(lb.zones[0].zone_id, "z-a");
        assert_null(lb.zones[0].eip);
        assert_string_equal(lb.zones[1].eip, "eip-2");
        assert_string_equal(lb.zones[1].address, "10.0.0.2");
    }
}

static void test_listener(void **state)
{
    CCM_CLEANUP(ccm_json_freep)
    cJSON *json =
        parse("{'ListenerId':'lsn-1','ListenerProtocol':'tcpssl','ListenerPort':443,'ServerGroupId'"
              ":'sgp-1','ListenerDescription':'hi','IdleTimeout':900,'Cps':0,'CertificateIds':['a',"
              "'b'],'CaCertificateIds':[],'AlpnEnabled':false,'ProxyProtocolV2Config':"
              "{'Ppv2VpcIdEnabled':true},'ProxyProtocolEnabled':'false'}");
    CCM_CLEANUP(ccm_json_freep)
    cJSON *range = parse("{'ListenerId':'lsn-2','ListenerProtocol':'UDP','ListenerPort':0,"
                         "'StartPort':'100','EndPort':'200'}");
    CCM_CLEANUP(nlb_listener_fini) struct nlb_listener one = { 0 };
    CCM_CLEANUP(nlb_listener_fini) struct nlb_listener two = { 0 };

    (void)state;
    assert_int_equal(nlb_read_parse_listener(json, &one.lbc), 0);
    assert_int_equal(one.lbc.protocol, LBC_TCPSSL);
    assert_int_equal(one.lbc.port, 443);
    assert_int_equal(one.lbc.last_port, 443);
    assert_false(one.lbc.is_range);
    assert_string_equal(one.lbc.group_id, "sgp-1");
    assert_string_equal(lbc_attrs_get(&one.lbc.attrs, nlb_listener_field("IdleTimeout")), "900");
    assert_string_equal(lbc_attrs_get(&one.lbc.attrs, nlb_listener_field("Cps")), "0");
    assert_string_equal(lbc_attrs_get(&one.lbc.attrs, nlb_listener_field("CertificateIds")), "a,b");
    assert_null(lbc_attrs_get(&one.lbc.attrs, nlb_listener_field("CaCertificateIds")));
    assert_string_equal(lbc_attrs_get(&one.lbc.attrs, nlb_listener_field("AlpnEnabled")), "false");
    assert_string_equal(lbc_attrs_get(&one.lbc.attrs, nlb_listener_field("Ppv2VpcIdEnabled")),
                        "true");
    assert_null(lbc_attrs_get(&one.lbc.attrs, nlb_listener_field("Ppv2PrivateLinkEpIdEnabled")));
    assert_int_equal(nlb_read_parse_listener(range, &two.lbc), 0);
    assert_true(two.lbc.is_range);
    assert_int_equal(two.lbc.port, 100);
    assert_int_equal(two.lbc.last_port, 200);
}

static void test_group_and_servers(void **state)
{
    CCM_CLEANUP(ccm_json_freep)
    cJSON *json = parse("{'ServerGroupId':'sgp-1','ServerGroupName':'g','ServerGroupType':'Ip',"
                        "'AddressIPVersion':'dualstack','Protocol':'UDP','AnyPortEnabled':true,"
                        "'ServerCount':0,'ConnectionDrainTimeout':'0','HealthCheck':{"
                        "'HealthCheckEnabled':true,'HealthCheckHttpCode':['http_2xx','http_3xx'],"
                        "'HealthyThreshold':2},'Tags':" MARKS "}");
    CCM_CLEANUP(ccm_json_freep)
    cJSON *servers = parse(
        "[{'ServerId':'i-1','ServerType':'Ecs','ServerIp':'10.0.0.1','Port':30080,'Weight':100,"
        "'Description':'g'},{'ServerId':'eni-1','ServerType':'Eni','ServerIp':'10.0.0.5','Port':"
        "'80','Weight':0,'Description':'by hand','Status':'Removing'},{'ServerId':'10.0.0.7',"
        "'ServerType':'Ip','ServerIp':'10.0.0.7','Port':0,'Weight':500,'Description':''}]");
    CCM_CLEANUP(nlb_group_fini) struct nlb_group group = { 0 };
    const struct lbc_backend *one = NULL;

    (void)state;
    assert_int_equal(nlb_read_parse_group(json, &group), 0);
    assert_false(group.lbc.unread);
    assert_true(group.any_port);
    assert_int_equal(group.lbc.protocol, LBC_UDP);
    assert_string_equal(group.type, "Ip");
    assert_string_equal(group.family, "dualstack");
    assert_string_equal(lbc_tags_get(&group.tags, LBC_TAG_CLUSTER), "c1");
    assert_string_equal(lbc_attrs_get(&group.lbc.attrs, nlb_group_field("HealthCheckHttpCode")),
                        "http_2xx,http_3xx");
    assert_string_equal(lbc_attrs_get(&group.lbc.attrs, nlb_group_field("ConnectionDrainTimeout")),
                        "0");
    for (const cJSON *item = servers->child; item != NULL; item = item->next) {
        assert_int_equal(alilb_parse_backend(item, &group.lbc), 0);
    }
    assert_int_equal(group.lbc.backends.len, 3);
    one = &group.lbc.backends.items[0];
    assert_int_equal(one->type, LBC_BACKEND_INSTANCE);
    assert_null(one->description);
    assert_int_equal(one->weight, 100);
    one = &group.lbc.backends.items[1];
    assert_int_equal(one->type, LBC_BACKEND_INTERFACE);
    assert_int_equal(one->port, 80);
    assert_string_equal(one->description, "by hand");
    assert_true(one->leaving);
    one = &group.lbc.backends.items[2];
    assert_int_equal(one->type, LBC_BACKEND_IP);
    assert_int_equal(one->weight, 0);
    assert_string_equal(one->description, "");
}

/* What is no resource is refused, whatever it is, and nothing leaks or crashes. */
static void test_rubbish(void **state)
{
    static const char *const texts[] = {
        "7",
        "null",
        "[]",
        "{}",
        "{'LoadBalancerId':7,'ListenerId':7,'ServerGroupId':7,'ServerId':7}",
        "{'ListenerId':'l','ListenerPort':70000}",
        "{'ListenerId':'l','ListenerPort':-1}",
        "{'ListenerId':'l','ListenerPort':0,'StartPort':'200','EndPort':'100'}",
        "{'ListenerId':'l','ListenerPort':0,'StartPort':'x','EndPort':'y'}",
        "{'LoadBalancerId':'n','ZoneMappings':[{'VSwitchId':'v'}]}",
        "{'ServerId':'i-1','Port':99999999999}",
        "{'LoadBalancerId':'','ServerGroupId':''}",
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(texts); i++) {
        CCM_CLEANUP(ccm_json_freep) cJSON *json = parse(texts[i]);
        CCM_CLEANUP(nlb_lb_fini) struct nlb_lb lb = { 0 };
        CCM_CLEANUP(nlb_listener_fini) struct nlb_listener listener = { 0 };
        CCM_CLEANUP(nlb_group_fini) struct nlb_group group = { 0 };

        assert_int_equal(nlb_read_parse_lb(json, &lb), -EPROTO);
        assert_int_equal(nlb_read_parse_listener(json, &listener.lbc), -EPROTO);
        assert_int_equal(nlb_read_parse_group(json, &group), -EPROTO);
        assert_int_equal(alilb_parse_backend(json, &group.lbc), -EPROTO);
    }
}

/* --- finding the load balancer --- */

static void test_find_by_tag(void **state)
{
    struct sim sim;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb lb = { 0 };
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb none = { 0 };

    (void)state;
    sim_begin(&sim);
    sim_answer(&sim, "ListLoadBalancers",
               "{'RequestId':'r','LoadBalancers':[{'LoadBalancerId':'nlb-1','Tags':" MARKS "}]}");
    assert_int_equal(alilb_read_own_lb(&sim.call, &nlb_source, obj_service(), NULL, &lb.lbc, &err),
                     0);
    assert_string_equal(lb.lbc.id, "nlb-1");
    assert_false(lb.lbc.untagged);
    assert_string_equal(sim_param(&sim, "ListLoadBalancers", "Tag.1.Key"), LBC_TAG_OWNER);
    assert_string_equal(sim_param(&sim, "ListLoadBalancers", "Tag.1.Value"), NAME);
    assert_string_equal(sim_param(&sim, "ListLoadBalancers", "MaxResults"), "100");
    /* A Service without a past: one call is enough. */
    assert_int_equal(
        alilb_read_own_lb(&sim.call, &nlb_source, obj_service(), NULL, &none.lbc, &err), 0);
    assert_null(none.lbc.id);
    assert_int_equal(fake_host_action_count(sim.setup.fake, "ListLoadBalancers"), 2);
    sim_end(&sim);
}

static void test_find_by_name(void **state)
{
    struct sim sim;
    struct ccm_error err = CCM_ERROR_INIT;
    struct ccm_service *service = obj_service();
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb lb = { 0 };

    (void)state;
    sim_begin(&sim);
    obj_label(&service->meta, LBC_HASH_LABEL, "x");
    sim_answer(&sim, "ListLoadBalancers", "{'RequestId':'r','LoadBalancers':[]}");
    sim_answer(
        &sim, "ListLoadBalancers",
        "{'RequestId':'r','LoadBalancers':[{'LoadBalancerId':'nlb-1','LoadBalancerName':'" NAME "'}"
        ",{'LoadBalancerId':'nlb-2','LoadBalancerName':'" NAME "','Tags':"
        "[{'Key':'kubernetes.do.not.delete','Value':'api'}]}]}");
    assert_int_equal(alilb_read_own_lb(&sim.call, &nlb_source, service, NULL, &lb.lbc, &err), 0);
    assert_string_equal(lb.lbc.id, "nlb-1");
    assert_true(lb.lbc.untagged);
    assert_string_equal(sim_param(&sim, "ListLoadBalancers", "LoadBalancerNames.1"), NAME);
    sim_end(&sim);
}

static void test_find_refuses(void **state)
{
    static const struct {
        const char *answer;
        const char *message;
        uint64_t kind;
    } cases[] = {
        { "{'RequestId':'r','LoadBalancers':[{'LoadBalancerId':'nlb-1','Tags':" MARKS
          "},{'LoadBalancerId':'nlb-2','Tags':" MARKS "}]}",
          "find multiple loadbalances by tag, lbIds[nlb-1,nlb-2]", CCM_ERROR_TERMINAL },
        { "{'RequestId':'r','LoadBalancers':[{'LoadBalancerId':'nlb-1','Tags':[{'Key':"
          "'kubernetes.do.not.delete','Value':'" NAME
          "'},{'Key':'ack.aliyun.com','Value':'c2'}]}]}",
          "belongs to cluster c2", CCM_ERROR_TERMINAL },
        { "{'RequestId':'r','LoadBalancers':[{'LoadBalancerId':'nlb-1','Tags':[{'Key':"
          "'kubernetes.do.not.delete','Value':'api'}]}]}",
          "the answer holds nlb-1, which does not carry tag", CCM_ERROR_TRANSIENT },
        { "{'RequestId':'r'}", "the answer has no list", CCM_ERROR_TRANSIENT },
        { "{'RequestId':'r','LoadBalancers':[{}]}", "load balancer that is none",
          CCM_ERROR_TRANSIENT },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct sim sim;
        struct ccm_error err = CCM_ERROR_INIT;
        CCM_CLEANUP(nlb_lb_fini) struct nlb_lb lb = { 0 };

        sim_begin(&sim);
        sim_answer(&sim, "ListLoadBalancers", cases[i].answer);
        assert_true(alilb_read_own_lb(&sim.call, &nlb_source, obj_service(), NULL, &lb.lbc, &err) <
                    0);
        assert_non_null(strstr(err.message, cases[i].message));
        assert_int_equal(err.kind, cases[i].kind);
        sim_end(&sim);
    }
}

static void test_by_id(void **state)
{
    struct sim sim;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb lb = { 0 };

    (void)state;
    sim_begin(&sim);
    sim_put_nlb(&sim);
    lb.lbc.explicit = 5;
    assert_int_equal(alilb_read_lb(&sim.call, &nlb_source, "nlb-1", &lb.lbc, &err), 0);
    assert_string_equal(lb.status, "Active");
    assert_int_equal(lb.lbc.explicit, 5);
    sim_answer(&sim, "GetLoadBalancerAttribute",
               "{'RequestId':'r','LoadBalancerId':'nlb-1','LoadBalancerStatus':'Active'}");
    assert_int_equal(alilb_read_lb(&sim.call, &nlb_source, "nlb-2", &lb.lbc, &err), -EBADMSG);
    assert_non_null(strstr(err.message, "expect [nlb-2], actual [nlb-1]"));
    fake_host_answer(sim.setup.fake, "GetLoadBalancerAttribute", 404,
                     "{\"Code\":\"ResourceNotFound.loadBalancer\",\"Message\":\"m\"}");
    assert_int_equal(alilb_read_lb(&sim.call, &nlb_source, "nlb-1", &lb.lbc, &err), -ENOENT);
    assert_int_equal(err.kind, CCM_ERROR_NOT_FOUND);
    sim_end(&sim);
}

/* --- the parts --- */

static void want_chosen(struct nlb_state *want, const char *id)
{
    struct nlb_group *group = nlb_state_new_group(want);

    assert_non_null(group);
    assert_int_equal(lbc_text_set(&group->lbc.id, id), 0);
}

static void test_parts(void **state)
{
    struct sim sim;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { 0 };
    CCM_CLEANUP(nlb_state_fini) struct nlb_state want = { 0 };
    const struct nlb_need need = { .want = &want, .listeners = true };

    (void)state;
    sim_begin(&sim);
    assert_int_equal(lbc_text_set(&have.lb.lbc.id, "nlb-1"), 0);
    want_chosen(&want, "sgp-chosen");
    sim_answer(&sim, "ListListeners",
               "{'RequestId':'r','NextToken':'t1','Listeners':[{'ListenerId':'lsn-1',"
               "'ListenerPort':80,'ListenerProtocol':'TCP','ServerGroupId':'sgp-1',"
               "'ListenerDescription':'k8s.80.TCP.web.default.c1'}]}");
    sim_answer(&sim, "ListListeners",
               "{'RequestId':'r','NextToken':'','Listeners':[{'ListenerId':'lsn-2','ListenerPort':"
               "443,'ListenerProtocol':'TCP','ServerGroupId':'sgp-lost','ListenerDescription':"
               "'k8s.443.TCP.web.default.c1'},{'ListenerId':'lsn-3','ListenerPort':99,"
               "'ListenerProtocol':'TCP','ServerGroupId':'sgp-foreign','ListenerDescription':"
               "'by hand'}]}");
    sim_answer(&sim, "ListServerGroups",
               "{'RequestId':'r','ServerGroups':[{'ServerGroupId':'sgp-1','ServerGroupName':'g1',"
               "'ServerCount':2,'Tags':" MARKS "},{'ServerGroupId':'sgp-empty','ServerCount':0,"
               "'Tags':" MARKS "},{'ServerGroupId':'sgp-other','ServerCount':0,'Tags':[{'Key':"
               "'kubernetes.do.not.delete','Value':'api'}]}]}");
    sim_answer(&sim, "ListServerGroups",
               "{'RequestId':'r','ServerGroups':[{'ServerGroupId':'sgp-chosen','ServerCount':0},"
               "{'ServerGroupId':'sgp-lost','ServerCount':0}]}");
    sim_answer(&sim, "ListServerGroupServers",
               "{'RequestId':'r','NextToken':'n','Servers':[{'ServerGroupId':'sgp-1','ServerId':"
               "'i-1','ServerType':'Ecs','Port':1,'Weight':1,'Description':'g1'}]}");
    sim_answer(&sim, "ListServerGroupServers",
               "{'RequestId':'r','Servers':[{'ServerGroupId':'sgp-1','ServerId':'i-2',"
               "'ServerType':'Ecs','Port':1,'Weight':1,'Description':'g1'}]}");
    assert_int_equal(nlb_read_parts(&sim.call, obj_service(), &need, &have, &err), 0);
    assert_true(have.lbc.listeners_known);
    assert_true(have.lbc.groups_known);
    assert_int_equal(have.lbc.listener_count, 3);
    assert_int_equal(have.lbc.group_count, 4);
    assert_int_equal(nlb_state_group_by_id(&have, "sgp-1")->lbc.backends.len, 2);
    assert_non_null(nlb_state_group_by_id(&have, "sgp-lost"));
    assert_null(nlb_state_group_by_id(&have, "sgp-foreign"));
    assert_string_equal(sim_param(&sim, "ListServerGroups", "ServerGroupIds.1"), "sgp-chosen");
    assert_string_equal(sim_param(&sim, "ListServerGroups", "ServerGroupIds.2"), "sgp-lost");
    assert_int_equal(fake_host_request_count(sim.setup.fake), 6);
    /* All of it is known now. */
    assert_int_equal(nlb_read_parts(&sim.call, obj_service(), &need, &have, &err), 0);
    assert_int_equal(fake_host_request_count(sim.setup.fake), 6);
    sim_end(&sim);
}

static void test_parts_of_nothing(void **state)
{
    struct sim sim;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { 0 };
    const struct nlb_need need = { .listeners = true };

    (void)state;
    sim_begin(&sim);
    assert_int_equal(nlb_read_parts(&sim.call, obj_service(), &need, &have, &err), 0);
    assert_true(have.lbc.listeners_known);
    assert_string_equal(sim_log(&sim), "ListServerGroups ");
    sim_end(&sim);
}

/* All groups of the region are listed only where a list by tags may be late. */
static void test_parts_of_one_that_goes(void **state)
{
    (void)state;
    for (int doubtful = 0; doubtful < 2; doubtful++) {
        struct sim sim;
        struct ccm_error err = CCM_ERROR_INIT;
        CCM_CLEANUP(nlb_state_fini) struct nlb_state want = { 0 };
        CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { .lbc.listeners_known = true };
        const struct nlb_need need = { .want = &want, .ends = true, .doubtful = doubtful != 0 };

        sim_begin(&sim);
        assert_int_equal(nlb_read_parts(&sim.call, obj_service(), &need, &have, &err), 0);
        assert_string_equal(sim_log(&sim),
                            doubtful ? "ListServerGroups ListServerGroups " : "ListServerGroups ");
        sim_end(&sim);
    }
}

/* The list of all tags of the cluster was read when the process began, and may have been late: the
 * unfiltered one is read once. */
static void test_parts_from_a_list_by_tag(void **state)
{
    struct sim sim;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(nlb_state_fini) struct nlb_state want = { 0 };
    CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { .by_tag = true };
    const struct nlb_need need = { .want = &want, .ends = true, .doubtful = true };

    (void)state;
    have.lbc.listeners_known = have.lbc.groups_known = true;
    sim_begin(&sim);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(nlb_read_parts(&sim.call, obj_service(), &need, &have, &err), 0);
        assert_string_equal(sim_log(&sim), "ListServerGroups ");
    }
    sim_end(&sim);
}

/* A read that fails half way is no answer. */
static void test_parts_fail(void **state)
{
    static const char *const actions[] = { "ListListeners", "ListServerGroups",
                                           "ListServerGroupServers" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(actions); i++) {
        struct sim sim;
        struct ccm_error err = CCM_ERROR_INIT;
        CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { 0 };
        const struct nlb_need need = { .listeners = true };

        sim_begin(&sim);
        assert_int_equal(lbc_text_set(&have.lb.lbc.id, "nlb-1"), 0);
        sim_rule(&sim, &(struct sim_rule){ .action = actions[i], .code = "MissingParam.X" });
        sim_answer(&sim, i == 0 ? "ListServerGroups" : "ListListeners",
                   "{'RequestId':'r','Listeners':[],'ServerGroups':[]}");
        if (i == 2) {
            sim_answer(&sim, "ListServerGroups",
                       "{'RequestId':'r','ServerGroups':[{'ServerGroupId':'sgp-1','Tags':" MARKS
                       "}]}");
        }
        assert_true(nlb_read_parts(&sim.call, obj_service(), &need, &have, &err) < 0);
        assert_string_equal(err.code, "MissingParam.X");
        assert_false(have.lbc.groups_known);
        assert_int_equal(have.lbc.listeners_known, i > 0);
        sim_end(&sim);
    }
}

/* A server that goes round in circles, or never ends, is stopped. */
static void test_endless_pages(void **state)
{
    struct sim sim;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { 0 };
    const struct nlb_need need = { .want = NULL };

    (void)state;
    sim_begin(&sim);
    fake_host_always(sim.setup.fake, "ListServerGroups", 200,
                     "{\"RequestId\":\"r\",\"ServerGroups\":[],\"NextToken\":\"again\"}");
    assert_int_equal(nlb_read_parts(&sim.call, obj_service(), &need, &have, &err), -EBADMSG);
    assert_int_equal(fake_host_request_count(sim.setup.fake), 2);
    sim_end(&sim);
}

static void test_certs(void **state)
{
    struct sim sim;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(nlb_state_fini)
    struct nlb_state have = { .lbc.groups_known = true, .lbc.listeners_known = true };
    CCM_CLEANUP(nlb_state_fini) struct nlb_state want = { 0 };
    const struct nlb_need need = { .want = &want, .certs = true };

    (void)state;
    sim_begin(&sim);
    for (uint16_t i = 0; i < 2; i++) {
        struct nlb_listener *present = nlb_state_new_listener(&have);
        struct nlb_listener *wanted = nlb_state_new_listener(&want);

        present->lbc.protocol = wanted->lbc.protocol = LBC_TCPSSL;
        present->lbc.port = present->lbc.last_port = wanted->lbc.port = wanted->lbc.last_port =
            (uint16_t)(443 + i);
        wanted->lbc.certs_known = i == 0;
        assert_int_equal(lbc_text_set(&present->lbc.id, i == 0 ? "lsn-1" : "lsn-2"), 0);
    }
    sim_answer(&sim, "ListListenerCertificates",
               "{'RequestId':'r','Certificates':[{'CertificateId':'own','IsDefault':true},"
               "{'CertificateId':'ca','CertificateType':'Ca'},{'CertificateId':'b','Status':"
               "'Associated','CertificateType':'Server'},{'CertificateId':'old','Status':"
               "'Diassociating'},{'CertificateId':'a','Status':'Associating'}]}");
    assert_int_equal(nlb_read_parts(&sim.call, obj_service(), &need, &have, &err), 0);
    assert_int_equal(nlb_listener_at(&have, 0)->certs.len, 2);
    assert_true(lbc_texts_has(&nlb_listener_at(&have, 0)->certs, "a"));
    assert_true(lbc_texts_has(&nlb_listener_at(&have, 0)->certs, "b"));
    assert_true(nlb_listener_at(&have, 0)->lbc.certs_known);
    assert_false(nlb_listener_at(&have, 1)->lbc.certs_known);
    assert_int_equal(fake_host_request_count(sim.setup.fake), 1);
    sim_end(&sim);
}

static void test_guard(void **state)
{
    struct sim sim;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { .lbc.groups_known = true };
    const struct nlb_need need = { .security_group = true };

    (void)state;
    sim_begin(&sim);
    sim_answer(&sim, "DescribeSecurityGroups",
               "{'RequestId':'r','SecurityGroups':{'SecurityGroup':[{'SecurityGroupId':'sg-1',"
               "'SecurityGroupName':'k8s-nlb-x','Description':'d','Tags':" GUARD_MARKS(
                   "c1") "},{'SecurityGroupId':'sg-2'}]}}");
    sim_answer(&sim, "DescribeSecurityGroupAttribute",
               "{'RequestId':'r','Permissions':{'Permission':[{'SecurityGroupRuleId':'sgr-1',"
               "'Policy':'Accept','Priority':'1','IpProtocol':'ALL','PortRange':'-1/-1',"
               "'SourceCidrIp':'10.0.0.0/8','Description':'k'},{'SecurityGroupRuleId':'sgr-2',"
               "'Policy':'Drop','Priority':100,'Ipv6SourceCidrIp':'::/0'}]}}");
    assert_int_equal(nlb_read_parts(&sim.call, obj_service(), &need, &have, &err), 0);
    assert_true(have.security_group.known);
    assert_string_equal(have.security_group.id, "sg-1");
    assert_int_equal(have.security_group.rule_count, 2);
    assert_int_equal(have.security_group.rules[0].priority, 1);
    assert_false(have.security_group.rules[0].drop);
    assert_true(have.security_group.rules[1].drop);
    assert_true(have.security_group.rules[1].ipv6);
    assert_string_equal(have.security_group.rules[1].cidr, "::/0");
    assert_int_equal(nlb_read_parts(&sim.call, obj_service(), &need, &have, &err), 0);
    assert_int_equal(fake_host_request_count(sim.setup.fake), 2);
    sim_end(&sim);
}

static void test_guard_refused(void **state)
{
    static const char *const answers[] = {
        "{'RequestId':'r','SecurityGroups':{'SecurityGroup':[{'SecurityGroupId':'sg-1',"
        "'Tags':" GUARD_MARKS("c1") "},{'SecurityGroupId':'sg-2','Tags':" GUARD_MARKS("c1") "}]}}",
        "{'RequestId':'r','SecurityGroups':{'SecurityGroup':[{'SecurityGroupId':'sg-1','Tags'"
        ":" GUARD_MARKS("c2") "}]}}",
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(answers); i++) {
        struct sim sim;
        struct ccm_error err = CCM_ERROR_INIT;
        CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { .lbc.groups_known = true };
        struct nlb_need need = { .security_group = true };

        sim_begin(&sim);
        sim_answer(&sim, "DescribeSecurityGroups", answers[i]);
        assert_true(nlb_read_parts(&sim.call, obj_service(), &need, &have, &err) < 0);
        assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
        assert_false(have.security_group.known);
        /* At the end of the Service another cluster's is just none of its own. */
        need.ends = true;
        sim_answer(&sim, "DescribeSecurityGroups", answers[i]);

        const int r = nlb_read_parts(&sim.call, obj_service(), &need, &have, &err);

        assert_int_equal(r < 0, i == 0);
        assert_int_equal(have.security_group.known, i == 1);
        assert_null(have.security_group.id);
        sim_end(&sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lb),
        cmocka_unit_test(test_listener),
        cmocka_unit_test(test_group_and_servers),
        cmocka_unit_test(test_rubbish),
        cmocka_unit_test_teardown(test_find_by_tag, obj_end),
        cmocka_unit_test_teardown(test_find_by_name, obj_end),
        cmocka_unit_test_teardown(test_find_refuses, obj_end),
        cmocka_unit_test(test_by_id),
        cmocka_unit_test_teardown(test_parts, obj_end),
        cmocka_unit_test_teardown(test_parts_of_nothing, obj_end),
        cmocka_unit_test_teardown(test_parts_of_one_that_goes, obj_end),
        cmocka_unit_test_teardown(test_parts_from_a_list_by_tag, obj_end),
        cmocka_unit_test_teardown(test_parts_fail, obj_end),
        cmocka_unit_test_teardown(test_endless_pages, obj_end),
        cmocka_unit_test_teardown(test_certs, obj_end),
        cmocka_unit_test_teardown(test_guard, obj_end),
        cmocka_unit_test_teardown(test_guard_refused, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
