/*
 * The verbs of a history:
 *
 *   service NAME product=clb|nlb ports=80/TCP,53/UDP [policy=Local] [eni=1] [reuse=reuse-0]
 * [SUFFIX=VALUE ...] spec NAME [ports=] [policy=] [type=] [class=]       annotate NAME SUFFIX=VALUE
 * ... ('-' takes it away) slice NAME pods=1,5,9 [unready=2] [terminating=3]   noslice NAME delete
 * NAME node NAME do=add|remove|ready|unready|cordon|uncordon|exclude|include|move|address [to=N]
 *   (move: the node comes back with instance i-node-N; address: it says another one)
 *   console NAME do=delete|untag|rename|drop-listeners|drop-backends|set body={...}
 *   crash|stop|pause|cut|stale seat-N [for=MS] [side=kube|cloud]   (stale: its watches give
 * nothing) quota cloud [percent=N] [balancers=N]: of the published rates, enforced; 0 = no limit
 *   apiserver all do=behind|ahead|keep|back: another one with the same objects, or (back) those
 *   that were kept; its versions are far behind or ahead
 *   watch all do=drop|end|truncate|garbage|silence|error|expire|compact
 *   clock wall by=MS
 *   backends NAME [pods=1,5] [nodes=2]: what its server groups have to hold now
 *   kube PATH do=POST|PUT|PATCH|DELETE body={...}       cloud edit body={...}
 *   gateway, ungateway, route, unroute, set, unset, secret, nosecret: act_gateway.c
 *
 * SUFFIX: of an annotation, without its prefix. A pod is a number: they are those of the fixtures.
 */
#include "act.h"

#include "explore.h"
#include "instance.h"
#include "look.h"
#include "net.h"
#include "order.h"
#include "story.h"
#include "world.h"

#include "util/cleanup.h"
#include "util/json.h"
#include "util/strmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX   "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
#define SERVICES "/api/v1/namespaces/default/services"
#define SLICES   "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
#define NLB      "alibabacloud.com/nlb"
#define EXCLUDE  "node.kubernetes.io/exclude-from-external-load-balancers"
#define MS       INT64_C(1000)

/* Arguments that are no annotation. */
static const char *const own_args[] = { "product", "ports", "policy", "eni", "reuse",
                                        "type",    "class", "do",     "body" };

static bool arg_is_annotation(const char *key, size_t len)
{
    for (size_t i = 0; i < sizeof(own_args) / sizeof(own_args[0]); i++) {
        if (strlen(own_args[i]) == len && strncmp(own_args[i], key, len) == 0) {
            return false;
        }
    }
    return true;
}

static void act_add_annotations(const struct sim_act *act, struct ccm_buf *json)
{
    const char *at = act->args;

    while (*at != '\0') {
        const size_t len = strcspn(at, " ");
        const size_t key = strcspn(at, "=");

        if (key < len && arg_is_annotation(at, key)) {
            CCM_CLEANUP(ccm_freep) char *value = strndup(at + key + 1, len - key - 1);
            const char *handle = sim_world_handle(value); /* of an id */

            ccm_buf_addf(json, "%s\"" PREFIX "%.*s\":", json->len > 0 ? "," : "", (int)key, at);
            if (strcmp(value, "-") == 0) {
                ccm_buf_adds(json, "null");
            } else {
                ccm_buf_addf(json, "\"%s\"", handle == NULL ? value : handle);
            }
        }
        at += len;
        at += strspn(at, " ");
    }
}

/* "80/TCP,53/UDP" as ports of a Service or of a slice. */
static void ports_add(struct ccm_buf *json, const char *ports, bool slice)
{
    const char *at = ports;

    while (*at != '\0') {
        const size_t len = strcspn(at, ",");
        const int port = (int)sim_number(at);
        const char *protocol = memchr(at, '/', len) == NULL ? "TCP" : strchr(at, '/') + 1;
        const int size = (int)strcspn(protocol, ",");

        ccm_buf_addf(json, "%s{\"name\":\"p%d\",\"protocol\":\"%.*s\",", at == ports ? "" : ",",
                     port, size == 0 ? 3 : size, size == 0 ? "TCP" : protocol);
        ccm_buf_addf(json, slice ? "\"port\":%d}" : "\"port\":%d,\"targetPort\":%d}",
                     slice ? port + 8000 : port, port + 8000);
        at += len;
        at += *at == ',' ? 1 : 0;
    }
}

