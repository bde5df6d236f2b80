#include "tools/explain.h"

#include "cli/color.h"
#include "tools/help.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/crash.h"
#include "util/jsonw.h"
#include "util/suggest.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_COLUMN 14

enum field {
    FIELD_KEY,
    FIELD_OLD_KEY,
    FIELD_NAME,
    FIELD_SUBJECT,
    FIELD_HEADING,
    FIELD_HELP,
    FIELD_VALUES,
    FIELD_FALLBACK,
    FIELD_EXAMPLE,
    FIELD_SCOPE,
    FIELD_NEEDS,
    FIELD_CHANGE,
    FIELD_FIELD,
    FIELD_PAGE
};

#define AT(member) offsetof(struct ccm_annotation, member)

static const struct {
    size_t offset;     /* of the text in struct ccm_annotation */
    const char *json;  /* what programs call it */
    const char *label; /* what people see before it; NULL = it has a place of its own */
} fields[TOOL_EXPLAIN_TEXTS] = {
    [FIELD_KEY] = { AT(key), "key", NULL },
    [FIELD_OLD_KEY] = { AT(old_key), "oldKey", "older key" },
    [FIELD_NAME] = { AT(name), "name", NULL },
    [FIELD_SUBJECT] = { AT(subject), "subject", NULL },
    [FIELD_HEADING] = { AT(heading), "heading", NULL },
    [FIELD_HELP] = { AT(help), "help", NULL },
    [FIELD_VALUES] = { AT(values), "values", "values" },
    [FIELD_FALLBACK] = { AT(fallback), "default", "default" },
    [FIELD_EXAMPLE] = { AT(example), "example", NULL },
    [FIELD_SCOPE] = { AT(scope), "scope", "counts for" },
    [FIELD_NEEDS] = { AT(needs), "needs", "needs" },
    [FIELD_CHANGE] = { AT(change), "change", "change" },
    [FIELD_FIELD] = { AT(field), "field", "API field" },
    [FIELD_PAGE] = { AT(page), "page", "more" },
};

/* --- gathering ------------------------------------------------------------------------------ */

static void annotation_fini(struct tool_annotation *item)
{
    for (size_t i = 0; i < TOOL_EXPLAIN_TEXTS; i++) {
        free(item->texts[i]);
    }
}

void tool_explain_fini(struct tool_explain *explain)
{
    for (size_t i = 0; i < explain->len; i++) {
        annotation_fini(&explain->items[i]);
    }
    free(explain->items);
    *explain = (struct tool_explain){ 0 };
}

/* What the sink of one call stands for. */
struct call {
    struct tool_explain *explain;
    const char *plugin;
    int error;
};

/* A member of the plugin's struct, which may be shorter than ours. */
static const char *annotation_get(const struct ccm_annotation *annotation, size_t offset)
{
    const char *text = NULL;

    if (annotation->struct_size >= offset + sizeof(text)) {
        memcpy(&text, (const char *)annotation + offset, sizeof(text));
    }
    return text;
}

static int annotation_copy(const struct ccm_annotation *from, struct tool_annotation *to)
{
    for (size_t i = 0; i < TOOL_EXPLAIN_TEXTS; i++) {
        const char *text = annotation_get(from, fields[i].offset);

        if (i == FIELD_NAME && text == NULL) {
            text = from->key;
        }
        to->texts[i] = text == NULL ? NULL : ccm_text_format("%s", text);
        if (text != NULL && to->texts[i] == NULL) {
            return -ENOMEM;
        }
    }
    return 0;
}

static void sink_annotation(const struct ccm_annotation_sink *sink,
                            const struct ccm_annotation *annotation)
{
    struct call *call = sink->core;
    struct tool_explain *explain = call->explain;

    if (call->error < 0) {
        return;
    }
    if (annotation_get(annotation, AT(key)) == NULL ||
        annotation_get(annotation, AT(help)) == NULL) {
        call->error = -EINVAL;
        return;
    }
    call->error =
        ccm_array_grow(&explain->items, &explain->cap, explain->len + 1, sizeof(*explain->items));
    if (call->error == 0) {
        struct tool_annotation *item = &explain->items[explain->len++];

        *item = (struct tool_annotation){ .plugin = call->plugin };
        call->error = annotation_copy(annotation, item);
    }
}

