/* The domain extensions of an https listener. Zeroed = empty. One thread at a time. */
#ifndef CCM_CLB_DOMAINS_H
#define CCM_CLB_DOMAINS_H

#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>

struct clb_domain {
    char *name;
    char *cert;
    char *id; /* of the extension, present ones only */
};

struct clb_domains {
    struct clb_domain *items;
    size_t len;
    size_t cap;
};

void clb_domain_fini(struct clb_domain *domain);
void clb_domains_fini(struct clb_domains *domains);
/* Append, or replace the one of that name. id may be NULL. 0 or -ENOMEM. */
CCM_NODISCARD int clb_domains_put(struct clb_domains *domains, const char *name, const char *cert,
                                  const char *id);
void clb_domains_remove(struct clb_domains *domains, const char *name);
/* NULL when there is none. */
const struct clb_domain *clb_domains_find(const struct clb_domains *domains, const char *name);

#endif
