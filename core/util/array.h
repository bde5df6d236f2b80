/* Growing arrays: a caller keeps `items, len, cap`; this grows `items`. Every thread. */
#ifndef CCM_UTIL_ARRAY_H
#define CCM_UTIL_ARRAY_H

#include "util/attr.h"

#include <stddef.h>

/*
 * Make room for at least `need` items of `item_size` bytes. `items` is the address of the array
 * pointer (NULL array allowed), `cap` its capacity in items; both change only on success. Capacity
 * doubles, from 64 bytes or one item on. New memory is not initialised. Returns 0, -ENOMEM, or
 * -EOVERFLOW.
 */
CCM_NODISCARD int ccm_array_grow(void *items, size_t *cap, size_t need, size_t item_size);

/* Give back what is more than `len` items; for what is kept for long. Without memory for that it
 * stays as it is. */
void ccm_array_trim(void *items, size_t *cap, size_t len, size_t item_size);

#endif
