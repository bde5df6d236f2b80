/* Roles that STS gives: for a token of the cluster, or for another credential. */
#include "alicloud/credential/source.h"

#include "alicloud/params.h"
#include "util/cleanup.h"
#include "util/text.h"

#define LIFE_S    3600  /* what every role allows */
#define MAX_TOKEN 20000 /* bytes that STS takes */

const struct ali_credential_names ali_role_names = { "AccessKeyId", "AccessKeySecret",
                                                     "SecurityToken", "Expiration" };

static int sts_assume_role(const struct ali_credential_setup *setup, const struct ali_ctx *ctx,
                           const struct ali_sts_call *call, struct ali_raw_credential *ret,
                           struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_wipep) cJSON *json = NULL;
    int r;

    ali_param_add(call->params, "RoleArn", setup->role_arn);
    ali_param_add(call->params, "RoleSessionName", setup->session);
    ali_param_i64(call->params, "DurationSeconds", LIFE_S);
    r = setup->sts(setup->sts_arg, ctx, call, &json, err);
    if (r < 0) {
        return ccm_error_wrap(err, r, "credentials: role %s", setup->role_arn);
    }
    return ali_raw_credential_from_json("STS", &ali_role_names, ccm_json_get(json, "Credentials"),
                                        ctx, ret, err);
}

/* The token of a service account: replaced by the kubelet long before its end. */
static int read_token(const char *path, struct ccm_secret *ret, struct ccm_error *err)
{
    const int r = ali_secret_read_file(path, MAX_TOKEN, ret);
    size_t len = 0;

    if (r < 0) {
        return ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "credentials: %s: %s", path,
                             strerror(-r));
    }
    len = strlen(ret->hidden);
    while (len > 0 && strchr(" \t\r\n", ret->hidden[len - 1]) != NULL) {
        ret->hidden[--len] = '\0';
    }
    if (len == 0) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT, "credentials: %s: empty", path);
    }
    return 0;
}

int ali_credential_check_oidc(const struct ali_credential_setup *setup, const struct ali_ctx *ctx,
                              struct ali_raw_credential *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret token = { 0 };

    (void)ctx;
    (void)ret;
    return read_token(setup->oidc_token_file, &token, err);
}

int ali_credential_from_oidc(const struct ali_credential_setup *setup, const struct ali_ctx *ctx,
                             struct ali_raw_credential *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret token = { 0 };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    const int r = read_token(setup->oidc_token_file, &token, err);

    if (r < 0) {
        return r;
    }
    ali_param_add(&params, "OIDCProviderArn", setup->oidc_provider);
    ali_param_add(&params, "OIDCToken", ccm_secret_text(&token));

    const struct ali_sts_call call = { .action = "AssumeRoleWithOIDC", .params = &params };

    return sts_assume_role(setup, ctx, &call, ret, err);
}

int ali_credential_assume(const struct ali_credential_setup *setup, const struct ali_ctx *ctx,
                          struct ali_raw_credential *base, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(ali_raw_credential_fini) struct ali_raw_credential role = { 0 };
    const struct ali_credential signer = {
        .key_id = base->key_id,
        .secret = base->secret,
        .token = base->token,
    };
    const struct ali_sts_call call = { "AssumeRole", &params, &signer };
    const int r = sts_assume_role(setup, ctx, &call, &role, err);

    if (r == 0) {
        const struct ali_raw_credential swap = *base;

        role.file = base->file;
        *base = role;
        role = swap;
    }
    return r;
}
