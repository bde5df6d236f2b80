/*
 * Attributes of the load balancer itself: LBC_LB_TEXTS texts, each at the number of its row
 * (annotation.h: `id` - 1), in the spelling of attrs.h; NULL = not known, or not asked for. Rows
 * with LBC_ATTR_OWN have no text. Pure. One thread at a time per load balancer.
 */
#ifndef CCM_LBC_LB_ATTRS_H
#define CCM_LBC_LB_ATTRS_H

#include "lbc/model/annotation.h"
#include "lbc/rules/refusal.h"
#include "util/attr.h"
#include "util/json.h"

/* The number of the name, in all products. */
#define LBC_LB_NAME  0
#define LBC_LB_TEXTS 16

/* NULL: there is none. */
const struct lbc_anno *lbc_lb_row(const struct lbc_anno_table *table, unsigned number);

/* How the cloud calls it. */
const char *lbc_lb_name(const struct lbc_anno *row);

/* NULL as well when the row has no text. */
const char *lbc_lb_get(const struct lbc_anno *row, char *const *texts);
/* "" is a value where an empty annotation means something, else it clears, as NULL does. Nothing
 * when the row has no text. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_lb_set(const struct lbc_anno *row, char **texts, const char *value);

/* What annotations ask for -> texts, and 1 << number of each -> *explicit. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_lb_add_wishes(const struct lbc_anno_table *table,
                                    const struct ccm_service *service, char **texts,
                                    unsigned *explicit);
/* The defaults that creation asks for, where there is no text. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_lb_add_defaults(const struct lbc_anno_table *table, char **texts);
/* What the attribute goes back to when nobody asks for a value any more; NULL: it stays. */
const char *lbc_lb_fallback(const struct lbc_anno *row);
/* 1 << number of those that a release switches off. */
unsigned lbc_lb_protections(const struct lbc_anno_table *table);
/* 1 << number of those whose annotation cannot be used. */
unsigned lbc_lb_refused(const struct lbc_anno_table *table, const struct lbc_refusals *refused);

/* Replace all by those of an answer. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_lb_parse(const struct lbc_anno_table *table, const cJSON *json, char **texts);

#endif
