/* Memory that runs out at a chosen moment: the allocators of our own code, by --wrap of the linker.
 * One thread. */
#ifndef CCM_TESTS_OOM_H
#define CCM_TESTS_OOM_H

#include <stdbool.h>
#include <stddef.h>

/* The allocation number `at` from now on fails (1 = the next), and `all` those behind it. */
void oom_begin(size_t at, bool all);
/* No failure any more. Returns whether one was made. */
bool oom_end(void);

#endif
