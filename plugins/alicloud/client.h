/*
 * Calls to Alibaba Cloud: parameters in, JSON out. Signing, credentials, endpoints, rate governing
 * and the retry of throttled and busy answers happen inside. One instance per process, shared by
 * all plugins that link this library.
 */
#ifndef CCM_ALICLOUD_CLIENT_H
#define CCM_ALICLOUD_CLIENT_H

#include "ccm/plugin.h"
#include "util/attr.h"
#include "util/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of everything else the linker script of the library exports nothing. */
#define ALI_API CCM_EXPORT

struct ali_client;

/*
 * The options of group "alicloud", to be listed in a plugin's own table:
 *     static const struct ccm_option *const options[] = { ALI_OPTIONS, &my_option, NULL };
 * Meaning of each: its `help`, see options.c.
 */
extern ALI_API const struct ccm_option ali_opt_region;
extern ALI_API const struct ccm_option ali_opt_vpc_id;
extern ALI_API const struct ccm_option ali_opt_vswitch_ids;
extern ALI_API const struct ccm_option ali_opt_cluster_id;
extern ALI_API const struct ccm_option ali_opt_resource_group_id;
extern ALI_API const struct ccm_option ali_opt_network;
extern ALI_API const struct ccm_option ali_opt_signature;
extern ALI_API const struct ccm_option ali_opt_credentials_source;
extern ALI_API const struct ccm_option ali_opt_credentials_file;
extern ALI_API const struct ccm_option ali_opt_credentials_addon_file;
extern ALI_API const struct ccm_option ali_opt_credentials_role_arn;
extern ALI_API const struct ccm_option ali_opt_credentials_role_session_name;
extern ALI_API const struct ccm_option ali_opt_credentials_oidc_provider_arn;
extern ALI_API const struct ccm_option ali_opt_credentials_oidc_token_file;
extern ALI_API const struct ccm_option ali_opt_ca_file;
extern ALI_API const struct ccm_option ali_opt_endpoint_slb;
extern ALI_API const struct ccm_option ali_opt_endpoint_nlb;
extern ALI_API const struct ccm_option ali_opt_endpoint_vpc;
extern ALI_API const struct ccm_option ali_opt_endpoint_ecs;
extern ALI_API const struct ccm_option ali_opt_endpoint_sts;
extern ALI_API const struct ccm_option ali_opt_endpoint_metadata;
extern ALI_API const struct ccm_option ali_opt_quota_slb_write;
extern ALI_API const struct ccm_option ali_opt_quota_slb_read;
extern ALI_API const struct ccm_option ali_opt_quota_nlb_write;
extern ALI_API const struct ccm_option ali_opt_quota_nlb_read;
extern ALI_API const struct ccm_option ali_opt_quota_vpc;
extern ALI_API const struct ccm_option ali_opt_quota_ecs;
extern ALI_API const struct ccm_option ali_opt_job_poll;

#define ALI_OPTIONS                                                                                \
    &ali_opt_region, &ali_opt_vpc_id, &ali_opt_vswitch_ids, &ali_opt_cluster_id,                   \
        &ali_opt_resource_group_id, &ali_opt_network, &ali_opt_signature,                          \
        &ali_opt_credentials_source, &ali_opt_credentials_file, &ali_opt_credentials_addon_file,   \
        &ali_opt_credentials_role_arn, &ali_opt_credentials_role_session_name,                     \
        &ali_opt_credentials_oidc_provider_arn, &ali_opt_credentials_oidc_token_file,              \
        &ali_opt_ca_file, &ali_opt_endpoint_slb, &ali_opt_endpoint_nlb, &ali_opt_endpoint_vpc,     \
        &ali_opt_endpoint_ecs, &ali_opt_endpoint_sts, &ali_opt_endpoint_metadata,                  \
        &ali_opt_quota_slb_write, &ali_opt_quota_slb_read, &ali_opt_quota_nlb_write,               \
        &ali_opt_quota_nlb_read, &ali_opt_quota_vpc, &ali_opt_quota_ecs, &ali_opt_job_poll

/*
 * The instance, reference-counted. acquire() does no I/O (call it in create()); configuration
 * errors are CCM_ERROR_TERMINAL and name the option. `host` is the caller's own and is used for the
 * calls it makes.
 */
CCM_NODISCARD ALI_API int ali_acquire(const struct ccm_host *host, struct ali_client **ret,
                                      struct ccm_error *err);
