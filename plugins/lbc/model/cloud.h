/*
 * The account in a cloud where load balancers are made, as the engine sees it: a table of functions
 * and the account that they work on. Both are the plugin's own. Every thread.
 */
#ifndef CCM_LBC_CLOUD_H
#define CCM_LBC_CLOUD_H

#include "ccm/plugin.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who goes first where calls have to be held back; in this order. */
enum lbc_priority {
    LBC_PRIO_REMOVE, /* backends and load balancers that go */
    LBC_PRIO_NEW,    /* load balancers that are made */
    LBC_PRIO_SPEC,
    LBC_PRIO_BULK, /* a node that changed, for many Services */
    LBC_PRIO_AUDIT,
    LBC_PRIO_RETRY, /* of what has failed again and again */
};

#define LBC_INTERFACE_ID 64

/* The network interface that has the address of a pod. */
struct lbc_interface {
    enum lbc_interface_state {
        LBC_INTERFACE_FOUND,
        LBC_INTERFACE_MISSING, /* the address lies in our network, but no interface has it */
        LBC_INTERFACE_FOREIGN, /* the address lies outside of it */
        LBC_INTERFACE_NODE,    /* it is found, and is one that only a node itself has */
    } state;
    char id[LBC_INTERFACE_ID]; /* "" unless an interface has it */
};

/* Addresses of pods, each once. Borrowed. */
struct lbc_addresses {
    const char *const *items;
    const uint64_t *owners; /* stands for the owner of each, 0 = not known. What is remembered of
                               an address holds for the same owner only */
    size_t count;
    bool anew; /* nothing that is remembered of them holds */
};

/* Whose account, and for which pass a call is made. Borrowed. */
struct lbc_cloud_caller {
    void *account;
    const struct ccm_host *host;
    const struct ccm_request *req;
};

/* What a failed call means. */
struct lbc_failure {
    const char *remedy; /* what a person can do; NULL = nothing but wait */
    bool is_wait;       /* rate, rights, shutdown: it says nothing about what the cloud holds */
};

/* Where the cluster is in the cloud; valid once the account is started, texts are the account's.
 * NULL = there is no such thing. */
struct lbc_site {
    const char *cluster_id;     /* all that belongs to the cluster is marked with it; never NULL */
    const char *resource_group; /* of what is created */
    const char *vpc_id;         /* of the cluster */
    const char *region;         /* of load balancers and backends, as provider ids of nodes begin */
};

struct lbc_cloud_ops {
    /* For create(): no I/O. NULL, as the next two: nothing but the host is needed, it is the
     * account. What was acquired is released in any case; an account of NULL is fine then. */
    int (*acquire)(const struct ccm_host *host, void **ret_account, struct ccm_error *err);
    void (*release)(void *account);
    /* For start(): blocks. What belongs to this cluster is marked with its id, so a missing one is
     * an error. */
    int (*start)(void *account, const struct ccm_host *host, struct ccm_error *err);
    /* Where the cluster is, into zeroed memory. Pure. */
    void (*site)(const void *account, struct lbc_site *ret);

    /* Which interfaces have the addresses, all or nothing. Blocks. NULL, as the next: no product
     * has pods as backends but by their addresses alone. */
    int (*find_interfaces)(const struct lbc_cloud_caller *by, const struct lbc_addresses *addresses,
                           struct lbc_interface *ret, struct ccm_error *err);
    /* What is remembered of that address may be wrong. */
    void (*forget_interface)(void *account, const char *address);
    /*
     * Which instances are no more. witness: one that is there for certain, "" = none is known; an
     * answer that lacks it says nothing. Blocks. -EAGAIN: another thread is asking; -EBUSY: it
     * failed a moment ago; both without err. It may be put off, see lbc_error_is_put_off().
     * NULL: nobody can tell.
     */
    int (*find_gone_instances)(const struct lbc_cloud_caller *by, const char *witness,
                               const char *const *ids, size_t count, bool *ret_gone,
                               struct ccm_error *err);

    /* The pass of by->req over the object has ended: what waits for calls that earlier passes
     * wanted and this one did not ask for is given up. Never blocks. NULL = nothing ever waits. */
    void (*end_pass)(const struct lbc_cloud_caller *by, const char *object);

    /* Facts and tables about the account: as describe() of struct ccm_plugin, for the plugin as a
     * whole. NULL = there are none. */
    void (*describe)(void *account, const struct ccm_host *host, const struct ccm_view_sink *sink);
    /* Where a person sees the load balancer of that id in a browser, an https URL; product: word of
     * struct lbc_product. NULL = nowhere. */
    void (*console)(const void *account, const char *product, const char *id, struct ccm_buf *url);

    /* What a failed call means; the answer is set already as of a cloud without this function:
     * only a shutdown is a wait. NULL = that. */
    void (*explain)(const struct ccm_error *err, struct lbc_failure *ret);
};

struct lbc_cloud {
    const struct lbc_cloud_ops *ops;
    void *account;
};

static inline struct lbc_site lbc_cloud_site(const struct lbc_cloud *cloud)
{
    struct lbc_site site = { .cluster_id = NULL };

    cloud->ops->site(cloud->account, &site);
    return site;
}

static inline struct lbc_failure lbc_cloud_explain(const struct lbc_cloud *cloud,
                                                   const struct ccm_error *err)
{
    struct lbc_failure failure = { .is_wait = err->kind == CCM_ERROR_CANCELLED };

    if (cloud->ops->explain != NULL) {
        cloud->ops->explain(err, &failure);
    }
    return failure;
}

#endif
