/* One try of a call: parameters, headers and signature, sent through the host. */
#include "alicloud/ali.h"

#include "alicloud/params.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#define EXCHANGE_MS 20000
#define MAX_ANSWER  ((uint64_t)8 * 1024 * 1024)
#define MAX_QUERY   ((size_t)16 * 1024)
#define MAX_LINES   (ALI_SIGN_HEADERS_MAX + 4)
#define FORM        "application/x-www-form-urlencoded"

/* Header lines on their way to the host. */
struct lines {
    char *items[MAX_LINES + 1];
    size_t len;
    bool failed;
};

static void lines_fini(struct lines *lines)
{
    for (size_t i = 0; i < lines->len; i++) {
        struct ccm_secret line = { .hidden = lines->items[i] };

        ccm_secret_fini(&line); /* some of them carry the token */
    }
}

static void lines_add(struct lines *lines, const char *name, const char *value)
{
    char *line = lines->len < MAX_LINES ? ccm_text_format("%s: %s", name, value) : NULL;

    if (line == NULL) {
        lines->failed = true;
        return;
    }
    lines->items[lines->len++] = line;
}

void ali_try_fini(struct ali_try *try_)
{
    ccm_buf_fini(&try_->query);
    ccm_buf_fini(&try_->body);
    ccm_buf_fini(&try_->authorization);
}

/* 32 hex digits, never the same twice. */
static int make_nonce(const struct ccm_host *host, char ret[33])
{
    unsigned char bytes[16];
    const int r = host->random(host, bytes, sizeof(bytes));

    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < sizeof(bytes); i++) {
        ccm_text_printf(ret + 2 * i, 3, "%02x", (unsigned int)bytes[i]);
    }
    return 0;
}

/* The caller's parameters for the body, and the region where the product wants it. */
static void common_params(const struct ali_client *ali, const struct ali_call *call,
                          struct ali_params *ret)
{
    ali_params_extend(ret, call->params);
    if ((call->product == ALI_SLB || call->product == ALI_ECS || call->product == ALI_VPC) &&
        !ali_params_has(ret, "RegionId")) {
        ali_param_add(ret, "RegionId", ali->region);
    }
}

static int encode_query(const struct ali_call *call, struct ali_try *try_)
{
    return call->query == NULL ? 0 : ali_params_encode(call->query, &try_->query);
}

/* Those that count. Returns how many there are. */
static size_t v3_headers(const struct ali_client *ali, const struct ali_call *call,
                         const struct ali_credential *credential,
                         struct ali_sign_header headers[ALI_SIGN_HEADERS_MAX])
{
    const char *token = credential == NULL ? "" : ccm_secret_text(&credential->token);
    size_t count = 0;

    headers[count++] = (struct ali_sign_header){ "host", ali->endpoints[call->product].host };
    headers[count++] = (struct ali_sign_header){ "x-acs-action", call->action };
    headers[count++] =
        (struct ali_sign_header){ "x-acs-version", ali_endpoint_product(call->product)->version };
    /* Also without a body: HTTP clients add it to a POST on their own, and then it counts. */
    headers[count++] = (struct ali_sign_header){ "content-type", FORM };
    if (token[0] != '\0') {
        headers[count++] = (struct ali_sign_header){ "x-acs-accesskey-id", credential->key_id };
        headers[count++] = (struct ali_sign_header){ "x-acs-security-token", token };
    }
    return count;
}

