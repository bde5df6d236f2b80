/* One function per action of the cloud. Blocks until answered. One thread at a time per call. */
#ifndef CCM_ROUTE_API_H
#define CCM_ROUTE_API_H

#include "alicloud/client.h"
#include "table.h"

struct route_call {
    struct ali_client *ali;
    const struct ccm_host *host;
    const struct ccm_request *req;
    enum ali_priority priority;
    const char *object; /* whose place is kept when the call is put off; NULL = it waits */
    bool uncertain;     /* out: the cloud may have executed a write that failed */
};

/* How it went with one entry of a write. */
enum route_outcome {
    ROUTE_DONE,
    ROUTE_TAKEN,  /* create: the destination is there already, whoever has it */
    ROUTE_MOVING, /* an entry with that destination is on its way: look again in a moment */
    ROUTE_GONE,   /* delete: there is no such entry */
    ROUTE_FULL,   /* a quota */
    ROUTE_UNSURE, /* the answer does not add up: look again */
    ROUTE_FAILED,
};

struct route_item {
    struct ccm_cidr net;
    const char *instance; /* borrowed */
    size_t step;          /* the caller's */
    enum route_outcome outcome;
    struct ccm_error err; /* unless it is done */
};

/* What a failed single write, or a failed item, means. */
enum route_outcome route_outcome_of(const char *code, const char *message, bool create);

CCM_NODISCARD int route_api_tables(struct route_call *call, const char *vpc, int64_t page,
                                   cJSON **ret, struct ccm_error *err);
/* One page. version: "ipv4", "ipv6", NULL = whatever the cloud lists without. token "" = the first.
 */
CCM_NODISCARD int route_api_entries(struct route_call *call, const char *table, const char *version,
                                    const char *token, cJSON **ret, struct ccm_error *err);

/*
 * Create or delete up to 50 entries in one call, with an outcome each. Negative: the call as a
 * whole failed and no item has an outcome.
 */
CCM_NODISCARD int route_api_batch(struct route_call *call, bool create, const char *table,
                                  struct route_item *items, size_t count, struct ccm_error *err);

/* The same for one entry; its outcome and error are set in any case. Negative when it failed. */
CCM_NODISCARD int route_api_single(struct route_call *call, bool create, const char *table,
                                   struct route_item *item);

#endif
