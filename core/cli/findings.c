#include "cli/findings.h"

#include "cli/color.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

void cli_findings_fini(struct cli_findings *findings)
{
    ccm_buf_fini(&findings->list);
}

/* Where the text of "FILE:LINE: text" begins; *ret_len bytes are the file, 0 = there is none. */
static const char *finding_split(const char *line, size_t *ret_len, int64_t *ret_line)
{
    static const char digits[] = "0123456789";

    *ret_line = 0;
    for (const char *at = line; (at = strchr(at, ':')) != NULL; at++) {
        const size_t len = strspn(at + 1, digits);

        *ret_len = (size_t)(at - line);
        if (at[1] == ' ') {
            return at + 2;
        }
        if (len > 0 && len < 9 && at[1 + len] == ':' && at[2 + len] == ' ') {
            for (size_t i = 0; i < len; i++) {
                *ret_line = *ret_line * 10 + (at[1 + i] - '0');
            }
            return at + len + 3;
        }
    }
    *ret_len = 0;
    return line;
}

void cli_print_finding(void *arg, bool is_error, const char *line)
{
    static const char warning[] = "warning:";
    const bool color = cli_color_is_wanted(arg);
    const char *plain = cli_color_text(color, CLI_COLOR_PLAIN);
    size_t len = 0;
    int64_t number = 0;
    const char *text = finding_split(line, &len, &number);
    const bool has_word = !is_error && ccm_text_starts(text, warning);
    const size_t word = has_word ? strlen(warning) : strlen(text);

    (void)fprintf(arg, "%s%.*s%s%s%.*s%s%s\n", cli_color_text(color, CLI_COLOR_BOLD),
                  (int)(text - line), line, plain,
                  cli_color_text(color, is_error ? CLI_COLOR_RED : CLI_COLOR_YELLOW), (int)word,
                  text, plain, text + word); /* sticks */
}

void cli_findings_add(void *arg, bool is_error, const char *line)
{
    static const char warning[] = "warning: ";
    struct cli_findings *findings = arg;
    struct ccm_jsonw w = { .buf = &findings->list, .comma = findings->list.len > 0 };
    size_t len = 0;
    int64_t number = 0;

    if (!findings->json) {
        cli_print_finding(stderr, is_error, line);
        return;
    }

    const char *text = finding_split(line, &len, &number);
    CCM_CLEANUP(ccm_freep) char *file = ccm_text_format("%.*s", (int)len, line);

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "file", file == NULL ? "" : file);
    ccm_jsonw_i64(&w, "line", number);
    ccm_jsonw_str(&w, "level", is_error ? "error" : "warning");
    ccm_jsonw_str(&w, "message",
                  !is_error && ccm_text_starts(text, warning) ? text + strlen(warning) : text);
    ccm_jsonw_close(&w, '}');
}

void cli_findings_print_json(struct cli_findings *findings, const char *file, bool ok)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { 0 };
    CCM_CLEANUP(ccm_freep) char *list = ccm_text_format("[%s]", ccm_buf_str(&findings->list));
    struct ccm_jsonw w = { .buf = &json };

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "file", file);
    ccm_jsonw_bool(&w, "ok", ok);
    ccm_jsonw_raw(&w, "findings", list == NULL ? "[]" : list);
    ccm_jsonw_close(&w, '}');
    (void)printf("%s\n", ccm_buf_str(&json)); /* sticks */
}
