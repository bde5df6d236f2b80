/*
 * Every annotation, one row each: what creation asks for without it and with it, which values are
 * refused and how, what a change and a removal do to a load balancer that is there, the older
 * prefix, and protocols that do not know it. The plan says what is done.
 */
#include "lbc/tests/check.h"

#include "lbc/tests/anno_table.h"
#include "lbc/tests/objects.h"
#include "lbc/tests/refused.h"
#include "nlb/annotation_text.h"
#include "nlb/annotations.h"
#include "nlb/lint.h"
#include "nlb/model.h"
#include "nlb/plan.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

static int check_service(const struct ccm_service *service, struct ccm_error *err)
{
    const int r = refused_by(&nlb_rules, service, err);

    return r < 0 ? r : nlb_check_source_ranges(service, err);
}

/* Places: the load balancer, the listener and the group of each protocol, servers of the first. */
#define LB  1U
#define TCP 2U
#define UDP 4U
#define TLS 8U
#define ALL (TCP | UDP | TLS)
#define SRV 16U

static const char *const places[] = { "load balancer", "TCP", "UDP", "TCPSSL", "servers" };

#define BOOL     "on->true off->false TRUE->true False->false"
#define BAD_BOOL "yes|1|enabled"
#define NO_BOOL  "must be one of [on|off|true|false], got ["
#define DEFAULT  "default"

static const char zones_error[] =
    "ZoneMapping format error, expect [zone-a:vsw-id-1,zone-b:vsw-id-2], got ";

