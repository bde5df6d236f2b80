#include "look.h"

#include "instance.h"
#include "order.h"
#include "world.h"

#include "cloud.h"
#include "nlb.h"
#include "quota.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/strmap.h"
#include "util/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWNER_TAG "kubernetes.do.not.delete"
#define OTHERS    "a0123456789abcdef0123456789abcde" /* of another cluster, see world.c */
#define SECRET    "testAccessKeySecret"
#define SEEN_US   INT64_C(100000000) /* until every watch has shown a change, however it hangs */

static int64_t last_write_us;
static uint64_t cloud_writes;
static int lease_holder; /* instance that wrote the Lease last and holds it; 0 = none */
static int64_t lease_until_us;
static struct ccm_strmap *ready; /* Service -> int64_t: since when it has a ready endpoint */
static struct ccm_strmap *unready_nodes;
static int64_t all_nodes_us; /* the last time that a node changed */
static struct ccm_cloud_quota *quota;

int64_t sim_look_last_write_us(void)
{
    return last_write_us;
}

uint64_t sim_look_cloud_writes(void)
{
    return cloud_writes;
}

/* --- at every write --- */

/* Whether another instance holds the Lease. */
static void look_at_lease(const struct sim_call *call)
{
    if (lease_holder != 0 && lease_holder != call->instance && sim_now_us() < lease_until_us) {
        sim_fail("instance %d calls %s while instance %d holds the Lease", call->instance,
                 call->action, lease_holder);
    }
}

static void look_at_lease_write(const struct sim_call *call)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    if (strstr(call->path, "/leases") == NULL || call->status >= 300 || !call->writes ||
        ccm_json_parse(call->answer, strlen(call->answer), &json) < 0) {
        return;
    }
    const cJSON *spec = ccm_json_get(json, "spec");
    const char *holder = ccm_json_text(spec, "holderIdentity");

    lease_holder = holder[0] == '\0' ? 0 : call->instance;
    lease_until_us =
        sim_now_us() + ccm_json_i64(spec, "leaseDurationSeconds", 15) * INT64_C(1000000);
}

static void look_at_foreign(const struct sim_call *call)
{
    for (size_t i = 0; i < call->params->len; i++) {
        if (sim_world_is_foreign(call->params->items[i].value)) {
            sim_fail("instance %d calls %s on %s, which belongs to others", call->instance,
                     call->action, call->params->items[i].value);
        }
    }
}

static const char *obj_tag(const struct ccm_cloud_obj *obj)
{
    return ccm_sim_params_text(&obj->tags, OWNER_TAG);
}

/* Load balancers with the tag of one owner, of one map whose values begin with an object. */
static size_t count_owned(struct ccm_strmap *map, const char *owner)
{
    void *cursor = NULL;
    void *value = NULL;
    size_t count = 0;

    while (ccm_strmap_next(map, &cursor, NULL, &value)) {
        count += strcmp(obj_tag(value), owner) == 0;
    }
    return count;
}

static void look_for_second(struct ccm_strmap *map)
{
    void *cursor = NULL;
    void *value = NULL;

    while (ccm_strmap_next(map, &cursor, NULL, &value)) {
        const char *owner = obj_tag(value);

        if (owner[0] != '\0' && strcmp(owner, OTHERS) != 0 && count_owned(map, owner) > 1) {
            sim_fail("there are %zu load balancers of one Service, %s", count_owned(map, owner),
                     owner);
        }
    }
}

static void since_set(struct ccm_strmap **map, const char *key, bool is_set)
{
    int64_t *since = NULL;

    if (*map == NULL) {
        *map = ccm_strmap_new(free);
    }
    if (!is_set) {
        ccm_strmap_del(*map, key);
    } else if (!ccm_strmap_has(*map, key)) {
        since = malloc(sizeof(*since));
        *since = sim_now_us();
        if (ccm_strmap_set(*map, key, since) < 0) {
            abort();
        }
    }
}

