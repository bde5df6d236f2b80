#include "alicloud/metadata.h"

#include "alicloud/measure.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/secret.h"
#include "util/text.h"
#include "util/thread.h"

#include <inttypes.h>
#include <pthread.h>

#define TRIES       3
#define TRY_MS      3000
#define PAUSE_MS    200
#define MAX_BODY    ((uint64_t)64 * 1024)
#define TOKEN_S     21600
#define PLAIN_MS    600000 /* how long a refused token is not asked for again */
#define MAX_TOKEN   1024
#define TOKEN_TTL   "X-aliyun-ecs-metadata-token-ttl-seconds: "
#define TOKEN_SENT  "X-aliyun-ecs-metadata-token: "
#define TOKEN_PATH  "/latest/api/token"
#define ITEM_PREFIX "/latest/meta-data/"

struct ali_metadata {
    char *base;
    pthread_mutex_t lock; /* guards all below; a leaf lock */
    struct ccm_secret token;
    int64_t token_until_ms;
    int64_t plain_until_ms;
};

struct ali_metadata *ali_metadata_new(const char *base)
{
    struct ali_metadata *metadata = calloc(1, sizeof(*metadata));

    if (metadata == NULL) {
        return NULL;
    }
    metadata->base = strdup(base);
    if (metadata->base == NULL || pthread_mutex_init(&metadata->lock, NULL) != 0) {
        free(metadata->base);
        free(metadata);
        return NULL;
    }
    return metadata;
}

void ali_metadata_free(struct ali_metadata *metadata)
{
    if (metadata != NULL) {
        ccm_secret_fini(&metadata->token);
        ccm_lock_fini(&metadata->lock);
        free(metadata->base);
        free(metadata);
    }
}

/* Whatever the name of the role is, the request is of one kind. */
static const char *kind_of(const char *path)
{
    static const char roles[] = ITEM_PREFIX "ram/security-credentials/";

    if (strcmp(path, TOKEN_PATH) == 0) {
        return "token";
    }
    return strncmp(path, roles, sizeof(roles) - 1) == 0 && path[sizeof(roles) - 1] != '\0'
               ? "ram/security-credentials/ROLE"
               : path + strlen(ITEM_PREFIX);
}

/* status 0: there was no answer. */
static void metadata_measure_request(const struct ali_ctx *ctx, const char *path, int64_t started,
                                     uint64_t status)
{
    char code[24] = "";

    if (status != 0) {
        ccm_text_printf(code, sizeof(code), "%" PRIu64, status);
    }
    ali_measure_request(ctx->host, "metadata", kind_of(path),
                        ctx->host->now_ms(ctx->host) - started,
                        ali_measured(status != 200, status == 429), code);
}

struct item_request {
    const char *method;
    const char *path;
    const char *header; /* NULL = none */
};

static int metadata_send_request(struct ali_metadata *metadata, const struct ali_ctx *ctx,
                                 const struct item_request *item, struct ccm_http_response **ret,
                                 struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *url = ccm_text_format("%s%s", metadata->base, item->path);
    const char *const headers[] = { item->header, NULL };
    uint64_t phase = 0;

    if (url == NULL) {
        return ccm_error_nomem(err);
    }

    const struct ccm_http_request request = {
        .struct_size = sizeof(request),
        .method = item->method,
        .url = url,
        .headers = item->header == NULL ? NULL : headers,
        .timeout_ms = ali_ctx_timeout(ctx, TRY_MS),
        .max_body_bytes = MAX_BODY,
    };

    const int64_t started = ctx->host->now_ms(ctx->host);
    const int r = ctx->host->http(ctx->host, ctx->req, &request, ret, &phase, err);

    if (r == 0 || phase != CCM_HTTP_NOT_SENT) {
        metadata_measure_request(ctx, item->path, started, r == 0 ? (*ret)->status : 0);
    }
    return r;
}

/* A token goes into a header line: visible characters only. */
static bool token_ok(const char *text)
{
    const size_t len = strlen(text);

    for (size_t i = 0; i < len; i++) {
        if (text[i] <= ' ' || text[i] > '~') {
            return false;
        }
    }
    return len > 0 && len <= MAX_TOKEN;
}