/* clang-format off */
static const struct anno_row rows[] = {
    { "id", "id", LB, NULL, "nlb-1", NULL, NULL, { { 0 } }, "", NULL, 0 },
    { "zone-maps", "zones", LB, NULL,
      "a:v-1->a:v-1:: b:v-2,a:v-1->a:v-1::,b:v-2:: a:v-1:10.0.0.5->a:v-1:10.0.0.5: "
      "a:v-1::eip-1->a:v-1::eip-1 a:v-1:10.0.0.5:eip-1->a:v-1:10.0.0.5:eip-1 "
      "~a~:~v-1~,~b:v-2->a:v-1::,b:v-2::",
      "a|a:|:v-1|a:v-1:10.0.0.5:eip-1:x|a:v-1:nonsense|a:v-1:fd00::1|a:v-1,a:v-2|a:v-1,,b:v-2|a;v",
      zones_error, { { 0 } }, NULL, NULL, 0 },
    { "address-type", "address", LB, "Internet",
      "intranet->Intranet internet->Internet Intranet INTERNET->Internet", "public|vpc|internet ",
      "address-type must be one of [internet|intranet], got [", { { 0 } }, NULL, NULL, 0 },
    { "ip-version", "version", LB, NULL, "ipv4 dualstack->DualStack IPv4->ipv4 DualStack", "ipv6|4",
      "ip-version must be one of [ipv4|dualstack], got [", { { 0 } }, "refused", NULL, 0 },
    { "ipv6-address-type", "ipv6", LB, NULL, "internet->Internet intranet->Intranet Internet",
      "public|on", "invalid ipv6 address type ", { { "ip-version", "dualstack" } }, NULL, NULL, 0 },
    { "name", "name", LB, "a5e4dbfc9c2ae4642b0335607860aef6",
      "web a.b_c-1 \xe5\xba\x94\xe7\x94\xa8", "a|1web|-web|a b|a,b",
      "name must be 2 to 128 letters", { { 0 } }, NULL, NULL, 0 },
    { "resource-group-id", "rgroup", LB, NULL, "rg-1 rg-2", NULL, NULL, { { 0 } }, "refused", NULL,
      0 },
    { "additional-resource-tags", "tags", LB, NULL,
      "k=v->k=v Key1=Value1,Key2=Value2->Key1=Value1,Key2=Value2 Key1=Value3->Key1=Value3 k->k= "
      "a=b=c->a=b=c", NULL, NULL, { { 0 } }, NULL, DEFAULT, 0 },
    { "security-group-ids", "security", LB, NULL,
      "sg-1 sg-1,sg-2 sg-2,~sg-3->sg-2,sg-3 sg-1,sg-2,sg-3,sg-4 sg-1,sg-1->sg-1", "a,b,c,d,e",
      "security-group-ids must be a list of at most 4 groups, got [", { { 0 } }, NULL, NULL, 0 },
    { "bandwidth-package-id", "package", LB, NULL, "cbwp-1 cbwp-2", NULL, NULL, { { 0 } }, NULL,
      NULL, 0 },
    { "cross-zone-enabled", "cross", LB, NULL, "off->false on->true ON->true Off->false",
      "true|yes",
      "ParameterInvalid, cross zone enabled flag error: invalid flag \"", { { 0 } }, NULL, DEFAULT,
      0 },
    { "delete-protection", "protect", LB, "true", "off->false on->true False->false true", BAD_BOOL,
      "delete-protection " NO_BOOL, { { 0 } }, NULL, DEFAULT, 0 },
    { "modification-protection", "modification", LB, "ConsoleProtection",
      "NonProtection ConsoleProtection", "on|nonprotection",
      "must be one of [ConsoleProtection|NonProtection], got [", { { 0 } }, NULL, DEFAULT, 0 },
    { "preserve-lb-on-delete", "preserve", LB, NULL, "true->yes on->yes x->yes false-> off-> 0->",
      NULL, NULL, { { 0 } }, "", NULL, 0 },
    { "force-override-listeners", "override", LB, NULL, "true->yes false->", "on|TRUE|1",
      "must be one of [true|false], got [", { { "id", "nlb-1" } }, "", NULL, 0 },
    { "protocol-port", "listeners", LB, "1/TCP,2/UDP,3/TCP",
      "TCPSSL:3->1/TCP,2/UDP,3/TCPSSL udp:1->1/UDP,2/UDP,3/TCP "
      "tcpssl:1,Tcp:2->1/TCPSSL,2/TCP,3/TCP TCP:3,UDP:3->1/TCP,2/UDP,3/TCP "
      "tcp:4->1/TCP,2/UDP,3/TCP", "tcp1|tcp:|:1|tcp:1:2", "port", { { 0 } }, NULL, DEFAULT, 0 },
    { "listener-port-range", "listeners", LB, "1/TCP,2/UDP,3/TCPSSL",
      "1000-2000:1->1000-2000/TCP,2/UDP,3/TCPSSL 1-65535:2->1/TCP,1-65535/UDP,3/TCPSSL "
      "10-20:1,30-40:3->10-20/TCP,2/UDP,30-40/TCPSSL 10-20:9->1/TCP,2/UDP,3/TCPSSL",
      "1000-2000|10-20:1:2|:1|10-20:", "port",
      { { "service.beta.kubernetes.io/backend-type", "eni" } }, NULL, DEFAULT, 0 },
    { "idle-timeout", "IdleTimeout", ALL, NULL, "10 90 015->15 0->", "901|-1|9|abc|1.5|91",
      "imeout", { { 0 } }, NULL, DEFAULT, 0 },
    { "cps", "Cps", ALL, NULL, "1000000 100 0", "1000001|-1|abc", "parse Mss error: [", { { 0 } },
      NULL, DEFAULT, 0 },
    { "proxy-protocol", "ProxyProtocolEnabled", ALL, NULL, BOOL, BAD_BOOL, NO_BOOL, { { 0 } }, NULL,
      DEFAULT, 0 },
    { "ppv2-pvl-ep-id-enabled", "Ppv2PrivateLinkEpIdEnabled", ALL, NULL, BOOL, BAD_BOOL, NO_BOOL,
      { { "proxy-protocol", "on" } }, NULL, DEFAULT, 0 },
    { "ppv2-pvl-eps-id-enabled", "Ppv2PrivateLinkEpsIdEnabled", ALL, NULL, BOOL, BAD_BOOL, NO_BOOL,
      { { "proxy-protocol", "on" } }, NULL, DEFAULT, 0 },
    { "ppv2-pvl-vpc-id-enabled", "Ppv2VpcIdEnabled", ALL, NULL, BOOL, BAD_BOOL, NO_BOOL,
      { { "proxy-protocol", "on" } }, NULL, DEFAULT, 0 },
    { "tls-cipher-policy", "SecurityPolicyId", TLS, NULL,
      "tls_cipher_policy_1_1 tls_cipher_policy_1_2 tls_cipher_policy_1_2_strict "
      "tls_cipher_policy_1_2_strict_with_1_3 tls_cipher_policy_1_0 tls-custom", NULL, NULL,
      { { 0 } }, NULL, NULL, 0 },
    { "cert-id", "CertificateIds", TLS, NULL, "cert-1 cert-2 cert-1,~cert-2->cert-1,cert-2", NULL,
      NULL, { { 0 } }, NULL, NULL, 0 },
    { "cacert-id", "CaCertificateIds", TLS, NULL, "ca-1 ca-2", NULL, NULL, { { 0 } }, NULL, NULL,
      0 },
    { "cacert", "CaEnabled", TLS, NULL, BOOL, BAD_BOOL, NO_BOOL, { { 0 } }, NULL, NULL, 0 },
    { "alpn", "AlpnEnabled", TLS, NULL, BOOL, BAD_BOOL, NO_BOOL, { { 0 } }, NULL, DEFAULT, 0 },
    { "alpn-policy", "AlpnPolicy", TLS, NULL,
      "HTTP1Only HTTP2Only HTTP2Optional HTTP2Preferred http1only->HTTP1Only", "h2|HTTP3Only",
      "must be one of [HTTP1Only|HTTP2Only|HTTP2Optional|HTTP2Preferred], got [",
      { { "alpn", "on" } }, NULL, NULL, 0 },
    { "additional-cert-ids", "certs", TLS, NULL, "c-1 c-1,c-2 c-2,~c-3->c-2,c-3 c-2,c-2->c-2", NULL,
      NULL, { { 0 } }, NULL, NULL, 0 },
    { "server-group-type", "type", ALL, NULL, "Instance Ip instance->Instance IP->Ip", "Eni|pod",
      "unsupport server ServerGroupType [", { { 0 } }, NULL, NULL, 0 },
    { "scheduler", "Scheduler", ALL, NULL, "rr wlc->Wlc Wrr sch tch qch RR->rr", "random|rr |least",
      "scheduler must be one of [Wrr|Wlc|rr|sch|tch|qch], got [", { { 0 } }, NULL, DEFAULT, 0 },
    { "connection-drain", "ConnectionDrainEnabled", ALL, NULL, BOOL, BAD_BOOL, NO_BOOL, { { 0 } },
      NULL, DEFAULT, 0 },
    { "connection-drain-timeout", "ConnectionDrainTimeout", ALL, NULL, "12 900 0", "901|-1|abc",
      "ConnectionDrainTimeout", { { "connection-drain", "on" } }, NULL, NULL, 0 },
    { "preserve-client-ip", "PreserveClientIpEnabled", ALL, NULL,
      "off->false on->true FALSE->false True->true", BAD_BOOL, NO_BOOL, { { 0 } }, NULL, DEFAULT,
      TCP | UDP },
    { "health-check-flag", "HealthCheckEnabled", ALL, NULL,
      "off->false on->true FALSE->false True->true", BAD_BOOL, NO_BOOL, { { 0 } }, NULL, DEFAULT,
      0 },
    { "health-check-type", "HealthCheckType", ALL, NULL, "http->HTTP tcp->TCP udp->UDP HTTP",
      "https|icmp", "health-check-type must be", { { "health-check-flag", "on" } }, NULL,
      DEFAULT, 0 },
    { "health-check-connect-port", "HealthCheckConnectPort", ALL, NULL, "8080 65535 0->",
      "65536|-1|http", "HealthCheckConnectPort", { { "health-check-flag", "true" } }, NULL, DEFAULT,
      0 },
    { "healthy-threshold", "HealthyThreshold", ALL, NULL, "3 2 10 0->", "1|11|x",
      "HealthyThreshold", { { "health-check-flag", "on" } }, NULL, DEFAULT, 0 },
    { "unhealthy-threshold", "UnhealthyThreshold", ALL, NULL, "3 10 2", "1|11|x",
      "UnhealthyThreshold", { { "health-check-flag", "on" } }, NULL, DEFAULT, 0 },
    { "health-check-connect-timeout", "HealthCheckConnectTimeout", ALL, NULL, "1 300 5", "301|-1|x",
      "HealthCheckConnectTimeout", { { "health-check-flag", "on" } }, NULL, DEFAULT, 0 },
    { "health-check-interval", "HealthCheckInterval", ALL, NULL, "1 50 5", "301|-1|x|51", "nterval",
      { { "health-check-flag", "on" } }, NULL, DEFAULT, 0 },
    { "health-check-domain", "HealthCheckDomain", ALL, NULL, "www.a-b.com $SERVER_IP",
      "a_b|a b|$ip|$_ip", "health-check-domain must be $SERVER_IP or",
      { { "health-check-flag", "on" }, { "health-check-type", "http" } }, NULL, NULL, 0 },
    { "health-check-uri", "HealthCheckUrl", ALL, NULL, "/ /a/b?c=d->/a/b?c=d", "a|http://x/",
      "health-check-uri must be a path",
      { { "health-check-flag", "on" }, { "health-check-type", "http" } }, NULL, NULL, 0 },
    { "health-check-method", "HttpCheckMethod", ALL, NULL, "HEAD get->GET", "post|OPTIONS",
      "must be one of [GET|HEAD]",
      { { "health-check-flag", "on" }, { "health-check-type", "http" } }, NULL, DEFAULT, 0 },
    { "health-check-httpcode", "HealthCheckHttpCode", ALL, NULL,
      "http_3xx http_2xx,~http_3xx->http_2xx,http_3xx http_4xx,http_5xx",
      "200|http_6xx|http_2xx;http_3xx", "health-check-httpcode must be a list of",
      { { "health-check-flag", "on" }, { "health-check-type", "http" } }, NULL, DEFAULT, 0 },
    { "vgroup-port", "chosen", TCP, NULL, "sgp-1:1->sgp-1 sgp-2:1->sgp-2 sgp-1:1,sgp-2:9->sgp-1",
      "sgp-1|sgp-1:|:1|sgp-1:1:2",
      "server group id and protocol format must be like'sgp-xxx:443' with colon separated. got=[",
      { { "id", "nlb-1" }, { "force-override-listeners", "true" } }, NULL, DEFAULT, 0 },
    { "weight", "servers", SRV, "i-1:30001!100,i-2:30001!100",
      "60->i-1:30001!30,i-2:30001!30 1->i-1:30001!1,i-2:30001!1 0->i-1:30001!0,i-2:30001!0",
      "101|-5|abc", "weight must be integer in range [0, 100], got [",
      { { "id", "nlb-1" }, { "vgroup-port", "sgp-1:1" } }, NULL, DEFAULT, 0 },
    { "default-weight", "servers", SRV, "i-1:30001!100,i-2:30001!100",
      "50->i-1:30001!50,i-2:30001!50 0->i-1:30001!0,i-2:30001!0 80->i-1:30001!80,i-2:30001!80",
      "200|-5|abc", "default weight ", { { 0 } }, NULL, DEFAULT, 0 },
    { "ignore-weight-update", "keep", LB, NULL, "on->yes true->yes off-> False->", BAD_BOOL,
      NO_BOOL, { { 0 } }, "", NULL, 0 },
    { "backend-label", "servers", SRV, "i-1:30001!100,i-2:30001!100",
      "pool=web->i-1:30001!100 pool=db->i-2:30001!100", "pool", "parse backend label: ", { { 0 } },
      NULL, DEFAULT, 0 },
    { "remove-unscheduled-backend", "servers", SRV, "i-1:30001!100,i-2:30001!100",
      "on->i-1:30001!100 off->i-1:30001!100,i-2:30001!100 True->i-1:30001!100", BAD_BOOL, NO_BOOL,
      { { 0 } }, NULL, DEFAULT, 0 },
    { "backend-ip-version", "family", ALL, NULL,
      "ipv6->dualstack/NonAffinity dualstack->dualstack/Affinity IPv6->dualstack/NonAffinity",
      "6|ipv4,ipv6", "must be one of [ipv4|ipv6|dualstack], got [",
      { { "ip-version", "dualstack" } }, NULL, DEFAULT, 0 },
    { "service.beta.kubernetes.io/backend-type", "servers", SRV, "i-1:30001!100,i-2:30001!100",
      "eni->10.0.0.1:8001!100,10.0.0.2:8001!100 ecs->i-1:30001!100,i-2:30001!100", NULL, NULL,
      { { 0 } }, NULL, DEFAULT, 0 },
};
/* clang-format on */