int tool_explain_add(struct tool_explain *explain, const struct ccm_plugin *desc, const char *name)
{
    struct call call = { .explain = explain, .plugin = name };
    const struct ccm_annotation_sink sink = {
        .struct_size = sizeof(sink),
        .annotation = sink_annotation,
        .core = &call,
    };
    struct ccm_crash_call crash = { .plugin = name, .stage = "annotations" };

    ccm_crash_begin(&crash);

    const int r = desc->annotations(&sink);

    ccm_crash_end(&crash);
    return r < 0 ? r : call.error;
}

/* --- choosing ------------------------------------------------------------------------------- */

static bool annotation_is(const struct tool_annotation *item, const char *words)
{
    return ccm_text_equal(item->texts[FIELD_NAME], words) ||
           ccm_text_equal(item->texts[FIELD_KEY], words) ||
           (item->texts[FIELD_OLD_KEY] != NULL &&
            ccm_text_equal(item->texts[FIELD_OLD_KEY], words));
}

static void explain_mark(struct tool_explain *explain, const char *words, bool whole)
{
    for (size_t i = 0; i < explain->len; i++) {
        struct tool_annotation *item = &explain->items[i];

        item->chosen =
            whole ? annotation_is(item, words) : strstr(item->texts[FIELD_NAME], words) != NULL;
        explain->chosen += item->chosen ? 1 : 0;
    }
}

bool tool_explain_choose(struct tool_explain *explain, const char *words, const char **ret_near)
{
    struct ccm_suggest near = { .wanted = words == NULL ? "" : words };

    explain->chosen = 0;
    if (words != NULL) {
        explain_mark(explain, words, true);
    }
    if (explain->chosen == 0) {
        explain_mark(explain, words == NULL ? "" : words, false);
    }
    for (size_t i = 0; explain->chosen == 0 && i < explain->len; i++) {
        ccm_suggest_offer(&near, explain->items[i].texts[FIELD_NAME]);
        ccm_suggest_offer(&near, explain->items[i].texts[FIELD_KEY]);
    }
    *ret_near = ccm_suggest_best(&near);
    return explain->chosen > 0;
}

bool tool_explain_is_one(const struct tool_explain *explain)
{
    const char *name = NULL;

    for (size_t i = 0; i < explain->len; i++) {
        const struct tool_annotation *item = &explain->items[i];

        if (!item->chosen) {
            continue;
        }
        if (name != NULL && !ccm_text_equal(name, item->texts[FIELD_NAME])) {
            return false;
        }
        name = item->texts[FIELD_NAME];
    }
    return name != NULL;
}

/* --- printing ------------------------------------------------------------------------------- */

/* Whether they differ in nothing but what has them. */
static bool annotation_is_same(const struct tool_annotation *a, const struct tool_annotation *b)
{
    for (size_t i = 0; i < TOOL_EXPLAIN_TEXTS; i++) {
        if (i != FIELD_SUBJECT && !ccm_text_equal(a->texts[i], b->texts[i])) {
            return false;
        }
    }
    return true;
}

static bool is_printed_before(const struct tool_explain *explain, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (explain->items[i].chosen &&
            annotation_is_same(&explain->items[i], &explain->items[index])) {
            return true;
        }
    }
    return false;
}

/* "CLB, NLB": what has this annotation. */
static void explain_write_subjects(const struct tool_explain *explain, size_t index,
                                   struct ccm_buf *text)
{
    const struct tool_annotation *item = &explain->items[index];

    for (size_t i = index; i < explain->len; i++) {
        const char *subject = explain->items[i].texts[FIELD_SUBJECT];

        if (explain->items[i].chosen && annotation_is_same(&explain->items[i], item)) {
            ccm_buf_addf(text, "%s%s", text->len == 0 ? "" : ", ",
                         subject == NULL ? explain->items[i].plugin : subject);
        }
    }
}

/* As it stands in a manifest: text, in quotes. */
static void explain_print_example(const struct tool_annotation *item, FILE *out)
{
    (void)fprintf(out, "  %-*s%s: \"", LABEL_COLUMN - 2, "example", item->texts[FIELD_KEY]);
    for (const char *at = item->texts[FIELD_EXAMPLE]; *at != '\0'; at++) {
        (void)fprintf(out, "%s%c", *at == '"' || *at == '\\' ? "\\" : "", *at);
    }
    (void)fputs("\"\n", out);
}

