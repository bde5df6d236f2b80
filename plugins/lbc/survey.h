/*
 * One list of the load balancers that carry the cluster's mark, matched with the Services: for each
 * of them that asks, the state of its own load balancer. One thread at a time.
 */
#ifndef CCM_LBC_SURVEY_H
#define CCM_LBC_SURVEY_H

#include "ccm/object.h"
#include "lbc/apply/state.h"
#include "lbc/model/tags.h"
#include "util/attr.h"
#include "util/strmap.h"

#include <stdbool.h>

struct lbc_instance;
struct lbc_survey;

/* Call fn for all Services, until it returns other than 0, which is returned. -ENOMEM. */
CCM_NODISCARD int lbc_survey_services(const struct lbc_instance *lbc,
                                      int (*fn)(void *arg, const struct ccm_service *service),
                                      void *arg);

/* What a survey is to say about a Service. */
enum lbc_claim {
    LBC_CLAIM_NONE,
    LBC_CLAIM_WITNESS, /* only whether its load balancer is in the list at all */
    LBC_CLAIM_OWN,     /* the state of its load balancer */
};

/* The names of the load balancers of Services (lbc_owner_lb_name(), which is also the ownership
 * tag) that claim one, for lbc_survey_new(). NULL on ENOMEM. */
struct ccm_strmap *lbc_survey_names(struct lbc_instance *lbc,
                                    enum lbc_claim (*claim)(struct lbc_instance *lbc,
                                                            const struct ccm_service *service));

/* names: as above; of a witness the value is not NULL. NULL on ENOMEM. */
struct lbc_survey *lbc_survey_new(const struct lbc_instance *lbc, const struct ccm_strmap *names);
/* NULL is fine. */
void lbc_survey_free(struct lbc_survey *survey);

/* A load balancer in the cloud's list; it may come again. *ret: the empty state to fill; NULL when
 * no Service that claims it owns it, or it is known already. When two carry the same tag, the
 * Service gets neither, and reports it after its own lookup. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_survey_add(struct lbc_survey *survey, const char *lb_id,
                                 const struct lbc_tags *tags, struct lbc_state **ret);

/* How many Services have their own state in it when all are there. */
size_t lbc_survey_count_claims(const struct lbc_survey *survey);
/* How many of the load balancers that were added are those of its Services, witnesses included. */
size_t lbc_survey_count_known(const struct lbc_survey *survey);
/* Whether the Service's own load balancer was added, and no other one of its name. */
bool lbc_survey_has(const struct lbc_survey *survey, const struct ccm_object *service);

/* The state of a load balancer that was added, or of the Service that a resource with these tags
 * belongs to; NULL when there is none. */
struct lbc_state *lbc_survey_find(const struct lbc_survey *survey, const char *lb_id);
struct lbc_state *lbc_survey_find_owner(const struct lbc_survey *survey,
                                        const struct lbc_tags *tags);
/* All usable states, one by one: start with *cursor = NULL; NULL at the end. */
struct lbc_state *lbc_survey_next(const struct lbc_survey *survey, void **cursor);

/* Move the state of the Service's own load balancer into an empty one. False: nothing is known. */
bool lbc_survey_take(struct lbc_survey *survey, const struct ccm_service *service,
                     struct lbc_state *state);

#endif
