/* Inside of freeze_pass: who is told about backends that are frozen. One thread. */
#ifndef CCM_SERVICE_FREEZE_TELL_H
#define CCM_SERVICE_FREEZE_TELL_H

#include "service/freeze_pass.h"

/* After the decision: event on change, status page and metric, steps of a dry run. */
void ccm_freeze_tell(struct ccm_freeze *freeze);

#endif
