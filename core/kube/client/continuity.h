/*
 * Whether it is one API server that answers, and since when. The caches say whether they are in
 * step with it, and what tells them that it is another one: versions that go backwards, a list of a
 * kind that is never empty without any object; the lease says when its Lease is gone or another.
 * Then the gate is held: nothing is changed until that server has had the Lease renewed and has
 * answered consistently for a time. Every thread; one lock, a leaf.
 */
#ifndef CCM_KUBE_CONTINUITY_H
#define CCM_KUBE_CONTINUITY_H

#include "util/attr.h"
#include "util/gate.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KUBE_CONTINUITY_CACHES   64   /* what comes after them is not asked */
#define KUBE_CONTINUITY_NO_LEASE (-1) /* nothing is renewed: no election, or no leader here */

struct kube_continuity {
    pthread_mutex_t lock; /* guards all below */
    size_t caches;
    uint64_t known;        /* one bit per cache: it was in step once */
    uint64_t refused;      /* the same: the server refuses what it wants */
    uint64_t in_step;      /* the same */
    int64_t since_ms;      /* monotonic; 0 = not all caches were in step since the last break */
    uint64_t breaks;       /* how often it was another server */
    uint64_t relisted;     /* so many of them when lists were asked for last */
    int64_t broke_ms;      /* monotonic; the last time */
    int64_t held_ms;       /* monotonic; since when the gate is held, 0 = it is not */
    int64_t renewed_ms;    /* monotonic; the first renewal since the break, 0 = there was none */
    struct ccm_gate *gate; /* NULL = nothing is held */
    char reason[256];      /* of the last break */
};

/* 0 or -ENOMEM. */
CCM_NODISCARD int kube_continuity_init(struct kube_continuity *continuity);
/* Nobody may use it any more. */
void kube_continuity_fini(struct kube_continuity *continuity);

/* What is held after a break; borrowed. Before anybody else uses it. */
void kube_continuity_set_gate(struct kube_continuity *continuity, struct ccm_gate *gate);

/* One more cache, which does not count before it was in step once. Returns its number. */
size_t kube_continuity_add(struct kube_continuity *continuity);

/* The cache holds what the server that answers has: a list, and all events since. Or: nobody knows
 * whether it does. */
void kube_continuity_set(struct kube_continuity *continuity, size_t cache, bool in_step);

/* The server refuses what the cache wants: it is not in step, but nobody waits for it to let go of
 * the gate, or what one plugin lacks rights for would hold up all others. */
void kube_continuity_refuse(struct kube_continuity *continuity, size_t cache);

/* It is another server than before, or one that was restored: the gate is held at once. reason: for
 * people. */
void kube_continuity_break(struct kube_continuity *continuity, const char *reason);

/* When the last break was noticed, monotonic; 0 = there was none. */
int64_t kube_continuity_broke_ms(struct kube_continuity *continuity);

/* server_since_ms() of struct ccm_host. excused: one bit per cache (kube_continuity_bit()) that the
 * server may refuse, as it holds nothing that the caller goes by. */
int64_t kube_continuity_since(struct kube_continuity *continuity, uint64_t excused);
/* 0 for caches that are not asked. */
uint64_t kube_continuity_bit(size_t cache);

/* What kube_continuity_check() saw, for people and monitors. */
struct kube_continuity_view {
    bool held;
    bool ended;  /* just now */
    bool relist; /* just now: caches whose list is older than the last break have to list again */
    uint64_t breaks;
    int64_t held_for_ms; /* so far, or until it ended */
    char reason[256];
};

/*
 * Let go of the gate when it is time: settle_ms after the last break, after the caches were all in
 * step, and after the first renewal of the Lease that was sent since. renewed_ms: when the last
 * renewal that succeeded was sent (monotonic, 0 = never), or KUBE_CONTINUITY_NO_LEASE. New lists
 * are asked for once no break was noticed for 10 s, or a quarter of settle_ms if that is less:
 * caches notice one after the other, and two servers behind one address break with each answer. One
 * thread, every second or so.
 */
void kube_continuity_check(struct kube_continuity *continuity, int64_t now_ms, int64_t settle_ms,
                           int64_t renewed_ms, struct kube_continuity_view *ret);

/* The same without doing anything. Any thread. */
void kube_continuity_view(struct kube_continuity *continuity, struct kube_continuity_view *ret);

#endif
