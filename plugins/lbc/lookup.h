/*
 * The look for a Service's own load balancer: which of those that the cloud answers with are the
 * Service's. The cloud's filter is not believed, tags and names in the answer are compared. Pure.
 * One thread per look.
 */
#ifndef CCM_LBC_LOOKUP_H
#define CCM_LBC_LOOKUP_H

#include "ccm/error.h"
#include "ccm/object.h"
#include "lbc/model/owner.h"
#include "util/attr.h"
#include "util/buf.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* What was found is not the Service's; nothing else returns this. */
#define LBC_LOOKUP_NOT_OURS (-EOWNERDEAD)

struct lbc_lookup {
    const struct ccm_object *service;
    const char *cluster_id;
    bool by_name; /* else by ownership tag */
    char name[LBC_OWNER_LB_NAME];
    size_t count; /* load balancers that can be the Service's */
    struct ccm_buf ids;
    struct ccm_buf foreign;  /* text about one that another cluster has */
    struct ccm_buf stranger; /* id of one that was not asked for */
};

/* service and cluster_id are borrowed. */
void lbc_lookup_init(struct lbc_lookup *look, const struct ccm_object *service,
                     const char *cluster_id, bool by_name);
void lbc_lookup_fini(struct lbc_lookup *look);

/* One of the answer. True: it is the first that can be the Service's, the caller takes it. */
bool lbc_lookup_offer(struct lbc_lookup *look, const char *id, const char *name,
                      const struct lbc_tags *tags);

/*
 * The end of the answer. 0: what was taken is it, or there is none. -EEXIST (more than one),
 * LBC_LOOKUP_NOT_OURS (it is another cluster's): a CCM_ERROR_TERMINAL. -EBADMSG, a
 * CCM_ERROR_TRANSIENT: all that was answered was not asked for, so the answer says nothing.
 */
CCM_NODISCARD int lbc_lookup_end(const struct lbc_lookup *look, struct ccm_error *err);

/* One that was known before, by its id: 0 when it is the Service's, else LBC_LOOKUP_NOT_OURS with a
 * CCM_ERROR_TERMINAL that says whose it is. */
CCM_NODISCARD int lbc_lookup_check(const struct ccm_object *service, const char *cluster_id,
                                   const char *id, const char *name, const struct lbc_tags *tags,
                                   struct ccm_error *err);

/* Whether the Service shows that it had a load balancer: only then one is looked for by name. */
bool lbc_lookup_by_name_too(const struct ccm_service *service);

#endif
