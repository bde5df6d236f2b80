/*
 * Leader election on a Lease of the API server, as client-go does it, so that this daemon and
 * controllers built with client-go never lead at the same time. One thread.
 *
 * A candidate reads the Lease every half to whole retry_ms. Whether it may be taken is judged by
 * local time alone: the candidate has seen the same record, unchanged, for as long as the record
 * says (one that says nothing of use: as long as its own would be); time stamps in the record are
 * for people. A Lease that was deleted is left for that long to the holder that was seen last. It
 * is taken by a PUT that names the version read, so of several candidates one succeeds. The leader
 * renews it every retry_ms.
 *
 * The gate (util/gate.h) is open from winning until renew_ms after the sending of the last renewal
 * that succeeded. A rival takes the Lease duration_ms after it saw that renewal at the earliest, so
 * in between nobody may write: time for what is on its way to arrive. It is held from two retry_ms
 * after that sending on, until the next renewal succeeds: what a leader writes is never based on an
 * older one, also when its clock was stopped with its machine. A leader whose gate has
 * closed does not come back: lost() is called once, and the process should end.
 */
#ifndef CCM_KUBE_LEASE_H
#define CCM_KUBE_LEASE_H

#include "kube/client/client.h"
#include "kube/client/continuity.h"
#include "util/gate.h"

#define KUBE_LEASE_IDENTITY 256

struct kube_lease;

/* Pointers and texts are borrowed for the life of the lease. */
struct kube_lease_config {
    struct kube_client *client;
    const char *namespace_;
    const char *name;
    const char *identity; /* unique among all candidates */
    struct ccm_gate *gate;
    struct kube_continuity *continuity; /* hears when the Lease is gone, or another; NULL = none */
    uint32_t duration_ms;               /* whole seconds; retry_ms < renew_ms < duration_ms */
    uint32_t renew_ms;
    uint32_t retry_ms;

    /* In the thread of the lease; must not block. May be NULL. */
    void (*won)(void *arg);
    void (*lost)(void *arg);
    void *arg;
};

/* "HOST_UUID", as client-go makes it. 0 or negative errno. */
CCM_NODISCARD int kube_lease_make_identity(char *text, size_t size);

/* Nothing is sent yet. NULL on ENOMEM. */
struct kube_lease *kube_lease_new(const struct kube_lease_config *config);

/* Start the thread; once. 0 or -errno. */
CCM_NODISCARD int kube_lease_start(struct kube_lease *lease);

/* Block until this instance leads: 0. -ECANCELED after withdraw(), or when the lease was lost. */
CCM_NODISCARD int kube_lease_await(struct kube_lease *lease);

/* Who waits in await() returns, and a candidate does not run any more; a leader goes on renewing.
 * Returns at once; any thread; repeating it is fine. */
void kube_lease_withdraw(struct kube_lease *lease);

/* End the thread, and, when this instance leads, close the gate and hand the Lease back, so that
 * the next one need not wait. Nothing that writes may run any more. Blocks for a few seconds at
 * most. Then free. NULL is fine. */
void kube_lease_free(struct kube_lease *lease);

struct kube_lease_status {
    bool leading;
    bool lost;
    char holder[KUBE_LEASE_IDENTITY]; /* as last seen; "" = nobody, or not seen yet */
    uint64_t transitions;             /* as last seen */
    int64_t renewed_ms;               /* monotonic; last renewal that succeeded, 0 = none */
    int64_t sent_ms;                  /* monotonic; when that one was sent */
    int64_t due_ms;  /* monotonic; the thread shows up again by then, or it hangs; 0 = it does not
                        run */
    char error[256]; /* the last failure, "" = the last try went well */
};

/* Any thread. */
void kube_lease_status(struct kube_lease *lease, struct kube_lease_status *ret);

#endif
