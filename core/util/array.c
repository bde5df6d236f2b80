#include "util/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int ccm_array_grow(void *items, size_t *cap, size_t need, size_t item_size)
{
    if (need <= *cap) {
        return 0;
    }

    size_t want = *cap == 0 ? 8 : *cap;

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
