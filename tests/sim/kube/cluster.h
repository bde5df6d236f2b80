/*
 * The simulated cluster: store, allocator, options, open watches, and the lock that guards them
 * all. A request takes the lock once, does its work, and lets go; watches wait on `changed`.
 */
#ifndef CCM_KS_CLUSTER_H
#define CCM_KS_CLUSTER_H

#include "alloc.h"
#include "store.h"
#include "util/attr.h"
#include "util/secret.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct ccm_ks_access;
struct ccm_ks_watch;

struct ccm_ks_options {
    uint32_t history;     /* changes kept per bucket */
    uint32_t bookmark_ms; /* between two bookmarks of a watch */
    uint32_t
        progress_ms; /* between two times that all kinds learn the newest version; 0 = at once */
    uint32_t event_ttl_ms;
    bool no_streaming_list;
    bool dual_stack;  /* Services may have IPv6 addresses, too */
    bool controllers; /* play the ones that end Pods and namespaces */
};

struct ccm_ks_cluster {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* something was written, a watch got an order, or the server stops */
    struct ccm_ks_store *store;
    struct ccm_ks_alloc *alloc;
    struct ccm_ks_watch *watches; /* open ones, linked */
    bool stopping;
    uint64_t progress;   /* the version that all kinds have learnt, ... */
    int64_t progress_ms; /* ... and when; 0 = never so far */
    /* Constant after start: */
    struct ccm_ks_options options;
    struct ccm_ks_access *access; /* NULL = no rules: who is known may do everything */
    struct ccm_secret token;      /* "" with no rules = nobody is asked */
    bool client_ca;               /* client certificates are accepted instead of a token */
};

/* 0 or -errno; makes the namespaces a cluster has from the start. */
CCM_NODISCARD int ccm_ks_cluster_init(struct ccm_ks_cluster *cluster,
                                      const struct ccm_ks_options *options);
void ccm_ks_cluster_fini(struct ccm_ks_cluster *cluster);

void ccm_ks_cluster_lock(struct ccm_ks_cluster *cluster);
void ccm_ks_cluster_unlock(struct ccm_ks_cluster *cluster);

/* Unlock at the end of the scope: CCM_CLEANUP(ccm_ks_cluster_unlockp). */
void ccm_ks_cluster_unlockp(struct ccm_ks_cluster **cluster);

/* A random version 4 UUID. */
void ccm_ks_cluster_uid(char uid[37]);

#endif