void sim_look_ready(const char *service, bool is_ready)
{
    since_set(&ready, service, is_ready);
}

bool sim_look_is_ready(const char *service)
{
    return ready != NULL && ccm_strmap_has(ready, service);
}

void sim_look_node(const char *node, bool is_ready)
{
    since_set(&unready_nodes, node, !is_ready);
    all_nodes_us = sim_now_us();
}

/* How many backends are in it; *ret_name: of the group. */
static size_t count_backends(const char *id, const char **ret_name)
{
    const struct ccm_cloud_vgroup *of_clb = ccm_strmap_get(sim_net.cloud->vgroups, id);
    const struct ccm_nlb_group *of_nlb = ccm_nlb_group_get(sim_net.cloud, id);
    size_t count = of_clb == NULL ? 0 : of_clb->len;

    *ret_name = of_clb != NULL   ? ccm_sim_params_text(&of_clb->obj.attrs, "VServerGroupName")
                : of_nlb != NULL ? ccm_sim_params_text(&of_nlb->obj.attrs, "ServerGroupName")
                                 : "";
    for (size_t i = 0; of_nlb != NULL && i < of_nlb->servers.len; i++) {
        count += ccm_text_equal(of_nlb->servers.items[i].status, "Removing") ? 0 : 1;
    }
    return count;
}

/* "k8s/PORT/SERVICE/..." of CLB, "k8s.PORT.PROTOCOL.SERVICE..." of NLB; "" is none. */
static void name_service(const char *group, char *ret, size_t size)
{
    const char separator[] = { group[0] == '\0' ? '/' : group[strcspn(group, "/.")], '\0' };

    ret[0] = '\0';
    for (int i = separator[0] == '.' ? 3 : 2; i > 0 && group != NULL; i--) {
        group = strchr(group, separator[0]);
        group = group == NULL ? NULL : group + 1;
    }
    if (group != NULL) {
        (void)snprintf(ret, size, "%.*s", (int)strcspn(group, separator), group);
    }
}

/* A group whose Service has had a ready endpoint for long is never emptied. */
static void look_at_group(const struct sim_call *call)
{
    const char *clb = ccm_sim_params_text(call->params, "VServerGroupId");
    const char *name = NULL;
    const size_t count = count_backends(
        clb[0] != '\0' ? clb : ccm_sim_params_text(call->params, "ServerGroupId"), &name);
    char service[64];

    name_service(name, service, sizeof(service));

    const int64_t *since = ready == NULL ? NULL : ccm_strmap_get(ready, service);

    if (count == 0 && since != NULL && sim_now_us() - *since > SEEN_US &&
        (unready_nodes == NULL || ccm_strmap_len(unready_nodes) == 0) &&
        sim_now_us() - all_nodes_us > SEEN_US) {
        sim_fail("instance %d empties group %s by %s, and the Service has ready endpoints",
                 call->instance, name, call->action);
    }
}

/*
 * No instance exceeds a rate that its configuration says. Each has a count of its own: one that has
 * just begun knows nothing of the calls of the one before it.
 */
static void look_at_quota(const struct sim_call *call)
{
    struct ccm_cloud_throttle throttle = { 0 };
    char account[16];

    (void)snprintf(account, sizeof(account), "%d", call->instance);
    if (call->product != NULL && !ccm_cloud_quota_take(quota, account, call->product, call->action,
                                                       sim_now_us() / 1000, &throttle)) {
        sim_fail("instance %d calls %s more than %lld times in %lld ms", call->instance,
                 call->action, (long long)throttle.count, (long long)throttle.period_ms);
    }
}

