#include "picture.h"

#include "net.h"
#include "order.h"
#include "world.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/strmap.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWNER_TAG "kubernetes.do.not.delete"

struct picture {
    struct ccm_strmap *names; /* id or address -> name */
    char **lines;
    size_t len;
    size_t cap;
};

/* Times, what the cloud chooses or is made of it, and what follows from other lines. */
static const char *const left_out[] = {
    "Address",
    "DNSName",
    "CreateTime",
    "CreateTimeStamp",
    "CreationTime",
    "RequestId",
    "LoadBalancerStatus",
    "ListenerId",
    "StartTime",
    "UpdateTime",
    "VpcIds",
    "Listeners",
    "ModifyTime",
    "GmtModified",
    "Groups",
    "ZoneMappings",
    "VServerGroups",
    "BackendServers",
    "Servers",
    "SecurityGroupRuleId",
    "PrivateIPv4Address",
    "DeletionProtectionTime",
    "ModificationProtectionTime",
    "AclId",
    "AclIds",
    "AclType",
    "creationTimestamp",
    "service.k8s.alibaba/additional-tags",
    "lastHeartbeatTime",
    "lastTransitionTime",
    "resourceVersion",
    "uid",
};

static void picture_fini(struct picture *picture)
{
    for (size_t i = 0; i < picture->len; i++) {
        free(picture->lines[i]);
    }
    free(picture->lines);
    ccm_strmap_free(picture->names);
}

static void picture_name(struct picture *picture, const char *id, const char *name)
{
    if (id[0] != '\0' && !ccm_strmap_has(picture->names, id) &&
        ccm_strmap_set(picture->names, id, strdup(name)) < 0) {
        abort();
    }
}

static bool is_id_character(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.';
}

/* Each word that is an id becomes its name. */
static void picture_add_named(const struct picture *picture, const char *text, struct ccm_buf *ret)
{
    while (*text != '\0') {
        size_t len = 0;
        char word[256];
        const char *name = NULL;

        while (is_id_character(text[len]) && len < sizeof(word) - 1) {
            len++;
        }
        memcpy(word, text, len);
        word[len] = '\0';
        name = len == 0 ? NULL : ccm_strmap_get(picture->names, word);
        if (name != NULL) {
            ccm_buf_addf(ret, "<%s>", name);
        } else {
            ccm_buf_add(ret, text, len == 0 ? 1 : len);
        }
        text += len == 0 ? 1 : len;
    }
}

static void picture_add_line(struct picture *picture, const char *what, const char *text)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf line = { 0 };

    ccm_buf_addf(&line, "%s: ", what);
    picture_add_named(picture, text, &line);
    if (ccm_array_grow(&picture->lines, &picture->cap, picture->len + 1, sizeof(*picture->lines)) <
        0) {
        abort();
    }
    picture->lines[picture->len++] = strdup(ccm_buf_str(&line));
}

/* Never set is as good as set so. */
static bool is_default(const char *key, const cJSON *value)
{
    static const char *const pairs[][2] = {
        { "Cps", "0" },
        { "CrossZoneEnabled", "true" },
        { "DeletionProtectionReason", "" },
        { "PreserveClientIpEnabled", "true" },
        { "ProxyProtocolEnabled", "false" },
        { "Ppv2PrivateLinkEpIdEnabled", "false" },
        { "Ppv2PrivateLinkEpsIdEnabled", "false" },
        { "Ppv2VpcIdEnabled", "false" },
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (strcmp(pairs[i][0], key) == 0 && cJSON_IsString(value) &&
            strcmp(pairs[i][1], value->valuestring) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_left_out(const char *key)
{
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
        if (strcmp(left_out[i], key) == 0) {
            return true;
        }
    }
    return false;
}

static void item_print(const cJSON *item, struct ccm_buf *ret);

static void list_print(const cJSON *list, struct ccm_buf *ret)
{
    ccm_buf_adds(ret, "[");
    for (const cJSON *one = list->child; one != NULL; one = one->next) {
        item_print(one, ret);
        ccm_buf_adds(ret, one->next == NULL ? "" : ", ");
    }
    ccm_buf_adds(ret, "]");
}

/* Members in order of their names, without those that are left out. */
static void item_print(const cJSON *item, struct ccm_buf *ret)
{
    const char *last = "";

    if (cJSON_IsArray(item)) {
        list_print(item, ret);
        return;
    }
    if (!cJSON_IsObject(item)) {
        CCM_CLEANUP(ccm_freep) char *text = cJSON_PrintUnformatted(item);

        ccm_buf_adds(ret, text == NULL ? "" : text);
        return;
    }
    for (;;) {
        const cJSON *next = NULL;

        for (const cJSON *one = item->child; one != NULL; one = one->next) {
            if (strcmp(one->string, last) > 0 &&
                (next == NULL || strcmp(one->string, next->string) < 0)) {
                next = one;
            }
        }
        if (next == NULL) {
            return;
        }
        last = next->string;
        if (!is_left_out(last) && !is_default(last, next)) {
            ccm_buf_addf(ret, " %s=", last);
            item_print(next, ret);
        }
    }
}

static void picture_add_item(struct picture *picture, const char *what, const cJSON *item)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };

    item_print(item, &text);
    picture_add_line(picture, what, ccm_buf_str(&text));
}

