/*
 * Which backends of a present group come, go or change, so that it becomes what is desired.
 * Several ports may have chosen one group of a person: each is asked for its own part, the first
 * port that wants a backend speaks for it, and the first port of all for what goes. Only backends
 * that carry the Service's key are changed or removed. Pure. One thread.
 */
#ifndef CCM_LBC_DIFF_H
#define CCM_LBC_DIFF_H

#include "lbc/apply/state.h"

/* What a difference goes by; borrowed. */
struct lbc_diff_rules {
    const struct lbc_state *want; /* all that is desired */
    bool keep_weights;            /* weights of present backends are left alone */
    bool peer_weights; /* the rule is not known: new ones get the largest weight of present ones */
    /* Whether the text is the key of this Service. Called with `self`. */
    bool (*owns)(void *self, const char *text);
    void *self;
};

/* Zeroed memory is an empty one. */
struct lbc_diff {
    struct lbc_backends add;
    struct lbc_backends remove;
    struct lbc_backends update; /* with the weight that they get */
    bool waits; /* the cloud still takes out one that is desired: it can be added once it is gone */
};

void lbc_diff_fini(struct lbc_diff *diff);

/* What `want`, one of rules->want, changes about the present group. 0 or -ENOMEM. The caller
 * finishes `ret`, which begins empty, in any case. */
CCM_NODISCARD int lbc_backends_diff(const struct lbc_group *want, const struct lbc_group *have,
                                    const struct lbc_diff_rules *rules, struct lbc_diff *ret);

/* Whether the port is the one that removes from its present group. */
bool lbc_diff_speaks(const struct lbc_group *want, const struct lbc_diff_rules *rules);
/* Whether a port that shares the group forbids it that backends are changed, or removed. */
bool lbc_diff_forbids(const struct lbc_group *want, const struct lbc_diff_rules *rules,
                      bool removal);
/* How many are desired by all ports that share the group. */
size_t lbc_diff_count_desired(const struct lbc_group *want, const struct lbc_diff_rules *rules);

/* How many of a present group are the Service's and serve. */
size_t lbc_diff_count_own(const struct lbc_group *have, const struct lbc_diff_rules *rules);
/* The same as a list -> ret. *ret_foreign: there are others' as well. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_diff_list_own(const struct lbc_group *have,
                                    const struct lbc_diff_rules *rules, struct lbc_backends *ret,
                                    bool *ret_foreign);

#endif
