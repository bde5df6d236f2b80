#include "tools/completion.h"

#include "cli/table.h"
#include "util/text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Failures stick in the stream, here and below. */
static void print_choices(FILE *out, const char *choices)
{
    for (const char *at = choices; *at != '\0'; at++) {
        (void)fputc(*at == '|' ? ' ' : *at, out);
    }
}

/* Within single quotes; what else the shell would take for its own gets a backslash. */
static void print_quoted(FILE *out, const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            (void)fputs("'\\''", out);
        } else {
            (void)fprintf(out, "%s%c", strchr(special, *text) == NULL ? "" : "\\", *text);
        }
    }
}

/* --- bash ----------------------------------------------------------------------------------- */

/* What fills COMPREPLY with the words that go on from $cur. */
static void bash_print_action(FILE *out, enum cli_complete complete, const char *choices)
{
    switch (complete) {
    case CLI_COMPLETE_NOTHING:
        (void)fputs("COMPREPLY=()", out);
        return;
    case CLI_COMPLETE_FILE:
    case CLI_COMPLETE_FOLDER:
        (void)fprintf(out, "_ccmd_files -%c", complete == CLI_COMPLETE_FILE ? 'f' : 'd');
        return;
    case CLI_COMPLETE_PLUGIN:
        (void)fputs("_ccmd_words \"$(\"${COMP_WORDS[0]}\" plugins -o name \"${config[@]}\" "
                    "2>/dev/null)\"",
                    out);
        return;
    case CLI_COMPLETE_ANNOTATION:
        (void)fputs("_ccmd_words \"$(\"${COMP_WORDS[0]}\" explain -o name \"${config[@]}\" "
                    "2>/dev/null)\"",
                    out);
        return;
    case CLI_COMPLETE_COMMAND:
        (void)fputs("_ccmd_words \"$commands\"", out);
        return;
    case CLI_COMPLETE_CHOICE:
        (void)fputs("_ccmd_words '", out);
        print_choices(out, choices);
        (void)fputc('\'', out);
        return;
    }
}

static void bash_print_options(FILE *out, const struct cli_option *const *options)
{
    for (size_t i = 0; options[i] != NULL; i++) {
        (void)fprintf(out, " --%s", options[i]->name);
    }
}

static void bash_print_command(FILE *out, const struct cli_command *command)
{
    (void)fprintf(out, "    %s)\n", command->name);
    if (command->options[0] != NULL) {
        (void)fputs("        case $prev in\n", out);
    }
    for (size_t i = 0; command->options[i] != NULL; i++) {
        const struct cli_option *option = command->options[i];

        if (option->value == NULL) {
            continue;
        }
        (void)fprintf(out, "        --%s", option->name);
        if (option->letter != '\0') {
            (void)fprintf(out, " | -%c", option->letter);
        }
        (void)fputs(") ", out);
        bash_print_action(out, option->complete, option->choices);
        (void)fputs("; return ;;\n", out);
    }
    if (command->options[0] != NULL) {
        (void)fputs("        esac\n", out);
    }
    (void)fputs("        if [[ $cur == -* ]]; then\n            _ccmd_words '", out);
    bash_print_options(out, command->options);
    bash_print_options(out, cli_common_options);
    (void)fputs("'\n        else\n            ", out);
    bash_print_action(out, command->complete, command->choices);
    (void)fputs("\n        fi\n        ;;\n", out);
}

static void bash_print(FILE *out)
{
    (void)fputs("# Completion of ccmd for bash, as `ccmd completion bash` prints it.\n"
                "_ccmd_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\"); }\n"
                "_ccmd_files() {\n"
                "    compopt -o filenames 2>/dev/null\n"
                "    mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
                "}\n"
                "_ccmd() {\n"
                "    local commands='",
                out);
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        (void)fprintf(out, "%s%s", i == 0 ? "" : " ", cli_commands[i].name);
    }
    (void)fputs("'\n"
                "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} "
                "command='' i config=()\n\n"
                "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                "        [[ -z $command && \" $commands \" == *\" ${COMP_WORDS[i]} \"* ]] && "
                "command=${COMP_WORDS[i]}\n"
                "        [[ ${COMP_WORDS[i]} == --config ]] && config=(--config \"${COMP_WORDS[i + "
                "1]/#=/${COMP_WORDS[i + 2]}}\")\n"
                "    done\n"
                "    # bash makes three words of --name=value.\n"
                "    [[ $prev == '=' ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
                "    [[ $cur == '=' ]] && cur=''\n"
                "    case $command in\n"
                "    '')\n"
                "        if [[ $cur == -* ]]; then\n"
                "            _ccmd_words '",
                out);
    bash_print_options(out, cli_commands[CLI_RUN].options);
    bash_print_options(out, cli_common_options);
    (void)fputs("'\n"
                "        else\n"
                "            _ccmd_words \"$commands\"\n"
                "        fi\n"
                "        ;;\n",
                out);
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        bash_print_command(out, &cli_commands[i]);
    }
    (void)fputs("    esac\n}\ncomplete -F _ccmd ccmd\n", out);
}

