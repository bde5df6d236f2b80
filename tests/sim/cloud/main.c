#include "cloud.h"
#include "common/options.h"
#include "common/server.h"
#include "fixtures.h"
#include "service.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FIXTURES_MAX ((size_t)64 * 1024 * 1024)

enum { KEY_FIXTURES = 0x2000, KEY_ACCESS_KEY, KEY_LIMIT, KEY_BACKENDS_PER_CALL };

struct arguments {
    struct ccm_sim_options common;
    const char *fixtures;
    const char *access_key;
    struct ccm_cloud *cloud; /* borrowed: limits go straight to it */
};

static const struct argp_option options[] = {
    { "fixtures", KEY_FIXTURES, "FILE", 0, "JSON file with the world to start with", 0 },
    { "access-key", KEY_ACCESS_KEY, "ID:SECRET", 0,
      "Key that requests are signed with (default testAccessKeyId:testAccessKeySecret)", 0 },
    { "limit", KEY_LIMIT, "NAME=N", 0,
      "Change a limit: load-balancers, listeners, backends, backends-per-call, vserver-groups", 0 },
    { "slb-backends-per-call", KEY_BACKENDS_PER_CALL, "N", 0,
      "Backends that one call of SLB takes (default 40)", 0 },
    { 0 },
};

static uint32_t *limit_find(struct ccm_cloud_limits *limits, const char *name, size_t len)
{
    const struct {
        const char *name;
        uint32_t *value;
    } rows[] = {
        { "load-balancers", &limits->load_balancers },
        { "listeners", &limits->listeners },
        { "backends", &limits->backends },
        { "backends-per-call", &limits->backends_per_call },
        { "vserver-groups", &limits->vserver_groups },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        if (strlen(rows[i].name) == len && strncmp(rows[i].name, name, len) == 0) {
            return rows[i].value;
        }
    }
    return NULL;
}

static void limit_set(const char *arg, struct ccm_cloud_limits *limits, struct argp_state *state)
{
    size_t len = strcspn(arg, "=");
    uint32_t *value = limit_find(limits, arg, len);

    if (value == NULL || arg[len] == '\0' ||
        ccm_parse_u32(arg + len + 1, 0, 1000000000, value) < 0) {
        argp_error(state, "--limit: '%s' is no known limit with a number", arg);
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

int main(int argc, char **argv)
{
    static const struct argp_child children[] = { { &ccm_sim_argp, 0, NULL, 0 }, { 0 } };
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Plays the cloud APIs of SLB, ECS and VPC and the metadata service.",
        .children = children,
    };
    CCM_CLEANUP(ccm_cloud_freep) struct ccm_cloud *cloud = ccm_cloud_new();
    struct arguments arguments = {
        .access_key = "testAccessKeyId:testAccessKeySecret",
        .cloud = cloud,
    };

    if (cloud == NULL) {
        (void)fprintf(stderr, "out of memory\n");
        return 1;
    }
    argp_err_exit_status = CCM_SIM_EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0 ||
        key_add(cloud, arguments.access_key) < 0 || world_load(cloud, arguments.fixtures) < 0) {
        return 1;
    }

    const struct ccm_sim_config config = {
        .listen = arguments.common.listen,
        .latency_ms = arguments.common.latency_ms,
        .log_max = arguments.common.log_max,
        .ops = &ccm_cloud_ops,
        .self = cloud,
    };

    return ccm_sim_server_run(&config, NULL);
}
