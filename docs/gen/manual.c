/* Manual pages in mdoc, from the table of commands and the tables of options. */
#include "cli/table.h"
#include "pages.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <inttypes.h>
#include <string.h>

/* Text in which nothing is a macro: backslashes doubled, no line that begins with a dot. */
static void man_add_text(struct ccm_buf *page, const char *text)
{
    bool start = page->len == 0 || ccm_buf_str(page)[page->len - 1] == '\n';

    for (; *text != '\0'; text++) {
        if (start && (*text == '.' || *text == '\'')) {
            ccm_buf_adds(page, "\\&");
        }
        start = *text == '\n';
        if (*text == '\\') {
            ccm_buf_adds(page, "\\e");
        } else if (*text == '-' && text[1] == '-') {
            ccm_buf_adds(page, "\\-\\-");
            text++;
        } else if (*text != '`') { /* marks code in other pages */
            ccm_buf_addc(page, *text);
        }
    }
}

/* Sentences, each on a line of its own; the last gets its end, and the first begins with a large
 * letter. */
static void man_add_sentence(struct ccm_buf *page, const char *text)
{
    const char first[2] = { *text >= 'a' && *text <= 'z' ? (char)(*text - 'a' + 'A') : *text,
                            '\0' };

    man_add_text(page, first);
    text++;
    for (const char *end; (end = strstr(text, ". ")) != NULL; text = end + 2) {
        CCM_CLEANUP(ccm_freep) char *part = ccm_text_format("%.*s", (int)(end - text), text);

        man_add_text(page, part == NULL ? "" : part);
        ccm_buf_adds(page, ".\n");
    }
    man_add_text(page, text);
    ccm_buf_adds(page, ccm_text_ends(text, ".") ? "\n" : ".\n");
}

/* " Ar FILE ..." of "[FILE...]": words, with what is left out possible in Op. */
static void man_add_operands(struct ccm_buf *page, const char *operands)
{
    for (const char *word = operands; *word != '\0';) {
        const size_t len = strcspn(word, " ");
        const bool optional = word[0] == '[';
        char text[64];

        ccm_text_printf(text, sizeof(text), "%.*s", (int)len - (optional ? 1 : 0),
                        word + (optional ? 1 : 0));
        text[strcspn(text, "]")] = '\0';
        if (optional && ccm_text_equal(text, "--")) { /* [-- FLAG...] */
            ccm_buf_adds(page, ".Op Fl - Ar FLAG ...\n");
            return;
        }

        const bool many = ccm_text_ends(text, "...");

        text[strcspn(text, ".")] = '\0';
        ccm_buf_addf(page, ".%s%s%s\n", optional ? "Op Ar " : "Ar ", text, many ? " ..." : "");
        word += len + strspn(word + len, " ");
    }
}

static void man_add_option_usage(struct ccm_buf *page, const struct cli_option *option)
{
    if (option->letter != '\0') {
        ccm_buf_addf(page, "Fl %c , ", option->letter);
    }
    ccm_buf_addf(page, "Fl -%s%s%s\n", option->name, option->value == NULL ? "" : " Ar ",
                 option->value == NULL ? "" : option->value);
}

static void man_add_synopsis(struct ccm_buf *page)
{
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        const struct cli_command *command = &cli_commands[i];

        ccm_buf_addf(page, ".Nm\n.%sCm %s\n", i == CLI_RUN ? "Op " : "", command->name);
        for (size_t k = 0; command->options[k] != NULL; k++) {
            ccm_buf_addf(page, ".Op Fl -%s%s%s\n", command->options[k]->name,
                         command->options[k]->value == NULL ? "" : " Ar ",
                         command->options[k]->value == NULL ? "" : command->options[k]->value);
        }
        man_add_operands(page, command->operands);
    }
}

static void man_add_options(struct ccm_buf *page, const struct cli_option *const *options)
{
    if (options[0] == NULL) {
        return;
    }
    ccm_buf_adds(page, ".Bl -tag -width Ds\n");
    for (size_t i = 0; options[i] != NULL; i++) {
        ccm_buf_adds(page, ".It ");
        man_add_option_usage(page, options[i]);
        man_add_sentence(page, options[i]->help);
    }
    ccm_buf_adds(page, ".El\n");
}

static void man_add_commands(struct ccm_buf *page)
{
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        const struct cli_command *command = &cli_commands[i];

        ccm_buf_addf(page, ".Ss %s\n", command->name);
        man_add_sentence(page, command->summary);
        for (size_t k = 0; command->about != NULL && command->about[k] != NULL; k++) {
            ccm_buf_adds(page, ".Pp\n");
            man_add_sentence(page, command->about[k]);
        }
        man_add_options(page, command->options);
    }
}

/* Each variable once, with the commands that heed it. */
static void man_add_variable(struct ccm_buf *page, const struct cli_variable *variable,
                             size_t first)
{
    const char *between = "";

    ccm_buf_addf(page, ".It Ev %s\n", variable->name);
    man_add_sentence(page, variable->help);
    ccm_buf_adds(page, "(");
    for (size_t i = first; i < CLI_COMMAND_COUNT; i++) {
        const struct cli_variable *const *list = cli_commands[i].variables;

        for (size_t k = 0; list != NULL && list[k] != NULL; k++) {
            if (list[k] == variable) {
                ccm_buf_addf(page, "%s%s", between, cli_commands[i].name);
                between = ", ";
            }
        }
    }
    ccm_buf_adds(page, ")\n");
}