/* --- zsh ------------------------------------------------------------------------------------ */

static void zsh_print_action(FILE *out, enum cli_complete complete, const char *choices)
{
    switch (complete) {
    case CLI_COMPLETE_NOTHING:
        (void)fputc(' ', out);
        return;
    case CLI_COMPLETE_FILE:
        (void)fputs("_files", out);
        return;
    case CLI_COMPLETE_FOLDER:
        (void)fputs("_files -/", out);
        return;
    case CLI_COMPLETE_PLUGIN:
        (void)fputs("_ccmd_plugins", out);
        return;
    case CLI_COMPLETE_ANNOTATION:
        (void)fputs("_ccmd_annotations", out);
        return;
    case CLI_COMPLETE_COMMAND:
        (void)fputs("_ccmd_commands", out);
        return;
    case CLI_COMPLETE_CHOICE:
        (void)fputc('(', out);
        print_choices(out, choices);
        (void)fputc(')', out);
        return;
    }
}

static void zsh_print_options(FILE *out, const struct cli_option *const *options)
{
    for (size_t i = 0; options[i] != NULL; i++) {
        const struct cli_option *option = options[i];
        const bool again = option->id == CLI_OPTION_PLUGIN;

        if (option->letter == '\0') {
            (void)fprintf(out, " \\\n            '%s--%s", again ? "*" : "", option->name);
        } else {
            (void)fprintf(out, " \\\n            '(-%c --%s)'{-%c,--%s}'", option->letter,
                          option->name, option->letter, option->name);
        }
        (void)fputc('[', out);
        print_quoted(out, option->help, "[]:");
        (void)fputc(']', out);
        if (option->value != NULL) {
            (void)fprintf(out, ":%s:", option->value);
            zsh_print_action(out, option->complete, option->choices);
        }
        (void)fputc('\'', out);
    }
}

static void zsh_print_command(FILE *out, const struct cli_command *command)
{
    (void)fprintf(out, "    %s)\n        _arguments", command->name);
    zsh_print_options(out, command->options);
    zsh_print_options(out, cli_common_options);
    if (command->operands_max > 0) {
        (void)fprintf(out, " \\\n            '%s:operand:", command->operands_max > 1 ? "*" : "1");
        zsh_print_action(out, command->complete, command->choices);
        (void)fputc('\'', out);
    }
    (void)fputs("\n        ;;\n", out);
}

static void zsh_print(FILE *out)
{
    (void)fputs(
        "#compdef ccmd\n"
        "# Completion of ccmd for zsh, as `ccmd completion zsh` prints it.\n"
        "_ccmd_plugins() {\n"
        "    local -a names\n"
        "    names=(${(f)\"$(_call_program plugins ccmd plugins -o name 2>/dev/null)\"})\n"
        "    compadd -a names\n"
        "}\n"
        "_ccmd_annotations() {\n"
        "    local -a names\n"
        "    names=(${(f)\"$(_call_program annotations ccmd explain -o name 2>/dev/null)\"})\n"
        "    compadd -a names\n"
        "}\n"
        "_ccmd_commands() {\n"
        "    local -a commands\n"
        "    commands=(\n",
        out);
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        (void)fprintf(out, "        '%s:", cli_commands[i].name);
        print_quoted(out, cli_commands[i].summary, "");
        (void)fputs("'\n", out);
    }
    (void)fputs("    )\n"
                "    _describe command commands\n"
                "}\n"
                "_ccmd() {\n"
                "    local curcontext=$curcontext state line\n"
                "    _arguments -C",
                out);
    zsh_print_options(out, cli_commands[CLI_RUN].options);
    zsh_print_options(out, cli_common_options);
    (void)fputs(" \\\n            '1:command:_ccmd_commands' '*::operand:->operand'\n"
                "    [[ $state == operand ]] || return\n"
                "    case $words[1] in\n",
                out);
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        zsh_print_command(out, &cli_commands[i]);
    }
    (void)fputs("    esac\n}\n_ccmd \"$@\"\n", out);
}