static int sign_v3(const struct ali_client *ali, const struct ali_call *call, const char *date,
                   const char *nonce, struct ali_try *try_, struct lines *lines)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    struct ali_sign_header headers[ALI_SIGN_HEADERS_MAX];
    char hash[CCM_DIGEST_HEX];
    int r;

    common_params(ali, call, &params);
    r = ali_params_encode(&params, &try_->body);
    if (r < 0) {
        return r;
    }
    ccm_digest_sha256_hex(ccm_buf_str(&try_->body), try_->body.len, hash);

    size_t count = v3_headers(ali, call, try_->credential, headers);

    headers[count++] = (struct ali_sign_header){ "x-acs-date", date };
    headers[count++] = (struct ali_sign_header){ "x-acs-signature-nonce", nonce };
    headers[count++] = (struct ali_sign_header){ "x-acs-content-sha256", hash };
    for (size_t i = 1; i < count; i++) { /* the host line comes from the URL */
        lines_add(lines, headers[i].name, headers[i].value);
    }
    if (try_->credential == NULL) {
        return 0;
    }

    const struct ali_sign_v3 in = {
        .query = ccm_buf_str(&try_->query),
        .body = ccm_buf_str(&try_->body),
        .body_len = try_->body.len,
        .headers = headers,
        .header_count = count,
        .key_id = try_->credential->key_id,
        .secret = &try_->credential->secret,
    };

    r = ali_sign_v3(&in, &try_->authorization, try_->string_hash);
    if (r == 0) {
        lines_add(lines, "authorization", ccm_buf_str(&try_->authorization));
    }
    return r;
}

static char *make_url(const struct ali_endpoint *endpoint, const struct ccm_buf *query)
{
    return ccm_text_format("%s://%s/%s%s", endpoint->plain_http ? "http" : "https", endpoint->host,
                           query->len == 0 ? "" : "?", ccm_buf_str(query));
}

static int request_fail_unsent(const struct ali_call *call, int r, uint64_t *ret_phase,
                               struct ccm_error *err)
{
    *ret_phase = CCM_HTTP_NOT_SENT;
    if (r == -ENOMEM) {
        return ccm_error_nomem(err);
    }
    return ccm_error_set(err, r, CCM_ERROR_BUG, "%s: the request cannot be built: %s", call->action,
                         strerror(-r));
}

int ali_send(struct ali_client *ali, const struct ali_ctx *ctx, struct ali_try *try_,
             struct ccm_http_response **ret, uint64_t *ret_phase, struct ccm_error *err)
{
    const struct ali_call *call = try_->call;
    CCM_CLEANUP(lines_fini) struct lines lines = { 0 };
    CCM_CLEANUP(ccm_freep) char *url = NULL;
    const struct ccm_host *host = ctx->host;
    const struct ali_endpoint *endpoint = &ali->endpoints[call->product];
    char date[CCM_CLOCK_TEXT];
    char nonce[33];

    try_->query.max = MAX_QUERY;
    try_->body.max = ALI_PARAMS_MAX;
    try_->authorization.max = 8192;
    try_->query.wipe = true;
    try_->body.wipe = true; /* tokens may be in it */
    try_->authorization.wipe = true;
    ccm_clock_format(host->wall_ms(host), date, sizeof(date));

    int r = make_nonce(host, nonce);

    if (r == 0) {
        r = encode_query(call, try_);
    }
    if (r == 0) {
        r = sign_v3(ali, call, date, nonce, try_, &lines);
    }
    lines_add(&lines, "accept", "application/json");
    lines_add(&lines, "user-agent", ali->config.user_agent);
    url = make_url(endpoint, &try_->query);
    if (r == 0 && (url == NULL || lines.failed)) {
        r = -ENOMEM;
    }
    if (r < 0) {
        return request_fail_unsent(call, r, ret_phase, err);
    }

    const struct ccm_http_request request = {
        .struct_size = sizeof(request),
        .method = "POST",
        .url = url,
        .headers = (const char *const *)lines.items,
        .body = ccm_buf_str(&try_->body),
        .body_len = try_->body.len,
        .timeout_ms = ali_ctx_timeout(ctx, EXCHANGE_MS),
        .max_body_bytes = MAX_ANSWER,
        .ca_file = ali->config.ca_file[0] == '\0' ? NULL : ali->config.ca_file,
    };

    r = host->http(host, ctx->req, &request, ret, ret_phase, err);
    return r < 0 ? ccm_error_wrap(err, r, "%s", call->action) : 0;
}
