#include "world.h"

#include "act.h"
#include "net.h"
#include "order.h"

#include "cloud.h"
#include "fixtures.h"
#include "quota.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/strmap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NODES         6 /* at the beginning; the fixtures of the cloud have five of them */
#define CLUSTER_TAG   "ack.aliyun.com"
#define OWNER_TAG     "kubernetes.do.not.delete"
#define SECRET        "testAccessKeySecret"
#define THEIR_NET     "192.168.77.0/24"
#define FOREIGN_MAX   32
#define SERVICES      "/api/v1/namespaces/default/services"
#define HISTORY       8192              /* changes that the API server remembers */
#define BALANCERS     60                /* of each product */
#define VERSIONS      UINT64_C(1000000) /* of an API server: none writes so often */
#define FIRST_VERSION (1000 * VERSIONS)

static struct ccm_strmap *objects; /* path -> ports of a Service, "" of others */
static struct ccm_strmap *handles; /* name -> id */
static char *foreign[FOREIGN_MAX];
static size_t foreign_count;
static char config_path[512];

const char *sim_world_config(void)
{
    return config_path;
}

struct ccm_strmap *sim_world_objects(void)
{
    return objects;
}

const char *sim_world_handle(const char *name)
{
    return ccm_strmap_get(handles, name);
}

bool sim_world_is_foreign(const char *id)
{
    for (size_t i = 0; i < foreign_count; i++) {
        if (strcmp(foreign[i], id) == 0) {
            return true;
        }
    }
    return false;
}

unsigned sim_kube(const char *method, const char *path, const char *body, struct ccm_buf *ret)
{
    char url[1024];
    const char *type = body == NULL                   ? NULL
                       : strcmp(method, "PATCH") == 0 ? "application/merge-patch+json"
                                                      : "application/json";

    (void)snprintf(url, sizeof(url), "http://kube%s", path);
    return sim_ask(method, url, type, body, ret);
}

bool sim_console(const char *json, struct ccm_buf *ret)
{
    return sim_control(SIM_CLOUD, "POST", "/_sim/edit", json, ret) < 300;
}

/* --- what others have --- */

static void world_note_foreign(const char *id)
{
    if (foreign_count < FOREIGN_MAX) {
        foreign[foreign_count++] = strdup(id);
    }
}

/* An action at the console that has to work; the text of one member of its answer. */
static char *world_call(const char *json, const char *member)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf answer = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *parsed = NULL;

    if (!sim_console(json, &answer) ||
        ccm_json_parse(ccm_buf_str(&answer), answer.len, &parsed) < 0 ||
        ccm_json_i64(parsed, "http", 0) != 200) {
        sim_fail("the console refuses %s: %s", json, ccm_buf_str(&answer));
    }
    return strdup(ccm_json_text(ccm_json_get(parsed, "answer"), member));
}

static char *world_make_clb(const char *name, const char *tags)
{
    CCM_CLEANUP(ccm_freep) char *group = NULL;
    char *id = NULL;
    char json[2048];

    (void)snprintf(
        json, sizeof(json),
        "{\"op\":\"call\",\"product\":\"slb\",\"action\":\"CreateLoadBalancer\",\"params\":{"
        "\"LoadBalancerName\":\"%s\",\"AddressType\":\"internet\",\"InstanceChargeType\":"
        "\"PayByCLCU\",\"RegionId\":\"cn-hangzhou\"}}",
        name);
    id = world_call(json, "LoadBalancerId");
    if (tags[0] != '\0') {
        (void)snprintf(json, sizeof(json),
                       "{\"op\":\"update\",\"type\":\"loadbalancer\",\"id\":\"%s\",\"tags\":{%s}}",
                       id, tags);
        if (!sim_console(json, NULL)) {
            sim_fail("the console refuses %s", json);
        }
    }
    (void)snprintf(
        json, sizeof(json),
        "{\"op\":\"call\",\"product\":\"slb\",\"action\":\"CreateVServerGroup\",\"params\":{"
        "\"LoadBalancerId\":\"%s\",\"RegionId\":\"cn-hangzhou\",\"VServerGroupName\":"
        "\"theirs-%s\",\"BackendServers\":\"[{\\\"ServerId\\\":\\\"i-node-5\\\","
        "\\\"Port\\\":99,\\\"Weight\\\":7,\\\"Type\\\":\\\"ecs\\\"}]\"}}",
        id, name);
    group = world_call(json, "VServerGroupId");
    world_note_foreign(group);
    return id;
}

