/*
 * Every annotation that is not about a listener's attributes, one row each, for load balancers of
 * our own and for somebody else's; see anno_table.h. test-annotation-table.c has the others.
 */
#include "lbc/tests/check.h"

#include "alilb/class.h"
#include "ccm/object.h"
#include "clb/annotations.h"
#include "clb/lint.h"
#include "clb/model_listeners.h"
#include "clb/plan.h"
#include "clb/plan_parts.h"
#include "lbc/rules/lb_attrs.h"
#include "lbc/tests/anno_table.h"
#include "lbc/tests/objects.h"
#include "lbc/tests/refused.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

static int check_service(const struct ccm_service *service, struct ccm_error *err)
{
    return refused_by(&clb_rules, service, err);
}

#define DEFAULT_NAME "a5e4dbfc9c2ae4642b0335607860aef6"

enum { OWN, REUSED };
#define BOTH      (1U << OWN | 1U << REUSED)
#define ON_OWN    (1U << OWN)
#define ON_REUSED (1U << REUSED)

static const char *const places[] = { "our own", "reused" };

#define ENUM(values) "must be one of [" values "], got ["

static const struct anno_row rows[] = {
    /* the load balancer: fields of its table */
    { "address-type",
      "AddressType",
      BOTH,
      "internet",
      "internet intranet",
      "public|Internet",
      ENUM("internet|intranet"),
      { { 0 } },
      "refused",
      NULL,
      0 },
    { "name",
      "LoadBalancerName",
      BOTH,
      DEFAULT_NAME,
      "shop web-1 a0123 A0123456789abcdef0123456789abcde a0123456789abcdef0123456789abcdeg",
      "a0123456789abcdef0123456789abcde|affffffffffffffffffffffffffffff0",
      "must be no default name of another Service",
      { { 0 } },
      NULL,
      NULL,
      0 },
    { "resource-group-id",
      "ResourceGroupId",
      BOTH,
      NULL,
      "rg-1 rg-2",
      NULL,
      NULL,
      { { 0 } },
      "refused",
      NULL,
      0 },
    { "delete-protection",
      "DeleteProtection",
      BOTH,
      "on",
      "off on",
      "true|ON",
      ENUM("on|off"),
      { { 0 } },
      NULL,
      NULL,
      0 },
    { "modification-protection",
      "ModificationProtectionStatus",
      BOTH,
      "ConsoleProtection",
      "ConsoleProtection NonProtection",
      "off|consoleprotection",
      ENUM("ConsoleProtection|NonProtection"),
      { { 0 } },
      NULL,
      NULL,
      0 },
    { "vswitch-id",
      "VSwitchId",
      BOTH,
      NULL,
      "vsw-1 vsw-2",
      NULL,
      NULL,
      { { "address-type", "intranet" } },
      "refused",
      NULL,
      0 },
    { "network-type",
      "NetworkType",
      BOTH,
      NULL,
      "vpc classic",
      "VPC|none",
      ENUM("classic|vpc"),
      { { 0 } },
      "refused",
      NULL,
      0 },
    { "charge-type",
      "InternetChargeType",
      BOTH,
      NULL,
      "paybytraffic paybybandwidth",
      "PayByTraffic|free",
      ENUM("paybytraffic|paybybandwidth"),
      { { 0 } },
      NULL,
      NULL,
      0 },
    { "bandwidth",
      "Bandwidth",
      BOTH,
      NULL,
      "1 5000 10",
      "5001|-1|abc|1.5|10M",
      "bandwidth",
      { { "charge-type", "paybybandwidth" } },
      NULL,
      NULL,
      0 },
    { "spec",
      "LoadBalancerSpec",
      BOTH,
      NULL,
      "slb.s1.small slb.s3.large",
      NULL,
      NULL,
      { { "instance-charge-type", "PayBySpec" } },
      NULL,
      NULL,
      0 },
    { "instance-charge-type",
      "InstanceChargeType",
      BOTH,
      "PayByCLCU",
      "PayBySpec PayByCLCU paybyspec->PayBySpec",
      "PayByTraffic|spec",
      ENUM("PayBySpec|PayByCLCU"),
      { { 0 } },
      NULL,
      NULL,
      0 },
    { "master-zoneid",
      "MasterZoneId",
      BOTH,
      NULL,
      "zone-a zone-b",
      NULL,
      NULL,
      { { 0 } },
      "refused",
      NULL,
      0 },
    { "slave-zoneid",
      "SlaveZoneId",
      BOTH,
      NULL,
      "zone-a zone-b",
      NULL,
      NULL,
      { { 0 } },
      "refused",
      NULL,
      0 },
    { "ip-version",
      "AddressIPVersion",
      BOTH,
      NULL,
      "ipv4 IPv6->ipv6 ipv4",
      "4|dualstack",
      ENUM("ipv4|ipv6"),
      { { 0 } },
      "refused",
      NULL,
      0 },
    { "ip",
      "Address",
      BOTH,
      NULL,
      "192.168.0.1 192.168.0.2",
      NULL,
      NULL,
      { { "address-type", "intranet" } },
      "refused",
      NULL,
      0 },
    { "additional-resource-tags",
      "tags",
      BOTH,
      NULL,
      "a=1 a=2 a=1,b=x b=x a=->a= a->a= a=b=c kubernetes.do.not.delete=x,ack.aliyun.com=y,c=1->c=1",
      NULL,
      NULL,
      { { 0 } },
      NULL,
      "none",
      0 },

    /* how it is treated */
    { "id", "id", ON_OWN, NULL, "lb-1 lb-2", NULL, NULL, { { 0 } }, NULL, "none", 0 },
    { "preserve-lb-on-delete",
      "preserve",
      BOTH,
      NULL,
      "true->yes false-> x->yes off-> 1->yes no-> on->yes 0-> TRUE->yes False->",
      NULL,
      NULL,
      { { 0 } },
      NULL,
      "none",
      0 },
    { "external-ip-type",
      "eip",
      BOTH,
      NULL,
      "eip->yes",
      "EIP|nat",
      "must be one of [eip], got [",
      { { 0 } },
      NULL,
      "none",
      0 },
    { "hostname",
      "hostname",
      BOTH,
      NULL,
      "a.example.com b.example.com",
      NULL,
      NULL,
      { { 0 } },
      NULL,
      "none",
      0 },
    { "force-override-listeners",
      "override",
      ON_REUSED,
      NULL,
      "true->yes false-> true->yes True->",
      NULL,
      NULL,
      { { 0 } },
      NULL,
      "none",
      0 },

    /* backends */
    { "backend-label",
      "nodes",
      BOTH,
      "i-1,i-2,i-3",
      "a=1->i-1 a=2,b=x->i-2 a=1->i-1",
      "a|x",
      "parse backend label",
      { { 0 } },
      NULL,
      "i-1,i-2,i-3",
      0 },
    { "remove-unscheduled-backend",
      "nodes",
      BOTH,
      "i-1,i-2,i-3",
      "on->i-1,i-2 off->i-1,i-2,i-3 on->i-1,i-2 ON->i-1,i-2,i-3",
      NULL,
      NULL,
      { { 0 } },
      NULL,
      "i-1,i-2,i-3",
      0 },
    { "backend-ip-version",
      "family",
      BOTH,
      NULL,
      "ipv6->ipv6 ipv4-> IPv6->ipv6 dualstack->",
      "6|v6",
      ENUM("ipv4|ipv6|dualstack"),
      { { "ip-version", "ipv6" } },
      NULL,
      "none",
      0 },
    { "vgroup-port",
      "group",
      ON_REUSED,
      NULL,
      "rsp-a:80->rsp-a rsp-b:80->rsp-b rsp-a:80,rsp-b:443->rsp-a",
      "rsp-a|rsp-a:|rsp-a:x|:80",
      "vgroupid and protocol format must be",
      { { "id", "lb-hand" } },
      NULL,
      "none",
      0 },
    { "weight",
      "total",
      ON_REUSED,
      NULL,
      "0 50 100",
      "101|-1|abc",
      "weight must be integer in range [0,100] , got [",
      { { "id", "lb-hand" }, { "vgroup-port", "rsp-a:80" } },
      NULL,
      "none",
      0 },
    { "default-weight",
      "each",
      BOTH,
      "100",
      "0 1 100",
      "101|-1|abc",
      "default weight must be integer in range [0,100] , got [",
      { { 0 } },
      NULL,
      "100",
      0 },
    { "ignore-weight-update",
      "keep",
      BOTH,
      NULL,
      "on->yes off-> ON->yes true->",
      NULL,
      NULL,
      { { 0 } },
      NULL,
      "none",
      0 },

    /* lists across ports */
    { "protocol-port",
      "protocols",
      BOTH,
      "tcp:80,tcp:443",
      "http:80->http:80,tcp:443 HTTPS:443->tcp:80,https:443 http:80,https:443 "
      "udp:80->udp:80,tcp:443",
      "http|http:",
      "protocol",
      { { "cert-id", "c-1" } },
      NULL,
      "tcp:80,tcp:443",
      0 },
    { "forward-port",
      "forward",
      ON_OWN,
      NULL,
      "80:443->443",
      "80|x",
      "ForwardPort error",
      { { "protocol-port", "http:80,https:443" }, { "cert-id", "c-1" } },
      NULL,
      "none",
      0 },
    { "domain-extensions",
      "domains",
      ON_OWN,
      NULL,
      "a.com:c-1->a.com=c-1 a.com:c-2,b.com:c-3->a.com=c-2,b.com=c-3",
      "a.com|a.com:|:c-1",
      "invalid domain extension",
      { { "protocol-port", "http:80,https:443" }, { "cert-id", "c-1" } },
      NULL,
      "none",
      0 },

    /* whose it is */
    { "service.beta.kubernetes.io/backend-type",
      "mode",
      BOTH,
      NULL,
      "eni->pods ecs-> eni->pods x->",
      NULL,
      NULL,
      { { 0 } },
      NULL,
      "none",
      0 },
    { "service.beta.kubernetes.io/class",
      "ours",
      BOTH,
      "yes",
      "x->",
      NULL,
      NULL,
      { { 0 } },
      NULL,
      "yes",
      0 },
    { "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-type",
      "ours",
      BOTH,
      "yes",
      "nlb->yes",
      NULL,
      NULL,
      { { 0 } },
      NULL,
      NULL,
      0 },
    { "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-tunnel-type",
      "ours",
      BOTH,
      "yes",
      "ipv4->",
      NULL,
      NULL,
      { { 0 } },
      NULL,
      "yes",
      0 },
};

