/*
 * The objects of all plugins as they are at this moment, for the status pages: from what the core
 * remembers of passes, failures and waits, and the caches. No plugin is asked. One thread at a time
 * per list.
 */
#ifndef CCM_DAEMON_STATUS_ROWS_H
#define CCM_DAEMON_STATUS_ROWS_H

#include "daemon/collect.h"

/* In place of a plugin: what the core itself found (daemon/unserved.h). */
#define STATUS_NOBODY      SIZE_MAX
#define STATUS_NOBODY_NAME "ccmd"

/* The first that holds. */
enum status_state {
    STATUS_FAILING,  /* its last pass failed, or nobody serves it */
    STATUS_WAITING,  /* for its turn, a quota, a job */
    STATUS_UNSERVED, /* a port of it serves nobody */
    STATUS_HELD,     /* removals are held back */
    STATUS_NEW,      /* no pass has ended yet */
    STATUS_WELL,
    STATUS_STATES,
};

struct status_row {
    const char *plugin;  /* borrowed from the runners, as long as they live */
    size_t plugin_index; /* STATUS_NOBODY: a Service that no plugin serves */
    char *key;
    enum status_state state;
    uint64_t kind;  /* FAILING: CCM_ERROR_* */
    uint64_t cause; /* FAILING: the same for those that fail for the same reason */
    char *why;      /* "" where all is well */
    uint32_t passes;
    uint32_t failures;  /* in a row */
    int64_t since_ms;   /* monotonic; of the state; 0 = not known */
    int64_t last_ms;    /* monotonic; 0 = never */
    int64_t next_ms;    /* monotonic; 0 = not by itself */
    int64_t running_ms; /* how long a pass has run; -1 = none runs */
    bool queued;        /* it is ready for a worker, or with one */
    bool comes;         /* it is so, or will be by itself */
    bool exists;        /* there is an object of that name */
};

struct status_rows {
    struct status_row *items;
    size_t len;
    size_t cap;
    size_t shown; /* the first of them; the list's, after it has filtered */
    size_t counts[STATUS_STATES];
    bool incomplete; /* there was no memory for some */
};

/* All objects of one plugin (STATUS_NOBODY_NAME: of none), NULL = of all; in no order. */
void status_rows_collect(const struct daemon_observed *seen, const char *plugin,
                         struct status_rows *ret);
void status_rows_fini(struct status_rows *rows);

/* As arguments and JSON have it ("failing"), and in words for people ("fails"). */
const char *status_state_name(enum status_state state);
const char *status_state_words(enum status_state state);
/* Behind a number of objects: "fails", "fail". */
const char *status_state_verb(enum status_state state, size_t count);
/* STATUS_STATES: there is none of that name. */
enum status_state status_state_parse(const char *name);

/* The object of a row; kube_object_unref() it. NULL: there is none. */
const struct ccm_object *status_row_find_object(const struct daemon_observed *seen,
                                                const struct status_row *row);

/* What a kind (CCM_ERROR_*) means, and what becomes of it by itself, or has to be done. */
const char *status_kind_text(uint64_t kind);

#endif
