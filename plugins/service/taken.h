/*
 * Listeners of a person that a Service has taken over (annotation force-override-listeners): what
 * they were is kept in labels of the Service, so that they can be put back at its end by any later
 * process. A label holds little, and its alphabet is small: the facts are written as hexadecimal
 * digits into as many labels as it takes. Labels are no part of the hash of a Service.
 *
 * Whoever may edit the Service may edit its labels: what is read is judged like an annotation.
 */
#ifndef CCM_SERVICE_TAKEN_H
#define CCM_SERVICE_TAKEN_H

#include "service/pass.h"

/* Facts beside the attributes, which go by their names in the cloud's API. */
#define CCM_TAKEN_GROUP       "group" /* id; "" = it had none */
#define CCM_TAKEN_DESCRIPTION "description"

/* What stands in the description of one that had none: it must not be ours any more. */
#define CCM_TAKEN_NAMELESS "put-back-by-ccmd"

#define CCM_TAKEN_PORT 32 /* "443-tcp", "100_200-udp", NUL included */

/* One listener. */
struct ccm_taken {
    char port[CCM_TAKEN_PORT];
    struct ccm_tags was;
};

struct ccm_taken_list {
    struct ccm_taken *items;
    size_t len;
    size_t cap;
};

/* Append one without facts; NULL on ENOMEM. */
struct ccm_taken *ccm_taken_new(struct ccm_taken_list *list, const char *port);
/* The same with group and description (NULL = none). is_again: the group is a controller's, so that
 * it was taken over before, and what the labels of `meta` say of it beside the description holds.
 */
struct ccm_taken *ccm_taken_note(struct ccm_taken_list *list, const struct ccm_object *meta,
                                 const char *port, const char *group, bool is_again,
                                 const char *description);
void ccm_taken_fini(struct ccm_taken_list *list);

/* What the listener was, into empty tags; nothing when it is not known. 0 or -ENOMEM. Pure. */
CCM_NODISCARD int ccm_taken_read(const struct ccm_object *meta, const char *port,
                                 struct ccm_tags *ret);

/* Whether listeners are put back, as configured now. */
bool ccm_taken_restores(const struct ccm_lbc *lbc);

/* A listener was not put back: whether it never will be, since what it was is not possible any more
 * (a certificate has gone, say). err then says so, and that somebody looks again soon. */
bool ccm_taken_is_refused(struct ccm_error *err, bool uncertain);
#define CCM_TAKEN_REFUSED "when that is said twice, it is deleted instead"
#define CCM_TAKEN_TRIES   2

/*
 * Before listeners are taken over: tells what they were, and keeps it where they are to be put
 * back. Blocks. 0, or negative with err: then nothing must be taken over.
 */
CCM_NODISCARD int ccm_taken_remember(struct ccm_pass *pass, const struct ccm_taken_list *list,
                                     struct ccm_error *err);

/* Take away what is kept about listeners that `holds` knows to be none of ours. Blocks. As above.
 */
CCM_NODISCARD int ccm_taken_forget(struct ccm_pass *pass,
                                   bool (*holds)(const struct ccm_pass *pass, const char *port),
                                   struct ccm_error *err);

#endif
