#include "service.h"

#include "cloud.h"
#include "control.h"
#include "quota.h"
#include "signature.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define REQUEST_ID 48

/* Action and version: signed headers tell them under ACS3, parameters otherwise (headers as a
 * help). */
static const char *common_value(const struct ccm_sim_request *req, const char *header,
                                const char *param)
{
    const char *from_header = ccm_sim_request_header(req, header);
    const char *from_param = ccm_sim_params_get(&req->all, param);

    if (ccm_cloud_signature_is_v3(req)) {
        return from_header == NULL ? "" : from_header;
    }
    if (from_param != NULL) {
        return from_param;
    }
    return from_header == NULL ? "" : from_header;
}

static const char *action_name(const struct ccm_sim_request *req)
{
    return common_value(req, "x-acs-action", "Action");
}

static void identify(void *self, const struct ccm_sim_request *req, struct ccm_sim_call *call)
{
    (void)self; /* the request tells it all */
    if (!ccm_text_equal(req->path, "/")) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf name = { 0 };

        ccm_buf_addf(&name, "%s %s", req->method, req->path);
        ccm_text_copy(call->action, sizeof(call->action), ccm_buf_str(&name));
        /* Looking up where one lives is no call of a service. */
        call->background = ccm_text_starts(req->path, "/latest/");
        return;
    }
    ccm_text_copy(call->action, sizeof(call->action), action_name(req));
    for (size_t i = 0; i < req->all.len; i++) {
        const char *name = req->all.items[i].name;

        if ((!ccm_cloud_spec_is_common(name) || ccm_text_equal(name, "RegionId")) &&
            ccm_sim_params_borrow(&call->params, &req->all.items[i]) < 0) {
            return; /* out of memory: the log is poorer, the call goes on */
        }
    }
}

/* Write the last digits of a number and what follows them; returns the new end. */
static char *hex_put(char *to, uint64_t number, unsigned digits, const char *tail)
{
    while (digits > 0) {
        digits--;
        *to++ = "0123456789ABCDEF"[(number >> (4 * digits)) & 15];
    }
    ccm_text_copy(to, sizeof("-A"), tail);
    return to + strlen(to);
}

/* "XXXXXXXX-XXXX-5XXX-AXXX-XXXXXXXXXXXX" */
static void request_id(struct ccm_cloud *cloud, char *text)
{
    ccm_cloud_lock(cloud);

    uint64_t number = ++cloud->last_request;

    ccm_cloud_unlock(cloud);

    /* Spread, so that ids do not look alike; a bijection, so that they differ. */
    uint64_t mixed = number * UINT64_C(0x9E3779B97F4A7C15);

    text = hex_put(text, mixed >> 32, 8, "-");
    text = hex_put(text, mixed >> 16, 4, "-5");
    text = hex_put(text, mixed, 3, "-A");
    text = hex_put(text, mixed >> 12, 3, "-");
    (void)hex_put(text, number, 12, ""); /* the end of it */
}

static void error_write(struct ccm_cloud *cloud, const struct ccm_sim_request *req, unsigned http,
                        const char *code, const char *message, struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf link = { 0 };
    struct ccm_jsonw w = { .buf = &reply->body };
    const char *host = ccm_sim_request_header(req, "host");
    char id[REQUEST_ID];

    request_id(cloud, id);
    ccm_buf_adds(&link, "https://api.aliyun.com/troubleshoot?q=");
    ccm_sim_escape(&link, code);
    ccm_buf_addf(&link, "&requestId=%s", id);
    reply->status = http;
    ccm_text_copy(reply->code, sizeof(reply->code), code);
    ccm_buf_reset(&reply->body);
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "RequestId", id);
    ccm_jsonw_str(&w, "HostId", host == NULL ? "" : host);
    ccm_jsonw_str(&w, "Code", code);
    ccm_jsonw_str(&w, "Message", message);
    ccm_jsonw_str(&w, "Recommend", ccm_buf_str(&link));
    ccm_jsonw_close(&w, '}');
}

static void fault(void *self, const struct ccm_sim_request *req,
                  const struct ccm_sim_effect *effect, struct ccm_sim_reply *reply)
{
    const char *code = effect->code == NULL ? "InternalError" : effect->code;

    error_write(self, req, reply->status, code,
                effect->message == NULL ? "The request processing has failed." : effect->message,
                reply);
}