static struct ccm_service *plain_service(const struct anno_row *row)
{
    struct ccm_service *service = obj_service();

    (void)row;
    obj_port(service, "a", "TCP", 80, "8080", 30080);
    obj_port(service, "b", "TCP", 443, "8443", 30443);
    return service;
}

/* As it is at a place. */
static struct ccm_service *placed(const struct ccm_service *service, size_t place)
{
    struct ccm_service *copy = obj_service_copy(service);

    if (place == REUSED) {
        obj_annotate(&copy->meta, P "id", "lb-hand");
    }
    return copy;
}

/* --- what it wants --- */

struct wanted {
    struct clb_model model;
    struct lbc_problems problems;
};

static void wanted_fini(struct wanted *wanted)
{
    clb_model_fini(&wanted->model);
    lbc_problems_fini(&wanted->problems);
}

/* Three nodes: a=1; a=2 and b=x; cordoned. */
static void want(struct wanted *ret, const struct ccm_service *service)
{
    static const char *const labels[][3] = { { "a", "1", NULL },
                                             { "a", "2", "x" },
                                             { "z", "z", NULL } };
    const struct ccm_object *nodes[3];
    struct ccm_error err = CCM_ERROR_INIT;
    const struct lbc_model_input in = {
        .service = service,
        .nodes = nodes,
        .node_count = 3,
        .cluster_id = "c1",
    };

    *ret = (struct wanted){ .problems = LBC_PROBLEMS_INIT };
    for (size_t i = 0; i < 3; i++) {
        const char *const names[] = { "n1", "n2", "n3" };
        const char *const ids[] = { "r.i-1", "r.i-2", "r.i-3" };
        struct ccm_node *node = obj_node(names[i], ids[i]);

        obj_label(&node->meta, labels[i][0], labels[i][1]);
        obj_label(&node->meta, "b", labels[i][2]);
        node->unschedulable = i == 2;
        nodes[i] = &node->meta;
    }
    assert_int_equal(lbc_model_build(&ret->model.lbc, &clb_model_ops, &in, &ret->problems, &err),
                     0);
}

