/*
 * Whether the load balancer that an annotation names may be used, and how far: not one that a
 * controller made, not in exchange for another one, not one that the operator keeps from the
 * namespace, and not one whose network is another than the Service asks for. Every thread.
 *
 * What a namespace may do with a load balancer that a person made is the operator's decision, see
 * lbc_opt_reuse: with "tagged" the person who owns it says by tags which namespaces may serve
 * ports on it, and which of those may also change what that person made.
 */
#ifndef CCM_LBC_REUSE_H
#define CCM_LBC_REUSE_H

#include "lbc/pass.h"

/* Tags of a load balancer: namespaces, separated by commas, or "*". Only their owner sets them. */
#define LBC_REUSE_TAG_USE       LBC_TAG_TENANTS "allow-namespaces"
#define LBC_REUSE_TAG_CONFIGURE LBC_TAG_TENANTS "allow-configuration"

/* Values of the option. */
enum lbc_reuse { LBC_REUSE_ON, LBC_REUSE_TAGGED, LBC_REUSE_OFF };

enum lbc_reuse lbc_reuse_parse(const char *text);

/* "alicloud: the loadbalancer {id} can not be reused, {reason}": -EPERM, a CCM_ERROR_TERMINAL. */
int lbc_reuse_refuse(const char *lb_id, const char *reason, struct ccm_error *err);

/* What can be said without the cloud: 0, or lbc_reuse_refuse() where the option is off and the
 * Service names a load balancer. */
CCM_NODISCARD int lbc_reuse_check_option(const struct lbc_pass *pass, struct ccm_error *err);

/* Whether annotations may change what a person made on it: its attributes and tags, listeners that
 * are there, server groups. */
bool lbc_reuse_may_configure(const struct lbc_pass *pass, const struct lbc_tags *tags);
/* The remedy where they may not; for messages. */
#define LBC_REUSE_CONFIGURE_REMEDY                                                                 \
    "option reuse is tagged, and the load balancer's tag " LBC_REUSE_TAG_CONFIGURE                 \
    " does not name this namespace"
/* Annotations about the load balancer itself that are left aside, unless `may`. */
void lbc_reuse_emit_kept(struct lbc_pass *pass, bool may);

/*
 * Of the additional tags only those are ours to set that nobody else has set: the others are taken
 * out of `wanted`, and told. What we set is known as long as the process lives; after a restart a
 * tag that is there is somebody else's. 0 or -ENOMEM.
 */
CCM_NODISCARD int lbc_reuse_own_tags(struct lbc_pass *pass, struct lbc_tags *wanted,
                                     const struct lbc_tags *present);
/* After the writes: those of `wanted` that are there are ours. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_reuse_record_tags(struct lbc_entry *entry, const struct lbc_tags *wanted,
                                        const struct lbc_tags *present);

/*
 * Whether somebody else's load balancer that was read may be used: 0 or lbc_reuse_refuse(). Not one
 * that a controller made or that the operator keeps from the namespace, by its tags; not another
 * one than the status shows, nor in exchange for one of our own, which is looked for then. Blocks
 * in that case.
 */
CCM_NODISCARD int lbc_reuse_check(struct lbc_pass *pass, struct ccm_error *err);
/*
 * Whether it is what the Service needs, by lbc_model_ops.list_facts(): 0 or lbc_reuse_refuse(). A
 * Service that is served there already goes on being served: 0 then, a problem, and
 * model->mismatch.
 */
CCM_NODISCARD int lbc_reuse_check_match(struct lbc_pass *pass, struct ccm_error *err);
/* *ret: something of the Service is there; only a controller can have put it there. 0 or -ENOMEM.
 */
CCM_NODISCARD int lbc_reuse_find_served(const struct lbc_pass *pass, bool *ret);

#endif
