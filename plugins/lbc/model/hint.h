/*
 * Annotations that do nothing, or not what they seem to, as data: one Warning event per Service,
 * and findings of lint. Nothing fails because of them. Pure. Every thread.
 */
#ifndef CCM_LBC_HINT_H
#define CCM_LBC_HINT_H

#include "ccm/object.h"
#include "ccm/option.h"
#include "lbc/model/annotation.h"
#include "util/buf.h"

#include <stdbool.h>

/* One row; a table ends with a NULL key. "{name}" stands for a member of struct lbc_names:
 * backend_type, nodes, pods, tag_owner, tag_cluster, tag_reuse, tag_tenants. */
struct lbc_hint {
    /* Suffix of the annotation, or the whole key when it has a slash, or "{name}". */
    const char *key;
    /* Whether to report it; the annotation is set, and not empty. NULL = always. */
    bool (*applies)(const struct ccm_service *service);
    const char *text; /* goes on behind the annotation's name; may have "{name}" in it */
    const struct ccm_option *unless; /* BOOL that makes it untrue; NULL = there is none */
    bool is_void;   /* the annotation does nothing at all then, so its value cannot be bad either */
    unsigned modes; /* 1U << enum lbc_backend_mode it holds for; 0 = all */
    bool guards;    /* it is about what limits who may connect: an error of lint */
};

/* What holds for all kinds of load balancers. */
extern const struct lbc_hint lbc_hints[];

/* The annotation, as `key` has it or its name. */
const char *lbc_hint_key(const struct lbc_hint *hint);
/* Append the text. */
void lbc_hint_write(const struct lbc_hint *hint, struct ccm_buf *text);
/* Whether the row applies, options aside. */
bool lbc_hint_applies(const struct lbc_hint *hint, const struct ccm_service *service);

#endif
