/* The credentials of an instance: from options and environment to a setup, and its way to STS. */
#include "alicloud/ali.h"

#include "alicloud/measure.h"
#include "util/cleanup.h"
#include "util/text.h"

#define GROUP "alicloud"

/* The option, else the variable that the cloud's own tools use. */
static const char *text_of(const struct ccm_host *host, const char *option, const char *variable)
{
    const char *text = host->option_string(host, GROUP, option);

    if (ccm_text_empty(text) && variable != NULL) {
        text = getenv(variable);
    }
    return text == NULL ? "" : text;
}

static void setup_measure_call(const struct ali_ctx *ctx, const struct ali_call *call,
                               int64_t started, enum ali_measured measured, const char *code)
{
    ali_measure_try(ctx->host, call, ctx->host->now_ms(ctx->host) - started, measured, code);
}

/* One exchange, without governor and retry: the caller keeps the last good credential and comes
 * again. */
static int call_sts(void *arg, const struct ali_ctx *ctx, const struct ali_sts_call *wanted,
                    cJSON **ret_json, struct ccm_error *err)
{
    struct ali_client *ali = arg;
    const struct ali_call call = {
        .product = ALI_STS,
        .action = wanted->action,
        .params = wanted->params,
        .repeat = ALI_READ,
    };
    CCM_CLEANUP(ali_try_fini)
    struct ali_try try_ = { .call = &call, .credential = wanted->signer };
    struct ali_answer answer = { 0 };
    struct ccm_http_response *response = NULL;
    uint64_t phase = 0;
    const int64_t started = ctx->host->now_ms(ctx->host);
    const int r = ali_send(ali, ctx, &try_, &response, &phase, err);

    if (r < 0) {
        if (phase != CCM_HTTP_NOT_SENT) {
            setup_measure_call(ctx, &call, started, ALI_MEASURED_FAILED, "");
        }
        return r;
    }
    ali_answer_read(&try_, response, ctx->host->wall_ms(ctx->host), &answer, err);
    ctx->host->http_free(ctx->host, response);
    setup_measure_call(
        ctx, &call, started,
        ali_measured(answer.row != NULL,
                     answer.row != NULL && answer.row->class_ == ALI_CLASS_THROTTLED),
        answer.row != NULL ? err->code : "");
    if (answer.row != NULL) {
        return -EACCES;
    }
    *ret_json = answer.json;
    return 0;
}

int ali_make_credentials(struct ali_client *ali, const struct ccm_host *host, struct ccm_error *err)
{
    const struct ali_credential_setup setup = {
        .source = text_of(host, "credentials.source", NULL),
        .file = text_of(host, "credentials.file", NULL),
        .addon_file = text_of(host, "credentials.addon_file", NULL),
        .role_arn = text_of(host, "credentials.role_arn", NULL),
        .session = text_of(host, "credentials.role_session_name", NULL),
        .oidc_provider =
            text_of(host, "credentials.oidc_provider_arn", "ALIBABA_CLOUD_OIDC_PROVIDER_ARN"),
        .oidc_token_file =
            text_of(host, "credentials.oidc_token_file", "ALIBABA_CLOUD_OIDC_TOKEN_FILE"),
        .sts = call_sts,
        .sts_arg = ali,
        .metadata = ali->metadata,
    };
    struct ali_credential_setup with_role = setup;
    enum ali_credential_source chosen = ALI_CREDENTIAL_RAM_ROLE;
    int r;

    /* That variable is about the token: a key from the environment does not take on its role. */
    with_role.role_arn = text_of(host, "credentials.role_arn", "ALIBABA_CLOUD_ROLE_ARN");
    with_role.source = setup.source[0] == '\0' ? "auto" : setup.source;
    r = ali_credential_choose(&with_role, &chosen, err);
    if (r < 0) {
        return r;
    }
    ali->credentials =
        ali_credentials_new(chosen, chosen == ALI_CREDENTIAL_OIDC ? &with_role : &setup);
    return ali->credentials == NULL ? ccm_error_nomem(err) : 0;
}
