#include "support/fake_state.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/parse.h"

#include <inttypes.h>
#include <stdarg.h>

struct fake_host *fake_host_of(const struct ccm_host *host)
{
    return host->core;
}

void fake_lock(struct fake_host *fake)
{
    if (pthread_mutex_lock(&fake->lock) != 0) {
        abort();
    }
}

void fake_unlock(struct fake_host *fake)
{
    if (pthread_mutex_unlock(&fake->lock) != 0) {
        abort();
    }
}

void *fake_alloc(size_t size)
{
    void *memory = calloc(1, size);

    if (memory == NULL) {
        abort();
    }
    return memory;
}

char *fake_dup(const char *text)
{
    char *copy = strdup(text == NULL ? "" : text);

    if (copy == NULL) {
        abort();
    }
    return copy;
}

void fake_list_add(struct fake_list *list, void *item)
{
    if (ccm_array_grow(&list->items, &list->cap, list->len + 1, sizeof(*list->items)) < 0) {
        abort();
    }
    list->items[list->len++] = item;
}

static void log_line(const struct ccm_host *host, uint64_t level, const char *object,
                     const char *format, ...) CCM_PRINTF(4, 5);

static void log_line(const struct ccm_host *host, uint64_t level, const char *object,
                     const char *format, ...)
{
    static const char *const names[] = { "error", "warn", "info", "debug" };
    struct fake_host *fake = fake_host_of(host);
    va_list args;

    fake_lock(fake);
    ccm_buf_addf(&fake->log, "%s %s: ", names[level > 3 ? 3 : level], object == NULL ? "" : object);
    va_start(args, format);
    ccm_buf_vaddf(&fake->log, format, args);
    va_end(args);
    ccm_buf_addc(&fake->log, '\n');
    fake_unlock(fake);
}

static bool log_enabled(const struct ccm_host *host, uint64_t level)
{
    struct fake_host *fake = fake_host_of(host);

    fake_lock(fake);
    const bool on = level != CCM_LEVEL_DEBUG || fake->debug;
    fake_unlock(fake);
    return on;
}

static int64_t now_ms(const struct ccm_host *host)
{
    return fake_host_now(fake_host_of(host));
}

static int64_t wall_ms(const struct ccm_host *host)
{
    struct fake_host *fake = fake_host_of(host);

    fake_lock(fake);
    const int64_t wall = fake->wall_ms;
    fake_unlock(fake);
    return wall;
}

/* Repeatable, never the same bytes twice. */
static int random_bytes(const struct ccm_host *host, void *bytes, size_t len)
{
    struct fake_host *fake = fake_host_of(host);
    unsigned char *out = bytes;

    fake_lock(fake);
    for (size_t i = 0; i < len; i++) {
        fake->seed = fake->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        out[i] = (unsigned char)(fake->seed >> 56);
    }
    fake_unlock(fake);
    return 0;
}

static int wait_ms(const struct ccm_host *host, const struct ccm_request *req, uint64_t ms)
{
    struct fake_host *fake = fake_host_of(host);
    int r = 0;

    fake_lock(fake);
    if (fake->cancelled || fake_is_late(fake, req, (int64_t)ms - 1)) {
        r = -ECANCELED;
    } else {
        uint64_t *kept = fake_alloc(sizeof(*kept));

        *kept = ms;
        fake_list_add(&fake->waits, kept);
        fake->waited_ms += ms;
        fake->now_ms += (int64_t)ms;
        fake->wall_ms += (int64_t)ms;
    }
    fake_unlock(fake);
    return r;
}

static bool cancelled(const struct ccm_host *host, const struct ccm_request *req)
{
    struct fake_host *fake = fake_host_of(host);

    fake_lock(fake);
    const bool yes = fake->cancelled || fake_is_late(fake, req, 0);
    fake_unlock(fake);
    return yes;
}

static const char *option_find(struct fake_host *fake, const char *group, const char *name)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf key = { 0 };

    ccm_buf_addf(&key, "%s/%s", group == NULL ? "" : group, name);
    fake_lock(fake);
    const char *value = ccm_strmap_get(fake->options, ccm_buf_str(&key));
    fake_unlock(fake);
    return value == NULL ? "" : value;
}

