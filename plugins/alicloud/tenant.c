#include "alicloud/tenant.h"

#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_PARTS    (ALI_LATELY_PARTS - 1)
#define SWEEP_LEAST   64
#define NAMESPACE_MAX 256 /* of a namespace: 63 bytes in Kubernetes */

/* --- of late --- */

static int64_t lately_part(int64_t now_ms, int64_t span_ms)
{
    const int64_t length = span_ms / SPAN_PARTS;

    return now_ms / (length < 1 ? 1 : length);
}

/* What `part` would find in counts[index]. */
static int32_t lately_get(const struct ali_lately *lately, int64_t part, int index)
{
    const int64_t from = lately->part - (part - index);

    return from >= 0 && from < ALI_LATELY_PARTS ? lately->counts[from] : 0;
}

void ali_lately_add(struct ali_lately *lately, int64_t now_ms, int64_t span_ms)
{
    const int64_t part = lately_part(now_ms, span_ms);
    struct ali_lately next = { .part = part };

    for (int i = 0; i < ALI_LATELY_PARTS; i++) {
        next.counts[i] = lately_get(lately, part, i);
    }
    next.counts[0]++;
    *lately = next;
}

int64_t ali_lately_count(const struct ali_lately *lately, int64_t now_ms, int64_t span_ms)
{
    const int64_t part = lately_part(now_ms, span_ms);
    int64_t sum = 0;

    for (int i = 0; i < ALI_LATELY_PARTS; i++) {
        sum += lately_get(lately, part, i);
    }
    return sum;
}

int64_t ali_lately_wait_ms(const struct ali_lately *lately, int64_t limit, int64_t now_ms,
                           int64_t span_ms)
{
    const int64_t length = span_ms / SPAN_PARTS < 1 ? 1 : span_ms / SPAN_PARTS;
    const int64_t part = lately_part(now_ms, span_ms);
    int64_t left = ali_lately_count(lately, now_ms, span_ms);
    int oldest = ALI_LATELY_PARTS;

    while (left >= limit && oldest > 0) {
        left -= lately_get(lately, part, --oldest);
    }
    return oldest == ALI_LATELY_PARTS ? 0 : (part - oldest + ALI_LATELY_PARTS) * length - now_ms;
}

/* --- namespaces --- */

int ali_tenants_init(struct ali_tenants *tenants)
{
    *tenants = (struct ali_tenants){ .all = ccm_strmap_new(free), .sweep_at = SWEEP_LEAST };
    return tenants->all == NULL ? -ENOMEM : 0;
}

void ali_tenants_fini(struct ali_tenants *tenants)
{
    ccm_strmap_free(tenants->all);
    *tenants = (struct ali_tenants){ 0 };
}

static bool tenant_is_idle(const struct ali_tenant *tenant, int64_t now_ms, int64_t span_ms)
{
    for (int i = 0; i < ALI_PRIORITIES; i++) {
        if (tenant->waiting[i] > 0) {
            return false;
        }
    }
    return ali_lately_count(&tenant->had[0], now_ms, span_ms) == 0 &&
           ali_lately_count(&tenant->had[1], now_ms, span_ms) == 0;
}

static void tenants_sweep(struct ali_tenants *tenants, int64_t now_ms, int64_t span_ms)
{
    void *cursor = NULL;
    const char *name = NULL;
    void *value = NULL;

    while (ccm_strmap_next(tenants->all, &cursor, &name, &value)) {
        if (tenant_is_idle(value, now_ms, span_ms)) {
            ccm_strmap_del(tenants->all, name);
        }
    }
    tenants->sweep_at = 2 * ccm_strmap_len(tenants->all);
    tenants->sweep_at = tenants->sweep_at < SWEEP_LEAST ? SWEEP_LEAST : tenants->sweep_at;
}

struct ali_tenant *ali_tenants_get(struct ali_tenants *tenants, const char *object, int64_t now_ms,
                                   int64_t span_ms)
{
    const char *end = object == NULL ? NULL : strchr(object, '/');
    char name[NAMESPACE_MAX] = "";
    struct ali_tenant *tenant = NULL;

    if (end != NULL) {
        ccm_text_printf(name, sizeof(name), "%.*s", (int)(end - object), object);
    }
    tenant = ccm_strmap_get(tenants->all, name);
    if (tenant != NULL) {
        return tenant;
    }
    if (ccm_strmap_len(tenants->all) >= tenants->sweep_at) {
        tenants_sweep(tenants, now_ms, span_ms);
    }
    tenant = calloc(1, sizeof(*tenant));
    if (tenant != NULL && ccm_strmap_set(tenants->all, name, tenant) < 0) {
        free(tenant);
        tenant = NULL;
    }
    return tenant;
}

/* --- turns --- */

int64_t ali_tenants_enter(struct ali_tenants *tenants, struct ali_tenant *tenant,
                          enum ali_priority priority)
{
    const int64_t last = tenant->waiting[priority]++ == 0 ? 0 : tenant->last[priority];
    const int64_t served = tenants->turns[priority];

    tenant->last[priority] = (last > served ? last : served) + 1;
    return tenant->last[priority];
}

void ali_tenants_leave(struct ali_tenants *tenants, struct ali_tenant *tenant,
                       enum ali_priority priority, int64_t turn, bool served)
{
    tenant->waiting[priority]--;
    if (served && turn > tenants->turns[priority]) {
        tenants->turns[priority] = turn;
    }
    if (!served && turn == tenant->last[priority]) {
        tenant->last[priority]--;
    }
}

struct ali_lately *ali_tenant_had(struct ali_tenant *tenant, enum ali_priority priority)
{
    return &tenant->had[priority == ALI_PRIO_NEW ? 0 : 1];
}

void ali_tenants_walk(struct ali_tenants *tenants)
{
    tenants->walk++;
}

int64_t *ali_tenant_ahead(const struct ali_tenants *tenants, struct ali_tenant *tenant,
                          enum ali_priority priority)
{
    if (tenant->walk != tenants->walk) {
        tenant->walk = tenants->walk;
        tenant->ahead[0] = tenant->ahead[1] = 0;
    }
    return &tenant->ahead[priority == ALI_PRIO_NEW ? 0 : 1];
}
