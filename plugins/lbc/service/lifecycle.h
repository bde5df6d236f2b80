/*
 * What a controller writes to a Service: finalizer, labels, status, events. The passes in ensure.c
 * and release.c decide when; ensure.c has the finalizer added. Each function writes what the
 * Service does not show now. The caches show each write before it returns, so nothing is written
 * twice, not even within a pass, whose snapshot is older. Every write names the uid, so it cannot
 * hit a new object of the same name. Blocks for the API server. Every thread.
 */
#ifndef CCM_LBC_LIFECYCLE_H
#define CCM_LBC_LIFECYCLE_H

#include "ccm/plugin.h"
#include "lbc/keys.h"
#include "lbc/model/tags.h"
#include "lbc/service/condition.h"
#include "util/attr.h"
#include "util/bucket.h"
#include "util/buf.h"

#include <stdbool.h>

/* Most bytes of a patch: more an API server does not take. */
#define LBC_LIFE_PATCH_MAX ((size_t)3 * 1024 * 1024)

/* What this process has written to one Service. Zeroed memory is an empty one. One thread at a
 * time. */
struct lbc_life_memory {
    uint64_t shows; /* stands for what the Service shows after our last writes; 0 = not known */
    uint64_t tags;  /* stands for the label of additional tags when it was last read or written;
                       0 = it was not */
    bool confirmed; /* the API server has said that the finalizer is there */
    bool bound;     /* this process put it on, where no other one had */
    bool spoke;     /* a condition was written, or its write has failed */
    bool wrote;     /* something was written in this pass; the caller clears it */
    struct ccm_bucket passes; /* those that wrote, here or to the cloud; the caller's */
};

struct lbc_life {
    const struct ccm_host *host;
    const char *finalizer;
    const char *component;          /* of events */
    const char *noun;               /* of what is written, for people; NULL = "Service" */
    const char *extra_label;        /* a third label that the controller keeps; NULL = none */
    const char *reused_label;       /* LBC_LIFE_REUSED_LABEL with its name behind; NULL = none */
    struct lbc_life_memory *memory; /* of the Service; NULL: go by the snapshot alone */
    struct ccm_buf *plan; /* dry run: what would be written, one line each; NULL: it is written */
};

/* What the caches show of the Service now, else what the snapshot says. */
struct lbc_life_now {
    const struct ccm_host *host;
    const struct ccm_object *held; /* NULL = not there, and so is */
    const struct ccm_service *service;
};

/* The snapshot is borrowed. */
struct lbc_life_now lbc_life_see(const struct lbc_life *life, const struct ccm_service *service);
void lbc_life_now_fini(struct lbc_life_now *now);

/* Add or remove the finalizer. Finalizers are a set on the server: those of others stay. At first
 * it is added only if the object still has the version that the caches show, so that `bound` is
 * certain; after a conflict it is added in any case. Removal from an object that is gone is
 * success. */
CCM_NODISCARD int lbc_life_set_finalizer(const struct lbc_life *life, const struct ccm_request *req,
                                         const struct ccm_service *service, bool wanted,
                                         struct ccm_error *err);

/* Have the API server say, in one GET, that a Service which was not deleted is still the one that a
 * release goes by: a cache may be older than a change back. 0 = it is, or it is gone;
 * CCM_ERROR_CONFLICT: it is not. */
CCM_NODISCARD int lbc_life_confirm_release(const struct lbc_life *life,
                                           const struct ccm_request *req,
                                           const struct ccm_service *service,
                                           struct ccm_error *err);

/* Have the API server say that the object still exists and has the finalizer, whatever the caches
 * show: written once in the life of a process, unless set_finalizer() has written it. A cache may
 * be older than the end of the object, and what is created for that would never be deleted. A
 * failure is not remembered: the finalizer is as the snapshot shows it. CCM_ERROR_NOT_FOUND or
 * CCM_ERROR_CONFLICT: it is gone, another one has its name, or the answer shows that it wants no
 * load balancer any more, or another one. */
CCM_NODISCARD int lbc_life_confirm_finalizer(const struct lbc_life *life,
                                             const struct ccm_request *req,
                                             const struct ccm_service *service,
                                             struct ccm_error *err);

/* Write the extra label (LBC_LIFE_PENDING, unless it is there) before anything is made that nothing
 * else in the cluster tells of: a release looks for that as long as the label is there.
 * lbc_life_publish() puts the id in its place. */
#define LBC_LIFE_PENDING "pending"
CCM_NODISCARD int lbc_life_mark(const struct lbc_life *life, const struct ccm_request *req,
                                const struct ccm_service *service, struct ccm_error *err);
