/*
 * One bad member of a call affects only itself. A cloud refuses a whole batch because of one
 * backend, certificate or tag in it: it is found out which (one question about all instances, else
 * by halves, in which the good ones are added), left out, and named. Where several bad ones are
 * found in a row, one call each finds the next ones. A run looks into so many refusals; the next
 * one begins soon, does without those that were found (unknown.h), and goes on. What limits who may
 * connect is never left out: its steps do not say LBC_SIFTS. A part of executor.c. May block. One
 * thread per pass.
 */
#ifndef CCM_LBC_EXECUTOR_MEMBERS_H
#define CCM_LBC_EXECUTOR_MEMBERS_H

#include "lbc/apply/executor_parts.h"

/* Take out of backends that are to be added those that are known to be refused. *ret_count: how
 * many. 0, or negative with a problem. */
CCM_NODISCARD int lbc_members_drop(struct lbc_run *run, struct lbc_backends *set,
                                   size_t *ret_count);
/* Whether the step was refused because of one of its members, which can be left out. A run counts
 * such refusals, and gives up when there are too many. */
bool lbc_members_is_refused(struct lbc_run *run, const struct lbc_step *step,
                            const struct ccm_error *err);
/* So many bad ones were found in a row that the next one is looked for alone. */
bool lbc_members_are_dense(const struct lbc_run *run);
/* Backends of the step are not added. When the run has looked into too many refusals, err becomes
 * one that only puts the rest off; any other stays. After one that puts off, the next run does
 * without all who were refused so far. */
void lbc_members_put_off(const struct lbc_run *run, const struct lbc_step *step,
                         struct ccm_error *err);
/* The backend was refused alone: it is left out of what the Service has or, is_gone (the cloud says
 * that there is no such instance), of all Services. 0, or negative with a problem. */
CCM_NODISCARD int lbc_members_leave_out(struct lbc_run *run, const struct lbc_backend *one,
                                        bool is_gone, const struct ccm_error *err);
/* Which backends of an addition that was refused are no instances, as the cloud says; they are left
 * out from now on, and still in the set. *ret_count: how many. 0, or negative with a problem. */
CCM_NODISCARD int lbc_members_ask(struct lbc_run *run, const struct lbc_backends *set,
                                  const struct ccm_error *err, size_t *ret_count);
/* After such a refusal: send the step without the bad ones. *refusal 0: it is sent or done; else
 * what is left of it was refused for another reason, as err says. 0, or negative with a problem
 * when the run is to end. */
CCM_NODISCARD int lbc_members_sift(struct lbc_run *run, struct lbc_step *step, int *refusal,
                                   struct ccm_error *err);
/* A step about a group is done without some of its backends: what follows, and a problem where
 * nothing else is in the group. 0, or negative with a problem. */
CCM_NODISCARD int lbc_members_settle(struct lbc_run *run, const struct lbc_step *step);
/* A problem of a step that is not done because of who was left out. Returns as lbc_run_fail(). */
CCM_NODISCARD int lbc_members_fail(struct lbc_run *run, const struct lbc_step *step);

#endif
