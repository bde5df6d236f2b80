#include "cli/parse.h"

#include "util/parse.h"
#include "util/suggest.h"
#include "util/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TIMEOUT_MAX_S 86400

struct parse {
    int argc;
    char **argv;
    int next;                          /* the word that comes next */
    const struct cli_command *command; /* NULL = run, and none was named */
    bool help;
    bool version;
    bool bad;
    struct cli_command_args *args;
    const char **operands; /* the front of argv */
};

static const struct cli_command *parse_command(const struct parse *in)
{
    return in->command == NULL ? &cli_commands[CLI_RUN] : in->command;
}

/* Print what is wrong, and where help is. */
static void parse_fail(struct parse *in, const char *format, ...) CCM_PRINTF(2, 3);

static void parse_fail(struct parse *in, const char *format, ...)
{
    va_list list;

    in->bad = true;
    (void)fputs("ccmd: ", stderr); /* sticks, here and below */
    va_start(list, format);
    (void)vfprintf(stderr, format, list);
    va_end(list);
    (void)fprintf(stderr, "; see ccmd help%s%s\n", in->command == NULL ? "" : " ",
                  in->command == NULL ? "" : in->command->name);
}

/* --- words that are options ----------------------------------------------------------------- */

/* Some command's option of that name or letter; *ret_owner is the command. */
static const struct cli_option *option_find_anywhere(const char *name, size_t len, char letter,
                                                     const struct cli_command **ret_owner)
{
    const struct cli_option *found = NULL;

    for (size_t i = 0; found == NULL && i < CLI_COMMAND_COUNT; i++) {
        *ret_owner = &cli_commands[i];
        found = name == NULL ? cli_find_letter(*ret_owner, letter)
                             : cli_find_option(*ret_owner, name, len);
    }
    return found;
}

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0';
}

/* What a word such as "--name=value", "--name", "-n" or "-nvalue" says. */
struct option_word {
    const char *name; /* NULL = by its letter */
    size_t len;
    char letter;
    const char *value; /* NULL = none in the same word */
};

static struct option_word option_split(const char *word)
{
    struct option_word split = { .letter = word[1] };

    if (word[1] != '-') {
        split.value = word[2] == '\0' ? NULL : word + 2;
        return split;
    }
    split.name = word + 2;
    split.len = strcspn(split.name, "=");
    split.value = split.name[split.len] == '=' ? split.name + split.len + 1 : NULL;
    return split;
}

#define HINT_SIZE 96

/* " (did you mean '--name'?)", or "" without a near name. */
static const char *hint_format(const struct ccm_suggest *near, const char *before, char *text)
{
    text[0] = '\0';
    if (ccm_suggest_best(near) != NULL) {
        ccm_text_printf(text, HINT_SIZE, " (did you mean '%s%s'?)", before, ccm_suggest_best(near));
    }
    return text;
}

/* The place of the first word that is neither an option nor the value of one; 0 = there is none. */
static int parse_find_word(int argc, char **argv)
{
    const struct cli_command *owner = NULL;

    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (!is_option(argv[i])) {
            return i;
        }

        const struct option_word split = option_split(argv[i]);
        const struct cli_option *option =
            option_find_anywhere(split.name, split.len, split.letter, &owner);

        i += option != NULL && option->value != NULL && split.value == NULL ? 1 : 0;
    }
    return 0;
}

/* The command whose tool has the name that the program was started by; NULL = none. */
static const struct cli_command *parse_program_name(const char *path)
{
    static const char before[] = "ccmd-";
    const char *slash = path == NULL ? NULL : strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;

    return name != NULL && ccm_text_starts(name, before) ? cli_find_command(name + strlen(before))
                                                         : NULL;
}