static const char *option_string(const struct ccm_host *host, const char *group, const char *name)
{
    return option_find(fake_host_of(host), group, name);
}

static int64_t option_int(const struct ccm_host *host, const char *group, const char *name)
{
    const char *text = option_find(fake_host_of(host), group, name);
    int64_t value = 0;
    bool flag = false;

    if (ccm_parse_bool(text, &flag) == 0) {
        return flag ? 1 : 0;
    }
    return ccm_parse_i64(text, INT64_MIN, INT64_MAX, &value) < 0 ? 0 : value;
}

static const char *const *option_strings(const struct ccm_host *host, const char *group,
                                         const char *name)
{
    struct fake_host *fake = fake_host_of(host);
    const char *text = option_find(fake, group, name);
    char **list = fake_alloc((strlen(text) + 2) * sizeof(*list));
    const char *cursor = text[0] == '\0' ? NULL : text;
    const char *start;
    size_t len;
    size_t count = 0;

    while (ccm_parse_piece(&cursor, ',', &start, &len)) {
        list[count] = fake_alloc(len + 1);
        memcpy(list[count++], start, len);
    }
    fake_lock(fake);
    fake_list_add(&fake->option_lists, list);
    fake_unlock(fake);
    return (const char *const *)list;
}

static void metric(const struct ccm_host *host, const struct ccm_metric *metric,
                   const char *const *values, double value)
{
    if (ccm_metrics_record(fake_host_of(host)->metrics, metric, values, value) < 0) {
        abort(); /* a plugin of ours that defines or labels it wrongly */
    }
}

static int64_t server_since_ms(const struct ccm_host *host)
{
    struct fake_host *fake = fake_host_of(host);

    fake_lock(fake);
    const int64_t since_ms = fake->server_since_ms;
    fake_unlock(fake);
    return since_ms;
}

void fake_host_server_since(struct fake_host *fake, int64_t since_ms)
{
    fake_lock(fake);
    fake->server_since_ms = since_ms;
    fake_unlock(fake);
}

static void fake_note(struct fake_host *fake, struct ccm_strmap *notes, const char *object,
                      uint64_t count, const char *reason)
{
    struct ccm_buf text = { 0 };

    ccm_buf_addf(&text, "%" PRIu64 ": %s", count, reason == NULL ? "" : reason);
    fake_lock(fake);
    if (count == 0) {
        ccm_strmap_del(notes, object);
    } else if (ccm_strmap_set(notes, object, fake_dup(ccm_buf_str(&text))) < 0) {
        abort();
    }
    fake_unlock(fake);
    ccm_buf_fini(&text);
}

static void note_held(const struct ccm_host *host, const char *object, uint64_t count,
                      const char *reason)
{
    fake_note(fake_host_of(host), fake_host_of(host)->held, object, count, reason);
}

static void note_unserved(const struct ccm_host *host, const char *object, uint64_t count,
                          const char *reason)
{
    fake_note(fake_host_of(host), fake_host_of(host)->unserved, object, count, reason);
}

static void note_waiting(const struct ccm_host *host, const char *object, uint64_t ms,
                         const char *what)
{
    fake_note(fake_host_of(host), fake_host_of(host)->waiting, object, ms, what);
}

static void note_quota(const struct ccm_host *host, const char *object, const char *quota,
                       uint64_t used, uint64_t limit)
{
    struct ccm_buf what = { 0 };
    struct ccm_buf of = { 0 };

    ccm_buf_addf(&what, "%s: %s", object, quota);
    ccm_buf_addf(&of, "of %" PRIu64, limit);
    note_held(host, ccm_buf_str(&what), limit == 0 ? 0 : used, ccm_buf_str(&of));
    ccm_buf_fini(&what);
    ccm_buf_fini(&of);
}

static const char *fake_noted(struct fake_host *fake, const struct ccm_strmap *notes,
                              const char *object)
{
    fake_lock(fake);
    const char *text = ccm_strmap_get(notes, object);
    fake_unlock(fake);
    return text;
}

const char *fake_host_held(struct fake_host *fake, const char *object)
{
    return fake_noted(fake, fake->held, object);
}

const char *fake_host_unserved(struct fake_host *fake, const char *object)
{
    return fake_noted(fake, fake->unserved, object);
}

