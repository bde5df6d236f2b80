#include "daemon/plan_book.h"

#include "util/book.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define JSON_OBJECTS_MAX 20
#define FAILED_ENDS_MAX  3 /* as often a failing object that has steps is looked at */

struct entry {
    char *plugin;
    char *object;
    char *steps;    /* NULL = none were told */
    char *warnings; /* lines; NULL = none */
    char *failure;  /* NULL = it did not fail */
    bool left;      /* there was no time for it: its failure says so and stays */
    unsigned ends;  /* calls that have ended since steps were told */
};

struct daemon_plan_book {
    struct ccm_book entries; /* "plugin object" -> struct entry; its lock guards the rest */
    size_t lost;             /* what there was no memory for */
};

static void plan_entry_free(void *item)
{
    struct entry *entry = item;

    free(entry->plugin);
    free(entry->object);
    free(entry->steps);
    free(entry->warnings);
    free(entry->failure);
    free(entry);
}

struct daemon_plan_book *daemon_plan_book_new(void)
{
    struct daemon_plan_book *book = calloc(1, sizeof(*book));

    if (book != NULL && ccm_book_init(&book->entries, plan_entry_free) < 0) {
        free(book);
        return NULL;
    }
    return book;
}

void daemon_plan_book_free(struct daemon_plan_book *book)
{
    if (book != NULL) {
        ccm_book_fini(&book->entries);
        free(book);
    }
}

void daemon_plan_book_freep(struct daemon_plan_book **book)
{
    daemon_plan_book_free(*book);
}

/* --- adding --- */

/* NULL when nothing is known, or on ENOMEM. */
static struct entry *find_locked(struct daemon_plan_book *book, const char *plugin,
                                 const char *object)
{
    CCM_CLEANUP(ccm_freep) char *key = ccm_text_format("%s %s", plugin, object);

    return key == NULL ? NULL : ccm_strmap_get(book->entries.map, key);
}

/* NULL on ENOMEM. */
static struct entry *obtain_locked(struct daemon_plan_book *book, const char *plugin,
                                   const char *object)
{
    CCM_CLEANUP(ccm_freep) char *key = ccm_text_format("%s %s", plugin, object);
    struct entry *entry = key == NULL ? NULL : ccm_book_obtain(&book->entries, key, sizeof(*entry));

    if (entry != NULL && entry->object == NULL) {
        entry->plugin = strdup(plugin);
        entry->object = strdup(object);
        if (entry->plugin == NULL || entry->object == NULL) {
            ccm_strmap_del(book->entries.map, key);
            return NULL;
        }
    }
    return entry;
}

/* The text takes the place of what is there; NULL counts as lost. */
static void replace_locked(struct daemon_plan_book *book, char **place, char *text)
{
    if (text == NULL) {
        book->lost++;
        return;
    }
    free(*place);
    *place = text;
}

void daemon_plan_book_steps(struct daemon_plan_book *book, const char *plugin, const char *object,
                            const char *steps)
{
    (void)ccm_book_open(&book->entries);

    struct entry *entry = obtain_locked(book, plugin, object);

    if (entry == NULL) {
        book->lost++;
    } else {
        replace_locked(book, &entry->steps, strdup(steps == NULL ? "" : steps));
    }
    ccm_book_close(&book->entries);
}

void daemon_plan_book_event(struct daemon_plan_book *book, const char *plugin,
                            const struct ccm_event *event)
{
    if (event->warning == 0) {
        return;
    }

    CCM_CLEANUP(ccm_freep)
    char *line = ccm_text_format("%s: %s\n", event->reason == NULL ? "" : event->reason,
                                 event->message == NULL ? "" : event->message);

    (void)ccm_book_open(&book->entries);

    struct entry *entry = obtain_locked(book, plugin, event->object->key);

    if (entry == NULL || line == NULL) {
        book->lost++;
    } else if (entry->warnings == NULL) {
        entry->warnings = CCM_STEAL(line);
    } else if (strstr(entry->warnings, line) == NULL) { /* a second look says the same */
        replace_locked(book, &entry->warnings, ccm_text_format("%s%s", entry->warnings, line));
    }
    ccm_book_close(&book->entries);
}

