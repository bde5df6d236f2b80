#include "oom.h"

#include <stdlib.h>
#include <string.h>

/* The names are the linker's. Visible, because it takes references of shared libraries for
 * references to them as well. */
#pragma GCC visibility push(default)
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t max);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t max);
#pragma GCC visibility pop

static size_t left; /* allocations until the one that fails; 0 = off */
static bool for_ever;
static bool failed;

void oom_begin(size_t at, bool all)
{
    left = at;
    for_ever = all;
    failed = false;
}

bool oom_end(void)
{
    left = 0;
    return failed;
}

static bool fails(void)
{
    if (left == 0 || --left > 0) {
        return false;
    }
    failed = true;
    left = for_ever ? 1 : 0;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t max)
{
    return fails() ? NULL : __real_strndup(text, max);
}
