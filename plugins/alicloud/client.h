/*
 * Calls to Alibaba Cloud: parameters in, JSON out. Signing, credentials, endpoints, rate governing
 * and the retry of throttled and busy answers happen inside. One instance per process, shared by
 * all plugins that link this library.
 */
#ifndef CCM_ALICLOUD_CLIENT_H
#define CCM_ALICLOUD_CLIENT_H

#include "alicloud/api.h"
#include "ccm/plugin.h"
#include "util/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ali_client;
struct ali_params;

/* Facts about the cluster; valid after ali_start(), borrowed, "" when unknown. */
ALI_API const char *ali_region(const struct ali_client *ali);
ALI_API const char *ali_vpc_id(const struct ali_client *ali);
ALI_API const char *ali_cluster_id(const struct ali_client *ali);
ALI_API const char *ali_resource_group_id(const struct ali_client *ali);
/* NULL-terminated list of vSwitch ids, zones stripped ("zone:vsw" and "vsw" are both accepted). */
ALI_API const char *const *ali_vswitch_ids(const struct ali_client *ali);

/* The caller: the client, the caller's own host, and the request that it works on. */
struct ali_caller {
    struct ali_client *client;
    const struct ccm_host *host;
    const struct ccm_request *req; /* NULL: the call may take 60 s */
};

enum ali_product { ALI_SLB, ALI_NLB, ALI_VPC, ALI_ECS, ALI_STS, ALI_EFLO, ALI_CAS };

/* The order in which the governor serves calls that it has to hold back. */
enum ali_priority {
    ALI_PRIO_REMOVE, /* backend removal, deletion */
    ALI_PRIO_NEW,    /* new load balancers */
    ALI_PRIO_SPEC,
    ALI_PRIO_BULK, /* mass node changes */
    ALI_PRIO_AUDIT,
    ALI_PRIO_RETRY, /* of what has failed again and again: what others leave, see ali_quota_kept()
                     */
};

/* May the call be repeated when it is unknown whether it ran? */
enum ali_repeat {
    ALI_READ,       /* it changes nothing */
    ALI_IDEMPOTENT, /* running it twice is as good as once; includes a ClientToken */
    ALI_ONCE,       /* not repeated: the caller looks at the state again */
};

/* The patience of calls for one object: what a wait may keep of its worker's time. */
#define ALI_PATIENCE_MS 1500

struct ali_call {
    enum ali_product product;
    const char *action;
    const struct ali_params *params; /* in the form body; may be NULL */
    const struct ali_params *query;  /* those that an action takes in the query string */
    enum ali_priority priority;
    enum ali_repeat repeat;
    const char *object; /* "namespace/name" of whom it is for: namespaces share a quota evenly, and
                           log lines name it; may be NULL */
    /* The resource that a change is about, when it takes one change at a time (quota/pace.h, this
     * folder); NULL = none. */
    const char *paced;
    /* How long it waits for its turn, or at a time for what is busy; 0 = up to the deadline. A call
     * whose turn comes later is put off: see ali_error_is_put_off() (error.h, this folder). Needs
     * an object. */
    int64_t patience_ms;
    /* What it is for failed in the last pass: it is not repeated after faults of network or cloud.
     */
    bool failed_before;
};

/*
 * One call. Blocks up to the deadline of the request, or as its patience says. Inside: rate budget
 * by priority, jittered retry of throttling and busy codes and, as `repeat` allows, of transport
 * failures and 5xx; one fresh signature per try; one credential refresh after a credential error.
 *
 * 0: *ret is the answer (the caller frees it with cJSON_Delete; may be NULL if not wanted).
 * Negative: err->code, err->request_id and err->http_status as the cloud gave them, err->message is
 * "{Action}: {Code}: {Message} (RequestId {id})", err->kind by the table of error.h (this folder).
 * *ret_uncertain (may be NULL): whether the cloud may have executed a call that failed.
 * In a dry run (host->dry_run()) whatever is not ALI_READ is a CCM_ERROR_CANCELLED, and no
 * call.
 */
CCM_NODISCARD ALI_API int ali_call(const struct ali_caller *by, const struct ali_call *call,
                                   cJSON **ret, bool *ret_uncertain, struct ccm_error *err);

/* Describe the account and, per action, what is used of its rate, what is allowed, what waits. As
 * describe() of struct ccm_plugin; no call is made. */
ALI_API void ali_describe(const struct ali_client *ali, const struct ccm_host *host,
                          const struct ccm_view_sink *sink);

/* The request over the object has ended: places that were kept for calls of earlier ones (see
 * patience_ms) and that it did not ask for again are given up. Without a request: all of them.
 * Never blocks. */
ALI_API void ali_call_end_request(const struct ali_caller *by, const char *object);

#endif
