#include "lbc/model/object.h"

#include <string.h>

static const char *pair_find(const struct ccm_pair *const *pairs, uint64_t count, const char *key)
{
    uint64_t low = 0;
    uint64_t high = count;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const int order = strcmp(pairs[middle]->key, key);

        if (order == 0) {
            return pairs[middle]->value;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

const char *lbc_object_label(const struct ccm_object *object, const char *key)
{
    return pair_find(object->labels, object->label_count, key);
}

const char *lbc_object_annotation(const struct ccm_object *object, const char *key)
{
    return pair_find(object->annotations, object->annotation_count, key);
}

bool lbc_object_has_finalizer(const struct ccm_object *object, const char *finalizer)
{
    for (uint64_t i = 0; i < object->finalizer_count; i++) {
        if (strcmp(object->finalizers[i], finalizer) == 0) {
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
