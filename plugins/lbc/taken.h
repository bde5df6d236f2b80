/*
 * Listeners of a person that a Service has taken over (annotation force-override-listeners): what
 * they were is kept in labels of the Service, so that they can be put back at its end by any later
 * process. Labels are no part of the hash of a Service.
 *
 * Whoever may edit the Service may edit its labels: what is read is judged like an annotation.
 */
#ifndef CCM_LBC_TAKEN_H
#define CCM_LBC_TAKEN_H

#include "lbc/apply/taken.h"

struct lbc_instance;
struct lbc_pass;

/* Whether listeners are put back, as configured now. */
bool lbc_taken_restores(const struct lbc_instance *lbc);

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
