/*
 * What one route table of the cloud holds, as far as we have listed or written it. Values; one
 * thread at a time (reconcile calls of this plugin never overlap).
 */
#ifndef CCM_ROUTE_TABLE_H
#define CCM_ROUTE_TABLE_H

#include "ccm/error.h"
#include "net.h"
#include "util/removal_budget.h"

#include <stdint.h>

/* Where an entry is in its life. */
enum route_status {
    ROUTE_SETTLED, /* Available: the only state in which it can be deleted */
    ROUTE_MADE,    /* the cloud said that it took it; not listed since */
    ROUTE_COMING,  /* being made or changed */
    ROUTE_LEAVING, /* being deleted */
};

/* A custom entry. Only one with a single next hop that is an instance, and not the default route,
 * can be ours: `hop` is the instance then. */
struct route_entry {
    struct ccm_cidr net;
    char *hop; /* next hop; what there is to say about it when it can not be ours */
    enum route_status status;
    bool can_be_ours;
};

/* A list that was put off between two of its pages: `entries` has those before. */
struct route_listing {
    char *token;      /* of the next page; NULL = none is put off */
    int64_t begun_ms; /* monotonic */
    bool second;      /* the first address family is complete */
};

struct route_table {
    char *id;
    struct route_entry *entries; /* in the order of route_net_compare() */
    size_t len;
    size_t cap;
    bool valid;         /* the list is to be believed */
    int64_t listed_ms;  /* monotonic */
    unsigned int polls; /* listings in a row that showed something on its way */
    struct route_listing listing;

    /* The table took no more entries: nothing is sent to it until one has gone or the time is up.
     */
    bool full;
    int64_t full_until_ms;
    size_t full_len; /* entries that it held then */
    struct ccm_error full_why;

    struct ccm_removal_budget budget; /* what went because nodes are missing */
    uint64_t reported_frozen;         /* how many entries are held, as was said last */
    bool near;                        /* it was told that little of its quota is left */
};

void route_table_fini(struct route_table *table);
/* Empty the list, also one that was put off; it is to be filled again. */
void route_table_clear(struct route_table *table);

/* Append a copy; call route_table_sort() after the last. 0 or -ENOMEM. */
CCM_NODISCARD int route_table_add(struct route_table *table, const struct ccm_cidr *net,
                                  const char *hop, bool can_be_ours, enum route_status status);
void route_table_sort(struct route_table *table);

/* We made an entry. 0, or -ENOMEM: the list is not to be believed any more. */
CCM_NODISCARD int route_table_created(struct route_table *table, const struct ccm_cidr *net,
                                      const char *hop);

/* We deleted an entry: it may stay in sight for a while. */
void route_table_deleted(struct route_table *table, const struct ccm_cidr *net, const char *hop);

/*
 * The first entry with that destination and next hop; NULL = any. 0 with *ret NULL when there is
 * none; -EINVAL when neither is given.
 */
CCM_NODISCARD int route_table_find(const struct route_table *table, const struct ccm_cidr *net,
                                   const char *hop, const struct route_entry **ret);

/* Custom entries that stay: what the quota of the table counts. */
size_t route_table_used(const struct route_table *table);

/* Index of the first entry that is equal to or behind the network, in order: the ones equal to it
 * and inside of it follow one another from there. */
size_t route_table_from(const struct route_table *table, const struct ccm_cidr *net);

#endif
