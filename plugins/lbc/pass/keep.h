/*
 * A Service that works and whose annotation id cannot be used, or is gone: what serves it goes on.
 * The pass works on the load balancer that its label names (without label: annotation id), once
 * that is proven by its marks: the owner's tag, or on one of a person something of the Service. The
 * label alone proves nothing, since any editor of the Service can write it. Only backends of
 * present groups are kept in step (backends_only of struct lbc_model): the other annotations may be
 * meant for the load balancer that is asked for. The pass fails at its end with what is wrong. When
 * the labelled one does not exist any more, the one that annotation id names is adopted. Holder of
 * the claim only.
 */
#ifndef CCM_LBC_KEEP_H
#define CCM_LBC_KEEP_H

#include "lbc/pass.h"

/* The load balancer that the Service had last, by its label, or without label by annotation id if
 * it has an address; "" = none, or none of this product. */
const char *lbc_keep_find_label(const struct lbc_instance *lbc, const struct ccm_service *service);
/* The same of a Service that has an address, unless annotation id agrees with the label. */
const char *lbc_keep_find_id(const struct lbc_instance *lbc, const struct ccm_service *service);

/* Read the first of these. why: why the one that is asked for cannot be used, NULL = because it is
 * another one. 0: pass->kept says whose it is; or pass->unfinished: it does not exist, and the
 * Service moves to the one that annotation id names. Blocks. */
CCM_NODISCARD int lbc_keep_read(struct lbc_pass *pass, const struct ccm_error *why,
                                struct ccm_error *err);
/* Whether it carries the tag of another owner or cluster: then none of its parts is read. */
bool lbc_keep_is_of_others(const struct lbc_pass *pass);
/* Once its parts are read; why: the same. 0: it serves the Service, and pass->refused says what is
 * wrong; or pass->kept is NULL: nothing is, and nothing is known of the Service's own. Else
 * negative with err. */
CCM_NODISCARD int lbc_keep_prove(struct lbc_pass *pass, const struct ccm_error *why,
                                 struct ccm_error *err);
/* At the end of a pass: the next one reads, unless the claim is for what was worked on. */
void lbc_keep_end(struct lbc_pass *pass);

#endif
