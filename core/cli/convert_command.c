/* `ccmd convert-config`: a program of its own, which takes the place of this one. */
#include "cli/command.h"

#include "daemon/plugin_dir.h"
#include "util/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int cli_command_convert(const struct cli_command_args *args)
{
    CCM_CLEANUP(ccm_freep) char *program = daemon_library_path("ccmd-convert-config");
    CCM_CLEANUP(ccm_freep) char **argv = calloc(args->operand_count + 2, sizeof(*argv));
    int r;

    if (program == NULL || argv == NULL) {
        return -ENOMEM;
    }
    argv[0] = program;
    for (size_t i = 0; i < args->operand_count; i++) {
        memcpy(&argv[i + 1], &args->operands[i], sizeof(*argv)); /* not written to */
    }
    execv(program, argv);
    r = -errno;
    fprintf(stderr, "convert-config: %s: %s: it is installed together with ccmd\n", program,
            strerror(-r));
    return r;
}
