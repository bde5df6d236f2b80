/*
 * The two signatures of the cloud, as functions of their inputs: nothing is fetched, no clock is
 * read. Every thread.
 */
#ifndef CCM_ALICLOUD_SIGN_H
#define CCM_ALICLOUD_SIGN_H

#include "alicloud/client.h"
#include "util/buf.h"
#include "util/digest.h"
#include "util/secret.h"

/* "x-acs-date" -> "2026-..."; names in small letters. */
struct ali_sign_header {
    const char *name;
    const char *value;
};

#define ALI_SIGN_HEADERS_MAX 16

struct ali_sign_v3 {
    const char *query; /* sorted and escaped, "" = none */
    const char *body;  /* bytes as sent */
    size_t body_len;
    /* All that count: host, content-type, x-acs-*; any order. */
    const struct ali_sign_header *headers;
    size_t header_count; /* at most ALI_SIGN_HEADERS_MAX */
    const char *key_id;
    const struct ccm_secret *secret;
};

/*
 * ACS3-HMAC-SHA256 of a POST to "/": append the value of the Authorization header. ret_hash (may
 * be NULL) gets the hash of the canonical request, to compare with what the server says it signed.
 * 0, -EINVAL (too many headers), -ENOMEM or -EMSGSIZE.
 */
CCM_NODISCARD int ali_sign_v3(const struct ali_sign_v3 *in, struct ccm_buf *authorization,
                              char ret_hash[CCM_DIGEST_HEX]);

/* RPC1 (HMAC-SHA1) of a POST to "/" with these parameters, query and form alike, without
 * "Signature": append the base64 text, not escaped. ret_hash (may be NULL) gets the hex SHA-256 of
 * the string that was signed. 0, -ENOMEM or -EMSGSIZE. */
CCM_NODISCARD int ali_sign_v1(const struct ali_params *params, const struct ccm_secret *secret,
                              struct ccm_buf *signature, char ret_hash[CCM_DIGEST_HEX]);

#endif
