#include "api.h"

#include "access.h"
#include "control.h"
#include "controllers.h"
#include "discovery.h"
#include "gzip.h"
#include "review.h"
#include "status.h"
#include "util/cleanup.h"
#include "util/text.h"
#include "verbs.h"
#include "write.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
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
            return; /* no memory: an entry without its body */
        }
    }
}

/* --- who may --- */

/* The part of a certificate's subject with that object identifier; false when there is none. */
static bool subject_part(gnutls_x509_crt_t cert, const char *oid, unsigned index, char text[256])
{
    size_t size = 255;

    memset(text, 0, 256);
    return gnutls_x509_crt_get_dn_by_oid(cert, oid, index, 0, text, &size) == 0;
}

static void certp_deinit(gnutls_x509_crt_t *cert)
{
    gnutls_x509_crt_deinit(*cert);
}

/* Who the verified client certificate of the connection names. */
static bool certificate_user(const struct ccm_sim_request *req, struct ccm_ks_user *user)
{
    unsigned status = 1;
    unsigned count = 0;
    char group[256];
    gnutls_x509_crt_t raw;

    if (req->tls_session == NULL ||
        gnutls_certificate_verify_peers2(req->tls_session, &status) != 0 || status != 0 ||
        gnutls_x509_crt_init(&raw) != 0) {
        return false;
    }

    CCM_CLEANUP(certp_deinit) gnutls_x509_crt_t cert = raw;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(req->tls_session, &count);

    if (count == 0 || gnutls_x509_crt_import(cert, &chain[0], GNUTLS_X509_FMT_DER) != 0 ||
        !subject_part(cert, GNUTLS_OID_X520_COMMON_NAME, 0, user->name)) {
        return false;
    }
    for (unsigned i = 0; subject_part(cert, GNUTLS_OID_X520_ORGANIZATION_NAME, i, group); i++) {
        user->all = user->all || strcmp(group, "system:masters") == 0;
    }
    return true;
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
                        struct ccm_sim_reply *reply, struct ccm_ks_user *user)
{
    const char *header = ccm_sim_request_header(req, "authorization");
    const char *token = ccm_secret_text(&cluster->token);
    const bool open = token[0] == '\0' && cluster->access == NULL;
    const char *name;

