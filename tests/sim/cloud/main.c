#include "cloud.h"
#include "common/options.h"
#include "common/server.h"
#include "fixtures.h"
#include "limit.h"
#include "quota.h"
#include "service.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FIXTURES_MAX ((size_t)64 * 1024 * 1024)

enum {
    KEY_FIXTURES = 0x2000,
    KEY_ACCESS_KEY,
    KEY_LIMIT,
    KEY_QUOTA,
    KEY_SLB_BUSY,
    KEY_ROUTE_MS,
    KEY_METADATA_V2,
    KEY_BACKENDS_PER_CALL,
    KEY_JOB_MS,
    KEY_STRICT,
    KEY_LISTENER_MS,
    KEY_BUSY_READS,
    KEY_TAG_LAG
};

struct arguments {
    struct ccm_sim_options common;
    const char *fixtures;
    const char *access_key;
    const char *quota; /* "off", "real" or a file */
    bool metadata_v2;
    struct ccm_cloud *cloud; /* borrowed: limits go straight to it */
};

static const struct argp_option options[] = {
    { "fixtures", KEY_FIXTURES, "FILE", 0, "JSON file with the world to start with", 0 },
    { "access-key", KEY_ACCESS_KEY, "ID:SECRET", 0,
      "Key that requests are signed with (default testAccessKeyId:testAccessKeySecret)", 0 },
    { "limit", KEY_LIMIT, "NAME=N", 0,
      "Change a limit: load-balancers, listeners, backends, backends-per-call, vserver-groups, "
      "acls, acl-entries, domain-extensions, routes, routes-per-call, route-tables, eips, "
      "security-groups, "
      "security-rules, description, nlb-load-balancers, nlb-listeners, nlb-servers, "
      "nlb-server-groups, nlb-server-uses, nlb-job-ids, nlb-job-keep-s, nlb-drain-percent, "
      "token-life-s, route-page, "
      "and "
      "as 0 or 1 slb-modify-atomic, slb-set-description, slb-add-updates, acl-off-keeps",
      0 },
    { "slb-backends-per-call", KEY_BACKENDS_PER_CALL, "N", 0,
      "Backends that one call of SLB takes (default 40)", 0 },
    { "quota", KEY_QUOTA, "off|real|FILE", 0,
      "Rates: none (default), the published ones, or those changed by a JSON file", 0 },
    { "slb-busy-ms", KEY_SLB_BUSY, "N", 0,
      "How long a load balancer of SLB is busy after a change (default 0)", 0 },
    { "slb-busy-reads", KEY_BUSY_READS, NULL, 0,
      "A busy load balancer of SLB refuses Describe...ListenerAttribute too", 0 },
    { "slb-listener-ms", KEY_LISTENER_MS, "N", 0,
      "How long a listener of SLB is starting, stopping or configuring (default 0)", 0 },
    { "route-ms", KEY_ROUTE_MS, "N", 0,
      "How long a change of routes takes, during which others are refused (default 0)", 0 },
    { "metadata-v2", KEY_METADATA_V2, NULL, 0,
      "The metadata service wants session tokens, whatever the fixtures say", 0 },
    { "strict", KEY_STRICT, NULL, 0,
      "SLB takes no more than the pages of its API say: 20 backends per call, 80 characters of "
      "names and descriptions, no scheduler wlc",
      0 },
    { "tag-lag-ms", KEY_TAG_LAG, "N", 0,
      "How long lists by tags do not show what is new; reads by id and by name do (default 0)", 0 },
    { "job-ms", KEY_JOB_MS, "N", 0, "How long jobs of NLB take (default 0: until the next call)",
      0 },
    { 0 },
};

static void limit_set(const char *arg, struct ccm_cloud_limits *limits, struct argp_state *state)
{
    size_t len = strcspn(arg, "=");
    uint32_t *value = ccm_cloud_limit_find(limits, arg, len);

    if (value == NULL || arg[len] == '\0' ||
        ccm_parse_u32(arg + len + 1, 0, CCM_CLOUD_LIMIT_MAX, value) < 0) {
        argp_error(state, "--limit: '%s' is no known limit with a number", arg);
    }
}

