/* What a listener speaks, whatever the product calls it. Pure. Every thread. */
#ifndef CCM_LBC_PROTOCOL_H
#define CCM_LBC_PROTOCOL_H

#include <stdbool.h>

enum lbc_protocol {
    LBC_TCP,
    LBC_UDP,
    LBC_HTTP,
    LBC_HTTPS,
    LBC_TCPSSL,
    LBC_OTHER /* none that we know */
};

/* "TCP", "UDP", "HTTP", "HTTPS", "TCPSSL"; "OTHER" beyond. */
const char *lbc_protocol_name(enum lbc_protocol protocol);
/* The same in small letters. */
const char *lbc_protocol_lower(enum lbc_protocol protocol);
/* Any case; LBC_OTHER when it is none of `known` (bits 1U << protocol), or NULL. */
enum lbc_protocol lbc_protocol_parse(const char *text, unsigned known);
/* Whether listeners of these protocols cannot share a port: all but UDP are made of TCP. */
bool lbc_protocol_clash(enum lbc_protocol a, enum lbc_protocol b);

#endif
