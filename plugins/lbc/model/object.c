#include "lbc/model/object.h"

#include <string.h>

bool lbc_object_has_finalizer(const struct ccm_object *object, const char *finalizer)
{
    for (uint64_t i = 0; i < object->finalizer_count; i++) {
        if (strcmp(object->finalizers[i], finalizer) == 0) {
            return true;
        }
    }
    return false;
}

bool lbc_object_has_other_finalizer(const struct ccm_object *object, const char *prefix,
                                    const char *own)
{
    const size_t len = strlen(prefix);

    for (uint64_t i = 0; i < object->finalizer_count; i++) {
        const char *one = object->finalizers[i];

        if (strncmp(one, prefix, len) == 0 && strcmp(one, own) != 0) {
            return true;
        }
    }
    return false;
}

bool lbc_object_same_annotations(const struct ccm_object *a, const struct ccm_object *b)
{
    if (a->annotation_count != b->annotation_count) {
        return false;
    }
    for (uint64_t i = 0; i < a->annotation_count; i++) {
        if (strcmp(a->annotations[i]->key, b->annotations[i]->key) != 0 ||
            strcmp(a->annotations[i]->value, b->annotations[i]->value) != 0) {
            return false;
        }
    }
    return true;
}
