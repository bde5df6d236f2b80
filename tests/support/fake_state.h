/* Inside of the fake host: shared by its files, no business of tests. */
#ifndef CCM_TESTS_FAKE_STATE_H
#define CCM_TESTS_FAKE_STATE_H

#include "support/fake_host.h"
#include "util/buf.h"
#include "util/metrics.h"
#include "util/strmap.h"

#include <pthread.h>

struct fake_script {
    struct fake_reply reply; /* strings owned */
    uint32_t left;
};

struct fake_list {
    void **items;
    size_t len;
    size_t cap;
};

/* What http_begin() was answered, for http_end(). */
struct fake_begun {
    struct ccm_http_response *response;
    struct ccm_error err;
    uint64_t phase;
    int result;
};

struct fake_host {
    struct ccm_host table;
    pthread_mutex_t lock; /* guards all below */
    int64_t now_ms;
    int64_t wall_ms;
    bool cancelled;
    bool debug;
    uint64_t seed;
    uint64_t waited_ms;
    struct fake_list waits; /* uint64_t */
    struct ccm_strmap *options;
    struct fake_list option_lists; /* char **, handed out by option_strings() */
    struct ccm_buf log;
    struct ccm_metrics *metrics; /* has a lock of its own */
    struct ccm_buf metrics_text;

    struct fake_list scripts;  /* struct fake_script */
    struct fake_list requests; /* struct fake_request */
    struct fake_list begun;    /* struct fake_begun; NULL = ended */
    fake_http_fn on_http;
    void *on_http_arg;
    size_t unexpected;

    struct fake_list objects; /* const struct ccm_object, borrowed */
    struct fake_list live;    /* the same, for fetch() alone */
    struct fake_list raw;     /* by resource, see fake_raw.c */
    size_t borrowed;
    size_t listed_nodes; /* in lists of all */
    struct fake_list events;
    struct ccm_strmap *standing; /* "object topic" -> cause, owned: events that last */
    struct fake_list patches;
    struct fake_list enqueues;
    int patch_result;
    uint64_t patch_kind;
    struct fake_list fetches;
    int fetch_result;
    uint64_t fetch_kind;
    struct fake_list verdicts; /* struct fake_verdict */
    struct fake_list plans;    /* struct fake_plan */
    bool dry_run;
    int64_t server_since_ms;
    struct ccm_strmap *held;     /* object -> "count: reason", owned */
    struct ccm_strmap *unserved; /* the same of note_unserved() */
    struct ccm_strmap *waiting;  /* of note_waiting() */
    struct ccm_strmap *calls;    /* object -> text of note_call(), owned */
    struct ccm_strmap *pauses;   /* name, "" = the plugin -> int64_t, owned */
    struct fake_list withdrawn;  /* char * */
    struct fake_list raw_calls;  /* struct fake_raw_call */
    struct fake_list made;       /* struct fake_made, see fake_write.c */
    int raw_result;
    uint64_t raw_kind;
};

/* Whether the request's deadline is over in so many ms; a test that sets none has none. */
static inline bool fake_is_late(const struct fake_host *fake, const struct ccm_request *req,
                                int64_t ms)
{
    return req != NULL && req->deadline_ms != 0 && fake->now_ms + ms >= req->deadline_ms;
}

struct fake_host *fake_host_of(const struct ccm_host *host);
void fake_lock(struct fake_host *fake);
void fake_unlock(struct fake_host *fake);
/* Memory or the end of the program. */
void *fake_alloc(size_t size);
char *fake_dup(const char *text);
void fake_list_add(struct fake_list *list, void *item);

void fake_http_install(struct ccm_host *table);
void fake_http_fini(struct fake_host *fake);
void fake_cluster_install(struct ccm_host *table);
void fake_cluster_fini(struct fake_host *fake);
void fake_raw_install(struct ccm_host *table);
void fake_raw_fini(struct fake_host *fake);
/* The object of a resource, lent out, or NULL. */
const struct ccm_object *fake_raw_lend_locked(struct fake_host *fake, const char *api_version,
                                              const char *resource, const char *key);
void fake_write_install(struct ccm_host *table);
void fake_write_fini(struct fake_host *fake);

#endif