static void ms_set(const char *arg, const char *name, uint32_t *value, struct argp_state *state)
{
    if (ccm_parse_u32(arg, 0, 3600000, value) < 0) {
        argp_error(state, "--%s: '%s' is not a number from 0 to 3600000", name, arg);
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *out = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &out->common;
        return 0;
    case KEY_FIXTURES:
        out->fixtures = arg;
        return 0;
    case KEY_ACCESS_KEY:
        if (strchr(arg, ':') == NULL || arg[0] == ':' || arg[strlen(arg) - 1] == ':') {
            argp_error(state, "--access-key: must be ID:SECRET");
        }
        out->access_key = arg;
        return 0;
    case KEY_LIMIT:
        limit_set(arg, &out->cloud->limits, state);
        return 0;
    case KEY_BACKENDS_PER_CALL:
        if (ccm_parse_u32(arg, 1, 1000000, &out->cloud->limits.backends_per_call) < 0) {
            argp_error(state, "--slb-backends-per-call: '%s' is not a number from 1 to 1000000",
                       arg);
        }
        return 0;
    case KEY_QUOTA:
        out->quota = arg;
        return 0;
    case KEY_SLB_BUSY:
        ms_set(arg, "slb-busy-ms", &out->cloud->limits.slb_busy_ms, state);
        return 0;
    case KEY_BUSY_READS:
        out->cloud->limits.busy_reads = 1;
        return 0;
    case KEY_LISTENER_MS:
        ms_set(arg, "slb-listener-ms", &out->cloud->limits.listener_ms, state);
        return 0;
    case KEY_ROUTE_MS:
        ms_set(arg, "route-ms", &out->cloud->limits.route_ms, state);
        return 0;
    case KEY_STRICT:
        out->cloud->limits.strict = true;
        out->cloud->limits.backends_per_call = 20;
        out->cloud->limits.description = 80;
        return 0;
    case KEY_METADATA_V2:
        out->metadata_v2 = true;
        return 0;
    case KEY_JOB_MS:
        ms_set(arg, "job-ms", &out->cloud->limits.job_ms, state);
        return 0;
    case KEY_TAG_LAG:
        ms_set(arg, "tag-lag-ms", &out->cloud->limits.tag_lag_ms, state);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is not expected", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int key_add(struct ccm_cloud *cloud, const char *text)
{
    CCM_CLEANUP(ccm_freep) char *id = strdup(text);

    if (id == NULL) {
        return -ENOMEM;
    }

    char *colon = strchr(id, ':');

    *colon = '\0';
    return ccm_cloud_accounts_set(cloud->accounts, id, colon + 1, "", 0);
}

static int world_load(struct ccm_cloud *cloud, const char *path)
{
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { 0 };
    const char *source = ccm_cloud_default_fixtures;
    size_t len = strlen(source);
    int r = 0;

    if (path != NULL) {
        r = ccm_text_read_file(path, FIXTURES_MAX, &text, &len);
        source = text;
    }
    if (r < 0) {
        (void)fprintf(stderr, "%s: %s\n", path, strerror(-r));
        return r;
    }
    if (ccm_json_parse(source, len, &json) < 0) {
        (void)fprintf(stderr, "%s: not JSON\n", path);
        return -EBADMSG;
    }
    r = ccm_cloud_fixtures_load(cloud, json, &why);
    if (r < 0) {
        (void)fprintf(stderr, "%s: %s\n", path, ccm_buf_str(&why));
    }
    return r;
}

static int quota_load(struct ccm_cloud *cloud, const char *mode)
{
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { 0 };
    size_t len = 0;
    int r = 0;

    if (ccm_text_equal(mode, "off")) {
        return 0;
    }
    cloud->quota = ccm_cloud_quota_new();
    if (cloud->quota == NULL) {
        return -ENOMEM;
    }
    if (ccm_text_equal(mode, "real")) {
        return 0;
    }
    r = ccm_text_read_file(mode, FIXTURES_MAX, &text, &len);
    if (r < 0) {
        (void)fprintf(stderr, "%s: %s\n", mode, strerror(-r));
        return r;
    }
    if (ccm_json_parse(text, len, &json) < 0) {
        (void)fprintf(stderr, "%s: not JSON\n", mode);
        return -EBADMSG;
    }
    r = ccm_cloud_quota_load(cloud->quota, json, &why);
    if (r < 0) {
        (void)fprintf(stderr, "%s: %s\n", mode, ccm_buf_str(&why));
    }
    return r;
}

int main(int argc, char **argv)
{
    static const struct argp_child children[] = { { &ccm_sim_argp, 0, NULL, 0 }, { 0 } };
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Plays the cloud APIs of SLB, NLB, ECS, VPC, STS and CAS, and the metadata service.",
        .children = children,
    };
    CCM_CLEANUP(ccm_cloud_freep) struct ccm_cloud *cloud = ccm_cloud_new();
    struct arguments arguments = {
        .access_key = "testAccessKeyId:testAccessKeySecret",
        .quota = "off",
        .cloud = cloud,
    };

    if (cloud == NULL) {
        (void)fprintf(stderr, "out of memory\n");
        return 1;
    }
    argp_err_exit_status = CCM_SIM_EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0 ||
        key_add(cloud, arguments.access_key) < 0 || world_load(cloud, arguments.fixtures) < 0 ||
        quota_load(cloud, arguments.quota) < 0) {
        return 1;
    }
    if (arguments.metadata_v2) {
        cloud->metadata.token_required = true;
    }

    const struct ccm_sim_config config = {
        .listen = arguments.common.listen,
        .at_once = true,
        .latency_ms = arguments.common.latency_ms,
        .log_max = arguments.common.log_max,
        .ops = &ccm_cloud_ops,
        .self = cloud,
    };

    return ccm_sim_server_run(&config, NULL);
}
