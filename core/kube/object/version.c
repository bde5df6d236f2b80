#include "kube/object/version.h"

#include <string.h>

/* Number of digits, 0 = it is no whole number. */
static size_t digits_of(const char *version)
{
    const size_t len = strspn(version, "0123456789");

    return version[len] != '\0' || version[0] == '0' ? 0 : len;
}

bool kube_version_is_older(const char *a, const char *b)
{
    const size_t len_a = digits_of(a);
    const size_t len_b = digits_of(b);

    if (len_a == 0 || len_b == 0) {
        return false;
    }
    return len_a != len_b ? len_a < len_b : strcmp(a, b) < 0;
}
