/*
 * Log of the process: one line per message, one write(2) per line, to standard error.
 *
 *     static const struct ccm_log log = { .part = "reflector" };
 *     ccm_log_warn(&log, "%s: relisting: %s", kind, err.message);
 *
 * Text:  2026-01-02T03:04:05.678Z warn  reflector default/web: message
 * JSON:  {"ts":"...","level":"warn","part":"reflector","object":"default/web","msg":"message"}
 *
 * A message that repeats (same part, object and text) is written at most 10 times a minute; the
 * next one that is let through says how many were held back. For an error or warning about an
 * object words with a digit in them are all the same: pauses and ids of requests differ each time.
 * Besides that an object has 60 lines at once, then one in 2 s, and a namespace 300, then 5 a
 * second; lines of level debug are not counted. Secrets are never passed in: see secret.h. Every
 * thread.
 */
#ifndef CCM_UTIL_LOG_H
#define CCM_UTIL_LOG_H

#include "util/attr.h"

#include <stdarg.h>
#include <stdbool.h>

enum ccm_log_level { CCM_LOG_ERROR, CCM_LOG_WARN, CCM_LOG_INFO, CCM_LOG_DEBUG };

/* Fields bound to each line; all may be NULL. Borrowed for the call. */
struct ccm_log {
    const char *part;   /* module or plugin */
    const char *object; /* namespace/name */
};

/* Set level and form for the whole process; before threads start, or any time later. */
void ccm_log_setup(enum ccm_log_level level, bool json);

/* What every line begins with, in the same write, such as a code that clears the line of a
 * terminal;
 * "" = nothing. Static text. Any time. */
void ccm_log_set_intro(const char *text);

/* "error", "warn", "info", "debug" -> level. 0 or -EINVAL. */
CCM_NODISCARD int ccm_log_parse_level(const char *text, enum ccm_log_level *ret);

/* Whether lines have the form of JSON. Also in a signal handler. */
bool ccm_log_is_json(void);

bool ccm_log_enabled(enum ccm_log_level level);

void ccm_log_write(const struct ccm_log *log, enum ccm_log_level level, const char *format, ...)
    CCM_PRINTF(3, 4);
void ccm_log_vwrite(const struct ccm_log *log, enum ccm_log_level level, const char *format,
                    va_list args) CCM_PRINTF(3, 0);

/* The arguments are only evaluated when the level is on. */
#define CCM_LOG_AT(log, level, ...)                                                                \
    do {                                                                                           \
        if (ccm_log_enabled(level)) {                                                              \
            ccm_log_write(log, level, __VA_ARGS__);                                                \
        }                                                                                          \
    } while (0)
#define ccm_log_error(log, ...) CCM_LOG_AT(log, CCM_LOG_ERROR, __VA_ARGS__)
#define ccm_log_warn(log, ...)  CCM_LOG_AT(log, CCM_LOG_WARN, __VA_ARGS__)
#define ccm_log_info(log, ...)  CCM_LOG_AT(log, CCM_LOG_INFO, __VA_ARGS__)
#define ccm_log_debug(log, ...) CCM_LOG_AT(log, CCM_LOG_DEBUG, __VA_ARGS__)

#endif
