/*
 * What the products list and delete of things without Service (lbc/orphans.h): a row per kind of
 * thing. Blocks as alilb_list() and alilb_write() do.
 */
#ifndef CCM_ALILB_ORPHANS_H
#define CCM_ALILB_ORPHANS_H

#include "alilb/action.h"
#include "lbc/orphans.h"

/* One kind; they are deleted in the order of their rows. A table ends with a NULL `what`. */
struct alilb_orphan_kind {
    const char *what;
    const struct alilb_action *list; /* takes key and value of a tag, or has all when `untagged` */
    bool untagged;
    unsigned
        extras;     /* of the instance: without these bits it is never made; 0 = it always may be */
    const char *id; /* member of an item */
    const struct alilb_action *protect; /* takes id and `off` or `on`; NULL = nothing protects it */
    const char *off;
    const char *on;
    const char *shown;                 /* member of an item: `on` or true when it is protected */
    const char *shown_in;              /* the same, of that member; NULL = the member itself */
    const struct alilb_action *remove; /* takes the id */
};

/* The members of struct lbc_orphan_ops; its `kinds` is such a table. */
CCM_NODISCARD int alilb_orphans_list(struct lbc_instance *lbc, const struct ccm_request *req,
                                     struct lbc_orphan_list *to, struct ccm_error *err);
CCM_NODISCARD int alilb_orphans_remove(struct lbc_instance *lbc, const struct ccm_request *req,
                                       const struct lbc_orphan *one, struct ccm_error *err);

#endif
