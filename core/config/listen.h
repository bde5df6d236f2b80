/* Where the admin server listens, as text. Pure. */
#ifndef CCM_CONFIG_LISTEN_H
#define CCM_CONFIG_LISTEN_H

#include "util/attr.h"

#include <netinet/in.h>
#include <stdbool.h>

struct config_listen {
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    bool is_v6;
    bool is_local; /* only this machine can reach it */
};

/* "127.0.0.1:10258", "[::1]:10258"; port 0 = any. 0 or -EINVAL. */
CCM_NODISCARD int config_listen_parse(const char *listen, struct config_listen *ret);

#endif
