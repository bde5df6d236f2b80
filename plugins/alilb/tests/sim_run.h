/* What both ways into an in-process cloudsim share, in place of the client and behind it. One
 * thread. */
#ifndef CCM_ALILB_TESTS_SIM_RUN_H
#define CCM_ALILB_TESTS_SIM_RUN_H

#include "sim/cloud/cloud.h"

/* What a fixture file has (sim/cloud/fixtures.c), added; apostrophes stand for quotes. */
void sim_run_load(struct ccm_cloud *cloud, const char *json);
/* Apostrophes -> quotes. The caller frees. */
char *sim_run_quote(const char *from);
/* Run an action: 0 and the whole answer, or -EPROTO and what `call` has about it then. */
int sim_run(struct ccm_cloud *cloud, enum ccm_cloud_product product, const char *action,
            const struct ccm_sim_params *params, struct ccm_buf *answer,
            struct ccm_cloud_call *call);

#endif