/* With a server group of theirs, which no listener uses. */
static char *world_make_nlb(const char *name)
{
    CCM_CLEANUP(ccm_freep) char *group = NULL;
    char *id = NULL;
    char json[1024];

    (void)snprintf(
        json, sizeof(json),
        "{\"op\":\"call\",\"product\":\"nlb\",\"action\":\"CreateLoadBalancer\",\"params\":{"
        "\"LoadBalancerName\":\"%s\",\"AddressType\":\"Internet\",\"VpcId\":\"vpc-test\","
        "\"RegionId\":\"cn-hangzhou\",\"ZoneMappings.1.ZoneId\":\"cn-hangzhou-h\","
        "\"ZoneMappings.1.VSwitchId\":\"vsw-a\",\"ZoneMappings.2.ZoneId\":\"cn-hangzhou-i\","
        "\"ZoneMappings.2.VSwitchId\":\"vsw-b\"}}",
        name);
    id = world_call(json, "LoadbalancerId");
    (void)snprintf(
        json, sizeof(json),
        "{\"op\":\"call\",\"product\":\"nlb\",\"action\":\"CreateServerGroup\",\"params\":{"
        "\"ServerGroupName\":\"theirs-%s\",\"VpcId\":\"vpc-test\",\"RegionId\":\"cn-hangzhou\"}}",
        name);
    group = world_call(json, "ServerGroupId");
    world_note_foreign(group);
    return id;
}

static void world_make_reusable(const char *product, char *(*make)(const char *name))
{
    for (unsigned i = 0; i < REUSABLE / 2; i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "reuse-%s%u", product, i);
        if (ccm_strmap_set(handles, name, make(name)) < 0) {
            abort();
        }
    }
}

static char *world_make_plain_clb(const char *name)
{
    return world_make_clb(name, "");
}

static void world_make_foreign(void)
{
    world_make_reusable("", world_make_plain_clb);
    world_make_reusable("nlb-", world_make_nlb);
    world_note_foreign(world_make_clb("theirs", "\"owner\":\"shop\""));
    (void)sim_control(SIM_CLOUD, "POST", "/_sim/instances",
                      "{\"instances\":[{\"id\":\"i-theirs\",\"vswitch\":\"vsw-a\"}]}", NULL);
    free(world_call(
        "{\"op\":\"call\",\"product\":\"vpc\",\"action\":\"CreateRouteEntry\",\"params\":{"
        "\"RouteTableId\":\"vtb-system\",\"DestinationCidrBlock\":\"" THEIR_NET "\","
        "\"NextHopType\":\"Instance\",\"NextHopId\":\"i-theirs\"}}",
        "RequestId"));
    world_note_foreign(THEIR_NET);
    world_note_foreign(world_make_clb("other-cluster",
                                      "\"" OWNER_TAG "\":\"a0123456789abcdef0123456789abcde\","
                                      "\"" CLUSTER_TAG "\":\"c-other\""));
}

static void world_make_node(unsigned number)
{
    char json[512];
    char path[128];

    (void)snprintf(
        json, sizeof(json),
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"node-%u\"},"
        "\"spec\":{\"providerID\":\"cn-hangzhou.i-node-%u\",\"podCIDR\":\"172.20.%u.0/24\"}}",
        number, number, number);
    (void)sim_kube("POST", "/api/v1/nodes", json, NULL); /* it may exist */
    (void)snprintf(path, sizeof(path), "/api/v1/nodes/node-%u/status", number);
    (void)sim_kube("PATCH", path,
                   "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
                   NULL);
}

/* --- files of the daemon --- */

static void world_write_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    FILE *file = NULL;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0 || chmod(path, 0600) < 0) {
        (void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
        _Exit(2);
    }
}

