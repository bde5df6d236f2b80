/* IP addresses and blocks as bytes: text forms of one address are one address. Every thread. */
#ifndef CCM_UTIL_CIDR_H
#define CCM_UTIL_CIDR_H

#include "ccm/plugin.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An IPv4 address is kept in its IPv6-mapped form, so "10.0.0.1" equals "::ffff:10.0.0.1". */
struct ccm_ip {
    uint8_t bytes[16];
};

struct ccm_cidr {
    struct ccm_ip ip;
    uint8_t bits; /* 0..128, of the mapped form */
};

#define CCM_IP_TEXT 46

/* 0 or -EINVAL. */
CCM_NODISCARD int ccm_ip_parse(const char *text, struct ccm_ip *ret);
bool ccm_ip_is_v4(const struct ccm_ip *ip);
/* Whether both are texts of one address. */
bool ccm_ip_equal_text(const char *a, const char *b);
/* Shortest usual form. */
void ccm_ip_format(const struct ccm_ip *ip, char text[CCM_IP_TEXT]);

/* "10.0.0.0/8", "2408::/32", or an address alone. Host bits are ignored. 0 or -EINVAL,
 * which "::ffff:10.0.0.0/8" is too: it is a block of neither family. */
CCM_NODISCARD int ccm_cidr_parse(const char *text, struct ccm_cidr *ret);
bool ccm_cidr_contains(const struct ccm_cidr *cidr, const struct ccm_ip *ip);

#endif