/* --- the world --- */

#define CLUSTER "c1"

static struct ccm_service *plain_service(const struct anno_row *row)
{
    struct ccm_service *service = obj_service();

    service->load_balancer_class = "alibabacloud.com/nlb";
    obj_port(service, "a", "TCP", 1, "8001", 30001);
    obj_port(service, "b", "UDP", 2, "8002", 30002);
    obj_port(service, "c", "TCP", 3, "8003", 30003);
    if (strcmp(row->name, "zone-maps") != 0) {
        obj_annotate(&service->meta, P "zone-maps", "z-0:v-0");
    }
    if (strcmp(row->name, "protocol-port") != 0) {
        obj_annotate(&service->meta, P "protocol-port", "tcpssl:3");
    }
    if (strcmp(row->name, "cert-id") != 0) {
        obj_annotate(&service->meta, P "cert-id", "cert-0");
    }
    return service;
}

/* Two nodes, one of them cordoned, with a pod each. */
struct cluster {
    const struct ccm_object *nodes[2];
    const struct ccm_object *slices[1];
};

static void make_cluster(struct cluster *ret)
{
    struct ccm_node *first = obj_node("n1", "cn-hangzhou.i-1");
    struct ccm_node *second = obj_node("n2", "cn-hangzhou.i-2");
    struct ccm_endpoint_slice *slice = obj_slice("web-1");

    obj_label(&first->meta, "pool", "web");
    obj_label(&second->meta, "pool", "db");
    second->unschedulable = 1;
    obj_slice_port(slice, "a", 8001);
    obj_slice_port(slice, "b", 8002);
    obj_slice_port(slice, "c", 8003);
    obj_endpoint(slice, "10.0.0.1", "n1", CCM_ENDPOINT_READY);
    obj_endpoint(slice, "10.0.0.2", "n2", CCM_ENDPOINT_READY);
    ret->nodes[0] = &first->meta;
    ret->nodes[1] = &second->meta;
    ret->slices[0] = &slice->meta;
}

