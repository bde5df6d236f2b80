/*
 * The two signatures of the services: parameters with HMAC-SHA1 (version 1.0), headers with
 * ACS3-HMAC-SHA256. Every thread.
 */
#ifndef CCM_CLOUD_SIGNATURE_H
#define CCM_CLOUD_SIGNATURE_H

#include "common/request.h"
#include "util/attr.h"
#include "util/buf.h"

struct ccm_cloud_accounts;

/* Why a request was refused. */
struct ccm_cloud_refusal {
    unsigned http;
    char code[96];
    struct ccm_buf message;
};

/* Whether the request carries the header signature. */
bool ccm_cloud_signature_is_v3(const struct ccm_sim_request *req);

/* Lower-case hex SHA-256 of bytes; text has room for 65 bytes. 0 or -EIO. */
CCM_NODISCARD int ccm_cloud_sha256_hex(const void *data, size_t len, char *text);

/* The text that is signed, appended. v1: parameters of query and form without Signature. */
void ccm_cloud_v1_string(const struct ccm_sim_request *req, struct ccm_buf *ret);
/* v3: `signed_headers` as in the Authorization header ("host;x-acs-date"). 0, -EINVAL (a named
 * header is missing). */
CCM_NODISCARD int ccm_cloud_v3_canonical(const struct ccm_sim_request *req,
                                         const char *signed_headers, struct ccm_buf *ret);
CCM_NODISCARD int ccm_cloud_v3_string(const char *canonical, size_t len, struct ccm_buf *ret);

/* The signatures: base64 and lower-case hex, appended. 0 or -EIO. */
CCM_NODISCARD int ccm_cloud_v1_sign(const char *secret, const char *text, struct ccm_buf *ret);
CCM_NODISCARD int ccm_cloud_v3_sign(const char *secret, const char *text, struct ccm_buf *ret);

/* Check everything: parts present, key, time, token, signature, nonce. now_ms is the wall clock.
 * 0, or -EACCES with *ret_refusal set. */
CCM_NODISCARD int ccm_cloud_signature_check(const struct ccm_sim_request *req,
                                            struct ccm_cloud_accounts *accounts, int64_t now_ms,
                                            struct ccm_cloud_refusal *ret_refusal);

/* The access key that the request names, whether it signs well or not; "" = none. */
void ccm_cloud_signature_key(const struct ccm_sim_request *req, char *text, size_t size);

#endif