ALI_API void ali_release(struct ali_client *ali);

/*
 * Find what the configuration leaves out (region, VPC, vSwitch from the metadata service) and a
 * first credential. Blocks; call it in start(). Any plugin may call it again: done once, later
 * calls return the first result or try again.
 */
CCM_NODISCARD ALI_API int ali_start(struct ali_client *ali, const struct ccm_host *host,
                                    struct ccm_error *err);

/* Facts about the cluster; valid after ali_start(), borrowed, "" when unknown. */
ALI_API const char *ali_region(const struct ali_client *ali);
ALI_API const char *ali_vpc_id(const struct ali_client *ali);
ALI_API const char *ali_cluster_id(const struct ali_client *ali);
ALI_API const char *ali_resource_group_id(const struct ali_client *ali);
/* NULL-terminated list of vSwitch ids, zones stripped ("zone:vsw" and "vsw" are both accepted). */
ALI_API const char *const *ali_vswitch_ids(const struct ali_client *ali);

/* Parameters of one call: an ordered list with sticky failure. Zeroed = empty. */
struct ali_param {
    char *name;
    char *value;
};
struct ali_params {
    struct ali_param *items;
    size_t len;
    size_t cap;
    int error;
};

/* Append a copy. Empty values are sent; a NULL value appends nothing. */
ALI_API void ali_param_add(struct ali_params *params, const char *name, const char *value);
/* The same unless the value is NULL or "". */
ALI_API void ali_param_opt(struct ali_params *params, const char *name, const char *value);
ALI_API void ali_param_i64(struct ali_params *params, const char *name, int64_t value);
/* One of a list: "<name>.<n>"; n counts from 1. */
ALI_API void ali_param_item(struct ali_params *params, const char *name, size_t n,
                            const char *value);
/* "Tag.<n>.Key" / "Tag.<n>.Value"; n counts from 1. */
ALI_API void ali_param_tag(struct ali_params *params, size_t n, const char *key, const char *value);
ALI_API void ali_params_fini(struct ali_params *params);

enum ali_product { ALI_SLB, ALI_NLB, ALI_VPC, ALI_ECS, ALI_STS };

/* Who goes first when the governor has to hold calls back; in this order. */
enum ali_priority {
    ALI_PRIO_REMOVE, /* backend removal, deletion */
    ALI_PRIO_NEW,    /* new load balancers */
    ALI_PRIO_SPEC,
    ALI_PRIO_BULK, /* mass node changes */
    ALI_PRIO_AUDIT,
};

/* May the call be repeated when nobody knows whether it ran? */
enum ali_repeat {
    ALI_READ,       /* it changes nothing */
    ALI_IDEMPOTENT, /* running it twice is as good as once; includes a ClientToken */
    ALI_ONCE,       /* not repeated: the caller looks at the state again */
};

struct ali_call {
    enum ali_product product;
    const char *action;
    const struct ali_params *params; /* in the form body; may be NULL */
    const struct ali_params *query;  /* those that an action takes in the query string */
    enum ali_priority priority;
    enum ali_repeat repeat;
    const char *object; /* for log lines; may be NULL */
    /* The resource that a change is about, when it takes one change at a time (pace.h, this
     * folder); NULL = none. */
    const char *paced;
};

/*
 * One call. Blocks up to the deadline of the request (req NULL: 60 s). Inside: rate budget by
 * priority, jittered retry of throttling and busy codes and, as `repeat` allows, of transport
 * failures and 5xx; one fresh signature per try; one credential refresh after a credential error.
 *
 * 0: *ret is the answer (the caller frees it with cJSON_Delete; may be NULL if not wanted).
 * Negative: err->code, err->request_id and err->http_status as the cloud gave them, err->message is
 * "{Action}: {Code}: {Message} (RequestId {id})", err->kind by the table of error.h (this folder).
 * *ret_uncertain (may be NULL) tells whether the cloud may have executed a call that failed.
 * In a dry run (host->dry_run()) whatever is not ALI_READ is a CCM_ERROR_CANCELLED, and no
 * call.
 */
CCM_NODISCARD ALI_API int ali_call(struct ali_client *ali, const struct ccm_host *host,
                                   const struct ccm_request *req, const struct ali_call *call,
                                   cJSON **ret, bool *ret_uncertain, struct ccm_error *err);

#endif
