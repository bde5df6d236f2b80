/* Route tables and their entries, shared by the actions that make, end and list them. With the
 * cloud's lock held. */
#ifndef CCM_CLOUD_ROUTE_H
#define CCM_CLOUD_ROUTE_H

#include "cloud.h"

/* An entry to be made. Texts are borrowed. */
struct ccm_cloud_route_wish {
    const char *destination; /* as given; a bare address counts as /32 or /128 */
    const char *hops;        /* "TYPE/ID/WEIGHT", several separated by commas */
    const char *name;
    const char *description;
    unsigned version; /* 4 or 6: the destination has to be of that; 0 = as it is */
    bool batch;       /* the rules of the batch action */
};

/* Why an entry cannot be made or ended. */
struct ccm_cloud_route_trouble {
    unsigned http;
    const char *code;
    const char *item_code; /* in the answer of a batch; NULL: code */
    const char *message;
};

/* Finish what has had its time: pending entries become available, deleted ones go. With
 * limits.route_ms = 0 everything has. */
void ccm_cloud_routes_advance(struct ccm_cloud *cloud);

/* The system table of a VPC, or another one of type "System" or "Custom". 0, -EEXIST, -ENOMEM. */
CCM_NODISCARD int ccm_cloud_route_table_new(struct ccm_cloud *cloud, const char *vpc,
                                            const char *id, const char *type,
                                            struct ccm_cloud_obj **ret);

/* A vSwitch has come: its entry in all tables of the VPC. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_routes_of_vswitch(struct ccm_cloud *cloud,
                                              const struct ccm_cloud_vswitch *vswitch);

/* The table that RouteTableId (or the given id) names; refuses while a route change of its VPC is
 * running. 0, -EPROTO. */
CCM_NODISCARD int ccm_cloud_route_table_of(struct ccm_cloud_call *call, const char *id,
                                           struct ccm_cloud_obj **ret);

/* Make an entry. 0 and its id (48 bytes), -EPROTO with the trouble, -ENOMEM. */
CCM_NODISCARD int ccm_cloud_route_make(struct ccm_cloud *cloud, const struct ccm_cloud_obj *table,
                                       const struct ccm_cloud_route_wish *wish, char *id,
                                       struct ccm_cloud_route_trouble *ret);

/* Custom entries of a table. */
size_t ccm_cloud_route_customs(const struct ccm_cloud *cloud, const char *table);

/* Put an entry into a table as it is, against all rules. id NULL: a new one. 0, -EEXIST (id taken),
 * -ENOMEM. */
CCM_NODISCARD int ccm_cloud_route_put(struct ccm_cloud *cloud, const char *table, const char *id,
                                      const struct ccm_cloud_route_wish *wish,
                                      struct ccm_cloud_obj **ret);

/* The entry with this destination in the table, or NULL. */
struct ccm_cloud_obj *ccm_cloud_route_find(const struct ccm_cloud *cloud, const char *table,
                                           const char *destination);

/* Whether some next hop has the id; NULL or "" fits all. */
bool ccm_cloud_route_has_hop(const struct ccm_cloud_obj *route, const char *id);

/* End an entry. 0, -EPROTO with the trouble, -ENOMEM. */
CCM_NODISCARD int ccm_cloud_route_end(struct ccm_cloud *cloud, struct ccm_cloud_obj *route,
                                      struct ccm_cloud_route_trouble *ret);

/* A change of the table's VPC begins: until it has had its time, others are refused. */
void ccm_cloud_route_begin(struct ccm_cloud *cloud, const struct ccm_cloud_obj *table);

#endif
