#include "util/base64.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int value_of(char c)
{
    const char *at = strchr(alphabet, c);

    return c == '\0' || at == NULL ? -1 : (int)(at - alphabet);
}

int ccm_base64_decode(struct ccm_buf *buf, const char *text)
{
    uint32_t bits = 0;
    unsigned digits = 0;
    unsigned padding = 0;

    for (const char *p = text; *p != '\0'; p++) {
        if (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n') {
            continue;
        }
        if (*p == '=') {
            padding++;
            continue;
        }

        const int value = value_of(*p);

        if (value < 0 || padding > 0) {
            return -EBADMSG;
        }
        bits = (bits << 6) | (uint32_t)value;
        digits = (digits + 1) % 4;
        if (digits != 1) {
            ccm_buf_addc(buf, (char)(bits >> (6 - 2 * ((digits + 3) % 4))));
        }
    }
    if (digits == 1 || padding != (4 - digits) % 4) {
        return -EBADMSG;
    }
    return ccm_buf_error(buf);
}

void ccm_base64_encode(struct ccm_buf *buf, const void *data, size_t len)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < len; i += 3) {
        const size_t have = len - i < 3 ? len - i : 3;
        uint32_t bits = (uint32_t)bytes[i] << 16;

        bits |= have > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        bits |= have > 2 ? (uint32_t)bytes[i + 2] : 0;
        for (size_t digit = 0; digit < 4; digit++) {
            ccm_buf_addc(buf, digit <= have ? alphabet[bits >> (18 - 6 * digit) & 63] : '=');
        }
    }
}