void daemon_plan_book_result(struct daemon_plan_book *book, const char *plugin, const char *object,
                             const char *failure)
{
    (void)ccm_book_open(&book->entries);

    /* Objects that go well and have nothing to say are many, and none of our business. */
    struct entry *entry =
        failure == NULL ? find_locked(book, plugin, object) : obtain_locked(book, plugin, object);

    if (entry != NULL && entry->left) {
        /* The end has come. */
    } else if (failure == NULL && entry != NULL) {
        free(CCM_STEAL(entry->failure));
    } else if (entry != NULL) {
        replace_locked(book, &entry->failure, strdup(failure));
    } else if (failure != NULL) {
        book->lost++;
    }
    ccm_book_close(&book->entries);
}

void daemon_plan_book_ended(struct daemon_plan_book *book, const char *plugin, const char *object)
{
    (void)ccm_book_open(&book->entries);

    struct entry *entry = find_locked(book, plugin, object);

    if (entry != NULL && entry->steps != NULL && entry->ends < FAILED_ENDS_MAX) {
        entry->ends++;
    }
    ccm_book_close(&book->entries);
}

bool daemon_plan_book_is_looked(struct daemon_plan_book *book, const char *plugin,
                                const char *object)
{
    (void)ccm_book_open(&book->entries);

    const struct entry *entry = find_locked(book, plugin, object);
    const bool looked = entry != NULL && entry->ends > 0 &&
                        (entry->failure == NULL || entry->ends == FAILED_ENDS_MAX);

    ccm_book_close(&book->entries);
    return looked;
}

void daemon_plan_book_left(struct daemon_plan_book *book, const char *plugin, const char *object)
{
    (void)ccm_book_open(&book->entries);

    struct entry *entry = obtain_locked(book, plugin, object);

    if (entry == NULL) {
        book->lost++;
    } else if (!entry->left) {
        entry->left = true;
        replace_locked(book, &entry->failure,
                       ccm_text_format("not looked at in time%s%s",
                                       entry->failure == NULL ? "" : ": ",
                                       entry->failure == NULL ? "" : entry->failure));
    }
    ccm_book_close(&book->entries);
}

/* --- printing --- */

static int entry_compare_names(const void *a, const void *b)
{
    const struct entry *left = *(const struct entry *const *)a;
    const struct entry *right = *(const struct entry *const *)b;
    const int by_plugin = strcmp(left->plugin, right->plugin);

    return by_plugin != 0 ? by_plugin : strcmp(left->object, right->object);
}

/* All entries in order; *ret is the caller's. NULL when there are none, or no memory. */
static struct entry **book_sort_entries(struct daemon_plan_book *book, size_t *ret_count)
{
    const size_t count = ccm_strmap_len(book->entries.map);
    struct entry **list = calloc(count + 1, sizeof(struct entry *));
    void *cursor = NULL;
    const char *key;
    void *value;
    size_t n = 0;

    while (list != NULL && ccm_strmap_next(book->entries.map, &cursor, &key, &value)) {
        list[n++] = value;
    }
    if (list == NULL) {
        book->lost += count;
    } else {
        qsort(list, n, sizeof(*list), entry_compare_names);
    }
    *ret_count = n;
    return list;
}

static bool has_steps(const struct entry *entry)
{
    return !ccm_text_empty(entry->steps);
}

static void entry_count_state(const struct entry *entry, struct daemon_plan_counts *counts)
{
    if (entry->failure != NULL) {
        counts->failed++;
    } else if (has_steps(entry)) {
        counts->changing++;
    } else if (entry->steps != NULL) {
        counts->settled++;
    }
}

/* The next line of the text, as heap text; false at its end, or out of memory, which is counted. */
static bool book_next_line(struct daemon_plan_book *book, const char **at, char **line)
{
    const size_t len = strcspn(*at, "\n");

    free(CCM_STEAL(*line));
    if (**at == '\0') {
        return false;
    }
    *line = ccm_text_format("%.*s", (int)len, *at);
    book->lost += *line == NULL ? 1 : 0;
    *at += len + ((*at)[len] == '\n' ? 1 : 0);
    return *line != NULL;
}

