#include "tools/lint_format.h"

#include "ccm/host.h"
#include "ccm/version.h"
#include "cli/color.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <string.h>

#define SARIF_SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"

void tool_lint_format_fini(struct tool_lint_format *format)
{
    ccm_buf_fini(&format->results);
}

/* What it is called for people and in JSON, in SARIF, and as a command of a workflow. */
struct level_names {
    const char *plain;
    const char *sarif;
    const char *github;
    enum cli_color color;
};

static const struct level_names *level_names_of(uint64_t level)
{
    static const struct level_names error = { "error", "error", "error", CLI_COLOR_RED };
    static const struct level_names warning = { "warning", "warning", "warning", CLI_COLOR_YELLOW };
    static const struct level_names hint = { "hint", "note", "notice", CLI_COLOR_GREEN };

    return level == CCM_LEVEL_ERROR ? &error : level == CCM_LEVEL_WARN ? &warning : &hint;
}

static void add_json(struct ccm_jsonw *w, const struct tool_lint_finding *item, const char *file)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "file", file);
    ccm_jsonw_i64(w, "line", item->line);
    ccm_jsonw_str(w, "level", level_names_of(item->level)->plain);
    ccm_jsonw_str(w, "rule", item->origin);
    ccm_jsonw_str(w, "service", item->subject == NULL ? "" : item->subject);
    ccm_jsonw_str(w, "message", item->message);
    ccm_jsonw_close(w, '}');
}

/* A path as a reference of RFC 3986, relative if it is. */
static char *uri_of(const char *path)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf uri = { 0 };
    char *text = NULL;

    for (const char *at = path; *at != '\0'; at++) {
        if (strchr(plain, *at) != NULL) {
            ccm_buf_addc(&uri, *at);
        } else {
            ccm_buf_addf(&uri, "%%%02X", (unsigned)(unsigned char)*at);
        }
    }
    return ccm_buf_take(&uri, &text) < 0 ? NULL : text;
}

static void add_sarif_place(struct ccm_jsonw *w, const struct tool_lint_finding *item,
                            const char *uri)
{
    ccm_jsonw_open(w, "locations", '[');
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_open(w, "physicalLocation", '{');
    ccm_jsonw_open(w, "artifactLocation", '{');
    ccm_jsonw_str(w, "uri", uri);
    ccm_jsonw_close(w, '}');
    ccm_jsonw_open(w, "region", '{');
    ccm_jsonw_i64(w, "startLine", item->line);
    ccm_jsonw_close_all(w, "}}");
    if (item->subject != NULL) {
        ccm_jsonw_open(w, "logicalLocations", '[');
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "fullyQualifiedName", item->subject);
        ccm_jsonw_close_all(w, "}]");
    }
    ccm_jsonw_close_all(w, "}]");
}

static void add_sarif(struct ccm_jsonw *w, const struct tool_lint_finding *item, const char *file)
{
    CCM_CLEANUP(ccm_freep) char *uri = uri_of(strcmp(file, "<stdin>") == 0 ? "stdin" : file);

    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "ruleId", item->origin);
    ccm_jsonw_str(w, "level", level_names_of(item->level)->sarif);
    ccm_jsonw_open(w, "message", '{');
    ccm_jsonw_str(w, "text", item->text);
    ccm_jsonw_close(w, '}');
    add_sarif_place(w, item, uri == NULL ? "" : uri);
    ccm_jsonw_close(w, '}');
}

/* A property of a workflow command; what would end it is escaped. Failures stick in the stream. */
static void print_github_text(FILE *out, const char *text, const char *special)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '%' || *at == '\r' || *at == '\n' || strchr(special, *at) != NULL) {
            (void)fprintf(out, "%%%02X", (unsigned)(unsigned char)*at);
        } else {
            (void)fputc(*at, out);
        }
    }
}

static void print_github(FILE *out, const struct tool_lint_finding *item, const char *file)
{
    (void)fprintf(out, "::%s file=", level_names_of(item->level)->github); /* sticks */
    print_github_text(out, file, ":,");
    (void)fprintf(out, ",line=%u,title=", item->line);
    print_github_text(out, item->subject == NULL ? "ccmd lint" : item->subject, ":,");
    (void)fputs("::", out);
    print_github_text(out, item->message, "");
    (void)fputc('\n', out);
}

static void print_text(const struct tool_lint_format *format, const struct tool_lint_finding *item,
                       const char *file)
{
    const struct level_names *level = level_names_of(item->level);

    (void)fprintf(format->out, "%s:%u: %s%s%s: %s\n", file, item->line, /* sticks */
                  cli_color_text(format->color, level->color), level->plain,
                  cli_color_text(format->color, CLI_COLOR_PLAIN), item->text);
}

void tool_lint_format_add(struct tool_lint_format *format, struct tool_lint_report *report,
                          const char *file)
{
    struct ccm_jsonw w = { .buf = &format->results, .comma = format->results.len > 0 };

    tool_lint_report_sort(report);
    for (size_t i = 0; i < report->len; i++) {
        const struct tool_lint_finding *item = &report->items[i];

        switch (format->output) {
        case CLI_OUTPUT_JSON:
            add_json(&w, item, file);
            break;
        case CLI_OUTPUT_SARIF:
            add_sarif(&w, item, file);
            break;
        case CLI_OUTPUT_GITHUB:
            print_github(format->out, item, file);
            break;
        case CLI_OUTPUT_TEXT:
        case CLI_OUTPUT_NAME:
            print_text(format, item, file);
            break;
        }
    }
}

static void wrap_json(struct ccm_jsonw *w, const char *results, size_t services)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_i64(w, "services", (int64_t)services);
    ccm_jsonw_raw(w, "findings", results);
    ccm_jsonw_close(w, '}');
}

static void wrap_sarif(struct ccm_jsonw *w, const char *results)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "$schema", SARIF_SCHEMA);
    ccm_jsonw_str(w, "version", "2.1.0");
    ccm_jsonw_open(w, "runs", '[');
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_open(w, "tool", '{');
    ccm_jsonw_open(w, "driver", '{');
    ccm_jsonw_str(w, "name", "ccmd lint");
    ccm_jsonw_str(w, "version", CCM_VERSION);
    ccm_jsonw_close_all(w, "}}");
    ccm_jsonw_raw(w, "results", results);
    ccm_jsonw_close_all(w, "}]}");
}

int tool_lint_format_end(struct tool_lint_format *format, size_t services)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { 0 };
    CCM_CLEANUP(ccm_freep) char *results = ccm_text_format("[%s]", ccm_buf_str(&format->results));
    struct ccm_jsonw w = { .buf = &json };

    if (format->output != CLI_OUTPUT_JSON && format->output != CLI_OUTPUT_SARIF) {
        return 0;
    }
    if (results == NULL || ccm_buf_error(&format->results) < 0) {
        return -ENOMEM;
    }
    if (format->output == CLI_OUTPUT_JSON) {
        wrap_json(&w, results, services);
    } else {
        wrap_sarif(&w, results);
    }
    (void)fprintf(format->out, "%s\n", ccm_buf_str(&json)); /* sticks in the stream */
    return ccm_buf_error(&json);
}
