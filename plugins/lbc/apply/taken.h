/*
 * What a person's listeners were before a Service took them over (annotation
 * force-override-listeners), as facts, and as labels of the Service that keep them, so that any
 * later process can put the listeners back. A label holds little, and its alphabet is small: the
 * facts are written as hexadecimal digits into as many labels as it takes. Labels are no part of
 * the hash. Whoever may edit the Service may edit them: what is read is judged like an annotation.
 * When: lbc/taken_pass.c. Pure. One thread.
 */
#ifndef CCM_LBC_APPLY_TAKEN_H
#define CCM_LBC_APPLY_TAKEN_H

#include "ccm/error.h"
#include "ccm/object.h"
#include "lbc/apply/state.h"
#include "lbc/model/tags.h"

#include <stdbool.h>

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

/* How a listener is called here. */
void lbc_taken_format_port(const struct lbc_listener *listener, char ret[static LBC_TAKEN_PORT]);

/* Append one without facts; NULL on ENOMEM. */
struct lbc_taken *lbc_taken_new(struct lbc_taken_list *list, const char *port);
/* The same with group and description (NULL = none). is_again: the group is a controller's, so it
 * was taken over before, and what the labels of `meta` say beside the description holds. */
struct lbc_taken *lbc_taken_record(struct lbc_taken_list *list, const struct ccm_object *meta,
                                   const char *port, const char *group, bool is_again,
                                   const char *description);
void lbc_taken_fini(struct lbc_taken_list *list);

/* What the listener was, into empty tags; nothing when it is not known. 0 or -ENOMEM. Pure. */
CCM_NODISCARD int lbc_taken_read(const struct ccm_object *meta, const char *port,
                                 struct lbc_tags *ret);

/* A listener was not put back: whether it never will be, since what it was is not possible any more
 * (a certificate has gone, say). err then says so, and that somebody looks again soon. */
bool lbc_taken_is_refused(struct ccm_error *err, bool uncertain);
#define LBC_TAKEN_REFUSED "when that is said twice, it is deleted instead"
#define LBC_TAKEN_TRIES   2

/* The labels that keep the facts of all listeners, and those of earlier ones that go (value ""),
 * into empty tags. 0, -ENOMEM, or -E2BIG: those of *ret_port do not fit. */
CCM_NODISCARD int lbc_taken_write(const struct lbc_taken_list *list, const struct ccm_object *meta,
                                  struct lbc_tags *ret, const char **ret_port);
/* The port of one of those labels; false: it is another label. */
bool lbc_taken_label_port(const char *key, char ret[static LBC_TAKEN_PORT]);

#endif
