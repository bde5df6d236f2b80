/* CustomResourceDefinitions, as functions of the table in kinds.c. See kind.h for when they run. */
#ifndef CCM_KS_DEFINITION_H
#define CCM_KS_DEFINITION_H

#include "kind.h"

void ccm_ks_crd_defaults(cJSON *object);
void ccm_ks_crd_prepare(struct ccm_ks_write *write);
void ccm_ks_crd_validate(struct ccm_ks_write *write);

/* Deletion begins: what is left of the kind goes first, and the finalizer waits for it. */
void ccm_ks_crd_begin_deletion(cJSON *object);
/* ... and ends: nothing is left of the kind. */
void ccm_ks_crd_end_deletion(cJSON *object);

#endif