/* As lbc_resolve() does; every pod has an interface. */
static void resolve(const struct lbc_candidates *set, struct lbc_resolved *ret)
{
    for (size_t i = 0; i < set->len; i++) {
        const struct lbc_candidate *one = &set->items[i];
        const bool pod = one->address[0] != '\0';
        const struct lbc_backend backend = {
            .server_id = (char *)(uintptr_t)(set->by_address ? one->address
                                             : pod           ? "eni-1"
                                                             : one->instance_id),
            .server_ip = (char *)(uintptr_t)one->address,
            .port = one->port,
            .weight = (uint8_t)one->weight,
            .type = set->by_address ? LBC_BACKEND_IP
                    : pod           ? LBC_BACKEND_INTERFACE
                                    : LBC_BACKEND_INSTANCE,
        };

        assert_int_equal(lbc_backends_put(&ret->backends, &backend), 0);
    }
}

static void model_of(const struct ccm_service *service, struct nlb_model *ret)
{
    struct lbc_problems problems = LBC_PROBLEMS_INIT;
    struct ccm_error err = CCM_ERROR_INIT;
    struct lbc_resolved resolved[4];
    struct cluster cluster;

    make_cluster(&cluster);
    const struct lbc_model_input in = {
        .service = service,
        .nodes = cluster.nodes,
        .node_count = 2,
        .slices = cluster.slices,
        .slice_count = 1,
        .cluster_id = CLUSTER,
        .resource_group = "",
    };

    assert_int_equal(lbc_model_build(&ret->lbc, &nlb_model_ops, &in, &problems, &err), 0);
    assert_false(ret->lbc.incomplete);
    assert_true(ret->want.lbc.group_count <= CCM_ARRAY_LEN(resolved));
    memset(resolved, 0, sizeof(resolved));
    for (size_t i = 0; i < ret->want.lbc.group_count; i++) {
        resolve(&ret->lbc.sets[i], &resolved[i]);
    }
    lbc_model_finish(&ret->lbc, resolved);
    lbc_problems_fini(&problems);
}

