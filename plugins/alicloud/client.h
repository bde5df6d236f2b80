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
#define CCM_ALI_API CCM_EXPORT

struct ccm_ali;

/*
 * The options of group "alicloud", to be listed in a plugin's own table:
 *     static const struct ccm_option *const options[] = { CCM_ALI_OPTIONS, &my_option, NULL };
 * Meaning of each: its `help`, see options.c.
 */
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_region;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_vpc_id;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_vswitch_ids;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_cluster_id;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_resource_group_id;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_network;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_signature;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_credentials_source;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_credentials_file;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_credentials_addon_file;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_credentials_role_arn;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_credentials_role_session_name;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_credentials_oidc_provider_arn;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_credentials_oidc_token_file;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_ca_file;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_endpoint_slb;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_endpoint_nlb;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_endpoint_vpc;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_endpoint_ecs;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_endpoint_sts;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_endpoint_metadata;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_quota_slb_write;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_quota_slb_read;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_quota_nlb_write;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_quota_nlb_read;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_quota_vpc;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_quota_ecs;
extern CCM_ALI_API const struct ccm_option ccm_ali_opt_job_poll;

#define CCM_ALI_OPTIONS                                                                            \
    &ccm_ali_opt_region, &ccm_ali_opt_vpc_id, &ccm_ali_opt_vswitch_ids, &ccm_ali_opt_cluster_id,   \
        &ccm_ali_opt_resource_group_id, &ccm_ali_opt_network, &ccm_ali_opt_signature,              \
        &ccm_ali_opt_credentials_source, &ccm_ali_opt_credentials_file,                            \
        &ccm_ali_opt_credentials_addon_file, &ccm_ali_opt_credentials_role_arn,                    \
        &ccm_ali_opt_credentials_role_session_name, &ccm_ali_opt_credentials_oidc_provider_arn,    \
        &ccm_ali_opt_credentials_oidc_token_file, &ccm_ali_opt_ca_file, &ccm_ali_opt_endpoint_slb, \
        &ccm_ali_opt_endpoint_nlb, &ccm_ali_opt_endpoint_vpc, &ccm_ali_opt_endpoint_ecs,           \
        &ccm_ali_opt_endpoint_sts, &ccm_ali_opt_endpoint_metadata, &ccm_ali_opt_quota_slb_write,   \
        &ccm_ali_opt_quota_slb_read, &ccm_ali_opt_quota_nlb_write, &ccm_ali_opt_quota_nlb_read,    \
        &ccm_ali_opt_quota_vpc, &ccm_ali_opt_quota_ecs, &ccm_ali_opt_job_poll

/*
 * The instance, reference-counted. acquire() does no I/O (call it in create()); configuration
 * errors are CCM_ERROR_TERMINAL and name the option. `host` is the caller's own and is used for the
 * calls it makes.
 */
CCM_NODISCARD CCM_ALI_API int ccm_ali_acquire(const struct ccm_host *host, struct ccm_ali **ret,
                                              struct ccm_error *err);
CCM_ALI_API void ccm_ali_release(struct ccm_ali *ali);

/*
 * Find what the configuration leaves out (region, VPC, vSwitch from the metadata service) and a
 * first credential. Blocks; call it in start(). Any plugin may call it again: done once, later
 * calls return the first result or try again.
 */
CCM_NODISCARD CCM_ALI_API int ccm_ali_start(struct ccm_ali *ali, const struct ccm_host *host,
                                            struct ccm_error *err);

/* Facts about the cluster; valid after ccm_ali_start(), borrowed, "" when unknown. */
CCM_ALI_API const char *ccm_ali_region(const struct ccm_ali *ali);
CCM_ALI_API const char *ccm_ali_vpc_id(const struct ccm_ali *ali);
CCM_ALI_API const char *ccm_ali_cluster_id(const struct ccm_ali *ali);
CCM_ALI_API const char *ccm_ali_resource_group_id(const struct ccm_ali *ali);
/* NULL-terminated list of vSwitch ids, zones stripped ("zone:vsw" and "vsw" are both accepted). */
CCM_ALI_API const char *const *ccm_ali_vswitch_ids(const struct ccm_ali *ali);

/* Parameters of one call: an ordered list with sticky failure. Zeroed = empty. */
struct ccm_ali_param {
    char *name;
    char *value;
};
struct ccm_ali_params {
    struct ccm_ali_param *items;
    size_t len;
    size_t cap;
    int error;
};

/* Append a copy. Empty values are sent; a NULL value appends nothing. */
CCM_ALI_API void ccm_ali_param_add(struct ccm_ali_params *params, const char *name,
                                   const char *value);
/* The same unless the value is NULL or "". */
CCM_ALI_API void ccm_ali_param_opt(struct ccm_ali_params *params, const char *name,
                                   const char *value);
CCM_ALI_API void ccm_ali_param_i64(struct ccm_ali_params *params, const char *name, int64_t value);
/* One of a list: "<name>.<n>"; n counts from 1. */
CCM_ALI_API void ccm_ali_param_item(struct ccm_ali_params *params, const char *name, size_t n,
                                    const char *value);
/* "Tag.<n>.Key" / "Tag.<n>.Value"; n counts from 1. */
CCM_ALI_API void ccm_ali_param_tag(struct ccm_ali_params *params, size_t n, const char *key,
                                   const char *value);
CCM_ALI_API void ccm_ali_params_fini(struct ccm_ali_params *params);

enum ccm_ali_product { CCM_ALI_SLB, CCM_ALI_NLB, CCM_ALI_VPC, CCM_ALI_ECS, CCM_ALI_STS };

/* Who goes first when the governor has to hold calls back; in this order. */
enum ccm_ali_priority {
    CCM_ALI_PRIO_REMOVE, /* backend removal, deletion */
    CCM_ALI_PRIO_NEW,    /* new load balancers */
    CCM_ALI_PRIO_SPEC,
    CCM_ALI_PRIO_BULK, /* mass node changes */
    CCM_ALI_PRIO_AUDIT,
};

/* May the call be repeated when nobody knows whether it ran? */
enum ccm_ali_repeat {
    CCM_ALI_READ,       /* it changes nothing */
    CCM_ALI_IDEMPOTENT, /* running it twice is as good as once; includes a ClientToken */
    CCM_ALI_ONCE,       /* not repeated: the caller looks at the state again */
};

struct ccm_ali_call {
    enum ccm_ali_product product;
    const char *action;
    const struct ccm_ali_params *params; /* in the form body; may be NULL */
    const struct ccm_ali_params *query;  /* those that an action takes in the query string */
    enum ccm_ali_priority priority;
    enum ccm_ali_repeat repeat;
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
 * In a dry run (host->dry_run()) whatever is not CCM_ALI_READ is a CCM_ERROR_CANCELLED, and no
 * call.
 */
CCM_NODISCARD CCM_ALI_API int ccm_ali_call(struct ccm_ali *ali, const struct ccm_host *host,
                                           const struct ccm_request *req,
                                           const struct ccm_ali_call *call, cJSON **ret,
                                           bool *ret_uncertain, struct ccm_error *err);

#endif
