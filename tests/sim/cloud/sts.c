/* Who one is, and temporary keys of roles. */
#include "account.h"
#include "families.h"
#include "plain.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <openssl/evp.h>
#include <string.h>

#define DEFAULT_MAX_S 3600

/* "acs:ram::ACCOUNT:KIND/NAME" -> account and name, sizes 64. False: not of that form. */
static bool arn_split(const char *arn, const char *kind, char *account, char *name)
{
    const char *rest = ccm_text_starts(arn, "acs:ram::") ? arn + strlen("acs:ram::") : "";
    size_t len = strspn(rest, "0123456789");
    const char *tail = rest + len;

    if (len == 0 || len >= 64 || *tail != ':' || !ccm_text_starts(tail + 1, kind) ||
        tail[1 + strlen(kind)] != '/' || strlen(tail + 2 + strlen(kind)) >= 64 ||
        tail[2 + strlen(kind)] == '\0') {
        return false;
    }
    ccm_text_copy(account, len + 1, rest);
    ccm_text_copy(name, 64, tail + 2 + strlen(kind));
    return true;
}

/* The role, if the world names any; else every role exists. *ret_max: longest session. */
static int role_find(struct ccm_cloud_call *call, int64_t *ret_max)
{
    const struct ccm_cloud_obj *role =
        ccm_cloud_plain_get(call->cloud, CCM_CLOUD_ROLE, ccm_cloud_text(call, "RoleArn", ""));

    *ret_max = DEFAULT_MAX_S;
    if (role == NULL && ccm_strmap_len(call->cloud->plain[CCM_CLOUD_ROLE]) > 0) {
        return ccm_cloud_fail(call, 404, "EntityNotExist.Role", "The specified Role not exists .");
    }
    if (role != NULL &&
        ccm_parse_i64(ccm_cloud_attr(role, "MaxSessionDuration"), 900, 43200, ret_max) < 0) {
        *ret_max = DEFAULT_MAX_S; /* not given */
    }
    return 0;
}

static bool name_fits(const char *name)
{
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.@-_") ==
           strlen(name);
}

static int check_policy(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    const char *policy = ccm_cloud_text(call, "Policy", NULL);

    if (policy != NULL &&
        (ccm_json_parse(policy, strlen(policy), &json) < 0 || !cJSON_IsObject(json))) {
        return ccm_cloud_fail(call, 400, "InvalidParameter.PolicyGrammar",
                              "The parameter Policy has not passed grammar check.");
    }
    return 0;
}

struct session {
    char account[64];
    char role[64];
    int64_t life_s;
};

static int session_read(struct ccm_cloud_call *call, struct session *session)
{
    int64_t max = 0;
    int r = 0;

    if (!arn_split(ccm_cloud_text(call, "RoleArn", ""), "role", session->account, session->role)) {
        return ccm_cloud_fail(call, 400, "InvalidParameter.RoleArn",
                              "The parameter RoleArn is wrongly formed.");
    }
    if (!name_fits(ccm_cloud_text(call, "RoleSessionName", ""))) {
        return ccm_cloud_fail(call, 400, "InvalidParameter.RoleSessionName",
                              "The parameter RoleSessionName is wrongly formed.");
    }
    r = check_policy(call);
    r = r < 0 ? r : role_find(call, &max);
    if (r < 0) {
        return r;
    }
    session->life_s = ccm_cloud_int(call, "DurationSeconds", DEFAULT_MAX_S);
    if (session->life_s > max) {
        return ccm_cloud_fail(call, 400, "InvalidParameter.DurationSeconds",
                              "The Min/Max value of DurationSeconds is 15min/1hr.");
    }
    return 0;
}

