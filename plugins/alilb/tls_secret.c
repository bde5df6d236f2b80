#include "alilb/tls_secret.h"

#include "alilb/pem.h"
#include "util/base64.h"
#include "util/cleanup.h"
#include "util/digest.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define CONTENT_MAX    ((size_t)64 * 1024) /* a chain is some kilobytes */
#define NAME_MAX_BYTES 253

void alilb_tls_secret_fini(struct alilb_tls_secret *secret)
{
    ccm_secret_fini(&secret->certificate);
    ccm_secret_fini(&secret->key);
    secret->why = NULL;
}

/* 0 with the text, -EBADMSG for what is none, or -ENOMEM. */
static int entry_decode(const cJSON *data, const char *name, struct ccm_secret *ret)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf bytes = { .max = CONTENT_MAX, .wipe = true };
    const int r = ccm_base64_decode(&bytes, ccm_json_text(data, name));

    if (r < 0) {
        return r == -ENOMEM ? r : -EBADMSG;
    }
    if (strlen(ccm_buf_str(&bytes)) != bytes.len) {
        return -EBADMSG;
    }
    return ccm_secret_set(ret, ccm_buf_str(&bytes)) < 0 ? -ENOMEM : 0;
}

int alilb_tls_secret_parse(const char *json, struct alilb_tls_secret *ret)
{
    CCM_CLEANUP(ccm_json_wipep) cJSON *object = NULL;
    const cJSON *data = NULL;
    int certificate = 0;
    int key = 0;

    if (ccm_json_parse(json, strlen(json), &object) < 0) {
        return -ENOMEM; /* a server stores no other text */
    }
    if (strcmp(ccm_json_text(object, "type"), "kubernetes.io/tls") != 0) {
        ret->why = "it is not of type kubernetes.io/tls";
        return 0;
    }
    data = ccm_json_get(object, "data");
    certificate = entry_decode(data, "tls.crt", &ret->certificate);
    key = entry_decode(data, "tls.key", &ret->key);
    if (certificate == -ENOMEM || key == -ENOMEM) {
        return -ENOMEM;
    }
    if (certificate < 0 || !alilb_pem_is_chain(ccm_secret_text(&ret->certificate))) {
        ret->why = "its tls.crt holds no certificates as PEM";
    } else if (key < 0 || !alilb_pem_is_key(ccm_secret_text(&ret->key))) {
        ret->why = "its tls.key holds no private key as PEM, without a password";
    }
    return 0;
}

/* Whether the API server accepts it as a name. An object may refer to any text. */
static bool name_can_be(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
    const size_t len = strspn(name, letters);

    return len > 0 && name[len] == '\0' && len <= NAME_MAX_BYTES && strchr(".-", name[0]) == NULL &&
           strchr(".-", name[len - 1]) == NULL;
}

int alilb_tls_secret_fetch(const struct ccm_host *host, const struct ccm_request *req,
                           const char *key, struct alilb_tls_secret *ret, struct ccm_error *err)
{
    const char *slash = strchr(key, '/');
    CCM_CLEANUP(ccm_freep)
    char *namespace_ = slash == NULL ? NULL : strndup(key, (size_t)(slash - key));
    const struct ccm_object *object = NULL;
    struct ccm_raw_call call = { .struct_size = sizeof(call),
                                 .api_version = "v1",
                                 .resource = "secrets" };
    int r = 0;

    *ret = (struct alilb_tls_secret){ 0 };
    if (namespace_ == NULL) {
        return ccm_error_nomem(err);
    }
    call.namespace_ = namespace_;
    call.name = slash + 1;
    r = name_can_be(namespace_) && name_can_be(call.name)
            ? host->fetch_raw(host, req, &call, &object, err)
            : ccm_error_set(err, -ENOENT, CCM_ERROR_NOT_FOUND, "%s is no name", key);
    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        ret->why = "it is not there";
        return 0;
    }
    if (r < 0 && err->http_status == 403) {
        ret->why = "it may not be read: the daemon needs the right to get it, by a Role in its "
                   "namespace";
        return 0;
    }
    if (r == 0) {
        r = alilb_tls_secret_parse(((const struct ccm_raw *)object)->json, ret) < 0
                ? ccm_error_nomem(err)
                : 0;
        host->release(host, object);
    }
    return r;
}

/* --- names --- */

/* Of both parts, each by its own hash: no boundary can move between them. */
static void content_hash(const struct alilb_tls_secret *secret, char ret[CCM_DIGEST_HEX])
{
    const char *certificate = ccm_secret_text(&secret->certificate);
    const char *key = ccm_secret_text(&secret->key);
    char both[2 * CCM_DIGEST_HEX];

    ccm_digest_sha256_hex(certificate, strlen(certificate), both);
    ccm_digest_sha256_hex(key, strlen(key), both + CCM_DIGEST_HEX - 1);
    ccm_digest_sha256_hex(both, strlen(both), ret);
    ccm_secret_wipe(both, sizeof(both));
}

void alilb_certificate_name(const char *mark, const char *key,
                            const struct alilb_tls_secret *secret,
                            char ret[static ALILB_CERTIFICATE_NAME])
{
    char owner[CCM_DIGEST_HEX];
    char place[CCM_DIGEST_HEX] = "";
    char content[CCM_DIGEST_HEX] = "";

    ccm_digest_sha256_hex(mark, strlen(mark), owner);
    if (key != NULL) {
        ccm_digest_sha256_hex(key, strlen(key), place);
    }
    if (key != NULL && secret != NULL) {
        content_hash(secret, content);
    }
    ccm_text_printf(ret, ALILB_CERTIFICATE_NAME, "%s%.12s-%.16s%s%.20s", ALILB_CERTIFICATE_PREFIX,
                    owner, place, key == NULL ? "" : "-", content);
}
