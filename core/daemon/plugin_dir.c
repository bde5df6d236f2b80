#include "daemon/plugin_dir.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* Cut the last part of a path off; false when there is none. */
static bool cut_last(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    return true;
}

/* The file of the running program. Without /proc, as in the root of an image that is being built,
 * the kernel still says by which path it was started. Heap; NULL = unknown. */
static char *program_find_path(void)
{
    char *path = realpath("/proc/self/exe", NULL);
    const char *started = (const char *)(uintptr_t)getauxval(AT_EXECFN);

    return path != NULL || started == NULL ? path : realpath(started, NULL);
}

char *daemon_library_path(const char *name)
{
    CCM_CLEANUP(ccm_freep) char *path = program_find_path();

    if (path == NULL) {
        return NULL;
    }
    if (!cut_last(path)) {
        return NULL;
    }
    if (ccm_text_ends(path, "/lib/ccmd")) { /* a tool is there itself */
        return ccm_text_format("%s/%s", path, name);
    }
    return cut_last(path) ? ccm_text_format("%s/lib/ccmd/%s", path, name) : NULL;
}

char *daemon_plugin_dir(const char *dir)
{
    return ccm_text_empty(dir) ? daemon_library_path("plugins") : ccm_text_format("%s", dir);
}
