/* Which tables there are and what they hold. Reads of the cloud; only inside of reconcile. */
#ifndef CCM_ROUTE_READ_H
#define CCM_ROUTE_READ_H

#include "route.h"

/*
 * Make route->tables complete and valid. What is valid is not read again, but for a pass each table
 * is listed unless that was done a moment ago. Negative and err: nobody knows what some table
 * holds; what was known before is kept as invalid.
 */
CCM_NODISCARD int route_read(struct route *route, const struct ccm_request *req, bool pass,
                             struct ccm_error *err);

/* List one table into another object than that of `route`: its id is set, it holds nothing. */
CCM_NODISCARD int route_read_again(struct route *route, const struct ccm_request *req,
                                   struct route_table *table, struct ccm_error *err);

/* One page of entries into the table. *ret_token (borrowed) is "" after the last. 0 or -ENOMEM. */
CCM_NODISCARD int route_read_page(struct route_table *table, const cJSON *page,
                                  const char **ret_token);

#endif
