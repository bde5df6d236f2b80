#include "util/log.h"

#include "util/bucket.h"
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

/* What one object and one namespace may say: texts may be of any number. A collision makes a budget
 * anew, so that lines are never held back for what others say. */
#define BUDGET_SLOTS 256

struct budget {
    uint64_t hash;
    struct ccm_bucket bucket;
    unsigned held_back;
};

static const struct ccm_bucket_size of_object = { .burst = 60, .interval_ms = 2000 };
static const struct ccm_bucket_size of_namespace = { .burst = 300, .interval_ms = 200 };

static pthread_mutex_t repeat_lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows; leaf */
static struct repeat repeats[REPEAT_SLOTS];
static struct budget objects[BUDGET_SLOTS];
static struct budget namespaces[BUDGET_SLOTS];

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

#define HASH_BEGIN 14695981039346656037U

static uint64_t hash_bytes(uint64_t hash, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211U; /* FNV-1a */
    }
    return hash * 31;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return text == NULL ? hash * 31 : hash_bytes(hash, text, strlen(text));
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

/* Lines that were not written since the last one that was. */
struct held {
    unsigned alike;
    unsigned others; /* about the same object or namespace */
};

/* How often the same may be said. */
static bool repeats_admit(uint64_t hash, int64_t now, struct held *ret)
{
    struct repeat *slot = &repeats[hash % REPEAT_SLOTS];

    if (slot->hash != hash) {
        *slot = (struct repeat){ .hash = hash, .window_start_ms = now, .count = 1 };
    } else if (now - slot->window_start_ms >= REPEAT_WINDOW_MS) {
        ret->alike = slot->held_back;
        *slot = (struct repeat){ .hash = hash, .window_start_ms = now, .count = 1 };
    } else if (slot->count < REPEAT_ALLOWED) {
        slot->count++;
    } else {
        slot->held_back++;
        return false;
    }
    return true;
}

static struct budget *budget_of(struct budget *budgets, uint64_t hash)
{
    struct budget *budget = &budgets[hash % BUDGET_SLOTS];

    if (budget->hash != hash) {
        *budget = (struct budget){ .hash = hash };
    }
    return budget;
}

static bool budget_is_spent(struct budget *budget, const struct ccm_bucket_size *size, int64_t now)
{
    const bool spent = ccm_bucket_wait_ms(&budget->bucket, size, now) > 0;

    budget->held_back += spent ? 1 : 0;
    return spent;
}

static void budget_take(struct budget *budget, const struct ccm_bucket_size *size, int64_t now,
                        struct held *ret)
{
    ccm_bucket_take(&budget->bucket, size, now);
    ret->others += budget->held_back;
    budget->held_back = 0;
}

/* object: "namespace/name", or the name of what belongs to no namespace. */
static bool budgets_admit(const char *object, int64_t now, struct held *ret)
{
    const char *slash = strchr(object, '/');
    const size_t len = slash == NULL ? 0 : (size_t)(slash - object);
    struct budget *own = budget_of(objects, hash_text(HASH_BEGIN, object));
    struct budget *all = budget_of(namespaces, hash_bytes(HASH_BEGIN, object, len));

    if (budget_is_spent(own, &of_object, now) ||
        (len > 0 && budget_is_spent(all, &of_namespace, now))) {
        own->held_back += ret->alike;
        return false;
    }
    budget_take(own, &of_object, now, ret);
    if (len > 0) {
        budget_take(all, &of_namespace, now, ret);
    }
    return true;
}

/* Whether this line may be written. */
static bool log_admit_line(const struct ccm_log *log, enum ccm_log_level level, const char *message,
                           struct held *ret)
{
    uint64_t hash = log->object != NULL && level <= CCM_LOG_WARN ? hash_words(HASH_BEGIN, message)
                                                                 : hash_text(HASH_BEGIN, message);
    const int64_t now = ccm_clock_now_ms();

    hash = hash_text(hash, log->object);
    hash = hash_text(hash, log->part);
    ccm_lock(&repeat_lock);

    const bool admitted =
        repeats_admit(hash, now, ret) &&
        (log->object == NULL || level == CCM_LOG_DEBUG || budgets_admit(log->object, now, ret));

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
                        const char *message, const struct held *held)
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
    if (held->alike + held->others > 0) {
        ccm_buf_addf(line, ",\"held_back\":%u", held->alike + held->others);
    }
    ccm_buf_adds(line, ",\"msg\":");
    ccm_json_quote(line, message);
    ccm_buf_adds(line, "}\n");
}

static void format_text(struct ccm_buf *line, const struct ccm_log *log, enum ccm_log_level level,
                        const char *message, const struct held *held)
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
    if (held->alike > 0) {
        ccm_buf_addf(line, " (%u more like this were held back)", held->alike);
    }
    if (held->others > 0) {
        ccm_buf_addf(line, " (%u more about this object or namespace were held back)",
                     held->others);
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
    struct held held = { 0 };

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
        format_json(&line, fields, level, ccm_buf_str(&message), &held);
    } else {
        format_text(&line, fields, level, ccm_buf_str(&message), &held);
    }
    if (ccm_buf_error(&line) == 0 && write(STDERR_FILENO, line.data, line.len) < 0) {
        return; /* nowhere left to report that the log cannot be written */
    }
}
