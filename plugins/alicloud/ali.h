/* Inside of the library: the instance, and the steps of one call. */
#ifndef CCM_ALICLOUD_ALI_H
#define CCM_ALICLOUD_ALI_H

#include "alicloud/client.h"
#include "alicloud/credential/credential.h"
#include "alicloud/ctx.h"
#include "alicloud/endpoint.h"
#include "alicloud/error.h"
#include "alicloud/quota/governor.h"
#include "alicloud/instance.h"
#include "alicloud/metadata.h"
#include "alicloud/quota/pace.h"
#include "alicloud/sign.h"
#include "util/cidr.h"

#include <pthread.h>
#include <stdatomic.h>

struct ali_eni_cache;
struct ali_jobs;
struct ali_presence;

/* Set by acquire() and never changed until the last release(). */
struct ali_config {
    char *region; /* as configured, "" = ask */
    char *vpc_id;
    char **vswitch_ids; /* NULL-terminated, zones stripped */
    char *cluster_id;
    char *resource_group_id;
    char *network;
    char *ca_file; /* "" = the system's */
    char *overrides[ALI_ENDPOINT_PRODUCTS];
    char *user_agent; /* whole header line */
    bool plain_http;  /* endpoints without TLS are taken */
};

struct ali_client {
    size_t refs; /* guarded by the lock of instance.c */
    struct ali_config config;
    struct ali_metadata *metadata;
    struct ali_credentials *credentials;
    struct ali_governor *governor;
    struct ali_eni_cache *eni;
    struct ali_jobs *jobs;
    struct ali_presence *presence;
    struct ali_paces *paces;

    pthread_mutex_t lock; /* guards `starting`; a leaf lock */
    bool starting;
    /* Set once, before `started` becomes true; read-only from then on. */
    atomic_bool started;
    char *region;
    char *vpc_id;
    char **vswitch_ids;
    struct ali_endpoint endpoints[ALI_ENDPOINT_PRODUCTS];
};

/* Its credentials, by the options; they need ali->metadata. Errors as ali_acquire(). */
CCM_NODISCARD int ali_make_credentials(struct ali_client *ali, const struct ccm_host *host,
                                       struct ccm_error *err);

/* One try of a call, as it goes out. */
struct ali_try {
    const struct ali_call *call;
    struct ccm_buf query;
    struct ccm_buf body;
    struct ccm_buf authorization;
    char string_hash[CCM_DIGEST_HEX]; /* of what we signed, to compare with the server's words */
    const struct ali_credential *credential; /* borrowed; NULL = unsigned */
};
void ali_try_fini(struct ali_try *try_);

/* Sign and send once. As host->http(): *ret is set on success, *ret_phase on failure. */
CCM_NODISCARD int ali_send(struct ali_client *ali, const struct ali_ctx *ctx, struct ali_try *try_,
                           struct ccm_http_response **ret, uint64_t *ret_phase,
                           struct ccm_error *err);

/* What an answer means. */
struct ali_answer {
    const struct ali_error_row *row; /* NULL: success, json is set */
    cJSON *json;
    int64_t hint_ms; /* the cloud's wish when to come back; 0 = none */
};

/* Read an answer: success when ret->row stays NULL, otherwise err tells the refusal. */
void ali_answer_read(const struct ali_try *try_, const struct ccm_http_response *response,
                     int64_t wall_ms, struct ali_answer *ret, struct ccm_error *err);

/* "Fri, 20 Nov 2026 16:36:07 GMT" -> ms since the epoch; -EINVAL. */
CCM_NODISCARD int ali_parse_date(const char *text, int64_t *ret_ms);

/* The delay before try number `tries` + 1, with jitter from random bits. */
int64_t ali_backoff(enum ali_class class_, unsigned int tries, int64_t hint_ms, uint64_t random);

#endif