/* --- what is wanted, as text --- */

static enum lbc_protocol protocol_at(size_t place)
{
    return place == 1 ? LBC_TCP : place == 2 ? LBC_UDP : LBC_TCPSSL;
}

static void join_texts(const struct lbc_texts *texts, struct ccm_buf *ret)
{
    for (size_t i = 0; i < texts->len; i++) {
        ccm_buf_addf(ret, "%s%s", i == 0 ? "" : ",", texts->items[i]);
    }
}

static void list_zones(const struct nlb_lb *lb, struct ccm_buf *ret)
{
    for (size_t i = 0; i < lb->zone_count; i++) {
        const struct nlb_zone *zone = &lb->zones[i];

        ccm_buf_addf(ret, "%s%s:%s:%s:%s", i == 0 ? "" : ",", zone->zone_id, zone->vswitch_id,
                     zone->address == NULL ? "" : zone->address,
                     zone->eip == NULL ? "" : zone->eip);
    }
}

static void list_tags(const struct lbc_tags *tags, struct ccm_buf *ret)
{
    for (size_t i = 0; i < tags->len; i++) {
        ccm_buf_addf(ret, "%s%s=%s", i == 0 ? "" : ",", tags->items[i].key, tags->items[i].value);
    }
}

static void list_listeners(const struct nlb_state *state, struct ccm_buf *ret)
{
    for (size_t i = 0; i < state->lbc.listener_count; i++) {
        const struct nlb_listener *one = nlb_listener_at(state, i);

        ccm_buf_addf(ret, "%s%u", i == 0 ? "" : ",", one->lbc.port);
        if (one->lbc.is_range) {
            ccm_buf_addf(ret, "-%u", one->lbc.last_port);
        }
        ccm_buf_addf(ret, "/%s", lbc_protocol_name(one->lbc.protocol));
    }
}

static void list_servers(const struct lbc_backends *set, struct ccm_buf *ret)
{
    for (size_t i = 0; i < set->len; i++) {
        const struct lbc_backend *one = &set->items[i];

        ccm_buf_addf(ret, "%s%s:%u!%u", i == 0 ? "" : ",",
                     one->server_ip[0] == '\0' ? one->server_id : one->server_ip, one->port,
                     one->weight);
    }
}