static void add_word(char ret[static ANNO_TEXT], const char *word)
{
    const size_t len = strlen(ret);

    ccm_text_printf(ret + len, ANNO_TEXT - len, "%s%s", len == 0 ? "" : ",", word);
}

static void add_pair(char ret[static ANNO_TEXT], const char *a, const char *b)
{
    char text[ANNO_TEXT];

    ccm_text_printf(text, sizeof(text), "%s%s", a, b);
    add_word(ret, text);
}

static void say_nodes(const struct wanted *wanted, char ret[static ANNO_TEXT])
{
    const struct lbc_candidates *set = &wanted->model.lbc.sets[0];

    for (size_t i = 0; i < set->len; i++) {
        add_word(ret, set->items[i].instance_id);
    }
}

static void say_protocols(const struct wanted *wanted, char ret[static ANNO_TEXT])
{
    for (size_t i = 0; i < wanted->model.want.lbc.group_count; i++) {
        const struct lbc_group *group = wanted->model.want.lbc.groups[i];

        add_pair(ret, lbc_protocol_lower(group->protocol), group->port == 80 ? ":80" : ":443");
    }
}

static void say_listener(const struct wanted *wanted, const char *field, char ret[static ANNO_TEXT])
{
    const struct clb_listener *http = clb_state_listener(&wanted->model.want, 80, LBC_HTTP);
    const struct clb_listener *https = clb_state_listener(&wanted->model.want, 443, LBC_HTTPS);

    if (strcmp(field, "forward") == 0 && http != NULL && clb_forward_target(&http->lbc) != 0) {
        ccm_text_printf(ret, ANNO_TEXT, "%u", clb_forward_target(&http->lbc));
    }
    for (size_t i = 0; strcmp(field, "domains") == 0 && https != NULL && i < https->domains.len;
         i++) {
        char text[ANNO_TEXT];

        ccm_text_printf(text, sizeof(text), "%s=%s", https->domains.items[i].name,
                        https->domains.items[i].cert);
        add_word(ret, text);
    }
}

