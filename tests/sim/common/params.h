/*
 * Named values of a request (query, form, headers): a list sorted by name, with texts of its own
 * or borrowed ones. Reading is safe from every thread while nobody changes it.
 */
#ifndef CCM_SIM_PARAMS_H
#define CCM_SIM_PARAMS_H

#include "util/attr.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Most pairs one list takes; a hostile query cannot make more. */
#define CCM_SIM_PARAMS_MAX 10000

struct ccm_sim_param {
    char *name;
    char *value; /* never NULL; in the memory block of the name */
};

/* Zeroed = empty. */
struct ccm_sim_params {
    struct ccm_sim_param *items;
    size_t len;
    size_t cap;
    bool borrowed; /* the texts are another list's: only ccm_sim_params_borrow adds here */
};

void ccm_sim_params_fini(struct ccm_sim_params *params);

/* Append copies; the order is restored by ccm_sim_params_sort. 0, -ENOMEM, -E2BIG (too many). */
CCM_NODISCARD int ccm_sim_params_add(struct ccm_sim_params *params, const char *name,
                                     const char *value);

/* Append a pair of a list that outlives this one, without a copy. Into lists that hold nothing
 * else. 0, -ENOMEM, -E2BIG. */
CCM_NODISCARD int ccm_sim_params_borrow(struct ccm_sim_params *params,
                                        const struct ccm_sim_param *pair);

/* Append what a query or form text holds ("a=1&b=x%20y", '+' is a blank). Fails with -EBADMSG on a
 * broken escape or a NUL byte, -ENOMEM, -E2BIG; what was read until then stays in the list. Not
 * sorted yet. */
CCM_NODISCARD int ccm_sim_params_parse(struct ccm_sim_params *params, const char *text, size_t len);

/* Order by byte value of the name, then of the value. Needed before ccm_sim_params_get. */
void ccm_sim_params_sort(struct ccm_sim_params *params);

/* In a sorted list: replace the value of a name or insert it in its place. 0, -ENOMEM, -E2BIG. */
CCM_NODISCARD int ccm_sim_params_set(struct ccm_sim_params *params, const char *name,
                                     const char *value);

/* In a sorted list: remove the first pair of that name, if any. */
void ccm_sim_params_del(struct ccm_sim_params *params, const char *name);

/* Value of the first pair of that name, NULL when there is none. The list must be sorted. */
const char *ccm_sim_params_get(const struct ccm_sim_params *params, const char *name);
/* The same, "" instead of NULL. */
const char *ccm_sim_params_text(const struct ccm_sim_params *params, const char *name);

/* Decode %XX (and '+' to a blank if `plus`). The caller frees *ret. 0, -EBADMSG, -ENOMEM. */
CCM_NODISCARD int ccm_sim_unescape(const char *text, size_t len, bool plus, char **ret);

/* Append text with everything but A-Z a-z 0-9 - _ . ~ as %XX. */
void ccm_sim_escape(struct ccm_buf *buf, const char *text);

#endif