static void look_after(const struct sim_call *call)
{
    const bool is_noise = call->side == SIM_KUBE && (strstr(call->path, "/events") != NULL ||
                                                     strstr(call->path, "/leases") != NULL);

    if (call->instance == SIM_WORLD_SIDE) {
        return;
    }
    if (call->side == SIM_CLOUD) {
        look_at_quota(call);
    }
    look_at_lease_write(call);
    if (call->writes && !is_noise && call->status < 300) {
        last_write_us = sim_now_us();
    }
    if (call->side != SIM_CLOUD || !call->writes || call->status >= 300) {
        return;
    }
    cloud_writes++;
    if (strstr(call->action, "RemoveVServerGroup") != NULL ||
        strcmp(call->action, "RemoveServersFromServerGroup") == 0) {
        look_at_group(call);
    }
    if (strcmp(call->action, "CreateLoadBalancer") == 0) {
        look_for_second(sim_net.cloud->lbs);
        look_for_second(sim_net.cloud->nlb->lbs);
    }
}

static void look_before(const struct sim_call *call)
{
    if (call->instance != SIM_WORLD_SIDE && call->side == SIM_CLOUD) {
        look_at_lease(call);
        look_at_foreign(call);
    }
    if (call->instance != SIM_WORLD_SIDE &&
        (strstr(call->body, SECRET) != NULL ||
         (call->side == SIM_KUBE && strstr(call->body, SIM_PRIVATE_KEY) != NULL))) {
        sim_fail("a secret is in the body of %s", call->action);
    }
}

/* What no option sets is published for all. */
static void look_make_quota(unsigned percent)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    ccm_buf_addf(&text,
                 "{\"scale\": %u.%02u, \"rates\": {\"cas.Describe*\": 300, \"cas.*\": 60, "
                 "\"eflo.*\": 300, \"sts.*\": 6000}}",
                 percent / 100, percent % 100);
    quota = ccm_cloud_quota_new();
    if (quota == NULL || ccm_json_parse(ccm_buf_str(&text), text.len, &json) < 0 ||
        ccm_cloud_quota_load(quota, json, &why) < 0) {
        sim_fail("no quota: %s", ccm_buf_str(&why));
    }
}

void sim_look_begin(unsigned quota_percent)
{
    look_make_quota(quota_percent);
    sim_net.before = look_before;
    sim_net.after = look_after;
}

/* --- when a history asks --- */

static bool list_has(const char *list, const char *word)
{
    CCM_CLEANUP(ccm_freep) char *spaced = ccm_text_format(" %s ", word);

    return spaced != NULL && strstr(list, spaced) != NULL;
}

static void look_compare(const char *group, const char *wanted, const char *found)
{
    if (strlen(wanted) != strlen(found)) {
        sim_fail("group %s has%s, not%s", group, found, wanted);
    }
    for (const char *at = wanted; at[0] != '\0' && at[1] != '\0'; at += 1 + strcspn(at + 1, " ")) {
        CCM_CLEANUP(ccm_freep)
        char *word = ccm_text_format("%.*s", (int)strcspn(at + 1, " "), at + 1);

        if (word == NULL || !list_has(found, word)) {
            sim_fail("group %s has%s, not%s", group, found, wanted);
        }
    }
}

static bool is_group_of(const char *name, const char *service)
{
    char found[64];

    name_service(name, found, sizeof(found));
    return strcmp(found, service) == 0;
}