const char *ccm_cloud_product_of(const char *version)
{
    static const char *const versions[CCM_CLOUD_PRODUCTS] = {
        [CCM_CLOUD_SLB] = "2014-05-15",  [CCM_CLOUD_ECS] = "2014-05-26",
        [CCM_CLOUD_VPC] = "2016-04-28",  [CCM_CLOUD_STS] = "2015-04-01",
        [CCM_CLOUD_CAS] = "2020-06-19",  [CCM_CLOUD_NLB] = "2022-04-30",
        [CCM_CLOUD_EFLO] = "2022-12-15",
    };

    for (size_t i = 0; i < CCM_CLOUD_PRODUCTS; i++) {
        if (ccm_text_equal(version, versions[i])) {
            return ccm_cloud_product_names[i];
        }
    }
    return NULL;
}

/* The action that a request means. False: an error has been written. */
static const struct ccm_cloud_action *action_find(struct ccm_cloud *cloud,
                                                  const struct ccm_sim_request *req,
                                                  struct ccm_sim_reply *reply,
                                                  const char **ret_product)
{
    const char *name = action_name(req);
    const char *version = common_value(req, "x-acs-version", "Version");

    if (!ccm_text_equal(req->method, "POST") && !ccm_text_equal(req->method, "GET")) {
        error_write(cloud, req, 400, "UnsupportedHTTPMethod", "This http method is not supported.",
                    reply);
        return NULL;
    }
    if (ccm_text_empty(name) || ccm_text_empty(version)) {
        bool action = ccm_text_empty(name);

        error_write(cloud, req, 400, action ? "MissingAction" : "MissingVersion",
                    action ? "Action is mandatory for this action."
                           : "Version is mandatory for this action.",
                    reply);
        return NULL;
    }
    *ret_product = ccm_cloud_product_of(version);
    for (size_t i = 0; *ret_product != NULL && i < CCM_CLOUD_PRODUCTS; i++) {
        if (*ret_product == ccm_cloud_product_names[i]) {
            const struct ccm_cloud_action *action =
                ccm_cloud_find_action(cloud, (enum ccm_cloud_product)i, name);

            if (action == NULL) {
                error_write(cloud, req, 404, "InvalidAction.NotFound",
                            "Specified api is not found, please check your url and method.", reply);
            }
            return action;
        }
    }
    error_write(cloud, req, 400, "NoSuchVersion", "Specified version does not exist.", reply);
    return NULL;
}

/* ---- rates ---- */

/* Number of the account of a valid access key, else "". */
static void account_of(struct ccm_cloud *cloud, const char *key_id, char *text, size_t size)
{
    CCM_CLEANUP(ccm_cloud_key_fini) struct ccm_cloud_key key = { 0 };

    ccm_text_copy(text, size,
                  ccm_cloud_accounts_get(cloud->accounts, key_id, &key) == 0 ? key.account : "");
}

/* Count a request in or out of those under way. */
static void crowd_change(struct ccm_cloud *cloud, const struct ccm_sim_request *req,
                         void (*change)(struct ccm_cloud_quota *quota, const char *account,
                                        const char *product, const char *action))
{
    char key_id[256];
    char account[64];

    if (cloud->quota == NULL || !ccm_text_equal(req->path, "/")) {
        return;
    }

    const char *product = ccm_cloud_product_of(common_value(req, "x-acs-version", "Version"));

    if (product == NULL) {
        return;
    }
    ccm_cloud_signature_key(req, key_id, sizeof(key_id));
    account_of(cloud, key_id, account, sizeof(account));
    ccm_cloud_lock(cloud);
    change(cloud->quota, account, product, action_name(req));
    ccm_cloud_unlock(cloud);
}

static void begin(void *self, const struct ccm_sim_request *req)
{
    crowd_change(self, req, ccm_cloud_quota_enter);
}

static void end(void *self, const struct ccm_sim_request *req)
{
    crowd_change(self, req, ccm_cloud_quota_leave);
}

