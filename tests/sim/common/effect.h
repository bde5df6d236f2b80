/* Reading one fault rule out of JSON; inner part of faults.c. */
#ifndef CCM_SIM_EFFECT_H
#define CCM_SIM_EFFECT_H

#include "common/faults.h"

#include <cjson/cJSON.h>

struct ccm_sim_fault {
    struct ccm_sim_fault *next;
    int64_t id;
    char *action; /* patterns; NULL = any */
    char *path;
    struct ccm_sim_params params;
    int64_t nth;   /* 0 = not given */
    double p;      /* 1.0 = always */
    int64_t count; /* -1 = without end */
    struct ccm_sim_effect effect;
    int64_t seen; /* requests that fitted */
    int64_t hits; /* requests it acted on */
    uint32_t random;
};

void ccm_sim_fault_free(struct ccm_sim_fault *fault);

/* The caller owns *ret. 0, -ENOMEM, or -EINVAL with what is wrong appended to `why`. */
CCM_NODISCARD int ccm_sim_fault_parse(const cJSON *json, struct ccm_sim_fault **ret,
                                      struct ccm_buf *why);

#endif