static const struct {
    const char *name;
    enum nlb_lb_field field;
} lb_names[] = {
    { "name", NLB_LB_NAME },        { "address", NLB_LB_ADDRESS_TYPE },
    { "ipv6", NLB_LB_IPV6_TYPE },   { "version", NLB_LB_IP_VERSION },
    { "rgroup", NLB_LB_GROUP },     { "package", NLB_LB_PACKAGE },
    { "cross", NLB_LB_CROSS_ZONE }, { "modification", NLB_LB_MODIFICATION },
    { "protect", NLB_LB_PROTECT },
};

static bool is(const struct anno_row *row, const char *field)
{
    return strcmp(row->field, field) == 0;
}

static void lb_text(const struct nlb_model *model, const struct anno_row *row, struct ccm_buf *ret,
                    bool *ret_told)
{
    const struct nlb_lb *lb = &model->want.lb;

    for (size_t i = 0; i < CCM_ARRAY_LEN(lb_names); i++) {
        if (is(row, lb_names[i].name)) {
            ccm_buf_adds(ret, lb->lbc.texts[lb_names[i].field] == NULL
                                  ? ""
                                  : lb->lbc.texts[lb_names[i].field]);
            *ret_told = (model->lbc.explicit >> lb_names[i].field & 1U) != 0;
        }
    }
    if (is(row, "zones")) {
        list_zones(lb, ret);
    } else if (is(row, "security")) {
        join_texts(&lb->security_groups, ret);
        assert_true(model->groups_explicit == *ret_told || lb->security_groups.len == 0);
    } else if (is(row, "tags")) {
        list_tags(&lb->lbc.tags, ret);
    } else if (is(row, "id")) {
        ccm_buf_adds(ret, lb->lbc.id == NULL ? "" : lb->lbc.id);
        assert_true(model->lbc.reused == (lb->lbc.id != NULL));
    } else if (is(row, "listeners")) {
        list_listeners(&model->want, ret);
    } else if ((is(row, "preserve") && model->lbc.preserve) ||
               (is(row, "override") && model->lbc.override) ||
               (is(row, "keep") && model->lbc.keep_weights)) {
        ccm_buf_adds(ret, "yes");
    }
}

static const struct nlb_listener *listener_of(const struct nlb_state *state, size_t place)
{
    for (size_t i = 0; i < state->lbc.listener_count; i++) {
        if (nlb_listener_at(state, i)->lbc.protocol == protocol_at(place)) {
            return nlb_listener_at(state, i);
        }
    }
    return NULL;
}

static const struct nlb_group *group_of(const struct nlb_state *state, size_t place)
{
    for (size_t i = 0; i < state->lbc.group_count; i++) {
        if (nlb_group_at(state, i)->lbc.protocol == protocol_at(place)) {
            return nlb_group_at(state, i);
        }
    }
    return NULL;
}

static const struct lbc_attr *attr_of(const struct lbc_attrs *attrs, const char *name)
{
    for (size_t i = 0; i < attrs->len; i++) {
        if (strcmp(attrs->items[i].row->field, name) == 0) {
            return &attrs->items[i];
        }
    }
    return NULL;
}

static void port_text(const struct nlb_state *want, size_t place, const struct anno_row *row,
                      struct ccm_buf *ret, bool *ret_told)
{
    const struct nlb_listener *listener = listener_of(want, place);
    const struct nlb_group *group = group_of(want, place);

    if (listener == NULL || group == NULL) {
        return;
    }
    const struct lbc_attr *attr = attr_of(&listener->lbc.attrs, row->field);

    attr = attr == NULL ? attr_of(&group->lbc.attrs, row->field) : attr;
    if (attr != NULL) {
        ccm_buf_adds(ret, attr->value);
        *ret_told = attr->explicit;
    } else if (is(row, "certs")) {
        join_texts(&listener->certs, ret);
    } else if (is(row, "type")) {
        ccm_buf_adds(ret, group->type == NULL ? "" : group->type);
    } else if (is(row, "chosen")) {
        ccm_buf_adds(ret, group->lbc.id == NULL ? "" : group->lbc.id);
        assert_true(ccm_text_equal(group->lbc.id, listener->lbc.group_id));
    } else if (is(row, "family") && group->family != NULL) {
        ccm_buf_addf(ret, "%s/%s", group->family,
                     attr_of(&group->lbc.attrs, "IpVersionAffinityMode")->value);
    }
}

static void wanted(const struct nlb_model *model, const struct ccm_service *service, size_t place,
                   const struct anno_row *row, struct ccm_buf *ret, bool *ret_told)
{
    const char *key = strchr(row->name, '/') == NULL ? NULL : row->name;

    /* What has no mark of its own is told when the annotation is there. */
    *ret_told = key == NULL ? lbc_anno_get(&service->meta, row->name)[0] != '\0'
                            : lbc_anno_value(&service->meta,
                                             lbc_anno_find(&nlb_annotations, key))[0] != '\0';
    if (place == 0) {
        lb_text(model, row, ret, ret_told);
    } else if (place == 4) {
        if (is(row, "servers")) {
            list_servers(&nlb_group_at(&model->want, 0)->lbc.backends, ret);
        }
    } else {
        port_text(&model->want, place, row, ret, ret_told);
    }
}