/* --- names --- */

static void name_parts(struct picture *picture, const cJSON *lb, const char *name)
{
    char text[512];

    for (const cJSON *one = ccm_json_items(lb, "VServerGroups"); one != NULL; one = one->next) {
        (void)snprintf(text, sizeof(text), "%s/%s", name, ccm_json_text(one, "VServerGroupName"));
        picture_name(picture, ccm_json_text(one, "VServerGroupId"), text);
    }
    for (const cJSON *one = ccm_json_items(lb, "Listeners"); one != NULL; one = one->next) {
        (void)snprintf(text, sizeof(text), "%s listener %lld", name,
                       (long long)ccm_json_i64(one, "ListenerPort", 0));
        picture_name(picture, ccm_json_text(one, "ListenerId"), text);
    }
}

static void name_balancers(struct picture *picture, const cJSON *state, const char *list)
{
    for (const cJSON *lb = ccm_json_items(state, list); lb != NULL; lb = lb->next) {
        const char *owner = ccm_json_text(ccm_json_get(lb, "Tags"), OWNER_TAG);
        const char *id = ccm_json_text(lb, "LoadBalancerId");
        char text[256];

        picture_name(picture, id, owner[0] == '\0' ? ccm_json_text(lb, "LoadBalancerName") : owner);
        (void)snprintf(text, sizeof(text), "address of %s",
                       (const char *)ccm_strmap_get(picture->names, id));
        picture_name(picture, ccm_json_text(lb, "Address"), text);
        picture_name(picture, ccm_json_text(lb, "DNSName"), text);
        name_parts(picture, lb, ccm_strmap_get(picture->names, id));
    }
}

static void name_groups(struct picture *picture, const cJSON *state)
{
    for (const cJSON *one = ccm_json_items(state, "nlbServerGroups"); one != NULL;
         one = one->next) {
        char text[512];

        (void)snprintf(text, sizeof(text), "%s/%s",
                       ccm_json_text(ccm_json_get(one, "Tags"), OWNER_TAG),
                       ccm_json_text(one, "ServerGroupName"));
        picture_name(picture, ccm_json_text(one, "ServerGroupId"), text);
    }
}

static void name_certificates(struct picture *picture, const cJSON *state)
{
    for (const cJSON *one = ccm_json_items(state, "casCertificates"); one != NULL;
         one = one->next) {
        picture_name(picture, ccm_json_text(one, "CertIdentifier"), ccm_json_text(one, "CertName"));
    }
}

/* --- lines --- */

static void add_backends(struct picture *picture, const cJSON *group, const char *id,
                         const char *list)
{
    const char *name = ccm_strmap_get(picture->names, id);
    char what[600];

    (void)snprintf(what, sizeof(what), "group <%s>", name == NULL ? id : name);
    picture_add_item(picture, what, group);
    (void)snprintf(what, sizeof(what), "backend of <%s>", name == NULL ? id : name);
    for (const cJSON *one = ccm_json_items(group, list); one != NULL; one = one->next) {
        picture_add_item(picture, what, one);
    }
}

static void add_balancers(struct picture *picture, const cJSON *state, const char *list)
{
    for (const cJSON *lb = ccm_json_items(state, list); lb != NULL; lb = lb->next) {
        const char *name = ccm_strmap_get(picture->names, ccm_json_text(lb, "LoadBalancerId"));
        char what[300];

        (void)snprintf(what, sizeof(what), "load balancer <%s>", name);
        picture_add_item(picture, what, lb);
        (void)snprintf(what, sizeof(what), "listener of <%s>", name);
        for (const cJSON *one = ccm_json_items(lb, "Listeners"); one != NULL; one = one->next) {
            picture_add_item(picture, what, one);
        }
        for (const cJSON *one = ccm_json_items(lb, "VServerGroups"); one != NULL; one = one->next) {
            add_backends(picture, one, ccm_json_text(one, "VServerGroupId"), "BackendServers");
        }
    }
}

