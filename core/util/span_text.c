#include "util/span_text.h"

#include "util/text.h"

#include <inttypes.h>

void ccm_span_format_moment(int64_t ms, char ret[static CCM_SPAN_TEXT])
{
    const int64_t s = (ms < 0 ? -ms : ms) / 1000;
    const char *unit = s < 120 ? "s" : "min";
    const int64_t count = s < 120 ? s : s / 60;

    if (ms < 0) {
        ccm_text_printf(ret, CCM_SPAN_TEXT, "%" PRId64 " %s ago", count, unit);
    } else {
        ccm_text_printf(ret, CCM_SPAN_TEXT, "in %" PRId64 " %s", count, unit);
    }
}
