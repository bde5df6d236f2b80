/*
 * Ports without ready backends, in a pass: a Warning with port and cause, the condition, the status
 * page and the metric report them until they have some. And which backends left, and why. One
 * thread per pass; nothing blocks.
 */
#ifndef CCM_LBC_EMPTY_PASS_H
#define CCM_LBC_EMPTY_PASS_H

#include "lbc/model/named.h"
#include "util/attr.h"
#include "util/buf.h"
#include "util/strmap.h"

#include <stdbool.h>
#include <stdint.h>

struct lbc_freeze;
struct lbc_group;
struct lbc_instance;
struct lbc_pass;
struct lbc_resolved_list;

/* Of one Service. Starts zeroed; times are monotonic. */
struct lbc_empty_memory {
    int64_t since_ms;       /* since when a port has no ready backend; 0 = all have */
    struct lbc_named *left; /* backends that left and are not reported yet; NULL = none */
    int64_t left_ms;        /* when some that left were last reported; 0 = never */
};

static inline void lbc_empty_memory_fini(struct lbc_empty_memory *memory)
{
    lbc_named_free(memory->left);
}
/* In one pass: what it has found. */
struct lbc_empty_ports {
    struct ccm_buf text; /* ports without ready backends, with causes; "" = none */
    size_t count;
    bool lasts;              /* for some time by now */
    struct ccm_strmap *left; /* backends that leave -> why; NULL = none */
};

#define LBC_EMPTY_PORTS_INIT                                                                       \
    {                                                                                              \
        .text = {.max = 900 }                                                                      \
    }

static inline void lbc_empty_ports_fini(struct lbc_empty_ports *ports)
{
    ccm_buf_fini(&ports->text);
    ccm_strmap_free(ports->left);
}
/* Ports without ready backends for some time, with causes; "" = none. */
static inline const char *lbc_empty_text(const struct lbc_empty_ports *ports)
{
    return ports->lasts ? ccm_buf_str(&ports->text) : "";
}

/* Keep why the pods of a group that has no backends could not be attached, before the model gets
 * what was resolved. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_empty_explain_unresolved(struct lbc_pass *pass,
                                               const struct lbc_resolved_list *resolved);
/* Publish which groups have no ready backend, and keep it in pass->empty; frozen: their backends
 * are kept, which another event reports. */
void lbc_empty_publish(struct lbc_pass *pass,
                       bool (*frozen)(const struct lbc_pass *pass, const struct lbc_group *want));
/* For status page and metric: these ports, and those that are unhealthy (health.h). */
void lbc_empty_record(const struct lbc_pass *pass);
/* The Service, or its load balancer, is gone; the metrics (figures.h) forget it as well. */
void lbc_empty_forget(const struct lbc_instance *lbc, const char *key);

/* After the decision: which backends leave, into pass->empty. On ENOMEM some are not reported. */
void lbc_leave_collect(struct lbc_freeze *freeze);
/* After a complete success: an event at once, and one for all that leave in the minute after. */
void lbc_leave_publish(struct lbc_pass *pass);

#endif
