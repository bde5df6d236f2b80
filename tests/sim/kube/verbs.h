/* The verbs of the API. Each answers through call->reply; each takes the cluster's lock itself. */
#ifndef CCM_KS_VERBS_H
#define CCM_KS_VERBS_H

#include "call.h"
#include "cluster.h"

void ccm_ks_verb_get(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call);
void ccm_ks_verb_list(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call);
void ccm_ks_verb_watch(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call);
void ccm_ks_verb_create(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call);
void ccm_ks_verb_update(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call);
void ccm_ks_verb_patch(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call);
void ccm_ks_verb_delete(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call);
void ccm_ks_verb_delete_collection(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call);

/* The list options that watch and list check alike. 0, or negative after the reply was made. */
CCM_NODISCARD int ccm_ks_verb_check_list_options(struct ccm_ks_call *call, bool no_streaming_list);

#endif