int cli_parse_command(int *argc, char **argv, const struct cli_command **ret)
{
    struct parse in = { .argc = *argc, .argv = argv };
    int word = 0;

    *ret = parse_program_name(argv[0]);
    if (*ret == NULL) {
        word = parse_find_word(*argc, argv);
    }
    if (word == 0) {
        return 0;
    }
    *ret = cli_find_command(argv[word]);
    if (*ret == NULL) {
        struct ccm_suggest near = { .wanted = argv[word] };
        char hint[HINT_SIZE];

        for (size_t k = 0; k < CLI_COMMAND_COUNT; k++) {
            ccm_suggest_offer(&near, cli_commands[k].name);
        }
        parse_fail(&in, "unknown command '%s'%s", argv[word], hint_format(&near, "", hint));
        return CLI_EXIT_USAGE;
    }
    memmove(&argv[word], &argv[word + 1], (size_t)(*argc - word) * sizeof(*argv)); /* with NULL */
    (*argc)--;
    return 0;
}

static void parse_refuse_option(struct parse *in, const char *word, const struct option_word *split)
{
    const struct cli_command *owner = NULL;
    const struct cli_option *option =
        option_find_anywhere(split->name, split->len, split->letter, &owner);
    struct ccm_suggest near = { .wanted = split->name == NULL ? "" : split->name };
    char hint[HINT_SIZE];

    if (option != NULL) {
        parse_fail(in, "%s takes no --%s, which is for %s", parse_command(in)->name, option->name,
                   owner->name);
        return;
    }
    for (size_t i = 0; parse_command(in)->options[i] != NULL; i++) {
        ccm_suggest_offer(&near, parse_command(in)->options[i]->name);
    }
    parse_fail(in, "unknown option '%.*s'%s", (int)strcspn(word, "="), word,
               hint_format(&near, "--", hint));
}

/* --- values --------------------------------------------------------------------------------- */

static bool is_choice(const char *choices, const char *value)
{
    const size_t len = strlen(value);

    for (const char *at = choices; at != NULL;) {
        const size_t part = strcspn(at, "|");

        if (part == len && memcmp(at, value, len) == 0) {
            return true;
        }
        at = at[part] == '|' ? at + part + 1 : NULL;
    }
    return false;
}

/* One of the choices of the table. */
static enum cli_output output_of(const char *value)
{
    static const struct {
        const char *name;
        enum cli_output output;
    } rows[] = {
        { "json", CLI_OUTPUT_JSON },
        { "sarif", CLI_OUTPUT_SARIF },
        { "github", CLI_OUTPUT_GITHUB },
        { "name", CLI_OUTPUT_NAME },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].name, value) == 0) {
            return rows[i].output;
        }
    }
    return CLI_OUTPUT_TEXT;
}

static void parse_add_plugin(struct parse *in, const char *value)
{
    if (in->args->plugin_count == CLI_COMMAND_PLUGINS_MAX) {
        parse_fail(in, "--plugin: more than %d", CLI_COMMAND_PLUGINS_MAX);
        return;
    }
    in->args->plugins[in->args->plugin_count++] = value;
}

static void parse_set_option(struct parse *in, const struct cli_option *option, const char *value)
{
    struct cli_command_args *args = in->args;

    switch (option->id) {
    case CLI_OPTION_CONFIG:
        args->config = value;
        args->config_is_set = true;
        break;
    case CLI_OPTION_OUTPUT:
        args->output = output_of(value);
        break;
    case CLI_OPTION_KUBECONFIG:
        args->kubeconfig = value;
        break;
    case CLI_OPTION_CONTEXT:
        args->context = value;
        break;
    case CLI_OPTION_EVENT:
        args->event = true;
        break;
    case CLI_OPTION_TIMEOUT:
        if (ccm_parse_i64(value, 1, TIMEOUT_MAX_S, &args->timeout_s) < 0) {
            parse_fail(in, "--timeout %s: not a number from 1 to %d", value, TIMEOUT_MAX_S);
        }
        break;
    case CLI_OPTION_PLUGIN:
        parse_add_plugin(in, value);
        break;
    case CLI_OPTION_PLUGIN_DIR:
        args->plugin_dir = value;
        break;
    case CLI_OPTION_RBAC:
        args->rbac = true;
        break;
    case CLI_OPTION_QUOTAS:
        args->quotas = true;
        break;
    case CLI_OPTION_WATCH:
        args->watch = true;
        break;
    case CLI_OPTION_ALL:
        args->all = true;
        break;
    case CLI_OPTION_HELP:
        in->help = true;
        break;
    case CLI_OPTION_VERSION:
        in->version = true;
        break;
    }
}

