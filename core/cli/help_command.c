/* `ccmd help`, `ccmd version`, `ccmd completion`: what the program says of itself. */
#include "ccm/plugin.h"
#include "ccm/version.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "util/cleanup.h"
#include "util/jsonw.h"

#include <stdio.h>

int cli_command_version(const struct cli_command_args *args)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { 0 };
    struct ccm_jsonw w = { .buf = &json };

    if (args->output != CLI_OUTPUT_JSON) {
        printf("ccmd %s (plugin ABI %u)\n", CCM_VERSION, CCM_ABI_MAJOR);
        return 0;
    }
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "version", CCM_VERSION);
    ccm_jsonw_open(&w, "abi", '{');
    ccm_jsonw_i64(&w, "major", CCM_ABI_MAJOR);
    ccm_jsonw_i64(&w, "minor", CCM_ABI_MINOR);
    ccm_jsonw_close_all(&w, "}}");
    printf("%s\n", ccm_buf_str(&json));
    return 0;
}

int cli_command_completion(const struct cli_command_args *args)
{
    return cli_completion_print(args->operands[0], stdout);
}

int cli_command_help(const struct cli_command_args *args)
{
    const struct cli_command *command =
        args->operand_count == 0 ? NULL : cli_find_command(args->operands[0]);

    if (args->operand_count > 0 && command == NULL) {
        (void)fprintf(stderr, "ccmd: unknown command '%s'; see ccmd help\n", /* sticks */
                      args->operands[0]);
        return CLI_EXIT_USAGE;
    }
    if (command == NULL) {
        cli_help_print_overview(stdout);
    } else {
        cli_help_print_command(command, stdout);
    }
    return 0;
}
