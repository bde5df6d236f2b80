#include "alicloud/credential/source.h"

#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <unistd.h>

#define ROLES "ram/security-credentials/"

static int parse_document(const char *what, const struct ccm_secret *text, cJSON **ret,
                          struct ccm_error *err)
{
    if (ccm_json_parse(ccm_secret_text(text), strlen(ccm_secret_text(text)), ret) < 0 ||
        !cJSON_IsObject(*ret)) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT, "credentials: %s: no JSON object",
                             what);
    }
    return 0;
}

/* Read a file of one JSON object; the caller wipes *ret in any case. */
static int read_document(const char *path, const struct ali_ctx *ctx, struct ali_file_state *state,
                         cJSON **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret text = { 0 };
    const int r = ali_credential_read_file(path, ctx, state, &text, err);

    return r < 0 ? r : parse_document(path, &text, ret, err);
}

static int from_file(const struct ali_credential_setup *setup, const struct ali_ctx *ctx,
                     struct ali_raw_credential *ret, struct ccm_error *err)
{
    static const struct ali_credential_names names = { "access_key_id", "access_key_secret",
                                                       "security_token", "expiration" };
    CCM_CLEANUP(ccm_json_wipep) cJSON *json = NULL;
    const int r = read_document(setup->file, ctx, &ret->file, &json, err);

    return r < 0 ? r : ali_raw_credential_from_json(setup->file, &names, json, ctx, ret, err);
}

static int from_addon(const struct ali_credential_setup *setup, const struct ali_ctx *ctx,
                      struct ali_raw_credential *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_wipep) cJSON *json = NULL;
    const int r = read_document(setup->addon_file, ctx, &ret->file, &json, err);

    return r < 0 ? r : ali_credential_open_addon(setup->addon_file, json, ctx, ret, err);
}

static int from_environment(const struct ali_credential_setup *setup, const struct ali_ctx *ctx,
                            struct ali_raw_credential *ret, struct ccm_error *err)
{
    (void)setup; /* it has no options */
    (void)ctx;
    return ali_raw_credential_keep("environment", getenv("ACCESS_KEY_ID"),
                                   getenv("ACCESS_KEY_SECRET"), getenv("SECURITY_TOKEN"), ret, err);
}

static bool role_ok(const char *role)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const size_t len = strlen(role);

    return len > 0 && len <= 128 && strspn(role, allowed) == len;
}

static int from_role(const struct ali_credential_setup *setup, const struct ali_ctx *ctx,
                     struct ali_raw_credential *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *roles = NULL;
    int r = ali_metadata_get(setup->metadata, ctx, ROLES, &roles, err);

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
    CCM_CLEANUP(ccm_json_wipep) cJSON *json = NULL;

    if (item == NULL) {
        return ccm_error_nomem(err);
    }
    r = ali_metadata_get(setup->metadata, ctx, item, &text.hidden, err);
    if (r < 0) {
        return ccm_error_wrap(err, r, "credentials");
    }
    r = parse_document("RAM role", &text, &json, err);
    return r < 0 ? r
                 : ali_raw_credential_from_json("RAM role", &ali_role_names, json, ctx, ret, err);
}

static bool has_file(const struct ali_credential_setup *setup)
{
    return !ccm_text_empty(setup->file);
}

static bool has_addon(const struct ali_credential_setup *setup)
{
    return access(setup->addon_file, F_OK) == 0;
}

static bool has_environment(const struct ali_credential_setup *setup)
{
    (void)setup; /* it has no options */
    return !ccm_text_empty(getenv("ACCESS_KEY_ID")) && !ccm_text_empty(getenv("ACCESS_KEY_SECRET"));
}

static bool has_oidc(const struct ali_credential_setup *setup)
{
    return !ccm_text_empty(setup->role_arn) && !ccm_text_empty(setup->oidc_provider) &&
           !ccm_text_empty(setup->oidc_token_file);
}

typedef int (*source_fn)(const struct ali_credential_setup *setup, const struct ali_ctx *ctx,
                         struct ali_raw_credential *ret, struct ccm_error *err);

/* By enum ali_credential_source, whose order is that of "auto". */
static const struct source {
    const char *name;
    bool (*is_set_up)(const struct ali_credential_setup *setup); /* NULL = always */
    const char *missing; /* why it is refused when it is named and not set up; NULL = it is not */
    source_fn fetch;
    const char *option; /* that names the file which it begins with; NULL = none */
    source_fn check;    /* of that file */
} sources[] = {
    [ALI_CREDENTIAL_FILE] = { "file", has_file, "credentials.file is not set", from_file,
                              "credentials.file", from_file },
    [ALI_CREDENTIAL_ADDON] = { "addon", has_addon, NULL, from_addon, "credentials.addon_file",
                               from_addon },
    [ALI_CREDENTIAL_ENV] = { "env", has_environment,
                             "the environment variables ACCESS_KEY_ID and ACCESS_KEY_SECRET are "
                             "not both set",
                             from_environment, NULL, NULL },
    [ALI_CREDENTIAL_OIDC] = { "oidc", has_oidc,
                              "credentials.role_arn, oidc_provider_arn and oidc_token_file (or the "
                              "environment variables ALIBABA_CLOUD_ROLE_ARN, "
                              "ALIBABA_CLOUD_OIDC_PROVIDER_ARN and "
                              "ALIBABA_CLOUD_OIDC_TOKEN_FILE) are not all set",
                              ali_credential_from_oidc, "credentials.oidc_token_file",
                              ali_credential_check_oidc },
    [ALI_CREDENTIAL_RAM_ROLE] = { "ram-role", NULL, NULL, from_role, NULL, NULL },
};

int ali_credential_choose(const struct ali_credential_setup *setup, enum ali_credential_source *ret,
                          struct ccm_error *err)
{
    const bool automatic = strcmp(setup->source, "auto") == 0;

    for (size_t i = 0; i < CCM_ARRAY_LEN(sources); i++) {
        const struct source *source = &sources[i];
        const bool set_up = source->is_set_up == NULL || source->is_set_up(setup);

        if (automatic ? !set_up : strcmp(setup->source, source->name) != 0) {
            continue;
        }
        if (!set_up && source->missing != NULL) {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "alicloud.credentials.source is \"%s\", but %s", source->name,
                                 source->missing);
        }
        *ret = (enum ali_credential_source)i;
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

int ali_credential_check(enum ali_credential_source source,
                         const struct ali_credential_setup *setup, const struct ali_ctx *ctx,
                         const char **ret_option, struct ccm_error *err)
{
    CCM_CLEANUP(ali_raw_credential_fini) struct ali_raw_credential raw = { 0 };

    if (sources[source].check == NULL) {
        return 0;
    }
    *ret_option = sources[source].option;

    const int r = sources[source].check(setup, ctx, &raw, err);

    return r == -ESTALE ? 0 : r; /* its owner may renew it at any time */
}

int ali_credential_fetch(enum ali_credential_source source,
                         const struct ali_credential_setup *setup, const struct ali_ctx *ctx,
                         struct ali_raw_credential *ret, struct ccm_error *err)
{
    const int r = sources[source].fetch(setup, ctx, ret, err);

    if (r < 0 || source == ALI_CREDENTIAL_OIDC || ccm_text_empty(setup->role_arn)) {
        return r;
    }
    return ali_credential_assume(setup, ctx, ret, err);
}
