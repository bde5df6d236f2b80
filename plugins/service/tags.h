/* Tags of a cloud resource, and lists of texts. One thread at a time per struct. */
#ifndef CCM_SERVICE_TAGS_H
#define CCM_SERVICE_TAGS_H

#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>

struct ccm_tag {
    char *key;
    char *value;
};

/* Sorted by key, each key once. */
struct ccm_tags {
    struct ccm_tag *items;
    size_t len;
    size_t cap;
};

/* Insert or replace. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_tags_put(struct ccm_tags *tags, const char *key, const char *value);
void ccm_tags_remove(struct ccm_tags *tags, const char *key);
/* The value, or NULL when there is no such key. */
const char *ccm_tags_get(const struct ccm_tags *tags, const char *key);
/* Replace `to` by a copy of `from`. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_tags_copy(struct ccm_tags *to, const struct ccm_tags *from);
void ccm_tags_fini(struct ccm_tags *tags);

/* A set of texts, sorted, each once. */
struct ccm_texts {
    char **items;
    size_t len;
    size_t cap;
};

/* 0 or -ENOMEM. */
CCM_NODISCARD int ccm_texts_put(struct ccm_texts *texts, const char *text);
void ccm_texts_remove(struct ccm_texts *texts, const char *text);
bool ccm_texts_has(const struct ccm_texts *texts, const char *text);
bool ccm_texts_equal(const struct ccm_texts *a, const struct ccm_texts *b);
/* Put the items of a comma list, empty ones left out. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_texts_split(struct ccm_texts *texts, const char *list);
CCM_NODISCARD int ccm_texts_copy(struct ccm_texts *to, const struct ccm_texts *from);
void ccm_texts_fini(struct ccm_texts *texts);

/* Replace a heap text by a copy; NULL or "" clears it. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_text_set(char **text, const char *value);

#endif
