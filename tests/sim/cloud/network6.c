#include "network6.h"

#include "util/parse.h"
#include "util/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct network {
    uint8_t bytes[16];
    uint32_t bits;
};

/* Keep the first `bits` bits. */
static void mask(uint8_t bytes[16], uint32_t bits)
{
    for (uint32_t i = 0; i < 16; i++) {
        const uint32_t kept = bits <= i * 8 ? 0 : bits - i * 8 < 8 ? bits - i * 8 : 8;

        bytes[i] &= (uint8_t)(0xff00U >> kept);
    }
}

/* 0 or -EINVAL. */
static int parse(const char *text, struct network *ret)
{
    char address[INET6_ADDRSTRLEN];
    const size_t len = strcspn(text, "/");

    ret->bits = 128;
    if (len >= sizeof(address) ||
        (text[len] == '/' && ccm_parse_u32(text + len + 1, 0, 128, &ret->bits) < 0)) {
        return -EINVAL;
    }
    ccm_text_copy(address, len + 1, text);
    if (inet_pton(AF_INET6, address, ret->bytes) != 1) {
        return -EINVAL;
    }
    mask(ret->bytes, ret->bits);
    return 0;
}

void ccm_cloud_network_text(const char *given, char text[CCM_CLOUD_NETWORK_TEXT])
{
    char address[INET6_ADDRSTRLEN];
    struct network network;

    if (parse(given, &network) == 0 &&
        inet_ntop(AF_INET6, network.bytes, address, sizeof(address)) != NULL) {
        ccm_text_printf(text, CCM_CLOUD_NETWORK_TEXT, "%s/%u", address, network.bits);
    } else {
        (void)snprintf(text, CCM_CLOUD_NETWORK_TEXT, "%s%s", given,
                       strchr(given, '/') == NULL ? "/32" : ""); /* cut by contract */
    }
}

bool ccm_cloud_network6_is(const char *text)
{
    struct network network;

    return parse(text, &network) == 0;
}

bool ccm_cloud_networks6_meet(const char *a, const char *b)
{
    struct network one;
    struct network other;

    if (parse(a, &one) < 0 || parse(b, &other) < 0) {
        return false;
    }

    const uint32_t bits = one.bits < other.bits ? one.bits : other.bits;

    mask(one.bytes, bits);
    mask(other.bytes, bits);
    return memcmp(one.bytes, other.bytes, sizeof(one.bytes)) == 0;
}