static void say_tags(const struct lbc_tags *tags, char ret[static ANNO_TEXT])
{
    for (size_t i = 0; i < tags->len; i++) {
        char text[ANNO_TEXT];

        ccm_text_printf(text, sizeof(text), "%s=%s", tags->items[i].key, tags->items[i].value);
        add_word(ret, text);
    }
}

/* Number of the attribute of the load balancer; CLB_LB_FIELD_COUNT: it is none of them. */
static size_t field_of(const struct anno_row *row)
{
    unsigned i = 0;

    while (i < CLB_LB_FIELD_COUNT &&
           strcmp(lbc_lb_name(lbc_lb_row(&clb_annotations, i)), row->field) != 0) {
        i++;
    }
    return i;
}

static void say_number(uint32_t number, char ret[static ANNO_TEXT])
{
    ccm_text_printf(ret, ANNO_TEXT, "%u", number);
}

static void say_flag(const struct clb_model *model, const char *field, char ret[static ANNO_TEXT])
{
    const struct {
        const char *field;
        bool on;
    } flags[] = {
        { "preserve", model->lbc.preserve },
        { "eip", model->show_eip },
        { "override", model->lbc.reused && model->lbc.override },
        { "keep", model->lbc.keep_weights },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(flags); i++) {
        if (strcmp(flags[i].field, field) == 0 && flags[i].on) {
            add_word(ret, "yes");
        }
    }
}

