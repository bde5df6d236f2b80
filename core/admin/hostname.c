#include "admin/hostname.h"

#include "util/attr.h"
#include "util/text.h"

#include <arpa/inet.h>
#include <string.h>

#define HOST_MAX 256 /* a name of the DNS has 253 characters */

/* Without brackets and port. False: no host has that form. */
static bool split_host(const char *host, char *ret, size_t size)
{
    const bool bracket = host[0] == '[';
    const char *start = host + (bracket ? 1 : 0);
    const size_t len = strcspn(start, bracket ? "]" : ":");
    const char *rest = start + len + (bracket && start[len] == ']' ? 1 : 0);

    if (len == 0 || len >= size || (bracket && start[len] != ']') ||
        (*rest != '\0' && (*rest != ':' || rest[1 + strspn(rest + 1, "0123456789")] != '\0'))) {
        return false;
    }
    memcpy(ret, start, len);
    ret[len] = '\0';
    return true;
}

bool admin_hostname_is_local(const char *host)
{
    static const char *const ends[] = { ".svc", ".svc.cluster.local" };
    unsigned char address[sizeof(struct in6_addr)];
    char name[HOST_MAX];

    if (host == NULL) {
        return true;
    }
    if (!split_host(host, name, sizeof(name))) {
        return false;
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(ends); i++) {
        if (ccm_text_ends(name, ends[i])) {
            return true;
        }
    }
    return strcmp(name, "localhost") == 0 || inet_pton(AF_INET, name, address) == 1 ||
           inet_pton(AF_INET6, name, address) == 1;
}