static void service_remember(const char *name, const char *ports)
{
    char path[256];

    (void)snprintf(path, sizeof(path), SERVICES "/%s", name);
    if (ccm_strmap_set(sim_world_objects(), path, strdup(ports)) < 0) {
        abort();
    }
}

static void act_service(const struct sim_act *act)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf annotations = { 0 };
    const char *ports = sim_act_arg(act, "ports");
    const bool nlb = strcmp(sim_act_arg(act, "product"), "nlb") == 0;
    const char *reuse = sim_world_handle(sim_act_arg(act, "reuse"));
    const char *policy = sim_act_arg(act, "policy");
    const char *type = sim_act_arg(act, "type"); /* "" = LoadBalancer */

    act_add_annotations(act, &annotations);
    if (nlb) {
        ccm_buf_addf(&annotations,
                     "%s\"" PREFIX "zone-maps\":\"cn-hangzhou-h:vsw-a,cn-hangzhou-i:vsw-b\"",
                     annotations.len > 0 ? "," : "");
    }
    if (reuse != NULL) {
        ccm_buf_addf(&annotations,
                     "%s\"" PREFIX "id\":\"%s\",\"" PREFIX "force-override-listeners\":\"true\"",
                     annotations.len > 0 ? "," : "", reuse);
    }
    if (sim_act_number(act, "eni", 0) != 0) {
        ccm_buf_addf(&annotations, "%s\"service.beta.kubernetes.io/backend-type\":\"eni\"",
                     annotations.len > 0 ? "," : "");
    }
    ccm_buf_addf(
        &json,
        "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
        "\"default\",\"annotations\":{%s}},\"spec\":{\"type\":\"%s\",%s"
        "\"externalTrafficPolicy\":\"%s\",\"selector\":{\"app\":\"%s\"},\"ports\":[",
        act->name, ccm_buf_str(&annotations), type[0] == '\0' ? "LoadBalancer" : type,
        nlb ? "\"loadBalancerClass\":\"" NLB "\"," : "", policy[0] == '\0' ? "Cluster" : policy,
        act->name);
    ports_add(&json, ports, false);
    ccm_buf_adds(&json, "]}}");
    if (sim_kube("POST", SERVICES, ccm_buf_str(&json), NULL) < 300) {
        service_remember(act->name, ports);
    }
}

static void act_spec(const struct sim_act *act)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { 0 };
    const char *ports = sim_act_arg(act, "ports");
    const char *policy = sim_act_arg(act, "policy");
    const char *type = sim_act_arg(act, "type");
    const char *class_ = sim_act_arg(act, "class");
    char path[256];

    ccm_buf_adds(&json, "{\"spec\":{\"allocateLoadBalancerNodePorts\":null");
    if (ports[0] != '\0') {
        ccm_buf_adds(&json, ",\"ports\":[");
        ports_add(&json, ports, false);
        ccm_buf_adds(&json, "]");
    }
    if (policy[0] != '\0') {
        ccm_buf_addf(&json, ",\"externalTrafficPolicy\":\"%s\"", policy);
    }
    if (type[0] != '\0') {
        ccm_buf_addf(&json, ",\"type\":\"%s\"", type);
    }
    if (strcmp(type, "ClusterIP") == 0) {
        ccm_buf_adds(&json, ",\"externalTrafficPolicy\":null,\"loadBalancerClass\":null");
    } else if (class_[0] != '\0') {
        ccm_buf_addf(&json, ",\"loadBalancerClass\":\"%s\"", class_);
    }
    ccm_buf_adds(&json, "}}");
    (void)snprintf(path, sizeof(path), SERVICES "/%s", act->name);
    if (sim_kube("PATCH", path, ccm_buf_str(&json), NULL) < 300 && ports[0] != '\0') {
        service_remember(act->name, ports);
    }
}

static void act_annotate(const struct sim_act *act)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf annotations = { 0 };
    char path[256];

    act_add_annotations(act, &annotations);
    ccm_buf_addf(&json, "{\"metadata\":{\"annotations\":{%s}}}", ccm_buf_str(&annotations));
    (void)snprintf(path, sizeof(path), SERVICES "/%s", act->name);
    (void)sim_kube("PATCH", path, ccm_buf_str(&json), NULL); /* it may be gone */
}

static void pod_print(unsigned pod, struct ccm_buf *ret)
{
    const unsigned node = pod % 5 + 1;

    ccm_buf_addf(ret, "10.%u.%u.%u", node % 2 == 1 ? 1 : 2, node, pod / 5 % 8 + 1);
}