/* Everything that a model says beyond the fields of the load balancer. */
static void say(const struct wanted *wanted, const struct ccm_service *service,
                const struct anno_row *row, char ret[static ANNO_TEXT])
{
    const struct clb_model *model = &wanted->model;
    const char *field = row->field;

    say_flag(model, field, ret);
    say_listener(wanted, field, ret);
    if (strcmp(field, "id") == 0 && model->lbc.reused) {
        add_word(ret, model->want.lb.lbc.id);
    } else if (strcmp(field, "hostname") == 0 && model->hostname[0] != '\0') {
        add_word(ret, model->hostname);
    } else if (strcmp(field, "tags") == 0) {
        say_tags(&model->want.lb.lbc.tags, ret);
    } else if (strcmp(field, "nodes") == 0) {
        say_nodes(wanted, ret);
    } else if (strcmp(field, "family") == 0 && model->lbc.ipv6) {
        add_word(ret, "ipv6");
    } else if (strcmp(field, "group") == 0 && model->want.lbc.groups[0]->id != NULL) {
        add_word(ret, model->want.lbc.groups[0]->id);
    } else if (strcmp(field, "total") == 0 && model->weight.has_total) {
        say_number(model->weight.total, ret);
    } else if (strcmp(field, "each") == 0) {
        say_number(model->weight.each, ret);
    } else if (strcmp(field, "protocols") == 0) {
        say_protocols(wanted, ret);
    } else if (strcmp(field, "mode") == 0 && lbc_backend_mode(service, false) == LBC_MODE_PODS) {
        add_word(ret, "pods");
    } else if (strcmp(field, "ours") == 0 && lbc_class_is_default(service)) {
        add_word(ret, "yes");
    }
}

static void value_of(const struct ccm_service *service, size_t place, const struct anno_row *row,
                     char ret[static ANNO_TEXT])
{
    const size_t field = field_of(row);
    const char *value = NULL;
    CCM_CLEANUP(wanted_fini) struct wanted wanted;

    want(&wanted, service);
    if ((row->places >> place & 1U) == 0) {
        return; /* its place is the other one: what it says here is said by no row */
    }
    if (field == CLB_LB_FIELD_COUNT) {
        say(&wanted, service, row, ret);
        return;
    }
    value = wanted.model.want.lb.lbc.texts[field];
    ccm_text_printf(ret, ANNO_TEXT, "%s", value == NULL ? "" : value);
}

static bool is_told(const struct ccm_service *service, const struct anno_row *row)
{
    return lbc_anno_value(&service->meta, lbc_anno_find(&clb_annotations, row->name))[0] != '\0';
}

static void lb_sent_value(const struct ccm_service *given, size_t place, const struct anno_row *row,
                          char ret[static ANNO_TEXT], bool *ret_told)
{
    const struct ccm_service *service = placed(given, place);
    const size_t field = field_of(row);
    CCM_CLEANUP(wanted_fini) struct wanted wanted;

    value_of(service, place, row, ret);
    want(&wanted, service);
    *ret_told = field == CLB_LB_FIELD_COUNT ? is_told(service, row)
                                            : (wanted.model.lbc.explicit >> field & 1U) != 0;
}

/* --- what a change does --- */

/* What the first step that is planned sets. */
static void say_plan(const struct lbc_plan *plan, const struct lbc_problems *problems,
                     const struct anno_row *row, char ret[static ANNO_TEXT])
{
    if (problems->count > 0) {
        add_word(ret, "refused");
    } else if (plan->len > 0) {
        const struct lbc_step *step = plan->steps[0];

        assert_int_equal(plan->len, 1);
        add_word(ret, strcmp(row->field, "Bandwidth") == 0 ? step->extra : step->value);
    }
}

