/* The kinds the simulator knows, as one table. Const data; every thread. */
#ifndef CCM_KS_KIND_H
#define CCM_KS_KIND_H

#include "schema.h"
#include "selector.h"
#include "util/json.h"

#include <stdbool.h>
#include <stddef.h>

struct ccm_ks_alloc;

/* Where objects are kept. Two kinds may show the same objects (Events). */
enum ccm_ks_bucket {
    CCM_KS_NAMESPACES,
    CCM_KS_NODES,
    CCM_KS_SERVICES,
    CCM_KS_SLICES,
    CCM_KS_ENDPOINTS,
    CCM_KS_PODS,
    CCM_KS_EVENTS,
    CCM_KS_LEASES,
    CCM_KS_CONFIGMAPS,
    CCM_KS_SERVICEACCOUNTS,
    CCM_KS_SECRETS,
    CCM_KS_INGRESSES,
    CCM_KS_CLUSTERROLES,
    CCM_KS_CLUSTERROLEBINDINGS,
    CCM_KS_ROLES,
    CCM_KS_ROLEBINDINGS,
    CCM_KS_WEBHOOKS,
    CCM_KS_CRDS,
    CCM_KS_CUSTOM, /* the first of CCM_KS_CUSTOM_MAX, one per CustomResourceDefinition */
    CCM_KS_BUCKETS = CCM_KS_CUSTOM + 64
};

#define CCM_KS_CUSTOM_MAX (CCM_KS_BUCKETS - CCM_KS_CUSTOM)

enum ccm_ks_trait {
    CCM_KS_HAS_STATUS = 1,       /* status is a subresource */
    CCM_KS_STATUS_AT_CREATE = 2, /* ... but taken at creation */
    CCM_KS_HAS_GENERATION = 4,
    CCM_KS_PUT_CREATES = 8,
    CCM_KS_PUT_NEEDS_VERSION = 16,
    CCM_KS_DELETE_SHOWS_OBJECT = 32,
    CCM_KS_DEPRECATED = 64, /* answers carry the Warning of `warning` */
    CCM_KS_NO_DELETECOLLECTION = 128,
    CCM_KS_DNS_LABEL_NAME = 256, /* names are labels, not subdomains */
    CCM_KS_ANY_NAME = 512        /* names are whatever can stand in a path */
};

/* One write, as the functions of a kind see it. */
struct ccm_ks_write {
    cJSON *object;              /* the new state in storage form; may be changed */
    const cJSON *old;           /* NULL at creation */
    bool dual_stack;            /* the cluster has IPv4 and IPv6 */
    bool status;                /* through the status subresource */
    struct ccm_ks_alloc *alloc; /* what Services have taken */
    cJSON *faults;              /* where validation adds what is wrong, see status.h */
    const char *failure;        /* what the server itself could not do (static text), or NULL */
};

struct ccm_ks_column {
    const char *name; /* NULL ends the table */
    const char *type;
    const char *format;
    int priority;
    const char *path; /* of a kind without `row`: "status.phase" */
};

struct ccm_ks_kind {
    const char *group; /* "" = core */
    const char *version;
    const char *kind;
    const char *plural;
    const char *singular;
    const char *const *short_names; /* NULL-terminated, may be NULL */
    const char *const *categories;
    const char *warning;
    bool namespaced;
    bool closing; /* its definition is being deleted: nothing new is taken */
    unsigned traits;
    enum ccm_ks_bucket bucket;
    const struct ccm_ks_schema *schema;
    const struct ccm_ks_selectable *fields;
    const struct ccm_ks_column *columns;
    /* All below may be NULL. */
    void (*defaults)(cJSON *object);             /* after decoding, before anything else */
    void (*prepare)(struct ccm_ks_write *write); /* before validation: carry over, allocate, drop */
    void (*validate)(struct ccm_ks_write *write);
    cJSON *(*to_view)(const cJSON *stored); /* storage form -> form of this kind; NULL = the same */
    cJSON *(*from_view)(const cJSON *shown); /* and back */
    /* Object in storage form; NULL: a cell per column, from its path. */
    void (*row)(cJSON *cells, const cJSON *object, int64_t now_ms);
};

/* The kinds that every cluster has. */
extern const struct ccm_ks_kind ccm_ks_kinds[];
extern const size_t ccm_ks_kinds_len;

/* "v1" or "coordination.k8s.io/v1". */
void ccm_ks_kind_api_version(struct ccm_buf *buf, const struct ccm_ks_kind *kind);

#endif