static void explain_print_item(const struct tool_explain *explain, size_t index, FILE *out)
{
    const struct tool_annotation *item = &explain->items[index];
    const bool color = cli_color_is_wanted(out);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf subjects = { 0 };

    explain_write_subjects(explain, index, &subjects);
    (void)fprintf(out, "%s%s%s (%s)\n", cli_color_text(color, CLI_COLOR_BOLD),
                  item->texts[FIELD_NAME], cli_color_text(color, CLI_COLOR_PLAIN),
                  ccm_buf_str(&subjects));
    tool_help_print_text(2, item->texts[FIELD_HELP], out);
    (void)fputc('\n', out);
    for (size_t i = 0; i < TOOL_EXPLAIN_TEXTS; i++) {
        if (item->texts[i] == NULL) {
            continue;
        }
        if (i == FIELD_EXAMPLE) {
            explain_print_example(item, out);
        } else if (fields[i].label != NULL) {
            tool_help_print_row(fields[i].label, LABEL_COLUMN, item->texts[i], out);
        }
    }
}

void tool_explain_print(const struct tool_explain *explain, FILE *out)
{
    const char *between = "";

    for (size_t i = 0; i < explain->len; i++) {
        if (explain->items[i].chosen && !is_printed_before(explain, i)) {
            (void)fputs(between, out);
            explain_print_item(explain, i, out);
            between = "\n";
        }
    }
}

static void explain_print_heading(const struct tool_explain *explain, const char *heading,
                                  FILE *out)
{
    for (size_t i = 0; i < explain->len; i++) {
        const struct tool_annotation *item = &explain->items[i];
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };

        if (!item->chosen || !ccm_text_equal(item->texts[FIELD_HEADING], heading) ||
            is_printed_before(explain, i)) {
            continue;
        }
        explain_write_subjects(explain, i, &text);
        ccm_buf_addf(&text, ": %s", item->texts[FIELD_HELP]);
        tool_help_print_row(item->texts[FIELD_NAME], 32, ccm_buf_str(&text), out);
    }
}

void tool_explain_print_list(const struct tool_explain *explain, FILE *out)
{
    const char *between = "";

    for (size_t i = 0; i < explain->len; i++) {
        const char *heading = explain->items[i].texts[FIELD_HEADING];
        bool again = !explain->items[i].chosen;

        for (size_t k = 0; k < i; k++) {
            again = again || (explain->items[k].chosen &&
                              ccm_text_equal(explain->items[k].texts[FIELD_HEADING], heading));
        }
        if (!again) {
            (void)fprintf(out, "%s%s\n", between, heading == NULL ? "Annotations" : heading);
            explain_print_heading(explain, heading, out);
            between = "\n";
        }
    }
}

int tool_explain_print_json(const struct tool_explain *explain, FILE *out)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { 0 };
    struct ccm_jsonw w = { .buf = &json };

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_open(&w, "annotations", '[');
    for (size_t i = 0; i < explain->len; i++) {
        const struct tool_annotation *item = &explain->items[i];

        if (!item->chosen) {
            continue;
        }
        ccm_jsonw_open(&w, NULL, '{');
        ccm_jsonw_str(&w, "plugin", item->plugin);
        for (size_t k = 0; k < TOOL_EXPLAIN_TEXTS; k++) {
            if (item->texts[k] != NULL) {
                ccm_jsonw_str(&w, fields[k].json, item->texts[k]);
            }
        }
        ccm_jsonw_close(&w, '}');
    }
    ccm_jsonw_close_all(&w, "]}");
    (void)fprintf(out, "%s\n", ccm_buf_str(&json));
    return ccm_buf_error(&json);
}

void tool_explain_print_names(const struct tool_explain *explain, FILE *out)
{
    for (size_t i = 0; i < explain->len; i++) {
        const char *name = explain->items[i].texts[FIELD_NAME];
        bool again = !explain->items[i].chosen;

        for (size_t k = 0; k < i && !again; k++) {
            again = explain->items[k].chosen &&
                    ccm_text_equal(explain->items[k].texts[FIELD_NAME], name);
        }
        if (!again) {
            (void)fprintf(out, "%s\n", name);
        }
    }
}
