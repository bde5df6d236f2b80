/* The Lease object as leader election reads and writes it. Pure. */
#ifndef CCM_KUBE_LEASE_RECORD_H
#define CCM_KUBE_LEASE_RECORD_H

#include "ccm/error.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stdint.h>

/* What a Lease says. Zeroed = no Lease was read. */
struct kube_lease_record {
    char *json;    /* the whole object, which is sent back with another spec */
    char *holder;  /* "" = nobody */
    char *version; /* resourceVersion */
    char *uid;     /* "" = it says none */
    /* All that a candidate or leader changes, as one text: equal = nobody has renewed. */
    char *seen;
    char *acquired;      /* acquireTime, "" = none */
    int64_t duration_ms; /* 0 = it says none that makes sense */
    int64_t transitions; /* as the server counts: 32 bits, not negative */
};

/* Safe on a zeroed one; zeroes it. */
void kube_lease_record_fini(struct kube_lease_record *record);

/* 0, or negative with err (TRANSIENT) and *ret untouched. */
CCM_NODISCARD int kube_lease_record_read(const char *json, size_t len,
                                         struct kube_lease_record *ret, struct ccm_error *err);

/* The spec to be written. */
struct kube_lease_claim {
    const char *holder;
    int64_t duration_ms;
    int64_t wall_ms;
    int64_t transitions;
    const char *acquired; /* acquireTime to keep; NULL = now */
};

/* Append the object with that claim: `record` with its spec replaced, or a new Lease of that name
 * when there was none. Lack of memory shows in the buffer. */
void kube_lease_record_print(const struct kube_lease_record *record, const char *namespace_,
                             const char *name, const struct kube_lease_claim *claim,
                             struct ccm_buf *buf);

#endif
