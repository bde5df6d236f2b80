/*
 * Changes of EndpointSlices for those whose backends are not those of one Service of their own.
 * Every thread; nothing blocks.
 */
#ifndef CCM_LBC_SLICE_H
#define CCM_LBC_SLICE_H

#include "ccm/plugin.h"
#include "lbc/model/absence.h"

/* What a change does to the slices of one Service, which `slice` names; it comes or goes where one
 * side of `change` is NULL. */
typedef void (*lbc_slice_fn)(void *arg, const struct ccm_change *change,
                             const struct ccm_endpoint_slice *slice);

/* Call `fn` for each Service that a change is about: two when a slice moves from one to another,
 * none when nothing of it is of interest. */
void lbc_slice_split(const struct ccm_change *change, lbc_slice_fn fn, void *arg);

/* As lbc_absence_record_slice(), as if the slice were one of that object, by whose key the engine
 * knows it. */
void lbc_slice_record_as(struct lbc_absence *absence, const struct ccm_change *change,
                         const struct ccm_object *owner,
                         bool (*is_ours)(const void *arg, const struct ccm_service *service),
                         const void *arg);

#endif
