/* The same work for many items by a few threads. */
#ifndef CCM_UTIL_PARALLEL_H
#define CCM_UTIL_PARALLEL_H

#include <stddef.h>

/*
 * Call each(arg, i) once for every i below `count`, by up to `threads` threads (1..16) of which the
 * caller is one. Returns when all calls have returned. A thread that cannot be had is one less.
 * Blocks as `each` does.
 */
void ccm_parallel_run(size_t count, size_t threads, void (*each)(void *arg, size_t i), void *arg);

#endif