static void act_backends(const struct sim_act *act)
{
    static const char *const lists[] = { "pods", "nodes" };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf wanted = { 0 };

    if (sim_explore_where()[0] != '\0') {
        return; /* trouble delays it; at the rest all is compared */
    }
    ccm_buf_adds(&wanted, " ");
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        const char *at = sim_act_arg(act, lists[i]);

        while (*at != '\0') {
            const unsigned number = (unsigned)sim_number(at);

            if (i == 0) {
                pod_print(number, &wanted);
            } else {
                ccm_buf_addf(&wanted, "i-node-%u", number);
            }
            ccm_buf_adds(&wanted, " ");
            at += strcspn(at, ",");
            at += *at == ',' ? 1 : 0;
        }
    }
    sim_look_backends(act->name, ccm_buf_str(&wanted));
}

static void slice_add_pods(struct ccm_buf *json, const char *pods, const char *conditions)
{
    const char *at = pods;

    while (*at != '\0') {
        const unsigned pod = (unsigned)sim_number(at);
        const unsigned node = pod % 5 + 1;

        if (json->len > 0 && ccm_buf_str(json)[json->len - 1] == '}') {
            ccm_buf_adds(json, ",");
        }
        ccm_buf_adds(json, "{\"addresses\":[\"");
        pod_print(pod, json);
        ccm_buf_addf(
            json,
            "\"],\"nodeName\":\"node-%u\",\"conditions\":{%s},"
            "\"targetRef\":{\"kind\":\"Pod\",\"namespace\":\"default\",\"name\":\"pod-%u\"}}",
            node, conditions, pod);
        at += strcspn(at, ",");
        at += *at == ',' ? 1 : 0;
    }
}

static void act_slice(const struct sim_act *act)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { 0 };
    char path[256];
    const char *ports = NULL;

    (void)snprintf(path, sizeof(path), SERVICES "/%s", act->name);
    ports = ccm_strmap_get(sim_world_objects(), path);
    ccm_buf_addf(
        &json,
        "{\"apiVersion\":\"discovery.k8s.io/v1\",\"kind\":\"EndpointSlice\",\"metadata\":{\"name\":"
        "\"%s-a\",\"namespace\":\"default\",\"labels\":{\"kubernetes.io/service-name\":\"%s\"}},"
        "\"addressType\":\"IPv4\",\"ports\":[",
        act->name, act->name);
    ports_add(&json, ports == NULL ? "80/TCP" : ports, true);
    ccm_buf_adds(&json, "],\"endpoints\":[");
    slice_add_pods(&json, sim_act_arg(act, "pods"), "\"ready\":true");
    slice_add_pods(&json, sim_act_arg(act, "unready"), "\"ready\":false");
    slice_add_pods(&json, sim_act_arg(act, "terminating"),
                   "\"ready\":false,\"serving\":true,\"terminating\":true");
    ccm_buf_adds(&json, "]}");
    sim_look_ready(act->name, sim_act_arg(act, "pods")[0] != '\0');
    (void)snprintf(path, sizeof(path), SLICES "/%s-a", act->name);
    if (sim_kube("PUT", path, ccm_buf_str(&json), NULL) >= 300 &&
        sim_kube("POST", SLICES, ccm_buf_str(&json), NULL) < 300 &&
        ccm_strmap_set(sim_world_objects(), path, strdup("")) < 0) {
        abort();
    }
}

static void act_delete(const struct sim_act *act)
{
    const bool slice = strcmp(act->verb, "noslice") == 0;
    char path[256];

    if (slice) {
        sim_look_ready(act->name, false);
    }
    (void)snprintf(path, sizeof(path), slice ? SLICES "/%s-a" : SERVICES "/%s", act->name);
    (void)sim_kube("DELETE", path, NULL, NULL); /* it may be gone */
    ccm_strmap_del(sim_world_objects(), path);
}

/* --- nodes --- */

static int node_number(const char *name)
{
    return (int)sim_number(name + strcspn(name, "-") + 1);
}

static void node_set_address(const char *name, int last)
{
    char json[256];
    char path[128];

    (void)snprintf(json, sizeof(json),
                   "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":"
                   "\"10.3.0.%d\"}]}}",
                   last);
    (void)snprintf(path, sizeof(path), "/api/v1/nodes/%s/status", name);
    (void)sim_kube("PATCH", path, json, NULL); /* it may be gone */
}