/* Keep what a token request brought. */
static int token_keep(struct ali_metadata *metadata, const struct ali_ctx *ctx,
                      const struct ccm_http_response *response, struct ccm_error *err)
{
    const int64_t now = ctx->host->now_ms(ctx->host);
    int r = 0;

    ccm_lock(&metadata->lock);
    if (response->status == 200 && token_ok(response->body)) {
        metadata->token_until_ms = now + (int64_t)TOKEN_S * 800; /* 80 % of its life */
        r = ccm_secret_set(&metadata->token, response->body) < 0 ? -ENOMEM : 0;
    } else if (response->status >= 400 && response->status < 500) {
        metadata->plain_until_ms = now + PLAIN_MS;
    } else {
        r = -EPROTO;
    }
    ccm_unlock(&metadata->lock);
    if (r == 0) {
        return 0;
    }
    return ccm_error_set(err, r, CCM_ERROR_TRANSIENT,
                         "metadata service: session token: status %" PRIu64 " and no usable token",
                         response->status);
}

/* The header line to send in *ret_header, NULL for a plain read; the caller wipes it. */
static int token_header(struct ali_metadata *metadata, const struct ali_ctx *ctx,
                        struct ccm_secret *ret_header, struct ccm_error *err)
{
    for (int round = 0; round < 2; round++) {
        const int64_t now = ctx->host->now_ms(ctx->host);
        bool plain = false;
        bool known = false;

        ccm_lock(&metadata->lock);
        plain = now < metadata->plain_until_ms;
        known = now < metadata->token_until_ms && metadata->token.hidden != NULL;
        if (known) {
            ret_header->hidden =
                ccm_text_format(TOKEN_SENT "%s", ccm_secret_text(&metadata->token));
        }
        ccm_unlock(&metadata->lock);
        if (known) {
            return ret_header->hidden == NULL ? ccm_error_nomem(err) : 0;
        }
        if (plain) {
            return 0;
        }

        struct ccm_http_response *response = NULL;
        int r = metadata_send_request(
            metadata, ctx, &(const struct item_request){ "PUT", TOKEN_PATH, TOKEN_TTL "21600" },
            &response, err);

        if (r < 0) {
            return ccm_error_wrap(err, r, "metadata service: session token");
        }
        r = token_keep(metadata, ctx, response, err);
        ctx->host->http_free(ctx->host, response);
        if (r < 0) {
            return r;
        }
    }
    return ccm_error_set(err, -EPROTO, CCM_ERROR_TRANSIENT, "metadata service: no session token");
}

static void token_drop(struct ali_metadata *metadata)
{
    ccm_lock(&metadata->lock);
    metadata->token_until_ms = 0;
    ccm_unlock(&metadata->lock);
}

static int read_body(const struct ccm_http_response *response, const char *item, char **ret_text,
                     struct ccm_error *err)
{
    if (response->status == 404) {
        return ccm_error_set(err, -ENOENT, CCM_ERROR_NOT_FOUND, "metadata service: no item %s",
                             item);
    }
    if (response->status != 200) {
        return ccm_error_set(err, -EPROTO, CCM_ERROR_TRANSIENT,
                             "metadata service: %s: status %" PRIu64, item, response->status);
    }

    char *text = strdup(response->body);

    if (text == NULL) {
        return ccm_error_nomem(err);
    }
    for (size_t len = strlen(text); len > 0 && strchr(" \t\r\n", text[len - 1]) != NULL; len--) {
        text[len - 1] = '\0';
    }
    *ret_text = text;
    return 0;
}

/* One try. A token that is refused is forgotten, the next try gets another. */
static int read_once(struct ali_metadata *metadata, const struct ali_ctx *ctx, const char *item,
                     char **ret_text, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret header = { 0 };
    CCM_CLEANUP(ccm_freep) char *path = ccm_text_format(ITEM_PREFIX "%s", item);
    struct ccm_http_response *response = NULL;
    int r = path == NULL ? ccm_error_nomem(err) : token_header(metadata, ctx, &header, err);

    if (r < 0) {
        return r;
    }
    r = metadata_send_request(
        metadata, ctx, &(const struct item_request){ "GET", path, header.hidden }, &response, err);
    if (r < 0) {
        return ccm_error_wrap(err, r, "metadata service: %s", item);
    }
    if (response->status == 401 || response->status == 403) {
        token_drop(metadata);
    }
    r = read_body(response, item, ret_text, err);
    ctx->host->http_free(ctx->host, response);
    return r;
}

int ali_metadata_get(struct ali_metadata *metadata, const struct ali_ctx *ctx, const char *item,
                     char **ret_text, struct ccm_error *err)
{
    int r = -EAGAIN;

    for (int i = 0; i < TRIES; i++) {
        if (i > 0 && ali_ctx_wait(ctx, PAUSE_MS) < 0) {
            break;
        }
        r = read_once(metadata, ctx, item, ret_text, err);
        if (r == 0 || err->kind == CCM_ERROR_NOT_FOUND || err->kind == CCM_ERROR_CANCELLED) {
            break;
        }
    }
    return r;
}
