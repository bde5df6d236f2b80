#include "util/url.h"

#include <string.h>

void ccm_url_escape(struct ccm_buf *buf, const char *text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    while (*text != '\0') {
        const size_t len = strspn(text, plain);

        ccm_buf_add(buf, text, len);
        text += len;
        if (*text != '\0') {
            ccm_buf_addf(buf, "%%%02X", (unsigned int)(unsigned char)*text);
            text++;
        }
    }
}
