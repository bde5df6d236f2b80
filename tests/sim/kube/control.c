#include "control.h"

#include "catalog.h"
#include "restore.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "watch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Buckets in use come first. */
static bool is_used(enum ccm_ks_bucket bucket)
{
    return bucket < CCM_KS_BUCKETS && ccm_ks_kind_of(bucket) != NULL;
}

static void print_bucket(struct ccm_ks_cluster *cluster, const struct ccm_ks_kind *kind,
                         struct ccm_buf *body)
{
    CCM_CLEANUP(ccm_ks_objects_fini) struct ccm_ks_objects objects = { 0 };

    ccm_buf_adds(body, ",\"");
    ccm_ks_kind_label(body, kind);
    ccm_buf_adds(body, "\":[");
    if (ccm_ks_store_list(cluster->store, kind->bucket, "", &objects) == 0) {
        for (size_t i = 0; i < objects.len; i++) {
            ccm_buf_adds(body, i == 0 ? "" : ",");
            ccm_ks_object_print(objects.items[i], kind, true, body);
        }
    }
    ccm_buf_addc(body, ']');
}

static void answer_state(struct ccm_ks_cluster *cluster, struct ccm_sim_reply *reply)
{
    struct ccm_buf *body = &reply->body;

    body->max = (size_t)1024 * 1024 * 1024;
    ccm_ks_cluster_lock(cluster);
    ccm_buf_addf(body, "{\"resourceVersion\":\"%" PRIu64 "\",\"watches\":{",
                 ccm_ks_store_version(cluster->store));
    for (enum ccm_ks_bucket b = 0; is_used(b); b++) {
        ccm_buf_adds(body, b == 0 ? "\"" : ",\"");
        ccm_ks_kind_label(body, ccm_ks_kind_of(b));
        ccm_buf_addf(body, "\":%zu", ccm_ks_watch_count(cluster, b));
    }
    ccm_buf_addc(body, '}');
    for (enum ccm_ks_bucket b = 0; is_used(b); b++) {
        print_bucket(cluster, ccm_ks_kind_of(b), body);
    }
    ccm_buf_adds(body, "}\n");
    ccm_ks_cluster_unlock(cluster);
}

/* What whoever watches a kind has to have seen. */
static void answer_versions(struct ccm_ks_cluster *cluster, struct ccm_sim_reply *reply)
{
    struct ccm_buf *body = &reply->body;

    ccm_ks_cluster_lock(cluster);
    ccm_buf_addf(body, "{\"newest\":%" PRIu64, ccm_ks_store_version(cluster->store));
    for (enum ccm_ks_bucket b = 0; is_used(b); b++) {
        ccm_buf_adds(body, ",\"");
        ccm_ks_kind_label(body, ccm_ks_kind_of(b));
        ccm_buf_addf(body, "\":%" PRIu64, ccm_ks_store_changed(cluster->store, b));
    }
    ccm_ks_cluster_unlock(cluster);
    ccm_buf_adds(body, "}\n");
}

/* The bucket of a resource; CCM_KS_BUCKETS for none given. -EINVAL: unknown. */
static int parse_resource(const char *label, enum ccm_ks_bucket *ret)
{
    *ret = CCM_KS_BUCKETS;
    if (label == NULL) {
        return 0;
    }
    for (enum ccm_ks_bucket b = 0; is_used(b); b++) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf own = { .max = 512 };

        ccm_ks_kind_label(&own, ccm_ks_kind_of(b));
        if (strcmp(ccm_buf_str(&own), label) == 0) {
            *ret = b;
            return 0;
        }
    }
    return -EINVAL;
}

static int parse_order(const char *op, enum ccm_ks_order *ret)
{
    static const struct {
        const char *op;
        enum ccm_ks_order order;
    } orders[] = {
        { "end", CCM_KS_ORDER_END },           { "drop", CCM_KS_ORDER_DROP },
        { "truncate", CCM_KS_ORDER_TRUNCATE }, { "garbage", CCM_KS_ORDER_GARBAGE },
        { "silence", CCM_KS_ORDER_SILENCE },   { "error", CCM_KS_ORDER_ERROR },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(orders); i++) {
        if (strcmp(orders[i].op, op) == 0) {
            *ret = orders[i].order;
            return 0;
        }
    }
    return -EINVAL;
}

/* The watches notice by themselves that what they stood on is gone. */
static size_t forget(struct ccm_ks_cluster *cluster, enum ccm_ks_bucket bucket,
                     void (*how)(struct ccm_ks_store *store, enum ccm_ks_bucket bucket))
{
    size_t count = 0;

    ccm_ks_cluster_lock(cluster);
    for (enum ccm_ks_bucket b = 0; is_used(b); b++) {
        if (bucket == CCM_KS_BUCKETS || bucket == b) {
            count += ccm_ks_watch_count(cluster, b);
            how(cluster->store, b);
        }
    }
    (void)pthread_cond_broadcast(&cluster->changed); /* cannot fail */
    ccm_ks_cluster_unlock(cluster);
    return count;
}

static void answer_watch(struct ccm_ks_cluster *cluster, const struct ccm_sim_request *req,
                         struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    enum ccm_ks_bucket bucket;
    enum ccm_ks_order order;
    const char *op;
    size_t count;

    if (ccm_json_parse(req->body, req->body_len, &json) < 0) {
        ccm_sim_reply_error(reply, 400, "the body is no JSON");
        return;
    }
    op = ccm_json_text(json, "op");
    if (parse_resource(ccm_json_str(json, "resource"), &bucket) < 0) {
        ccm_sim_reply_error(reply, 400, "unknown resource");
        return;
    }
    if (strcmp(op, "expire") == 0) {
        count = forget(cluster, bucket, ccm_ks_store_forget);
    } else if (strcmp(op, "compact") == 0) {
        count = forget(cluster, bucket, ccm_ks_store_compact);
    } else if (parse_order(op, &order) == 0) {
        count = ccm_ks_watch_order(cluster, bucket, order);
    } else {
        ccm_sim_reply_error(reply, 400,
                            "op must be one of end, drop, truncate, garbage, silence, "
                            "error, expire, compact");
        return;
    }
    ccm_buf_addf(&reply->body, "{\"watches\":%zu}\n", count);
}

static void answer_restore(struct ccm_ks_cluster *cluster, const struct ccm_sim_request *req,
                           struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    int r = ccm_json_parse(req->body, req->body_len, &json);

    if (r == 0) {
        ccm_ks_cluster_lock(cluster);
        r = ccm_ks_restore(cluster, json);
        ccm_ks_cluster_unlock(cluster);
    }
    if (r < 0) {
        ccm_sim_reply_error(reply, 400, "the body is no answer of /_sim/state");
        return;
    }
    ccm_buf_adds(&reply->body, "{}\n");
}

int ccm_ks_control(struct ccm_ks_cluster *cluster, const struct ccm_sim_request *req,
                   struct ccm_sim_reply *reply)
{
    if (strcmp(req->path, "/_sim/state") == 0 && strcmp(req->method, "GET") == 0) {
        answer_state(cluster, reply);
    } else if (strcmp(req->path, "/_sim/versions") == 0 && strcmp(req->method, "GET") == 0) {
        answer_versions(cluster, reply);
    } else if (strcmp(req->path, "/_sim/watch") == 0 && strcmp(req->method, "POST") == 0) {
        answer_watch(cluster, req, reply);
    } else if (strcmp(req->path, "/_sim/restore") == 0 && strcmp(req->method, "POST") == 0) {
        answer_restore(cluster, req, reply);
    } else {
        return -ENOENT;
    }
    return 0;
}
