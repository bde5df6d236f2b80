#include "domains.h"

#include "util/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void clb_domain_fini(struct clb_domain *domain)
{
    free(domain->name);
    free(domain->cert);
    free(domain->id);
    memset(domain, 0, sizeof(*domain));
}

void clb_domains_fini(struct clb_domains *domains)
{
    for (size_t i = 0; i < domains->len; i++) {
        clb_domain_fini(&domains->items[i]);
    }
    free(domains->items);
    memset(domains, 0, sizeof(*domains));
}

const struct clb_domain *clb_domains_find(const struct clb_domains *domains, const char *name)
{
    for (size_t i = 0; i < domains->len; i++) {
        if (strcmp(domains->items[i].name, name) == 0) {
            return &domains->items[i];
        }
    }
    return NULL;
}

int clb_domains_put(struct clb_domains *domains, const char *name, const char *cert, const char *id)
{
    const struct clb_domain *present = clb_domains_find(domains, name);
    struct clb_domain fresh = { strdup(name), strdup(cert), id == NULL ? NULL : strdup(id) };

    if (fresh.name == NULL || fresh.cert == NULL || (id != NULL && fresh.id == NULL) ||
        (present == NULL && ccm_array_grow(&domains->items, &domains->cap, domains->len + 1,
                                           sizeof(*domains->items)) < 0)) {
        clb_domain_fini(&fresh);
        return -ENOMEM;
    }
    if (present == NULL) {
        domains->items[domains->len++] = fresh;
        return 0;
    }
    struct clb_domain *place = &domains->items[present - domains->items];

    clb_domain_fini(place);
    *place = fresh;
    return 0;
}

void clb_domains_remove(struct clb_domains *domains, const char *name)
{
    const struct clb_domain *present = clb_domains_find(domains, name);

    if (present == NULL) {
        return;
    }
    const size_t at = (size_t)(present - domains->items);

    clb_domain_fini(&domains->items[at]);
    domains->len--;
    memmove(&domains->items[at], &domains->items[at + 1],
            (domains->len - at) * sizeof(*domains->items));
}
