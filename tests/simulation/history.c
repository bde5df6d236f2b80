#include "history.h"

#include "util/array.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_LEN 8192
#define ARG_MAX      4096

void sim_history_fini(struct sim_history *history)
{
    for (size_t i = 0; i < history->len; i++) {
        free(history->items[i].args);
    }
    free(history->items);
    memset(history, 0, sizeof(*history));
}

static struct sim_act *history_append(struct sim_history *history)
{
    if (ccm_array_grow(&history->items, &history->cap, history->len + 1, sizeof(*history->items)) <
        0) {
        abort();
    }
    history->items[history->len] = (struct sim_act){ .order = history->len };
    return &history->items[history->len++];
}

int64_t sim_number(const char *text)
{
    const bool minus = text[0] == '-';
    int64_t number = 0;

    for (const char *c = text + (minus ? 1 : 0); *c >= '0' && *c <= '9'; c++) {
        number = number * 10 + (*c - '0');
    }
    return minus ? -number : number;
}

/* The next word; false: there is none, or it is too long. */
static bool line_take_word(const char **line, char *ret, size_t size)
{
    const size_t len = strcspn(*line, " \n");

    if (len == 0 || len >= size) {
        return false;
    }
    memcpy(ret, *line, len);
    ret[len] = '\0';
    *line += len;
    *line += strspn(*line, " ");
    return true;
}

bool sim_history_parse(struct sim_history *history, const char *line)
{
    struct sim_act act = { .at_ms = sim_number(line) };
    char number[24];

    if (!line_take_word(&line, number, sizeof(number)) ||
        !line_take_word(&line, act.verb, sizeof(act.verb)) ||
        !line_take_word(&line, act.name, sizeof(act.name)) || act.at_ms < 0) {
        return false;
    }
    act.args = strndup(line, strcspn(line, "\n"));
    if (act.args == NULL) {
        abort();
    }
    act.order = history->len;
    *history_append(history) = act;
    return true;
}

void sim_history_add(struct sim_history *history, int64_t at_ms, const char *format, ...)
{
    char line[LINE_MAX_LEN];
    va_list args;
    const int len = snprintf(line, sizeof(line), "%" PRId64 " ", at_ms);

    va_start(args, format);
    (void)vsnprintf(line + len, sizeof(line) - (size_t)len, format, args);
    va_end(args);
    if (!sim_history_parse(history, line)) {
        abort();
    }
}

static int act_compare(const void *a, const void *b)
{
    const struct sim_act *one = a;
    const struct sim_act *other = b;

    if (one->at_ms != other->at_ms) {
        return one->at_ms < other->at_ms ? -1 : 1;
    }
    return one->order < other->order ? -1 : one->order > other->order;
}

void sim_history_sort(struct sim_history *history)
{
    if (history->len > 0) {
        qsort(history->items, history->len, sizeof(*history->items), act_compare);
    }
}

bool sim_history_read(struct sim_history *history, const char *path)
{
    char line[LINE_MAX_LEN];
    FILE *file = fopen(path, "r");
    unsigned number = 0;
    bool good = file != NULL;

    while (good && fgets(line, sizeof(line), file) != NULL) {
        number++;
        if (line[0] != '#' && line[0] != '\n' && !sim_history_parse(history, line)) {
            good = false;
        }
    }
    if (!good) {
        (void)fprintf(stderr, "%s:%u: is no line of a history: MS VERB NAME [KEY=VALUE ...]\n",
                      path, number);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return good;
}

bool sim_history_write(const struct sim_history *history, const char *path)
{
    FILE *file = fopen(path, "w");

    for (size_t i = 0; file != NULL && i < history->len; i++) {
        const struct sim_act *act = &history->items[i];

        (void)fprintf(file, "%" PRId64 " %s %s%s%s\n", act->at_ms, act->verb, act->name,
                      act->args[0] == '\0' ? "" : " ", act->args);
    }
    return file != NULL && fclose(file) == 0;
}

/* The value of the last argument goes to the end of the line when it begins with '{'. */
const char *sim_act_arg(const struct sim_act *act, const char *key)
{
    static char values[16][ARG_MAX];
    static unsigned turn;
    char *value = values[turn++ % 16];
    const size_t len = strlen(key);
    const char *at = act->args;

    value[0] = '\0';
    while (*at != '\0') {
        const size_t size = strcspn(at, "=") + 1;
        const bool is_json = at[strcspn(at, "=")] == '=' && at[size] == '{';
        const size_t whole = is_json ? strlen(at) : strcspn(at, " ");

        if (strncmp(at, key, len) == 0 && at[len] == '=') {
            (void)snprintf(value, ARG_MAX, "%.*s", (int)(whole - len - 1), at + len + 1);
            return value;
        }
        at += whole;
        at += strspn(at, " ");
    }
    return value;
}

int64_t sim_act_number(const struct sim_act *act, const char *key, int64_t fallback)
{
    const char *text = sim_act_arg(act, key);

    return text[0] == '\0' ? fallback : sim_number(text);
}
