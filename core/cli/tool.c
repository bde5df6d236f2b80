#include "cli/tool.h"

#include "daemon/plugin_dir.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXIT_FAILED 1

int cli_tool_run(const struct cli_command *command, char **words)
{
    CCM_CLEANUP(ccm_freep) char *file = ccm_text_format("ccmd-%s", command->name);
    CCM_CLEANUP(ccm_freep) char *path = file == NULL ? NULL : daemon_library_path(file);

    if (path == NULL) {
        (void)fprintf(stderr, "ccmd: %s: the folder of ccmd is unknown\n",
                      command->name); /* sticks */
        return EXIT_FAILED;
    }
    words[0] = path;
    (void)execv(path, words); /* returns only when it failed */
    (void)fprintf(stderr, "ccmd: %s: %s: %s; package ccmd installs this file\n", command->name,
                  path, strerror(errno));
    return EXIT_FAILED;
}