static void node_add(const char *name, int instance)
{
    char json[512];
    char path[128];

    (void)snprintf(json, sizeof(json),
                   "{\"instances\":[{\"id\":\"i-node-%d\",\"vswitch\":\"vsw-a\"}]}", instance);
    (void)sim_control(SIM_CLOUD, "POST", "/_sim/instances", json, NULL); /* it may exist */
    (void)snprintf(
        json, sizeof(json),
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\"},\"spec\":"
        "{\"providerID\":\"cn-hangzhou.i-node-%d\",\"podCIDR\":\"172.20.%d.0/24\"}}",
        name, instance, node_number(name));
    (void)sim_kube("POST", "/api/v1/nodes", json, NULL); /* it may exist */
    (void)snprintf(path, sizeof(path), "/api/v1/nodes/%s/status", name);
    (void)sim_kube("PATCH", path,
                   "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
                   NULL);
}

static void act_node(const struct sim_act *act)
{
    static const struct {
        const char *name;
        const char *body;
        bool status;
    } changes[] = {
        { "ready", "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
          true },
        { "unready", "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"Unknown\"}]}}",
          true },
        { "cordon", "{\"spec\":{\"unschedulable\":true}}", false },
        { "uncordon", "{\"spec\":{\"unschedulable\":null}}", false },
        { "exclude", "{\"metadata\":{\"labels\":{\"" EXCLUDE "\":\"\"}}}", false },
        { "include", "{\"metadata\":{\"labels\":{\"" EXCLUDE "\":null}}}", false },
    };
    const char *what = sim_act_arg(act, "do");
    char path[128];

    (void)snprintf(path, sizeof(path), "/api/v1/nodes/%s", act->name);
    if (strcmp(what, "add") == 0) {
        node_add(act->name, node_number(act->name));
    } else if (strcmp(what, "remove") == 0) {
        (void)sim_kube("DELETE", path, NULL, NULL); /* it may be gone */
    } else if (strcmp(what, "move") == 0) {         /* no node may change its provider id */
        (void)sim_kube("DELETE", path, NULL, NULL);
        node_add(act->name, (int)sim_act_number(act, "to", 0));
    } else if (strcmp(what, "address") == 0) {
        node_set_address(act->name, (int)sim_act_number(act, "to", 0));
    }
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        if (strcmp(changes[i].name, what) == 0) {
            (void)snprintf(path, sizeof(path), "/api/v1/nodes/%s%s", act->name,
                           changes[i].status ? "/status" : "");
            (void)sim_kube("PATCH", path, changes[i].body, NULL); /* it may be gone */
        }
    }
    sim_look_node(act->name, strcmp(what, "add") == 0 || strcmp(what, "move") == 0 ||
                                 strcmp(what, "address") == 0 || strcmp(what, "ready") == 0 ||
                                 strcmp(what, "uncordon") == 0 || strcmp(what, "include") == 0);
}

/* --- console, instances, servers --- */

/* Id of the Service's load balancer, as its label says; heap, NULL when it has none. */
static char *service_find_lb(const char *name)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    char path[256];

    (void)snprintf(path, sizeof(path), SERVICES "/%s", name);
    if (sim_kube("GET", path, NULL, &body) != 200 ||
        ccm_json_parse(ccm_buf_str(&body), body.len, &json) < 0) {
        return NULL;
    }
    const char *id = ccm_json_str(ccm_json_get(ccm_json_get(json, "metadata"), "labels"),
                                  "service.k8s.alibaba/loadbalancer-id");

    return id == NULL ? NULL : strdup(id);
}

static void act_console(const struct sim_act *act)
{
    CCM_CLEANUP(ccm_freep) char *id = service_find_lb(act->name);
    const char *what = sim_act_arg(act, "do");
    const char *type = id != NULL && strncmp(id, "nlb-", 4) == 0 ? "nlb" : "loadbalancer";
    char json[1024];

    if (id == NULL) {
        return;
    }
    if (strcmp(what, "delete") == 0) {
        (void)snprintf(json, sizeof(json), "{\"op\":\"delete\",\"type\":\"%s\",\"id\":\"%s\"}",
                       type, id);
    } else if (strcmp(what, "rename") == 0) {
        (void)snprintf(json, sizeof(json),
                       "{\"op\":\"update\",\"type\":\"%s\",\"id\":\"%s\",\"attributes\":"
                       "{\"LoadBalancerName\":\"renamed\"}}",
                       type, id);
    } else if (strcmp(what, "drop-listener") == 0) {
        (void)snprintf(
            json, sizeof(json),
            "{\"op\":\"delete\",\"type\":\"listener\",\"load_balancer\":\"%s\",\"port\":80,"
            "\"protocol\":\"tcp\"}",
            id);
    } else {
        sim_fail("console: do=%s is not known", what);
    }
    (void)sim_console(json, NULL); /* it may be gone */
}