const char *fake_host_waiting(struct fake_host *fake, const char *object)
{
    return fake_noted(fake, fake->waiting, object);
}

const char *fake_host_noted_call(struct fake_host *fake, const char *object)
{
    return fake_noted(fake, fake->calls, object);
}

const char *fake_host_metrics(struct fake_host *fake)
{
    ccm_buf_fini(&fake->metrics_text);
    ccm_metrics_write(fake->metrics, &fake->metrics_text);
    return ccm_buf_str(&fake->metrics_text);
}

/* A pause that is over is none. */
static int64_t pause_find_locked(const struct fake_host *fake, const char *name)
{
    const int64_t *until = ccm_strmap_get(fake->pauses, name);

    return until == NULL || *until <= fake->now_ms ? 0 : *until;
}

static void throttle(const struct ccm_host *host, const char *name, int64_t until_ms)
{
    struct fake_host *fake = fake_host_of(host);
    const char *key = name == NULL ? "" : name;
    int64_t *until = fake_alloc(sizeof(*until));

    fake_lock(fake);
    *until = until_ms <= fake->now_ms                  ? 0
             : until_ms > pause_find_locked(fake, key) ? until_ms
                                                       : pause_find_locked(fake, key);
    if (ccm_strmap_set(fake->pauses, key, until) < 0) {
        abort();
    }
    fake_unlock(fake);
}

static int64_t paused_until(const struct ccm_host *host, const char *name)
{
    struct fake_host *fake = fake_host_of(host);

    fake_lock(fake);
    const int64_t until = pause_find_locked(fake, name);
    fake_unlock(fake);
    return until;
}

int64_t fake_host_paused_until(struct fake_host *fake)
{
    return paused_until(&fake->table, "");
}

static void withdraw(const struct ccm_host *host, const char *key)
{
    struct fake_host *fake = fake_host_of(host);

    fake_lock(fake);
    fake_list_add(&fake->withdrawn, fake_dup(key));
    fake_unlock(fake);
}

size_t fake_host_withdraw_count(struct fake_host *fake)
{
    fake_lock(fake);
    const size_t count = fake->withdrawn.len;
    fake_unlock(fake);
    return count;
}

const char *fake_host_withdrawn(struct fake_host *fake, size_t index)
{
    fake_lock(fake);
    const char *key = index < fake->withdrawn.len ? fake->withdrawn.items[index] : NULL;
    fake_unlock(fake);
    return key;
}

static void note_call(const struct ccm_host *host, const char *object, uint64_t flags,
                      const char *text)
{
    struct fake_host *fake = fake_host_of(host);

    (void)flags; /* how it is shown */
    fake_lock(fake);
    if (ccm_strmap_set(fake->calls, object, fake_dup(text)) < 0) {
        abort();
    }
    fake_unlock(fake);
}

struct fake_host *fake_host_new(void)
{
    struct fake_host *fake = fake_alloc(sizeof(*fake));

    fake->now_ms = 1000000;
    fake->wall_ms = FAKE_HOST_WALL_MS;
    fake->debug = true;
    fake->seed = 1;
    fake->options = ccm_strmap_new(free);
    fake->metrics = ccm_metrics_new();
    fake->server_since_ms = 1;
    fake->held = ccm_strmap_new(free);
    fake->unserved = ccm_strmap_new(free);
    fake->standing = ccm_strmap_new(free);
    fake->waiting = ccm_strmap_new(free);
    fake->calls = ccm_strmap_new(free);
    fake->pauses = ccm_strmap_new(free);
    if (fake->waiting == NULL || fake->calls == NULL || fake->pauses == NULL) {
        abort();
    }
    if (fake->options == NULL || fake->held == NULL || fake->unserved == NULL ||
        fake->standing == NULL || fake->metrics == NULL ||
        pthread_mutex_init(&fake->lock, NULL) != 0) {
        abort();
    }
    fake->table = (struct ccm_host){
        .abi_major = CCM_ABI_MAJOR,
        .struct_size = sizeof(struct ccm_host),
        .log = log_line,
        .log_enabled = log_enabled,
        .now_ms = now_ms,
        .wall_ms = wall_ms,
        .random = random_bytes,
        .wait = wait_ms,
        .cancelled = cancelled,
        .option_string = option_string,
        .option_int = option_int,
        .option_strings = option_strings,
        .metric = metric,
        .server_since_ms = server_since_ms,
        .note_held = note_held,
        .note_unserved = note_unserved,
        .note_quota = note_quota,
        .note_waiting = note_waiting,
        .throttle = throttle,
        .paused_until = paused_until,
        .withdraw = withdraw,
        .note_call = note_call,
        .core = fake,
    };
    fake_http_install(&fake->table);
    fake_cluster_install(&fake->table);
    fake_raw_install(&fake->table);
    fake_write_install(&fake->table);
    return fake;
}