static void parse_take_option(struct parse *in, const char *word)
{
    const struct option_word split =
        option_split(strcmp(word, "-?") == 0 ? "-h" : word); /* as GNU programs have it */
    const struct cli_option *option =
        split.name == NULL ? cli_find_letter(parse_command(in), split.letter)
                           : cli_find_option(parse_command(in), split.name, split.len);
    const char *value = split.value;

    if (option == NULL) {
        parse_refuse_option(in, word, &split);
        return;
    }
    if (option->value == NULL && value != NULL) {
        parse_fail(in, "--%s takes no value", option->name);
        return;
    }
    if (option->value != NULL && value == NULL) {
        if (in->next >= in->argc) {
            parse_fail(in, "--%s: %s is missing", option->name, option->value);
            return;
        }
        value = in->argv[in->next++];
    }
    if (option->choices != NULL && !is_choice(option->choices, value)) {
        parse_fail(in, "--%s: '%s' is none of %s", option->name, value, option->choices);
        return;
    }
    parse_set_option(in, option, value);
}

/* --- words that are not --------------------------------------------------------------------- */

static void parse_take_rest(struct parse *in)
{
    while (in->next < in->argc) {
        in->operands[in->args->operand_count++] = in->argv[in->next++];
    }
}

static void parse_words(struct parse *in)
{
    while (in->next < in->argc && !in->bad) {
        const char *word = in->argv[in->next++];

        if (strcmp(word, "--") == 0) {
            parse_take_rest(in);
        } else if (is_option(word)) {
            parse_take_option(in, word);
        } else {
            in->operands[in->args->operand_count++] = word;
            if (parse_command(in)->rest) {
                parse_take_rest(in);
            }
        }
    }
}

static void parse_check_operands(struct parse *in)
{
    const struct cli_command *command = parse_command(in);
    const size_t count = in->args->operand_count;

    if (count < command->operands_min) {
        parse_fail(in, "%s: %.*s is missing", command->name, (int)strcspn(command->operands, " "),
                   command->operands);
    } else if (count > command->operands_max) {
        parse_fail(in,
                   command->operands_max == 0 ? "%s takes no argument, got '%s'"
                                              : "%s: there is one argument too many: '%s'",
                   command->name, in->operands[command->operands_max]);
    } else if (command->choices != NULL && !is_choice(command->choices, in->operands[0])) {
        parse_fail(in, "%s: '%s' is none of %s", command->name, in->operands[0], command->choices);
    }
}

int cli_parse(int argc, char **argv, const struct cli_command *command,
              struct cli_command_args *args, const struct cli_command **ret)
{
    /* Operands move to the front of argv: each goes to a place that was read before. */
    struct parse in = {
        .argc = argc,
        .argv = argv,
        .next = 1,
        .command = command,
        .args = args,
        .operands = (const char **)argv + 1,
    };

    parse_words(&in);
    args->operands = in.operands;
    if (!in.bad && !in.help && !in.version) {
        parse_check_operands(&in);
    }
    if (in.bad) {
        return CLI_EXIT_USAGE;
    }
    *ret = parse_command(&in);
    if (in.version) {
        *ret = &cli_commands[CLI_VERSION];
    }
    if (in.help) { /* help of what was named */
        argv[1] = (char *)(uintptr_t)(*ret)->name;
        args->operand_count = in.command == NULL ? 0 : 1;
        *ret = &cli_commands[CLI_HELP];
    }
    return 0;
}
