/*
 * A struct ccm_host for unit tests of plugins: time stands still until the test or a wait() moves
 * it, HTTP answers come from a script, cluster objects from a list, and everything the plugin does
 * is kept for the test to look at.
 *
 *     struct fake_host *fake = fake_host_new();
 *     fake_host_option(fake, "alicloud", "region", "cn-hangzhou");
 *     fake_host_answer(fake, "DescribeLoadBalancers", 200, "{\"RequestId\":\"r1\"}");
 *     ... code under test with fake_host_table(fake) ...
 *     assert_string_equal(fake_host_request(fake, 0)->action, "DescribeLoadBalancers");
 *     fake_host_free(fake);
 *
 * Every thread may use the table. Memory that runs out ends the test program. What is returned here
 * is borrowed and lives until fake_host_free().
 */
#ifndef CCM_TESTS_FAKE_HOST_H
#define CCM_TESTS_FAKE_HOST_H

#include "ccm/plugin.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fake_host;

struct fake_host *fake_host_new(void);
/* NULL is fine. */
void fake_host_free(struct fake_host *fake);
const struct ccm_host *fake_host_table(struct fake_host *fake);

/* --- time: the monotonic clock starts at 1,000,000 ms, the wall clock at FAKE_HOST_WALL_MS --- */

#define FAKE_HOST_WALL_MS INT64_C(1767323045000) /* 2026-01-02T03:04:05Z */

int64_t fake_host_now(struct fake_host *fake);
/* Both clocks. */
void fake_host_advance(struct fake_host *fake, int64_t ms);
/* The wall clock alone, as if somebody set it. */
void fake_host_shift_wall(struct fake_host *fake, int64_t ms);
/* While on, every request counts as cancelled. Else one is when its deadline_ms is over; 0 is none.
 */
void fake_host_cancel(struct fake_host *fake, bool on);

/* Calls of wait() that were slept through, in order, and their sum in ms. A wait beyond the
 * deadline of its request is refused as the contract says and not listed. */
size_t fake_host_wait_count(struct fake_host *fake);
uint64_t fake_host_wait_ms(struct fake_host *fake, size_t index);
uint64_t fake_host_waited_ms(struct fake_host *fake);

/* --- configuration: a list option is written "a,b" --- */

void fake_host_option(struct fake_host *fake, const char *group, const char *name,
                      const char *text);

/* --- log: all lines, "level object: message\n" --- */

const char *fake_host_log_text(struct fake_host *fake);
/* Whether host->log_enabled() says yes to debug; on at first. */
void fake_host_debug(struct fake_host *fake, bool on);

/* --- metrics: all of them, as /metrics would show them, until the next call --- */

const char *fake_host_metrics(struct fake_host *fake);

/* --- HTTP --- */

struct fake_pair {
    char *name;
    char *value;
};

struct fake_request {
    char *method;
    char *url;
    char *body;   /* "" when none */
    char *action; /* header x-acs-action or parameter Action; "" when neither */
    uint64_t timeout_ms;
    uint64_t max_body_bytes;
    int64_t at_ms;             /* monotonic */
    char *ca_file;             /* "" = NULL */
    struct fake_pair *headers; /* names in small letters */
    size_t header_count;
    struct fake_pair *params; /* query and form, decoded, in the order sent */
    size_t param_count;
};

#define FAKE_ALWAYS UINT32_MAX

/* One scripted answer. */
struct fake_reply {
    const char *match;  /* action, or part of the URL, or part of the body; NULL = any request */
    const char *method; /* NULL = any */
    uint32_t times;     /* how often it answers; 0 = once */
    uint64_t status;    /* 0 = 200 */
    const char *body;   /* NULL = "" */
    const char *headers[4]; /* "name: value" */
    int result;             /* negative: no answer, the exchange fails with ... */
    uint64_t phase;         /* ... CCM_HTTP_* and ... */
    uint64_t kind;          /* ... CCM_ERROR_*; 0 = transient */
    int64_t takes_ms;       /* both clocks move on by this much */
};

/* Append to the script (copied). A request takes the first entry that matches and is not used up.
 */
void fake_host_reply(struct fake_host *fake, const struct fake_reply *reply);
/* The same in short: once, or every time. */
void fake_host_answer(struct fake_host *fake, const char *match, uint64_t status, const char *body);
void fake_host_always(struct fake_host *fake, const char *match, uint64_t status, const char *body);
/* Drop what is left of the script. */
void fake_host_clear_replies(struct fake_host *fake);

/* Asked when no entry matches: fill ret (strings are copied after the call) and return true. It may
 * not call this module except fake_request_*(). A request that nobody answers fails as "not sent",
 * is told on standard error and counted. */
typedef bool (*fake_http_fn)(void *arg, const struct fake_request *request, struct fake_reply *ret);
void fake_host_on_http(struct fake_host *fake, fake_http_fn fn, void *arg);
size_t fake_host_unexpected(struct fake_host *fake);

size_t fake_host_request_count(struct fake_host *fake);
/* NULL beyond the end. */
const struct fake_request *fake_host_request(struct fake_host *fake, size_t index);
/* Requests with that action. */
size_t fake_host_action_count(struct fake_host *fake, const char *action);
/* Value, or NULL. */
const char *fake_request_param(const struct fake_request *request, const char *name);
const char *fake_request_header(const struct fake_request *request, const char *name);

/* --- cluster --- */

/* Put an object into the caches (borrowed), replacing the one of the same kind and key. */
void fake_host_put(struct fake_host *fake, const struct ccm_object *object);
void fake_host_remove(struct fake_host *fake, uint64_t kind, const char *key);
/* What the API server itself holds (borrowed), for fetch(): as if the caches lagged behind. An
 * object without such a version is fetched as the caches have it, else it is not found. */
