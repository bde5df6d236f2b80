#include "alicloud/credential_source.h"

#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <unistd.h>

#define ROLES "ram/security-credentials/"

static const struct ali_credential_names file_names = { "access_key_id", "access_key_secret",
                                                        "security_token", "expiration" };
static const struct ali_credential_names role_names = { "AccessKeyId", "AccessKeySecret",
                                                        "SecurityToken", "Expiration" };

/* What a source needs that is not there, as words for a person; NULL = it is complete. */
static const char *source_describe_missing(enum ali_credential_source source,
                                           const struct ali_credential_setup *setup)
{
    switch (source) {
    case ALI_CREDENTIAL_FILE:
        return ccm_text_empty(setup->file) ? "credentials.file is not set" : NULL;
    case ALI_CREDENTIAL_ENV:
        return ccm_text_empty(getenv("ACCESS_KEY_ID")) ||
                       ccm_text_empty(getenv("ACCESS_KEY_SECRET"))
                   ? "the environment variables ACCESS_KEY_ID and ACCESS_KEY_SECRET are not both "
                     "set"
                   : NULL;
    case ALI_CREDENTIAL_OIDC:
        return ccm_text_empty(setup->role_arn) || ccm_text_empty(setup->oidc_provider) ||
                       ccm_text_empty(setup->oidc_token_file)
                   ? "credentials.role_arn, oidc_provider_arn and oidc_token_file (or the "
                     "environment variables ALIBABA_CLOUD_ROLE_ARN, "
                     "ALIBABA_CLOUD_OIDC_PROVIDER_ARN and ALIBABA_CLOUD_OIDC_TOKEN_FILE) are not "
                     "all set"
                   : NULL;
    case ALI_CREDENTIAL_ADDON:
    case ALI_CREDENTIAL_RAM_ROLE:
        break;
    }
    return NULL;
}

static bool is_set_up(enum ali_credential_source source, const struct ali_credential_setup *setup)
{
    return source_describe_missing(source, setup) == NULL &&
           (source != ALI_CREDENTIAL_ADDON || access(setup->addon_file, F_OK) == 0);
}

int ali_credential_choose(const struct ali_credential_setup *setup, enum ali_credential_source *ret,
                          struct ccm_error *err)
{
    static const struct {
        const char *name;
        enum ali_credential_source source;
    } rows[] = {
        { "file", ALI_CREDENTIAL_FILE },         { "addon", ALI_CREDENTIAL_ADDON },
        { "env", ALI_CREDENTIAL_ENV },           { "oidc", ALI_CREDENTIAL_OIDC },
        { "ram-role", ALI_CREDENTIAL_RAM_ROLE },
    };
    const bool automatic = strcmp(setup->source, "auto") == 0;

    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        if (automatic ? !is_set_up(rows[i].source, setup)
                      : strcmp(setup->source, rows[i].name) != 0) {
            continue;
        }
        if (source_describe_missing(rows[i].source, setup) != NULL) {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "alicloud.credentials.source is \"%s\", but %s", rows[i].name,
                                 source_describe_missing(rows[i].source, setup));
        }
        *ret = rows[i].source;
        return 0;
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                         "alicloud.credentials.source \"%s\" is not known", setup->source);
}

const char *ali_credential_source_file(enum ali_credential_source source,
                                       const struct ali_credential_setup *setup)
{
    return source == ALI_CREDENTIAL_FILE    ? setup->file
           : source == ALI_CREDENTIAL_ADDON ? setup->addon_file
                                            : NULL;
}

static int from_text(const char *what, const struct ali_credential_names *names, const char *text,
                     const struct ali_ctx *ctx, struct ali_raw_credential *ret,
                     struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_wipep) cJSON *json = NULL;

    if (ccm_json_parse(text, strlen(text), &json) < 0 || !cJSON_IsObject(json)) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT, "credentials: %s: no JSON object",
                             what);
    }
    return ali_raw_credential_from_json(what, names, json, ctx, ret, err);
}

