/*
 * Listeners of a person that a Service has taken over (annotation force-override-listeners): what
 * they were is kept in labels of the Service, so that they can be put back at its end by any later
 * process. A label holds little, and its alphabet is small: the facts are written as hexadecimal
 * digits into as many labels as it takes. Labels are no part of the hash of a Service.
 *
 * Whoever may edit the Service may edit its labels: what is read is judged like an annotation.
 */
#ifndef CCM_LBC_TAKEN_H
#define CCM_LBC_TAKEN_H

#include "lbc/pass.h"

/* Facts beside the attributes, which go by their names in the cloud's API. */
#define LBC_TAKEN_GROUP       "group" /* id; "" = it had none */
#define LBC_TAKEN_DESCRIPTION "description"

/* What stands in the description of one that had none: it must not be ours any more. */
#define LBC_TAKEN_NAMELESS "put-back-by-ccmd"

#define LBC_TAKEN_PORT 32 /* "443-tcp", "100_200-udp", NUL included */

/* One listener. */
struct lbc_taken {
    char port[LBC_TAKEN_PORT];
    struct lbc_tags was;
};

struct lbc_taken_list {
    struct lbc_taken *items;
    size_t len;
    size_t cap;
};

/* Append one without facts; NULL on ENOMEM. */
struct lbc_taken *lbc_taken_new(struct lbc_taken_list *list, const char *port);
/* The same with group and description (NULL = none). is_again: the group is a controller's, so that
 * it was taken over before, and what the labels of `meta` say of it beside the description holds.
 */
struct lbc_taken *lbc_taken_record(struct lbc_taken_list *list, const struct ccm_object *meta,
                                   const char *port, const char *group, bool is_again,
                                   const char *description);
void lbc_taken_fini(struct lbc_taken_list *list);

/* What the listener was, into empty tags; nothing when it is not known. 0 or -ENOMEM. Pure. */
CCM_NODISCARD int lbc_taken_read(const struct ccm_object *meta, const char *port,
                                 struct lbc_tags *ret);

/* Whether listeners are put back, as configured now. */
bool lbc_taken_restores(const struct lbc_instance *lbc);

/* A listener was not put back: whether it never will be, since what it was is not possible any more
 * (a certificate has gone, say). err then says so, and that somebody looks again soon. */
bool lbc_taken_is_refused(struct ccm_error *err, bool uncertain);
#define LBC_TAKEN_REFUSED "when that is said twice, it is deleted instead"
#define LBC_TAKEN_TRIES   2

/*
 * Before listeners are taken over: tells what they were, and keeps it where they are to be put
 * back. Blocks. 0, or negative with err: then nothing must be taken over.
 */
CCM_NODISCARD int lbc_taken_remember(struct lbc_pass *pass, const struct lbc_taken_list *list,
                                     struct ccm_error *err);

/* Take away what is kept about listeners that `holds` knows to be none of ours. Blocks. As above.
 */
CCM_NODISCARD int lbc_taken_forget(struct lbc_pass *pass,
                                   bool (*holds)(const struct lbc_pass *pass, const char *port),
                                   struct ccm_error *err);

#endif