/* An event about the failure says no more than the failure does. */
static bool entry_says_twice(const struct entry *entry, const char *warning)
{
    return entry->failure != NULL && strstr(warning, entry->failure) != NULL;
}

/* Each line of a text of the entry, moved in. Failures stick in the stream, here and below. */
static void print_lines(struct daemon_plan_book *book, FILE *out, const char *intro,
                        const char *text)
{
    const char *at = text == NULL ? "" : text;
    CCM_CLEANUP(ccm_freep) char *line = NULL;

    while (book_next_line(book, &at, &line)) {
        (void)fprintf(out, "    %s%s\n", intro, line);
    }
}

static void print_warnings(struct daemon_plan_book *book, const struct entry *entry,
                           const struct daemon_plan_paint *paint, FILE *out)
{
    const char *at = entry->warnings == NULL ? "" : entry->warnings;
    CCM_CLEANUP(ccm_freep) char *line = NULL;

    while (book_next_line(book, &at, &line)) {
        if (!entry_says_twice(entry, line)) {
            (void)fprintf(out, "    %swarning:%s %s\n", paint->warning, paint->plain, line);
        }
    }
}

static void print_entry(struct daemon_plan_book *book, const struct entry *entry,
                        const struct daemon_plan_paint *paint, FILE *out)
{
    char failed[64];

    if (!has_steps(entry) && entry->warnings == NULL && entry->failure == NULL) {
        return;
    }
    ccm_text_printf(failed, sizeof(failed), "%sfailed:%s ", paint->failure, paint->plain);
    (void)fprintf(out, "%s%s%s%s%s\n", paint->object, entry->plugin,
                  entry->object[0] == '\0' ? "" : " ", entry->object, paint->plain);
    print_lines(book, out, "", entry->steps);
    print_warnings(book, entry, paint, out);
    print_lines(book, out, failed, entry->failure);
}

void daemon_plan_book_print(struct daemon_plan_book *book, const struct daemon_plan_paint *paint,
                            FILE *out, struct daemon_plan_counts *ret)
{
    struct daemon_plan_counts counts = { 0 };
    size_t len = 0;

    (void)ccm_book_open(&book->entries);

    CCM_CLEANUP(ccm_freep) struct entry **list = book_sort_entries(book, &len);

    for (size_t i = 0; i < len; i++) {
        print_entry(book, list[i], paint, out);
        entry_count_state(list[i], &counts);
    }
    if (book->lost > 0) {
        (void)fprintf(out, "out of memory: %zu lines are missing\n", book->lost);
        counts.failed += book->lost;
    }
    (void)fprintf(out, "%zu to change, %zu as they should be, %zu failed\n", counts.changing,
                  counts.settled, counts.failed);
    ccm_book_close(&book->entries);
    *ret = counts;
}

/* --- for programs --- */

/* Each line of the text; `entry`: but for what its failure says already. */
static void json_add_lines(struct ccm_jsonw *w, const char *key, const char *text,
                           const struct entry *entry)
{
    ccm_jsonw_open(w, key, '[');
    for (const char *line = text == NULL ? "" : text; *line != '\0';) {
        const size_t len = strcspn(line, "\n");
        CCM_CLEANUP(ccm_freep) char *one = ccm_text_format("%.*s", (int)len, line);

        if (one == NULL) {
            w->buf->error = -ENOMEM;
            return;
        }
        if (entry == NULL || !entry_says_twice(entry, one)) {
            ccm_jsonw_str(w, NULL, one);
        }
        line += len + (line[len] == '\n' ? 1 : 0);
    }
    ccm_jsonw_close(w, ']');
}

static void json_add_entry(struct ccm_jsonw *w, const struct entry *entry)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "plugin", entry->plugin);
    ccm_jsonw_str(w, "object", entry->object);
    ccm_jsonw_str(w, "state",
                  entry->failure != NULL ? "failed"
                  : has_steps(entry)     ? "changes"
                  : entry->steps != NULL ? "settled"
                                         : "unknown");
    json_add_lines(w, "steps", entry->steps, NULL);
    json_add_lines(w, "warnings", entry->warnings, entry);
    json_add_lines(w, "failures", entry->failure, NULL);
    ccm_jsonw_close(w, '}');
}

