/*
 * Which attributes of a listener or a group have to be changed in place: those that a person asks
 * for, where they mean something for the protocol and beside the others, compared as their rows
 * say; and those that nobody asks for any more, where rows go back to the default. Pure. Every
 * thread.
 */
#ifndef CCM_LBC_COMPARE_H
#define CCM_LBC_COMPARE_H

#include "lbc/apply/state.h"
#include "util/buf.h"

/* One comparison; borrowed. */
struct lbc_compare {
    const struct lbc_anno_table *table;
    enum lbc_anno_group group;
    enum lbc_protocol protocol;
    const struct lbc_attrs *want;
    const struct lbc_attrs *have;
    /* The default where it takes more than the row, which says `value`; NULL: as the row says. */
    const char *(*fallback)(const void *arg, const struct lbc_anno *row, const char *value);
    const void *arg;
};

struct lbc_compare lbc_compare_listeners(const struct lbc_anno_table *table,
                                         const struct lbc_listener *want,
                                         const struct lbc_listener *have);

/* The value that the attribute has to be given; NULL: it is as it shall be. */
const char *lbc_compare_target(const struct lbc_compare *compare, const struct lbc_anno *row);

/*
 * Present attributes overlaid with what has to be different -> ret; the differences, for people ->
 * change, which stays empty when there are none. fresh: `have` was read just now; else only those
 * present attributes are part of it that a person asks for, since others may be old. 0 or -ENOMEM.
 */
CCM_NODISCARD int lbc_compare_overlay(const struct lbc_compare *compare, bool fresh,
                                      struct lbc_attrs *ret, struct ccm_buf *change);

/* Attributes that a new one is to be made with -> ret: those wishes that are sent (enum
 * lbc_anno_need). 0 or -ENOMEM. */
CCM_NODISCARD int lbc_compare_wishes(const struct lbc_compare *compare, struct lbc_attrs *ret);

/* Mark those of `have` (compare->have) as explicit that a person asks for, and not those that have
 * gone back to the default. */
void lbc_compare_record(const struct lbc_compare *compare, struct lbc_attrs *have);

/* Append "what from -> to" to a list of differences; from and to may be NULL: not set. */
void lbc_compare_add_change(struct ccm_buf *change, const char *what, const char *from,
                            const char *to);

#endif
