/* What a condition of a Service says, and whether it says so already. Pure. */
#ifndef CCM_LBC_CONDITION_H
#define CCM_LBC_CONDITION_H

#include "ccm/object.h"
#include "util/buf.h"
#include "util/jsonw.h"

#include <stdbool.h>
#include <stdint.h>

#define LBC_CONDITION_AGAIN_MS 1800000 /* how often one that is not ready is written anew */

struct lbc_life_condition {
    bool ready;
    uint64_t kind;       /* CCM_ERROR_* when it is not; makes the reason, unless there is one */
    const char *message; /* equal: the same cause */
    const char *retry;   /* when it is not ready: what follows, see retry_text.h; NULL = nothing */
    const char *reason;  /* NULL = by the kind */
    const char *request_id; /* of what has failed, "" = none */
};

/* Reasons. */
#define LBC_CONDITION_NO_BACKEND "NoReadyBackend"
#define LBC_CONDITION_UNHEALTHY  "UnhealthyBackends"

/* That of the type, NULL = there is none. */
const struct ccm_condition *lbc_condition_find(const struct ccm_condition *const *conditions,
                                               uint64_t count, const char *type);
const struct ccm_condition *lbc_condition_find_ours(const struct ccm_service *service);
/* Head of a strategic patch of a condition, behind which its other members come, and "}]}}". */
void lbc_condition_open_patch(struct ccm_jsonw *w, const char *uid, const char *type);

/* As it is written. */
struct lbc_condition_words {
    const char *status;
    const char *reason; /* a constant, or as shown: the Service has to outlive the words */
    struct ccm_buf message;
    bool same_status; /* the Service shows that status */
    bool is_shown;    /* and all of it, and not for too long when it is not ready */
};

/* lbc_condition_words_fini() it. */
void lbc_condition_format(const struct lbc_life_condition *condition,
                          const struct ccm_service *service, int64_t wall_ms,
                          struct lbc_condition_words *ret);
void lbc_condition_words_fini(struct lbc_condition_words *words);
/* Its members behind the type; turned: the status is another one from now on. */
void lbc_condition_print(struct ccm_jsonw *w, const struct lbc_condition_words *words, bool turned,
                         int64_t wall_ms);

#endif
