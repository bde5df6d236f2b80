/*
 * Names by what is said of them, the first few of each: "nodes NotReady a, b and 3 more; nodes
 * deleted c". Zeroed memory is an empty list. Without memory a name less is told. Pure; one thread.
 */
#ifndef CCM_LBC_NAMED_H
#define CCM_LBC_NAMED_H

#include "util/buf.h"
#include "util/strmap.h"

#include <stddef.h>

#define LBC_NAMED_KINDS 10
#define LBC_NAMED_FIRST 5 /* that are told of a kind */

struct lbc_named {
    struct ccm_strmap *seen; /* names */
    size_t count;            /* of all of them */
    size_t kinds;
    struct lbc_named_kind {
        const char *words;
        size_t count;
        struct ccm_buf names;
    } kind[LBC_NAMED_KINDS];
};

/* Each name once, with the first words it comes with, which outlive the list; NULL = nothing. */
void lbc_named_add(struct lbc_named *named, const char *words, const char *name);
/* All kinds, `between` them. */
void lbc_named_format(const struct lbc_named *named, const char *between, struct ccm_buf *text);
/* Leaves it empty. */
void lbc_named_fini(struct lbc_named *named);
/* The same of one from the heap; NULL is fine. */
void lbc_named_free(struct lbc_named *named);

#endif
