/*
 * The namespaces that ask for one action: what each of them has had lately, and in which order they
 * take turns. Those that wait together are served in turns, one call each, however many calls one
 * of them waits for; who has waited for nothing has the turn after the one that was served last.
 * New objects of a namespace (ALI_PRIO_NEW) count apart from all else that it does.
 *
 * Pure: time is an argument (ms of one monotonic clock). The caller brings the lock.
 */
#ifndef CCM_ALICLOUD_TENANT_H
#define CCM_ALICLOUD_TENANT_H

#include "alicloud/client.h"

#define ALI_PRIORITIES   (ALI_PRIO_RETRY + 1)
#define ALI_LATELY_PARTS 5

/* How many calls there were lately, in 40 bytes: all of the last span, and some that are up to a
 * quarter of it older. Zeroed = none. */
struct ali_lately {
    int64_t part; /* the quarter of a span that counts[0] is for */
    int32_t counts[ALI_LATELY_PARTS];
};

void ali_lately_add(struct ali_lately *lately, int64_t now_ms, int64_t span_ms);
int64_t ali_lately_count(const struct ali_lately *lately, int64_t now_ms, int64_t span_ms);
/* Ms until fewer than `limit` (at least 1) of them count; 0 = they do. */
int64_t ali_lately_wait_ms(const struct ali_lately *lately, int64_t limit, int64_t now_ms,
                           int64_t span_ms);

/* One namespace. Lives as long as a call of it waits; else until the next ali_tenants_get(). */
struct ali_tenant {
    struct ali_lately had[2]; /* new objects; all others */
    int64_t last[ALI_PRIORITIES];
    size_t waiting[ALI_PRIORITIES];
    uint64_t walk; /* of what `ahead` counts */
    int64_t ahead[2];
};

struct ali_tenants {
    struct ccm_strmap *all;
    size_t sweep_at;               /* so many: those of which nothing is known any more go */
    int64_t turns[ALI_PRIORITIES]; /* of the one that was served last */
    uint64_t walk;
};

/* Empty. 0 or -ENOMEM. */
CCM_NODISCARD int ali_tenants_init(struct ali_tenants *tenants);
void ali_tenants_fini(struct ali_tenants *tenants);

/* The namespace of an object ("namespace/name"); whatever has none is one tenant. NULL on ENOMEM.
 */
struct ali_tenant *ali_tenants_get(struct ali_tenants *tenants, const char *object, int64_t now_ms,
                                   int64_t span_ms);

/* One of them waits from now on: its turn. Lower ones are served first, equal ones in order of
 * arrival. */
int64_t ali_tenants_enter(struct ali_tenants *tenants, struct ali_tenant *tenant,
                          enum ali_priority priority);
/* It does not wait any more; served: because it was its turn. */
void ali_tenants_leave(struct ali_tenants *tenants, struct ali_tenant *tenant,
                       enum ali_priority priority, int64_t turn, bool served);

/* What the tenant has had lately of calls of this priority. */
struct ali_lately *ali_tenant_had(struct ali_tenant *tenant, enum ali_priority priority);

/* A walk along those that wait: calls that a tenant gets before the walk comes to its next one. */
void ali_tenants_walk(struct ali_tenants *tenants);
int64_t *ali_tenant_ahead(const struct ali_tenants *tenants, struct ali_tenant *tenant,
                          enum ali_priority priority);

#endif