/* --- fish ----------------------------------------------------------------------------------- */

static void fish_print_action(FILE *out, enum cli_complete complete, const char *choices)
{
    /* Option -F would offer files in place of options too. */
    switch (complete) {
    case CLI_COMPLETE_NOTHING:
        return;
    case CLI_COMPLETE_FILE:
        (void)fputs(" -a '(__fish_complete_path (commandline -ct))'", out);
        return;
    case CLI_COMPLETE_FOLDER:
        (void)fputs(" -a '(__fish_complete_directories (commandline -ct))'", out);
        return;
    case CLI_COMPLETE_PLUGIN:
        (void)fputs(" -a '(ccmd plugins -o name 2>/dev/null)'", out);
        return;
    case CLI_COMPLETE_ANNOTATION:
        (void)fputs(" -a '(ccmd explain -o name 2>/dev/null)'", out);
        return;
    case CLI_COMPLETE_COMMAND:
        (void)fputs(" -a '", out);
        for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
            (void)fprintf(out, "%s%s", i == 0 ? "" : " ", cli_commands[i].name);
        }
        (void)fputc('\'', out);
        return;
    case CLI_COMPLETE_CHOICE:
        (void)fputs(" -a '", out);
        print_choices(out, choices);
        (void)fputc('\'', out);
        return;
    }
}

/* command NULL: where no command was typed yet. */
static void fish_print_options(FILE *out, const char *command,
                               const struct cli_option *const *options)
{
    for (size_t i = 0; options[i] != NULL; i++) {
        const struct cli_option *option = options[i];

        (void)fprintf(out, "complete -c ccmd -n '%s%s'",
                      command == NULL ? "__fish_use_subcommand" : "__fish_seen_subcommand_from ",
                      command == NULL ? "" : command);
        if (option->letter != '\0') {
            (void)fprintf(out, " -s %c", option->letter);
        }
        (void)fprintf(out, " -l %s%s -d '", option->name,
                      option->value == NULL ? ""
                      : option->complete == CLI_COMPLETE_FILE ||
                              option->complete == CLI_COMPLETE_FOLDER
                          ? " -r"
                          : " -x");
        print_quoted(out, option->help, "\\");
        (void)fputc('\'', out);
        if (option->value != NULL) {
            fish_print_action(out, option->complete, option->choices);
        }
        (void)fputc('\n', out);
    }
}

static void fish_print(FILE *out)
{
    (void)fputs("# Completion of ccmd for fish, as `ccmd completion fish` prints it.\n"
                "complete -c ccmd -f\n",
                out);
    fish_print_options(out, NULL, cli_commands[CLI_RUN].options);
    fish_print_options(out, NULL, cli_common_options);
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        const struct cli_command *command = &cli_commands[i];

        (void)fprintf(out, "complete -c ccmd -n __fish_use_subcommand -a %s -d '", command->name);
        print_quoted(out, command->summary, "\\");
        (void)fputs("'\n", out);
        fish_print_options(out, command->name, command->options);
        fish_print_options(out, command->name, cli_common_options);
        if (command->complete != CLI_COMPLETE_NOTHING) {
            (void)fprintf(out, "complete -c ccmd -n '__fish_seen_subcommand_from %s'",
                          command->name);
            fish_print_action(out, command->complete, command->choices);
            (void)fputc('\n', out);
        }
    }
}

int tool_completion_print(const char *shell, FILE *out)
{
    if (ccm_text_equal(shell, "bash")) {
        bash_print(out);
    } else if (ccm_text_equal(shell, "zsh")) {
        zsh_print(out);
    } else if (ccm_text_equal(shell, "fish")) {
        fish_print(out);
    } else {
        return -EINVAL;
    }
    return 0;
}
