/* The API server's error answers ("Status" objects) and the list of faults a validation collects.
 * Every thread. */
#ifndef CCM_KS_STATUS_H
#define CCM_KS_STATUS_H

#include "common/request.h"
#include "kind.h"
#include "util/attr.h"
#include "util/json.h"

/* Body of a Status with the given parts. reason "" and details NULL are left out. Takes details. */
cJSON *ccm_ks_status_new(unsigned code, const char *reason, cJSON *details, const char *message);

/* Answer a failure. Takes details. An empty object as details shows as {}. */
void ccm_ks_status(struct ccm_sim_reply *reply, unsigned code, const char *reason, cJSON *details,
                   const char *format, ...) CCM_PRINTF(5, 6);

/* {"name","group","kind"} as they stand in details; name NULL leaves it out. */
cJSON *ccm_ks_status_details(const char *name, const char *group, const char *kind);

/* "services" or "leases.coordination.k8s.io"; "Service" or "Lease.coordination.k8s.io". Appended.
 */
void ccm_ks_status_plural(struct ccm_buf *buf, const struct ccm_ks_kind *kind);
void ccm_ks_status_kind(struct ccm_buf *buf, const struct ccm_ks_kind *kind);

void ccm_ks_status_not_found(struct ccm_sim_reply *reply, const struct ccm_ks_kind *kind,
                             const char *name);
/* 404 for a path or kind that does not exist. */
void ccm_ks_status_no_resource(struct ccm_sim_reply *reply);
void ccm_ks_status_bad_request(struct ccm_sim_reply *reply, const char *format, ...)
    CCM_PRINTF(2, 3);
/* 409: somebody else was faster. `why` NULL = the usual text. */
void ccm_ks_status_conflict(struct ccm_sim_reply *reply, const struct ccm_ks_kind *kind,
                            const char *name, const char *why);

/* --- collected faults: a JSON list of {"reason","message","field"} --- */

void ccm_ks_fault_invalid(cJSON *faults, const char *field, const cJSON *value, const char *format,
                          ...) CCM_PRINTF(4, 5);
void ccm_ks_fault_invalid_str(cJSON *faults, const char *field, const char *value,
                              const char *format, ...) CCM_PRINTF(4, 5);
void ccm_ks_fault_required(cJSON *faults, const char *field, const char *detail);
void ccm_ks_fault_forbidden(cJSON *faults, const char *field, const char *format, ...)
    CCM_PRINTF(3, 4);
void ccm_ks_fault_duplicate(cJSON *faults, const char *field, const char *value);
void ccm_ks_fault_too_long(cJSON *faults, const char *field, const char *detail);
/* `supported` is the finished list: "\"A\", \"B\"". */
void ccm_ks_fault_unsupported(cJSON *faults, const char *field, const char *value,
                              const char *supported);

/* 422 with all faults. `kind` NULL: an options object, named by kind_name
 * ("ListOptions.meta.k8s.io"). */
void ccm_ks_status_invalid(struct ccm_sim_reply *reply, const struct ccm_ks_kind *kind,
                           const char *name, const cJSON *faults);
/* The same, from where the server knows the resource only: "leases.coordination.k8s.io". */
void ccm_ks_status_invalid_plural(struct ccm_sim_reply *reply, const struct ccm_ks_kind *kind,
                                  const char *name, const cJSON *faults);
void ccm_ks_status_invalid_options(struct ccm_sim_reply *reply, const char *options,
                                   const cJSON *faults);

#endif
