/*
 * People are looked after. Machines go by the mirror, but when a person edits a Service (its hash
 * changes), or what we keep on it (finalizer, labels, status), the pass that follows reads what the
 * cloud holds before it decides. Once in ten seconds per Service: an edit that comes sooner is
 * carried out by the mirror, which was read within these ten seconds, and looked after when they
 * are over. Success is never told by a mirror that is older, nor is a status that somebody took
 * away written again by any: there the look comes first. Holder of the claim only; nothing here
 * blocks.
 */
#ifndef CCM_LBC_LOOK_H
#define CCM_LBC_LOOK_H

#include <stdbool.h>
#include <stdint.h>

struct lbc_pass;

#define LBC_LOOK_PAUSE_MS 10000 /* between two looks at one Service */

/* Of one Service. Zeroed memory is an empty one. */
struct lbc_look {
    uint64_t hash;   /* stands for the Service as a pass saw it last; 0 = none has */
    int64_t last_ms; /* monotonic: when an edit last made us read; 0 = never */
    bool touched;    /* what we keep on the Service has changed, by whom is not known yet */
    bool wanted;     /* an edit has not been looked after yet */
    bool foreign;    /* and it was of what we keep on the Service */
};

/*
 * Before a pass that ensures; pass->hash is set. Puts the mirror aside if an edit is to be looked
 * after in this pass (pass->looked), or has the Service come back when that may be done
 * (pass->put_off).
 */
void lbc_look_begin(struct lbc_pass *pass);
/* Before something is published: whether only the mirror speaks for it, and a look has to come
 * first. The Service comes back for it. */
bool lbc_look_is_unverified(struct lbc_pass *pass);

#endif
