/* Compressed answers. Every thread. */
#ifndef CCM_KS_GZIP_H
#define CCM_KS_GZIP_H

#include "common/request.h"

/* From this size on the answer to a GET is compressed for a client that accepts gzip. */
#define CCM_KS_GZIP_MIN ((size_t)128 * 1024)

/* Compress the body where the API server would. Without memory it stays as it is. */
void ccm_ks_gzip(const struct ccm_sim_request *req, struct ccm_sim_reply *reply);

#endif