/* The tags that are there after the plan. */
static void say_tags_after(const struct lbc_plan *plan, const struct lbc_tags *before,
                           char ret[static ANNO_TEXT])
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };

    assert_int_equal(lbc_tags_copy(&tags, before), 0);
    for (size_t i = 0; i < plan->len; i++) {
        const struct lbc_step *step = plan->steps[i];

        for (size_t t = 0; t < step->tags.len; t++) {
            if (step->type == LBC_STEP_UNTAG) {
                lbc_tags_remove(&tags, step->tags.items[t].key);
            } else {
                assert_int_equal(step->type, LBC_STEP_TAG);
                assert_int_equal(
                    lbc_tags_put(&tags, step->tags.items[t].key, step->tags.items[t].value), 0);
            }
        }
    }
    say_tags(&tags, ret);
    if (plan->len == 0) {
        ret[0] = '\0';
    } else if (tags.len == 0) {
        add_word(ret, "none");
    }
}

/* A load balancer that is as `before` wanted it. */
static void plan_change(const struct ccm_service *before, const struct ccm_service *after,
                        const struct anno_row *row, char ret[static ANNO_TEXT])
{
    CCM_CLEANUP(wanted_fini) struct wanted old;
    CCM_CLEANUP(wanted_fini) struct wanted new;
    CCM_CLEANUP(clb_state_fini) struct clb_state have = { .lb = { .lbc.id = NULL } };
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { 0 };
    CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;

    want(&old, before);
    want(&new, after);

    const struct lbc_plan_input in = { .model = &new.model.lbc,
                                       .have = &have.lbc,
                                       .service = after,
                                       .cluster_id = "c1",
                                       .applied = &old.model.want.lb.lbc.tags };

    assert_int_equal(clb_lb_copy(&have.lb, &old.model.want.lb), 0);
    assert_int_equal(lbc_text_set(&have.lb.lbc.id, "lb-1"), 0);
    new.model.lbc.reused = false; /* its own mark is not looked at here */
    struct lbc_work work = lbc_work_begin(&plan, &clb_plan_ops, &in, &problems);

    assert_int_equal(clb_plan_lb(&work), 0);
    if (strcmp(row->field, "tags") == 0) {
        say_tags_after(&plan, &have.lb.lbc.tags, ret);
    } else {
        say_plan(&plan, &problems, row, ret);
    }
}

static void update(const struct ccm_service *given_before, const struct ccm_service *given_after,
                   size_t place, const struct anno_row *row, char ret[static ANNO_TEXT])
{
    const struct ccm_service *before = placed(given_before, place);
    const struct ccm_service *after = placed(given_after, place);
    char old[ANNO_TEXT] = "";
    char new[ANNO_TEXT] = "";

    if (field_of(row) != CLB_LB_FIELD_COUNT || strcmp(row->field, "tags") == 0) {
        plan_change(before, after, row, ret);
        return;
    }
    value_of(before, place, row, old);
    value_of(after, place, row, new);
    if (strcmp(old, new) != 0) {
        add_word(ret, new[0] == '\0' ? "none" : new);
    }
}

static const struct anno_world world = {
    .rows = rows,
    .count = CCM_ARRAY_LEN(rows),
    .places = places,
    .place_count = CCM_ARRAY_LEN(places),
    .service = plain_service,
    .check = check_service,
    .sent = lb_sent_value,
    .update = update,
};

/* --- the tests --- */

/* Every row of the table that is not an attribute of listeners. */
static void test_complete(void **state)
{
    const char *elsewhere[128];
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i < clb_annotations.count; i++) {
        const struct lbc_anno *row = &clb_annotations.rows[i];

        if (row->group == LBC_ANNO_LISTENER && anno_row_of(&world, row->name) == NULL) {
            assert_true(count < CCM_ARRAY_LEN(elsewhere) - 1);
            elsewhere[count++] = row->name;
        }
    }
    elsewhere[count] = NULL;
    anno_test_complete(&world, &clb_annotations, elsewhere);
    assert_int_equal(clb_annotations.count, count + world.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ANNO_TESTS(&world),
        cmocka_unit_test(test_complete),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
