/* `ccmd lint`: gathers plugins that can check manifests, and asks them about each file. */
#include "cli/color.h"
#include "tools/command.h"
#include "tools/lint.h"
#include "tools/plugin_set.h"
#include "util/cleanup.h"

#include <stdio.h>

#define EXIT_CLEAN     0
#define EXIT_FINDINGS  1
#define EXIT_UNCHECKED 2 /* wrong usage, or something could not be checked */

static bool lint_is_offered(const struct ccm_plugin *desc)
{
    return desc->lint != NULL;
}

static int check_all(const struct tool_plugin_set *set, const struct cli_command_args *args)
{
    CCM_CLEANUP(tool_lint_format_fini)
    struct tool_lint_format format = {
        .output = args->output,
        .out = stdout,
        .color = cli_color_is_wanted(stdout),
    };
    struct tool_lint lint = {
        .plugins = set->plugins,
        .plugin_count = set->len,
        .watches = set->watches,
        .format = &format,
        .complaint = stderr,
    };

    for (size_t i = 0; i < args->operand_count; i++) {
        if (tool_lint_path(&lint, args->operands[i]) < 0) {
            fprintf(stderr, "%s: out of memory\n", args->operands[i]);
            return EXIT_UNCHECKED;
        }
    }
    if (tool_lint_format_end(&format, lint.services) < 0) {
        fprintf(stderr, "ccmd: out of memory\n");
        return EXIT_UNCHECKED;
    }
    if (lint.services == 0 && lint.findings == 0 && lint.failures == 0) {
        fprintf(stderr, "ccmd: no Service found\n");
    }
    if (lint.failures > 0) {
        return EXIT_UNCHECKED;
    }
    return lint.findings > 0 ? EXIT_FINDINGS : EXIT_CLEAN;
}

int tool_command_lint(const struct cli_command_args *args)
{
    CCM_CLEANUP(tool_plugin_set_fini)
    struct tool_plugin_set set = {
        .has = lint_is_offered,
        .cannot = "does not check manifests",
    };
    const bool by_file = args->plugin_dir != NULL || args->plugin_count > 0;

    if (args->operand_count == 0) {
        fprintf(stderr, "ccmd: lint wants files, folders or -\n");
        return EXIT_UNCHECKED;
    }
    if (by_file && args->config_is_set) {
        fprintf(stderr, "ccmd: lint takes its plugins from --config, or from --plugin-dir and "
                        "--plugin, not both\n");
        return EXIT_UNCHECKED;
    }
    if ((by_file ? tool_plugin_set_load_files(&set, args)
                 : tool_plugin_set_load_configured(&set, args, true)) < 0) {
        return EXIT_UNCHECKED;
    }
    if (set.len == 0) {
        fprintf(stderr, "ccmd: none of the plugins checks manifests\n");
        return EXIT_UNCHECKED;
    }
    return check_all(&set, args);
}