static void row_sent_value(const struct ccm_service *service, size_t place,
                           const struct anno_row *row, char ret[static ANNO_TEXT], bool *ret_told)
{
    CCM_CLEANUP(nlb_model_fini) struct nlb_model model;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = ANNO_TEXT - 1 };

    model_of(service, &model);
    wanted(&model, service, place, row, &text, ret_told);
    assert_int_equal(ccm_buf_error(&text), 0);
    ccm_text_copy(ret, ANNO_TEXT, ccm_buf_str(&text));
}

/* --- what is done --- */

static void copy_group(struct nlb_group *to, const struct nlb_group *from)
{
    assert_int_equal(nlb_group_copy_identity(to, from), 0);
    assert_int_equal(lbc_attrs_copy(&to->lbc.attrs, &from->lbc.attrs), 0);
    for (size_t i = 0; i < from->lbc.backends.len; i++) {
        assert_int_equal(lbc_backends_put(&to->lbc.backends, &from->lbc.backends.items[i]), 0);
    }
}

static void copy_listener(struct nlb_listener *to, const struct nlb_listener *from)
{
    to->lbc.certs_known = from->lbc.certs_known;
    assert_int_equal(lbc_listener_copy(&to->lbc, &from->lbc), 0);
    assert_int_equal(lbc_texts_copy(&to->certs, &from->certs), 0);
}

/* What is there once a model has been brought about; what a person asked for is remembered. */
static void make_present(const struct nlb_model *model, struct nlb_state *have)
{
    assert_int_equal(nlb_lb_copy(&have->lb, &model->want.lb), 0);
    assert_int_equal(lbc_text_set(&have->lb.lbc.id, "nlb-1"), 0);
    have->lb.lbc.explicit = model->lbc.explicit;
    have->lbc.groups_known = true;
    have->lbc.listeners_known = true;
    have->security_group.known = true;
    for (size_t i = 0; i < model->want.lbc.group_count; i++) {
        struct nlb_group *group = nlb_state_new_group(have);
        const struct nlb_group *want = nlb_group_at(&model->want, i);
        char id[32];

        copy_group(group, want);
        ccm_text_printf(id, sizeof(id), "own-%zu", i);
        assert_int_equal(lbc_text_set(&group->type, want->type == NULL ? "Instance" : want->type),
                         0);
        if (want->lbc.id == NULL) {
            assert_int_equal(lbc_text_set(&group->lbc.id, id), 0);
            continue;
        }
        assert_int_equal(lbc_text_set(&group->lbc.name, "by hand"), 0);
        for (size_t b = 0; b < group->lbc.backends.len; b++) {
            struct lbc_backend one = want->lbc.backends.items[b];

            one.description = want->lbc.name;
            assert_int_equal(lbc_backends_put(&group->lbc.backends, &one), 0);
        }
    }
    for (size_t i = 0; i < model->want.lbc.listener_count; i++) {
        struct nlb_listener *listener = nlb_state_new_listener(have);
        char id[32];

        copy_listener(listener, nlb_listener_at(&model->want, i));
        ccm_text_printf(id, sizeof(id), "lsn-%zu", i);
        assert_int_equal(lbc_text_set(&listener->lbc.id, id), 0);
        assert_int_equal(lbc_text_set(&listener->lbc.group_id, nlb_group_at(have, i)->lbc.id), 0);
    }
}

static bool changes(const struct nlb_step *step, const char *field)
{
    char word[64];

    ccm_text_printf(word, sizeof(word), "%s ", field);
    return step->lbc.change != NULL && strstr(step->lbc.change, word) != NULL;
}

/* Whether a step of the plan is about the field of the row at this place. */
static bool lb_step_is(const struct nlb_step *step, const struct anno_row *row)
{
    static const struct {
        const char *field;
        unsigned type;
    } plain[] = {
        { "zones", NLB_STEP_ZONES },    { "address", NLB_STEP_ADDRESS_TYPE },
        { "ipv6", NLB_STEP_IPV6 },      { "tags", LBC_STEP_TAG },
        { "tags", LBC_STEP_UNTAG },     { "security", NLB_STEP_JOIN },
        { "security", NLB_STEP_LEAVE }, { "package", NLB_STEP_ATTACH },
        { "package", NLB_STEP_DETACH }, { "listeners", LBC_STEP_CREATE_LISTENER },

    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(plain); i++) {
        if (is(row, plain[i].field) && step->lbc.type == plain[i].type) {
            return true;
        }
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(lb_names); i++) {
        if (is(row, lb_names[i].name) &&
            (step->lbc.type == NLB_STEP_ATTRIBUTE || step->lbc.type == NLB_STEP_PROTECT) &&
            step->lb.lbc.texts[lb_names[i].field] != NULL) {
            return true;
        }
    }
    return false;
}