static void add_service_status(struct picture *picture, const cJSON *item)
{
    const cJSON *meta = ccm_json_get(item, "metadata");
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };
    char what[128];

    (void)snprintf(what, sizeof(what), "Service %s", ccm_json_text(meta, "name"));
    item_print(ccm_json_get(ccm_json_get(item, "status"), "loadBalancer"), &text);
    ccm_buf_adds(&text, " finalizers=");
    item_print(ccm_json_get(meta, "finalizers"), &text);
    ccm_buf_addf(
        &text, " id=%s",
        ccm_json_text(ccm_json_get(meta, "labels"), "service.k8s.alibaba/loadbalancer-id"));
    picture_add_line(picture, what, ccm_buf_str(&text));
}

/* whole: each object as it is, and not just the status of Services. */
static void add_objects(struct picture *picture, const char *path, bool whole)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = (size_t)64 * 1024 * 1024 };
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    char what[128];

    (void)sim_kube("GET", path, NULL, &body);
    if (ccm_json_parse(ccm_buf_str(&body), body.len, &json) < 0) {
        sim_fail("%s cannot be read", path);
    }
    for (const cJSON *item = ccm_json_items(json, "items"); item != NULL; item = item->next) {
        if (!whole) {
            add_service_status(picture, item);
            continue;
        }
        for (const cJSON *part = item->child; part != NULL; part = part->next) {
            (void)snprintf(what, sizeof(what), "%s of %s %s", part->string, strrchr(path, '/') + 1,
                           ccm_json_text(ccm_json_get(item, "metadata"), "name"));
            picture_add_item(picture, what, part);
        }
    }
}

static void add_routes(struct picture *picture, const cJSON *state)
{
    for (const cJSON *one = ccm_json_items(state, "routes"); one != NULL; one = one->next) {
        char text[256];

        (void)snprintf(text, sizeof(text), "%s", ccm_json_text(one, "DestinationCidrBlock"));
        picture_add_line(picture, "route", text);
    }
}

static int line_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void sim_picture_take(struct ccm_buf *ret, bool whole)
{
    static const char *const lists[] = {
        "/api/v1/services",
        "/api/v1/nodes",
        "/apis/gateway.networking.k8s.io/v1/gatewayclasses",
        "/apis/gateway.networking.k8s.io/v1/gateways",
        "/apis/gateway.networking.k8s.io/v1/listenersets",
        "/apis/gateway.networking.k8s.io/v1/tcproutes",
        "/apis/gateway.networking.k8s.io/v1/udproutes",
    };
    CCM_CLEANUP(picture_fini) struct picture picture = { .names = ccm_strmap_new(free) };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = (size_t)64 * 1024 * 1024 };
    CCM_CLEANUP(ccm_json_freep) cJSON *state = NULL;

    (void)sim_control(SIM_CLOUD, "GET", "/_sim/state", NULL, &body);
    if (picture.names == NULL || ccm_json_parse(ccm_buf_str(&body), body.len, &state) < 0) {
        sim_fail("the state of the cloud cannot be read");
    }
    name_balancers(&picture, state, "loadBalancers");
    name_balancers(&picture, state, "nlbLoadBalancers");
    name_groups(&picture, state);
    name_certificates(&picture, state);
    add_balancers(&picture, state, "loadBalancers");
    add_balancers(&picture, state, "nlbLoadBalancers");
    for (const cJSON *one = ccm_json_items(state, "nlbServerGroups"); one != NULL;
         one = one->next) {
        add_backends(&picture, one, ccm_json_text(one, "ServerGroupId"), "Servers");
    }
    add_routes(&picture, state);
    for (size_t i = 0; i < (whole ? sizeof(lists) / sizeof(lists[0]) : 1); i++) {
        add_objects(&picture, lists[i], whole);
    }
    if (picture.len > 0) {
        qsort(picture.lines, picture.len, sizeof(*picture.lines), line_compare);
    }
    for (size_t i = 0; i < picture.len; i++) {
        ccm_buf_addf(ret, "%s\n", picture.lines[i]);
    }
}

void sim_picture_compare(const char *found, const char *wanted, const char *const sides[static 2],
                         struct ccm_buf *ret)
{
    while (*found != '\0' || *wanted != '\0') {
        const size_t a = strcspn(found, "\n");
        const size_t b = strcspn(wanted, "\n");
        const size_t least = a < b ? a : b;
        int order = strncmp(found, wanted, least);

        order = order != 0 ? order : a < b ? -1 : a > b ? 1 : 0;
        if (*found == '\0') {
            order = 1;
        } else if (*wanted == '\0') {
            order = -1;
        }
        if (order < 0) {
            ccm_buf_addf(ret, "\n    %s: %.*s", sides[0], (int)(a > 700 ? 700 : a), found);
        } else if (order > 0) {
            ccm_buf_addf(ret, "\n    %s: %.*s", sides[1], (int)(b > 700 ? 700 : b), wanted);
        }
        found += order <= 0 ? a + (found[a] == '\n' ? 1 : 0) : 0;
        wanted += order >= 0 ? b + (wanted[b] == '\n' ? 1 : 0) : 0;
    }
}
