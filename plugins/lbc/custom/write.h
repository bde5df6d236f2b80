/*
 * Writes to objects that are no Services: one patch per change, none when nothing has changed.
 * Block for the API server. The worker of the key.
 */
#ifndef CCM_LBC_CUSTOM_WRITE_H
#define CCM_LBC_CUSTOM_WRITE_H

#include "ccm/host.h"
#include "ccm/plugin.h"
#include "lbc/custom/record.h"
#include "util/json.h"

/* Who writes. */
struct lbc_custom {
    const struct ccm_host *host;
    struct lbc_custom_records *records;
};

/* Where to write. */
struct lbc_custom_place {
    const char *key; /* of the queue: what is remembered */
    const char *api_version;
    const char *resource;
    const struct ccm_object *object; /* as the caches have it */
};

/* A merge patch. versioned: only if nobody else has written the object since. What is gone:
 * CCM_ERROR_NOT_FOUND. 0 or negative with err. */
CCM_NODISCARD int lbc_custom_write_patch(const struct lbc_custom *self,
                                         const struct ccm_request *req,
                                         const struct lbc_custom_place *place,
                                         const char *subresource, const char *body, bool versioned,
                                         struct ccm_error *err);

/* Add a finalizer to those that the caches show, or take it away; only if nobody else has written
 * the object since. 0 or negative with err. */
CCM_NODISCARD int lbc_custom_write_finalizer(const struct lbc_custom *self,
                                             const struct ccm_request *req,
                                             const struct lbc_custom_place *place,
                                             const char *finalizer, bool wanted,
                                             struct ccm_error *err);

/* The status, unless `shown` is the same. NULL is out of memory; an object that is gone is success.
 */
CCM_NODISCARD int lbc_custom_write_status(const struct lbc_custom *self,
                                          const struct ccm_request *req,
                                          const struct lbc_custom_place *place, cJSON *status,
                                          const cJSON *shown, struct ccm_error *err);

#endif
