/*
 * The rule of freeze.h in a pass: which backends leave only because of nodes or slices that are not
 * there, what happens to them, and who is told.
 *
 *     CCM_CLEANUP(ccm_freeze_fini) struct ccm_freeze freeze = { 0 };
 *
 *     ccm_freeze_begin(&freeze, pass, &model->nodes);
 *     ... for each group, with the backends that the plan would remove:
 *     r = ccm_freeze_add(&freeze, &group);
 *     ... and at last, before the plan is made:
 *     r = ccm_freeze_end(&freeze, err);
 *
 * What is frozen is put into the desired backends with `kept` set: it keeps its place and weight.
 * The pass comes again by itself when more may go. One thread.
 */
#ifndef CCM_SERVICE_FREEZE_PASS_H
#define CCM_SERVICE_FREEZE_PASS_H

#include "service/absence.h"
#include "service/candidate.h"
#include "service/freeze.h"
#include "service/pass.h"

struct ccm_freeze {
    struct ccm_pass *pass;
    const struct ccm_node_table *nodes;
    enum ccm_backend_mode mode;
    struct ccm_removal_rule rule;
    struct ccm_strmap *by_server; /* nodes by instance and by address; made when it is needed */
    struct ccm_freeze_group *groups;
    size_t len;
    size_t cap;
    int64_t again_ms; /* monotonic; CCM_REMOVAL_NEVER */
};

/* nodes: of the model. */
void ccm_freeze_begin(struct ccm_freeze *freeze, struct ccm_pass *pass,
                      const struct ccm_node_table *nodes);
/* `group->leaving` is emptied, also on failure. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_freeze_add(struct ccm_freeze *freeze, struct ccm_freeze_group *group);
/* May block (one call, where the cloud is asked). A failure to ask freezes. 0, or -ENOMEM with
 * err. */
CCM_NODISCARD int ccm_freeze_end(struct ccm_freeze *freeze, struct ccm_error *err);
void ccm_freeze_fini(struct ccm_freeze *freeze);

/* The Service is gone, or its load balancer: nothing of it is held any more. */
void ccm_freeze_forget(struct ccm_lbc *lbc, const char *key);

/* allow_removals() of the plugin: everything that is held goes. Returns for how long, in ms. */
int64_t ccm_freeze_release(struct ccm_lbc *lbc);

#endif
