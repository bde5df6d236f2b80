/*
 * Inside of a store: what we wrote to objects that it holds, as long as the watch has not shown it.
 * The store's lock guards it. Versions are compared for equality alone.
 *
 * The table of a store is what lists and watches say, and changes are reported of the table alone.
 * An own write stands before the table: readers see the answer of the API server in place of the
 * object that the table holds. It ends when the watch shows that version, the object is deleted or
 * is another one (uid), a list takes the table's place, or when it hides another version for too
 * long. So no object can stay hidden, whatever a server does.
 *
 * A write that is under way notes each version that the table has meanwhile. An answer with one of
 * these versions changes nothing: the table has that version or a later one. After a list it is
 * not known which of the two is older, so the list counts.
 */
#ifndef CCM_KUBE_OWN_WRITE_H
#define CCM_KUBE_OWN_WRITE_H

#include "ccm/object.h"
#include "util/attr.h"
#include "util/strmap.h"

#include <stdint.h>

struct kube_write; /* under way */

struct kube_own_writes {
    struct ccm_strmap *shown; /* struct own_write by key; the table holds an object of each */
    struct kube_write *under_way;
};

/* 0 or -ENOMEM. */
CCM_NODISCARD int kube_own_writes_init(struct kube_own_writes *own);
void kube_own_writes_fini(struct kube_own_writes *own);

/* What readers see in place of an object of the table; borrowed. */
const struct ccm_object *kube_own_writes_see(const struct kube_own_writes *own,
                                             const struct ccm_object *object);

/* A write begins; object: as the table has it. NULL on ENOMEM. */
struct kube_write *kube_own_writes_begin(struct kube_own_writes *own,
                                         const struct ccm_object *object);
/* It has ended: answer, NULL when it failed; object: as the table has it now, or NULL. span_ms: so
 * long it may hide other versions, from the first one on: a watch that hung needs that time to
 * catch up. Frees the write. */
void kube_own_writes_end(struct kube_own_writes *own, struct kube_write *write,
                         const struct ccm_object *answer, const struct ccm_object *object,
                         int64_t span_ms);

/* The table has got this object, does not have that key any more, or is a new list. */
void kube_own_writes_note(struct kube_own_writes *own, const struct ccm_object *object);
void kube_own_writes_forget(struct kube_own_writes *own, const char *key);
void kube_own_writes_clear(struct kube_own_writes *own);

/* When expire() is due: the first one that hides something ends, or has begun to hide it;
 * INT64_MAX = none does. */
int64_t kube_own_writes_due(const struct kube_own_writes *own);
/* One that has hidden another version until now or longer ends: what was written, the caller's
 * reference. NULL: there is none. */
const struct ccm_object *kube_own_writes_expire(struct kube_own_writes *own, int64_t now_ms);

#endif
