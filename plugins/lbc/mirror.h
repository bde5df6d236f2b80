/*
 * What a controller remembers between passes: an entry per Service, and per load balancer the
 * mirror, which is what the cloud holds. A load balancer that we made belongs to one entry;
 * Services that reuse one share its mirror. Claiming an entry claims its mirror as well, so two
 * threads never write to one load balancer, not even for two Services.
 *
 * Nobody blocks for a claim. A Service that comes too early is queued in order of arrival, its
 * reconcile ends at once, and it is enqueued when it is its turn: in the most urgent lane of all
 * that queue, since they wait for it, and in the lane backends when one of them does. It leaves the
 * queue by claiming, by claiming something else, and by lbc_mirrors_forget().
 *
 * Jobs that a pass has left under way on a shared load balancer keep it for their entry, which
 * comes back for them: until then it is not the turn of anybody else. One that turns
 * elsewhere, or is forgotten, lets the others in, and they read.
 *
 * A Service can also wait for something in a load balancer that another one holds: a port. Its
 * entry is blocked; when a holder that gave something up releases its claim, all that are blocked
 * on the same load balancer are enqueued.
 */
#ifndef CCM_LBC_MIRROR_H
#define CCM_LBC_MIRROR_H

#include "ccm/host.h"
#include "lbc/apply/pending_change.h"
#include "lbc/apply/state.h"
#include "lbc/apply/underway.h"
#include "lbc/creation.h"
#include "lbc/freeze_pass.h"
#include "lbc/look.h"
#include "lbc/model/tags.h"
#include "lbc/pass/change.h"
#include "lbc/pass/empty_pass.h"
#include "lbc/pass/failure.h"
#include "lbc/pass/release.h"
#include "lbc/service/lifecycle.h"
#include "lbc/usage.h"
#include "util/attr.h"
#include "util/strmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lbc_shared;

/* What a pass that was put off has compared with the mirror of before; the next one goes on. */
enum lbc_compare { LBC_COMPARE_NONE, LBC_COMPARE_LOOK, LBC_COMPARE_AUDIT };

enum lbc_own { LBC_OWN_NONE, LBC_OWN_MAYBE, LBC_OWN_KNOWN };

/* What health checks said when they were last asked; health.h. */
struct lbc_health_memory {
    bool created;   /* a load balancer was made, and no pass has come to its end since */
    int64_t due_ms; /* monotonic: when they are asked again; 0 = with the next second look */
    uint32_t looks; /* in a row that found unhealthy ports */
    size_t count;   /* ports without any healthy backend */
    char *text;     /* the event about them; NULL = there are none */
};

/* When the mirror was read and is read again; audit.h. */
struct lbc_audit_memory {
    int64_t due_ms;      /* monotonic; 0 = not known yet */
    uint32_t put_off;    /* passes in a row that were due for an audit but had work to do */
    int64_t read_ms;     /* monotonic: when `state` was read; 0 = not known */
    int64_t repaired_ms; /* monotonic: when what others had changed was last repaired; 0 = never */
};

/* Pods that are not ready yet, or whose address is that of a node. */
struct lbc_pod_memory {
    struct ccm_strmap *states; /* see readiness.h */
    struct ccm_strmap *hosted; /* `known` of hosted.h */
    uint32_t polls;            /* passes in a row that waited for pods */
};

/* Additional tags that we have put on the load balancer. */
struct lbc_tag_memory {
    struct lbc_tags tags;
    bool known; /* they are all of them */
};

/* Members below `uid` belong to the holder of the claim. */
struct lbc_entry {
    char *key;
    char *uid;
    struct lbc_state *state; /* the mirror, never NULL; rests between claims */
    struct lbc_state *aside; /* the mirror of before, until it is read again and a pass has come to
                                its end; else NULL */
    enum lbc_compare compares;
    struct lbc_underway underway; /* jobs whose steps are in `state` as done */
    bool valid;                   /* `state` is what the cloud holds; else the last we knew */
    bool used;                    /* a pass has worked on a load balancer */
    bool releasing;               /* a release has begun; until it ends, or an ensuring pass does */
    bool completed; /* a pass of this process has come to its end, or had to do everything */
    unsigned near;  /* 1 << enum lbc_quota: little of it is left, see quota.h */
    struct lbc_failure_memory failure;
    struct lbc_creation creation;
    struct lbc_change_memory change;
    struct lbc_release_memory release;
    struct lbc_freeze_memory freeze;
    struct lbc_empty_memory empty;
    struct lbc_tag_memory applied;
    struct lbc_pod_memory pods;
    struct lbc_audit_memory audit;
    struct lbc_life_memory memory; /* what was last written to the Service */
    struct lbc_look look;          /* after edits by people */
    struct lbc_health_memory health;
    struct lbc_pending_change pending; /* of how traffic is paid for */
    struct lbc_place *place;           /* the store's: claim, queues, what it was counted with */
};

