#include "support/freed_text.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void __real_free(void *block);
void __wrap_free(void *block);
void *__wrap_realloc(void *block, size_t size);

static _Atomic(const char *) wanted;
static char found[64];

static void look_into(const void *block)
{
    const char *mark = atomic_load(&wanted);
    const char *text = block;

    if (mark == NULL || block == NULL || found[0] != '\0') {
        return;
    }

    const size_t size = malloc_usable_size((void *)(uintptr_t)block);
    const size_t len = strlen(mark);

    for (size_t i = 0; i + len <= size; i++) {
        if (memcmp(text + i, mark, len) == 0) {
            (void)snprintf(found, sizeof(found), "%.*s", (int)(size - i < 60 ? size - i : 60),
                           text + i); /* cut */
            return;
        }
    }
}

/* What is freed unlooked at is overwritten: nobody finds it in the block that takes its place. */
void __wrap_free(void *block)
{
    if (block != NULL) {
        look_into(block);
        memset(block, 0, malloc_usable_size(block));
    }
    __real_free(block);
}

/* It always moves, so that the old text is seen. */
void *__wrap_realloc(void *block, size_t size)
{
    void *moved = malloc(size);

    if (moved == NULL || block == NULL) {
        return moved;
    }

    const size_t before = malloc_usable_size(block);

    memcpy(moved, block, before < size ? before : size);
    __wrap_free(block);
    return moved;
}

void freed_text_look_for(const char *mark)
{
    if (mark != NULL) {
        found[0] = '\0';
    }
    atomic_store(&wanted, mark);
}

const char *freed_text_found(void)
{
    return found;
}

void freed_text_free(void *block)
{
    __wrap_free(block);
}
