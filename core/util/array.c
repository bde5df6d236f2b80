#include "util/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A first piece of this many bytes: many lists of large items have one item for ever, and what they
 * are given beyond it is lost. */
#define FIRST_BYTES ((size_t)64)

static size_t first_cap(size_t item_size)
{
    return item_size >= FIRST_BYTES ? 1 : FIRST_BYTES / item_size;
}

int ccm_array_grow(void *items, size_t *cap, size_t need, size_t item_size)
{
    if (need <= *cap) {
        return 0;
    }

    size_t want = *cap == 0 ? first_cap(item_size) : *cap;

    while (want < need) {
        if (want > SIZE_MAX / 2) {
            return -EOVERFLOW;
        }
        want *= 2;
    }
    if (want > SIZE_MAX / item_size) {
        return -EOVERFLOW;
    }

    void *old;

    memcpy(&old, items, sizeof(old));

    void *grown = realloc(old, want * item_size);

    if (grown == NULL) {
        return -ENOMEM;
    }
    memcpy(items, &grown, sizeof(grown));
    *cap = want;
    return 0;
}

void ccm_array_trim(void *items, size_t *cap, size_t len, size_t item_size)
{
    void *old;
    void *trimmed = NULL;

    if (len == *cap) {
        return;
    }
    memcpy(&old, items, sizeof(old));
    if (len == 0) {
        free(old);
    } else {
        trimmed = realloc(old, len * item_size);
        if (trimmed == NULL) {
            return;
        }
    }
    memcpy(items, &trimmed, sizeof(trimmed));
    *cap = len;
}
