/*
 * Quotas of the cloud, seen before they are used up: what usage.h counts against the limits that a
 * product's options say. From 80 % on (util/quota_use.h) the Service is told about its load
 * balancer, and the Lease about what all share; metrics and the status page have all of it. Nothing
 * is refused because of it: the cloud does that. Every thread.
 */
#ifndef CCM_LBC_QUOTA_H
#define CCM_LBC_QUOTA_H

#include "lbc/pass.h"

/* The option of a product for one quota, with its default; the words before the help, which goes on
 * with what happens. */
#define LBC_QUOTA_OPTION(word, number, what)                                                       \
    {                                                                                              \
        .struct_size = sizeof(struct ccm_option), .type = CCM_OPTION_INT,                          \
        .flags = CCM_OPTION_LIVE, .name = "quota_" word, .fallback = number, .min = 0,             \
        .max = 1000000,                                                                            \
        .help = what ", as the account allows it. From 80 % on there is a Warning (QuotaNear), "   \
                     "metrics and /statusz tell. 0 = nobody looks."                                \
    }

/* End of a pass that ensures: about its load balancer, as the mirror has it. */
void lbc_quota_emit(struct lbc_pass *pass);
/* A claim was given back: metrics, and about what all share. */
void lbc_quota_publish(struct lbc_instance *lbc);
/* As a table: what is used of each, by the object that has most or by all together. */
void lbc_quota_tell(const struct lbc_instance *lbc, const struct ccm_view_sink *sink);
/* Nothing is left of the Service. */
void lbc_quota_forget(const struct lbc_instance *lbc, const char *key);

#endif
