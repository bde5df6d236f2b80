/*
 * Which of the load balancers in an answer of the cloud is the Service's own. The cloud's filter is
 * not trusted: tags and names in the answer are compared. Pure. One thread per lookup.
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

/* How one look goes beyond what the Service shows, and what it came to. */
struct lbc_lookup_how {
    bool by_name;  /* there may be one that its tag does not lead to: look for it by name as well */
    bool any;      /* a release: of several those go that are its own beyond doubt, see `own` of the
                      lookup, one after the other */
    char *several; /* out: `ids` of the lookup when one of several was taken, or none because the
                      label names another one; heap */
    bool more;     /* out: with `any`, that one is not the last */
};

struct lbc_lookup {
    const struct ccm_object *service; /* borrowed, as is cluster_id */
    const char *cluster_id;
    bool by_name;         /* else by ownership tag */
    bool any;             /* that of struct lbc_lookup_how */
    const char *labelled; /* id that the Service's label says, NULL = none: it goes before others */
    const char *named;    /* the name that its annotation asks for, "" = none */
    bool chosen;          /* the labelled one was offered */
    size_t own;           /* that were offered and are the Service's beyond doubt: its label names
                             them, or they carry both our tags and its name */
    char name[LBC_OWNER_LB_NAME];
    bool left;               /* with `any`: one of another cluster stays */
    size_t count;            /* load balancers that can be the Service's */
    struct ccm_buf ids;      /* of these, and with `any` of those of other clusters; "a (goes),b" */
    struct ccm_buf foreign;  /* text about one that belongs to another cluster */
    struct ccm_buf stranger; /* id of one that was not asked for */
};

/* by_name: by the name of the Service's load balancer, not its tag. Once per answer, and to be
 * finished; a zeroed lookup may be finished too. */
void lbc_lookup_init(struct lbc_lookup *look, const struct ccm_object *service,
                     const char *cluster_id, bool by_name);
void lbc_lookup_fini(struct lbc_lookup *look);

/* One load balancer of an answer about the Service: where the cloud cannot filter by tag, offer
 * those that have the owner's tag `look.name` (or the name, with by_name), and no others. True: it
 * is the first that can be the Service's, or more likely so than an earlier one; read it, instead
 * of that. */
bool lbc_lookup_offer(struct lbc_lookup *look, const char *id, const char *name,
                      const struct lbc_tags *tags);

/* The end of the answer. 0: the one that was read is it, unless lbc_lookup_leaves(), or there is
 * none. CCM_ERROR_TERMINAL: -EEXIST (more than one, none of them labelled), LBC_LOOKUP_NOT_OURS
 * (another cluster's; with `any` several that neither label nor names say are the Service's).
 * CCM_ERROR_TRANSIENT: -EBADMSG, nothing in the answer was asked for, so it proves nothing. */
CCM_NODISCARD int lbc_lookup_end(const struct lbc_lookup *look, struct ccm_error *err);

/* The same, and what it came to in the out members of `how`, which `any` of the lookup has to be
 * of; also -ENOMEM. */
CCM_NODISCARD int lbc_lookup_settle(const struct lbc_lookup *look, struct lbc_lookup_how *how,
                                    struct ccm_error *err);

/* With `any`: what was found is none of those that go. The label names another one, which comes
 * first, and neither label nor name says that these are the Service's. */
bool lbc_lookup_leaves(const struct lbc_lookup *look);

/* A load balancer that was known by its id: 0 when it is the Service's, else LBC_LOOKUP_NOT_OURS
 * with a CCM_ERROR_TERMINAL that says whose it is. */
CCM_NODISCARD int lbc_lookup_check(const struct ccm_object *service, const char *cluster_id,
                                   const char *id, const char *name, const struct lbc_tags *tags,
                                   struct ccm_error *err);

/* Whether the Service shows that it had a load balancer, by its status or by labels: only then one
 * is also looked for by name. A finalizer is no proof: it is set before the first load balancer. */
bool lbc_lookup_shows_lb(const struct ccm_service *service);

#endif