void fake_host_put_live(struct fake_host *fake, const struct ccm_object *object);
/* Objects of a resource without a type, for get_raw() and list_raw() (borrowed). One of which
 * nobody has said that it is watched, or put an object, is not watched. */
void fake_host_watch_raw(struct fake_host *fake, const char *api_version, const char *resource);
void fake_host_put_raw(struct fake_host *fake, const char *api_version, const char *resource,
                       const struct ccm_raw *object);
void fake_host_remove_raw(struct fake_host *fake, const char *api_version, const char *resource,
                          const char *key);
/* For list_raw_by(): an index of the plugin's watch (borrowed). */
void fake_host_index_raw(struct fake_host *fake, const char *api_version, const char *resource,
                         const struct ccm_index *index);

/* One call of fetch_raw(), create_raw(), update_raw(), patch_raw() or delete_raw(). It is kept and
 * compared with what was put: CCM_ERROR_NOT_FOUND, CCM_ERROR_CONFLICT (of create_raw: -EEXIST) and,
 * in a dry run, CCM_ERROR_CANCELLED are as on a server. It is not carried out: put what the server
 * holds afterwards. The answer of create_raw() and update_raw() is the body with its name, as
 * version "N" of uid "uid-N"; that of the others is the object as it was put. */
struct fake_raw_call {
    const char *verb; /* "get", "create", "update", "patch", "delete" */
    char *api_version;
    char *resource;
    char *key;         /* namespace/name; of create_raw() without the name that the body has */
    char *subresource; /* these four: "" when none */
    char *body;
    char *uid;
    char *resource_version;
    uint64_t patch; /* CCM_PATCH_*; 0 = none */
};
size_t fake_host_raw_call_count(struct fake_host *fake);
const struct fake_raw_call *fake_host_raw_call(struct fake_host *fake, size_t index);
/* What later calls answer: 0 = as above, or a negative errno with that kind. */
void fake_host_raw_result(struct fake_host *fake, int result, uint64_t kind);
/* Objects handed out and not released. */
size_t fake_host_borrowed(struct fake_host *fake);
/* Nodes handed out in lists of all nodes, so far. */
size_t fake_host_listed_nodes(struct fake_host *fake);

struct fake_event {
    char *object; /* key */
    char *reason;
    char *message;
    bool warning;
};
size_t fake_host_event_count(struct fake_host *fake);
const struct fake_event *fake_host_event(struct fake_host *fake, size_t index);

struct fake_patch {
    uint64_t kind;
    uint64_t type;
    char *key; /* namespace/name */
    char *subresource;
    char *body;
};
size_t fake_host_patch_count(struct fake_host *fake);
const struct fake_patch *fake_host_patch(struct fake_host *fake, size_t index);
/* What later patches answer: 0, or a negative errno with that kind. */
void fake_host_patch_result(struct fake_host *fake, int result, uint64_t kind);

struct fake_fetch {
    uint64_t kind;
    char *key; /* namespace/name */
};
size_t fake_host_fetch_count(struct fake_host *fake);
const struct fake_fetch *fake_host_fetched(struct fake_host *fake, size_t index);
/* What later fetches answer: 0 = as put, or a negative errno with that kind. */
void fake_host_fetch_result(struct fake_host *fake, int result, uint64_t kind);

struct fake_enqueue {
    char *key;
    uint64_t lane;
    uint64_t delay_ms;
};
size_t fake_host_enqueue_count(struct fake_host *fake);
const struct fake_enqueue *fake_host_enqueued(struct fake_host *fake, size_t index);

/* Calls of settle(), in order: the last one about a key counts. */
struct fake_verdict {
    char *key; /* "" = the index was out of range */
    uint64_t index;
    uint64_t requeue_after_ms;
    struct ccm_error err; /* kind CCM_ERROR_NONE = no failure */
};
size_t fake_host_verdict_count(struct fake_host *fake);
const struct fake_verdict *fake_host_verdict(struct fake_host *fake, size_t index);
/* The verdict that counts for the key; NULL = none was told. */
const struct fake_verdict *fake_host_verdict_of(struct fake_host *fake, const char *key);

/* --- dry run: off at first; on, patches are refused and events dropped --- */

void fake_host_dry_run(struct fake_host *fake, bool on);

/* What server_since_ms() says: 1 at first, as if the server was always the same. */
void fake_host_server_since(struct fake_host *fake, int64_t since_ms);

/* The last word of note_held() about the object, as "3: reason"; NULL = nothing is held. And of
 * note_quota() about "object: quota", as "3: of 4". */
const char *fake_host_held(struct fake_host *fake, const char *object);
/* The same of note_unserved(); of note_waiting(), as "300: a job". */
const char *fake_host_unserved(struct fake_host *fake, const char *object);
const char *fake_host_waiting(struct fake_host *fake, const char *object);
/* What note_call() said of the object last; NULL = nothing. */
const char *fake_host_noted_call(struct fake_host *fake, const char *object);

/* The pause of the plugin, as paused_until() tells of names; 0 = none. Time goes on by
 * fake_host_advance(). */
int64_t fake_host_paused_until(struct fake_host *fake);

/* Keys that withdraw() was called with, in order. */
size_t fake_host_withdraw_count(struct fake_host *fake);
const char *fake_host_withdrawn(struct fake_host *fake, size_t index);

struct fake_plan {
    char *object;
    char *steps;
};
size_t fake_host_plan_count(struct fake_host *fake);
const struct fake_plan *fake_host_plan(struct fake_host *fake, size_t index);

#ifdef __cplusplus
}
#endif

#endif
