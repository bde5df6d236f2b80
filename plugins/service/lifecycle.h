/*
 * What a controller writes to a Service: finalizer, labels, status, events. Each function looks
 * at the snapshot first and makes no write when it already says so. Every write names the uid, so
 * that it cannot hit a new object of the same name. Blocks for the API server. Every thread.
 */
#ifndef CCM_SERVICE_LIFECYCLE_H
#define CCM_SERVICE_LIFECYCLE_H

#include "ccm/plugin.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stdbool.h>

#define CCM_LIFE_LB_LABEL "service.k8s.alibaba/loadbalancer-id"

struct ccm_life {
    const struct ccm_host *host;
    const char *finalizer;
    const char *component;   /* of events */
    const char *extra_label; /* a third label that the controller keeps; NULL = none */
    struct ccm_buf *plan; /* dry run: what would be written, one line each; NULL: it is written */
};

/* Finalizers are a set on the server: nobody else's is touched, no conflict is possible. */
CCM_NODISCARD int ccm_life_add_finalizer(const struct ccm_life *life, const struct ccm_request *req,
                                         const struct ccm_service *service, struct ccm_error *err);
/* An object that is gone is success. */
CCM_NODISCARD int ccm_life_remove_finalizer(const struct ccm_life *life,
                                            const struct ccm_request *req,
                                            const struct ccm_service *service,
                                            struct ccm_error *err);

/* What the Service should say; each member: NULL = leave alone, "" = take away. */
struct ccm_life_state {
    const char *hash;
    const char *lb_id;
    const char *ip;       /* the addresses, "a" or "a,b": one ingress entry each */
    const char *ip_mode;  /* of each address: "VIP", "Proxy"; NULL or "" = do not care */
    const char *hostname; /* if given and not "": the only ingress entry, without address */
    const char *extra;    /* value of the extra label */
};

/* Whether the Service says something else. */
bool ccm_life_differs(const struct ccm_life *life, const struct ccm_service *service,
                      const struct ccm_life_state *state);

/* One patch of the status subresource for what differs (labels are taken there as well).
 * *ret_written tells whether there was one. An object that is gone is success. */
CCM_NODISCARD int ccm_life_publish(const struct ccm_life *life, const struct ccm_request *req,
                                   const struct ccm_service *service,
                                   const struct ccm_life_state *state, bool *ret_written,
                                   struct ccm_error *err);

/* Queue an event about the Service. */
void ccm_life_event(const struct ccm_life *life, const struct ccm_service *service, bool warning,
                    const char *reason, const char *format, ...) CCM_PRINTF(5, 6);

#endif
