#include "lbc/model/slice.h"

#include "lbc/model/endpoint.h"

#include <string.h>

void lbc_slice_split(const struct ccm_change *change, lbc_slice_fn fn, void *arg)
{
    const struct ccm_endpoint_slice *before = (const struct ccm_endpoint_slice *)change->before;
    const struct ccm_endpoint_slice *after = (const struct ccm_endpoint_slice *)change->after;
    struct ccm_change own = *change;

    if (before != NULL && after != NULL && strcmp(before->service_name, after->service_name) == 0) {
        if (lbc_endpoints_differ(before, after)) {
            fn(arg, change, after);
        }
        return;
    }
    /* It goes from one Service, and comes to another. */
    if (before != NULL) {
        own.after = NULL;
        own.type = CCM_CHANGE_DELETED;
        fn(arg, &own, before);
    }
    if (after != NULL) {
        own = *change;
        own.before = NULL;
        own.type = CCM_CHANGE_ADDED;
        fn(arg, &own, after);
    }
}

void lbc_slice_record_as(struct lbc_absence *absence, const struct ccm_change *change,
                         const struct ccm_object *owner,
                         bool (*is_ours)(const void *arg, const struct ccm_service *service),
                         const void *arg)
{
    struct ccm_endpoint_slice copies[2];
    struct ccm_change own = *change;
    const struct ccm_object **sides[] = { &own.before, &own.after };

    for (size_t i = 0; i < CCM_ARRAY_LEN(sides); i++) {
        if (*sides[i] != NULL) {
            const size_t size = (size_t)(*sides[i])->struct_size;

            memset(&copies[i], 0, sizeof(copies[i]));
            memcpy(&copies[i], *sides[i], size < sizeof(copies[i]) ? size : sizeof(copies[i]));
            copies[i].meta.namespace_ = owner->namespace_;
            copies[i].service_name = owner->name;
            *sides[i] = &copies[i].meta;
        }
    }
    lbc_absence_record_slice(absence, &own, is_ours, arg);
}