/* No group is changed to a hash: it is made anew. */
static bool takes_hash(const struct nlb_group *group)
{
    const char *value = lbc_attrs_get(&group->lbc.attrs, nlb_group_field("Scheduler"));

    return value != NULL && ccm_text_ends(value, "ch");
}

static bool port_step_is(const struct nlb_step *step, size_t place, const struct anno_row *row)
{
    if (step->lbc.protocol != protocol_at(place)) {
        return false;
    }
    switch (step->lbc.type) {
    case LBC_STEP_CREATE_GROUP:
        return is(row, "type") || is(row, "family") ||
               (is(row, "Scheduler") && takes_hash((const struct nlb_group *)step->lbc.want));
    case LBC_STEP_UPDATE_GROUP:
        return changes(step, is(row, "family") ? "IpVersionAffinityMode" : row->field);
    case LBC_STEP_UPDATE_LISTENER:
        return is(row, "chosen") ? changes(step, "server group") : changes(step, row->field);
    case NLB_STEP_ADD_CERTS:
    case NLB_STEP_REMOVE_CERTS:
        return is(row, "certs");
    default:
        return false;
    }
}

static bool server_step_is(const struct nlb_step *step, const struct anno_row *row)
{
    return is(row, "servers") && step->lbc.port == 1 &&
           (step->lbc.type == LBC_STEP_ADD || step->lbc.type == LBC_STEP_REMOVE ||
            step->lbc.type == LBC_STEP_UPDATE);
}

static bool plan_has(const struct lbc_plan *plan, size_t place, const struct anno_row *row)
{
    for (size_t i = 0; i < plan->len; i++) {
        const struct nlb_step *step = nlb_step_at(plan, i);

        if (place == 0   ? lb_step_is(step, row)
            : place == 4 ? server_step_is(step, row)
                         : port_step_is(step, place, row)) {
            return true;
        }
    }
    return false;
}

static void update(const struct ccm_service *before, const struct ccm_service *after, size_t place,
                   const struct anno_row *row, char ret[static ANNO_TEXT])
{
    CCM_CLEANUP(nlb_model_fini) struct nlb_model first;
    CCM_CLEANUP(nlb_model_fini) struct nlb_model second;
    CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { .lb = { .lbc.id = NULL } };
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { .steps = NULL };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = ANNO_TEXT - 1 };
    struct lbc_problems problems = LBC_PROBLEMS_INIT;
    bool explicit = false;

    model_of(before, &first);
    model_of(after, &second);
    make_present(&first, &have);
    const struct lbc_plan_input in = { .model = &second.lbc,
                                       .have = &have.lbc,
                                       .service = after,
                                       .cluster_id = CLUSTER,
                                       .applied = &first.want.lb.lbc.tags,
                                       .batch = 200,
                                       .fresh = true };

    assert_int_equal(lbc_plan_ensure(&plan, &nlb_plan_ops, &in, &problems), 0);
    if (before == after && plan.len > 0) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf lines = { .max = 4096 };

        lbc_plan_print(&plan, NULL, &lines);
        fail_msg("%s, same: %s", row->name, ccm_buf_str(&lines));
    }
    wanted(&second, after, place, row, &text, &explicit);
    if (problems.text.len > 0) {
        ccm_text_copy(ret, ANNO_TEXT, place == 0 ? "refused" : "");
    } else if (plan_has(&plan, place, row)) {
        ccm_text_copy(ret, ANNO_TEXT, explicit && text.len > 0 ? ccm_buf_str(&text) : DEFAULT);
    }
    lbc_problems_fini(&problems);
}

static const struct anno_world world = {
    .rows = rows,
    .count = CCM_ARRAY_LEN(rows),
    .places = places,
    .place_count = CCM_ARRAY_LEN(places),
    .service = plain_service,
    .check = check_service,
    .sent = row_sent_value,
    .update = update,
};

/* --- the tests --- */

static void test_complete(void **state)
{
    /* Which controller it is for: see test-annotations.c. */
    static const char *const elsewhere[] = {
        "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-type", NULL
    };

    (void)state;
    anno_test_complete(&world, &nlb_annotations, elsewhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ANNO_TESTS(&world),
        cmocka_unit_test(test_complete),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
