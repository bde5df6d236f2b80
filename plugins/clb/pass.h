/* What the parts of a pass share: ensure.c and release.c. */
#ifndef CCM_CLB_PASS_H
#define CCM_CLB_PASS_H

#include "apply.h"
#include "clb.h"
#include "service/hash.h"
#include "service/problem.h"
#include "service/readiness.h"

struct clb_pass {
    struct clb *clb;
    const struct ccm_request *req;
    const struct ccm_service *service;
    struct clb_entry *entry; /* claimed */
    struct ccm_problems problems;
    struct ccm_readiness readiness; /* of pods that are not ready yet */
    struct ccm_buf invalid;         /* addresses without interface, "a,b" */
    uint64_t requeue_ms;            /* out; 0 = no need to come again */
    size_t writes;                  /* to the cloud */
    char hash[CCM_HASH_TEXT];       /* of the Service as it is; of a pass that ensures */
    bool audit;                     /* a second look, see audit.h */
    bool known;  /* the hash label says the same: it was once complete with this specification */
    bool hashed; /* the hash label was written: the Service is done for the first time, or again */
};

/* Whether the load balancer that annotation `id` names may be used: not one that a controller made,
 * and not in exchange for another one. Reads from the cloud in a rare case. 0, or -EPERM with a
 * CCM_ERROR_TERMINAL. */
CCM_NODISCARD int clb_check_reuse(struct clb_pass *pass, const struct clb_model *model,
                                  struct clb_call *call, struct ccm_error *err);

/* Make the cloud match, then finalizer, labels and status. 0 or negative. */
CCM_NODISCARD int clb_ensure(struct clb_pass *pass, struct ccm_error *err);
/* Take everything away again. */
CCM_NODISCARD int clb_release(struct clb_pass *pass, struct ccm_error *err);

/* "Error {doing} load balancer [{id}]: {what}" as a Warning event, if that is news. Returns r. */
int clb_pass_fail(struct clb_pass *pass, const char *reason, const char *what, int r,
                  struct ccm_error *err);
/* The same for the collected problems; -EIO with the sum in err. */
int clb_pass_fail_all(struct clb_pass *pass, const char *reason, const char *what,
                      struct ccm_error *err);
/* An event, if it is news on its topic. */
void clb_pass_say(struct clb_pass *pass, bool warning, const char *topic, const char *reason,
                  const char *text);
/* Id of the load balancer as far as it is known; "" else. */
const char *clb_pass_lb_id(const struct clb_pass *pass);
/* A call struct for this pass. */
struct clb_call clb_pass_call(const struct clb_pass *pass, enum ccm_ali_priority priority);

#endif