    if (open || (cluster->client_ca && certificate_user(req, user))) {
        user->all = user->all || cluster->access == NULL;
        return 0;
    }
    if (header == NULL || !ccm_text_starts(header, "Bearer ") || header[7] == '\0') {
        ccm_text_copy(user->name, sizeof(user->name), CCM_KS_ANONYMOUS);
        return 0;
    }
    if (token[0] != '\0' && same_secret(header + 7, token)) {
        ccm_text_copy(user->name, sizeof(user->name), "kubesim-admin");
        user->all = true;
        return 0;
    }
    name = ccm_ks_access_user(cluster->access, header + 7);
    if (name != NULL) {
        ccm_text_copy(user->name, sizeof(user->name), name);
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

static bool writes(enum ccm_ks_verb verb)
{
    return verb == CCM_KS_VERB_UPDATE || verb == CCM_KS_VERB_PATCH || verb == CCM_KS_VERB_DELETE ||
           verb == CCM_KS_VERB_DELETECOLLECTION;
}

/* What happens in the background of a cluster, before an Event is looked at and after a write. */
static void run_background(struct ccm_ks_cluster *cluster, const struct ccm_ks_call *call,
                           bool after)
{
    const bool drain = after && cluster->options.controllers && writes(call->verb);
    const bool expire = !after && call->kind->bucket == CCM_KS_EVENTS;
    const bool undefine = after && writes(call->verb) && call->kind->bucket >= CCM_KS_CRDS;

    if (!drain && !expire && !undefine) {
        return;
    }
    ccm_ks_cluster_lock(cluster);
    if (undefine) {
        ccm_ks_controllers_undefine(cluster);
    }
    if (drain) {
        ccm_ks_controllers_drain(cluster);
    } else if (expire) {
        ccm_ks_controllers_expire(cluster);
    }
    ccm_ks_cluster_unlock(cluster);
}

static void run_verb(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call)
{
    if (call->kind->warning != NULL) {
        ccm_ks_write_warn(call, call->kind->warning);
    }
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

static void answer_elsewhere(struct ccm_ks_cluster *cluster, const struct ccm_ks_user *user,
                             const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    if ((strcmp(req->method, "GET") == 0 && ccm_ks_discovery(req, reply) == 0) ||
        ccm_ks_review(cluster->access, user, req, reply) == 0) {
        return;
    }
    reply->status = 404;
    reply->content_type = "text/plain; charset=utf-8";
    ccm_text_copy(reply->code, sizeof(reply->code), "NotFound");
    ccm_buf_adds(&reply->body, "404 page not found\n");
}

/* Whether "1m30s", "0" or the like: what ends a request that takes too long. */
static bool is_duration(const char *text)
{
    static const char *const units[] = { "ns", "us", "ms", "s", "m", "h" };

    if (strcmp(text, "0") == 0) {
        return true;
    }
    while (*text != '\0') {
        const size_t digits = strspn(text, "0123456789.");
        size_t unit = 0;

        for (size_t i = 0; i < CCM_ARRAY_LEN(units) && unit == 0; i++) {
            unit = ccm_text_starts(text + digits, units[i]) ? strlen(units[i]) : 0;
        }
        if (digits == 0 || unit == 0) {
            return false;
        }
        text += digits + unit;
    }
    return true;
}

static bool check_timeout(const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    const char *text = ccm_sim_params_text(&req->query, "timeout");

    if (text[0] == '\0' || is_duration(text)) {
        return true;
    }
    ccm_ks_status_bad_request(
        reply, "invalid timeout specified in the request URL - time: invalid duration \"%s\"",
        text);
    return false;
}

static void answer_call(struct ccm_ks_cluster *cluster, const struct ccm_ks_user *user,
                        const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    struct ccm_ks_call call = { .reply = reply };
    struct ccm_ks_attributes wanted;
    char verb[32];
    const int r = ccm_ks_call_parse(req, &call);

    ccm_ks_call_attributes(&call, verb, &wanted);
    if (!ccm_ks_access_allows(cluster->access, user, &wanted)) {
        ccm_ks_access_refuse(reply, user, &wanted);
    } else if (!check_timeout(req, reply)) {
        return;
    } else if (r == -ENOENT) {
        answer_elsewhere(cluster, user, req, reply);
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
        run_background(cluster, &call, false);
        run_verb(cluster, &call);
        run_background(cluster, &call, true);
    }
}

static void handle(void *self, const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    struct ccm_ks_cluster *cluster = self;
    struct ccm_ks_user user = { 0 };

    if (ccm_sim_params_add(&reply->headers, "Cache-Control", "no-cache, private") < 0) {
        reply->drop = true; /* no memory even for a header */
        return;
    }
    if (req->body_len > CCM_KS_BODY_MAX) {
        ccm_ks_status(reply, 413, "RequestEntityTooLarge", NULL,
                      "Request entity too large: limit is %d", CCM_KS_BODY_MAX);
    } else if (authenticate(cluster, req, reply, &user) == 0) {
        answer_call(cluster, &user, req, reply);
    }
    make_pretty(req, reply);
    ccm_ks_gzip(req, reply);
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

/* What a server says whose store hangs: not quite a Status, and not under its name. */
static void answer_timeout(struct ccm_sim_reply *reply)
{
    reply->status = 504;
    reply->content_type = "text/plain; charset=utf-8";
    ccm_buf_adds(&reply->body, "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"Timeout: "
                               "request did not complete within the allotted timeout\",\"reason\":"
                               "\"Timeout\",\"details\":{},\"code\":504}\n");
}

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
    if (http == 504 && effect->code == NULL) {
        answer_timeout(reply);
        return;
    }
    if (http == 429) {
        if (ccm_sim_params_get(&effect->headers, "Retry-After") == NULL &&
            ccm_sim_params_add(&reply->headers, "Retry-After", "1") < 0) {
            reply->drop = true; /* no memory even for a header */
        }
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