void daemon_plan_book_print_objects(struct daemon_plan_book *book, struct ccm_buf *buf,
                                    struct daemon_plan_counts *ret)
{
    struct ccm_jsonw w = { .buf = buf };
    struct daemon_plan_counts counts = { 0 };
    size_t len = 0;

    (void)ccm_book_open(&book->entries);

    CCM_CLEANUP(ccm_freep) struct entry **list = book_sort_entries(book, &len);

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_open(&w, "objects", '[');
    for (size_t i = 0; i < len; i++) {
        json_add_entry(&w, list[i]);
        entry_count_state(list[i], &counts);
    }
    ccm_jsonw_close(&w, ']');
    counts.failed += book->lost;
    ccm_jsonw_i64(&w, "changing", (int64_t)counts.changing);
    ccm_jsonw_i64(&w, "settled", (int64_t)counts.settled);
    ccm_jsonw_i64(&w, "failed", (int64_t)counts.failed);
    ccm_jsonw_close(&w, '}');
    ccm_book_close(&book->entries);
    *ret = counts;
}

/* --- the report of the reference --- */

static void print_json_object(struct ccm_jsonw *w, const struct entry *entry)
{
    const char *message = entry->failure != NULL    ? entry->failure
                          : has_steps(entry)        ? entry->steps
                          : entry->warnings != NULL ? entry->warnings
                                                    : "";

    ccm_jsonw_open(w, entry->object, '{');
    ccm_jsonw_str(w, "Name", entry->object);
    ccm_jsonw_str(w, "MessageLevel",
                  entry->failure != NULL                        ? "error"
                  : has_steps(entry) || entry->warnings != NULL ? "warn"
                                                                : "info");
    ccm_jsonw_str(w, "Message", message);
    ccm_jsonw_close(w, '}');
}

/* One plugin: list[0] to list[len - 1]. */
static void print_json_check(struct ccm_jsonw *w, struct entry *const *list, size_t len)
{
    struct daemon_plan_counts counts = { 0 };
    size_t printed = 0;

    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "Name", list[0]->plugin);
    ccm_jsonw_open(w, "instanceResults", '{');
    for (int pass = 0; pass < 3; pass++) { /* failed, to change, the rest */
        for (size_t i = 0; i < len && printed < JSON_OBJECTS_MAX; i++) {
            const int place = list[i]->failure != NULL ? 0 : has_steps(list[i]) ? 1 : 2;

            if (place == pass && (pass < 2 || list[i]->steps != NULL)) {
                print_json_object(w, list[i]);
                printed++;
            }
        }
    }
    ccm_jsonw_close(w, '}');
    for (size_t i = 0; i < len; i++) {
        entry_count_state(list[i], &counts);
    }
    ccm_jsonw_i64(w, "PassCount", (int64_t)counts.settled);
    ccm_jsonw_i64(w, "FailedCount", (int64_t)counts.failed);
    ccm_jsonw_i64(w, "WarnCount", (int64_t)counts.changing);
    ccm_jsonw_i64(w, "UnknownCount", 0);
    ccm_jsonw_close(w, '}');
}

void daemon_plan_book_print_json(struct daemon_plan_book *book, struct ccm_buf *buf)
{
    struct ccm_jsonw w = { .buf = buf };
    size_t len = 0;
    size_t end;

    (void)ccm_book_open(&book->entries);

    CCM_CLEANUP(ccm_freep) struct entry **list = book_sort_entries(book, &len);

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "State", "Success");
    ccm_jsonw_str(&w, "Reason", "ccm initial process finished");
    ccm_jsonw_open(&w, "CheckResults", '[');
    for (size_t begin = 0; begin < len; begin = end) {
        for (end = begin; end < len && strcmp(list[end]->plugin, list[begin]->plugin) == 0;) {
            end++;
        }
        print_json_check(&w, list + begin, end - begin);
    }
    ccm_jsonw_close(&w, ']');
    ccm_jsonw_close(&w, '}');
    ccm_book_close(&book->entries);
}
