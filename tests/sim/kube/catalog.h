/*
 * All kinds of the cluster at the moment: those of kinds.c, and those that
 * CustomResourceDefinitions make. One catalog per process. What it hands out stays valid until
 * fini(), also when a definition changes or goes. Readers: every thread. reload() and fini(): one
 * at a time.
 */
#ifndef CCM_KS_CATALOG_H
#define CCM_KS_CATALOG_H

#include "kind.h"
#include "store.h"
#include "util/attr.h"

/* Kinds of one group stand together, those of one version too. */
struct ccm_ks_kinds {
    const struct ccm_ks_kind **items;
    size_t len;
};

const struct ccm_ks_kinds *ccm_ks_catalog_now(void);

/* By group, version and plural; NULL = none. */
const struct ccm_ks_kind *ccm_ks_kind_find(const char *group, const char *version,
                                           const char *plural);

/* The kind whose form is the storage form of a bucket; NULL = the bucket is not in use. Of a
 * definition that has gone: the last one. */
const struct ccm_ks_kind *ccm_ks_kind_of(enum ccm_ks_bucket bucket);

/* "services", and "buckets.example.com" of a custom resource. */
void ccm_ks_kind_label(struct ccm_buf *buf, const struct ccm_ks_kind *kind);

/* Read the definitions in the store anew. 0 or -ENOMEM. More than CCM_KS_CUSTOM_MAX in the life of
 * the process are not served. */
CCM_NODISCARD int ccm_ks_catalog_reload(const struct ccm_ks_store *store);

void ccm_ks_catalog_fini(void);

#endif
