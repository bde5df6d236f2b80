/* Tags of a cloud resource, and lists of texts. One thread at a time per struct. */
#ifndef CCM_LBC_TAGS_H
#define CCM_LBC_TAGS_H

#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>

struct lbc_tag {
    char *key;
    char *value;
};

/* Sorted by key, each key once. */
struct lbc_tags {
    struct lbc_tag *items;
    size_t len;
    size_t cap;
};

/* Insert or replace. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_tags_put(struct lbc_tags *tags, const char *key, const char *value);
void lbc_tags_remove(struct lbc_tags *tags, const char *key);
/* The value, or NULL when there is no such key. */
const char *lbc_tags_get(const struct lbc_tags *tags, const char *key);
/* Put the tag into `ret` where `tags` have it with that value. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_tags_copy_equal(const struct lbc_tags *tags, const char *key,
                                      const char *value, struct lbc_tags *ret);
/* Replace `to` by a copy of `from`. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_tags_copy(struct lbc_tags *to, const struct lbc_tags *from);
void lbc_tags_fini(struct lbc_tags *tags);

/* A set of texts, sorted, each once. */
struct lbc_texts {
    char **items;
    size_t len;
    size_t cap;
};

/* 0 or -ENOMEM. */
CCM_NODISCARD int lbc_texts_put(struct lbc_texts *texts, const char *text);
void lbc_texts_remove(struct lbc_texts *texts, const char *text);
bool lbc_texts_has(const struct lbc_texts *texts, const char *text);
bool lbc_texts_equal(const struct lbc_texts *a, const struct lbc_texts *b);
/* Put the items of a comma list, empty ones left out. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_texts_split(struct lbc_texts *texts, const char *list);
CCM_NODISCARD int lbc_texts_copy(struct lbc_texts *to, const struct lbc_texts *from);
/* Put those of `from` that `without` lacks, but for one text (NULL = none). 0 or -ENOMEM. */
CCM_NODISCARD int lbc_texts_put_missing(struct lbc_texts *texts, const struct lbc_texts *from,
                                        const struct lbc_texts *without, const char *but);
void lbc_texts_fini(struct lbc_texts *texts);

/* Replace a heap text by a copy; NULL or "" clears it. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_text_set(char **text, const char *value);

#endif
