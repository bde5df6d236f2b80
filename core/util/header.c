#include "util/header.h"

#include "util/parse.h"

#include <stddef.h>
#include <string.h>

#define RETRY_AFTER_MAX_S 3600

const char *ccm_header_get(const char *const *headers, const char *name)
{
    const size_t len = strlen(name);

    for (; headers != NULL && *headers != NULL; headers++) {
        if (strncmp(*headers, name, len) == 0 && (*headers)[len] == ':') {
            return *headers + len + 1 + strspn(*headers + len + 1, " ");
        }
    }
    return NULL;
}

uint64_t ccm_header_retry_after_ms(const char *const *headers)
{
    const char *text = ccm_header_get(headers, "retry-after");
    int64_t seconds = 0;

    if (text == NULL || ccm_parse_i64(text, 0, INT64_MAX, &seconds) < 0) {
        return 0;
    }
    return (uint64_t)(seconds < RETRY_AFTER_MAX_S ? seconds : RETRY_AFTER_MAX_S) * 1000;
}
