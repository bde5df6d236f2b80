#include "relay.h"

#include "util/attr.h"

#include <stdarg.h>
#include <stdio.h>

#define LINE_MAX_BYTES 2048

static const struct ccm_host *relay_host(const struct ccm_host *relay)
{
    return ((const struct lbc_relay *)relay)->behind;
}

static void relay_pass_log(const struct ccm_host *relay, uint64_t level, const char *object,
                           const char *format, ...) CCM_PRINTF(4, 5);

static void relay_pass_log(const struct ccm_host *relay, uint64_t level, const char *object,
                           const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args); /* a line that long is cut */
    va_end(args);
    relay_host(relay)->log(relay_host(relay), level, object, "%s", line);
}

/* Members that are passed on as they are. */
#define PASS(type, name, params, args)                                                             \
    static type relay_pass_##name params                                                           \
    {                                                                                              \
        return relay_host(relay)->name args;                                                       \
    }
#define TELL(name, params, args)                                                                   \
    static void relay_pass_##name params                                                           \
    {                                                                                              \
        relay_host(relay)->name args;                                                              \
    }
#define HOST relay_host(relay)

PASS(bool, log_enabled, (const struct ccm_host *relay, uint64_t level), (HOST, level))
PASS(int64_t, now_ms, (const struct ccm_host *relay), (HOST))
PASS(int64_t, wall_ms, (const struct ccm_host *relay), (HOST))
PASS(int, random, (const struct ccm_host *relay, void *bytes, size_t len), (HOST, bytes, len))
PASS(int, wait, (const struct ccm_host *relay, const struct ccm_request *req, uint64_t ms),
     (HOST, req, ms))
PASS(bool, cancelled, (const struct ccm_host *relay, const struct ccm_request *req), (HOST, req))
PASS(const char *, option_string,
     (const struct ccm_host *relay, const char *group, const char *name), (HOST, group, name))
PASS(int64_t, option_int, (const struct ccm_host *relay, const char *group, const char *name),
     (HOST, group, name))
PASS(const char *const *, option_strings,
     (const struct ccm_host *relay, const char *group, const char *name), (HOST, group, name))
TELL(enqueue, (const struct ccm_host *relay, const char *key, uint64_t lane, uint64_t delay_ms),
     (HOST, key, lane, delay_ms))
PASS(int, http,
     (const struct ccm_host *relay, const struct ccm_request *req,
      const struct ccm_http_request *http, struct ccm_http_response **ret, uint64_t *ret_phase,
      struct ccm_error *err),
     (HOST, req, http, ret, ret_phase, err))
TELL(http_free, (const struct ccm_host *relay, struct ccm_http_response *response),
     (HOST, response))
PASS(bool, dry_run, (const struct ccm_host *relay), (HOST))
TELL(plan, (const struct ccm_host *relay, const char *object, const char *steps),
     (HOST, object, steps))
TELL(metric,
     (const struct ccm_host *relay, const struct ccm_metric *metric, const char *const *values,
      double value),
     (HOST, metric, values, value))
PASS(int64_t, server_since_ms, (const struct ccm_host *relay), (HOST))
TELL(note_held,
     (const struct ccm_host *relay, const char *object, uint64_t count, const char *reason),
     (HOST, object, count, reason))
TELL(note_unserved,
     (const struct ccm_host *relay, const char *object, uint64_t count, const char *reason),
     (HOST, object, count, reason))
PASS(uint64_t, retry_ms,
     (const struct ccm_host *relay, const struct ccm_request *req, uint64_t index,
      const struct ccm_error *err, uint64_t *ret_most_ms),
     (HOST, req, index, err, ret_most_ms))
TELL(note_quota,
     (const struct ccm_host *relay, const char *object, const char *quota, uint64_t used,
      uint64_t limit),
     (HOST, object, quota, used, limit))
TELL(note_waiting,
     (const struct ccm_host *relay, const char *object, uint64_t ms, const char *what),
     (HOST, object, ms, what))
TELL(throttle, (const struct ccm_host *relay, const char *name, int64_t until_ms),
     (HOST, name, until_ms))
PASS(int64_t, paused_until, (const struct ccm_host *relay, const char *name), (HOST, name))
TELL(withdraw, (const struct ccm_host *relay, const char *key), (HOST, key))
TELL(note_call,
     (const struct ccm_host *relay, const char *object, uint64_t flags, const char *text),
     (HOST, object, flags, text))
PASS(int, http_begin,
     (const struct ccm_host *relay, const struct ccm_request *req,
      const struct ccm_http_request *http, uint64_t *ret_number, struct ccm_error *err),
     (HOST, req, http, ret_number, err))
PASS(int, http_end,
     (const struct ccm_host *relay, uint64_t number, struct ccm_http_response **ret,
      uint64_t *ret_phase, struct ccm_error *err),
     (HOST, number, ret, ret_phase, err))

void lbc_relay_init(struct lbc_relay *relay, const struct ccm_host *behind)
{
    relay->behind = behind;
    relay->host = (struct ccm_host){
        .abi_major = behind->abi_major,
        .struct_size = sizeof(relay->host),
        .log = relay_pass_log,
        .log_enabled = relay_pass_log_enabled,
        .now_ms = relay_pass_now_ms,
        .wall_ms = relay_pass_wall_ms,
        .random = relay_pass_random,
        .wait = relay_pass_wait,
        .cancelled = relay_pass_cancelled,
        .option_string = relay_pass_option_string,
        .option_int = relay_pass_option_int,
        .option_strings = relay_pass_option_strings,
        .enqueue = relay_pass_enqueue,
        .http = relay_pass_http,
        .http_free = relay_pass_http_free,
        .dry_run = relay_pass_dry_run,
        .plan = relay_pass_plan,
        .metric = relay_pass_metric,
        .server_since_ms = relay_pass_server_since_ms,
        .note_held = relay_pass_note_held,
        .note_unserved = relay_pass_note_unserved,
        .retry_ms = relay_pass_retry_ms,
        .note_quota = relay_pass_note_quota,
        .note_waiting = relay_pass_note_waiting,
        .throttle = relay_pass_throttle,
        .paused_until = relay_pass_paused_until,
        .withdraw = relay_pass_withdraw,
        .note_call = relay_pass_note_call,
        .http_begin = relay_pass_http_begin,
        .http_end = relay_pass_http_end,
    };
}
