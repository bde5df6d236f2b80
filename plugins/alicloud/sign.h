/*
 * The signature of the cloud, as a function of its inputs: nothing is fetched, no clock is read.
 * Every thread.
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

#endif