static bool is_new_variable(const struct cli_variable *variable, size_t command)
{
    for (size_t i = 0; i < command; i++) {
        const struct cli_variable *const *list = cli_commands[i].variables;

        for (size_t k = 0; list != NULL && list[k] != NULL; k++) {
            if (list[k] == variable) {
                return false;
            }
        }
    }
    return true;
}

static void man_add_environment(struct ccm_buf *page)
{
    ccm_buf_adds(page, ".Bl -tag -width Ds\n");
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        const struct cli_variable *const *list = cli_commands[i].variables;

        for (size_t k = 0; list != NULL && list[k] != NULL; k++) {
            if (is_new_variable(list[k], i)) {
                man_add_variable(page, list[k], i);
            }
        }
    }
    ccm_buf_adds(page, ".El\n");
}

static void man_add_exit_list(struct ccm_buf *page, const struct cli_exit *exits)
{
    ccm_buf_adds(page, ".Bl -tag -width Ds -compact\n");
    for (size_t i = 0; exits[i].help != NULL; i++) {
        ccm_buf_addf(page, ".It %d\n", exits[i].code);
        man_add_sentence(page, exits[i].help);
    }
    ccm_buf_adds(page, ".El\n");
}

static void man_add_exits(struct ccm_buf *page)
{
    man_add_exit_list(page, cli_common_exits);
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        if (cli_commands[i].exits != NULL) {
            ccm_buf_addf(page, ".Pp\n.Cm %s :\n", cli_commands[i].name);
            man_add_exit_list(page, cli_commands[i].exits);
        }
    }
}

static void man_add_examples(struct ccm_buf *page)
{
    ccm_buf_adds(page, ".Bl -tag -width Ds\n");
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        const struct cli_example *examples = cli_commands[i].examples;

        for (size_t k = 0; examples[k].line != NULL; k++) {
            CCM_CLEANUP(ccm_freep) char *text = ccm_text_format("%s:", examples[k].help);

            ccm_buf_adds(page, ".It ");
            man_add_text(page, text == NULL ? "" : text);
            ccm_buf_adds(page, "\n.Dl ");
            man_add_text(page, examples[k].line);
            ccm_buf_adds(page, "\n");
        }
    }
    ccm_buf_adds(page, ".El\n");
}

/* --- ccmd.conf ------------------------------------------------------------------------------ */

static void man_add_type(struct ccm_buf *page, const struct ccm_option *row)
{
    switch (row->type) {
    case CCM_OPTION_INT:
        ccm_buf_addf(page, "A whole number from %" PRId64 " to %" PRId64, row->min, row->max);
        break;
    case CCM_OPTION_BOOL:
        ccm_buf_adds(page, "true or false");
        break;
    case CCM_OPTION_STRINGS:
        ccm_buf_adds(page, "A list of texts");
        break;
    case CCM_OPTION_PATH:
        ccm_buf_adds(page, "An absolute path");
        break;
    default:
        ccm_buf_adds(page, row->values != NULL ? "One of " : "A text");
        man_add_text(page, row->values != NULL ? row->values : "");
        break;
    }
    if ((row->flags & CCM_OPTION_REQUIRED) != 0) {
        ccm_buf_adds(page, "; required");
    } else if (!ccm_text_empty(row->fallback)) {
        ccm_buf_adds(page, "; default ");
        man_add_text(page, row->fallback);
    }
    ccm_buf_adds(page, (row->flags & CCM_OPTION_LIVE) != 0 ? ".\nTaken over without a restart.\n"
                                                           : ".\n");
}

static void man_add_rows(struct ccm_buf *page, const char *title, const char *intro,
                         const struct ccm_option *const *rows)
{
    ccm_buf_adds(page, ".Ss ");
    man_add_text(page, title);
    ccm_buf_adds(page, "\n");
    man_add_sentence(page, intro);
    if (rows[0] == NULL) {
        return;
    }
    ccm_buf_adds(page, ".Bl -tag -width Ds\n");
    for (size_t i = 0; rows[i] != NULL; i++) {
        if ((rows[i]->flags & CCM_OPTION_RETIRED) != 0) {
            continue;
        }
        ccm_buf_addf(page, ".It Va %s%s%s\n", ccm_text_empty(rows[i]->group) ? "" : rows[i]->group,
                     ccm_text_empty(rows[i]->group) ? "" : ".", rows[i]->name);
        man_add_type(page, rows[i]);
        ccm_buf_adds(page, ".br\n");
        man_add_sentence(page, rows[i]->help == NULL ? "" : rows[i]->help);
    }
    ccm_buf_adds(page, ".El\n");
}

void docs_manual(struct ccm_buf *page, const char *text,
                 struct plugin_loaded_plugin *const *plugins, size_t plugin_count)
{
    for (size_t len; *text != '\0'; text += len) {
        len = strcspn(text, "\n");
        len += text[len] == '\n' ? 1 : 0;
        if (ccm_text_starts(text, "@SYNOPSIS@")) {
            man_add_synopsis(page);
        } else if (ccm_text_starts(text, "@COMMON@")) {
            man_add_options(page, cli_common_options);
        } else if (ccm_text_starts(text, "@COMMANDS@")) {
            man_add_commands(page);
        } else if (ccm_text_starts(text, "@ENVIRONMENT@")) {
            man_add_environment(page);
        } else if (ccm_text_starts(text, "@EXITS@")) {
            man_add_exits(page);
        } else if (ccm_text_starts(text, "@EXAMPLES@")) {
            man_add_examples(page);
        } else if (ccm_text_starts(text, "@OPTIONS@")) {
            ccm_buf_adds(page, ".Sh OPTIONS\n");
            docs_visit_options(plugins, plugin_count, man_add_rows, page);
        } else {
            ccm_buf_add(page, text, len);
        }
    }
}
