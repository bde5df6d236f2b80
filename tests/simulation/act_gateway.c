/*
 * Verbs of the Gateway API:
 *
 *   gateway NAME listeners=tcp:80,dns:53/UDP,tls:443/TLS [secret=S]     ungateway NAME
 *   route NAME gateway=G [section=tcp] [set=S] backends=SERVICE:PORT:WEIGHT,...   unroute NAME
 *   set NAME gateway=G listeners=more:443             unset NAME          (a ListenerSet)
 *   secret NAME word=W                                nosecret NAME       (a certificate)
 *
 * Each creates the object or changes it. The route of a listener "dns" is a UDPRoute.
 */
#include "act.h"

#include "look.h"
#include "net.h"
#include "order.h"
#include "world.h"

#include "util/base64.h"
#include "util/cleanup.h"
#include "util/strmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECRETS "/api/v1/namespaces/default/secrets"
#define GROUP   "gateway.networking.k8s.io"
#define PREFIX  "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
#define CRDS    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

struct kind {
    const char *name;
    const char *plural;
    const char *version;
    bool namespaced;
};

static const struct kind kinds[] = {
    { "GatewayClass", "gatewayclasses", "v1", false },
    { "Gateway", "gateways", "v1", true },
    { "ListenerSet", "listenersets", "v1", true },
    { "TCPRoute", "tcproutes", "v1", true },
    { "UDPRoute", "udproutes", "v1", true },
    { "TLSRoute", "tlsroutes", "v1", true },
    { "ReferenceGrant", "referencegrants", "v1beta1", true },
};

static void kind_define(const struct kind *kind)
{
    const bool has_status = strcmp(kind->name, "ReferenceGrant") != 0;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { 0 };
    char singular[32] = "";

    for (size_t i = 0; kind->name[i] != '\0'; i++) {
        singular[i] = (char)(kind->name[i] | 0x20);
    }
    ccm_buf_addf(
        &json,
        "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
        "\"metadata\":{\"name\":\"%s." GROUP "\"},\"spec\":{\"group\":\"" GROUP
        "\",\"scope\":\"%s\",\"names\":{\"plural\":\"%s\",\"singular\":\"%s\",\"kind\":\"%s\","
        "\"listKind\":\"%sList\"},",
        kind->plural, kind->namespaced ? "Namespaced" : "Cluster", kind->plural, singular,
        kind->name, kind->name);
    ccm_buf_addf(
        &json,
        "\"versions\":[{\"name\":\"%s\",\"served\":true,\"storage\":true,\"schema\":"
        "{\"openAPIV3Schema\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":"
        "true}}%s}]}}",
        kind->version, has_status ? ",\"subresources\":{\"status\":{}}" : "");
    if (sim_kube("POST", CRDS, ccm_buf_str(&json), NULL) >= 300) {
        sim_fail("%s cannot be defined", kind->name);
    }
}

void sim_gateway_define(void)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        kind_define(&kinds[i]);
    }
    if (sim_kube("POST", "/apis/" GROUP "/v1/gatewayclasses",
                 "{\"apiVersion\":\"" GROUP
                 "/v1\",\"kind\":\"GatewayClass\",\"metadata\":{\"name\":"
                 "\"nlb\"},\"spec\":{\"controllerName\":\"ccm.alibabacloud.com/nlb\"}}",
                 NULL) >= 300) {
        sim_fail("the GatewayClass cannot be created");
    }
}

/* "tcp:80,dns:53/UDP"; secret: of those that end TLS. */
static void listeners_add(struct ccm_buf *json, const char *listeners, const char *secret)
{
    const char *at = listeners;

    ccm_buf_adds(json, "\"listeners\":[");
    while (*at != '\0') {
        const size_t len = strcspn(at, ",");
        const size_t name = strcspn(at, ":");
        const char *slash = memchr(at, '/', len);
        const char *protocol = slash == NULL ? "TCP" : slash + 1;

        ccm_buf_addf(json, "%s{\"name\":\"%.*s\",\"port\":%d,\"protocol\":\"%.3s\"",
                     at == listeners ? "" : ",", (int)name, at, (int)sim_number(at + name + 1),
                     protocol);
        if (strncmp(protocol, "TLS", 3) == 0) {
            ccm_buf_addf(
                json, ",\"tls\":{\"mode\":\"Terminate\",\"certificateRefs\":[{\"name\":\"%s\"}]}",
                secret);
        }
        ccm_buf_adds(json, "}");
        at += len;
        at += *at == ',' ? 1 : 0;
    }
    ccm_buf_adds(json, "]");
}

/* "s1:80:10,s2:80:90" */
static void backends_add(struct ccm_buf *json, const char *backends)
{
    const char *at = backends;

    ccm_buf_adds(json, "\"rules\":[{\"backendRefs\":[");
    while (*at != '\0') {
        const size_t len = strcspn(at, ",");
        const char *port = at + strcspn(at, ":") + 1;
        const char *weight = port + strcspn(port, ":,");

        ccm_buf_addf(json, "%s{\"name\":\"%.*s\",\"port\":%d,\"weight\":%d}",
                     at == backends ? "" : ",", (int)strcspn(at, ":"), at, (int)sim_number(port),
                     *weight == ':' ? (int)sim_number(weight + 1) : 1);
        at += len;
        at += *at == ',' ? 1 : 0;
    }
    ccm_buf_adds(json, "]}]");
}

