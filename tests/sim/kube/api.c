#include "api.h"

#include "control.h"
#include "discovery.h"
#include "status.h"
#include "util/cleanup.h"
#include "util/text.h"
#include "verbs.h"
#include "write.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a request body that the log of calls keeps. */
#define LOGGED_BODY_MAX 4096

static void identify(void *self, const struct ccm_sim_request *req, struct ccm_sim_call *call)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf action = { .max = 4096 };
    struct ccm_ks_call parsed = { 0 };
    const int r = ccm_ks_call_parse(req, &parsed);

    (void)self; /* a request names itself */
    ccm_buf_addf(&action, "%s %s", r == -ENOENT ? req->method : ccm_ks_call_verb_name(&parsed),
                 req->path);
    ccm_text_copy(call->action, sizeof(call->action), ccm_buf_str(&action));
    for (size_t i = 0; i < req->query.len; i++) {
        if (ccm_sim_params_add(&call->params, req->query.items[i].name, req->query.items[i].value) <
            0) {
            return; /* no memory: a shorter entry */
        }
    }
    if (req->body_len > 0) {
        CCM_CLEANUP(ccm_freep) char *body = strndup(req->body, LOGGED_BODY_MAX);

        if (body != NULL && ccm_sim_params_add(&call->params, "body", body) < 0) {
            return; /* as above */
        }
    }
}

/* --- who may --- */

static bool has_client_certificate(const struct ccm_sim_request *req)
{
    unsigned status = 1;

    return req->tls_session != NULL &&
           gnutls_certificate_verify_peers2(req->tls_session, &status) == 0 && status == 0;
}

/* Compare in a time that does not depend on where the texts differ. */
static bool same_secret(const char *a, const char *b)
{
    const size_t n = strlen(a);
    unsigned char differ = strlen(b) == n ? 0 : 1;

    for (size_t i = 0; i < n && differ == 0; i++) {
        differ |= (unsigned char)(a[i] ^ b[i]);
    }
    return differ == 0;
}

/* 0, or negative after the reply was made. */
static int authenticate(struct ccm_ks_cluster *cluster, const struct ccm_sim_request *req,
                        struct ccm_sim_reply *reply)
{
    const char *header = ccm_sim_request_header(req, "authorization");
    const char *token = ccm_secret_text(&cluster->token);

    if (token[0] == '\0' || ccm_ks_discovery_is_public(req->path) ||
        (cluster->client_ca && has_client_certificate(req))) {
        return 0;
    }
    if (header != NULL && ccm_text_starts(header, "Bearer ") && same_secret(header + 7, token)) {
        return 0;
    }
    ccm_ks_status(reply, 401, "Unauthorized", NULL, "Unauthorized");
    return -EACCES;
}

/* --- answers for people --- */

static bool wants_pretty(const struct ccm_sim_request *req)
{
    const char *agent = ccm_sim_request_header(req, "user-agent");

    if (ccm_sim_params_get(&req->query, "pretty") != NULL) {
        return ccm_ks_call_flag(req, "pretty");
    }
    return agent != NULL && (ccm_text_starts(agent, "curl/") || ccm_text_starts(agent, "Wget/") ||
                             ccm_text_starts(agent, "Mozilla/5.0"));
}

static void new_line(struct ccm_buf *buf, int depth)
{
    ccm_buf_addf(buf, "\n%*s", depth * 2, "");
}

/* Compact JSON, laid out. */
static void print_pretty(struct ccm_buf *buf, const char *text)
{
    bool quoted = false;
    int depth = 0;

    for (const char *p = text; *p != '\0' && *p != '\n'; p++) {
        const bool opens = *p == '{' || *p == '[';

        if (quoted) {
            ccm_buf_addc(buf, *p);
            quoted = *p != '"';
            if (*p == '\\' && p[1] != '\0') {
                ccm_buf_addc(buf, *++p);
            }
            continue;
        }
        if (*p == '}' || *p == ']') {
            new_line(buf, --depth);
        }
        ccm_buf_addc(buf, *p);
        quoted = *p == '"';
        if (opens && (p[1] == '}' || p[1] == ']')) {
            ccm_buf_addc(buf, *++p);
        } else if (opens) {
            new_line(buf, ++depth);
        } else if (*p == ',') {
            new_line(buf, depth);
        } else if (*p == ':') {
            ccm_buf_addc(buf, ' ');
        }
    }
}

static void make_pretty(const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf laid_out = { .max = reply->body.max };

    if (reply->stream.next != NULL || !wants_pretty(req) || reply->content_type == NULL ||
        !ccm_text_starts(reply->content_type, "application/json")) {
        return;
    }
    print_pretty(&laid_out, ccm_buf_str(&reply->body));
    if (ccm_buf_error(&laid_out) == 0) {
        ccm_buf_reset(&reply->body);
        ccm_buf_add(&reply->body, ccm_buf_str(&laid_out), laid_out.len);
    }
}

/* --- dispatch --- */

