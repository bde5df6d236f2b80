/* The options of group "alicloud". */
#include "alicloud/options.h"
#include "alicloud/client.h"

#define TEXT_OPTION(symbol, key, default_text, choices, words)                                     \
    const struct ccm_option ali_opt_##symbol = {                                                   \
        .struct_size = sizeof(struct ccm_option),                                                  \
        .type = CCM_OPTION_STRING,                                                                 \
        .group = "alicloud",                                                                       \
        .name = key,                                                                               \
        .fallback = default_text,                                                                  \
        .values = choices,                                                                         \
        .help = words,                                                                             \
    }

/* What it takes is TLS, or plain_http. */
#define ENDPOINT_OPTION(symbol, key, default_text, taken, words)                                   \
    const struct ccm_option ali_opt_##symbol = {                                                   \
        .struct_size = sizeof(struct ccm_option),                                                  \
        .type = CCM_OPTION_STRING,                                                                 \
        .group = "alicloud",                                                                       \
        .name = key,                                                                               \
        .fallback = default_text,                                                                  \
        .pattern = taken,                                                                          \
        .unless = "plain_http",                                                                    \
        .help = words,                                                                             \
    }
#define WITH_TLS "(https://)?([^:]|:[^/])*"

#define PATH_OPTION_AT(symbol, key, default_text, words)                                           \
    const struct ccm_option ali_opt_##symbol = {                                                   \
        .struct_size = sizeof(struct ccm_option),                                                  \
        .type = CCM_OPTION_PATH,                                                                   \
        .group = "alicloud",                                                                       \
        .name = key,                                                                               \
        .fallback = default_text,                                                                  \
        .help = words,                                                                             \
    }
#define PATH_OPTION(symbol, key, words) PATH_OPTION_AT(symbol, key, NULL, words)

#define QUOTA_OPTION(symbol, key, default_text, words)                                             \
    const struct ccm_option ali_opt_##symbol = {                                                   \
        .struct_size = sizeof(struct ccm_option),                                                  \
        .type = CCM_OPTION_INT,                                                                    \
        .flags = CCM_OPTION_LIVE,                                                                  \
        .group = "alicloud",                                                                       \
        .name = key,                                                                               \
        .fallback = default_text,                                                                  \
        .min = 2,                                                                                  \
        .max = 1000000,                                                                            \
        .help = words,                                                                             \
    }

TEXT_OPTION(region, "region", "", NULL,
            "Region of the cluster, such as cn-hangzhou; empty: asked from the metadata service.");
TEXT_OPTION(vpc_id, "vpc_id", "", NULL,
            "VPC of the cluster; empty: asked from the metadata service.");
const struct ccm_option ali_opt_vswitch_ids = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRINGS,
    .group = "alicloud",
    .name = "vswitch_ids",
    .help = "vSwitches for internal load balancers, each as \"vsw-id\" or \"zone:vsw-id\", the "
            "first one is the default; empty: asked from the metadata service, unless vpc_id is "
            "set.",
};
/* Without default: two clusters that both use one would take each other's resources for their own.
 */
const struct ccm_option ali_opt_cluster_id = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .flags = CCM_OPTION_REQUIRED,
    .group = "alicloud",
    .name = "cluster_id",
    .pattern = "[A-Za-z0-9_-]{1,64}", /* a '/' or '.' would end it in a name that holds it */
    .help =
        "Unique id of the cluster, part of tags, names and descriptions in the cloud; a cluster "
        "that the reference controller ran keeps the value of its clusterID (\"clusterid\" "
        "when it had none).",
};
TEXT_OPTION(resource_group_id, "resource_group_id", "", NULL,
            "Resource group of what is created; empty: the account's default group.");
TEXT_OPTION(network, "network", "vpc", "vpc|public",
            "Which endpoints to call: vpc (reachable from inside a VPC) or public.");
const struct ccm_option ali_opt_signature =
    CCM_OPTION_RETIRED_ROW("alicloud", "signature", "requests are always signed with v3");
TEXT_OPTION(credentials_source, "credentials.source", "auto", "auto|env|file|addon|oidc|ram-role",
            "Where credentials come from: env (ACCESS_KEY_ID, ACCESS_KEY_SECRET and, if there is "
            "one, SECURITY_TOKEN), file, addon (the token file of managed clusters), oidc (a role "
            "for the service account of the pod), ram-role (of the instance, by metadata), or "
            "auto: the first of file, addon, env, oidc, ram-role that is set up.");
PATH_OPTION(credentials_file, "credentials.file",
            "JSON file with access_key_id, access_key_secret and optionally security_token and "
            "expiration; read again when it changes.");
PATH_OPTION_AT(credentials_addon_file, "credentials.addon_file", "/var/addon/token-config",
               "Encrypted token file that managed clusters mount.");