/* Whether it is there. */
bool lbc_life_is_marked(const struct lbc_life *life, const struct ccm_service *service);

/* The label of additional tags, which the next write may replace. now: what the caches show;
 * borrowed, as is what is returned. NULL: it is not there. */
const char *lbc_life_read_tags(const struct lbc_life *life, const struct ccm_service *now);
/* Whether `now` shows another label than that which was read or written last: another instance of
 * the controller has written it. */
bool lbc_life_has_other_tags(const struct lbc_life *life, const struct ccm_service *now);

/* Write the label of additional tags, before any of them is put on. marks: of marks.h, with those
 * that may be on already. 0 also when it is shown, and in a dry run. Blocks.
 * CCM_ERROR_CONFLICT: the label, or the Service, has changed since it was read. */
CCM_NODISCARD int lbc_life_mark_tags(const struct lbc_life *life, const struct ccm_request *req,
                                     const struct ccm_service *service, const char *marks,
                                     struct ccm_error *err);

/* Write the label of reuse before anything is changed on a load balancer of a person, unless it is
 * there: `id` may hold something of the Service, whatever its annotations say later. Whoever edits
 * the Service can edit it: it is believed only as far as owner's tags and our own names agree. */
CCM_NODISCARD int lbc_life_mark_reused(const struct lbc_life *life, const struct ccm_request *req,
                                       const struct ccm_service *service, const char *id,
                                       struct ccm_error *err);
/* What that label says; "" = it is not there. */
const char *lbc_life_reused_id(const struct lbc_life *life, const struct ccm_service *service);

/* What the Service should say; each member: NULL = leave alone, "" = take away. */
struct lbc_life_state {
    const char *hash;
    const char *lb_id;
    const char *ip;       /* the addresses, "a" or "a,b": one ingress entry each */
    const char *ip_mode;  /* of each address: "VIP", "Proxy"; NULL or "" = do not care */
    const char *hostname; /* if given and not "": the only ingress entry, without address */
    const char *extra;    /* value of the extra label */
    const char *tags;     /* of LBC_LIFE_TAGS_LABEL: goes along with what else is written, and is
                             worth a write of its own only to be taken away */
    const struct lbc_life_condition *condition; /* goes along with what else is written; NULL = it
                                                   is left alone */
    const char *reused; /* of the label of reuse: likewise, or when it says something else */
};

/* One patch of the status subresource, which takes labels too, for what differs. *ret_written:
 * there was one. A missing object is success. CCM_ERROR_CONFLICT: another Service has the name, or
 * the label of additional tags is to change and has changed since it was read. */
CCM_NODISCARD int lbc_life_publish(const struct lbc_life *life, const struct ccm_request *req,
                                   const struct ccm_service *service,
                                   const struct lbc_life_state *state, bool *ret_written,
                                   struct ccm_error *err);

/* Whether finalizer, labels and addresses are what they were after our last write or look; false
 * when none is remembered. */
bool lbc_life_shows_ours(const struct lbc_life *life, const struct ccm_service *service);

/* Further labels, whatever the snapshot says: "" = take away. An object that is gone is success. */
CCM_NODISCARD int lbc_life_write_labels(const struct lbc_life *life, const struct ccm_request *req,
                                        const struct ccm_service *service,
                                        const struct lbc_tags *labels, struct ccm_error *err);

/* For conditions.c. For the plan: the condition is written, said once. */
void lbc_life_print_condition(const struct lbc_life *life, const struct lbc_condition_words *words);
/* says: it is about to be written. */
void lbc_life_record_condition(const struct lbc_life *life, bool says);
/* A patch of the status subresource, CCM_PATCH_*; an object that is gone is success. */
CCM_NODISCARD int lbc_life_patch_status(const struct lbc_life *life, const struct ccm_request *req,
                                        const struct ccm_service *service, uint64_t type,
                                        const struct ccm_buf *body, struct ccm_error *err);

/* Queue an event about the Service. */
void lbc_life_event(const struct lbc_life *life, const struct ccm_service *service, bool warning,
                    const char *reason, const char *format, ...) CCM_PRINTF(5, 6);

/* What lasts, see struct ccm_event. */
struct lbc_life_standing {
    bool warning;
    const char *topic;
    const char *reason;
    const char *cause; /* NULL = the text */
    const char *text;  /* "" = it is over */
    uint64_t after_ms; /* told only if it lasts so long */
};

/* The same about something that lasts: the core tells it again as long as it does. */
void lbc_life_stand(const struct lbc_life *life, const struct ccm_service *service,
                    const struct lbc_life_standing *standing);

#endif
