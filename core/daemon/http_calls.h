/*
 * HTTP exchanges that a plugin has begun and not ended: http_begin() and http_end() of struct
 * ccm_host. Each belongs to a running call of reconcile() and ends with it at the latest.
 *
 * Any thread. Only end() and drop() wait, for the HTTP engine.
 */
#ifndef CCM_HTTP_CALLS_H
#define CCM_HTTP_CALLS_H

#include "net/http.h"
#include "util/attr.h"

/* Most at a time of one owner, as host.h says. */
#define DAEMON_HTTP_CALLS_MAX 32

struct daemon_http_calls;

/* http: borrowed. NULL on ENOMEM. */
struct daemon_http_calls *daemon_http_calls_new(struct net_http *http);
/* Ends what is left. NULL is fine. */
void daemon_http_calls_free(struct daemon_http_calls *calls);
/* For CCM_CLEANUP. */
void daemon_http_calls_freep(struct daemon_http_calls **calls);

/* Begin one for the owner, whatever that points to. The texts of the exchange are copied; cancel
 * and gate are borrowed until it has ended. *ret: its number, never 0. 0; -EBUSY (BUG): the owner
 * has too many; or as net_http_begin(). */
CCM_NODISCARD int daemon_http_calls_begin(struct daemon_http_calls *calls, const void *owner,
                                          const struct net_exchange *exchange, uint64_t *ret,
                                          struct ccm_error *err);

/* Wait for it and forget it: as net_http_end(); -ENOENT (BUG) when there is none of that number.
 * ret NULL: give it up, nobody wants the answer: 0. */
CCM_NODISCARD int daemon_http_calls_end(struct daemon_http_calls *calls, uint64_t number,
                                        struct ccm_http_response **ret, uint64_t *ret_phase,
                                        struct ccm_error *err);

/* Give up and end all of the owner's. Returns how many. */
size_t daemon_http_calls_drop(struct daemon_http_calls *calls, const void *owner);

#endif
