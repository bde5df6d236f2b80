#include "util/retry_text.h"

#include "util/text.h"

#include <inttypes.h>
#include <stdbool.h>

#define SPAN_TEXT 32

static uint64_t divide_up(uint64_t number, uint64_t by)
{
    return (number + by - 1) / by;
}

/* "30 s", "10 min", "1 h": never less than it is. */
static void retry_format_span(uint64_t ms, char ret[static SPAN_TEXT])
{
    const uint64_t seconds = ms < 1000 ? 1 : divide_up(ms, 1000);

    if (seconds < 120) {
        ccm_text_printf(ret, SPAN_TEXT, "%" PRIu64 " s", seconds);
    } else if (seconds < 7200) {
        ccm_text_printf(ret, SPAN_TEXT, "%" PRIu64 " min", divide_up(seconds, 60));
    } else {
        ccm_text_printf(ret, SPAN_TEXT, "%" PRIu64 " h", divide_up(seconds, 3600));
    }
}

void ccm_retry_format(const char *object, uint64_t kind, uint64_t next_ms, uint64_t most_ms,
                      char ret[static CCM_RETRY_TEXT])
{
    const bool waits_for_change = kind == CCM_ERROR_TERMINAL || kind == CCM_ERROR_BUG;
    char next[SPAN_TEXT];
    char most[SPAN_TEXT];
    char later[SPAN_TEXT + 32] = "";

    retry_format_span(next_ms, next);
    retry_format_span(most_ms, most);
    if (!ccm_text_equal(next, most)) {
        ccm_text_printf(later, sizeof(later), ", later at least every %s", most);
    }
    if (waits_for_change) {
        ccm_text_printf(ret, CCM_RETRY_TEXT,
                        CCM_RETRY_BEGIN "as soon as the %s changes, else within %s%s", object, next,
                        later);
    } else {
        ccm_text_printf(ret, CCM_RETRY_TEXT,
                        CCM_RETRY_BEGIN "within %s%s, and as soon as the %s changes", next, later,
                        object);
    }
}
