/*
 * Fingerprint of what a person can change on a Service. The label holds the fingerprint of the last
 * complete success. The annotations of an object are sorted, so the order in a manifest does not
 * count. Pure; every thread.
 */
#ifndef CCM_LBC_HASH_H
#define CCM_LBC_HASH_H

#include "ccm/object.h"
#include "lbc/keys.h"
#include "util/attr.h"

#include <stdbool.h>

/* The value begins with the version of its form. A change of what is hashed, or how, needs another
 * one: then no Service counts as edited. */
#define LBC_HASH_FORM   "v2-"
#define LBC_HASH_DIGEST 57                                            /* SHA-224 in hex, with NUL */
#define LBC_HASH_TEXT   (LBC_HASH_DIGEST + sizeof(LBC_HASH_FORM) - 1) /* a label takes 63 bytes */

enum lbc_hash_verdict {
    LBC_HASH_OTHER,   /* the Service was edited since, or has no label */
    LBC_HASH_FOREIGN, /* a label in the form of another controller, or of another version: the
                         Service was complete once, and whether it was edited since is unknown */
    LBC_HASH_SAME,    /* the Service was complete once as it is now */
};

/* 0 or -ENOMEM. */
CCM_NODISCARD int lbc_hash_service(const struct ccm_service *service, char ret[LBC_HASH_TEXT]);

/* What the label of the Service says beside the hash of the Service. */
enum lbc_hash_verdict lbc_hash_compare(const struct ccm_service *service, const char *hash);

/* What a pass sees of a Service. Starts zeroed. */
struct lbc_hash_seen {
    char text[LBC_HASH_TEXT];      /* of the Service as it is */
    enum lbc_hash_verdict verdict; /* what its label says about that */
};

/* Both of the above. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_hash_see(const struct ccm_service *service, struct lbc_hash_seen *ret);

/* The Service was complete once, and no edit since is proven: nothing may be removed because of an
 * edit. */
static inline bool lbc_hash_may_hold(enum lbc_hash_verdict verdict)
{
    return verdict != LBC_HASH_OTHER;
}

/* The digest of any text. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_hash_text(const char *text, char ret[LBC_HASH_DIGEST]);

#endif
