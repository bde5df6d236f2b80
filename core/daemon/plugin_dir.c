#include "daemon/plugin_dir.h"

#include "util/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

char *daemon_library_path(const char *name)
{
    char path[PATH_MAX];
    const ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (len < 0) {
        return NULL;
    }
    path[len] = '\0';
    for (int part = 0; part < 2; part++) { /* the program, then its folder */
        if (!cut_last(path)) {
            return NULL;
        }
    }
    return ccm_text_format("%s/lib/ccmd/%s", path, name);
}

char *daemon_plugin_dir(const char *dir)
{
    return ccm_text_empty(dir) ? daemon_library_path("plugins") : ccm_text_format("%s", dir);
}
