/*
 * Scope-bound ownership.
 *
 *     CCM_CLEANUP(ccm_freep) char *name = NULL;
 *     ...
 *     *ret_name = CCM_STEAL(name);
 */
#ifndef CCM_UTIL_CLEANUP_H
#define CCM_UTIL_CLEANUP_H

#include "util/attr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Move out of an owning pointer: yields its value and leaves NULL behind. */
#define CCM_STEAL(ptr)                                                                             \
    __extension__({                                                                                \
        __typeof__(ptr) ccm_stolen_ = (ptr);                                                       \
        (ptr) = NULL;                                                                              \
        ccm_stolen_;                                                                               \
    })

/* free() for any pointer variable; p is the address of that variable. */
static inline void ccm_freep(void *p)
{
    void *memory;

    memcpy(&memory, p, sizeof(memory));
    free(memory);
}

/* close() for a descriptor variable; negative = none. */
static inline void ccm_closep(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd); /* nothing to do about a failing close of a descriptor we only read */
    }
}

/* fclose() for a stream that was only read. */
static inline void ccm_fclosep(FILE **file)
{
    if (*file != NULL) {
        (void)fclose(*file); /* it was only read */
    }
}

#endif
