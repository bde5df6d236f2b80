/*
 * Servers that the cloud refused as backends. One that it does not know is not added to any load
 * balancer for some time, one that does not fit is not added for that Service; the time doubles
 * with each refusal. Every thread; a leaf lock.
 */
#ifndef CCM_LBC_UNKNOWN_H
#define CCM_LBC_UNKNOWN_H

#include "ccm/host.h"
#include "lbc/model/backend.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stdint.h>

struct lbc_unknown;

/* host (for its clock) is borrowed. NULL on ENOMEM. */
struct lbc_unknown *lbc_unknown_new(const struct ccm_host *host);
/* NULL is fine. */
void lbc_unknown_free(struct lbc_unknown *unknown);

/* The cloud has just refused it, whatever its port, for that Service (its key) or, "", for all: ms
 * until it is added again. Out of memory it is forgotten. */
uint64_t lbc_unknown_record(struct lbc_unknown *unknown, const struct lbc_backend *one,
                            const char *service, const struct ccm_error *why);
/* The same of one that was refused before, with the refusal; 0 = it is to be added. is_late: it
 * waits a little longer than that, because others come first that were never refused. */
uint64_t lbc_unknown_find(struct lbc_unknown *unknown, const struct lbc_backend *one,
                          const char *service, bool is_late, struct ccm_error *ret_why);
/* All of them are to be added. */
void lbc_unknown_forget(struct lbc_unknown *unknown);

#define LBC_LEFT_OUT_REASONS 4

/* What a pass does without, by the code of the refusal. Zeroed: nothing. */
struct lbc_left_out {
    struct ccm_buf names; /* of all, for people; "" = there are none. The caller's to fill */
    struct lbc_left_out_part {
        struct lbc_backends backends; /* of port 0, each server once */
        struct ccm_error why;         /* the last one */
    } parts[LBC_LEFT_OUT_REASONS];
    size_t len;
    uint64_t again_ms; /* until the first of them is added again; 0 = none is */
};

void lbc_left_out_fini(struct lbc_left_out *left_out);
/* Add a server, whatever its port; again_ms 0 = it is not added again. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_left_out_add(struct lbc_left_out *left_out, const struct lbc_backend *one,
                                   uint64_t again_ms, const struct ccm_error *why);
bool lbc_left_out_has(const struct lbc_left_out *left_out, const struct lbc_backend *one);

#endif
