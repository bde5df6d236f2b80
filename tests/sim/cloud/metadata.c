#include "control.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define TOKENS_MAX ((size_t)10000)
#define DATA_PATH  "/latest/meta-data/"
#define ROLE_PATH  "ram/security-credentials/"

static void answer_text(struct ccm_sim_reply *reply, unsigned status, const char *text)
{
    reply->status = status;
    reply->content_type = "text/plain";
    ccm_buf_reset(&reply->body);
    ccm_buf_adds(&reply->body, text);
}

static void token_make(struct ccm_cloud *cloud, const struct ccm_sim_request *req,
                       struct ccm_sim_reply *reply)
{
    const char *text =
        ccm_sim_params_text(&req->headers, "x-aliyun-ecs-metadata-token-ttl-seconds");
    int64_t seconds = 0;
    char token[48];

    if (ccm_parse_i64(text, 1, 21600, &seconds) < 0) {
        answer_text(reply, 400, "bad X-aliyun-ecs-metadata-token-ttl-seconds");
        return;
    }

    int64_t *end = malloc(sizeof(*end));

    if (ccm_strmap_len(cloud->metadata.tokens) >= TOKENS_MAX) {
        ccm_strmap_free(cloud->metadata.tokens);
        cloud->metadata.tokens = ccm_strmap_new(free);
    }
    ccm_cloud_new_id(cloud, "session", token, sizeof(token));
    if (end == NULL || cloud->metadata.tokens == NULL ||
        ccm_strmap_set(cloud->metadata.tokens, token, end) < 0) {
        free(end);
        answer_text(reply, 500, "out of memory");
        return;
    }
    *end = ccm_clock_now_ms() + seconds * 1000;
    answer_text(reply, 200, token);
}

static bool token_fits(const struct ccm_cloud *cloud, const struct ccm_sim_request *req)
{
    const char *token = ccm_sim_request_header(req, "x-aliyun-ecs-metadata-token");

    if (token == NULL) {
        return !cloud->metadata.token_required;
    }

    const int64_t *end = ccm_strmap_get(cloud->metadata.tokens, token);

    return end != NULL && ccm_clock_now_ms() < *end;
}

/* A new key when the present one has less than half of its life left. */
static int key_renew(struct ccm_cloud *cloud, char *id, size_t size)
{
    struct ccm_cloud_metadata *metadata = &cloud->metadata;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };
    int64_t now = ccm_clock_wall_ms();

    if (metadata->serial == 0 || metadata->expires_ms - now < metadata->life_s * 500) {
        metadata->serial++;
        metadata->expires_ms = now + metadata->life_s * 1000;
    }
    ccm_buf_addf(&text, "STS.%s.%" PRIu64, metadata->role, metadata->serial);
    ccm_text_copy(id, size, ccm_buf_str(&text));

    CCM_CLEANUP(ccm_freep) char *secret = ccm_text_format("secret-of-%s", id);
    CCM_CLEANUP(ccm_freep) char *token = ccm_text_format("token-of-%s", id);

    if (secret == NULL || token == NULL) {
        return -ENOMEM;
    }
    return ccm_cloud_accounts_set(cloud->accounts, id, secret, token, metadata->expires_ms);
}

static void role_write(struct ccm_cloud *cloud, struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_cloud_key_fini) struct ccm_cloud_key key = { 0 };
    struct ccm_jsonw w = { .buf = &reply->body };
    char id[128];
    char text[CCM_CLOCK_TEXT];

    if (key_renew(cloud, id, sizeof(id)) < 0 ||
        ccm_cloud_accounts_get(cloud->accounts, id, &key) < 0) {
        answer_text(reply, 500, "out of memory");
        return;
    }
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "AccessKeyId", key.id);
    ccm_jsonw_str(&w, "AccessKeySecret", key.secret);
    ccm_clock_format(key.expires_ms, text, sizeof(text));
    ccm_jsonw_str(&w, "Expiration", text);
    ccm_jsonw_str(&w, "SecurityToken", key.token);
    ccm_clock_format(key.expires_ms - cloud->metadata.life_s * 1000, text, sizeof(text));
    ccm_jsonw_str(&w, "LastUpdated", text);
    ccm_jsonw_str(&w, "Code", "Success");
    ccm_jsonw_close(&w, '}');
}

static void role_serve(struct ccm_cloud *cloud, const char *name, struct ccm_sim_reply *reply)
{
    if (ccm_text_empty(cloud->metadata.role)) {
        answer_text(reply, 404, "not found");
    } else if (ccm_text_empty(name)) {
        answer_text(reply, 200, cloud->metadata.role);
    } else if (ccm_text_equal(name, cloud->metadata.role)) {
        role_write(cloud, reply);
    } else {
        answer_text(reply, 404, "not found");
    }
}

static void item_serve(const struct ccm_cloud *cloud, const char *item, struct ccm_sim_reply *reply)
{
    static const struct ccm_cloud_pair items[] = {
        { "region-id", "RegionId" },   { "zone-id", "ZoneId" },    { "vpc-id", "VpcId" },
        { "vswitch-id", "VSwitchId" }, { "hostname", "HostName" }, { "private-ipv4", "PrivateIp" },
    };
    const struct ccm_cloud_instance *instance =
        ccm_strmap_get(cloud->instances, cloud->metadata.instance);

    if (instance != NULL && ccm_text_equal(item, "instance-id")) {
        answer_text(reply, 200, instance->obj.id);
        return;
    }
    for (size_t i = 0; instance != NULL && i < CCM_ARRAY_LEN(items); i++) {
        if (ccm_text_equal(item, items[i].name)) {
            answer_text(reply, 200, ccm_cloud_attr(&instance->obj, items[i].value));
            return;
        }
    }
    answer_text(reply, 404, "not found");
}

static void serve_locked(struct ccm_cloud *cloud, const struct ccm_sim_request *req,
                         struct ccm_sim_reply *reply)
{
    if (ccm_text_equal(req->method, "PUT") && ccm_text_equal(req->path, "/latest/api/token")) {
        token_make(cloud, req, reply);
        return;
    }
    if (!ccm_text_equal(req->method, "GET") || !ccm_text_starts(req->path, DATA_PATH)) {
        answer_text(reply, 404, "not found");
        return;
    }
    if (!token_fits(cloud, req)) {
        answer_text(reply, 403, "forbidden");
        return;
    }

    const char *item = req->path + strlen(DATA_PATH);

    if (ccm_text_starts(item, ROLE_PATH)) {
        role_serve(cloud, item + strlen(ROLE_PATH), reply);
    } else {
        item_serve(cloud, item, reply);
    }
}

void ccm_cloud_metadata_serve(struct ccm_cloud *cloud, const struct ccm_sim_request *req,
                              struct ccm_sim_reply *reply)
{
    ccm_cloud_lock(cloud);
    serve_locked(cloud, req, reply);
    ccm_cloud_unlock(cloud);
}
