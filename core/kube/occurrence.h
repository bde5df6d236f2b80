/*
 * One happening that an Event tells of, with texts of its own. Pure; one thread at a time.
 */
#ifndef CCM_KUBE_OCCURRENCE_H
#define CCM_KUBE_OCCURRENCE_H

#include "ccm/host.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stdint.h>

#define KUBE_EVENT_TEXT_MAX   1024
#define KUBE_EVENT_REASON_MAX 128

struct kube_occurrence {
    char *texts; /* the block in which those that follow stand */
    const char *api_version;
    const char *kind;
    const char *namespace_; /* "" = of the cluster */
    const char *name;
    const char *uid;
    const char *resource_version;
    const char *component;
    const char *reason;
    const char *message;
    const char *topic;    /* what lasts, see standing.h; "": it is said once */
    const char *cause;    /* with a topic: what makes it the same; "" = the message */
    uint64_t after_ms;    /* with a topic: said only if it lasts so long */
    uint64_t object_kind; /* CCM_KIND_* */
    bool warning;
};

void kube_occurrence_fini(struct kube_occurrence *occurrence);
/* From what a plugin says, cut to what a server takes; a copy. 0, or -ENOMEM and nothing is left.
 */
CCM_NODISCARD int kube_occurrence_make(const struct ccm_event *event, struct kube_occurrence *ret);
/* NULL is "" in the copy, whose texts take one block. 0, or -ENOMEM and nothing is left. */
CCM_NODISCARD int kube_occurrence_copy(const struct kube_occurrence *from,
                                       struct kube_occurrence *ret);
/* What makes it the same happening. */
const char *kube_occurrence_cause(const struct kube_occurrence *occurrence);
/* Whether it has a topic. */
bool kube_occurrence_lasts(const struct kube_occurrence *occurrence);

#endif
