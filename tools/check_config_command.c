/* `ccmd check-config`: every problem of a configuration, its plugins and the files that it names.
 */
#include "cli/color.h"
#include "cli/findings.h"
#include "daemon/option_check.h"
#include "daemon/setup.h"
#include "daemon/start_check.h"
#include "tools/command.h"
#include "util/cleanup.h"

#include <errno.h>
#include <stdio.h>

int tool_command_check_config(const struct cli_command_args *args)
{
    CCM_CLEANUP(cli_findings_fini)
    struct cli_findings findings = { .json = args->output == CLI_OUTPUT_JSON };
    CCM_CLEANUP(daemon_setup_fini)
    struct daemon_setup setup = { .tell = cli_findings_add, .tell_arg = &findings };
    int r = daemon_setup_load(args->config, &setup);

    if (r == 0 && daemon_start_check(setup.config, cli_findings_add, &findings) +
                          daemon_option_check_files(setup.config, setup.registry, cli_findings_add,
                                                    &findings) >
                      0) {
        r = -EINVAL;
    }
    if (r == 0 && setup.refused > 0) {
        r = -ENOEXEC;
    }
    if (r == 0 && config_retired(setup.config)[0] != '\0') {
        cli_findings_add(&findings, false, config_retired(setup.config));
    }
    if (findings.json) {
        cli_findings_print_json(&findings, args->config, r == 0);
    } else if (r == 0) {
        const bool color = cli_color_is_wanted(stdout);

        printf("%s: %sok%s, plugins: %zu\n", args->config, cli_color_text(color, CLI_COLOR_GREEN),
               cli_color_text(color, CLI_COLOR_PLAIN), plugin_registry_len(setup.registry));
    }
    return r;
}
