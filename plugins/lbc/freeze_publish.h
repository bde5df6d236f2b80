/* Inside of freeze_pass: who is told about backends that are frozen. One thread. */
#ifndef CCM_LBC_FREEZE_TELL_H
#define CCM_LBC_FREEZE_TELL_H

#include "lbc/freeze_pass.h"

/* After the decision: event on change, status page and metric, steps of a dry run. */
void lbc_freeze_publish(struct lbc_freeze *freeze);

#endif
