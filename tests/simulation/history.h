/*
 * A history: what people, nodes and pods do, and what happens to the instances, as lines of text:
 *
 *     MS VERB NAME [KEY=VALUE ...]
 *
 * MS: virtual milliseconds since the beginning. A history is drawn first and played then, so that a
 * shorter one can be played as well. Lines that begin with '#' say what it is about. The verbs are
 * those of act.c.
 *
 * One real thread.
 */
#ifndef SIM_HISTORY_H
#define SIM_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_VERB_MAX 32
#define SIM_NAME_MAX 64

struct sim_act {
    int64_t at_ms;
    char verb[SIM_VERB_MAX];
    char name[SIM_NAME_MAX];
    char *args;   /* "ports=80/TCP policy=Local"; heap */
    size_t order; /* of lines with the same time */
};

struct sim_history {
    struct sim_act *items;
    size_t len;
    size_t cap;
};

void sim_history_fini(struct sim_history *history);
/* Append a line: "service s1 ports=80/TCP". */
void sim_history_add(struct sim_history *history, int64_t at_ms, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* By time. */
void sim_history_sort(struct sim_history *history);
/* Append the lines of a file. False: it cannot be read, or a line cannot; that was printed. */
bool sim_history_read(struct sim_history *history, const char *path);
bool sim_history_write(const struct sim_history *history, const char *path);
/* Append a line as it stands in a file. False: it is none. */
bool sim_history_parse(struct sim_history *history, const char *line);

/* The number that a text begins with; 0 when there is none. */
int64_t sim_number(const char *text);
/* Value of an argument; "" when it is not there. Valid until the 16th call after it. */
const char *sim_act_arg(const struct sim_act *act, const char *key);
int64_t sim_act_number(const struct sim_act *act, const char *key, int64_t fallback);

#endif