static void world_add_plugins(struct ccm_buf *text, const char *plugins, int audit_s)
{
    const char *at = plugins;
    const char *separator = "";

    ccm_buf_adds(text, "plugins = ( ");
    while (*at != '\0') {
        const size_t len = strcspn(at, ",");
        const bool is_lb = strncmp(at, "clb", len) == 0 || strncmp(at, "nlb", len) == 0;
        const bool is_gateway = strncmp(at, "gateway", len) == 0;

        ccm_buf_addf(text, "%s{ name = \"%.*s\"; ", separator, (int)len, at);
        if (is_lb || is_gateway) {
            ccm_buf_addf(text,
                         "workers = 4; backend_health = false; unserved_wait_s = 3600; "
                         "audit_interval_s = %d; ",
                         audit_s);
        }
        if (is_gateway) {
            ccm_buf_adds(text, "upload_certificates = true; ");
        }
        if (strncmp(at, "route", len) == 0) {
            ccm_buf_adds(text, "cluster_cidr = \"172.20.0.0/16\"; ");
        }
        ccm_buf_adds(text, "}");
        separator = ", ";
        at += len;
        at += *at == ',' ? 1 : 0;
    }
    ccm_buf_adds(text, " );\n");
}

static void world_write_files(const struct sim_world_options *options)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };
    static const char *const products[] = { "slb", "nlb",  "vpc", "ecs",
                                            "sts", "eflo", "cas", "metadata" };

    world_write_file(options->folder, "kubeconfig",
                     "apiVersion: v1\nkind: Config\nclusters:\n- name: sim\n  cluster:\n"
                     "    server: http://kube\ncontexts:\n- name: sim\n"
                     "  context: {cluster: sim, user: sim}\ncurrent-context: sim\nusers:\n"
                     "- name: sim\n  user: {}\n");
    ccm_buf_addf(
        &text,
        "plugin_dir = \"%s\";\nkubernetes: { kubeconfig = \"%s/kubeconfig\"; settle_s = 2; "
        "plain_http = true; };\nleader_election: { enabled = %s; };\n"
        "log: { level = \"info\"; };\nadmin: { listen = \"\"; };\n"
        "alicloud: { cluster_id = \"c-test\"; plain_http = true; endpoints: { ",
        options->plugin_dir, options->folder, options->elections ? "true" : "false");
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
        ccm_buf_addf(&text, "%s = \"http://cloud\"; ", products[i]);
    }
    ccm_buf_addf(&text,
                 "}; quotas: { slb_write = %u; slb_read = %u; nlb_write = %u; nlb_read = %u; "
                 "vpc = %u; ecs = %u; }; };\n",
                 90 * options->quota_percent / 100, 3000 * options->quota_percent / 100,
                 200 * options->quota_percent / 100, 1200 * options->quota_percent / 100,
                 300 * options->quota_percent / 100, 300 * options->quota_percent / 100);
    world_add_plugins(&text, options->plugins, options->audit_s);
    world_write_file(options->folder, "ccmd.conf", ccm_buf_str(&text));
    (void)snprintf(config_path, sizeof(config_path), "%s/ccmd.conf", options->folder);
}

/* Of nodes that join in histories, in the same order in each world: they have the same addresses.
 */
static void world_make_instances(void)
{
    char json[128];

    for (unsigned i = NODES; i < 20; i++) {
        (void)snprintf(json, sizeof(json),
                       "{\"instances\":[{\"id\":\"i-node-%u\",\"vswitch\":\"vsw-a\"}]}", i);
        (void)sim_control(SIM_CLOUD, "POST", "/_sim/instances", json, NULL); /* it is new */
    }
}

static void world_make(const struct sim_world_options *options)
{
    static const struct ccm_ks_options kube_options = {
        .history = HISTORY, .bookmark_ms = 60000, .event_ttl_ms = 3600000, .controllers = true
    };
    struct ccm_ks_cluster *kube = calloc(1, sizeof(*kube));
    struct ccm_cloud *cloud = ccm_cloud_new();
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { 0 };

    if (cloud == NULL || kube == NULL || ccm_ks_cluster_init(kube, &kube_options) < 0 ||
        ccm_json_parse(ccm_cloud_default_fixtures, strlen(ccm_cloud_default_fixtures), &json) < 0 ||
        ccm_cloud_fixtures_load(cloud, json, &why) < 0 ||
        ccm_cloud_accounts_set(cloud->accounts, "testAccessKeyId", SECRET, "", 0) < 0) {
        sim_fail("the world cannot begin: %s", ccm_buf_str(&why));
    }
    ccm_ks_store_jump(kube->store, FIRST_VERSION);
    sim_net.kube = kube;
    sim_net.cloud = cloud;
    world_make_foreign();
    world_make_instances();
    if (strstr(options->plugins, "gateway") != NULL) {
        sim_gateway_define();
    }
}

static struct sim_world_options world_options;

