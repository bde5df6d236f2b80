#include "util/cidr.h"

#include "util/parse.h"
#include "util/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

static const uint8_t v4_prefix[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

int ccm_ip_parse(const char *text, struct ccm_ip *ret)
{
    struct ccm_ip ip;

    if (inet_pton(AF_INET, text, ip.bytes + 12) == 1) {
        memcpy(ip.bytes, v4_prefix, sizeof(v4_prefix));
    } else if (inet_pton(AF_INET6, text, ip.bytes) != 1) {
        return -EINVAL;
    }
    *ret = ip;
    return 0;
}

bool ccm_ip_is_v4(const struct ccm_ip *ip)
{
    return memcmp(ip->bytes, v4_prefix, sizeof(v4_prefix)) == 0;
}

bool ccm_ip_equal_text(const char *a, const char *b)
{
    struct ccm_ip left;
    struct ccm_ip right;

    return ccm_ip_parse(a, &left) == 0 && ccm_ip_parse(b, &right) == 0 &&
           memcmp(&left, &right, sizeof(left)) == 0;
}

void ccm_ip_format(const struct ccm_ip *ip, char text[CCM_IP_TEXT])
{
    const bool v4 = ccm_ip_is_v4(ip);

    if (inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? ip->bytes + 12 : ip->bytes, text, CCM_IP_TEXT) ==
        NULL) {
        text[0] = '\0';
    }
}

int ccm_cidr_parse(const char *text, struct ccm_cidr *ret)
{
    const char *slash = strchr(text, '/');
    char address[CCM_IP_TEXT];
    struct ccm_cidr cidr = { .bits = 128 };
    const size_t len = slash == NULL ? strlen(text) : (size_t)(slash - text);
    uint32_t bits = 0;

    if (len >= sizeof(address)) {
        return -EINVAL;
    }
    memcpy(address, text, len);
    address[len] = '\0';
    if (ccm_ip_parse(address, &cidr.ip) < 0) {
        return -EINVAL;
    }
    if (slash != NULL) {
        /* The form it was written in decides what its length counts from. */
        const bool dotted = strchr(address, ':') == NULL;

        if (ccm_parse_u32(slash + 1, 0, dotted ? 32 : 128, &bits) < 0) {
            return -EINVAL;
        }
        cidr.bits = (uint8_t)(dotted ? bits + 96 : bits);
    }
    if (cidr.bits < 96 && ccm_ip_is_v4(&cidr.ip)) {
        return -EINVAL; /* wider than all of IPv4 in its mapped form: a block of neither family */
    }
    *ret = cidr;
    return 0;
}

bool ccm_cidr_contains(const struct ccm_cidr *cidr, const struct ccm_ip *ip)
{
    const size_t whole = cidr->bits / 8;
    const unsigned int rest = cidr->bits % 8;

    /* A wide IPv6 block does not hold IPv4 addresses: those are mapped by us alone. */
    if (cidr->bits < 96 && ccm_ip_is_v4(ip)) {
        return false;
    }
    if (memcmp(cidr->ip.bytes, ip->bytes, whole) != 0) {
        return false;
    }
    if (rest == 0) {
        return true;
    }

    const unsigned int mask = 0xffU << (8 - rest) & 0xffU;

    return (cidr->ip.bytes[whole] & mask) == (ip->bytes[whole] & mask);
}