void sim_look_backends(const char *service, const char *backends)
{
    void *cursor = NULL;
    void *value = NULL;

    while (ccm_strmap_next(sim_net.cloud->vgroups, &cursor, NULL, &value)) {
        const struct ccm_cloud_vgroup *group = value;
        const char *name = ccm_sim_params_text(&group->obj.attrs, "VServerGroupName");
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf found = { 0 };

        ccm_buf_adds(&found, " ");
        for (size_t i = 0; i < group->len; i++) {
            const struct ccm_cloud_backend *one = &group->backends[i];

            ccm_buf_addf(&found, "%s ",
                         one->server_ip[0] == '\0' ? one->server_id : one->server_ip);
        }
        if (is_group_of(name, service)) {
            look_compare(name, backends, ccm_buf_str(&found));
        }
    }
    cursor = NULL;
    while (ccm_strmap_next(sim_net.cloud->nlb->groups, &cursor, NULL, &value)) {
        const struct ccm_nlb_group *group = value;
        const char *name = ccm_sim_params_text(&group->obj.attrs, "ServerGroupName");
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf found = { 0 };

        ccm_buf_adds(&found, " ");
        for (size_t i = 0; i < group->servers.len; i++) {
            const struct ccm_nlb_server *one = &group->servers.items[i];

            ccm_buf_addf(&found, "%s ", strcmp(one->type, "Ecs") == 0 ? one->id : one->ip);
        }
        if (is_group_of(name, service)) {
            look_compare(name, backends, ccm_buf_str(&found));
        }
    }
}

/* --- at rest --- */

static char problem[512];

static void look_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Only the first problem is reported. */
static void look_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (problem[0] == '\0') {
        (void)vsnprintf(problem, sizeof(problem), format, args);
    }
    va_end(args);
}

static void look_for_owned(struct ccm_strmap *map, const char *what)
{
    void *cursor = NULL;
    void *value = NULL;
    const char *id = NULL;

    while (ccm_strmap_next(map, &cursor, &id, &value)) {
        const char *owner = obj_tag(value);

        if (owner[0] != '\0' && strcmp(owner, OTHERS) != 0) {
            look_note("%s %s of %s is left over", what, id, owner);
        }
    }
}

static void look_for_groups(void)
{
    void *cursor = NULL;
    void *value = NULL;
    const char *id = NULL;

    while (ccm_strmap_next(sim_net.cloud->vgroups, &cursor, &id, &value)) {
        const struct ccm_cloud_vgroup *group = value;
        const char *name = ccm_sim_params_text(&group->obj.attrs, "VServerGroupName");

        if (ccm_text_starts(name, "k8s")) {
            look_note("group %s, %s, is left over at %s", id, name, group->lb->obj.id);
        }
    }
}

static void look_for_listeners(void)
{
    void *cursor = NULL;
    void *value = NULL;
    const char *id = NULL;

    while (ccm_strmap_next(sim_net.cloud->lbs, &cursor, &id, &value)) {
        const struct ccm_cloud_lb *lb = value;

        if (lb->listeners_len > 0) {
            look_note("a listener of port %u is left over at %s", lb->listeners[0]->port, id);
        }
    }
}

static void look_for_deleted(const char *path)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = (size_t)64 * 1024 * 1024 };
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    (void)sim_kube("GET", path, NULL, &body);
    if (ccm_json_parse(ccm_buf_str(&body), body.len, &json) < 0) {
        look_note("%s cannot be read", path);
    }
    for (const cJSON *item = ccm_json_items(json, "items"); item != NULL; item = item->next) {
        const cJSON *meta = ccm_json_get(item, "metadata");

        if (ccm_json_str(meta, "deletionTimestamp") != NULL) {
            look_note("%s of %s hangs in its deletion", ccm_json_text(meta, "name"), path);
        }
    }
}

const char *sim_look_at_rest(void)
{
    problem[0] = '\0';
    look_for_deleted("/api/v1/services");
    look_for_deleted("/apis/gateway.networking.k8s.io/v1/gateways");
    look_for_owned(sim_net.cloud->lbs, "load balancer");
    look_for_owned(sim_net.cloud->nlb->lbs, "network load balancer");
    look_for_owned(sim_net.cloud->nlb->groups, "server group");
    look_for_groups();
    look_for_listeners();
    return problem[0] == '\0' ? NULL : problem;
}

void sim_look_at_log(const char *path)
{
    char line[16384];
    FILE *file = fopen(path, "r");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strstr(line, SECRET) != NULL || strstr(line, SIM_PRIVATE_KEY) != NULL) {
            sim_fail("a secret is in the log: %s", line);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}