void sim_world_begin(const struct sim_world_options *options)
{
    world_options = *options;
    objects = ccm_strmap_new(free);
    handles = ccm_strmap_new(free);
    if (objects == NULL || handles == NULL) {
        abort();
    }
    world_write_files(options);
    (void)setenv("ACCESS_KEY_ID", "testAccessKeyId", 1); /* valid names, and so is the next */
    (void)setenv("ACCESS_KEY_SECRET", SECRET, 1);
    world_make(options);
    for (unsigned i = 1; i <= NODES; i++) {
        world_make_node(i);
    }
}

void sim_world_renew(void)
{
    foreign_count = 0;
    world_make(&world_options);
}

void sim_world_set_quota(unsigned percent, unsigned balancers)
{
    struct ccm_cloud *cloud = sim_net.cloud;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    ccm_cloud_quota_free(cloud->quota);
    cloud->quota = NULL;
    cloud->limits.load_balancers = balancers == 0 ? BALANCERS : balancers;
    cloud->limits.nlb_load_balancers = balancers == 0 ? BALANCERS : balancers;
    if (percent == 0) {
        return;
    }
    ccm_buf_addf(&text, "{\"scale\":%u.%02u}", percent / 100, percent % 100);
    cloud->quota = ccm_cloud_quota_new();
    if (cloud->quota == NULL || ccm_json_parse(ccm_buf_str(&text), text.len, &json) < 0 ||
        ccm_cloud_quota_load(cloud->quota, json, &why) < 0) {
        sim_fail("no quota of %u percent", percent);
    }
}

static char *kept_state;
/* The ranges of versions that API servers have had: each has one of its own. */
static uint64_t lowest_version = FIRST_VERSION;
static uint64_t highest_version = FIRST_VERSION;

void sim_world_keep(void)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = (size_t)256 * 1024 * 1024 };

    (void)sim_control(SIM_KUBE, "GET", "/_sim/state", NULL, &body);
    free(kept_state);
    kept_state = strdup(ccm_buf_str(&body));
}

/* What the history has created is what there is. */
static void world_count_objects(void)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = (size_t)64 * 1024 * 1024 };
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    char path[256];

    (void)sim_kube("GET", SERVICES, NULL, &body);
    if (ccm_json_parse(ccm_buf_str(&body), body.len, &json) < 0) {
        sim_fail("the list of Services cannot be read");
    }
    for (const cJSON *one = ccm_json_items(json, "items"); one != NULL; one = one->next) {
        (void)snprintf(path, sizeof(path), SERVICES "/%s",
                       ccm_json_text(ccm_json_get(one, "metadata"), "name"));
        if (!ccm_strmap_has(objects, path) && ccm_strmap_set(objects, path, strdup("80/TCP")) < 0) {
            abort();
        }
    }
}

void sim_world_replace(bool kept, bool ahead)
{
    struct ccm_ks_cluster *kube = sim_net.kube;

    if (!kept || kept_state == NULL) {
        sim_world_keep();
    }
    (void)sim_control(SIM_KUBE, "POST", "/_sim/watch", "{\"op\":\"drop\"}", NULL);
    kube->store = ccm_ks_store_new(HISTORY); /* what is open still looks at the old one */
    kube->progress = 0;
    if (kube->store == NULL) {
        abort();
    }
    ccm_ks_store_jump(kube->store,
                      ahead ? (highest_version += VERSIONS) : (lowest_version -= VERSIONS));
    if (sim_control(SIM_KUBE, "POST", "/_sim/restore", kept_state, NULL) != 200) {
        sim_fail("the API server cannot be replaced");
    }
    world_count_objects();
}

void sim_world_heal(void)
{
    char path[128];

    sim_world_set_quota(0, 0);
    for (unsigned i = 1; i <= NODES; i++) {
        world_make_node(i);
        (void)snprintf(path, sizeof(path), "/api/v1/nodes/node-%u", i);
        (void)sim_kube("PATCH", path,
                       "{\"metadata\":{\"labels\":{\"node.kubernetes.io/"
                       "exclude-from-external-load-balancers\":null}},\"spec\":"
                       "{\"unschedulable\":null}}",
                       NULL); /* it exists */
    }
}

bool sim_world_is_empty(void)
{
    void *cursor = NULL;
    const char *path = NULL;

    while (ccm_strmap_next(objects, &cursor, &path, NULL)) {
        if (strstr(path, "/endpointslices/") == NULL) {
            return false;
        }
    }
    return true;
}