/* Make the keys, let them sign, and write them. */
static int session_write(struct ccm_cloud_call *call, const struct session *session)
{
    char serial[48];
    char text[CCM_CLOCK_TEXT];
    int64_t expires = ccm_clock_wall_ms() + session->life_s * 1000;

    ccm_cloud_new_id(call->cloud, "STS.N", serial, sizeof(serial));

    CCM_CLEANUP(ccm_freep) char *secret = ccm_text_format("secret-of-%s", serial);
    CCM_CLEANUP(ccm_freep) char *token = ccm_text_format("token-of-%s", serial);
    CCM_CLEANUP(ccm_freep)
    char *arn = ccm_text_format("acs:ram::%s:assumed-role/%s/%s", session->account, session->role,
                                ccm_cloud_text(call, "RoleSessionName", ""));
    CCM_CLEANUP(ccm_freep)
    char *id = ccm_text_format("3000000000000001:%s", ccm_cloud_text(call, "RoleSessionName", ""));

    if (secret == NULL || token == NULL || arn == NULL || id == NULL) {
        return -ENOMEM;
    }

    int r = ccm_cloud_accounts_set(call->cloud->accounts, serial, secret, token, expires);

    r = r < 0 ? r
              : ccm_cloud_accounts_own(call->cloud->accounts, serial, session->account, arn, false);
    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(call->out, "AssumedRoleUser", '{');
    ccm_jsonw_str(call->out, "Arn", arn);
    ccm_jsonw_str(call->out, "AssumedRoleId", id);
    ccm_jsonw_close(call->out, '}');
    ccm_clock_format(expires, text, sizeof(text));
    ccm_jsonw_open(call->out, "Credentials", '{');
    ccm_jsonw_str(call->out, "AccessKeyId", serial);
    ccm_jsonw_str(call->out, "AccessKeySecret", secret);
    ccm_jsonw_str(call->out, "Expiration", text);
    ccm_jsonw_str(call->out, "SecurityToken", token);
    ccm_jsonw_close(call->out, '}');
    ccm_jsonw_str(call->out, "SourceIdentity", ccm_cloud_text(call, "SourceIdentity", ""));
    return 0;
}

static int assume_role(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_cloud_key_fini) struct ccm_cloud_key key = { 0 };
    struct session session = { 0 };
    int r = session_read(call, &session);

    if (r == 0 && ccm_cloud_accounts_get(call->cloud->accounts, call->key_id, &key) == 0 &&
        key.root) {
        r = ccm_cloud_fail(call, 403, "NoPermission", "Roles may not be assumed by root accounts.");
    }
    return r < 0 ? r : session_write(call, &session);
}

/* ---- tokens of another identity provider ---- */

/* The claims of a JSON web token; its signature is nobody's business here. 0 or -EBADMSG. */
static int claims_read(const char *token, cJSON **ret)
{
    const char *first = strchr(token, '.');
    const char *second = first == NULL ? NULL : strchr(first + 1, '.');
    size_t len = second == NULL ? 0 : (size_t)(second - first) - 1;
    size_t padded = (len + 3) / 4 * 4;

    if (len == 0 || second[1] == '\0') {
        return -EBADMSG;
    }

    CCM_CLEANUP(ccm_freep) char *text = malloc(padded + 1);
    CCM_CLEANUP(ccm_freep) char *plain = malloc(padded + 1);

    if (text == NULL || plain == NULL) {
        return -EBADMSG;
    }
    for (size_t i = 0; i < padded; i++) {
        char c = i < len ? first[1 + i] : '=';

        c = c == '-' ? '+' : c;
        text[i] = c == '_' ? '/' : c;
    }
    text[padded] = '\0';

    int size = EVP_DecodeBlock((unsigned char *)plain, (const unsigned char *)text, (int)padded);

    if (size < (int)(padded - len)) {
        return -EBADMSG;
    }
    return ccm_json_parse(plain, (size_t)size - (padded - len), ret);
}

static void token_write(struct ccm_cloud_call *call, const cJSON *claims)
{
    char text[CCM_CLOCK_TEXT];
    const cJSON *audience = ccm_json_get(claims, "aud");
    const char *client = cJSON_IsArray(audience) && cJSON_IsString(audience->child)
                             ? audience->child->valuestring
                             : ccm_json_text(claims, "aud");

    ccm_jsonw_open(call->out, "OIDCTokenInfo", '{');
    ccm_jsonw_str(call->out, "ClientIds", client);
    ccm_clock_format(ccm_json_i64(claims, "exp", 0) * 1000, text, sizeof(text));
    ccm_jsonw_str(call->out, "ExpirationTime", text);
    ccm_clock_format(ccm_json_i64(claims, "iat", 0) * 1000, text, sizeof(text));
    ccm_jsonw_str(call->out, "IssuanceTime", text);
    ccm_jsonw_str(call->out, "Issuer", ccm_json_text(claims, "iss"));
    ccm_jsonw_str(call->out, "Subject", ccm_json_text(claims, "sub"));
    ccm_jsonw_str(call->out, "VerificationInfo", "Success");
    ccm_jsonw_close(call->out, '}');
}

