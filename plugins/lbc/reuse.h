/*
 * Whether the load balancer that annotation id names may be used, and how far: not one that a
 * controller made, not in exchange for another one, not one whose network differs from what the
 * Service asks for, and not one that the operator keeps from the namespace (lbc_opt_reuse: with
 * "tagged", its owner says by tags which namespaces may serve ports on it, and which of those may
 * also change what a person made there). Every thread.
 */
#ifndef CCM_LBC_REUSE_H
#define CCM_LBC_REUSE_H

#include "lbc/names.h"
#include "lbc/pass.h"

/* Values of the option. */
enum lbc_reuse { LBC_REUSE_ON, LBC_REUSE_TAGGED, LBC_REUSE_OFF };

enum lbc_reuse lbc_reuse_parse(const char *text);

/* Without a call: refuse (-EPERM, CCM_ERROR_TERMINAL) when the Service names a load balancer and
 * the option is off. */
CCM_NODISCARD int lbc_reuse_check_option(const struct lbc_pass *pass, struct ccm_error *err);

/* Whether the namespace may serve ports there at all, as the operator and the owner have it now. */
bool lbc_reuse_may_use(const struct lbc_pass *pass, const struct lbc_tags *tags);
/* Whether annotations may change what a person made there: attributes, tags, listeners, server
 * groups. */
bool lbc_reuse_may_configure(const struct lbc_pass *pass, const struct lbc_tags *tags);
/* The remedy where they may not, for messages: a format with tag_configure of struct lbc_names. */
#define LBC_REUSE_CONFIGURE_REMEDY                                                                 \
    "option reuse is tagged, and the load balancer's tag %s does not name this namespace"
/* Advise about annotations of the load balancer itself that are left aside, unless `may`. */
void lbc_reuse_emit_kept(struct lbc_pass *pass, bool may);

/* Of the additional tags only those are ours to set that nobody else has set: take the others out
 * of `wanted`, and say so. What we set is known as long as the process lives; after a restart a
 * present tag is somebody else's. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_reuse_own_tags(struct lbc_pass *pass, struct lbc_tags *wanted,
                                     const struct lbc_tags *present);

/* Whether the load balancer, which was read, is a person's that the namespace may use. Refuses as
 * above. It carries the tag of a controller, or of the API server's, or it lacks the one that lets
 * the namespace in. */
CCM_NODISCARD int lbc_reuse_check_tags(const struct lbc_pass *pass, struct ccm_error *err);
/* Read the load balancer that annotation id names, and check the same, and in a release that it
 * fits; the mirror stays as it is. Blocks. 0 or negative with err, CCM_ERROR_TERMINAL when it does
 * not exist. */
CCM_NODISCARD int lbc_reuse_check_asked(struct lbc_pass *pass, const char *id,
                                        struct ccm_error *err);
/* Refuse, since the Service has the one that its label names; remedy: "do this, or ", or "". Always
 * -EPERM with err. */
int lbc_reuse_refuse_label(const char *lb_id, const char *label, const char *remedy,
                           struct ccm_error *err);
/* Whether the load balancer, which was read, may be used, by its tags, the Service's status and its
 * label. Refuses as above. Blocks when it has to look for one that we made. */
CCM_NODISCARD int lbc_reuse_check(struct lbc_pass *pass, struct ccm_error *err);
/* 1 << number of each. */
unsigned lbc_reuse_compared(const struct lbc_fixed_attr *fixed);
/* Whether it is what the Service needs, by `fixed` and needs_vpc() of struct lbc_model_ops. Refuses
 * as above; but a Service that is served there already goes on being served: 0, a problem, and
 * model->mismatch. */
CCM_NODISCARD int lbc_reuse_check_match(struct lbc_pass *pass, struct ccm_error *err);
/* Event NoListener: ports that no listener of somebody else's load balancer serves, where listeners
 * are not ours to manage; or that this is over. Nothing while they are not known. */
void lbc_reuse_emit_unserved(struct lbc_pass *pass);
/* *ret: something of the Service is there, which only a controller can have put there. 0 or
 * -ENOMEM. */
CCM_NODISCARD int lbc_reuse_find_served(const struct lbc_pass *pass, bool *ret);

#endif