/* Create the object, or merge its spec into the one that exists. */
static void object_put(const char *kind, const char *plural, const char *name, const char *spec)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { 0 };
    char folder[128];
    char path[256];

    (void)snprintf(folder, sizeof(folder), "/apis/" GROUP "/v1/namespaces/default/%s", plural);
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    ccm_buf_addf(&json, "{\"spec\":{%s}}", spec);
    if (sim_kube("PATCH", path, ccm_buf_str(&json), NULL) < 300) {
        return;
    }
    ccm_buf_reset(&json);
    ccm_buf_addf(&json,
                 "{\"apiVersion\":\"" GROUP "/v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\","
                 "\"namespace\":\"default\"},\"spec\":{%s}}",
                 kind, name, spec);
    if (sim_kube("POST", folder, ccm_buf_str(&json), NULL) < 300 &&
        ccm_strmap_set(sim_world_objects(), path, strdup("")) < 0) {
        abort();
    }
}

static void object_delete(const char *plural, const char *name)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "/apis/" GROUP "/v1/namespaces/default/%s/%s", plural, name);
    (void)sim_kube("DELETE", path, NULL, NULL); /* it may be gone */
    ccm_strmap_del(sim_world_objects(), path);
}

static void act_gateway(const struct sim_act *act)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf spec = { 0 };

    ccm_buf_adds(&spec,
                 "\"gatewayClassName\":\"nlb\",\"infrastructure\":{\"annotations\":{\"" PREFIX
                 "zone-maps\":\"cn-hangzhou-h:vsw-a,cn-hangzhou-i:vsw-b\"}},"
                 "\"allowedListeners\":{\"namespaces\":{\"from\":\"Same\"}},");
    listeners_add(&spec, sim_act_arg(act, "listeners"), sim_act_arg(act, "secret"));
    object_put("Gateway", "gateways", act->name, ccm_buf_str(&spec));
}

static void act_set(const struct sim_act *act)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf spec = { 0 };

    ccm_buf_addf(&spec, "\"parentRef\":{\"name\":\"%s\"},", sim_act_arg(act, "gateway"));
    listeners_add(&spec, sim_act_arg(act, "listeners"), sim_act_arg(act, "secret"));
    object_put("ListenerSet", "listenersets", act->name, ccm_buf_str(&spec));
}

static void secret_add_text(struct ccm_buf *json, const char *key, const char *kind,
                            const char *begin, const char *word)
{
    char text[256];
    char line[65] = "";
    int len = 0;

    memset(line, 'A', sizeof(line) - 1); /* a full line of base64 */
    memcpy(line, begin, strlen(begin));
    memcpy(line + strlen(begin), word, strnlen(word, 16));
    len = snprintf(text, sizeof(text), "-----BEGIN %s-----\n%s\n-----END %s-----\n", kind, line,
                   kind);

    ccm_buf_addf(json, "\"%s\":\"", key);
    ccm_base64_encode(json, text, (size_t)len);
    ccm_buf_adds(json, "\"");
}

static void act_secret(const struct sim_act *act)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf data = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { 0 };
    char path[128];

    secret_add_text(&data, "tls.crt", "CERTIFICATE", "MIIC", sim_act_arg(act, "word"));
    ccm_buf_adds(&data, ",");
    secret_add_text(&data, "tls.key", "PRIVATE KEY", SIM_PRIVATE_KEY, sim_act_arg(act, "word"));
    ccm_buf_addf(&json,
                 "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"%s\","
                 "\"namespace\":\"default\"},\"type\":\"kubernetes.io/tls\",\"data\":{%s}}",
                 act->name, ccm_buf_str(&data));
    (void)snprintf(path, sizeof(path), SECRETS "/%s", act->name);
    if (strcmp(act->verb, "nosecret") == 0) {
        (void)sim_kube("DELETE", path, NULL, NULL); /* it may be gone */
    } else if (sim_kube("PATCH", path, ccm_buf_str(&json), NULL) >= 300) {
        (void)sim_kube("POST", SECRETS, ccm_buf_str(&json), NULL); /* a valid Secret */
    }
}

static bool route_is_udp(const struct sim_act *act)
{
    return strcmp(sim_act_arg(act, "section"), "dns") == 0;
}

static void act_route(const struct sim_act *act)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf spec = { 0 };
    const char *set = sim_act_arg(act, "set");
    const char *section = sim_act_arg(act, "section");
    const bool udp = route_is_udp(act);

    ccm_buf_addf(&spec, "\"parentRefs\":[{%s\"name\":\"%s\"",
                 set[0] == '\0' ? "" : "\"kind\":\"ListenerSet\",",
                 set[0] == '\0' ? sim_act_arg(act, "gateway") : set);
    if (section[0] != '\0') {
        ccm_buf_addf(&spec, ",\"sectionName\":\"%s\"", section);
    }
    ccm_buf_adds(&spec, "}],");
    backends_add(&spec, sim_act_arg(act, "backends"));
    object_put(udp ? "UDPRoute" : "TCPRoute", udp ? "udproutes" : "tcproutes", act->name,
               ccm_buf_str(&spec));
}

void sim_act_gateway(const struct sim_act *act)
{
    if (strcmp(act->verb, "secret") == 0 || strcmp(act->verb, "nosecret") == 0) {
        act_secret(act);
    } else if (strcmp(act->verb, "gateway") == 0) {
        act_gateway(act);
    } else if (strcmp(act->verb, "set") == 0) {
        act_set(act);
    } else if (strcmp(act->verb, "route") == 0) {
        act_route(act);
    } else if (strcmp(act->verb, "ungateway") == 0) {
        object_delete("gateways", act->name);
    } else if (strcmp(act->verb, "unset") == 0) {
        object_delete("listenersets", act->name);
    } else {
        object_delete(route_is_udp(act) ? "udproutes" : "tcproutes", act->name);
    }
}
