/* Label and field selectors of list, watch and deletecollection. A parsed selector is read from
 * every thread. */
#ifndef CCM_KS_SELECTOR_H
#define CCM_KS_SELECTOR_H

#include "util/attr.h"
#include "util/json.h"

#include <stdbool.h>
#include <stddef.h>

struct ccm_ks_selector;

/* A field that may be selected by, and where it stands in the object ("spec.nodeName"). */
struct ccm_ks_selectable {
    const char *label; /* NULL ends the table */
    const char *path;
    const char *absent;  /* value of an absent field; NULL = "" */
    const char *or_path; /* looked at when `path` is absent; may be NULL */
};

/*
 * Parse "a=b,c!=d,e in (x,y),f notin (x),g,!h". "" selects everything. 0, -ENOMEM, or -EINVAL with
 * the API server's message in `message`.
 */
CCM_NODISCARD int ccm_ks_selector_labels(const char *text, struct ccm_ks_selector **ret,
                                         struct ccm_buf *message);

/* Parse "metadata.name=x,spec.type!=y" with the fields of the table. Errors as above. */
CCM_NODISCARD int ccm_ks_selector_fields(const char *text, const struct ccm_ks_selectable *table,
                                         struct ccm_ks_selector **ret, struct ccm_buf *message);

void ccm_ks_selector_free(struct ccm_ks_selector *selector);
void ccm_ks_selector_freep(struct ccm_ks_selector **selector);

/* Whether it says anything. NULL is empty. */
bool ccm_ks_selector_empty(const struct ccm_ks_selector *selector);

/* NULL matches everything. `object` is the whole object. */
bool ccm_ks_selector_match(const struct ccm_ks_selector *selector, const cJSON *object);

#endif
