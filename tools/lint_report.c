#include "tools/lint_report.h"

#include "ccm/host.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void tool_lint_report_fini(struct tool_lint_report *report)
{
    for (size_t i = 0; i < report->len; i++) {
        free(report->items[i].text);
        free(report->items[i].subject);
    }
    free(report->items);
    *report = (struct tool_lint_report){ 0 };
}

/* One line, without blanks at its end. */
static char *report_format_line(const char *subject, const char *message)
{
    /* The decoder names it by itself. */
    const bool named =
        subject == NULL || (ccm_text_starts(message, subject) && message[strlen(subject)] == ':');
    char *text = ccm_text_format("%s%s%s", named ? "" : subject, named ? "" : ": ", message);
    size_t len = 0;

    for (size_t i = 0; text != NULL && text[i] != '\0'; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7F) {
            text[i] = ' ';
        }
        len = text[i] == ' ' ? len : i + 1;
    }
    if (text != NULL) {
        text[len] = '\0';
    }
    return text;
}

static bool is_known(const struct tool_lint_report *report, unsigned line, uint64_t level,
                     const char *text)
{
    for (size_t i = 0; i < report->len; i++) {
        const struct tool_lint_finding *item = &report->items[i];

        if (item->line == line && item->level == level && ccm_text_equal(item->text, text)) {
            return true;
        }
    }
    return false;
}

void tool_lint_report_add(struct tool_lint_report *report, unsigned line, uint64_t level,
                          const char *message)
{
    CCM_CLEANUP(ccm_freep) char *text = report_format_line(report->subject, message);

    if (text == NULL ||
        ccm_array_grow(&report->items, &report->cap, report->len + 1, sizeof(*report->items)) < 0) {
        report->error = -ENOMEM;
        return;
    }
    if (is_known(report, line, level, text)) {
        return;
    }

    CCM_CLEANUP(ccm_freep)
    char *subject = report->subject == NULL ? NULL : strdup(report->subject);
    const size_t skip = subject == NULL ? 0 : strlen(subject) + strlen(": ");

    if (subject == NULL && report->subject != NULL) {
        report->error = -ENOMEM;
        return;
    }
    report->items[report->len++] = (struct tool_lint_finding){
        .line = line,
        .level = level,
        .subject = CCM_STEAL(subject),
        .message = text + (skip < strlen(text) ? skip : 0),
        .origin = report->origin == NULL ? "manifest" : report->origin,
        .text = text,
    };
    text = NULL; /* the report's now */
}

size_t tool_lint_report_count_bad(const struct tool_lint_report *report)
{
    size_t count = 0;

    for (size_t i = 0; i < report->len; i++) {
        count += report->items[i].level <= CCM_LEVEL_WARN ? 1 : 0;
    }
    return count;
}

void tool_lint_report_sort(struct tool_lint_report *report)
{
    /* Insertion sort: stable, and they come almost in order. */
    for (size_t i = 1; i < report->len; i++) {
        const struct tool_lint_finding item = report->items[i];
        size_t k = i;

        for (; k > 0 && report->items[k - 1].line > item.line; k--) {
            report->items[k] = report->items[k - 1];
        }
        report->items[k] = item;
    }
}
