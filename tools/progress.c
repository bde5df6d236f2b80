#include "tools/progress.h"

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define CLEAR        "\r\033[K" /* the line, from its begin */
#define MOMENT_MS    500
#define WIDTH        80 /* of a terminal that does not tell */
#define LINE_MAX_LEN 512

void tool_progress_begin(struct tool_progress *progress)
{
    *progress = (struct tool_progress){
        .on = isatty(STDERR_FILENO) == 1 && !ccm_text_equal(getenv("TERM"), "dumb"),
        .begun_ms = ccm_clock_now_ms(),
    };
    if (!progress->on) {
        return;
    }
    ccm_log_set_intro(CLEAR);
    if (!ccm_log_enabled(CCM_LOG_DEBUG) && ccm_log_enabled(CCM_LOG_WARN)) {
        ccm_log_setup(CCM_LOG_WARN, ccm_log_is_json());
    }
}

/* Bytes that fit into a line. */
static size_t progress_get_width(void)
{
    struct winsize size = { 0 };

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 2 ? WIDTH - 1
                                                                          : size.ws_col - 1U;
}

void tool_progress_show(struct tool_progress *progress, const char *text)
{
    const int64_t passed_ms = ccm_clock_now_ms() - progress->begun_ms;
    char line[LINE_MAX_LEN];
    size_t room = progress_get_width();
    size_t len;

    if (!progress->on || passed_ms < MOMENT_MS) {
        return;
    }
    ccm_text_printf(line, sizeof(line), CLEAR "%lld s: %s", (long long)(passed_ms / 1000), text);
    room += sizeof(CLEAR) - 1;
    len = strlen(line);
    if (write(STDERR_FILENO, line, len < room ? len : room) < 0) {
        progress->on = false; /* the terminal has gone */
    }
}

void tool_progress_end(struct tool_progress *progress)
{
    if (progress->on) {
        (void)!write(STDERR_FILENO, CLEAR, sizeof(CLEAR) - 1); /* the terminal may have gone */
    }
    progress->on = false;
    ccm_log_set_intro("");
}
