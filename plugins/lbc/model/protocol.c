#include "lbc/model/protocol.h"

#include "util/text.h"

#include <stddef.h>

static const char *const upper_names[] = { "TCP", "UDP", "HTTP", "HTTPS", "TCPSSL", "OTHER" };
static const char *const lower_names[] = { "tcp", "udp", "http", "https", "tcpssl", "other" };

const char *lbc_protocol_name(enum lbc_protocol protocol)
{
    return upper_names[protocol];
}

const char *lbc_protocol_lower(enum lbc_protocol protocol)
{
    return lower_names[protocol];
}

enum lbc_protocol lbc_protocol_parse(const char *text, unsigned known)
{
    for (unsigned i = 0; text != NULL && i < LBC_OTHER; i++) {
        if ((known >> i & 1U) != 0 && ccm_text_equal_case(text, upper_names[i])) {
            return (enum lbc_protocol)i;
        }
    }
    return LBC_OTHER;
}

bool lbc_protocol_clash(enum lbc_protocol a, enum lbc_protocol b)
{
    return (a == LBC_UDP) == (b == LBC_UDP);
}