static int assume_with_token(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *claims = NULL;
    struct session session = { 0 };
    char account[64];
    char name[64];

    if (!arn_split(ccm_cloud_text(call, "OIDCProviderArn", ""), "oidc-provider", account, name)) {
        return ccm_cloud_fail(call, 400, "InvalidParameter.OIDCProviderArn",
                              "The parameter OIDCProviderArn is wrongly formed.");
    }

    int r = session_read(call, &session);

    if (r < 0) {
        return r;
    }
    if (claims_read(ccm_cloud_text(call, "OIDCToken", ""), &claims) < 0) {
        return ccm_cloud_fail(call, 400, "AuthenticationFail.OIDCToken.Invalid",
                              "This JsonWebToken is invalid.");
    }
    if (ccm_json_i64(claims, "exp", 0) * 1000 < ccm_clock_wall_ms()) {
        return ccm_cloud_fail(call, 400, "AuthenticationFail.OIDCToken.Expired",
                              "This JsonWebToken is expired.");
    }
    r = session_write(call, &session);
    if (r == 0) {
        token_write(call, claims);
    }
    return r;
}

static int identity(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_cloud_key_fini) struct ccm_cloud_key key = { 0 };
    int r = ccm_cloud_accounts_get(call->cloud->accounts, call->key_id, &key);

    if (r < 0) {
        return r == -ENOMEM ? r
                            : ccm_cloud_fail(call, 404, "InvalidAccessKeyId.NotFound",
                                             "Specified access key is not found.");
    }

    bool role = strstr(key.arn, ":assumed-role/") != NULL;

    ccm_jsonw_str(call->out, "AccountId", key.account);
    ccm_jsonw_str(call->out, "Arn", key.arn);
    ccm_jsonw_str(call->out, "IdentityType",
                  role       ? "AssumedRoleUser"
                  : key.root ? "Account"
                             : "RAMUser");
    ccm_jsonw_str(call->out, "PrincipalId", key.id);
    ccm_jsonw_str(call->out, "RoleId", role ? "3000000000000001" : "");
    ccm_jsonw_str(call->out, "UserId", role ? "" : key.id);
    return 0;
}

#define ROLE_ROWS                                                                                  \
    { .name = "DurationSeconds",                                                                   \
      .type = CCM_CLOUD_INT,                                                                       \
      .min = 900,                                                                                  \
      .max = 43200,                                                                                \
      .invalid = "InvalidParameter.DurationSeconds" },                                             \
        { .name = "Policy", .min = 1, .max = 2048, .invalid = "InvalidParameter.PolicySize" },     \
        { .name = "RoleArn", .required = true },                                                   \
    {                                                                                              \
        .name = "RoleSessionName", .required = true, .min = 2, .max = 64,                          \
        .invalid = "InvalidParameter.RoleSessionName"                                              \
    }

static const struct ccm_cloud_param role_params[] = {
    ROLE_ROWS,
    { .name = "ExternalId", .min = 2, .max = 1224, .invalid = "InvalidParameter.ExternalId" },
    { .name = "SourceIdentity", .min = 2, .max = 64 },
    { 0 },
};

static const struct ccm_cloud_param token_params[] = {
    ROLE_ROWS,
    { .name = "OIDCProviderArn", .required = true },
    { .name = "OIDCToken",
      .required = true,
      .min = 4,
      .max = 20000,
      .invalid = "AuthenticationFail.OIDCToken.Invalid" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_sts_actions[] = {
    { .name = "AssumeRole", .params = role_params, .run = assume_role },
    { .name = "AssumeRoleWithOIDC",
      .params = token_params,
      .open = true,
      .run = assume_with_token },
    { .name = "GetCallerIdentity", .run = identity },
    { 0 },
};
