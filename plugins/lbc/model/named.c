#include "lbc/model/named.h"

#include <stdlib.h>
#include <string.h>

void lbc_named_fini(struct lbc_named *named)
{
    ccm_strmap_free(named->seen);
    for (size_t i = 0; i < named->kinds; i++) {
        ccm_buf_fini(&named->kind[i].names);
    }
    memset(named, 0, sizeof(*named));
}

void lbc_named_free(struct lbc_named *named)
{
    if (named != NULL) {
        lbc_named_fini(named);
        free(named);
    }
}

static struct lbc_named_kind *named_find_kind(struct lbc_named *named, const char *words)
{
    for (size_t i = 0; i < named->kinds; i++) {
        if (strcmp(named->kind[i].words, words) == 0) {
            return &named->kind[i];
        }
    }
    if (named->kinds == LBC_NAMED_KINDS) {
        return NULL;
    }
    named->kind[named->kinds] = (struct lbc_named_kind){ .words = words, .names = { .max = 400 } };
    return &named->kind[named->kinds++];
}

void lbc_named_add(struct lbc_named *named, const char *words, const char *name)
{
    if (named->seen == NULL) {
        named->seen = ccm_strmap_new(NULL);
    }
    if (words == NULL || named->seen == NULL || ccm_strmap_has(named->seen, name) ||
        ccm_strmap_set(named->seen, name, NULL) < 0) {
        return;
    }
    struct lbc_named_kind *kind = named_find_kind(named, words);

    named->count++;
    if (kind != NULL && kind->count++ < LBC_NAMED_FIRST) {
        ccm_buf_addf(&kind->names, "%s%s", kind->count == 1 ? "" : ", ", name);
    }
}

void lbc_named_format(const struct lbc_named *named, const char *between, struct ccm_buf *text)
{
    for (size_t i = 0; i < named->kinds; i++) {
        const struct lbc_named_kind *kind = &named->kind[i];

        ccm_buf_addf(text, "%s%s %s", i == 0 ? "" : between, kind->words,
                     ccm_buf_str(&kind->names));
        if (kind->count > LBC_NAMED_FIRST) {
            ccm_buf_addf(text, " and %zu more", kind->count - LBC_NAMED_FIRST);
        }
    }
}