static int act_seat(const struct sim_act *act)
{
    return (int)sim_number(act->name + strcspn(act->name, "-") + 1);
}

static void act_instance(const struct sim_act *act)
{
    const int seat = act_seat(act);
    const int64_t us = sim_act_number(act, "for", 2000) * MS;

    if (strcmp(act->verb, "crash") == 0) {
        sim_seat_crash(seat, us);
    } else if (strcmp(act->verb, "stop") == 0) {
        sim_seat_stop(seat);
    } else if (strcmp(act->verb, "pause") == 0 && sim_seat_instance(seat) != 0) {
        sim_pause(sim_seat_instance(seat), sim_now_us() + us);
    } else if (strcmp(act->verb, "stale") == 0) {
        sim_net_freeze_watches(seat, sim_now_us(), sim_now_us() + us);
    } else if (strcmp(act->verb, "cut") == 0) {
        sim_net_cut_off(seat, strcmp(sim_act_arg(act, "side"), "cloud") == 0 ? SIM_CLOUD : SIM_KUBE,
                        sim_now_us() + us);
    }
}

static void act_watch(const struct sim_act *act)
{
    char json[128];

    (void)snprintf(json, sizeof(json), "{\"op\":\"%s\"}", sim_act_arg(act, "do"));
    (void)sim_control(SIM_KUBE, "POST", "/_sim/watch", json, NULL); /* a known operation */
}

static void act_quota(const struct sim_act *act)
{
    sim_world_set_quota((unsigned)sim_act_number(act, "percent", 0),
                        (unsigned)sim_act_number(act, "balancers", 0));
}

static void act_apiserver(const struct sim_act *act)
{
    const char *what = sim_act_arg(act, "do");

    if (strcmp(what, "keep") == 0) {
        sim_world_keep();
    } else if (strcmp(what, "ahead") != 0 || !sim_explore_is_stale()) {
        /* whose versions pass those of old caches: no client can tell it from the one before */
        sim_world_replace(strcmp(what, "back") == 0, strcmp(what, "ahead") == 0);
    }
}

static void act_clock(const struct sim_act *act)
{
    sim_step_wall(sim_act_number(act, "by", 0) * MS);
}

static void act_kube(const struct sim_act *act)
{
    const char *method = sim_act_arg(act, "do");
    const char *body = sim_act_arg(act, "body");
    char path[256];

    (void)snprintf(path, sizeof(path), "%s%s", act->name[0] == '/' ? "" : "/", act->name);
    (void)sim_kube(method[0] == '\0' ? "POST" : method, path, body[0] == '\0' ? NULL : body, NULL);
}

static void act_cloud(const struct sim_act *act)
{
    (void)sim_console(sim_act_arg(act, "body"), NULL);
}

void sim_world_act(const struct sim_act *act)
{
    static const struct {
        const char *verb;
        void (*run)(const struct sim_act *act);
    } verbs[] = {
        { "service", act_service },      { "spec", act_spec },
        { "annotate", act_annotate },    { "slice", act_slice },
        { "noslice", act_delete },       { "backends", act_backends },
        { "delete", act_delete },        { "node", act_node },
        { "console", act_console },      { "crash", act_instance },
        { "stop", act_instance },        { "pause", act_instance },
        { "cut", act_instance },         { "watch", act_watch },
        { "clock", act_clock },          { "kube", act_kube },
        { "stale", act_instance },       { "quota", act_quota },
        { "apiserver", act_apiserver },  { "secret", sim_act_gateway },
        { "nosecret", sim_act_gateway }, { "cloud", act_cloud },
        { "gateway", sim_act_gateway },  { "ungateway", sim_act_gateway },
        { "route", sim_act_gateway },    { "unroute", sim_act_gateway },
        { "set", sim_act_gateway },      { "unset", sim_act_gateway },
    };

    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (strcmp(verbs[i].verb, act->verb) == 0) {
            sim_trace("act: %s %s %s", act->verb, act->name, act->args);
            sim_story_add("%s %s %s", act->verb, act->name, act->args);
            verbs[i].run(act);
            return;
        }
    }
    sim_fail("no such verb: %s", act->verb);
}
