/*
 * Listeners of a Gateway: which of them can be served by an NLB, and why not; which routes they
 * take. What is asked of the cluster are labels of namespaces, from the caches. No I/O. Every
 * thread.
 */
#ifndef CCM_GATEWAY_LISTENER_H
#define CCM_GATEWAY_LISTENER_H

#include "gateway.h"
#include "item.h"
#include "lbc/model/protocol.h"
#include "lbc/model/tags.h"

#include <stdint.h>

extern const struct ccm_option gateway_opt_keep_ports;

/* What has listeners: a Gateway or a ListenerSet. Borrowed. */
struct gateway_owner {
    const char *kind; /* a constant */
    const struct ccm_object *object;
    const cJSON *json;
    bool certified; /* annotations give a certificate to listeners that name none */
};

struct gateway_listener {
    const cJSON *json;              /* borrowed, as all texts */
    const char *owner_kind;         /* of the object that has it, */
    const struct ccm_object *owner; /* borrowed, too */
    const char *name;
    const char *hostname; /* "" = any */
    int64_t port;
    enum lbc_protocol protocol; /* that the cloud speaks: LBC_OTHER = none of ours */
    bool is_tls;                /* its protocol is TLS, */
    bool passes;                /* and what is inside is passed on */
    unsigned kinds;             /* 1U << enum gateway_route_kind: routes that it takes */
    const cJSON *said;          /* what the status of its owner says; NULL = nothing */
    const char *certificates;   /* "id,id"; "" = none are known */
    bool uses_secrets;          /* they are those of Secrets, by option; secret.h: */
    char *uploaded;             /* heap; NULL = none */
    struct lbc_texts uploads;   /* names of these certificates */
    char *certificate_why;      /* heap: what is wrong with one of them */
    bool pending;               /* one of its Secrets was not read yet: its status stays */
    bool unread;                /* what one of its Secrets says is not known, */
    bool open;                  /* nor the certificate that it had: there may be more of them */
    bool keeps; /* its certificates are not known or not valid: one that exists in the cloud stays
                   as it is */
    /* What is wrong with it; NULL = nothing. Reasons as the API knows them. */
    const char *refused; /* condition Accepted */
    const char *conflict;
    const struct gateway_listener *rival; /* of conflict: the first of those that have the port */
    const char *unresolved;               /* condition ResolvedRefs */
    const char *why;                      /* of refused or conflict, a constant */
    const char *unresolved_why;           /* the first, a constant, certificate_why or of `said` */
    bool unusable;                        /* it cannot be served */
    /* Of a ListenerSet, as far as the Gateway has taken it in; both by
     * gateway_listeners_find_conflicts(). */
    const struct ccm_object *gateway; /* borrowed; NULL = it can have no port */
    bool held;                        /* by its status it has had its port there before */
    size_t attached;                  /* out, by others: routes */
};

#define GATEWAY_LISTENERS_MAX 64

/* Add those of an owner to `all`, of which there are *count, up to GATEWAY_LISTENERS_MAX. 0 or
 * -ENOMEM; the caller finishes them in any case. */
CCM_NODISCARD int gateway_listeners_read(const struct gateway *self,
                                         const struct gateway_owner *owner,
                                         struct gateway_listener all[static GATEWAY_LISTENERS_MAX],
                                         size_t *count);
/* Those of a Gateway that want one port: of one owner none serves it, as the API has it; of several
 * owners, which stand behind each other by precedence, the first one does. keeps: among
 * ListenerSets one that has had the port before precedes others. */
void gateway_listeners_find_conflicts(struct gateway_listener *all, size_t count,
                                      const struct ccm_object *gateway, bool keeps);
/* "TCP port 443 of Gateway namespace/name": what condition Conflicted says as long as the listener
 * of a ListenerSet has the port, and what tells so after a restart. "" = it can have none. */
#define GATEWAY_PORT_TEXT 384
void gateway_listener_print_port(const struct gateway_listener *listener,
                                 char ret[static GATEWAY_PORT_TEXT]);
void gateway_listeners_fini(struct gateway_listener *listeners, size_t count);

/* Whether it can be created with what is known. */
static inline bool gateway_listener_is_creatable(const struct gateway_listener *listener)
{
    return !listener->unusable && !listener->keeps;
}
/* Whether the load balancer is to have it, or to keep it. */
static inline bool gateway_listener_has_port(const struct gateway_listener *listener)
{
    return !listener->unusable || listener->keeps;
}

/* Why a route is not attached by one parentRef; the later ones come closer. */
enum gateway_attach {
    GATEWAY_NO_PARENT,   /* no listener has that name or port */
    GATEWAY_NOT_ALLOWED, /* its kind or namespace is not */
    GATEWAY_NO_HOSTNAME, /* no name in common */
    GATEWAY_ATTACHED,
};

/* Whether the route attaches to the listener by one of its parentRefs, which is to the owner. */
enum gateway_attach gateway_listener_attach(const struct ccm_host *host,
                                            const struct gateway_listener *listener,
                                            const struct lbc_custom_item *route,
                                            const cJSON *parent);

/* Whether that is a parentRef of a route to that object. */
bool gateway_parent_is(const cJSON *parent, const struct ccm_object *route, const char *kind,
                       const struct ccm_object *object);

#endif
