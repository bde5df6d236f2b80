#include "alicloud/sign.h"

#include "alicloud/params.h"
#include "util/cleanup.h"
#include "util/text.h"

#define ALGORITHM "ACS3-HMAC-SHA256"

static int headers_compare_names(const void *a, const void *b)
{
    const struct ali_sign_header *left = a;
    const struct ali_sign_header *right = b;

    return strcmp(left->name, right->name);
}

int ali_sign_v3(const struct ali_sign_v3 *in, struct ccm_buf *authorization,
                char ret_hash[CCM_DIGEST_HEX])
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf request = { .max = ALI_PARAMS_MAX, .wipe = true };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf names = { .max = 4096 };
    struct ali_sign_header headers[ALI_SIGN_HEADERS_MAX];
    char hash[CCM_DIGEST_HEX];

    if (in->header_count > ALI_SIGN_HEADERS_MAX) {
        return -EINVAL;
    }
    memcpy(headers, in->headers, in->header_count * sizeof(headers[0]));
    qsort(headers, in->header_count, sizeof(headers[0]), headers_compare_names);
    ccm_buf_addf(&request, "POST\n/\n%s\n", in->query);
    for (size_t i = 0; i < in->header_count; i++) {
        ccm_buf_addf(&request, "%s:%s\n", headers[i].name, headers[i].value);
        ccm_buf_addf(&names, "%s%s", i == 0 ? "" : ";", headers[i].name);
    }
    ccm_digest_sha256_hex(in->body, in->body_len, hash);
    ccm_buf_addf(&request, "\n%s\n%s", ccm_buf_str(&names), hash);
    if (ccm_buf_error(&request) < 0 || ccm_buf_error(&names) < 0) {
        return ccm_buf_error(&request) < 0 ? ccm_buf_error(&request) : ccm_buf_error(&names);
    }
    ccm_digest_sha256_hex(ccm_buf_str(&request), request.len, hash);

    char text[sizeof(ALGORITHM) + CCM_DIGEST_HEX];
    struct ccm_mac mac;

    ccm_text_printf(text, sizeof(text), ALGORITHM "\n%s", hash);

    const int r = ccm_digest_hmac(CCM_DIGEST_SHA256, in->secret, text, &mac);

    if (r < 0) {
        return r;
    }

    char signature[CCM_DIGEST_HEX];

    ccm_digest_format_hex(mac.bytes, mac.len, signature);
    ccm_buf_addf(authorization, ALGORITHM " Credential=%s,SignedHeaders=%s,Signature=%s",
                 in->key_id, ccm_buf_str(&names), signature);
    if (ret_hash != NULL) {
        memcpy(ret_hash, hash, sizeof(hash));
    }
    return ccm_buf_error(authorization);
}