/* When to come back, in the headers that SDKs look at. */
static int hints_add(struct ccm_sim_reply *reply, const struct ccm_cloud_throttle *throttle)
{
    CCM_CLEANUP(ccm_freep)
    char *limits =
        ccm_text_format("Limit:%" PRId64 ",Remain:0,TimeFrame:%" PRId64 ",TimeLeft:%" PRId64,
                        throttle->count, throttle->period_ms / 1000, throttle->left_ms);
    CCM_CLEANUP(ccm_freep)
    char *after = ccm_text_format("%" PRId64, (throttle->left_ms + 999) / 1000);
    int r = limits == NULL || after == NULL ? -ENOMEM : 0;

    if (throttle->count == 0) {
        return 0;
    }
    r = r < 0 ? r
              : ccm_sim_params_add(&reply->headers,
                                   ccm_text_equal(throttle->code, "Throttling")
                                       ? "x-ratelimit-user"
                                       : "x-ratelimit-user-api",
                                   limits);
    return r < 0 ? r : ccm_sim_params_add(&reply->headers, "x-acs-retry-after", after);
}

/* Whether the account may call the action now. 0 or -EPROTO. With the cloud's lock held. */
static int quota_check(struct ccm_cloud_call *call, const char *product,
                       struct ccm_sim_reply *reply)
{
    struct ccm_cloud *cloud = call->cloud;
    struct ccm_cloud_throttle throttle = { 0 };
    char account[64];

    if (cloud->quota == NULL) {
        return 0;
    }
    account_of(cloud, call->key_id, account, sizeof(account));
    if (!ccm_cloud_quota_crowded(cloud->quota, account, product, call->action->name, &throttle) &&
        ccm_cloud_quota_take(cloud->quota, account, product, call->action->name, ccm_clock_now_ms(),
                             &throttle)) {
        return 0;
    }
    if (hints_add(reply, &throttle) < 0) {
        ccm_sim_params_fini(&reply->headers); /* out of memory: the answer is poorer */
    }
    return ccm_cloud_fail(call, 400, throttle.code, "%s", throttle.message);
}

/* ---- actions ---- */

static void action_run(struct ccm_cloud *cloud, const struct ccm_sim_request *req,
                       const char *product, const struct ccm_cloud_action *action,
                       struct ccm_sim_reply *reply)
{
    char key_id[256];
    struct ccm_jsonw w = { .buf = &reply->body };
    CCM_CLEANUP(ccm_cloud_call_fini)
    struct ccm_cloud_call call = {
        .cloud = cloud,
        .action = action,
        .params = &req->all,
        .key_id = key_id,
        .out = &w,
    };
    char id[REQUEST_ID];

    request_id(cloud, id);
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "RequestId", id);
    ccm_cloud_signature_key(req, key_id, sizeof(key_id));
    ccm_cloud_lock(cloud);

    int r = quota_check(&call, product, reply);

    r = r < 0 ? r : ccm_cloud_run(&call);

    ccm_cloud_unlock(cloud);
    if (r < 0) {
        error_write(cloud, req, call.http, call.code, ccm_buf_str(&call.message), reply);
        return;
    }
    ccm_jsonw_close(&w, '}');
}

static void handle(void *self, const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    struct ccm_cloud *cloud = self;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf owned = { 0 };
    struct ccm_cloud_refusal refusal = { 0 };

    if (ccm_text_starts(req->path, "/latest/")) {
        ccm_cloud_metadata_serve(cloud, req, reply);
        return;
    }
    if (!ccm_text_equal(req->path, "/")) {
        error_write(cloud, req, 404, "InvalidAction.NotFound",
                    "Specified api is not found, please check your url and method.", reply);
        return;
    }

    const char *product = "";
    const struct ccm_cloud_action *action = action_find(cloud, req, reply, &product);

    if (action == NULL) {
        return;
    }

    int r = action->open
                ? 0
                : ccm_cloud_signature_check(req, cloud->accounts, ccm_clock_wall_ms(), &refusal);

    owned = refusal.message;
    if (r < 0) {
        error_write(cloud, req, refusal.http, refusal.code, ccm_buf_str(&owned), reply);
        return;
    }
    action_run(cloud, req, product, action, reply);
}

static int control(void *self, const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    struct ccm_cloud *cloud = self;

    if (ccm_text_equal(req->path, "/_sim/state")) {
        ccm_cloud_state(cloud, reply);
    } else if (ccm_text_equal(req->path, "/_sim/edit")) {
        ccm_cloud_edit(cloud, req, reply);
    } else if (ccm_text_equal(req->path, "/_sim/instances")) {
        ccm_cloud_instances(cloud, req, reply);
    } else {
        return -ENOENT;
    }
    return 0;
}

const struct ccm_sim_ops ccm_cloud_ops = {
    .identify = identify,
    .begin = begin,
    .end = end,
    .handle = handle,
    .fault = fault,
    .control = control,
};