struct lbc_mirrors;

/* host (for its enqueue()) and type are borrowed. NULL on ENOMEM. */
struct lbc_mirrors *lbc_mirrors_new(const struct ccm_host *host, const struct lbc_state_type *type);
/* Count what mirrors hold there, from now on; borrowed. Before the first claim. */
void lbc_mirrors_count(struct lbc_mirrors *mirrors, struct lbc_usage *usage);
/* NULL is fine. Nobody holds a claim. */
void lbc_mirrors_free(struct lbc_mirrors *mirrors);

/*
 * Claim the entry of a key, made when missing, emptied when the uid is a new one. lb_id: the load
 * balancer that the Service reuses; "" = it has its own, as it also has when its own valid mirror
 * is that of lb_id. 0: give it back with lbc_mirrors_release(). -EBUSY: it is not its turn; the key
 * is enqueued when it is, in `lane` or a more urgent one, so end the reconcile with
 * CCM_RESULT_WAITS. -ENOMEM: nothing is claimed, what was known still is. Every thread.
 */
CCM_NODISCARD int lbc_mirrors_acquire(struct lbc_mirrors *mirrors, const char *key, const char *uid,
                                      const char *lb_id, uint64_t lane, struct lbc_entry **ret);
void lbc_mirrors_release(struct lbc_mirrors *mirrors, struct lbc_entry *entry);
/* Whether the Service may have a load balancer of its own that it does not show: KNOWN, this
 * process knows its id; MAYBE, this process or an earlier one may have created one. Every thread.
 */
enum lbc_own lbc_mirrors_find_own(struct lbc_mirrors *mirrors, const char *key, const char *uid);
/* Whether the Service has had a claim since it is known. Every thread. */
bool lbc_mirrors_has(struct lbc_mirrors *mirrors, const char *key);
/* What we keep on the Service (finalizer, labels, status) has changed: the next claim finds
 * look.touched set. Unknown keys are ignored. Every thread. */
void lbc_mirrors_touch(struct lbc_mirrors *mirrors, const char *key);
/* An operator asks for a look: the next claim finds look.asked set. Unknown keys are ignored: they
 * are read in any case. Every thread. */
void lbc_mirrors_ask(struct lbc_mirrors *mirrors, const char *key);
/* Call fn with the entry of a key and its mirror, awake, under the lock: it may only copy. valid:
 * the mirror is what the cloud holds, else the last we knew. 0; -ENOENT: it is not known; -EBUSY:
 * it is claimed; -ENOMEM. Every thread. */
CCM_NODISCARD int lbc_mirrors_view(struct lbc_mirrors *mirrors, const char *key,
                                   void (*fn)(void *arg, const struct lbc_entry *entry, bool valid),
                                   void *arg);
/* Forget a key whose Service is gone. Nothing happens while it is claimed. */
void lbc_mirrors_forget(struct lbc_mirrors *mirrors, const char *key);

/* --- for the holder of the claim --- */

/* Id of the load balancer that it was claimed with, "" = its own. */
const char *lbc_entry_acquired_id(const struct lbc_entry *entry);
/* Whether that is a person's, as the claim said. */
bool lbc_entry_is_reused(const struct lbc_entry *entry);
/* It lacks something that another entry holds in the load balancer. */
void lbc_entry_set_blocked(struct lbc_entry *entry, bool blocked);
/* It gave something up there that others may lack. */
void lbc_entry_set_freed(struct lbc_entry *entry);
/* Its next pass is due soon, for what is under way; until the next claim ends. */
void lbc_entry_set_coming_back(struct lbc_entry *entry, bool comes_back);
bool lbc_entry_comes_back(const struct lbc_entry *entry);
/* Whether the mirror is believed and has a load balancer of the Service. */
bool lbc_entry_has_lb(const struct lbc_entry *entry);
/* Forget what the cloud holds: the next pass reads. */
void lbc_entry_drop(struct lbc_entry *entry);
/* Which additional tags are ours is not known any more: the label of the Service says it again. */
void lbc_entry_forget_tags(struct lbc_entry *entry);
/* The id of the load balancer as it was last known, whether or not the mirror is believed; borrowed
 * until that changes, NULL = none. */
const char *lbc_entry_known_id(const struct lbc_entry *entry);
/* Forget it, but what was known stays in `aside`: to know its id, to carry over what cannot be
 * read, and to report what others have changed. */
void lbc_entry_put_aside(struct lbc_entry *entry);
/* `aside` is the mirror again, as if it had never been put there. */
void lbc_entry_take_back(struct lbc_entry *entry);
/* After a pass: `aside` goes once the mirror was read. */
void lbc_entry_end_aside(struct lbc_entry *entry);

#endif