static int from_file(const char *path, const struct ali_ctx *ctx, struct ali_raw_credential *ret,
                     struct ccm_error *err)
{
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret text = { 0 };
    const int r = ali_credential_read_file(path, ctx, &ret->file, &text, err);

    if (r < 0) {
        return r;
    }
    return from_text(path, &file_names, ccm_secret_text(&text), ctx, ret, err);
}

static bool role_ok(const char *role)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const size_t len = strlen(role);

    return len > 0 && len <= 128 && strspn(role, allowed) == len;
}

static int from_role(struct ali_metadata *metadata, const struct ali_ctx *ctx,
                     struct ali_raw_credential *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *roles = NULL;
    int r = ali_metadata_get(metadata, ctx, ROLES, &roles, err);

    if (r == -ENOENT) {
        return ccm_error_set(err, r, CCM_ERROR_AUTH,
                             "credentials: the instance has no RAM role: attach one, or set "
                             "alicloud.credentials");
    }
    if (r < 0) {
        return ccm_error_wrap(err, r, "credentials");
    }
    roles[strcspn(roles, "\r\n")] = '\0';
    if (!role_ok(roles)) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "credentials: the metadata service names no usable RAM role");
    }

    CCM_CLEANUP(ccm_freep) char *item = ccm_text_format(ROLES "%s", roles);
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret text = { 0 };

    if (item == NULL) {
        return ccm_error_nomem(err);
    }
    r = ali_metadata_get(metadata, ctx, item, &text.hidden, err);
    if (r < 0) {
        return ccm_error_wrap(err, r, "credentials");
    }
    return from_text("RAM role", &role_names, ccm_secret_text(&text), ctx, ret, err);
}

int ali_credential_check(enum ali_credential_source source,
                         const struct ali_credential_setup *setup, const struct ali_ctx *ctx,
                         const char **ret_option, struct ccm_error *err)
{
    CCM_CLEANUP(ali_raw_credential_fini) struct ali_raw_credential raw = { 0 };
    int r = 0;

    if (source == ALI_CREDENTIAL_FILE) {
        *ret_option = "credentials.file";
        r = from_file(setup->file, ctx, &raw, err);
    } else if (source == ALI_CREDENTIAL_ADDON) {
        *ret_option = "credentials.addon_file";
        r = ali_credential_from_addon(setup->addon_file, ctx, &raw, err);
    } else if (source == ALI_CREDENTIAL_OIDC) {
        *ret_option = "credentials.oidc_token_file";
        r = ali_credential_check_oidc(setup, err);
    }
    return r == -ESTALE ? 0 : r; /* whoever renews it may do so any time */
}

static int fetch_base(enum ali_credential_source source, const struct ali_credential_setup *setup,
                      const struct ali_ctx *ctx, struct ali_raw_credential *ret,
                      struct ccm_error *err)
{
    switch (source) {
    case ALI_CREDENTIAL_ENV:
        return ali_raw_credential_keep("environment", getenv("ACCESS_KEY_ID"),
                                       getenv("ACCESS_KEY_SECRET"), getenv("SECURITY_TOKEN"), ret,
                                       err);
    case ALI_CREDENTIAL_FILE:
        return from_file(setup->file, ctx, ret, err);
    case ALI_CREDENTIAL_ADDON:
        return ali_credential_from_addon(setup->addon_file, ctx, ret, err);
    case ALI_CREDENTIAL_OIDC:
        return ali_credential_from_oidc(setup, ctx, ret, err);
    case ALI_CREDENTIAL_RAM_ROLE:
        break;
    }
    return from_role(setup->metadata, ctx, ret, err);
}

int ali_credential_fetch(enum ali_credential_source source,
                         const struct ali_credential_setup *setup, const struct ali_ctx *ctx,
                         struct ali_raw_credential *ret, struct ccm_error *err)
{
    const int r = fetch_base(source, setup, ctx, ret, err);

    if (r < 0 || source == ALI_CREDENTIAL_OIDC || ccm_text_empty(setup->role_arn)) {
        return r;
    }
    return ali_credential_assume(setup, ctx, ret, err);
}
