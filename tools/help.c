#include "tools/help.h"

#include "util/text.h"

#include <string.h>

#define WIDTH 80

/* Words of the text, wrapped. The first line goes on at column `at`, the others begin at `indent`;
 * a line feed ends it. Failures stick in the stream, here and below. */
static void help_wrap(FILE *out, size_t at, size_t indent, const char *text)
{
    size_t column = at;

    for (const char *word = text; *word != '\0';) {
        const size_t len = strcspn(word, " ");

        if (column > indent && column + 1 + len > WIDTH) {
            (void)fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > at || (column > indent && column != at)) {
            (void)fputc(' ', out);
            column++;
        }
        (void)fprintf(out, "%.*s", (int)len, word);
        column += len;
        word += len + strspn(word + len, " ");
    }
    (void)fputc('\n', out);
}

void tool_help_print_text(size_t column, const char *text, FILE *out)
{
    (void)fprintf(out, "%*s", (int)column, "");
    help_wrap(out, column, column, text);
}

void tool_help_print_row(const char *label, size_t column, const char *text, FILE *out)
{
    (void)fprintf(out, "  %-*s", (int)(column - 2), label);
    if (strlen(label) + 3 > column) {
        (void)fprintf(out, "\n%*s", (int)column, "");
    }
    help_wrap(out, column, column, text);
}

static void help_print_options(FILE *out, const struct cli_option *const *options)
{
    char label[64];

    for (size_t i = 0; options[i] != NULL; i++) {
        const struct cli_option *option = options[i];
        char letter[4] = { '-', option->letter, ',', '\0' };

        ccm_text_printf(label, sizeof(label), "%s --%s%s%s",
                        option->letter == '\0' ? "   " : letter, option->name,
                        option->value == NULL ? "" : " ",
                        option->value == NULL ? "" : option->value);
        tool_help_print_row(label, 27, option->help, out);
    }
}

void tool_help_print_overview(FILE *out)
{
    (void)fputs("Cloud controller manager for Kubernetes with provider plugins.\n\n"
                "Usage: ccmd [COMMAND] [OPTION...] [OPERAND...]\n\n"
                "Commands:\n",
                out);
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        tool_help_print_row(cli_commands[i].name, 18, cli_commands[i].summary, out);
    }
    (void)fputs("\nOptions of every command:\n", out);
    help_print_options(out, cli_common_options);
    (void)fputs("\n`ccmd help COMMAND` says what a command does, with its options and examples.\n",
                out);
}

static void help_print_details(const struct cli_command *command, FILE *out)
{
    const struct cli_exit *exits = command->exits == NULL ? cli_common_exits : command->exits;
    char code[16];

    (void)fputs("\nExamples:\n", out);
    for (size_t i = 0; command->examples[i].line != NULL; i++) {
        (void)fprintf(out, "  # %s\n  %s\n", command->examples[i].help, command->examples[i].line);
    }
    if (command->variables != NULL) {
        (void)fputs("\nEnvironment:\n", out);
    }
    for (size_t i = 0; command->variables != NULL && command->variables[i] != NULL; i++) {
        (void)fprintf(out, "  %s\n%*s", command->variables[i]->name, 6, "");
        help_wrap(out, 6, 6, command->variables[i]->help);
    }
    (void)fputs("\nExit status:\n", out);
    for (size_t i = 0; exits[i].help != NULL; i++) {
        ccm_text_printf(code, sizeof(code), "%d", exits[i].code);
        tool_help_print_row(code, 6, exits[i].help, out);
    }
}

void tool_help_print_command(const struct cli_command *command, FILE *out)
{
    char first[2] = { command->summary[0], '\0' };

    if (first[0] >= 'a' && first[0] <= 'z') {
        first[0] = (char)(first[0] - 'a' + 'A');
    }
    (void)fprintf(out, "%s%s.\n\nUsage: ccmd %s [OPTION...]%s%s\n", first, command->summary + 1,
                  command->name, command->operands[0] == '\0' ? "" : " ", command->operands);
    for (size_t i = 0; command->about != NULL && command->about[i] != NULL; i++) {
        (void)fputc('\n', out);
        help_wrap(out, 0, 0, command->about[i]);
    }
    (void)fputs("\nOptions:\n", out);
    help_print_options(out, command->options);
    help_print_options(out, cli_common_options);
    help_print_details(command, out);
}
