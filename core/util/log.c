#include "util/log.h"

#include "util/buf.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static const char *const level_names[] = { "error", "warn", "info", "debug" };

/* The form of the log belongs to the process, so this is one of the few places with static state.
 */
static atomic_int current_level = CCM_LOG_INFO;
static atomic_bool as_json;
static _Atomic(const char *) line_intro = "";

/* Repeats: a small table of recent lines by hash; a collision only costs a suppressed or extra
 * line. */
#define REPEAT_SLOTS     256
#define REPEAT_ALLOWED   10
#define REPEAT_WINDOW_MS 60000

struct repeat {
    uint64_t hash;
    int64_t window_start_ms;
    unsigned count;
    unsigned held_back;
};

static pthread_mutex_t repeat_lock = PTHREAD_MUTEX_INITIALIZER; /* guards repeats; leaf */
static struct repeat repeats[REPEAT_SLOTS];

void ccm_log_setup(enum ccm_log_level level, bool json)
{
    atomic_store(&current_level, (int)level);
    atomic_store(&as_json, json);
}

void ccm_log_set_intro(const char *text)
{
    atomic_store(&line_intro, text);
}

int ccm_log_parse_level(const char *text, enum ccm_log_level *ret)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(level_names); i++) {
        if (strcmp(text, level_names[i]) == 0) {
            *ret = (enum ccm_log_level)i;
            return 0;
        }
    }
    return -EINVAL;
}

bool ccm_log_is_json(void)
{
    return atomic_load(&as_json);
}

bool ccm_log_enabled(enum ccm_log_level level)
{
    return (int)level <= atomic_load_explicit(&current_level, memory_order_relaxed);
}

void ccm_log_write(const struct ccm_log *log, enum ccm_log_level level, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    ccm_log_vwrite(log, level, format, args);
    va_end(args);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (const char *p = text == NULL ? "" : text; *p != '\0'; p++) {
        hash = (hash ^ (unsigned char)*p) * 1099511628211U; /* FNV-1a */
    }
    return hash * 31;
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-';
}

/* The same for texts that differ in words with a digit alone. */
static uint64_t hash_words(uint64_t hash, const char *text)
{
    while (*text != '\0') {
        size_t len = 0;
        bool digit = false;

        for (; is_word(text[len]); len++) {
            digit = digit || (text[len] >= '0' && text[len] <= '9');
        }
        len = len == 0 ? 1 : len;
        for (size_t i = 0; i < len; i++) {
            const char c = digit ? '0' : text[i];

            hash = digit && i > 0 ? hash : (hash ^ (unsigned char)c) * 1099511628211U;
        }
        text += len;
    }
    return hash * 31;
}

/* Whether this line may be written; *ret_held = lines like it that were not, since the last one
 * that was. */
static bool log_admit_line(const struct ccm_log *log, enum ccm_log_level level, const char *message,
                           unsigned *ret_held)
{
    const uint64_t begin = 14695981039346656037U;
    uint64_t hash = log->object != NULL && level <= CCM_LOG_WARN ? hash_words(begin, message)
                                                                 : hash_text(begin, message);

    hash = hash_text(hash, log->object);
    hash = hash_text(hash, log->part);

    struct repeat *slot = &repeats[hash % REPEAT_SLOTS];
    const int64_t now = ccm_clock_now_ms();
    bool admitted = true;

    ccm_lock(&repeat_lock);
    *ret_held = 0;
    if (slot->hash != hash) {
        *slot = (struct repeat){ .hash = hash, .window_start_ms = now, .count = 1 };
    } else if (now - slot->window_start_ms >= REPEAT_WINDOW_MS) {
        *ret_held = slot->held_back;
        *slot = (struct repeat){ .hash = hash, .window_start_ms = now, .count = 1 };
    } else if (slot->count < REPEAT_ALLOWED) {
        slot->count++;
    } else {
        slot->held_back++;
        admitted = false;
    }
    ccm_unlock(&repeat_lock);
    return admitted;
}

/* Line feeds of foreign text must not forge a second line. */
static void add_flat(struct ccm_buf *line, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        ccm_buf_addc(line, (unsigned char)*p < 0x20 || *p == 0x7f ? ' ' : *p);
    }
}

static void add_time(struct ccm_buf *line)
{
    const int64_t now = ccm_clock_wall_ms();
    char text[CCM_CLOCK_TEXT];

    ccm_clock_format(now, text, sizeof(text));
    text[strlen(text) - 1] = '\0';
    ccm_buf_addf(line, "%s.%03dZ", text, (int)(now % 1000));
}

static void format_json(struct ccm_buf *line, const struct ccm_log *log, enum ccm_log_level level,
                        const char *message, unsigned held)
{
    ccm_buf_adds(line, "{\"ts\":\"");
    add_time(line);
    ccm_buf_addf(line, "\",\"level\":\"%s\"", level_names[level]);
    if (log->part != NULL) {
        ccm_buf_adds(line, ",\"part\":");
        ccm_json_quote(line, log->part);
    }
    if (log->object != NULL) {
        ccm_buf_adds(line, ",\"object\":");
        ccm_json_quote(line, log->object);
    }
    if (held > 0) {
        ccm_buf_addf(line, ",\"held_back\":%u", held);
    }
    ccm_buf_adds(line, ",\"msg\":");
    ccm_json_quote(line, message);
    ccm_buf_adds(line, "}\n");
}

static void format_text(struct ccm_buf *line, const struct ccm_log *log, enum ccm_log_level level,
                        const char *message, unsigned held)
{
    add_time(line);
    ccm_buf_addf(line, " %-5s", level_names[level]);
    if (log->part != NULL) {
        ccm_buf_addf(line, " %s", log->part);
    }
    if (log->object != NULL) {
        ccm_buf_addc(line, ' ');
        add_flat(line, log->object);
    }
    ccm_buf_adds(line, ": ");
    add_flat(line, message);
    if (held > 0) {
        ccm_buf_addf(line, " (%u more like this were held back)", held);
    }
    ccm_buf_addc(line, '\n');
}

void ccm_log_vwrite(const struct ccm_log *log, enum ccm_log_level level, const char *format,
                    va_list args)
{
    static const struct ccm_log none;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { .max = 16 * 1024 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf line = { .max = 64 * 1024 };
    const struct ccm_log *fields = log == NULL ? &none : log;
    unsigned held;

    if (!ccm_log_enabled(level)) {
        return;
    }
    ccm_buf_vaddf(&message, format, args);
    if (ccm_buf_error(&message) != 0) {
        ccm_buf_reset(&message);
        ccm_buf_adds(&message, "(a log message that is too long was dropped)");
    }
    if (!log_admit_line(fields, level, ccm_buf_str(&message), &held)) {
        return;
    }
    ccm_buf_adds(&line, atomic_load(&line_intro));
    if (atomic_load(&as_json)) {
        format_json(&line, fields, level, ccm_buf_str(&message), held);
    } else {
        format_text(&line, fields, level, ccm_buf_str(&message), held);
    }
    if (ccm_buf_error(&line) == 0 && write(STDERR_FILENO, line.data, line.len) < 0) {
        return; /* nowhere left to report that the log cannot be written */
    }
}