static void run_verb(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call)
{
    switch (call->verb) {
    case CCM_KS_VERB_GET:
        ccm_ks_verb_get(cluster, call);
        break;
    case CCM_KS_VERB_LIST:
        ccm_ks_verb_list(cluster, call);
        break;
    case CCM_KS_VERB_WATCH:
        ccm_ks_verb_watch(cluster, call);
        break;
    case CCM_KS_VERB_CREATE:
        ccm_ks_verb_create(cluster, call);
        break;
    case CCM_KS_VERB_UPDATE:
        ccm_ks_verb_update(cluster, call);
        break;
    case CCM_KS_VERB_PATCH:
        ccm_ks_verb_patch(cluster, call);
        break;
    case CCM_KS_VERB_DELETE:
        ccm_ks_verb_delete(cluster, call);
        break;
    case CCM_KS_VERB_DELETECOLLECTION:
        ccm_ks_verb_delete_collection(cluster, call);
        break;
    case CCM_KS_VERB_OTHER:
        break;
    }
}

static void answer_elsewhere(const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    if (strcmp(req->method, "GET") == 0 && ccm_ks_discovery(req, reply) == 0) {
        return;
    }
    reply->status = 404;
    reply->content_type = "text/plain; charset=utf-8";
    ccm_text_copy(reply->code, sizeof(reply->code), "NotFound");
    ccm_buf_adds(&reply->body, "404 page not found\n");
}

static void answer_call(struct ccm_ks_cluster *cluster, const struct ccm_sim_request *req,
                        struct ccm_sim_reply *reply)
{
    struct ccm_ks_call call = { .reply = reply };
    const int r = ccm_ks_call_parse(req, &call);

    if (r == -ENOENT) {
        answer_elsewhere(req, reply);
    } else if (r == -ESRCH) {
        ccm_ks_status_no_resource(reply);
    } else if (r == -EPERM) {
        ccm_ks_status(reply, 405, "MethodNotAllowed", cJSON_CreateObject(),
                      "the server does not allow this method on the requested resource");
    } else if (call.form == CCM_KS_FORM_NONE) {
        ccm_ks_status(reply, 406, "NotAcceptable", cJSON_CreateObject(),
                      "406: Not Acceptable\n\nAvailable representations: application/json, "
                      "application/json;stream=watch");
    } else {
        run_verb(cluster, &call);
    }
}

static void handle(void *self, const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    struct ccm_ks_cluster *cluster = self;

    if (ccm_sim_params_add(&reply->headers, "Cache-Control", "no-cache, private") < 0) {
        reply->drop = true; /* no memory even for a header */
        return;
    }
    if (req->body_len > CCM_KS_BODY_MAX) {
        ccm_ks_status(reply, 413, "RequestEntityTooLarge", NULL,
                      "Request entity too large: limit is %d", CCM_KS_BODY_MAX);
    } else if (authenticate(cluster, req, reply) == 0) {
        answer_call(cluster, req, reply);
    }
    make_pretty(req, reply);
}

/* --- faults --- */

static const struct {
    unsigned http;
    const char *reason;
} reasons[] = {
    { 400, "BadRequest" }, { 401, "Unauthorized" },       { 403, "Forbidden" },
    { 404, "NotFound" },   { 409, "Conflict" },           { 410, "Expired" },
    { 422, "Invalid" },    { 429, "TooManyRequests" },    { 500, "InternalError" },
    { 504, "Timeout" },    { 503, "ServiceUnavailable" },
};

/* The rule gives a code (a reason), a status, or both; each follows from the other. */
static void fault(void *self, const struct ccm_sim_request *req,
                  const struct ccm_sim_effect *effect, struct ccm_sim_reply *reply)
{
    const char *reason = effect->code;
    unsigned http = effect->http;

    (void)self;
    (void)req; /* the rule says it all */
    for (size_t i = 0; i < CCM_ARRAY_LEN(reasons); i++) {
        if (http == 0 && reason != NULL && strcmp(reasons[i].reason, reason) == 0) {
            http = reasons[i].http;
        } else if (reason == NULL && reasons[i].http == http) {
            reason = reasons[i].reason;
        }
    }
    http = http == 0 ? 500 : http;
    if (http == 429) {
        reply->status = 429;
        reply->content_type = "text/plain; charset=utf-8";
        ccm_buf_adds(&reply->body, effect->message != NULL
                                       ? effect->message
                                       : "Too many requests, please try again later.\n");
        return;
    }
    ccm_ks_status(reply, http, reason == NULL ? "" : reason, NULL, "%s",
                  effect->message == NULL ? "injected by a fault rule" : effect->message);
}

static int control(void *self, const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    return ccm_ks_control(self, req, reply);
}

static void stopping(void *self)
{
    struct ccm_ks_cluster *cluster = self;

    ccm_ks_cluster_lock(cluster);
    cluster->stopping = true;
    (void)pthread_cond_broadcast(&cluster->changed); /* cannot fail */
    ccm_ks_cluster_unlock(cluster);
}

const struct ccm_sim_ops ccm_ks_api_ops = {
    .identify = identify,
    .handle = handle,
    .fault = fault,
    .control = control,
    .stopping = stopping,
};
