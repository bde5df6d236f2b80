/*
 * The parts of a pass that ensures, in the order in which lbc_pass_ensure() calls them. Each
 * returns 0, or negative with err; pass->unfinished ends the pass without a failure. They block.
 */
#ifndef CCM_LBC_ENSURE_H
#define CCM_LBC_ENSURE_H

#include "lbc/pass.h"
#include "lbc/pass/change.h"

#include "util/buf.h"
#include "util/cleanup.h"

/* --- manifest.c --- */

/* What of the Service cannot be used: into pass->refused. Negative: it was
 * reported, and nothing else is done. Does not block. */
CCM_NODISCARD int lbc_manifest_check(struct lbc_pass *pass, struct ccm_error *err);

/* --- sync.c: failures of single ports go to pass->problems --- */

/* The model without backends, and what the cloud has. known: of a load balancer that is missing. */
CCM_NODISCARD int lbc_sync_read(struct lbc_pass *pass, struct lbc_lost_known *known,
                                struct ccm_error *err);
/* Whether a missing load balancer may be created. */
CCM_NODISCARD int lbc_sync_check_create(struct lbc_pass *pass, struct lbc_lost_known *known,
                                        struct ccm_error *err);
/* Nothing that could be served was worked out: there is a problem for each port. Then no load
 * balancer is created, and one that is there, but never served the Service, is not touched. */
bool lbc_sync_is_hopeless(const struct lbc_pass *pass);
/* The backends of the model, and all else that it needs from the cloud. */
CCM_NODISCARD int lbc_sync_add_backends(struct lbc_pass *pass, struct ccm_error *err);
/* Which backends may leave (freeze_pass.h), and which ports have none. */
CCM_NODISCARD int lbc_sync_decide_leaving(struct lbc_pass *pass, struct ccm_error *err);
/* What came of the plan, r of it: what was left out, what is read again. */
CCM_NODISCARD int lbc_sync_end_apply(struct lbc_pass *pass, int r, struct ccm_error *err);

/* --- publish.c: failures were reported --- */

/* Readiness of pods, labels and status, as soon as a port is served. */
CCM_NODISCARD int lbc_publish_state(struct lbc_pass *pass, struct ccm_error *err);
/* The events of a success, or the failure of what went wrong. */
CCM_NODISCARD int lbc_publish_verdict(struct lbc_pass *pass, struct ccm_error *err);
/* How the pass went, r of it, as a condition. A failure to write it is a failure of a pass that
 * went well. */
CCM_NODISCARD int lbc_publish_condition(struct lbc_pass *pass, int r, struct ccm_error *err);

#endif
