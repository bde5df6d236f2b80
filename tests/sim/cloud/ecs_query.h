/* What the lists of ECS, and some of VPC, have in common: ways to name and filter what they hold.
 * With the cloud's lock held. */
#ifndef CCM_CLOUD_ECS_QUERY_H
#define CCM_CLOUD_ECS_QUERY_H

#include "cloud.h"

/* Rows for pages; sizes outside are moved inside. */
#define CCM_CLOUD_ECS_PAGE_ROWS                                                                    \
    { .name = "MaxResults", .type = CCM_CLOUD_INT }, { .name = "NextToken" },                      \
        { .name = "PageNumber", .type = CCM_CLOUD_INT, .min = 1, .max = INT32_MAX },               \
    {                                                                                              \
        .name = "PageSize", .type = CCM_CLOUD_INT, .min = 1, .max = 100                            \
    }

/* A parameter that is JSON text of a list of at most 100 texts, as sorted
 * names. *ret_given: it is there at all. 0, -EPROTO, -ENOMEM. */
CCM_NODISCARD int ccm_cloud_texts_read(struct ccm_cloud_call *call, const char *name,
                                       struct ccm_sim_params *ret, bool *ret_given);

/* Whether an attribute (`usual` where it is not set) equals a parameter that is
 * given; the parameter may have '*' for any text. */
bool ccm_cloud_attr_fits(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *obj,
                         const char *param, const char *attr, const char *usual);

/* Whether a value of the list equals the text. */
bool ccm_cloud_values_have(const struct ccm_sim_params *list, const char *text);

/* Filter.N: "NAMEStartTime" and "NAMEEndTime" with a time, NAME as in `names`,
 * and the attribute of each. The list of names ends with a NULL name. */
struct ccm_cloud_period {
    const char *name; /* "Creation" */
    const char *attr; /* "CreationTime" */
    const char *usual;
};

/* Check that Filter.N are of this form. 0 or -EPROTO. */
CCM_NODISCARD int ccm_cloud_periods_check(struct ccm_cloud_call *call,
                                          const struct ccm_cloud_period *names);
/* Whether the object's times lie inside. */
bool ccm_cloud_periods_fit(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *obj,
                           const struct ccm_cloud_period *names);

/* Resources that a call names by id or address, in order of creation, each
 * once. Zeroed = none. */
struct ccm_cloud_named {
    const struct ccm_cloud_obj **items;
    size_t len;
};

void ccm_cloud_named_fini(struct ccm_cloud_named *named);

/* values: the names are in the values of the list, else in its names. The map's
 * values begin with their object. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_named_read(const struct ccm_strmap *map,
                                       const struct ccm_sim_params *list, bool values,
                                       struct ccm_cloud_named *ret);

/* {"outer":{"inner":[text]}}, without text an empty list. */
void ccm_cloud_wrapped_write(struct ccm_jsonw *w, const char *outer, const char *inner,
                             const char *text);

/* "OperationLocks" of a resource; reason "": it is not locked. */
void ccm_cloud_locks_write(struct ccm_jsonw *w, const char *reason);

/* Lists of addresses of an interface. full: as the interface itself is
 * described, not its instance. */
void ccm_cloud_eni_ips_write(struct ccm_jsonw *w, const struct ccm_cloud_eni *eni, bool full);

#endif
