#include "config/listen.h"

#include "util/parse.h"
#include "util/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

int config_listen_parse(const char *listen, struct config_listen *ret)
{
    const char *colon = strrchr(listen, ':');
    char host[64];
    uint32_t port = 0;

    memset(ret, 0, sizeof(*ret));
    if (colon == NULL || (size_t)(colon - listen) >= sizeof(host) ||
        ccm_parse_u32(colon + 1, 0, 65535, &port) < 0) {
        return -EINVAL;
    }
    ccm_text_copy(host, (size_t)(colon - listen) + 1, listen);
    ret->is_v6 = host[0] == '[' && ccm_text_ends(host, "]");
    if (ret->is_v6) {
        host[strlen(host) - 1] = '\0';
        ret->v6.sin6_family = AF_INET6;
        ret->v6.sin6_port = htons((uint16_t)port);
        if (inet_pton(AF_INET6, host + 1, &ret->v6.sin6_addr) != 1) {
            return -EINVAL;
        }
        ret->is_local =
            memcmp(&ret->v6.sin6_addr, &in6addr_loopback, sizeof(in6addr_loopback)) == 0;
        return 0;
    }
    ret->v4.sin_family = AF_INET;
    ret->v4.sin_port = htons((uint16_t)port);
    if (inet_pton(AF_INET, host, &ret->v4.sin_addr) != 1) {
        return -EINVAL;
    }
    ret->is_local = ntohl(ret->v4.sin_addr.s_addr) >> 24 == 127;
    return 0;
}
