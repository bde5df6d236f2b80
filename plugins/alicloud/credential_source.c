#include "alicloud/credential_source.h"

#include "util/cleanup.h"
#include "util/json.h"
#include "util/parse.h"
#include "util/text.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE ((size_t)64 * 1024)
#define MAX_TEXT 16384 /* of a key, secret or token */
#define ROLES    "ram/security-credentials/"

static const struct ali_credential_names file_names = { "access_key_id", "access_key_secret",
                                                        "security_token", "expiration" };
static const struct ali_credential_names role_names = { "AccessKeyId", "AccessKeySecret",
                                                        "SecurityToken", "Expiration" };

void ali_raw_credential_fini(struct ali_raw_credential *raw)
{
    free(raw->key_id);
    ccm_secret_fini(&raw->secret);
    ccm_secret_fini(&raw->token);
    *raw = (struct ali_raw_credential){ 0 };
}

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

/* Keys and tokens go into headers and parameters: visible ASCII, bounded. */
static bool text_ok(const char *text)
{
    const size_t len = strlen(text);

    for (size_t i = 0; i < len; i++) {
        if (text[i] <= ' ' || text[i] > '~') {
            return false;
        }
    }
    return len <= MAX_TEXT;
}

int ali_raw_credential_keep(const char *what, const char *key_id, const char *secret,
                            const char *token, struct ali_raw_credential *ret,
                            struct ccm_error *err)
{
    if (ccm_text_empty(key_id) || ccm_text_empty(secret)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_AUTH,
                             "credentials: %s: access key id or secret is missing", what);
    }
    if (!text_ok(key_id) || !text_ok(secret) || (token != NULL && !text_ok(token))) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_AUTH,
                             "credentials: %s: blanks, line ends or strange characters in key, "
                             "secret or token",
                             what);
    }
    ret->key_id = strdup(key_id);
    if (ret->key_id == NULL || ccm_secret_set(&ret->secret, secret) < 0 ||
        (!ccm_text_empty(token) && ccm_secret_set(&ret->token, token) < 0)) {
        ali_raw_credential_fini(ret);
        return ccm_error_nomem(err);
    }
    return 0;
}

int ali_raw_credential_keep_end(const char *what, const char *end, const struct ali_ctx *ctx,
                                struct ali_raw_credential *ret, struct ccm_error *err)
{
    int64_t end_ms = 0;

    if (ccm_text_empty(end)) {
        return 0;
    }
    if (ccm_parse_rfc3339(end, &end_ms) < 0) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_AUTH,
                             "credentials: %s: expiration is no time such as "
                             "2026-01-02T03:04:05Z",
                             what);
    }
    ret->life_ms = end_ms - ctx->host->wall_ms(ctx->host);
    if (ret->life_ms > ALI_CREDENTIAL_EARLY_MS) {
        return 0;
    }
    /* The same words on each try: who has told a problem does not tell it again. */
    return ccm_error_set(err, -ESTALE, CCM_ERROR_TRANSIENT,
                         ret->life_ms > 0 ? "credentials: %s: ends too soon, at %.40s"
                                          : "credentials: %s: expired at %.40s by the clock of "
                                            "this machine, which may be wrong",
                         what, end);
}

int ali_raw_credential_from_json(const char *what, const struct ali_credential_names *names,
                                 const cJSON *json, const struct ali_ctx *ctx,
                                 struct ali_raw_credential *ret, struct ccm_error *err)
{
    const int r = ali_raw_credential_keep(what, ccm_json_str(json, names->key_id),
                                          ccm_json_str(json, names->secret),
                                          ccm_json_str(json, names->token), ret, err);

    return r < 0 ? r
                 : ali_raw_credential_keep_end(what, ccm_json_str(json, names->end), ctx, ret, err);
}

static int from_text(const char *what, const struct ali_credential_names *names, const char *text,
                     const struct ali_ctx *ctx, struct ali_raw_credential *ret,
                     struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    if (ccm_json_parse(text, strlen(text), &json) < 0 || !cJSON_IsObject(json)) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT, "credentials: %s: no JSON object",
                             what);
    }
    return ali_raw_credential_from_json(what, names, json, ctx, ret, err);
}

int ali_credential_file_state(const char *path, struct ali_file_state *ret)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        return -errno;
    }
    *ret = (struct ali_file_state){
        .changed_s = st.st_mtim.tv_sec,
        .changed_ns = st.st_mtim.tv_nsec,
        .size = st.st_size,
        .inode = (uint64_t)st.st_ino,
    };
    return 0;
}

bool ali_credential_file_same(const struct ali_file_state *a, const struct ali_file_state *b)
{
    return a->changed_s == b->changed_s && a->changed_ns == b->changed_ns && a->size == b->size &&
           a->inode == b->inode;
}

/* Others may not write it: they would choose whose account we act in. That others may read it is
 * how mounted cluster secrets look, so that is only told. */
static int check_mode(const char *path, const struct ali_ctx *ctx, struct ccm_error *err)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        const int r = -errno;

        return ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "credentials: %s: %s", path,
                             strerror(-r));
    }
    if (!S_ISREG(st.st_mode) || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return ccm_error_set(err, -EPERM, CCM_ERROR_AUTH,
                             "credentials: %s: must be a regular file that only its owner may "
                             "write (mode %03o)",
                             path, (unsigned int)(st.st_mode & 0777));
    }
    if ((st.st_mode & S_IROTH) != 0) {
        ctx->host->log(ctx->host, CCM_LEVEL_WARN, NULL,
                       "credentials: %s: everybody on this machine may read it", path);
    }
    return 0;
}

int ali_credential_read_file(const char *path, const struct ali_ctx *ctx,
                             struct ali_file_state *ret_state, struct ccm_secret *ret_text,
                             struct ccm_error *err)
{
    size_t len = 0;
    int r = check_mode(path, ctx, err);

    if (r < 0) {
        return r;
    }
    /* The state before the read: a change in between is seen at the next look. */
    r = ali_credential_file_state(path, ret_state);
    if (r == 0) {
        r = ccm_text_read_file(path, MAX_FILE, &ret_text->hidden, &len);
    }
    if (r < 0) {
        return ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "credentials: %s: %s", path,
                             strerror(-r));
    }
    return 0;
}

static int from_file(const char *path, const struct ali_ctx *ctx, struct ali_raw_credential *ret,
                     struct ccm_error *err)
{
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret text = { 0 };
    const int r = ali_credential_read_file(path, ctx, &ret->file, &text, err);

    return r < 0 ? r : from_text(path, &file_names, ccm_secret_text(&text), ctx, ret, err);
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