TEXT_OPTION(credentials_role_arn, "credentials.role_arn", "", NULL,
            "Role to take on (acs:ram::ACCOUNT:role/NAME): with source oidc the role of the "
            "token, else by AssumeRole with the credential of the source; empty: none, for oidc "
            "the environment variable ALIBABA_CLOUD_ROLE_ARN.");
TEXT_OPTION(credentials_role_session_name, "credentials.role_session_name", "ccmd", NULL,
            "Name of the session in that role, as audit logs of the cloud show it.");
TEXT_OPTION(credentials_oidc_provider_arn, "credentials.oidc_provider_arn", "", NULL,
            "Identity provider of the cluster (acs:ram::ACCOUNT:oidc-provider/NAME); empty: the "
            "environment variable ALIBABA_CLOUD_OIDC_PROVIDER_ARN.");
PATH_OPTION(credentials_oidc_token_file, "credentials.oidc_token_file",
            "Token of the service account, read at each use; empty: the environment variable "
            "ALIBABA_CLOUD_OIDC_TOKEN_FILE.");
PATH_OPTION(ca_file, "ca_file",
            "PEM bundle that cloud endpoints are verified with; empty: the system's.");
const struct ccm_option ali_opt_plain_http = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .group = "alicloud",
    .name = "plain_http",
    .fallback = "false",
    .help = "Take endpoints without TLS (http://, ALICLOUD_CLIENT_SCHEME=HTTP), and a metadata "
            "service elsewhere than at a link-local address: everybody on the way can read "
            "credentials and change what is done. For simulators.",
};
ENDPOINT_OPTION(endpoint_slb, "endpoints.slb", "", WITH_TLS,
                "Endpoint of CLB as [scheme://]host[:port]; empty: by region and network. The "
                "environment variable SLB_ENDPOINT wins.");
ENDPOINT_OPTION(endpoint_nlb, "endpoints.nlb", "", WITH_TLS,
                "Endpoint of NLB; the environment variable NLB_ENDPOINT wins.");
ENDPOINT_OPTION(endpoint_vpc, "endpoints.vpc", "", WITH_TLS,
                "Endpoint of VPC; the environment variable VPC_ENDPOINT wins.");
ENDPOINT_OPTION(endpoint_ecs, "endpoints.ecs", "", WITH_TLS,
                "Endpoint of ECS; the environment variable ECS_ENDPOINT wins.");
ENDPOINT_OPTION(endpoint_sts, "endpoints.sts", "", WITH_TLS,
                "Endpoint of STS; the environment variable STS_ENDPOINT wins.");
ENDPOINT_OPTION(endpoint_eflo, "endpoints.eflo", "", WITH_TLS,
                "Endpoint of Lingjun; the environment variable EFLO_ENDPOINT wins.");
ENDPOINT_OPTION(endpoint_cas, "endpoints.cas", "", WITH_TLS,
                "Endpoint of the certificate service; empty: cas.aliyuncs.com, also with network "
                "vpc. The environment variable CAS_ENDPOINT wins.");
ENDPOINT_OPTION(
    endpoint_metadata, "endpoints.metadata", "http://100.100.100.200",
    "https://.*|(http://)?(100\\.100\\.100\\.200|169\\.254\\.[0-9.]+)(:[0-9]+)?/?",
    "Metadata service of the instance; the environment variable METADATA_ENDPOINT wins.");
QUOTA_OPTION(quota_slb_write, "quotas.slb_write", "90",
             "Calls per 60 s that each changing action of CLB may make.");
QUOTA_OPTION(quota_slb_read, "quotas.slb_read", "3000",
             "Calls per 60 s that each reading action of CLB may make.");
QUOTA_OPTION(quota_nlb_write, "quotas.nlb_write", "200",
             "Calls per 60 s that each changing action of NLB may make.");
QUOTA_OPTION(quota_nlb_read, "quotas.nlb_read", "1200",
             "Calls per 60 s that each reading action of NLB may make.");
QUOTA_OPTION(quota_vpc, "quotas.vpc", "300", "Calls per 60 s that each action of VPC may make.");
QUOTA_OPTION(quota_ecs, "quotas.ecs", "300", "Calls per 60 s that each action of ECS may make.");
const struct ccm_option ali_opt_quota_window =
    CCM_OPTION_RETIRED_ROW("alicloud", "quotas.window_s", "it is 60 s");
const struct ccm_option ali_opt_quota_grow = CCM_OPTION_RETIRED_ROW(
    "alicloud", "quotas.grow", "set the account's quotas in the other options of alicloud.quotas");
const struct ccm_option ali_opt_job_poll =
    CCM_OPTION_RETIRED_ROW("alicloud", "job_poll_ms", "it is 2200 ms");
