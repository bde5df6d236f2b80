/*
 * Annotations of a Service that cannot be used, and what stays as it is because of them. A bad
 * value harms itself alone: what it decides about is left as it is in the cloud, everything else
 * goes on, backends above all.
 *
 * A pass calls lbc_refusals_collect(), lbc_refusals_add() for further ones, then
 * lbc_refusals_view(): the Service without those annotations, from which the desired state is
 * built. What is not set is mostly left alone; where it would go back to a default, or anything
 * else would follow, the model asks lbc_refusals_has(). Pure. One thread at a time.
 */
#ifndef CCM_LBC_REFUSAL_H
#define CCM_LBC_REFUSAL_H

#include "lbc/model/problem.h"
#include "lbc/rules/lint.h"

struct lbc_refusal {
    const struct lbc_anno *row;
    /* The Service fails because of it. Else it is only reported: the annotation has no effect here,
     * or may not mean what it says (`unclear` of the rules). */
    bool fails;
    char *text; /* of one that fails, for people; heap */
};

struct lbc_refusals {
    const struct lbc_lint_rules *rules;
    const struct ccm_service *service; /* with all its annotations */
    struct lbc_refusal *items;
    size_t len;
    size_t cap;
    unsigned decided;             /* 1 << enum lbc_anno_decides of those that fail */
    struct lbc_problems problems; /* those that fail */
    struct ccm_buf idle;          /* those without effect, for people */
    struct ccm_buf others;        /* texts of what fails without an annotation to blame */
    struct ccm_service view;      /* see lbc_refusals_view() */
    const struct ccm_pair **annotations;
};

#define LBC_REFUSALS_INIT                                                                          \
    {                                                                                              \
        .problems = LBC_PROBLEMS_INIT, .idle = { .max = 900 }, .others = {.max = 2048 }            \
    }

void lbc_refusals_fini(struct lbc_refusals *refusals);

/* All that can be found without the cloud, into an initialised struct. Borrows rules and Service. 0
 * or -ENOMEM. */
CCM_NODISCARD int lbc_refusals_collect(struct lbc_refusals *refusals,
                                       const struct lbc_lint_rules *rules,
                                       const struct ccm_service *service);

/* One more that fails: `suffix` is in the table, err says why; one that was refused before stays
 * so. NULL: no annotation is to blame, and the model finds out by itself what stays. 0 or -ENOMEM.
 */
CCM_NODISCARD int lbc_refusals_add(struct lbc_refusals *refusals, const char *suffix,
                                   const struct ccm_error *err);

/* The Service without refused annotations, but with those that the model reads port by port
 * (LBC_DECIDES_PORTS). Lives as long as `refusals` and the Service. NULL: out of memory. */
const struct ccm_service *lbc_refusals_view(struct lbc_refusals *refusals);

/* Whether the annotation is refused, failing or not. refusals NULL: none is. */
bool lbc_refusals_has(const struct lbc_refusals *refusals, const char *suffix);
/* Whether one is that fails, of this kind. */
bool lbc_refusals_decide(const struct lbc_refusals *refusals, enum lbc_anno_decides what);
/* Whether it is not known who should be a backend. pods: those are, not nodes. */
bool lbc_refusals_freeze(const struct lbc_refusals *refusals, bool pods);
/* The attributes that stay as they are: whether that of the row is one, and whether nothing new may
 * be made because it lacks it. */
bool lbc_refusals_keeps(const struct lbc_refusals *refusals, const struct lbc_anno *row);
bool lbc_refusals_fails(const struct lbc_refusals *refusals, const struct lbc_anno *row);

/* Where the messages of those that fail are more than one event holds, make the longest ones
 * shorter until all are in it: long values cut, without what they must be, then key and value
 * alone; of too many even for that the names go first. In refusal_text.c. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_refusals_shorten(struct lbc_refusals *refusals);

/* All that fail as one error: 0, or -EINVAL with a CCM_ERROR_TERMINAL. */
int lbc_refusals_sum(const struct lbc_refusals *refusals, struct ccm_error *err);

#endif
