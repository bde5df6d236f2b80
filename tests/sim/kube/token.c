#include "token.h"

#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void encode(struct ccm_buf *buf, const unsigned char *data, size_t len)
{
    for (size_t i = 0; i < len; i += 3) {
        const size_t n = len - i < 3 ? len - i : 3;
        const uint32_t v = ((uint32_t)data[i] << 16) | (n > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                           (n > 2 ? data[i + 2] : 0);

        for (size_t k = 0; k < n + 1; k++) {
            ccm_buf_addc(buf, alphabet[(v >> (18 - 6 * k)) & 63]);
        }
    }
}

static int decode(struct ccm_buf *buf, const char *text)
{
    uint32_t bits = 0;
    unsigned count = 0;

    for (; *text != '\0' && *text != '='; text++) {
        const char *at = strchr(alphabet, *text);

        if (at == NULL) {
            return -EINVAL;
        }
        bits = (bits << 6) | (uint32_t)(at - alphabet);
        count += 6;
        if (count >= 8) {
            count -= 8;
            ccm_buf_addc(buf, (char)((bits >> count) & 255));
        }
    }
    return 0;
}

void ccm_ks_token_print(struct ccm_buf *buf, int64_t version, const char *key)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { .max = 4096 };

    ccm_buf_addf(&json, "{\"v\":\"meta.k8s.io/v1\",\"rv\":%" PRId64 ",\"start\":", version);
    ccm_json_quote(&json, key);
    ccm_buf_addc(&json, '}');
    encode(buf, (const unsigned char *)ccm_buf_str(&json), json.len);
}

int ccm_ks_token_parse(const char *token, int64_t *ret_version, char *key, size_t size)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 8192 };
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    if (decode(&text, token) < 0 || ccm_buf_error(&text) < 0 ||
        ccm_json_parse(ccm_buf_str(&text), text.len, &json) < 0) {
        return -EINVAL;
    }

    const int64_t version = ccm_json_i64(json, "rv", 0);
    const char *start = ccm_json_text(json, "start");

    if (version == 0 || start[0] == '\0' || strlen(start) >= size) {
        return -EINVAL;
    }
    *ret_version = version;
    ccm_text_copy(key, size, start);
    return 0;
}