void fake_host_free(struct fake_host *fake)
{
    if (fake == NULL) {
        return;
    }
    fake_http_fini(fake);
    fake_cluster_fini(fake);
    fake_raw_fini(fake);
    fake_write_fini(fake);
    for (size_t i = 0; i < fake->withdrawn.len; i++) {
        free(fake->withdrawn.items[i]);
    }
    free(fake->withdrawn.items);
    ccm_strmap_free(fake->waiting);
    ccm_strmap_free(fake->calls);
    ccm_strmap_free(fake->pauses);
    for (size_t i = 0; i < fake->waits.len; i++) {
        free(fake->waits.items[i]);
    }
    free(fake->waits.items);
    for (size_t i = 0; i < fake->option_lists.len; i++) {
        char **list = fake->option_lists.items[i];

        for (size_t k = 0; list[k] != NULL; k++) {
            free(list[k]);
        }
        free(list);
    }
    free(fake->option_lists.items);
    ccm_strmap_free(fake->options);
    ccm_strmap_free(fake->held);
    ccm_strmap_free(fake->unserved);
    ccm_metrics_free(fake->metrics);
    ccm_buf_fini(&fake->metrics_text);
    ccm_buf_fini(&fake->log);
    (void)pthread_mutex_destroy(&fake->lock); /* cannot fail: nobody holds it */
    free(fake);
}

const struct ccm_host *fake_host_table(struct fake_host *fake)
{
    return &fake->table;
}

int64_t fake_host_now(struct fake_host *fake)
{
    fake_lock(fake);
    const int64_t now = fake->now_ms;
    fake_unlock(fake);
    return now;
}

void fake_host_advance(struct fake_host *fake, int64_t ms)
{
    fake_lock(fake);
    fake->now_ms += ms;
    fake->wall_ms += ms;
    fake_unlock(fake);
}

void fake_host_shift_wall(struct fake_host *fake, int64_t ms)
{
    fake_lock(fake);
    fake->wall_ms += ms;
    fake_unlock(fake);
}

void fake_host_cancel(struct fake_host *fake, bool on)
{
    fake_lock(fake);
    fake->cancelled = on;
    fake_unlock(fake);
}

size_t fake_host_wait_count(struct fake_host *fake)
{
    fake_lock(fake);
    const size_t count = fake->waits.len;
    fake_unlock(fake);
    return count;
}

uint64_t fake_host_wait_ms(struct fake_host *fake, size_t index)
{
    uint64_t ms = 0;

    fake_lock(fake);
    if (index < fake->waits.len) {
        ms = *(const uint64_t *)fake->waits.items[index];
    }
    fake_unlock(fake);
    return ms;
}

uint64_t fake_host_waited_ms(struct fake_host *fake)
{
    fake_lock(fake);
    const uint64_t ms = fake->waited_ms;
    fake_unlock(fake);
    return ms;
}

void fake_host_option(struct fake_host *fake, const char *group, const char *name, const char *text)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf key = { 0 };

    ccm_buf_addf(&key, "%s/%s", group == NULL ? "" : group, name);
    fake_lock(fake);
    if (ccm_strmap_set(fake->options, ccm_buf_str(&key), fake_dup(text)) < 0) {
        abort();
    }
    fake_unlock(fake);
}

const char *fake_host_log_text(struct fake_host *fake)
{
    fake_lock(fake);
    const char *text = ccm_buf_str(&fake->log);
    fake_unlock(fake);
    return text;
}

void fake_host_debug(struct fake_host *fake, bool on)
{
    fake_lock(fake);
    fake->debug = on;
    fake_unlock(fake);
}
