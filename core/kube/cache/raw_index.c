/* Indexes of objects without a type of their own. */
#include "kube/cache/store.h"
#include "util/raw_values.h"

void kube_index_raw(const struct kube_index *index, const struct ccm_object *object,
                    struct ccm_buf *values)
{
    if (object->kind == CCM_KIND_RAW) {
        ccm_raw_values(index->raw, object, values);
    }
}
