#include "util/base64.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

static int value_of(char c)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
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
