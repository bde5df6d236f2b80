/*
 * Custom resources as the engine sees them: a host before the daemon's in which each of them stands
 * as a Service of type LoadBalancer. What the engine writes to that Service becomes finalizer and
 * labels of the object, and is remembered for its status, which is the plugin's to write. Every
 * thread; what is remembered belongs to the worker of the key. Blocks where the daemon's host does.
 */
#ifndef CCM_LBC_CUSTOM_FRONT_H
#define CCM_LBC_CUSTOM_FRONT_H

#include "lbc/custom/write.h"
#include "lbc/relay.h"
#include "util/strmap.h"

#define LBC_CUSTOM_REASON_MAX  64
#define LBC_CUSTOM_MESSAGE_MAX 2100
#define LBC_CUSTOM_ADDRESS_MAX 256

/* What is remembered per key: what the engine has said of the object last. */
struct lbc_custom_said {
    struct lbc_custom_record record;      /* first */
    bool has_address;                     /* address was reported */
    char address[LBC_CUSTOM_ADDRESS_MAX]; /* name or IP; "" = none */
    bool has_state;                       /* the condition was reported */
    bool ready;
    char reason[LBC_CUSTOM_REASON_MAX]; /* "" = it was taken away */
    char message[LBC_CUSTOM_MESSAGE_MAX];
};

struct lbc_custom_front;

/* What is different from resource to resource. */
struct lbc_custom_kind {
    const char *kind; /* "Gateway" */
    const char *api_version;
    const char *resource;
    /* The object of that key as a Service, with its own metadata but for uid and name; *ret = NULL
     * when there is none. 0 or -ENOMEM. */
    int (*view_new)(const struct lbc_custom_front *front, const char *key,
                    const struct ccm_service **ret);
    void (*view_free)(const struct ccm_service *view);
    /* Keys of the Services whose endpoints are its backends, into `to`, with NULL as values. 0 or
     * -ENOMEM. */
    int (*services)(const struct lbc_custom_front *front, const char *key, struct ccm_strmap *to);
};

struct lbc_custom_front {
    struct lbc_relay relay; /* first: what the engine is given is &relay.host */
    struct lbc_custom custom;
    const struct lbc_custom_kind *kind;
    const char *finalizer; /* of the objects */
};

/* Fill in a zeroed one. host: the daemon's; said_size: of what is remembered per key, which begins
 * with a struct lbc_custom_said. All pointers stay as long as the front. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_custom_front_init(struct lbc_custom_front *front,
                                        const struct lbc_custom_kind *kind, const char *finalizer,
                                        const struct ccm_host *host, size_t said_size);
/* A zeroed one is fine. */
void lbc_custom_front_fini(struct lbc_custom_front *front);

#endif
