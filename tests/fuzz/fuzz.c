#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static void remove_file(void)
{
    (void)unlink(path); /* it may be gone already */
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
    if (path[0] == '\0') {
        /* A number always has room. */
        (void)snprintf(path, sizeof(path), "/tmp/ccm-fuzz-%ld", (long)getpid());
        if (atexit(remove_file) != 0) {
            return NULL;
        }
    }

    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (fd < 0) {
        return NULL;
    }

    const ssize_t written = write(fd, data, size);

    (void)close(fd); /* what was written decides */
    return written == (ssize_t)size ? path : NULL;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (text != NULL) {
        memcpy(text, data, size);
        text[size] = '\0';
    }
    return text;
}
