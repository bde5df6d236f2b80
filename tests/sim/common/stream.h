/* Replies whose body is made while it is sent; inner part of exchange.c. */
#ifndef CCM_SIM_STREAM_H
#define CCM_SIM_STREAM_H

#include "common/request.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Whether the other end has closed the connection. */
bool ccm_sim_client_gone(int fd);

/* Make the response of `reply`, moving body or stream out of it (on failure it
 * is closed or still there). At most `limit` bytes of body are sent before the connection is
 * dropped; -1: no limit. `fd` is the connection's socket, `stopping` outlives the response. NULL
 * when memory ran out. */
struct MHD_Response *ccm_sim_stream_response(struct ccm_sim_reply *reply, int fd, int64_t limit,
                                             const atomic_bool *stopping);

#endif
