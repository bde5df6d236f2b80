/* What the parts of a pass share: ensure.c and release.c. */
#ifndef CCM_CLB_PASS_H
#define CCM_CLB_PASS_H

#include "apply.h"
#include "clb.h"
#include "service/problem.h"

struct clb_pass {
    struct clb *clb;
    const struct ccm_request *req;
    const struct ccm_service *service;
    struct clb_entry *entry; /* claimed */
    struct ccm_problems problems;
    size_t writes; /* to the cloud */
    bool hashed; /* the hash label was written: the Service is done for the first time, or again */
};

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
